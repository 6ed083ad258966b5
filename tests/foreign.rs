//! Programs that other tools have instrumented, or that bring a heap or stacks of their own.

mod common;

use common::{
    Compiler, Run, compile, in_parallel, output, raddle, replay_fails, root, run, scratch,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How a program is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Build {
    /// gcc and g++ with these options.
    Gnu(&'static [&'static str]),
    /// Objects by clang with these options, linked by `raddle cc`.
    ClangObjects(&'static [&'static str]),
    /// `raddle cc` with these options.
    Raddle(&'static [&'static str]),
}

const TSAN: &[&str] = &["-fsanitize=thread"];
const CLANG: &str = "clang-19";

fn is_cxx(source: &str) -> bool {
    source.ends_with(".cpp")
}

fn run_tool(command: &mut Command) {
    let result = output(command, common::LIMIT);
    assert_eq!(result.status, 0, "{command:?}\n{}", result.all());
}

impl Build {
    fn program(self, source: &str, defines: &[&str]) -> PathBuf {
        let source = format!("tests/foreign/{source}");
        let cxx = is_cxx(&source);
        let with = |options: &[&'static str]| [options, defines].concat();
        match self {
            Build::Gnu(options) => {
                let compiler = if cxx { Compiler::Gxx } else { Compiler::Gcc };
                compile(compiler, &source, &with(options))
            }
            Build::Raddle(options) => {
                let compiler = if cxx {
                    Compiler::RaddleCxx
                } else {
                    Compiler::RaddleCc
                };
                compile(compiler, &source, &with(options))
            }
            Build::ClangObjects(options) => from_objects(&source, &with(options)),
        }
    }
}

/// Compiles by clang alone, links by `raddle cc`.
fn from_objects(source: &str, options: &[&str]) -> PathBuf {
    let stem = Path::new(source)
        .file_stem()
        .expect("a name")
        .to_string_lossy();
    let folder = scratch("foreign-objects");
    let name = format!("{stem}{}", options.concat().replace(['/', '='], "-"));
    let (object, program) = (folder.join(format!("{name}.o")), folder.join(name));
    let cxx = is_cxx(source);
    let mut clang = Command::new(if cxx { "clang++-19" } else { CLANG });
    clang.args(["-g", "-O1", "-pthread", "-c"]).args(options);
    run_tool(clang.arg(root().join(source)).arg("-o").arg(&object));
    let mut link = Command::new(raddle());
    link.args([if cxx { "c++" } else { "cc" }, "-pthread"]);
    run_tool(link.arg(&object).arg("-o").arg(&program));
    program
}

/// Asserts that the program fails in this way and that its witness replays, or that it never fails
/// (`None`). Every policy but the default would do as well; seeds are fixed.
fn check(program: &Path, class: Option<&str>, executions: u32) -> Result<Run, String> {
    let n = executions.to_string();
    let run = run(&["run", "-q", "--seed", "1", "-n", &n], program, &[]);
    let said = format!("{}: {:?}\n{}", run.shown, run.summary, run.output.all());
    let found = run.summary.findings.first();
    if found.map(|f| f.class.as_str()) != class {
        return Err(format!("expected {class:?}\n{said}"));
    }
    let Some(finding) = found else {
        let fine = run.output.status == 0 && run.summary.executions == u64::from(executions);
        return if fine { Ok(run) } else { Err(said) };
    };
    let witness = finding.witness.as_ref().expect("findings have witnesses");
    let mut replay = Command::new(raddle());
    replay.args(["replay", "-q", "-n", "10"]).arg(witness);
    let replayed = output(&mut replay, common::LIMIT);
    match replayed.status {
        66 => Ok(run),
        _ => Err(format!("{said}\nits replay: {}", replayed.all())),
    }
}

#[test]
fn memory_of_thread_sanitizer_builds_is_seen() {
    const BUILDS: [Build; 3] = [
        Build::Gnu(TSAN),
        Build::ClangObjects(TSAN),
        Build::Raddle(TSAN),
    ];
    const SOURCES: [&str; 4] = ["lost_update.c", "torn_copy.c", "atomics.c", "objects.cpp"];
    let mut cases = Vec::new();
    for source in SOURCES {
        for build in BUILDS {
            cases.push((source, build, Some("assertion")));
            cases.push((source, build, None));
        }
    }
    in_parallel(&cases, |&(source, build, class)| {
        let defines: &[&str] = if class.is_none() { &["-DFIXED"] } else { &[] };
        let executions = if class.is_some() { 5000 } else { 300 };
        check(&build.program(source, defines), class, executions)
            .map(|_| ())
            .map_err(|why| format!("{source} by {build:?}: {why}"))
    });
}

const ASAN: &[&str] = &["-fsanitize=address"];
const UBSAN: &[&str] = &["-fsanitize=undefined", "-fno-sanitize-recover=undefined"];

/// The same program by gcc and by clang with its own linker.
fn by_both(source: &str, options: &'static [&'static str], defines: &[&str]) -> [PathBuf; 2] {
    let stem = Path::new(source)
        .file_stem()
        .expect("a name")
        .to_string_lossy();
    let name = format!("{stem}{}{}", options.concat(), defines.concat());
    let program = scratch("foreign-clang").join(name.replace('=', "-"));
    let mut clang = Command::new(CLANG);
    clang
        .args(["-g", "-O1", "-pthread"])
        .args(options)
        .args(defines);
    let path = root().join("tests/foreign").join(source);
    run_tool(clang.arg(path).arg("-o").arg(&program));
    [Build::Gnu(options).program(source, defines), program]
}

#[test]
fn reports_of_sanitizers_are_findings() {
    let cases = [
        (
            "freed_early.c",
            ASAN,
            "use-after-free",
            "heap-use-after-free, READ of size 4",
        ),
        (
            "overrun.c",
            ASAN,
            "misuse",
            "heap-buffer-overflow, WRITE of size 4",
        ),
        (
            "shifted.c",
            UBSAN,
            "crash",
            "UndefinedBehaviorSanitizer: shift exponent 40 is too large",
        ),
    ];
    in_parallel(&cases, |&(source, options, class, message)| {
        for program in by_both(source, options, &[]) {
            let found = check(&program, Some(class), 500)?;
            let finding = &found.summary.findings[0];
            if !finding.message.contains(message) || finding.preemptions > 1 {
                return Err(format!("{}: {finding:?}", found.shown));
            }
        }
        for program in by_both(source, options, &["-DFIXED"]) {
            let fine = check(&program, None, 100)?;
            let noted = |note: &String| note.contains("LeakSanitizer is switched off");
            if fine.summary.notes.iter().any(noted) != (options == ASAN) {
                return Err(format!("{}: {:?}", fine.shown, fine.summary.notes));
            }
        }
        Ok(())
    });
}

#[test]
fn accesses_by_hooks_of_raddle_cc_are_checked_too() {
    let cases: [(&str, Option<&str>); 2] = [
        ("freed_early.c", Some("use-after-free")),
        ("freed_early.c", None),
    ];
    in_parallel(&cases, |&(source, class)| {
        let defines: &[&str] = if class.is_none() { &["-DFIXED"] } else { &[] };
        let program = Build::Raddle(ASAN).program(source, defines);
        check(&program, class, if class.is_some() { 500 } else { 100 }).map(|_| ())
    });
}

/// What AddressSanitizer alone knows bounds exhaustive searches, which end as without it.
#[test]
fn what_address_sanitizer_marks_bounds_exhaustive_searches() {
    let program = Build::Raddle(ASAN).program("scope.c", &["-O0"]);
    let cases: [(&[&str], i32); 4] = [
        (&["run", "--policy", "dpor"], 69),
        (&["run", "--policy", "pcb:0"], 69),
        (&["verify"], 69),
        (&["run", "--policy", "dfs"], 66),
    ];
    for (command, status) in cases {
        let found = run(&[command, &["--no-shrink"]].concat(), &program, &[]);
        let said = found.output.all();
        assert_eq!(found.output.status, status, "{said}");
        let bounded = said.contains("AddressSanitizer marks");
        assert!(bounded || status == 66, "{said}");
    }
}

#[test]
fn a_report_tells_where_the_block_was_freed() {
    for program in by_both("freed_early.c", ASAN, &[]) {
        let run = run(&["run", "--seed", "1", "-n", "500"], &program, &[]);
        assert_eq!(run.output.status, 66, "{}", run.output.all());
        let freed = "was freed by T2 at freed_early.c:31  free(block);";
        for text in ["reader at ", freed] {
            assert!(run.output.stderr.contains(text), "{}", run.output.all());
        }
    }
}

#[test]
fn programs_may_bring_their_own_heap() {
    let cases: [(&[&str], Option<&str>); 4] = [
        (&["-DJEMALLOC", "-ljemalloc"], Some("assertion")),
        (&["-DJEMALLOC", "-ljemalloc", "-DFIXED"], None),
        (&["-DMIMALLOC", "-lmimalloc"], Some("assertion")),
        (&["-DMIMALLOC", "-lmimalloc", "-DFIXED"], None),
    ];
    in_parallel(&cases, |&(options, class)| {
        let options: Vec<&str> = [&["-Wl,--no-as-needed"], options].concat();
        let program = compile(Compiler::Gcc, "tests/foreign/allocators.c", &options);
        check(&program, class, if class.is_some() { 1000 } else { 100 }).map(|_| ())
    });
}

#[test]
fn stacks_of_every_kind_work_and_an_overflow_is_told() {
    let fixed = Build::Gnu(&[]).program("stacks.c", &["-DFIXED"]);
    check(&fixed, None, 50).unwrap_or_else(|why| panic!("{why}"));
    let broken = Build::Gnu(&[]).program("stacks.c", &[]);
    let run = check(&broken, Some("crash"), 5).unwrap_or_else(|why| panic!("{why}"));
    let message = &run.summary.findings[0].message;
    assert!(message.contains("stack overflow"), "{message}");
}

#[test]
fn sixteen_bytes_and_annotations_work_under_every_compiler() {
    let cases: [(&str, Build); 4] = [
        (
            "atomics.c",
            Build::Gnu(&["-fsanitize=thread", "-DWIDE", "-mcx16"]),
        ),
        (
            "atomics.c",
            Build::ClangObjects(&["-fsanitize=thread", "-DWIDE", "-mcx16"]),
        ),
        ("annotated.c", Build::Gnu(TSAN)),
        ("annotated.c", Build::ClangObjects(TSAN)),
    ];
    in_parallel(&cases, |&(source, build)| {
        check(&build.program(source, &["-DFIXED"]), None, 200)
            .map(|_| ())
            .map_err(|why| format!("{source} by {build:?}: {why}"))
    });
}

/// What a library without hooks does to memory is no step, whether it is linked or loaded later: an
/// exhaustive search that finds nothing there has not seen everything.
#[test]
fn a_library_without_hooks_bounds_what_was_explored() {
    let source = "tests/foreign/library.c";
    let library = |compiler| compile(compiler, source, &["-DLIBRARY", "-shared", "-fPIC"]);
    let hooks = library(Compiler::RaddleCc).display().to_string();
    let none = library(Compiler::Gcc).display().to_string();
    let linked = |library: &str| compile(Compiler::RaddleCc, source, &[library]);
    let later = compile(Compiler::RaddleCc, source, &["-DLATER"]);
    let dfs = &["run", "--policy", "dfs", "-n", "20000"][..];
    let dpor = &["run", "--policy", "dpor"][..];
    let table: [(&[&str], PathBuf, &[&str], i32); 6] = [
        (dpor, linked(&hooks), &[], 66),
        (dpor, later.clone(), &[&hooks], 66),
        (dpor, linked(&none), &[], 69),
        (dpor, later.clone(), &[&none], 69),
        (dfs, later.clone(), &[&none], 69),
        (&["verify"], later, &[&none], 69),
    ];
    for (options, program, args, status) in table {
        let run = run(options, &program, args);
        let text = run.output.all();
        assert_eq!(run.output.status, status, "{}\n{text}", run.shown);
        let names = ["is not instrumented", "library without hooks"];
        let told = names.iter().any(|name| text.contains(name));
        assert_eq!(told, status == 69, "{}\n{text}", run.shown);
    }
}

/// Places in a library that the program loads by itself have functions and lines, and suppressions
/// know the library.
#[test]
fn a_race_in_a_library_that_is_loaded_later_has_its_lines() {
    let source = "tests/foreign/library.c";
    let library = compile(
        Compiler::RaddleCc,
        source,
        &["-DLIBRARY", "-shared", "-fPIC"],
    );
    let later = compile(Compiler::RaddleCc, source, &["-DLATER"]);
    let file = library
        .file_name()
        .expect("it has a name")
        .to_string_lossy();
    let from_library = format!("called_from_lib:{file}");
    let rules = ["race:^add$", "race:library.c", &from_library, "race:^main$"];
    for (n, rule) in rules.into_iter().enumerate() {
        let list = scratch("foreign-later").join(format!("rules-{n}"));
        std::fs::write(&list, format!("{rule}\n")).expect("it can be written");
        let list = list.to_str().expect("a plain path");
        let options = ["run", "-n", "5", "--policy", "rr", "--races", "fail"];
        let all = [&options[..], &["--suppressions", list]].concat();
        let path = library.to_str().expect("a plain path");
        let run = run(&all, &later, &[path]);
        let text = run.output.all();
        let quiet = run.summary.findings.is_empty() && run.summary.suppressed.len() == 1;
        assert_eq!(quiet, n < 3, "{rule}\n{text}");
        if let [finding] = run.summary.findings.as_slice() {
            assert!(
                text.contains("add at ") && text.contains("library.c:5"),
                "{text}"
            );
            replay_fails(finding, &["-q", "-n", "3"]).unwrap_or_else(|why| panic!("{why}"));
        }
    }
}

#[test]
fn only_a_library_may_need_thread_sanitizer() {
    let folder = scratch("foreign-library");
    let source = root().join("tests/foreign/library.c");
    let mut library = Command::new("gcc");
    library.args([
        "-g",
        "-O1",
        "-fPIC",
        "-shared",
        "-DLIBRARY",
        "-fsanitize=thread",
    ]);
    run_tool(
        library
            .arg(&source)
            .arg("-o")
            .arg(folder.join("libcounts.so")),
    );
    let program = folder.join("counts");
    let mut link = Command::new("gcc");
    link.args(["-g", "-O1", "-pthread", "-L."])
        .current_dir(&folder)
        .arg(&source);
    link.args([
        "-lcounts",
        "-Wl,-rpath,$ORIGIN",
        "-Wl,--allow-shlib-undefined",
    ]);
    run_tool(link.arg("-o").arg(&program));
    let run = check(&program, Some("assertion"), 2000).unwrap_or_else(|why| panic!("{why}"));
    let who = |name: &str| run.summary.instrumented.get(name).map(String::as_str);
    assert_eq!(who("libcounts.so"), Some("-fsanitize=thread"));
    assert_eq!(who("counts"), None);
    assert_eq!(run.summary.instrumented.len(), 1);
}

/// Functions that a program may define and ThreadSanitizer's runtime calls.
const CALLED_BY_THE_RUNTIME: [&str; 5] = [
    "__tsan_default_options",
    "__tsan_default_suppressions",
    "__tsan_on_report",
    "__tsan_symbolize_external",
    "__tsan_symbolize_external_ex",
];

fn exports(library: &Path) -> BTreeSet<String> {
    let mut nm = Command::new("nm");
    let listed = output(
        nm.args(["-D", "--defined-only"]).arg(library),
        common::LIMIT,
    );
    assert_eq!(listed.status, 0, "{}", listed.all());
    let names = listed
        .stdout
        .lines()
        .filter_map(|line| line.split_whitespace().last());
    names.map(str::to_string).collect()
}

fn path_of(compiler: &str, library: &str) -> PathBuf {
    let mut ask = Command::new(compiler);
    let said = output(
        ask.arg(format!("-print-file-name={library}")),
        common::LIMIT,
    );
    let path = PathBuf::from(said.stdout.trim());
    assert!(path.is_absolute(), "{compiler} has no {library}");
    path
}

#[test]
fn every_hook_of_thread_sanitizer_has_its_counterpart() {
    let ours = exports(&raddle().with_file_name("libraddle.so"));
    let libraries = [
        path_of("gcc", "libtsan.so"),
        path_of(CLANG, "libclang_rt.tsan-x86_64.so"),
    ];
    for library in libraries {
        let theirs = exports(&library);
        let hooks: Vec<&String> = theirs
            .iter()
            .filter(|name| name.starts_with("__tsan_") || name.starts_with("Annotate"))
            .filter(|name| !CALLED_BY_THE_RUNTIME.contains(&name.as_str()))
            .collect();
        assert!(hooks.len() > 150, "{} in {library:?}", hooks.len());
        let missing: Vec<_> = hooks.iter().filter(|name| !ours.contains(**name)).collect();
        assert!(missing.is_empty(), "{library:?} has {missing:?}");
    }
}

#[test]
fn runtimes_that_want_to_be_in_charge_are_refused_by_name() {
    let cases = [
        ("-fsanitize=thread", "ThreadSanitizer"),
        ("-fsanitize=memory", "MemorySanitizer"),
    ];
    for (option, name) in cases {
        let program = scratch("foreign-refused").join(name);
        let mut clang = Command::new(CLANG);
        clang.args(["-g", "-pthread", option]);
        let source = root().join("tests/foreign/lost_update.c");
        run_tool(clang.arg(source).arg("-o").arg(&program));
        let mut run = Command::new(raddle());
        let result = output(run.args(["run", "--"]).arg(&program), common::LIMIT);
        assert_eq!(result.status, 68, "{}", result.all());
        assert!(result.stderr.contains(name), "{}", result.stderr);
    }
}
