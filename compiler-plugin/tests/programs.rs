//! Do instrumented programs do what they did? With every mode, at every level of optimisation.

mod common;

use common::{Build, Ran, Workshop, compile_only, file, run, succeed};
use raddle_protocol::compile::{SYMBOLIC, Symbolic};
use std::path::Path;
use std::process::Command;

/// Options for the compiler under which each program must behave as without the plugin.
const VARIANTS: &[&[&str]] = &[
    &["-O0"],
    &["-O1", "-g"],
    &["-O2", "-gline-tables-only"],
    &["-O3", "-march=x86-64-v3"],
    &["-Os", "-fno-pie", "-no-pie"],
    &[
        "-O2",
        "-fPIC",
        "-ffunction-sections",
        "-fcf-protection=full",
    ],
    &["-O2", "-flto"],
    &["-O2", "-flto=thin"],
    &[
        "-O1",
        "-fno-omit-frame-pointer",
        "-fno-optimize-sibling-calls",
    ],
    &[
        "-O2",
        "-fstack-protector-all",
        "-ftrivial-auto-var-init=pattern",
    ],
    &[
        "-O0",
        "-fsanitize=bounds,null,return",
        "-fsanitize-trap=all",
    ],
];

/// Those under which programs are built without symbolic bodies, too.
const LEAN: [&[&str]; 2] = [&["-O0"], &["-O2", "-g"]];

fn check(name: &str) {
    check_variants(name, VARIANTS);
}

fn check_variants(name: &str, variants: &[&[&str]]) {
    let source = file(&format!("programs/{name}"));
    let lean = [(&LEAN[0], Symbolic::None), (&LEAN[1], Symbolic::None)];
    let whole = variants.iter().map(|options| (options, Symbolic::All));
    for (options, bodies) in whole.chain(lean) {
        // What the program does must not depend on optimisation at all.
        let plain = expected(&source, options);
        let workshop = Workshop::new();
        let program = workshop.build(
            &source,
            Build {
                options,
                plugin: Some(bodies),
            },
        );
        for mode in 0..4 {
            assert_eq!(
                run(&program, mode, &[], None),
                plain,
                "{name} {options:?} {bodies:?} mode {mode}"
            );
        }
    }
}

fn expected(source: &Path, options: &[&str]) -> Ran {
    let workshop = Workshop::new();
    let plain = workshop.build(
        source,
        Build {
            options,
            plugin: None,
        },
    );
    let ran = run(&plain, 0, &[], None);
    assert!(ran.status.is_some(), "{source:?} {options:?}: {ran:?}");
    ran
}

#[test]
fn control_flow() {
    check("control.c");
}

#[test]
fn types() {
    check("types.c");
}

#[test]
fn objects() {
    check("objects.cpp");
}

#[test]
fn containers() {
    check_variants("containers.cpp", &VARIANTS[..3]);
}

/// A function of so many statements, which code generation would take long to optimise with hooks.
fn large_function(statements: usize) -> String {
    let mut text = "#include <stdio.h>\nint kept[64];\nint large(int n) {\n".to_owned();
    for number in 0..statements {
        let (to, from, mask) = (number % 64, number * 7 % 64, number % 13);
        text +=
            &format!("kept[{to}] += kept[(n + {from}) & 63] ^ {mask}; if (kept[{to}] & 8) n++;\n");
    }
    text + "return n; }\nint main(void) { int n = large(3); \
            for (int i = 0; i < 64; i++) printf(\"%d \", kept[i]); printf(\"%d\\n\", n); return 0; }\n"
}

#[test]
fn symbolic_bodies_of_large_functions_are_not_optimised() {
    let workshop = Workshop::new();
    for (statements, optimised) in [(30, true), (400, false)] {
        let source = workshop.write("large.c", &large_function(statements));
        for level in ["-O2", "-Os", "-Oz"] {
            let options = &[level][..];
            let plugin = Some(Symbolic::All);
            let program = workshop.build(&source, Build { options, plugin });
            let plain = expected(&source, options);
            for mode in 0..4 {
                let ran = run(&program, mode, &[], None);
                assert_eq!(ran, plain, "{statements} {level} mode {mode}");
            }
        }
        let mut command = compile_only(&source);
        command.env(SYMBOLIC, Symbolic::All.value());
        let listing = workshop.path("large.ll");
        succeed(
            command
                .args(["-O2", "-S", "-emit-llvm", "-w", "-o"])
                .arg(&listing),
        );
        let listing = std::fs::read_to_string(listing).expect("clang wrote it");
        assert_ne!(listing.contains("optnone"), optimised, "{statements}");
    }
}

/// Reads a disassembly or IR listing of what the plugin makes of a text.
fn ir(text: &str, options: &[&str]) -> String {
    let workshop = Workshop::new();
    let source = workshop.write("text.c", text);
    let output = workshop.path("text.ll");
    let mut command = compile_only(&source);
    command
        .args(["-S", "-emit-llvm", "-w"])
        .args(options)
        .arg("-o")
        .arg(&output);
    succeed(&mut command);
    std::fs::read_to_string(output).expect("clang wrote it")
}

/// How often a hook is called in the listing.
fn calls(ir: &str, hook: &str) -> usize {
    ir.lines()
        .filter(|line| line.contains(" call ") && line.contains(&format!("@{hook}(")))
        .count()
}

#[test]
fn what_nobody_else_sees_has_no_hooks() {
    let cases: &[(&str, &str, usize)] = &[
        // A variable that stays in the function.
        (
            "int f(int n) { int a[9]; for (int i = 0; i < 9; i++) a[i] = n; return a[n % 9]; }",
            "-O0",
            0,
        ),
        // A constant.
        (
            "static const int t[] = {1, 2, 3}; int f(int n) { return t[n]; }",
            "-O1",
            0,
        ),
        // Fresh memory that goes nowhere.
        (
            "#include <stdlib.h>\nint f(int n) { int *p = malloc(n); for (int i = 0; i < n; i++) p[i] = i; n = p[n / 2]; free(p); return n; }",
            "-O1",
            0,
        ),
        // errno is the thread's own.
        (
            "#include <errno.h>\nint f(void) { errno = 0; return errno; }",
            "-O1",
            0,
        ),
        // A global is everybody's.
        ("int g; int f(void) { return g; }", "-O1", 1),
        ("int g; void f(void) { g++; }", "-O0", 2),
        // An address that was given away.
        (
            "void use(int *); int f(void) { int a = 1; use(&a); return a; }",
            "-O1",
            2,
        ),
        (
            "struct s { long a[9]; } g; void use(struct s); void f(void) { use(g); }",
            "-O1",
            1,
        ),
        ("_Thread_local int t; int f(void) { return t; }", "-O1", 1),
        (
            "static _Thread_local int t; int f(void) { return t++; }",
            "-O1",
            0,
        ),
        (
            "void f(void) { __asm__ volatile(\"\" ::: \"memory\"); }",
            "-O1",
            0,
        ),
        (
            "void f(void) { __asm__ volatile(\"nop\" ::: \"memory\"); }",
            "-O1",
            0,
        ),
        (
            "void f(void) { __asm__ volatile(\"mfence\" ::: \"memory\"); }",
            "-O1",
            1,
        ),
        (
            "unsigned long strlen(const char *); unsigned long f(char *p) { return strlen(p); }",
            "-O1",
            2,
        ),
        (
            "unsigned long strlen(const char *); unsigned long f(void) { return strlen(\"abc\"); }",
            "-O0",
            0,
        ),
        (
            "long read(int, void *, unsigned long); long f(char *p) { return read(0, p, 4); }",
            "-O1",
            2,
        ),
        (
            // What is read is not told of, but that the file is further on.
            "long read(int, long, unsigned long); long f(long p) { return read(0, p, 4); }",
            "-O1",
            1,
        ),
        (
            "__attribute__((disable_sanitizer_instrumentation)) int f(int *p) { return *p; }",
            "-O1",
            0,
        ),
    ];
    const HOOKS: [&str; 11] = [
        "raddle_read1",
        "raddle_read4",
        "raddle_write4",
        "raddle_write8",
        "raddle_range_read",
        "raddle_range_write",
        "raddle_copy",
        "raddle_fill",
        "raddle_call",
        "raddle_called",
        "raddle_asm",
    ];
    for (text, level, expected) in cases {
        let listing = ir(text, &[level, "-g"]);
        // The symbolic body is another function; only the scheduling body counts here.
        let body: String = listing
            .split("\n}\n")
            .filter(|part| {
                let mut heads = part.lines().filter(|line| line.starts_with("define"));
                !heads.any(|head| head.contains("@f.raddle("))
            })
            .collect();
        let found: usize = HOOKS.iter().map(|hook| calls(&body, hook)).sum();
        assert_eq!(found, *expected, "{text}\n{listing}");
    }
}

#[test]
fn every_hook_has_a_line() {
    for name in ["control.c", "types.c"] {
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            let text =
                std::fs::read_to_string(file(&format!("programs/{name}"))).expect("a source");
            let include = file("support");
            let include = format!("-I{}", include.display());
            let listing = ir(&text, &[level, "-gline-tables-only", &include]);
            let without: Vec<&str> = listing
                .lines()
                .filter(|line| line.contains(" call ") && line.contains(" @raddle_"))
                .filter(|line| !has_line(line, &listing))
                .collect();
            assert!(without.is_empty(), "{name} {level}: {without:#?}");
        }
    }
}

/// What an intercepted function does has the place of its call, so the call is no jump.
#[test]
fn calls_that_leave_the_file_keep_their_frames() {
    let text = "int away(int); int near(int);\n\
                int f(int n) { return n > 9 ? near(n) : away(n); }\n\
                __attribute__((noinline)) int near(int n) { return f(n / 2); }";
    let listing = ir(text, &["-O2"]);
    let keep_frames = |name: &str| {
        let name = format!("call i32 @{name}(");
        let calls = listing.lines().filter(|line| line.contains(&name));
        let kept: Vec<bool> = calls.map(|line| line.contains("notail ")).collect();
        (
            kept.iter().any(|&kept| kept),
            kept.iter().any(|&kept| !kept),
        )
    };
    assert_eq!(keep_frames("away"), (true, false), "{listing}");
    assert_eq!(keep_frames("near"), (false, true), "{listing}");
}

/// Does the instruction have a location with a line?
fn has_line(instruction: &str, listing: &str) -> bool {
    let Some((_, location)) = instruction.rsplit_once("!dbg ") else {
        return false;
    };
    let number = location.split([',', ' ']).next().expect("a number");
    let start = format!("\n{number} = !DILocation(line: ");
    let found = listing.find(&start).expect("the location is listed");
    !listing[found + start.len()..].starts_with("0,")
}

#[test]
fn objects_are_marked_and_the_mark_stays() {
    let workshop = Workshop::new();
    let source = workshop.write("marked.c", "int g; int main(void) { return g; }");
    for linker in ["-Wl,--gc-sections", "-fuse-ld=lld", "-flto"] {
        let mut options = vec!["-O2", linker];
        if linker != "-fuse-ld=lld" {
            options.push(if linker == "-flto" {
                "-fuse-ld=lld"
            } else {
                "-ffunction-sections"
            });
        }
        options.push("-Wl,--gc-sections");
        let program = workshop.build(
            &source,
            Build {
                options: &["-O2"],
                plugin: Some(Symbolic::All),
            },
        );
        let object = workshop.compile(
            &source,
            Build {
                options: &["-O2"],
                plugin: Some(Symbolic::All),
            },
        );
        let linked = workshop.link(&[object], false, &options, "linked");
        for file in [program, linked] {
            let sections = succeed(Command::new("readelf").arg("-SW").arg(&file));
            let text = String::from_utf8_lossy(&sections.stdout).into_owned();
            assert!(
                text.contains(raddle_protocol::hooks::SECTION),
                "{linker}: {text}"
            );
        }
    }
}

#[test]
fn functions_with_a_symbolic_body_say_so() {
    let listing = ir("int g; int f(void) { return g; }", &["-O1"]);
    let prefix = raddle_protocol::hooks::PREFIX;
    assert!(
        listing.contains(&format!("prefix i64 {prefix}")),
        "{listing}"
    );
    let without = ir(
        "int f(int n) { static void *t[] = {&&a, &&b}; goto *t[n]; a: return 1; b: return 2; }",
        &["-O1"],
    );
    // Every hook but the switch to a second body, which indirect branches forbid.
    let hooked = raddle_protocol::hooks::HOOKED;
    assert!(
        without.contains(&format!("prefix i64 {hooked}")),
        "{without}"
    );
}
