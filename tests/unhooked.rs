//! Programs that were built by `raddle cc` in part: no search claims that it has seen all of them.

mod common;

use common::{Compiler, LIMIT, compile, empty, in_parallel, output, raddle, root, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The object of a file of the folder, by `gcc` or by `raddle cc`.
fn object(folder: &Path, file: &str, hooks: bool, flags: &[&str]) -> PathBuf {
    let to = folder.join(file).with_extension("o");
    let mut command = match hooks {
        true => Command::new(raddle()),
        false => Command::new("gcc"),
    };
    if hooks {
        command.arg("cc");
    }
    command.args(["-g", "-O1", "-pthread"]).args(flags);
    let source = root().join("tests/unhooked").join(file);
    let built = output(command.arg("-c").arg(source).arg("-o").arg(&to), LIMIT);
    assert_eq!(built.status, 0, "{}", built.all());
    to
}

struct Case {
    /// Are main.c and part.c built by `raddle cc`?
    hooks: [bool; 2],
    flags: &'static [&'static str],
    /// The bound; where all has hooks, the error is found.
    says: Option<&'static str>,
}

const CASES: &[Case] = &[
    Case {
        hooks: [true, true],
        flags: &[],
        says: None,
    },
    Case {
        hooks: [true, true],
        flags: &["-fsanitize=undefined", "-fno-sanitize-recover=all"],
        says: None,
    },
    Case {
        hooks: [true, true],
        flags: &["-s"],
        says: None,
    },
    Case {
        hooks: [true, false],
        flags: &[],
        says: Some("count, increment in program were not built by raddle cc: what they do"),
    },
    Case {
        hooks: [true, false],
        flags: &["-s"],
        says: Some("2 functions in program were not built by raddle cc"),
    },
    Case {
        hooks: [false, true],
        flags: &[],
        says: Some("main in program was not built by raddle cc: what it does"),
    },
    Case {
        hooks: [true, true],
        flags: &["-DEXCLUDED"],
        says: Some("count, increment in program were not built"),
    },
];

#[test]
fn functions_without_hooks_bound_the_verdict() {
    let cases: Vec<(usize, &Case)> = CASES.iter().enumerate().collect();
    in_parallel(&cases, |&(number, case)| {
        let folder = empty(&format!("unhooked-{number}"));
        let program = folder.join("program");
        let files = ["main.c", "part.c"].into_iter().zip(case.hooks);
        let objects = files.map(|(file, hooks)| object(&folder, file, hooks, case.flags));
        let mut link = Command::new(raddle());
        link.args(["cc", "-pthread"]).args(case.flags);
        let linked = output(link.args(objects).arg("-o").arg(&program), LIMIT);
        assert_eq!(linked.status, 0, "{}", linked.all());
        for command in [&["verify"][..], &["run", "--policy", "dpor"]] {
            let run = run(command, &program, &[]);
            let (all, summary) = (run.output.all(), &run.summary);
            let right = match case.says {
                None => summary.verdict == "finding" && !all.contains("not built by"),
                // What is seen may be enough to find it.
                Some(says) if summary.verdict == "finding" => !case.hooks[0] && !says.is_empty(),
                Some(says) => run.output.status == 69 && all.contains(says),
            };
            if !right {
                return Err(format!("{number} {command:?}: {all}"));
            }
        }
        Ok(())
    });
}

/// What the compiler and the libraries bring along is no part of the program.
#[test]
fn what_is_linked_in_by_the_compiler_does_not_count() {
    let cases: [(Compiler, &str, &[&str]); 5] = [
        (
            Compiler::RaddleCc,
            "tests/corpus/philosophers.c",
            &["-fsanitize=undefined"],
        ),
        (Compiler::RaddleCc, "tests/corpus/philosophers.c", &["-s"]),
        (
            Compiler::RaddleCc,
            "tests/corpus/philosophers.c",
            &["-static-libgcc"],
        ),
        (
            Compiler::RaddleCxx,
            "tests/cpp/threads.cpp",
            &["-DSCENARIO=1", "-static-libstdc++"],
        ),
        (
            Compiler::RaddleCxx,
            "tests/verify/futures.cpp",
            &["-DHOW=0", "-static-libstdc++"],
        ),
    ];
    for (compiler, source, flags) in cases {
        let program = compile(compiler, source, &[&["-DFIXED"], flags].concat());
        let proof = run(&["verify", "--races", "off"], &program, &["3"]);
        assert_eq!(proof.summary.verdict, "verified", "{}", proof.output.all());
    }
}

#[test]
fn what_lies_in_libstdcpp_bounds_the_verdict() {
    let source = "tests/unhooked/streams.cpp";
    let program = compile(Compiler::RaddleCxx, source, &["-O1", "-std=c++20"]);
    for policy in ["dpor", "dfs"] {
        let run = run(&["run", "--policy", policy, "--races=off"], &program, &[]);
        let all = run.output.all();
        assert!([66, 69].contains(&run.output.status), "{all}");
        assert!(all.contains("of libstdc++ do to shared memory"), "{all}");
    }
}
