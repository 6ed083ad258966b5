//! The process ended by several threads, in all ways there are: do the exhaustive policies and `verify`
//! agree with brute force on which ends are possible? The programs are the same on every machine;
//! `RADDLE_RANDOM_SEEDS=100..400` runs others. And does a main that does not join its threads let a
//! sampling search see what these do?

mod common;

use common::{Compiler, Random, compile, in_parallel, random_seeds, run, scratch};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Seeds of an ordinary run of the tests.
const SEEDS: Range<u64> = 0..20;
/// A program with more interleavings than this is compared without brute force.
const MOST: &str = "1500";

/// Options under which only the ends count.
const QUIET: [&str; 4] = ["-q", "--races=off", "--no-shrink", "--keep-going"];

/// What a thread may do.
const STATEMENTS: &[&str] = &[
    "x = 1;",
    "x = 2;",
    "x += 1;",
    "y = x;",
    "if (x == 1) y = 1;",
    "pthread_mutex_lock(&m); x += 1; pthread_mutex_unlock(&m);",
];
const ENDS: &[&str] = &[
    "exit(x);",
    "_exit(x + 20);",
    "if (x == 2) exit(5);",
    "quick_exit(x + 50);",
    "if (y) _Exit(60);",
    "pthread_exit(0);",
    "if (x == 3) abort();",
    "if (x) exit(y);",
];
/// What a handler may do.
const HANDLERS: &[&str] = &[
    "_exit(x);",
    "y = x; if (y == 2) _exit(3);",
    "x += 2;",
    "if (x & 1) _exit(40 + x);",
    "x = x * 2;",
    "if (x == 3) exit(7);",
];
const REGISTRATIONS: &[&str] = &["atexit", "atexit", "at_quick_exit"];
const LAST: &[&str] = &[
    "return x;",
    "return y;",
    "return 0;",
    "pthread_exit(0);",
    "exit(x + y);",
];

fn program(seed: u64) -> String {
    let mut random = Random(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let threads = 1 + random.below(3) / 2;
    let handlers = random.below(3);
    // Handlers are also registered while others may end the process.
    let statement = |random: &mut Random| match random.below(6) {
        0 | 1 => random.pick(ENDS).to_string(),
        2 if handlers > 0 => format!(
            "{}(h{});",
            random.pick(REGISTRATIONS),
            random.below(handlers)
        ),
        _ => random.pick(STATEMENTS).to_string(),
    };
    let mut text = String::from(
        "#include <pthread.h>\n#include <stdlib.h>\n#include <unistd.h>\n\
         int x, y; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n",
    );
    for n in 0..handlers {
        let _ = writeln!(text, "void h{n}(void) {{ {} }}", random.pick(HANDLERS));
    }
    for n in 0..threads {
        let statements: Vec<String> = (0..1 + random.below(3))
            .map(|_| statement(&mut random))
            .collect();
        let _ = writeln!(
            text,
            "void *t{n}(void *p) {{ {} return 0; }}",
            statements.join(" ")
        );
    }
    text.push_str("int main(void) { pthread_t t[2];");
    for n in 0..handlers {
        let _ = write!(text, " {}(h{n});", random.pick(REGISTRATIONS));
    }
    for n in 0..threads {
        let _ = write!(text, " pthread_create(&t[{n}], 0, t{n}, 0);");
    }
    for n in 0..threads {
        if random.below(5) < 2 {
            let _ = write!(text, " pthread_join(t[{n}], 0);");
        }
    }
    if random.below(5) < 3 {
        let _ = write!(text, " {}", statement(&mut random));
    }
    let _ = writeln!(text, " {} }}", random.pick(LAST));
    text
}

#[test]
fn all_policies_agree_on_the_ends_of_random_programs() {
    let seeds: Vec<u64> = random_seeds(SEEDS).collect();
    let proved = AtomicUsize::new(0);
    let dir = scratch("ends");
    in_parallel(&seeds, |seed| {
        let text = program(*seed);
        let source = dir.join(format!("{seed}.c"));
        std::fs::write(&source, &text).map_err(|error| error.to_string())?;
        let source = source.to_str().ok_or("a path that is no text")?;
        let program = compile(Compiler::RaddleCc, source, &["-O0", "-w"]);
        let ends = |policy: &[&str]| {
            let seen = run(&[policy, &QUIET].concat(), &program, &[]);
            let ends: BTreeSet<String> = seen.summary.outcomes.into_keys().collect();
            (
                ends,
                seen.summary.complete == Some(true),
                seen.output.status,
            )
        };
        let (classes, all, status) = ends(&["run", "--policy", "dpor"]);
        if !all {
            return Err(format!("dpor is not complete ({status})\n{text}"));
        }
        let (brute, all, _) = ends(&["run", "--policy", "dfs", "-n", MOST]);
        if brute != classes && (all || !brute.is_subset(&classes)) {
            return Err(format!("dfs {brute:?}, dpor {classes:?}\n{text}"));
        }
        let (verified, all, status) = ends(&["verify"]);
        let bounded = status == 69 || !all && status == 66;
        proved.fetch_add(usize::from(!bounded), Ordering::Relaxed);
        match verified == classes || bounded && verified.is_subset(&classes) {
            true => Ok(()),
            false => Err(format!(
                "dpor {classes:?}, verify {verified:?} ({status})\n{text}"
            )),
        }
    });
    // What is bounded need not have all ends.
    let proved = proved.into_inner();
    assert!(
        2 * proved > seeds.len(),
        "verify was bounded, but for {proved} of {}",
        seeds.len()
    );
}

/// Executions to the first failure, over ten seeds.
fn executions(source: &str, flags: &[&str], policy: &str) -> u64 {
    let flags = [&["-O0"], flags].concat();
    let program = compile(Compiler::RaddleCc, source, &flags);
    let seeds: Vec<String> = (1..=10).map(|seed| seed.to_string()).collect();
    let each = seeds.iter().map(|seed| {
        let options = [
            "run",
            "-q",
            "--no-shrink",
            "--races=off",
            "-n",
            "1000",
            "--policy",
            policy,
        ];
        let seen = run(&[&options[..], &["--seed", seed]].concat(), &program, &[]);
        let first = seen.summary.findings.first();
        first.map_or(1000, |finding| finding.execution)
    });
    each.sum()
}

#[test]
fn threads_that_nobody_joins_are_explored() {
    in_parallel(&["tests/ends/account.c", "tests/ends/ring.c"], |source| {
        for policy in ["steer", "random"] {
            let joined = executions(source, &["-DJOIN"], policy);
            let left = executions(source, &[], policy);
            // The seeds draw other schedules, so the two differ by chance, too.
            if left > 3 * joined + 20 {
                return Err(format!(
                    "{source}, {policy}: {left} executions without joins, {joined} with"
                ));
            }
        }
        Ok(())
    });
}
