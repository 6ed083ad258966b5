//! What clang would do with a command line, as far as added options depend on it.

use raddle_protocol::compile::Symbolic;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// How far clang would go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// No code is made: preprocessing, dependencies, checking, questions about clang itself.
    Look,
    /// Objects, assembly or bitcode.
    Compile,
    /// A program or a shared library.
    Link,
}

/// What matters of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    pub stage: Stage,
    /// The option that asks for a static program.
    pub static_option: Option<&'static str>,
    pub lto: bool,
    pub chooses_linker: bool,
    /// `-fsanitize=thread` is in force.
    pub thread_sanitizer: bool,
    /// How many arguments stand before `--`, after which there are inputs only.
    pub options_end: usize,
}

/// Options that take the next argument as their value.
const WITH_VALUE: &[&str] = &[
    "-A",
    "-B",
    "-D",
    "-F",
    "-G",
    "-I",
    "-L",
    "-MF",
    "-MJ",
    "-MQ",
    "-MT",
    "-T",
    "-Tbss",
    "-Tdata",
    "-Ttext",
    "-U",
    "-Xanalyzer",
    "-Xassembler",
    "-Xclang",
    "-Xopenmp-target",
    "-Xpreprocessor",
    "-arch",
    "-b",
    "-cxx-isystem",
    "-dependency-dot",
    "-dependency-file",
    "-e",
    "-idirafter",
    "-iframework",
    "-imacros",
    "-imultilib",
    "-include",
    "-include-pch",
    "-index-store-path",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-isystem-after",
    "-ivfsoverlay",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-iwithsysroot",
    "-mllvm",
    "-mthread-model",
    "-o",
    "-rpath",
    "-serialize-diagnostics",
    "-stdlib++-isystem",
    "-target",
    "-u",
    "-working-directory",
    "-z",
    "--assert",
    "--config",
    "--define-macro",
    "--force-link",
    "--gcc-toolchain",
    "--include-directory",
    "--library-directory",
    "--output",
    "--param",
    "--prefix",
    "--serialize-diagnostics",
    "--sysroot",
    "--undefine-macro",
];

/// Options with the next argument as their value that are something to link as well.
const LINKED_WITH_VALUE: &[&str] = &["-l", "-Xlinker", "--for-linker"];

/// Options after which clang makes no code.
const LOOKING: &[&str] = &[
    "-E",
    "-M",
    "-MM",
    "-cc1",
    "-cc1as",
    "-dumpmachine",
    "-dumpversion",
    "-emit-ast",
    "-fsyntax-only",
    "-module-file-info",
    "-rewrite-legacy-objc",
    "-rewrite-objc",
    "-verify-pch",
    "--analyze",
    "--dependencies",
    "--help",
    "--help-hidden",
    "--precompile",
    "--preprocess",
    "--user-dependencies",
    "--version",
    "-extract-api",
    "-emit-symbol-graph",
];

/// Options after which clang does not link.
const COMPILING: &[&str] = &[
    "-c",
    "-S",
    "--compile",
    "--assemble",
    "-emit-interface-stubs",
];

/// Endings of files that are only precompiled.
const HEADERS: &[&str] = &["h", "H", "hh", "hpp", "hxx", "h++", "hp", "pch", "gch"];

/// Response files within response files that are followed.
const DEPTH: usize = 8;

/// Splits off the options that are for raddle: the others, and what the last one of them asks for.
/// Response files are clang's alone.
pub fn take_own(args: &[OsString]) -> (Vec<OsString>, Option<Symbolic>) {
    let mut reader = Reader::default();
    let mut asked = None;
    let mut others = Vec::new();
    for arg in args {
        let is_option = reader.pending == Pending::Nothing && !reader.only_inputs;
        let own = match arg.to_str().filter(|_| is_option) {
            Some("--symbolic") => Some(Symbolic::All),
            Some("--no-symbolic") => Some(Symbolic::None),
            _ => None,
        };
        if own.is_none() {
            reader.argument(arg, DEPTH);
            others.push(arg.clone());
        }
        asked = own.or(asked);
    }
    (others, asked)
}

/// The command line as it is read.
#[derive(Default)]
struct Reader {
    looks: bool,
    compiles: bool,
    relocatable: bool,
    static_option: Option<&'static str>,
    lto: bool,
    chooses_linker: bool,
    thread_sanitizer: bool,
    /// Something to link, or compiled to something to link.
    inputs: bool,
    /// The language of `-x` is that of headers.
    header_language: bool,
    /// `-x` names a language, whatever the files are called.
    language: bool,
    /// What the next argument is.
    pending: Pending,
    only_inputs: bool,
}

#[derive(Default, PartialEq, Eq)]
enum Pending {
    #[default]
    Nothing,
    Value,
    Language,
}

impl Invocation {
    /// Reads a command line. Response files are read as clang reads them; one that cannot be read
    /// is left for clang to complain about.
    pub fn parse(args: &[OsString]) -> Invocation {
        let mut reader = Reader::default();
        let mut options_end = args.len();
        for (index, arg) in args.iter().enumerate() {
            reader.argument(arg, DEPTH);
            if reader.only_inputs && options_end == args.len() && arg == "--" {
                options_end = index;
            }
        }
        Invocation {
            stage: reader.stage(),
            static_option: reader.static_option,
            lto: reader.lto,
            chooses_linker: reader.chooses_linker,
            thread_sanitizer: reader.thread_sanitizer,
            options_end,
        }
    }
}

impl Reader {
    fn stage(&self) -> Stage {
        if self.looks || !self.inputs {
            // Without anything to compile or link, clang answers or complains by itself.
            Stage::Look
        } else if self.compiles || self.relocatable {
            Stage::Compile
        } else {
            Stage::Link
        }
    }

    fn argument(&mut self, arg: &OsStr, depth: usize) {
        let text = arg.to_string_lossy();
        match core::mem::take(&mut self.pending) {
            Pending::Nothing => {}
            Pending::Value => return,
            Pending::Language => return self.set_language(&text),
        }
        if let Some(file) = text.strip_prefix('@')
            && depth > 0
            && let Ok(content) = std::fs::read_to_string(file)
        {
            for word in words(&content) {
                self.argument(OsStr::new(&word), depth - 1);
            }
            return;
        }
        if self.only_inputs || text == "-" || !text.starts_with('-') {
            self.input(Path::new(arg));
        } else {
            self.option(&text);
        }
    }

    fn input(&mut self, file: &Path) {
        let ending = file.extension().and_then(OsStr::to_str).unwrap_or("");
        let header = if self.language {
            self.header_language
        } else {
            HEADERS.contains(&ending)
        };
        self.inputs = true;
        if header {
            // Precompiled: no code, nothing to link.
            self.looks = true;
        }
    }

    fn set_language(&mut self, language: &str) {
        self.language = language != "none";
        self.header_language = language.ends_with("-header");
    }

    fn option(&mut self, text: &str) {
        if WITH_VALUE.contains(&text) || text.starts_with("-Xarch_") {
            self.pending = Pending::Value;
        } else if LINKED_WITH_VALUE.contains(&text) {
            self.pending = Pending::Value;
            self.inputs = true;
        } else if LOOKING.contains(&text)
            || text.starts_with("-print-")
            || text.starts_with("--print-")
            || text.starts_with("--autocomplete=")
        {
            self.looks = true;
        } else if COMPILING.contains(&text) {
            self.compiles = true;
        } else if let Some(language) = text.strip_prefix("--language=") {
            self.set_language(language);
        } else if text == "-x" || text == "--language" {
            self.pending = Pending::Language;
        } else if let Some(language) = text.strip_prefix("-x") {
            self.set_language(language);
        } else {
            self.link_option(text);
        }
    }

    fn link_option(&mut self, text: &str) {
        let lists = |option, name| {
            text.strip_prefix(option)
                .is_some_and(|list: &str| list.split(',').any(|n| n == name))
        };
        if lists("-fsanitize=", "thread") {
            self.thread_sanitizer = true;
        } else if lists("-fno-sanitize=", "thread") || lists("-fno-sanitize=", "all") {
            self.thread_sanitizer = false;
        }
        match text {
            "--" => self.only_inputs = true,
            "-r" | "-Wl,-r" | "-Wl,--relocatable" => self.relocatable = true,
            "-static" | "--static" | "-Wl,-static" => self.static_option = Some("-static"),
            "-static-pie" => self.static_option = Some("-static-pie"),
            "-flto" => self.lto = true,
            "-fno-lto" => self.lto = false,
            _ if text.starts_with("-flto=") => self.lto = true,
            _ if text.starts_with("-fuse-ld=") || text.starts_with("--ld-path=") => {
                self.chooses_linker = true;
            }
            _ if text.starts_with("-l") || text.starts_with("-Wl,") => self.inputs = true,
            _ => {}
        }
        if text.starts_with("-Wl,") {
            self.inputs = true;
        }
    }
}

/// The words of a response file: white space separates, quotes and backslashes keep together.
fn words(content: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = content.chars();
    while let Some(c) = characters.next() {
        match (c, quote) {
            ('\\', _) => word.get_or_insert_default().extend(characters.next()),
            (c, Some(q)) if c == q => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use Stage::{Compile, Link, Look};

    fn parse(args: &str) -> Invocation {
        let args: Vec<OsString> = args.split_whitespace().map(Into::into).collect();
        Invocation::parse(&args)
    }

    #[test]
    fn the_stage_is_clangs() {
        let cases = [
            ("a.c", Link),
            ("-o a a.c", Link),
            ("-c a.c -o a.o", Compile),
            ("-S -emit-llvm a.c", Compile),
            ("-E a.c", Look),
            ("-M a.c", Look),
            ("-MM a.c", Look),
            ("-MD -MF a.d a.c", Link),
            ("-MMD -MT x -MF a.d -c a.c", Compile),
            ("-fsyntax-only a.c", Look),
            ("--version", Look),
            ("-print-search-dirs", Look),
            ("--print-file-name=libc.so", Look),
            ("-v", Look),
            ("-o a", Look),
            ("-o -c a.c", Link),
            ("-include a.h a.c", Link),
            ("-I a -D b", Look),
            ("-x c -", Link),
            ("-xc -c -", Compile),
            ("-x c-header a", Look),
            ("-x c++ a.h", Link),
            ("a.hpp", Look),
            ("a.o -lm", Link),
            ("-lm", Link),
            ("-l m", Link),
            ("-Wl,--version", Link),
            ("-Xlinker --version", Link),
            ("-r a.o", Compile),
            ("-shared a.o", Link),
            ("-### a.c", Link),
            ("-Xclang -E a.c", Link),
            ("-mllvm -M a.c", Link),
        ];
        for (args, stage) in cases {
            assert_eq!(parse(args).stage, stage, "{args}");
        }
    }

    #[test]
    fn raddles_own_options_are_taken_out() {
        use Symbolic::{All, None as Nothing};
        let cases = [
            ("-c a.c", "-c a.c", None),
            ("-c --symbolic a.c", "-c a.c", Some(All)),
            ("--symbolic --no-symbolic a.c", "a.c", Some(Nothing)),
            ("--no-symbolic a.c --symbolic", "a.c", Some(All)),
            ("-o --symbolic a.c", "-o --symbolic a.c", None),
            ("-- --symbolic", "-- --symbolic", None),
        ];
        for (args, rest, asked) in cases {
            let args: Vec<OsString> = args.split_whitespace().map(Into::into).collect();
            let (others, found) = take_own(&args);
            assert_eq!(others.join(OsStr::new(" ")), rest);
            assert_eq!(found, asked, "{args:?}");
        }
    }

    #[test]
    fn link_options_are_seen() {
        assert_eq!(parse("-static a.c").static_option, Some("-static"));
        assert_eq!(parse("-static-pie a.c").static_option, Some("-static-pie"));
        assert_eq!(parse("-static-libgcc a.c").static_option, None);
        assert!(parse("-flto a.c").lto);
        assert!(parse("-flto=thin a.c").lto);
        assert!(!parse("-flto a.c -fno-lto").lto);
        assert!(parse("-fuse-ld=gold a.c").chooses_linker);
        assert_eq!(parse("-o a -- -c").options_end, 2);
        assert_eq!(parse("-o a -- -c").stage, Link);
    }

    #[test]
    fn response_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        let outer = folder.path().join("outer");
        std::fs::write(&inner, "-c 'a b.c'\n").unwrap();
        std::fs::write(&outer, format!("-o \"x y\" @{}", inner.display())).unwrap();
        let arg: OsString = format!("@{}", outer.display()).into();
        assert_eq!(Invocation::parse(&[arg]).stage, Compile);
        assert_eq!(parse("@/nonexistent").stage, Link);
    }

    #[test]
    fn words_are_split_as_a_shell_does() {
        let cases: [(&str, &[&str]); 5] = [
            ("a b\n c", &["a", "b", "c"]),
            ("'a b' \"c d\"", &["a b", "c d"]),
            (r"a\ b \\", &["a b", "\\"]),
            ("x'' ''", &["x", ""]),
            ("", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text), expected, "{text}");
        }
    }
}
