//! Busy waiting: programs that wait in loops end, livelocks are reported as such and at once,
//! retries still give up, exhaustive searches come to an end.

mod common;

use common::{
    Compiler, LIMIT, Run, compile, empty, in_parallel, output, raddle, replay_fails, run,
};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Ways to wait, as flags of `cross.c`.
const WAYS: &[&str] = &["-DPLAIN", "-DYIELD", "-DLOCK", "-DSLEEP"];

fn run_spin(source: &str, flags: &[&str], options: &[&str]) -> Run {
    let program = compile(Compiler::RaddleCc, &format!("tests/spin/{source}.c"), flags);
    run(&[&["run", "--seed", "1"], options].concat(), &program, &[])
}

#[test]
fn a_livelock_is_reported_at_once_with_the_line_of_each_thread() {
    in_parallel(WAYS, |way| {
        for threads in ["fiber", "kernel"] {
            let options = ["-n", "50", "--max-steps", "2000", "--threads", threads];
            let run = run_spin("cross", &[way], &options);
            let Some(finding) = run.summary.findings.first() else {
                return Err(format!("{}: nothing\n{}", run.shown, run.output.all()));
            };
            let text = run.output.all();
            let wanted = ["loops", "T1", "T2", "cross.c:"];
            let told = wanted.iter().all(|word| text.contains(word));
            if finding.class != "livelock" || finding.message.contains("steps") || !told {
                return Err(format!("{}: {finding:?}\n{text}", run.shown));
            }
        }
        Ok(())
    });
}

/// Also where all other threads have ended, so that nothing else would be a step any more.
#[test]
fn a_thread_that_is_left_alone_livelocks_at_once() {
    for policy in ["steer", "random", "dpor"] {
        let options = ["--policy", policy, "--timeout", "20s"];
        let run = run_spin("left_alone", &["-O0"], &options);
        let [finding] = &run.summary.findings[..] else {
            panic!("{}: {}", run.shown, run.output.all());
        };
        assert_eq!(finding.class, "livelock", "{}", run.output.all());
        replay_fails(finding, &["-n", "3"]).unwrap();
    }
}

#[test]
fn programs_that_wait_in_loops_come_to_their_end() {
    in_parallel(WAYS, |way| {
        for policy in ["mix", "rr", "pct:3", "pos"] {
            let options = ["-n", "300", "--policy", policy, "--max-steps", "20000"];
            let run = run_spin("cross", &["-DFIXED", way], &options);
            if !run.summary.outcomes.keys().eq(["exit 0"].iter()) {
                return Err(format!("{}\n{}", run.shown, run.output.all()));
            }
        }
        Ok(())
    });
}

#[test]
fn exhaustive_search_ends_on_busy_waits() {
    let cases: &[(&str, &[&str])] = &[
        ("flag", &["-DFIXED"]),
        ("cross", &["-DFIXED", "-DPLAIN"]),
        ("cross", &["-DPLAIN"]),
    ];
    in_parallel(cases, |(source, flags)| {
        let options = [
            "-n",
            "200000",
            "--policy",
            "dfs",
            "--keep-going",
            "--no-shrink",
        ];
        let run = run_spin(source, flags, &options);
        let fixed = flags.contains(&"-DFIXED");
        let outcome = if fixed { "exit 0" } else { "livelock" };
        let ended = run.summary.complete == Some(true)
            && run.summary.outcomes.keys().eq([outcome].iter())
            && run.summary.verdict == if fixed { "explored" } else { "finding" };
        match ended {
            true => Ok(()),
            false => Err(format!("{}\n{}", run.shown, run.output.all())),
        }
    });
}

/// Whether a thread is parked is no matter of when another one writes to its stack: else searches
/// ask for steps that cannot be taken.
#[test]
fn waits_for_words_on_the_own_stack_are_searched_completely() {
    const WRITES: &[&str] = &[
        "-DWORDS",
        "-DFILLS",
        "-DRWLOCK",
        "-DSPINLOCK",
        "-DPOSTS",
        "-DONCE",
        "-DCREATES",
    ];
    let written = WRITES.iter().map(|flag| ("written_stack", flag));
    let mut cases = vec![("own_stack", &""), ("written_meanwhile", &"")];
    cases.extend(written);
    in_parallel(&cases, |&(source, flag)| {
        let flags: &[&str] = if flag.is_empty() { &[] } else { &["-O1", flag] };
        let program = compile(Compiler::RaddleCc, &format!("tests/spin/{source}.c"), flags);
        searched_completely(&program)
    });
}

/// The same where the loops are those of the C++ library, and what is written is a mutex.
/// A loop that counts never comes back to where it was; the search ends all the same, and says what it left
/// out.
#[test]
fn a_search_ends_on_loops_that_count() {
    let mut cases = Vec::new();
    for flag in ["-DPLAIN", "-DATOMIC"] {
        for level in ["-O0", "-O1"] {
            for policy in ["dpor", "dpor:source", "pcb:1"] {
                cases.extend([(flag, level, policy, false), (flag, level, policy, true)]);
            }
        }
    }
    in_parallel(&cases, |&(flag, level, policy, bug)| {
        let flags = [flag, level, if bug { "-DBUG" } else { "-DRIGHT" }];
        let program = compile(Compiler::RaddleCc, "tests/spin/counts.c", &flags);
        let options = ["run", "--policy", policy, "--races", "off", "--no-shrink"];
        let found = run(&options, &program, &[]);
        let says = bug || found.output.all().contains("counts its rounds");
        match found.output.status == if bug { 66 } else { 69 } && says {
            true => Ok(()),
            false => Err(format!("{flags:?}, {policy}: {}", found.output.all())),
        }
    });
}

#[test]
fn a_wait_with_a_stop_token_is_searched_completely() {
    let flags = ["-std=c++20", "-O1"];
    let program = compile(Compiler::RaddleCxx, "tests/spin/stop_token.cpp", &flags);
    if let Err(wrong) = searched_completely(&program) {
        panic!("{wrong}");
    }
}

/// Do both kinds of `dpor` see all classes and the one end, and give nothing up?
fn searched_completely(program: &Path) -> Result<(), String> {
    let mut classes = BTreeSet::new();
    for policy in ["dpor", "dpor:source"] {
        let options = ["run", "--policy", policy, "--leaked-threads", "off"];
        let run = run(&options, program, &[]);
        let summary = &run.summary;
        classes.insert(summary.classes);
        let ends = summary
            .outcomes
            .keys()
            .filter(|label| *label != "redundant");
        if summary.verdict != "explored" || !ends.eq(["exit 0"]) || classes.len() != 1 {
            return Err(format!("{}\n{}", run.shown, run.output.all()));
        }
    }
    Ok(())
}

/// Flags of `locked.c`, ends that `dpor` sees, and how many executions it needs.
const LOCKED: &[(&[&str], &[&str], u64)] = &[
    (&["-DLOOKS"], &["exit 0"], 3),
    (&["-DLOOKS", "-DYIELDS"], &["exit 0"], 3),
    (&["-DLOOKS", "-DTWO"], &["exit 0"], 38),
    (&["-DLOOKS", "-DWRONG"], &["livelock"], 3),
    (&["-DLOOKS", "-DWRONG", "-DTWO"], &["livelock"], 30),
    (&["-DLOOKS", "-DSEEN=1"], &["exit 10", "exit 11"], 47),
    (
        &["-DLOOKS", "-DSEEN=3"],
        &[
            "exit 10", "exit 11", "exit 12", "exit 13", "exit 14", "exit 15", "exit 16", "exit 17",
        ],
        251,
    ),
    (&["-DTRIES"], &["exit 0"], 4),
    (&["-DTRIES", "-DWRONG"], &["exit 0", "livelock"], 2),
    (&["-DBACKS_OFF"], &["exit 0"], 16),
    (&["-DBACKS_OFF", "-DWRONG"], &["exit 0", "livelock"], 6),
];

/// A loop that takes locks and gives them back is parked like one that does not, but it goes round
/// again where another thread found such a lock held.
/// Waits that pause or sleep in each round are one position for `verify`, whatever the pause is written as; but for
/// the clock, which shows how many rounds there were.
#[test]
fn waits_that_pause_are_verified() {
    let pauses = (0..7).flat_map(|pause| ["-O0", "-O1"].map(|level| (pause, level)));
    let cases: Vec<(u32, &str)> = pauses.collect();
    in_parallel(&cases, |&(pause, level)| {
        let sleeps = pause > 2;
        let number = format!("-DPAUSE={pause}");
        let clock = if sleeps {
            "verified-within-bounds"
        } else {
            "verified"
        };
        for (kind, verdict) in [
            ("-w", "verified"),
            ("-DWRONG", "finding"),
            ("-DCLOCK", clock),
        ] {
            let flags = ["-w", level, &number, kind];
            let program = compile(Compiler::RaddleCc, "tests/spin/sleeps.c", &flags);
            let found = run(&["verify", "--time", "60s", "--no-shrink"], &program, &[]);
            if found.summary.verdict != verdict || found.summary.executions > 10 {
                return Err(format!("{flags:?}: {}", found.output.all()));
            }
        }
        Ok(())
    });
}

#[test]
fn loops_that_take_locks_are_explored() {
    in_parallel(LOCKED, |&(flags, ends, executions)| {
        let options = ["--policy", "dpor", "--keep-going", "--no-shrink"];
        let leaks = ["-n", "100000", "--leaked-threads", "off"];
        let run = run_spin("locked", flags, &[&options[..], &leaks].concat());
        let summary = &run.summary;
        let as_told = summary.outcomes.keys().eq(ends.iter())
            && summary.complete == Some(true)
            && summary.executions == executions
            && !run.output.all().contains("given up");
        match as_told {
            true => Ok(()),
            false => Err(format!("{}\n{}", run.shown, run.output.all())),
        }
    });
}

/// Loops of attempts at a read-write lock that a writer holds, and of looks at a semaphore's count,
/// are parked, too: as many executions as `dfs` has classes.
#[test]
fn loops_of_attempts_at_other_objects_are_explored() {
    const CASES: &[(&[&str], &str, u64)] = &[
        (&["-DREADS"], "exit 0", 3),
        (&[], "exit 0", 3),
        (&["-DCOUNTS"], "exit 0", 6),
        (&["-DREADS", "-DTWO"], "exit 0", 62),
        (&["-DTWO"], "exit 0", 36),
        (&["-DCOUNTS", "-DTWO"], "exit 0", 36),
        (&["-DREADS", "-DWRONG"], "livelock", 1),
        (&["-DCOUNTS", "-DWRONG"], "livelock", 1),
        (&["-DTWO", "-DWRONG"], "livelock", 1),
    ];
    in_parallel(CASES, |&(flags, end, classes)| {
        let two = flags.contains(&"-DTWO") && end == "exit 0";
        for policy in ["dfs", "dpor", "dpor:source"] {
            // Two threads have many interleavings.
            if policy == "dfs" && two {
                continue;
            }
            let options = ["--policy", policy, "--keep-going", "--no-shrink"];
            let run = run_spin("attempts", flags, &options);
            let summary = &run.summary;
            let as_told = summary.outcomes.keys().eq([end])
                && summary.complete == Some(true)
                && !run.output.all().contains("bound")
                && summary.classes == Some(classes);
            if !as_told || (policy == "dpor" && summary.executions != classes) {
                return Err(format!("{}\n{}", run.shown, run.output.all()));
            }
        }
        Ok(())
    });
}

/// Loops that do something besides waiting: whoever comes to an end is no finding, and what has none
/// is one. `dpor` needs no doubt of those that no hook has to tell of.
#[test]
fn loops_that_do_something_besides_end_if_they_can() {
    const WAYS: &[(&str, bool)] = &[
        ("RAND", false),
        ("TIME", true),
        ("GETENV", false),
        ("STRTOL", true),
        ("PRINTS", true),
        ("BUFFER", true),
        ("ALLOCATES", true),
        ("SIGNAL", true),
        ("CANCEL", true),
        ("TRY_JOIN", true),
        ("MAPPED", true),
        ("BACKS_OFF", true),
        ("FILE_SIZE", false),
        ("PIPE", false),
    ];
    let cases: Vec<_> = WAYS
        .iter()
        .flat_map(|&way| [(way, false), (way, true)])
        .collect();
    in_parallel(&cases, |&((way, known), wrong)| {
        let way = format!("-D{way}");
        let mut flags = vec![way.as_str()];
        flags.extend(wrong.then_some("-DWRONG"));
        for policy in ["steer", "dpor"] {
            let options = ["-n", "60", "--policy", policy, "--max-steps", "100000"];
            let run = run_spin("besides", &flags, &options);
            let summary = &run.summary;
            let (exit, end) = match (wrong, policy) {
                (true, _) => (66, "livelock"),
                (false, "dpor") if !known => (69, "exit 0"),
                (false, _) => (0, "exit 0"),
            };
            if run.output.status != exit || !summary.outcomes.keys().eq([end]) {
                return Err(format!("{}\n{}", run.shown, run.output.all()));
            }
        }
        Ok(())
    });
}

/// A loop that tries a lock may look at more than that, where only the calls are seen.
#[test]
fn loops_whose_reads_are_not_seen_are_no_livelocks() {
    let programs = [&[][..], &["-DSEMAPHORE"]].map(|flags: &[&str]| {
        let flags = [&["-O1"], flags].concat();
        compile(Compiler::Gcc, "tests/spin/unseen.c", &flags)
    });
    in_parallel(&programs, |program| {
        for policy in ["steer", "random", "rr", "dpor", "dfs"] {
            let options = ["run", "-n", "50", "--policy", policy];
            let run = run(&options, program, &[]);
            if !run.summary.outcomes.keys().eq(["exit 0"]) {
                return Err(format!("{}\n{}", run.shown, run.output.all()));
            }
        }
        Ok(())
    });
}

/// What a function of the C library keeps decides how long a loop goes on: such a loop is a
/// livelock only if it does not end. Searches look at what comes after it, and those that are to end
/// say which loops they do not run as often as they could be.
#[test]
fn loops_that_depend_on_what_is_not_seen_are_no_livelocks() {
    let mut cases = Vec::new();
    for policy in ["steer", "random", "rr", "dpor", "dfs", "pcb:1", "hapset"] {
        cases.push((policy, vec!["-DENDLESS"], Some("livelock")));
        for kind in [&[][..], &["-DTRY"]] {
            cases.push((policy, [kind, &["-DBUG"]].concat(), Some("deadlock")));
            // Attempts at locks conflict with each other, so there are many interleavings.
            if kind.is_empty() || !["dpor", "dfs"].contains(&policy) {
                cases.push((policy, kind.to_vec(), None));
            }
        }
    }
    in_parallel(&cases, |(policy, flags, class)| {
        let exhaustive = ["dpor", "dfs", "pcb:1", "hapset"].contains(policy);
        let most = if exhaustive { "400" } else { "20" };
        let run = run_spin("drawn", flags, &["-n", most, "--policy", policy]);
        let summary = &run.summary;
        let found = summary.findings.first().map(|f| f.class.as_str());
        let reproduced = summary.findings.iter().all(|f| f.reproduced);
        let expected = match class {
            Some(_) => 66,
            None if exhaustive => 69,
            None => 0,
        };
        let bound = "the loop at drawn.c";
        let told = class.is_some() || run.output.all().contains(bound);
        let counted = class.is_some() || summary.outcomes.keys().eq(["exit 0"]);
        match run.output.status == expected && found == *class && reproduced && told && counted {
            true => Ok(()),
            false => Err(format!("{}\n{}", run.shown, run.output.all())),
        }
    });
}

/// A loop may have an end in one execution and none in another one: each is asked for itself.
#[test]
fn only_what_has_no_end_counts_as_livelock() {
    let mut cases = Vec::new();
    for policy in ["random", "dpor", "pcb:1"] {
        cases.extend([(policy, ""), (policy, "-DALIKE")]);
    }
    in_parallel(&cases, |&(policy, flag)| {
        let flags: &[&str] = if flag.is_empty() { &[] } else { &[flag] };
        let options = ["--keep-going", "--no-shrink", "--policy", policy];
        let random = ["-n", "12", "--busy-waits", "park"];
        let many = if policy == "random" { &random[..] } else { &[] };
        let run = run_spin("sometimes", flags, &[&options[..], many].concat());
        let summary = &run.summary;
        let livelocks = summary.outcomes.get("livelock").copied().unwrap_or(0);
        let seen: u64 = summary.findings.iter().map(|f| f.seen).sum();
        let both = summary.outcomes.len() == 2 && summary.outcomes.contains_key("exit 0");
        let as_told = match flag {
            "" => both && livelocks > 0 && seen == livelocks && summary.findings.len() == 1,
            _ => summary.outcomes.keys().eq(["exit 0"]) && summary.findings.is_empty(),
        };
        match as_told {
            true => Ok(()),
            false => Err(format!("{}\n{}", run.shown, run.output.all())),
        }
    });
}

/// That a thread ends changes the robust mutexes that it holds.
#[test]
fn the_end_of_an_owner_is_noticed() {
    let met = [
        "exit 11", "exit 13", "exit 14", "exit 15", "exit 5", "exit 6",
    ];
    for policy in ["dpor", "dpor:source"] {
        let options = ["--policy", policy, "--keep-going", "--no-shrink"];
        let run = run_spin("orphan", &[], &options);
        let summary = &run.summary;
        assert!(summary.outcomes.keys().eq(met), "{}", run.output.all());
        assert_eq!(summary.executions, 37, "as many as dfs has classes");
    }
    for policy in ["steer", "dpor"] {
        let run = run_spin("orphan", &["-DLOOP"], &["--policy", policy, "-n", "200"]);
        assert!(
            run.summary.outcomes.keys().eq(["exit 0"]),
            "{}",
            run.output.all()
        );
    }
}

/// A round that takes from a semaphore changes something.
#[test]
fn a_loop_that_empties_a_semaphore_is_no_livelock() {
    let run = run_spin("takes", &[], &["-n", "5"]);
    let verdict = &run.summary.verdict;
    assert_eq!(verdict, "nothing-found", "{}", run.output.all());
}

/// Where only the calls are seen such loops are run; schedules that are fair end them.
#[test]
fn loops_that_take_locks_end_where_only_calls_are_seen() {
    let ways = [["-DLOOKS"], ["-DTRIES"], ["-DBACKS_OFF"]];
    in_parallel(&ways, |way| {
        let program = compile(Compiler::Gcc, "tests/spin/locked.c", way);
        for policy in ["steer", "random", "pct:3"] {
            let options = [
                "run",
                "-n",
                "200",
                "--policy",
                policy,
                "--max-steps",
                "20000",
            ];
            let run = run(&options, &program, &[]);
            if !run.summary.outcomes.keys().eq(["exit 0"].iter()) {
                return Err(format!("{}\n{}", run.shown, run.output.all()));
            }
        }
        Ok(())
    });
}

/// `std::scoped_lock` comes to no end only if threads miss each other for ever, which is no livelock.
#[test]
fn attempts_that_may_succeed_at_another_moment_are_no_livelock() {
    let builds = [Compiler::Gxx, Compiler::RaddleCxx];
    in_parallel(&builds, |&compiler| {
        let program = compile(compiler, "tests/spin/backoff.cpp", &["-std=c++17"]);
        let options = ["run", "-n", "300", "--seed", "1"];
        let run = run(&options, &program, &[]);
        match run.summary.verdict == "nothing-found" {
            true => Ok(()),
            false => Err(format!("{}\n{}", run.shown, run.output.all())),
        }
    });
}

/// Under lazy time nobody's sleep ends while another thread can go on: that a loop does, is due to
/// the schedule.
#[test]
fn a_loop_that_a_sleeper_ends_is_no_livelock() {
    let program = compile(Compiler::Gcc, "tests/spin/stopped.c", &["-O1"]);
    // Where the loop goes round until the limit, what comes behind is not seen.
    for (time, expected) in [
        (&[][..], "nothing-found"),
        (&["--lazy-time"], "nothing-found-within-bounds"),
    ] {
        let options = ["run", "-n", "5", "--max-steps", "5000"];
        let run = run(&[&options[..], time].concat(), &program, &[]);
        let verdict = &run.summary.verdict;
        assert_eq!(verdict, expected, "{}\n{}", run.shown, run.output.all());
        assert_eq!(run.summary.executions, 5, "{}", run.shown);
    }
}

/// Retries that give up have the same outcomes whether loops are parked or run.
#[test]
fn retries_still_give_up() {
    let flags = &[&["-DTRIES=2"][..], &["-DTRIES=3"], &["-DTRIES=2", "-O0"]];
    in_parallel(flags, |flags| {
        let outcomes = |more: &[&str]| {
            let common = ["--no-shrink", "--keep-going"];
            let run = run_spin("bounded", flags, &[&common, more].concat());
            let outcomes: BTreeSet<String> = run.summary.outcomes.keys().cloned().collect();
            (outcomes, run)
        };
        let all: BTreeSet<String> = (10..14).map(|status| format!("exit {status}")).collect();
        let searches: &[&[&str]] = &[
            &["-n", "2000", "--policy", "random", "--busy-waits", "run"],
            &["-n", "2000", "--policy", "random"],
        ];
        for search in searches {
            let (seen, run) = outcomes(search);
            if seen != all {
                return Err(format!("{}: {seen:?}", run.shown));
            }
        }
        Ok(())
    });
}

/// Loops of loads without a call: found, named, the same in replays, and an error on demand.
#[test]
fn busy_waits_without_instrumentation_end_and_are_named() {
    const NAME: &str = "a busy wait without instrumentation, switched by CPU time (work in bare";
    let program = compile(Compiler::Gcc, "tests/spin/bare.c", &["-O2"]);
    for policy in ["steer", "random", "rr"] {
        let options = ["-n", "5", "--policy", policy, "--timeout", "120s"];
        let run = run(&[&["run"], &options[..]].concat(), &program, &[]);
        let ends = run.summary.outcomes.keys().eq(["exit 0"].iter());
        let text = run.output.all();
        assert!(ends && text.contains(NAME), "{}\n{text}", run.shown);
    }
    let options = ["-n", "5", "--timeout", "120s"];
    let strict = run(
        &[&["run", "--strict"], &options[..]].concat(),
        &program,
        &[],
    );
    assert_eq!(strict.output.status, 68, "{}", strict.output.all());
    let wrong = compile(Compiler::Gcc, "tests/spin/bare.c", &["-O2", "-DWRONG"]);
    let found = run(
        &[&["run", "--no-shrink"], &options[..]].concat(),
        &wrong,
        &[],
    );
    let finding = found.summary.findings.first().expect("a finding");
    assert_eq!(finding.class, "exit", "{}", found.output.all());
    let mut again = Command::new(raddle());
    again.args(["replay", "-q", "-n", "5"]);
    let again = output(again.arg(finding.witness.as_ref().expect("written")), LIMIT);
    assert_eq!(again.status, 66, "{}", again.all());
}

/// In `verify`, loops that try until something comes of it end soon at a bound that is named; what is wrong
/// behind them is found.
#[test]
fn attempts_without_end_are_cut_soon() {
    let source = "tests/spin/tries.c";
    let all: Vec<u32> = (0..12).collect();
    in_parallel(&all, |how| {
        let how = format!("-DHOW={how}");
        for (flags, status) in [
            (&[how.as_str(), "-O0"][..], 69),
            (&[how.as_str(), "-O0", "-DBUGGY"], 66),
        ] {
            let program = compile(Compiler::RaddleCc, source, flags);
            let options = ["verify", "--no-shrink", "--races", "off"];
            let found = run(&options, &program, &[]);
            let bound = |b: &String| b.contains("attempts at one place that failed");
            let named = found.summary.bounds.iter().any(bound);
            let few = found.summary.executions < 80;
            if (found.output.status, named || status == 66, few) != (status, true, true) {
                return Err(format!("{flags:?}: {}", found.output.all()));
            }
        }
        Ok(())
    });
}

/// Ways in which `polling.c` asks the system or the library. With the last two, each round is in conflict
/// with all that others do.
const QUESTIONS: [&str; 13] = [
    "fionread", "stat", "access", "open", "fstat", "pread", "lseek", "getenv", "fcntl", "poll",
    "read", "select", "recv",
];

#[test]
fn exhaustive_search_ends_on_loops_that_ask_the_system() {
    let program = compile(Compiler::RaddleCc, "tests/spin/polling.c", &["-O0"]);
    in_parallel(&QUESTIONS, |way| {
        let options = ["run", "--policy", "dpor", "-q", "--races=off", "-n", "500"];
        let dir = empty(&format!("polling-{way}"));
        let place = dir.to_string_lossy();
        let found = run(&options, &program, &[way, &place]);
        let is_large = ["select", "recv"].contains(way);
        let ends = found.output.status == 69 && found.summary.complete == Some(true);
        if !(ends || is_large && found.output.status == 0) {
            return Err(format!("{}: {}", found.shown, found.output.all()));
        }
        // Of a descriptor it is not known that nobody will ever write there.
        if ["poll", "read", "select", "recv"].contains(way) {
            return Ok(());
        }
        let never = run(&options, &program, &[way, &place, "never"]);
        let classes: Vec<&str> = never
            .summary
            .findings
            .iter()
            .map(|f| f.class.as_str())
            .collect();
        match classes == ["livelock"] {
            true => Ok(()),
            false => Err(format!("{}: {}", never.shown, never.output.all())),
        }
    });
}

/// What a thread does in the rounds of a loop (letters of `spin/asking.c`).
const ROUNDS: [&str; 17] = [
    "r", "g", "y", "n", "u", "e", "c", "l", "t", "s", "a", "o", "S", "rg", "ry", "P", "ug",
];

/// What a loop does is a function of the schedule: whatever a search makes of what it has seen can be
/// followed.
#[test]
fn exhaustive_searches_can_follow_their_schedules_through_loops() {
    let asking = "tests/spin/asking.c";
    let asking = compile(Compiler::RaddleCc, asking, &["-O0", "-w"]);
    let stop = "tests/spin/stop_callback.cpp";
    let stop = compile(Compiler::RaddleCxx, stop, &["-O0", "-std=c++20"]);
    let loops = ROUNDS.iter().flat_map(|round| {
        let numbers = [["1", "0"], ["1", "2"], ["2", "1"]];
        numbers.map(|[waiters, steps]| (&asking, vec![*round, waiters, steps], "40"))
    });
    let all: Vec<_> = loops.chain([(&stop, Vec::new(), "2000")]).collect();
    in_parallel(&all, |(program, arguments, limit)| {
        let options = ["run", "--policy", "dpor", "-q", "--races=off", "-n", limit];
        let found = run(&options, program, arguments);
        let ends = !arguments.is_empty() || found.summary.complete == Some(true);
        match [0, 69].contains(&found.output.status) && ends {
            true => Ok(()),
            false => Err(format!("{}: {}", found.shown, found.output.all())),
        }
    });
}
