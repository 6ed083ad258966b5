//! Random C programs through the whole chain: compiler plugin, runtime, scheduler, analyzer. Brute
//! force (`dfs`, for every input) says which exit statuses are possible; `verify` must reach exactly
//! these, without a bound and without making anything concrete. The programs are the same on every
//! machine; `RADDLE_RANDOM_SEEDS=100..400` runs others.

mod common;

use common::{Compiler, Random, compile, in_parallel, random_seeds, run, scratch};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;

/// Seeds of an ordinary run of the tests.
const SEEDS: Range<u64> = 0..24;
/// A program with more interleavings than this is left out.
const MOST: &str = "3000";
/// Values of the input.
const INPUTS: Range<u32> = 0..4;
const LEVELS: [&str; 4] = ["-O0", "-O1", "-O2", "-O3"];

/// Draws statements.
struct Statements {
    random: Random,
    /// Also operations on a condition variable, a semaphore and a read-write lock.
    objects: bool,
    /// Also loops that poll.
    polls: bool,
}

impl Statements {
    fn below(&mut self, n: usize) -> usize {
        self.random.below(n)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        self.random.pick(from)
    }

    fn local(&mut self) -> &'static str {
        self.pick(&["a", "b"])
    }

    fn shared(&mut self) -> &'static str {
        self.pick(&["x", "y"])
    }

    fn expression(&mut self) -> String {
        match self.below(6) {
            0 => self.below(3).to_string(),
            1 => self.local().into(),
            2 => self.shared().into(),
            3 => format!("({} + {})", self.local(), self.pick(&["a", "b", "1", "2"])),
            4 => format!("({} * 2 - {})", self.local(), self.local()),
            _ => format!("(({} & 3) ^ 1)", self.local()),
        }
    }

    fn condition(&mut self) -> String {
        let left = self.pick(&["a", "b", "x", "y"]);
        let operator = self.pick(&["==", "<", "!=", ">"]);
        format!("{left} {operator} {}", self.expression())
    }

    fn block(&mut self, depth: usize, statements: usize, locked: bool) -> String {
        let each = (0..statements).map(|_| self.statement(depth, locked));
        each.collect::<Vec<_>>().join(" ")
    }

    fn statement(&mut self, depth: usize, locked: bool) -> String {
        let inner = depth.saturating_sub(1);
        if self.objects && !locked && self.below(2) == 0 {
            return self.synchronise();
        }
        if self.polls && self.below(3) == 0 {
            return self.poll();
        }
        match self.below(11) {
            0..3 => format!("{} = {};", self.shared(), self.expression()),
            3 | 4 => format!("{} = {};", self.local(), self.shared()),
            5 if depth > 0 => {
                let n = 1 + self.below(2);
                let (condition, block) = (self.condition(), self.block(inner, n, locked));
                format!("if ({condition}) {{ {block} }}")
            }
            6 if depth > 0 => {
                let condition = self.condition();
                let (yes, no) = (self.block(inner, 1, locked), self.block(inner, 1, locked));
                format!("if ({condition}) {{ {yes} }} else {{ {no} }}")
            }
            7 if !locked => {
                let n = 1 + self.below(2);
                let block = self.block(inner, n, true);
                format!("pthread_mutex_lock(&m); {block} pthread_mutex_unlock(&m);")
            }
            8 => format!("atomic_fetch_add(&z, {} & 1);", self.local()),
            9 => format!(
                "{{ int e = {}; if (atomic_compare_exchange_strong(&z, &e, 2)) {} = 1; }}",
                self.below(2),
                self.local()
            ),
            10 if !locked => format!(
                "if (pthread_mutex_trylock(&m) == 0) {{ {} = {}; pthread_mutex_unlock(&m); }}",
                self.shared(),
                self.expression()
            ),
            _ => "x = x + 1;".into(),
        }
    }
}

impl Statements {
    /// A loop that reads what is shared a few times: one round stands for all in some, in others not.
    fn poll(&mut self) -> String {
        let (what, other) = (self.pick(&["x", "y", "z"]), self.shared());
        let (local, value, rounds) = (self.local(), self.below(3), 2 + self.below(2));
        let counted = format!("for (int i = 0; i < {rounds}; i++)");
        let ends = format!("{{ {local} = 1; break; }}");
        match self.below(8) {
            0 => format!("for (int i = 0; i < {rounds} && {what} != {value}; i++);"),
            1 => format!("{counted} if ({what} == {value}) {ends}"),
            2 => format!(
                "{{ int i = {rounds}; do {{ if ({what} == {value}) {ends} }} while (--i); }}"
            ),
            3 => format!(
                "{counted} {{ int e = {value}; if (atomic_compare_exchange_strong(&z, &e, 2)) {ends} }}"
            ),
            4 => format!("{counted} {{ {local} = {what}; if ({local} == {value}) break; }}"),
            5 => format!(
                "{{ int i = 0; while (i < {rounds} && {what} != {value}) i++; {local} = i; }}"
            ),
            6 => format!("{counted} if ({what} == {value} || {other} == 1) {ends}"),
            _ => format!("{counted} if ((i & 1 ? {what} : {other}) == {value}) {ends}"),
        }
    }

    /// An operation on a synchronisation object. A thread holds one lock at most, so that no threads
    /// wait for each other in a cycle.
    fn synchronise(&mut self) -> String {
        let local = self.local();
        match self.below(10) {
            0 => "pthread_cond_signal(&c);".into(),
            1 => "pthread_cond_broadcast(&c);".into(),
            2 => {
                let flag = self.shared();
                format!(
                    "pthread_mutex_lock(&m); if ({flag} == 0) pthread_cond_wait(&c, &m); \
                     pthread_mutex_unlock(&m);"
                )
            }
            3 => {
                let block = self.block(0, 1, true);
                format!(
                    "pthread_mutex_lock(&m); if (pthread_cond_timedwait(&c, &m, &end)) {local} = 3; \
                     {block} pthread_mutex_unlock(&m);"
                )
            }
            4 => "sem_post(&s);".into(),
            5 => "sem_wait(&s);".into(),
            6 => {
                let call = self.pick(&["sem_trywait(&s)", "sem_timedwait(&s, &end)"]);
                format!("if ({call} == 0) {local} = 1;")
            }
            7 => format!("{{ int n; sem_getvalue(&s, &n); {local} = n; }}"),
            8 => {
                let how = self.pick(&["rd", "wr"]);
                let block = self.block(0, 2, true);
                format!("pthread_rwlock_{how}lock(&l); {block} pthread_rwlock_unlock(&l);")
            }
            _ => {
                let call = self.pick(&[
                    "pthread_rwlock_tryrdlock(&l)",
                    "pthread_rwlock_trywrlock(&l)",
                    "pthread_rwlock_timedrdlock(&l, &end)",
                    "pthread_rwlock_timedwrlock(&l, &end)",
                ]);
                let block = self.block(0, 1, true);
                format!("if ({call} == 0) {{ {block} pthread_rwlock_unlock(&l); }}")
            }
        }
    }
}

/// The program of a seed, and whether it has an input.
fn program(seed: u64) -> (String, bool) {
    let mut random = Statements {
        random: Random(seed),
        objects: seed % 3 == 2,
        polls: seed % 3 == 1,
    };
    let with_input = random.below(5) < 3;
    let t = random.pick(&["int", "int", "short", "unsigned char", "long"]);
    let first = if with_input { "input()" } else { "1" };
    let lengths = (2 + random.below(2), 2 + random.below(2));
    let thread = random.block(2, lengths.0, false);
    let main = random.block(2, lengths.1, false);
    let leave = random.pick(&["", "", "if (b == 3) exit(77);"]);
    let mut status = String::new();
    for (variable, unit) in [("x", 1), ("y", 4), ("z", 16)] {
        for value in 1..4 {
            let _ = write!(
                status,
                "if (({variable} & 3) == {value}) k += {}; ",
                value * unit
            );
        }
    }
    let source = format!(
        "#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
void raddle_symbolic(void *, unsigned long, const char *);
void raddle_assume(int);
static volatile {t} x, y;
static _Atomic int z;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static sem_t s;
static const struct timespec end = {{ 4000000000, 0 }};
static inline {t} input(void)
{{
    {t} v = 0;
#ifdef INPUT
    v = INPUT;
#else
    raddle_symbolic(&v, sizeof v, \"v\");
    raddle_assume(v >= {} && v < {});
#endif
    return v;
}}
static void *f(void *unused) {{ {t} a = {first}, b = 0; {thread} return unused; }}
static void g(void) {{ {t} a = 0, b = 2; {main} {leave} }}
int main(void)
{{
    pthread_t t;
    sem_init(&s, 0, 1);
    pthread_create(&t, 0, f, 0);
    g();
    pthread_join(t, 0);
    int k = 0;
    {status}
    return k;
}}
",
        INPUTS.start, INPUTS.end
    );
    (source, with_input)
}

/// Whether the program was small enough to be compared; an error when `verify` was wrong.
fn check(seed: u64) -> Result<bool, String> {
    let (source, with_input) = program(seed);
    let path = scratch("random").join(format!("random{seed}.c"));
    std::fs::write(&path, &source).expect("the source can be written");
    let path = path.to_str().expect("a plain path");
    let level = LEVELS[seed as usize % LEVELS.len()];
    let flags = [level, "-w"];

    let mut possible = BTreeSet::new();
    let values = if with_input { INPUTS } else { 0..1 };
    for value in values {
        let define = format!("-DINPUT={value}");
        let target = compile(Compiler::RaddleCc, path, &[level, "-w", &define]);
        let options = [
            "run",
            "--policy",
            "dfs",
            "-n",
            MOST,
            "--keep-going",
            "--no-shrink",
            "-q",
        ];
        let all = run(&options, &target, &[]);
        if all.summary.complete != Some(true) {
            return Ok(false);
        }
        possible.extend(all.summary.outcomes.into_keys());
    }
    let target = compile(Compiler::RaddleCc, path, &flags);
    let verified = run(&["verify", "--keep-going", "-q"], &target, &[]);
    let (shown, summary) = (verified.shown, verified.summary);
    let reached: BTreeSet<String> = summary.outcomes.into_keys().collect();
    let assumption = BTreeSet::from(["assumption".to_string()]);
    let reached: BTreeSet<String> = reached.difference(&assumption).cloned().collect();
    let limits = (summary.bounds, summary.concretised.len());
    if reached != possible || limits != (Vec::new(), 0) {
        return Err(format!(
            "seed {seed} {level}: {shown}\nreached {reached:?} instead of {possible:?}; bounds and \
             concretised: {limits:?}\n{source}"
        ));
    }
    Ok(true)
}

#[test]
fn verify_agrees_with_brute_force_on_random_programs() {
    let compared = std::sync::atomic::AtomicUsize::new(0);
    let all: Vec<u64> = random_seeds(SEEDS).collect();
    in_parallel(&all, |&seed| {
        let counts = check(seed)?;
        compared.fetch_add(usize::from(counts), std::sync::atomic::Ordering::Relaxed);
        Ok(())
    });
    let compared = compared.into_inner();
    println!("compared {compared} of {} programs", all.len());
    assert!(
        compared * 2 >= all.len(),
        "only {compared} were small enough"
    );
}
