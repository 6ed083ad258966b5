//! Errors of arithmetic, of memory and in the use of objects (`errors/`), each for one value of an
//! input or in some interleavings only: `verify` must find it and the witness show it, and prove the
//! repaired program.

mod common;

use common::{Compiler, compile, in_parallel, replay_fails, run};

const SOURCE: &str = "tests/errors/programs.c";

const OVERFLOWS: &[&str] = &[
    "-fsanitize=signed-integer-overflow",
    "-fno-sanitize-recover=all",
];

/// Options of the compiler, the class of the finding, and a part of its message. The number of the
/// scenario is the place in this list.
const ERRORS: [(&[&str], &str, &str); 14] = [
    (&[], "crash", "SIGFPE"),
    (&[], "crash", "SIGFPE"),
    (
        &[],
        "misuse",
        "4 bytes at offset 48 of a variable of 48 bytes",
    ),
    (
        &[],
        "misuse",
        "1 byte at offset 201 of a variable of 6 bytes",
    ),
    (
        &[],
        "misuse",
        "1 byte touches offset 100 of a heap block of 8 bytes",
    ),
    (
        &[],
        "misuse",
        "9 bytes at offset 0 of a variable of 8 bytes",
    ),
    (&[], "crash", "SIGSEGV at address 0x0"),
    (&[], "use-after-free", "freed block of 4 bytes"),
    (
        &[],
        "misuse",
        "4 bytes at offset 48 of a variable of 48 bytes",
    ),
    (OVERFLOWS, "crash", "signed integer overflow"),
    (
        &[],
        "misuse",
        "4 bytes at offset 48 of a variable of 48 bytes",
    ),
    (
        &[],
        "misuse",
        "4 bytes at offset 4 of a variable of 4 bytes",
    ),
    (
        &[],
        "misuse",
        "7 bytes at offset 2 of a variable of 8 bytes",
    ),
    (&[], "crash", "SIGSEGV at address 0x0"),
];

type Case = (usize, &'static str, bool);

fn check(&(scenario, level, fixed): &Case) -> Result<(), String> {
    let (options, class, message) = ERRORS[scenario];
    let scenario = format!("-DSCENARIO={scenario}");
    let repair: &[&str] = if fixed { &["-DFIXED"] } else { &[] };
    let flags = [&[scenario.as_str(), level, "-w"], options, repair].concat();
    let program = compile(Compiler::RaddleCc, SOURCE, &flags);
    let found = run(&["verify", "--no-shrink"], &program, &[]);
    let summary = &found.summary;
    if fixed {
        return match summary.verdict.as_str() {
            "verified" => Ok(()),
            _ => Err(format!("{flags:?}: {}", found.output.all())),
        };
    }
    let [finding] = summary.findings.as_slice() else {
        return Err(format!("{flags:?}: {}", found.output.all()));
    };
    if finding.class != class || !finding.message.contains(message) {
        return Err(format!("{flags:?}: {}", finding.message));
    }
    replay_fails(finding, &[]).map_err(|text| format!("{flags:?} {text}"))
}

#[test]
fn errors_are_found_and_repaired_programs_verified() {
    let mut cases: Vec<Case> = Vec::new();
    for scenario in 0..ERRORS.len() {
        for level in ["-O0", "-O2"] {
            cases.extend([false, true].map(|fixed| (scenario, level, fixed)));
        }
    }
    in_parallel(&cases, check);
}

/// Words of the atomic in `atomics.c`: two fit an instruction, three are left to libatomic.
#[test]
fn lost_updates_of_wide_atomics_are_found_and_repaired_programs_verified() {
    let mut cases: Vec<(&str, &str, bool)> = Vec::new();
    for words in ["-DWORDS=2", "-DWORDS=3"] {
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            cases.extend([false, true].map(|fixed| (words, level, fixed)));
        }
    }
    in_parallel(&cases, |&(words, level, fixed)| {
        let repair: &[&str] = if fixed { &["-DFIXED"] } else { &[] };
        let flags = [&[words, level, "-w", "-latomic"], repair].concat();
        let program = compile(Compiler::RaddleCc, "tests/errors/atomics.c", &flags);
        let found = run(&["verify", "--no-shrink"], &program, &[]);
        match found.summary.findings.as_slice() {
            [] if fixed && found.summary.verdict == "verified" => Ok(()),
            [finding] if !fixed && finding.class == "assertion" => replay_fails(finding, &[]),
            _ => Err(format!("{flags:?}: {}", found.output.all())),
        }
    });
}

const OBJECTS: &str = "tests/errors/objects.c";

/// A part of the message of each scenario of `objects.c`. (A lock may also be held when it is
/// destroyed.)
const MISUSES: [&str; 9] = [
    "a mutex was ",
    "a condition variable was used after it was destroyed",
    "a read-write lock was ",
    "a barrier was used after it was destroyed",
    "a spinlock was ",
    "a semaphore was used after it was destroyed",
    "a mutex was used after it was destroyed",
    "pthread_join of a thread that has been joined",
    "pthread_",
];

/// `how`: the command, and what it says of the repaired program.
fn check_objects(&(scenario, fixed, how): &(usize, bool, How)) -> Result<(), String> {
    let number = format!("-DSCENARIO={scenario}");
    let repair: &[&str] = if fixed { &["-DFIXED"] } else { &[] };
    let flags = [&[number.as_str(), "-O1", "-w"], repair].concat();
    let program = compile(Compiler::RaddleCc, OBJECTS, &flags);
    let found = run(how.0, &program, &[]);
    let wrong = || Err(format!("{flags:?} {how:?}: {}", found.output.all()));
    let summary = &found.summary;
    match summary.findings.as_slice() {
        [] if fixed && summary.verdict == how.1 => Ok(()),
        [finding] if !fixed => {
            match finding.class == "misuse" && finding.message.contains(MISUSES[scenario]) {
                true => replay_fails(finding, &[]),
                false => wrong(),
            }
        }
        _ => wrong(),
    }
}

type How = (&'static [&'static str], &'static str);

/// Commands, and what they say of a program that is right.
const HOWS: [How; 3] = [
    (&["verify", "--no-shrink"], "verified"),
    (&["run", "--policy", "dpor", "--no-shrink"], "explored"),
    (&["run", "--no-shrink"], "nothing-found"),
];

/// A jump goes where the running thread called setjmp; to where another one did it is a finding, which is seen
/// again however the buffer came to hold that.
#[test]
fn jumps_to_other_threads_are_misuse() {
    let mut cases = Vec::new();
    for how in HOWS {
        for level in ["-O0", "-O2"] {
            cases.extend(["-w", "-DFIXED", "-DIN_TURN"].map(|kind| (how, level, kind)));
        }
    }
    in_parallel(&cases, |&(how, level, kind): &(How, &str, &str)| {
        let program = compile(
            Compiler::RaddleCc,
            "tests/errors/jumps.c",
            &[level, "-w", kind],
        );
        let found = run(how.0, &program, &[]);
        let misuse = "longjmp to where T";
        match found.summary.findings.as_slice() {
            [] if kind != "-w" && found.summary.verdict == how.1 => Ok(()),
            [finding] if kind == "-w" && finding.message.contains(misuse) => {
                replay_fails(finding, &[])
            }
            _ => Err(format!("{how:?} {level} {kind}: {}", found.output.all())),
        }
    });
}

/// Whoever gives back the stack of a thread which it has not joined gets no verdict about all executions, unless
/// that is seen to fail; whoever joins it first does.
#[test]
fn stacks_are_given_back_when_their_threads_are_joined() {
    let searches: [&[&str]; 3] = [
        &["run", "--policy", "dpor"],
        &["run", "--policy", "dfs"],
        &["verify"],
    ];
    let cases: Vec<(u32, &str)> = (0..7)
        .flat_map(|how| ["-w", "-DEARLY"].map(|when| (how, when)))
        .collect();
    in_parallel(&cases, |&(how, when)| {
        let how = format!("-DHOW={how}");
        let flags = ["-O1", "-w", &how, when];
        let program = compile(Compiler::RaddleCc, "tests/errors/stacks.c", &flags);
        searches.iter().try_for_each(|search| {
            let found = run(&[search, &["--no-shrink"][..]].concat(), &program, &[]);
            let statuses: &[i32] = if when == "-DEARLY" { &[66, 69] } else { &[0] };
            match statuses.contains(&found.output.status) {
                true => Ok(()),
                false => Err(format!("{search:?} {flags:?}: {}", found.output.all())),
            }
        })
    });
}

#[test]
fn objects_are_not_used_after_they_were_given_up() {
    let mut cases = Vec::new();
    for scenario in 0..MISUSES.len() {
        for how in HOWS {
            cases.extend([false, true].map(|fixed| (scenario, fixed, how)));
        }
    }
    in_parallel(&cases, check_objects);
}

/// What `bytes.c` does to the memory of an object, beside its use.
const WHATS: [&str; 6] = ["assign", "read", "free", "unmap", "end", "cut"];
/// The numbers of its locks, and of the objects that cannot tell whether their memory was written or read
/// before their use.
const LOCKS: [usize; 3] = [0, 2, 4];
const INDIFFERENT: [usize; 2] = [1, 3];
const OBJECT_KINDS: usize = 7;
/// Orders of `bytes.c`.
const ANY: usize = 0;
const BEFORE: usize = 2;

/// The memory of an object is assigned, read, freed, unmapped, ends with its thread or is cut off a block,
/// while another thread uses the object: both orders are found, or named, and a kept one is right.
#[test]
fn objects_and_their_memory_are_found_in_both_orders() {
    let program = compile(Compiler::RaddleCc, "tests/errors/bytes.c", &["-O1"]);
    let mut cases = Vec::new();
    for (what, name) in WHATS.iter().enumerate() {
        for object in 0..OBJECT_KINDS {
            // Nothing ends before an object on its stack is used and behind that.
            let orders = if *name == "end" { 0..2 } else { 0..4 };
            cases.extend(orders.map(|order| (what, object, order)));
        }
    }
    in_parallel(&cases, |&(what, object, order)| {
        // What is written over a lock that is held, or taken from under it, bounds.
        let held = LOCKS.contains(&object) && order != ANY && order != BEFORE;
        let told = order != ANY || !INDIFFERENT.contains(&object);
        let (explored, verified) = match WHATS[what] {
            "assign" | "read" if !told => (0, 69),
            "assign" | "read" if order == ANY => (66, 66),
            "assign" | "unmap" if held => (69, 69),
            "assign" => (0, 0),
            // What an operation leaves in memory.
            "read" => (0, if order == BEFORE { 0 } else { 69 }),
            _ if order == ANY || order == BEFORE => (66, 66),
            _ => (0, 0),
        };
        let args = [object, what, order].map(|number| number.to_string());
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let rest = ["--no-shrink", "--races=off"];
        for (how, expected) in [
            (&["run", "--policy", "dpor"][..], explored),
            (&["verify"], verified),
        ] {
            let found = run(&[how, &rest].concat(), &program, &args);
            if found.output.status != expected {
                let (what, all) = (WHATS[what], found.output.all());
                return Err(format!("{args:?} {what}, not {expected}: {all}"));
            }
        }
        Ok(())
    });
}

/// The memory of an object is written while a thread may wait in it: that is named, if nothing is found.
#[test]
fn objects_that_are_written_while_somebody_waits_bound_the_verdict() {
    let program = compile(
        Compiler::RaddleCc,
        "tests/errors/waited.c",
        &["-O1", "-lstdc++"],
    );
    let hows: [&[&str]; 4] = [
        &["run", "--policy", "dpor"],
        &["run", "--policy", "dpor:source"],
        &["run", "--policy", "dfs"],
        &["verify"],
    ];
    let mut cases = Vec::new();
    for object in 0..7 {
        for order in 0..2 {
            cases.extend(hows.map(|how| (object, order, how)));
        }
    }
    in_parallel(&cases, |&(object, order, how)| {
        let args = [object, order].map(|number: i32| number.to_string());
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let rest = ["--no-shrink", "--races=off"];
        let found = run(&[how, &rest].concat(), &program, &args);
        let named = "memory of a synchronisation object accessed while others use it";
        let all = found.output.all();
        let right = match order {
            0 => found.output.status == 66 || found.output.status == 69 && all.contains(named),
            _ => found.output.status == 0,
        };
        match right {
            true => Ok(()),
            false => Err(format!("{args:?} {how:?}: {all}")),
        }
    });
}
