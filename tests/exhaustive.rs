//! Every exhaustive policy against brute force (`dfs`) on random C programs with locks, conditions,
//! semaphores, read-write locks and atomics: the same outcomes, one execution of `dpor` for each
//! equivalence class, and no outcome of a sampling policy beyond these. In every second program
//! threads may end the process in the middle, by exit, abort, a crash or wrong use of the heap. In
//! further ones they send each other bytes and counts by pipes and event counters, which may not
//! suffice for all, and main may leave threads that wait behind (there `dpor` may try in vain what it
//! cannot know to be impossible). The programs are the same on every machine; all are in one binary.

mod common;

use common::{Compiler, Random, Run, compile, in_parallel, run, scratch};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Programs in the binary, and of these those without messages.
const PROGRAMS: u64 = 250;
const WITHOUT_MESSAGES: u64 = 200;
/// So many of them must be small enough to be compared.
const COMPARED: usize = 140;
/// A program with more interleavings than this is left out.
const MOST: &str = "1500";
const MOST_WITH_MESSAGES: &str = "2500";

/// Draws statements.
struct Statements {
    random: Random,
    /// Some end the process.
    abrupt: bool,
    /// Some send something, or wait for it.
    messages: bool,
}

impl Statements {
    fn below(&mut self, n: usize) -> usize {
        self.random.below(n)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        self.random.pick(from)
    }

    /// One that ends the process, now or if something comes first.
    fn end(&mut self) -> String {
        let end = self.pick(&[
            "if (x) abort();",
            "if (y != 2) _Exit(100 + x);",
            "free((void *)p);",
            "*p = 1;",
            "x = *p;",
            "if (x) *(volatile int *)0 = 1;",
            "pthread_mutex_unlock(&n);",
        ]);
        end.into()
    }

    fn access(&mut self) -> &'static str {
        self.pick(&["x = 1;", "y = 2;", "a = x;", "x = y;", "y = a + 1;", "x++;"])
    }

    /// One or two that send something or take it: by a pipe (descriptors 100 and 101), by another one of
    /// which nobody waits (102 and 103), or by an event counter (104).
    fn message(&mut self) -> String {
        let puts = [
            "write(101, \"b\", 1);",
            "write(101, \"cd\", 2);",
            "write(103, \"b\", 1);",
            "{ long n = 1; write(104, &n, 8); }",
        ];
        let takes = [
            "{ char b = 0; read(100, &b, 1); a = b & 3; }",
            "{ char b = 0; read(100, &b, 1); a = b & 3; }",
            "{ char b[2]; a = read(100, b, 2); }",
            "{ char b; if (read(102, &b, 1) == 1) a = 1; }",
            "{ long n; read(104, &n, 8); a = n & 3; }",
            "{ struct pollfd d = {100, POLLIN}; a = poll(&d, 1, 0); }",
            "{ struct pollfd d = {100, POLLIN}; a = poll(&d, 1, -1); }",
        ];
        let (put, take) = (self.pick(&puts), self.pick(&takes));
        match self.below(5) {
            0 => put.to_string(),
            1 => format!("{take} {put}"),
            2 => format!("{put} {take}"),
            _ => take.to_string(),
        }
    }

    /// One statement. `m` is held if `locked`.
    fn statement(&mut self, locked: bool) -> String {
        let access = self.access();
        if self.abrupt && self.below(3) == 0 {
            return self.end();
        }
        match self.below(16) {
            0..3 => access.into(),
            3 => "atomic_fetch_add(&z, 1);".into(),
            4 => "{ int e = 0; if (atomic_compare_exchange_strong(&z, &e, 2)) a = 1; }".into(),
            5 if !locked => {
                let inner = self.statement(true);
                format!("pthread_mutex_lock(&m); {inner} pthread_mutex_unlock(&m);")
            }
            6 => {
                format!("if (!pthread_mutex_trylock(&n)) {{ {access} pthread_mutex_unlock(&n); }}")
            }
            7 if !locked => {
                let wait = self.pick(&[
                    "pthread_cond_wait(&c, &m);",
                    "pthread_cond_timedwait(&c, &m, &never);",
                ]);
                format!("pthread_mutex_lock(&m); if (!x) {wait} {access} pthread_mutex_unlock(&m);")
            }
            8 => format!("{access} pthread_cond_signal(&c);"),
            9 => "pthread_cond_broadcast(&c);".into(),
            10 => format!("sem_wait(&s); {access} sem_post(&s);"),
            11 => format!("if (!sem_trywait(&s)) {{ {access} }}"),
            12 => "sem_post(&s);".into(),
            13 => {
                let (lock, unlock) = ("pthread_rwlock_rdlock(&r);", "pthread_rwlock_unlock(&r);");
                match self.below(3) {
                    0 => format!("{lock} {lock} a = x; {unlock} {unlock}"),
                    1 => format!("if (!pthread_rwlock_tryrdlock(&r)) {{ a = x; {unlock} }}"),
                    _ => format!("{lock} a = x; {unlock}"),
                }
            }
            14 => format!("pthread_rwlock_wrlock(&r); {access} pthread_rwlock_unlock(&r);"),
            _ => format!("if (a == 1) {{ {access} }}"),
        }
    }

    fn body(&mut self, most: usize) -> String {
        let n = 1 + self.below(most);
        (0..n)
            .map(|_| self.statement(false))
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// All programs; the argument says which one is run. Main is one of the two or three threads.
fn source() -> String {
    let mut source = String::from(
        "#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
static volatile int x, y, *p;
static _Atomic int z;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER;
static sem_t s;
static const struct timespec never = {4000000000L, 0};
",
    );
    for k in 0..PROGRAMS {
        let mut random = Statements {
            random: Random(k),
            abrupt: is_abrupt(k),
            messages: k >= WITHOUT_MESSAGES,
        };
        let start =
            |t: &str, f: &str| format!("pthread_t {t}; pthread_create(&{t}, 0, {f}{k}, 0);");
        if random.messages {
            let [first, second, main] = [(); 3].map(|()| random.message());
            let main = random.pick(&["", "", &main]);
            let left = random.pick(&["", "pthread_join(u, 0);"]);
            let _ = writeln!(
                source,
                "static void *f{k}(void *unused) {{ int a = 0; {first} if (a) x = a; return unused; }}
static void *h{k}(void *unused) {{ int a = 0; {second} if (a) y = a; return unused; }}
static void g{k}(void) {{ int a = 0; {} {} {main} z += a; pthread_join(t, 0); {left} }}",
                start("t", "f"),
                start("u", "h"),
            );
            continue;
        }
        let three = k % 16 == 15;
        let thread = random.body(if three || k % 4 != 0 { 1 } else { 2 });
        let main = random.body(if three || k % 4 != 0 { 1 } else { 2 });
        let _ = writeln!(
            source,
            "static void *f{k}(void *unused) {{ int a = 0; {thread} y += a; return unused; }}"
        );
        let also = three.then(|| start("u", "f"));
        let _ = writeln!(
            source,
            "static void g{k}(void) {{ int a = 0; {} {} {main} x += 2 * a; {} pthread_join(t, 0); }}",
            start("t", "f"),
            also.as_deref().unwrap_or_default(),
            also.as_ref().map_or("", |_| "pthread_join(u, 0);"),
        );
    }
    let names: Vec<String> = (0..PROGRAMS).map(|k| format!("g{k}")).collect();
    let _ = writeln!(
        source,
        "int main(int count, char **words)
{{
    static void (*const programs[])(void) = {{ {} }};
    sem_init(&s, 0, 1);
    p = malloc(sizeof *p);
    pthread_rwlockattr_t how;
    pthread_rwlockattr_init(&how);
    if (atoi(words[1]) % 3 == 0)
        pthread_rwlockattr_setkind_np(&how, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&r, &how);
    int two[4];
    pipe(two);
    pipe2(two + 2, O_NONBLOCK);
    for (int i = 0; i < 4; i++) dup2(two[i], 100 + i);
    dup2(eventfd(0, 0), 104);
    /* Of what is waited for there is a little, and never enough for all. */
    write(101, \"a\", 1);
    programs[atoi(words[1])]();
    return (x & 7) + (y & 3) * 8 + (z & 3) * 32;
}}",
        names.join(", ")
    );
    source
}

fn program() -> std::path::PathBuf {
    let path = scratch("exhaustive").join("programs.c");
    let source = source();
    if std::fs::read_to_string(&path).ok().as_ref() != Some(&source) {
        std::fs::write(&path, source).expect("the source can be written");
    }
    compile(
        Compiler::RaddleCc,
        path.to_str().expect("a plain path"),
        &["-w"],
    )
}

/// May threads of program `k` end the process in the middle?
fn is_abrupt(k: u64) -> bool {
    k % 2 == 1 && k < WITHOUT_MESSAGES
}

fn explore(policy: &str, program: &Path, k: u64, more: &[&str]) -> Run {
    let mut options = vec![
        "run",
        "--policy",
        policy,
        "--keep-going",
        "--no-shrink",
        "-q",
    ];
    options.extend(more);
    run(&options, program, &[&k.to_string()])
}

fn outcomes(run: &Run) -> BTreeSet<&str> {
    let seen = run.summary.outcomes.keys().map(String::as_str);
    seen.filter(|&label| label != "redundant").collect()
}

/// Whether program `k` was small enough to be compared; an error when a policy was wrong.
fn check(program: &Path, k: u64) -> Result<bool, String> {
    let most = if k < WITHOUT_MESSAGES {
        MOST
    } else {
        MOST_WITH_MESSAGES
    };
    let all = explore("dfs", program, k, &["-n", most]);
    if all.summary.complete != Some(true) {
        return Ok(false);
    }
    let (possible, classes) = (outcomes(&all), all.summary.classes);
    let wrong =
        |run: &Run, what: String| Err(format!("{}: {what}\n{}", run.shown, run.output.all()));
    let exhaustive: [(&str, &[&str]); 4] = [
        ("dpor", &[]),
        ("dpor", &["-j", "2"]),
        ("dpor:source", &[]),
        ("pcb", &[]),
    ];
    for (policy, options) in exhaustive {
        let run = explore(policy, program, k, options);
        let seen = outcomes(&run);
        if seen != possible || run.summary.complete != Some(true) || run.summary.classes != classes
        {
            let found = (&seen, run.summary.complete, run.summary.classes);
            return wrong(
                &run,
                format!("{found:?} instead of {possible:?}, {classes:?} classes"),
            );
        }
        let expected = match policy {
            "dpor" if k >= WITHOUT_MESSAGES => None,
            "dpor" => classes,
            "pcb" => Some(all.summary.executions),
            _ => None,
        };
        // With several workers some may be given up.
        let may_give_up = options.contains(&"-j");
        let given_up = if may_give_up {
            run.summary.given_up()
        } else {
            0
        };
        let n = run.summary.executions;
        let expected = match policy {
            "dpor" => expected.map(|n| n + given_up),
            _ => expected,
        };
        if expected.is_some_and(|expected| n != expected) {
            return wrong(
                &run,
                format!(
                    "{} executions instead of {expected:?}",
                    run.summary.executions
                ),
            );
        }
    }
    for policy in ["hapset", "hapset:pcb:1"] {
        let run = explore(policy, program, k, &[]);
        let seen = outcomes(&run);
        let most = match policy {
            "hapset" if k >= WITHOUT_MESSAGES => u64::MAX,
            "hapset" => classes.unwrap_or(0),
            _ => all.summary.executions,
        };
        let within = !seen.is_empty() && seen.is_subset(&possible);
        if !within || run.summary.complete != Some(true) || run.summary.executions > most {
            let found = (&seen, run.summary.complete, run.summary.executions);
            return wrong(&run, format!("{found:?} not within {possible:?}, {most}"));
        }
    }
    let sampling = ["random", "pct:3", "pos", "steer", "pcb:1", "delay:2"];
    let policy = sampling[k as usize % sampling.len()];
    let run = explore(policy, program, k, &["-n", "60", "--seed", "3"]);
    let seen = outcomes(&run);
    match !seen.is_empty() && seen.is_subset(&possible) {
        true => Ok(true),
        false => wrong(&run, format!("{seen:?} not within {possible:?}")),
    }
}

#[test]
fn exhaustive_policies_agree_on_random_programs() {
    let program = program();
    let every = std::env::var_os("RADDLE_RANDOM_PROGRAMS").is_some();
    let all: Vec<u64> = (0..PROGRAMS).filter(|k| every || k % 4 < 2).collect();
    let compared = AtomicUsize::new(0);
    in_parallel(&all, |&k| {
        compared.fetch_add(usize::from(check(&program, k)?), Ordering::Relaxed);
        Ok(())
    });
    let compared = compared.into_inner();
    println!("compared {compared} of {} programs", all.len());
    let least = COMPARED * all.len() / PROGRAMS as usize;
    assert!(compared >= least, "only {compared} were small enough");
}
