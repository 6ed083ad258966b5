//! Compiles programs with the plugin and runs them with the hooks of `support/hooks.c`.
#![allow(dead_code, reason = "every test uses its part")]

use raddle_protocol::compile::{SYMBOLIC, Symbolic};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use tempfile::TempDir;

/// The compiler under which everything is tested.
pub const CLANG: &str = "clang-19";

/// A folder of its own for one test.
pub struct Workshop {
    folder: TempDir,
}

/// How a program is built.
#[derive(Clone, Copy, Debug)]
pub struct Build<'a> {
    /// Optimisation and the like.
    pub options: &'a [&'a str],
    /// With the plugin? Which functions get symbolic bodies?
    pub plugin: Option<Symbolic>,
}

/// The plugin that this build made.
pub fn plugin() -> PathBuf {
    let own = std::env::current_exe().expect("a test has a file");
    let deps = own.parent().expect("a file has a folder");
    let places = [deps.to_owned(), deps.join("..")];
    let name = "libraddle_plugin.so";
    places
        .iter()
        .map(|place| place.join(name))
        .find(|file| file.is_file())
        .unwrap_or_else(|| panic!("{name} is not in {}", deps.display()))
}

/// A file of the tests' folder.
pub fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(name)
}

/// The library with the hooks, made once a process. Its name is its own: cargo puts the folder of
/// the real one on the library path.
fn hooks() -> &'static Path {
    static HOOKS: OnceLock<TempDir> = OnceLock::new();
    let folder = HOOKS.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut command = Command::new(CLANG);
        command.args(["-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]);
        command.arg(file("support/hooks.c")).arg("-o");
        succeed(command.arg(folder.path().join("libtesthooks.so")));
        folder
    });
    folder.path()
}

/// `RADDLE_TEST_PROGRAMS` and `RADDLE_TEST_SEED` ask for other random programs than the usual ones.
pub fn number(name: &str, usual: u64) -> u64 {
    let asked = std::env::var(name).ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(usual)
}

/// Keeps a random program in the folder that `RADDLE_TEST_KEEP` names.
pub fn keep(seed: u64, text: &str) {
    if let Some(folder) = std::env::var_os("RADDLE_TEST_KEEP") {
        let file = Path::new(&folder).join(format!("{seed}.c"));
        std::fs::write(file, text).expect("the folder can be written");
    }
}

/// Runs a command that has to succeed and say nothing on its standard error.
pub fn succeed(command: &mut Command) -> Output {
    let output = command.output().expect("the command starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?}: {}\n{errors}",
        output.status
    );
    output
}

impl Workshop {
    pub fn new() -> Workshop {
        Workshop {
            folder: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a source file.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).expect("the folder can be written");
        path
    }

    /// Compiles one source file to an object.
    pub fn compile(&self, source: &Path, build: Build) -> PathBuf {
        let name = format!(
            "{}{:?}.o",
            build.options.concat().replace('/', "_"),
            build.plugin
        );
        let object = self.path(&name);
        let mut command = compiler(source);
        command
            .args(build.options)
            .args(["-w", "-I"])
            .arg(file("support"));
        if let Some(symbolic) = build.plugin {
            // Built with debug assertions it has LLVM verify what it made.
            command.env(SYMBOLIC, symbolic.value());
            command.arg(format!("-fpass-plugin={}", plugin().display()));
        }
        succeed(command.arg("-c").arg(source).arg("-o").arg(&object));
        object
    }

    /// Links objects to a program.
    pub fn link(&self, objects: &[PathBuf], cxx: bool, options: &[&str], name: &str) -> PathBuf {
        let program = self.path(name);
        let mut command = Command::new(CLANG);
        if cxx {
            command.arg("--driver-mode=g++");
        }
        command.args(options).args(objects).arg("-L").arg(hooks());
        command.args([
            "-ltesthooks",
            "-lm",
            "-latomic",
            "-pthread",
            "-Xlinker",
            "-rpath",
            "-Xlinker",
        ]);
        succeed(command.arg(hooks()).arg("-o").arg(&program));
        program
    }

    /// Compiles and links one source file.
    pub fn build(&self, source: &Path, build: Build) -> PathBuf {
        let object = self.compile(source, build);
        let mut options: Vec<&str> = Vec::new();
        for option in build.options {
            if option.starts_with("-flto") {
                options.extend([option, "-fuse-ld=lld"]);
            } else if option.starts_with("-fsanitize") || *option == "-no-pie" {
                options.push(option);
            }
        }
        let name = format!(
            "{}.exe",
            object.file_name().expect("a name").to_string_lossy()
        );
        self.link(&[object], is_cxx(source), &options, &name)
    }
}

/// The compiler with the plugin, for one source file.
pub fn compile_only(source: &Path) -> Command {
    let mut command = compiler(source);
    command.arg(format!("-fpass-plugin={}", plugin().display()));
    command.arg(source);
    command
}

fn is_cxx(source: &Path) -> bool {
    source.extension().is_some_and(|ending| ending == "cpp")
}

fn compiler(source: &Path) -> Command {
    let mut command = Command::new(CLANG);
    if is_cxx(source) {
        command.args(["--driver-mode=g++", "-std=c++20"]);
    }
    command
}

/// What a program did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    pub status: Option<i32>,
    pub output: String,
    pub errors: String,
}

/// Runs a program with this mode, this input for `raddle_symbolic` and, if asked for, a dump.
pub fn run(program: &Path, mode: u32, input: &[u8], dump: Option<&Path>) -> Ran {
    let hex: String = input.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut command = Command::new("timeout");
    command.arg("20").arg(program);
    command
        .env("TEST_MODE", mode.to_string())
        .env("TEST_INPUT", hex);
    if let Some(dump) = dump {
        command.env("TEST_DUMP", dump);
    }
    let output = command.output().expect("the program starts");
    Ran {
        status: output.status.code(),
        output: String::from_utf8_lossy(&output.stdout).into_owned(),
        errors: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// A file of LLVM's headers; the package that the build needs has them.
pub fn llvm_header(name: &str) -> String {
    let prefix = std::env::var("LLVM_CONFIG").ok().and_then(|config| {
        let output = Command::new(config).arg("--prefix").output().ok()?;
        Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
    });
    let prefix = prefix.unwrap_or_else(|| "/usr/lib/llvm-19".to_owned());
    std::fs::read_to_string(format!("{prefix}/{name}")).expect("LLVM's headers")
}

/// The symbolic bodies of functions of LLVM's language, by number: each has a type and a body that
/// makes the value `%r`. `head`: what they refer to.
pub fn symbolic_bodies<'a>(
    head: &str,
    examples: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<String> {
    let mut text = format!(
        "target triple = \"x86_64-pc-linux-gnu\"\n{head}declare i32 @__gxx_personality_v0(...)\n"
    );
    let mut count = 0;
    for (ty, body) in examples {
        text += &format!(
            "define {ty} @e{count}(i32 %a, i32 %b, i1 %c, ptr %p, i64 %n, double %x, double %y) \
             personality ptr @__gxx_personality_v0 {{\n {body}\n ret {ty} %r\n}}\n"
        );
        count += 1;
    }
    let workshop = Workshop::new();
    let source = workshop.write("examples.ll", &text);
    let output = workshop.path("made.ll");
    let mut command = Command::new(CLANG);
    command.arg(format!("-fpass-plugin={}", plugin().display()));
    command.args(["-x", "ir", "-O0", "-S", "-emit-llvm", "-w"]);
    succeed(command.arg(&source).arg("-o").arg(&output));
    let made = std::fs::read_to_string(output).expect("clang wrote it");
    let body = |number: usize| {
        let start = format!("@e{number}.raddle(");
        let parts = made.split("\ndefine ").skip(1);
        let body = parts.filter(|part| part.lines().next().is_some_and(|l| l.contains(&start)));
        let body = body.map(|part| part.split("\n}").next().unwrap_or_default());
        body.map(str::to_owned).next().expect("a symbolic body")
    };
    (0..count).map(body).collect()
}
