//! Is `raddle cc` a drop-in for clang: in what it makes, prints and returns?

mod common;

use common::{Output, empty, output, raddle};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);
const MAIN: &str = "#include <stdio.h>\nint twice(int);\nint shared;\n\
    int main(int argc, char **argv) { (void)argv; shared += argc; printf(\"%d\\n\", twice(shared)); return 3; }\n";
const TWICE: &str = "int calls;\nint twice(int x) { calls++; return 2 * x; }\n";

/// A folder with two source files that make one program.
fn folder(name: &str) -> PathBuf {
    let dir = empty(&format!("driver-{name}"));
    write(&dir, "main.c", MAIN);
    write(&dir, "twice.c", TWICE);
    dir
}

fn write(dir: &Path, name: &str, text: &str) {
    std::fs::write(dir.join(name), text).expect("the file can be written");
}

fn within(dir: &Path, program: &Path, args: &str) -> Output {
    let mut command = Command::new(program);
    command.current_dir(dir).args(args.split_whitespace());
    output(&mut command, LIMIT)
}

fn cc(dir: &Path, args: &str) -> Output {
    within(dir, raddle(), &format!("cc {args}"))
}

/// Compiles or links; there must be nothing to say about it.
fn quiet(dir: &Path, args: &str) {
    let result = cc(dir, args);
    assert_eq!((result.status, result.all().as_str()), (0, ""), "{args}");
}

fn runs(dir: &Path, program: &str) {
    let result = within(dir, &dir.join(program), "");
    assert_eq!(
        (result.status, result.stdout.as_str()),
        (3, "2\n"),
        "{program}: {}",
        result.all()
    );
}

fn is_instrumented(dir: &Path, file: &str) -> bool {
    let sections = within(dir, Path::new("readelf"), &format!("-SW {file}"));
    sections.stdout.contains("raddle_hooks")
}

fn needs_the_runtime(dir: &Path, file: &str) -> bool {
    let dynamic = within(dir, Path::new("readelf"), &format!("-dW {file}"));
    dynamic.stdout.contains("[libraddle.so]")
}

#[test]
fn programs_are_instrumented_however_they_are_built() {
    let dir = folder("build");
    write(&dir, "all.rsp", "-O1 'main.c'\ntwice.c -o \"from-file\"");
    write(&dir, "objects.rsp", "main.o twice.o");
    let ways: &[(&str, &[&str])] = &[
        ("plain", &["main.c twice.c -o plain"]),
        (
            "optimised",
            &["-O3 -g -Wall -Wextra -Werror main.c twice.c -o optimised"],
        ),
        (
            "objects",
            &[
                "-c main.c",
                "-c -fPIC twice.c -o twice.o",
                "main.o twice.o -o objects",
            ],
        ),
        (
            "library",
            &[
                "-shared -fPIC twice.c -o libtwice.so",
                "main.c -L. -ltwice -Wl,-rpath,. -o library",
            ],
        ),
        (
            "assembly",
            &["-S main.c -o main.s", "main.s twice.c -o assembly"],
        ),
        (
            "partial",
            &["-r main.o twice.o -o both.o", "both.o -o partial"],
        ),
        ("from-file", &["@all.rsp"]),
        ("object-file", &["@objects.rsp -o object-file"]),
        (
            "dependencies",
            &[
                "-MD -MF main.d -c main.c -o main.o",
                "main.o twice.o -o dependencies",
            ],
        ),
        ("language", &["-x c main.c twice.c -o language"]),
        (
            "lto",
            &[
                "-flto -O2 -c main.c -o main-lto.o",
                "-flto -O2 main-lto.o twice.c -o lto",
            ],
        ),
        ("thin", &["-flto=thin -O2 main.c twice.c -o thin"]),
        ("absolute", &["-fno-pie -no-pie main.c twice.c -o absolute"]),
        (
            "collected",
            &["-ffunction-sections -Wl,--gc-sections main.c twice.c -o collected"],
        ),
        ("after", &["-o after -- main.c twice.c"]),
        (
            "as-needed",
            &["-Wl,--as-needed main.c twice.c -o as-needed"],
        ),
    ];
    for (program, commands) in ways {
        for command in *commands {
            quiet(&dir, command);
        }
        runs(&dir, program);
        assert!(is_instrumented(&dir, program), "{program}");
        assert!(needs_the_runtime(&dir, program), "{program}");
    }
    assert!(dir.join("main.d").is_file());
    assert!(is_instrumented(&dir, "main.o"));
}

#[test]
fn cxx_programs_find_their_library() {
    let dir = folder("cxx");
    write(
        &dir,
        "main.cc",
        "#include <iostream>\nint main() { std::cout << 2 << std::endl; return 3; }\n",
    );
    let result = within(&dir, raddle(), "c++ -std=c++17 -O2 main.cc -o main");
    assert_eq!((result.status, result.all().as_str()), (0, ""));
    runs(&dir, "main");
}

#[test]
fn what_makes_no_code_is_clangs_own_answer() {
    let dir = folder("look");
    write(&dir, "wrong.c", "int f( { return }\n");
    write(&dir, "header.h", "struct s { int a; };\n");
    let clang = Path::new("clang-19");
    for args in [
        "-E main.c",
        "-E -dM main.c",
        "-M main.c",
        "-MM main.c",
        "-fsyntax-only main.c",
        "-fsyntax-only wrong.c",
        "--version",
        "-dumpversion",
        "-dumpmachine",
        "-v",
        "",
        "-print-search-dirs",
        "-print-file-name=libc.so",
        "-print-prog-name=ld",
        "--help",
        "-E nowhere.c",
        "-E -x c -",
        "-x c-header header.h -o header.pch",
    ] {
        let (ours, theirs) = (cc(&dir, args), within(&dir, clang, args));
        assert_eq!(ours.status, theirs.status, "{args}");
        assert_eq!(ours.stdout, theirs.stdout, "{args}");
        assert_eq!(ours.stderr, theirs.stderr, "{args}");
    }
}

#[test]
fn failures_are_clangs_own() {
    let dir = folder("failures");
    write(&dir, "wrong.c", "int f( { return }\n");
    let clang = Path::new("clang-19");
    for args in [
        "-c wrong.c",
        "-c nowhere.c",
        "-c main.c --no-such-option",
        "-c main.c -o /nowhere/x.o",
    ] {
        let (ours, theirs) = (cc(&dir, args), within(&dir, clang, args));
        assert_eq!(
            (ours.status, ours.stderr),
            (theirs.status, theirs.stderr),
            "{args}"
        );
    }
    let result = cc(&dir, "main.c -o main");
    assert_eq!(result.status, 1);
    assert!(
        result.stderr.contains("undefined reference to `twice'"),
        "{}",
        result.stderr
    );
}

#[test]
fn what_cannot_work_is_said_in_one_line() {
    let dir = folder("errors");
    let no_path: &[(&str, &str)] = &[("PATH", "/nowhere")];
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], i32, &'a str);
    let cases: &[Case] = &[
        (
            "-static main.c twice.c -o s",
            &[],
            68,
            "link without -static",
        ),
        (
            "-static-pie main.c twice.c -o s",
            &[],
            68,
            "link without -static-pie",
        ),
        (
            "-c main.c",
            &[("RADDLE_CLANG", "/nowhere/clang")],
            72,
            "install the package clang-19",
        ),
        (
            "-c main.c",
            &[("RADDLE_CLANG", "/etc/passwd")],
            72,
            "no program",
        ),
        (
            "-flto main.c",
            &[("RADDLE_CLANG", "/nowhere/clang")],
            72,
            "RADDLE_CLANG",
        ),
    ];
    for (args, variables, status, text) in cases {
        let mut command = Command::new(raddle());
        command
            .current_dir(&dir)
            .arg("cc")
            .args(args.split_whitespace());
        command.envs(variables.iter().copied());
        let result = output(&mut command, LIMIT);
        assert_eq!(result.status, *status, "{args}: {}", result.stderr);
        assert!(result.stderr.contains(text), "{args}: {}", result.stderr);
        assert_eq!(
            result.stderr.lines().count(),
            1,
            "{args}: {}",
            result.stderr
        );
    }
    // Debian's own folder is known even where PATH does not name it.
    let mut command = Command::new(raddle());
    command
        .current_dir(&dir)
        .args(["cc", "-c", "main.c"])
        .envs(no_path.iter().copied());
    assert_eq!(output(&mut command, LIMIT).status, 0);
}

#[test]
fn the_users_debug_options_win() {
    let dir = folder("debug");
    for (option, full) in [("", false), ("-g", true), ("-g0", false), ("-ggdb3", true)] {
        quiet(&dir, &format!("-c {option} main.c -o main.o"));
        let info = within(&dir, Path::new("readelf"), "--debug-dump=info main.o");
        assert_eq!(info.stdout.contains("DW_TAG_variable"), full, "{option:?}");
        let lines = within(&dir, Path::new("readelf"), "-SW main.o");
        assert_eq!(
            lines.stdout.contains(".debug_line"),
            option != "-g0",
            "{option:?}"
        );
    }
}

#[test]
fn make_takes_the_command_for_a_compiler() {
    let dir = folder("make");
    write(
        &dir,
        "Makefile",
        "CFLAGS = -O2 -Wall -Werror -MMD\nmain: main.o twice.o\n",
    );
    let mut command = Command::new("make");
    command
        .current_dir(&dir)
        .arg(format!("CC={} cc", raddle().display()));
    let result = output(&mut command, LIMIT);
    assert_eq!(
        (result.status, result.stderr.as_str()),
        (0, ""),
        "{}",
        result.stdout
    );
    runs(&dir, "main");
    assert!(is_instrumented(&dir, "main"));
}

/// A program whose functions call each other one after the other.
fn long_program(functions: usize) -> String {
    let mut text = String::from("#include \"raddle.h\"\n#include <stdlib.h>\nint kept[64];\n");
    for number in (0..functions).rev() {
        let next = match number + 1 == functions {
            true => "return n;".into(),
            false => format!("return f{}(n + 1);", number + 1),
        };
        let forward = format!("int f{number}(int);\n__attribute__((noinline)) ");
        let body = format!(
            "int f{number}(int n) {{ for (int i = 0; i < 9; i++) kept[i + n % 8] += kept[n % 7] ^ {number}; {next} }}\n"
        );
        text += &(forward + &body);
    }
    text + "int main(void) { unsigned char c; raddle_symbolic(&c, 1, \"c\"); \
            kept[0] = f0(0); if (c == 77 && kept[0] == 5) abort(); return 0; }\n"
}

/// How many functions of an object have a symbolic body, and does `main`?
fn symbolic_bodies(dir: &Path, file: &str) -> (usize, bool) {
    let symbols = within(dir, Path::new("readelf"), &format!("-sW {file}")).stdout;
    let names = symbols
        .lines()
        .filter_map(|line| line.split_whitespace().last());
    let bodies: Vec<&str> = names.filter(|name| name.ends_with(".raddle")).collect();
    (bodies.len(), bodies.contains(&"main.raddle"))
}

#[test]
fn large_files_get_symbolic_bodies_where_they_are_asked_for() {
    let dir = folder("symbolic");
    let headers = common::root().join("examples/include");
    for (level, small, large) in [("-O0", 20, 600), ("-O1", 20, 150)] {
        for (name, functions) in [("small.c", small), ("large.c", large)] {
            write(&dir, name, &long_program(functions));
        }
        let bodies = |options: &str, file: &str| {
            let flags = format!("{level} -I{} -c", headers.display());
            quiet(&dir, &format!("{flags} {options} {file} -o made.o"));
            symbolic_bodies(&dir, "made.o")
        };
        assert_eq!(bodies("", "small.c"), (small + 1, true), "{level}");
        assert_eq!(bodies("--no-symbolic", "small.c"), (0, false), "{level}");
        assert_eq!(bodies("--symbolic", "large.c"), (large + 1, true));
        // What lies nearest to where the program begins.
        let (some, main) = bodies("", "large.c");
        assert!(main && some > 1 && some < large / 8, "{level}: {some}");
    }
    write(&dir, "large.c", &long_program(150));
    for (way, says) in [
        ("--symbolic", None),
        ("", Some(" of large.c have no symbolic body:")),
    ] {
        let flags = format!("-O1 -I{}", headers.display());
        quiet(&dir, &format!("{way} {flags} large.c -o large"));
        let result = within(&dir, raddle(), "verify -- ./large");
        let expected = (i32::from(says.is_some()) * 69, says.is_some());
        let said = result.all().contains(says.unwrap_or("no symbolic body"));
        assert_eq!((result.status, said), expected, "{}", result.all());
    }
}

#[test]
fn a_variable_asks_for_symbolic_bodies_too() {
    let dir = folder("variable");
    for (value, bodies, status) in [("1", 1, 0), ("0", 0, 0), ("", 1, 0), ("yes", 0, 64)] {
        let mut command = Command::new(raddle());
        command.current_dir(&dir).env("RADDLE_CC_SYMBOLIC", value);
        command.args(["cc", "-c", "twice.c", "-o", "made.o"]);
        let result = output(&mut command, LIMIT);
        assert_eq!(result.status, status, "{}", result.all());
        if status == 0 {
            assert_eq!(symbolic_bodies(&dir, "made.o"), (bodies, false), "{value}");
        } else {
            assert!(
                result.all().contains("set RADDLE_CC_SYMBOLIC to 1"),
                "{}",
                result.all()
            );
        }
    }
    // An option counts for more.
    let mut command = Command::new(raddle());
    command.current_dir(&dir).env("RADDLE_CC_SYMBOLIC", "0");
    command.args(["cc", "--symbolic", "-c", "twice.c", "-o", "made.o"]);
    assert_eq!(output(&mut command, LIMIT).status, 0);
    assert_eq!(symbolic_bodies(&dir, "made.o"), (1, false));
}
