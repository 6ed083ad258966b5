//! Variables of the C library that programs access, too, and system calls by their numbers
//! (`protocol/src/effects/variables.rs`, `protocol/src/effects/direct.rs`): is each of this machine in the table,
//! and do exhaustive searches and `verify` find both orders of an access and a call, or name what they do not
//! follow?

mod common;

use common::{Compiler, LIMIT, compile, in_parallel, output, run};
use raddle_protocol::effects::variables::Known;
use raddle_protocol::effects::{DIRECT, Direct, direct, find, is_known};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The variables that a library exports to programs: their names.
fn exported(library: &str) -> Vec<String> {
    let path = Path::new("/lib/x86_64-linux-gnu").join(library);
    let listed = output(
        Command::new("nm").args(["-D", "--defined-only"]).arg(path),
        LIMIT,
    );
    assert_eq!(listed.status, 0, "{}", listed.stderr);
    let symbols = listed.stdout.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [.., kind, name] = words[..] else {
            return None;
        };
        let name = Some(name).filter(|name| !name.ends_with("@GLIBC_PRIVATE"));
        let is_variable = ["B", "D", "V", "R", "S", "G", "C", "u"].contains(&kind);
        let name = name.filter(|_| is_variable)?;
        Some(name.split('@').next().unwrap_or_default().to_string())
    });
    symbols.collect()
}

#[test]
fn of_every_variable_of_the_library_it_is_known_who_uses_it() {
    let names: Vec<String> = ["libc.so.6", "libm.so.6"]
        .into_iter()
        .flat_map(exported)
        .collect();
    assert!(names.len() > 80, "{names:?}");
    let missing: Vec<&String> = names
        .iter()
        .filter(|name| Known::of(name).is_none())
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    // What is said to be constant or old is no matter for programs; what is shown can be found.
    for name in ["stdin", "environ", "program_invocation_name", "signgam"] {
        assert!(matches!(Known::of(name), Some(Known::Shows(..))), "{name}");
    }
}

/// System calls that access no memory of the program, or that are followed by their numbers (those that make
/// threads and processes, wait, or handle signals).
const NOTHING: &str = "rt_sigreturn sched_yield pause getpid clone fork vfork execve exit getppid \
                       sched_getscheduler sched_get_priority_max sched_get_priority_min sync gettid tkill futex \
                       exit_group tgkill set_robust_list execveat membarrier rseq clone3 futex_waitv";

/// Of the system calls of this machine it is known what each accesses, or that it may write all that it is given.
#[test]
fn of_every_system_call_it_is_known_what_it_accesses_or_said_that_it_is_not() {
    let header = "/usr/include/x86_64-linux-gnu/asm/unistd_64.h";
    let text = std::fs::read_to_string(header).expect("the header");
    let lines = text
        .lines()
        .filter_map(|line| line.strip_prefix("#define __NR_"));
    let numbers: BTreeMap<u64, &str> = lines
        .filter_map(|line| line.split_once(' '))
        .map(|(name, number)| (number.trim().parse().expect("a number"), name))
        .collect();
    assert!(numbers.len() > 300);
    let address = [0, 0x10000];
    for (&number, &name) in &numbers {
        let nothing = NOTHING.split_whitespace().any(|one| one == name);
        assert_eq!(direct(number) == Direct::Nothing, nothing, "{name}");
        let known = is_known(number, &address);
        match direct(number) {
            Direct::Nothing => assert!(known, "{name}"),
            Direct::Unknown => assert!(!known && !is_known(number, &[]), "{name}"),
            // Without an address there is nothing to write.
            Direct::As(function) => {
                assert!(is_known(number, &[0, 1]), "{name}");
                assert!(known || find(function).is_none(), "{name}");
            }
        }
    }
    assert!(!is_known(100_000, &[]), "{DIRECT}");
}

/// Rows of which it is only named, in a program whose other rows are found.
const NAMED: &[&str] = &[];

fn rows(program: &Path) -> Vec<String> {
    let listed = output(Command::new(program).arg("list"), LIMIT);
    listed.stdout.lines().map(String::from).collect()
}

#[test]
fn both_orders_of_an_access_and_a_call_are_found() {
    let built = |flag: &str| {
        let flags = ["-O0", "-w", "-lm", flag];
        compile(Compiler::RaddleCc, "tests/variables/variables.c", &flags)
    };
    let flags = ["-DKNOWN", "-DUNKNOWN", "-DENVP"];
    let programs = flags.map(|flag| (flag, built(flag)));
    let mut cases = Vec::new();
    for (flag, program) in &programs {
        let rows = rows(program);
        assert!(!rows.is_empty(), "{flag}");
        for row in rows {
            cases.extend([0, 1].map(|outcome| (*flag, program, row.clone(), outcome)));
        }
    }
    assert!(cases.len() > 130, "{}", cases.len());
    in_parallel(&cases, |(flag, program, row, outcome)| {
        let outcome = outcome.to_string();
        for mode in ["random", "dpor", "verify"] {
            let mut options = match mode {
                "verify" => vec!["verify"],
                policy => vec!["run", "--policy", policy],
            };
            if mode == "random" {
                // One order of some comes in one of 500.
                options.extend(["-n", "20000"]);
            }
            options.extend(["--races=off", "--no-shrink", "-q"]);
            let run = run(&options, program, &[row, &outcome]);
            let named = mode == "verify" || *flag == "-DUNKNOWN" || NAMED.contains(&row.as_str());
            let right: &[i32] = match mode {
                // Chance shows that there is such an outcome.
                "random" => &[66],
                _ if named => &[66, 69],
                _ => &[66],
            };
            if !right.contains(&run.output.status) {
                let (shown, all) = (&run.shown, run.output.all());
                return Err(format!(
                    "{mode} {row} {outcome}: {shown}: {right:?} is right\n{all}"
                ));
            }
        }
        Ok(())
    });
}

/// To assign to a stream while another thread uses it is a race.
#[test]
fn a_standard_stream_that_is_assigned_to_while_it_is_used_is_a_race() {
    let flags = ["-O0", "-w", "-lm", "-DKNOWN"];
    let program = compile(Compiler::RaddleCc, "tests/variables/variables.c", &flags);
    for row in ["stdin_getchar", "stdout_printf", "stderr_perror"] {
        let run = run(
            &["run", "--policy", "dpor", "--races=fail", "-q"],
            &program,
            &[row, "9"],
        );
        assert_eq!(run.output.status, 66, "{row}: {}", run.output.all());
    }
}
