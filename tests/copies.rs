//! Random C programs in which threads copy and fill blocks of 4 to 40 bytes that others read and
//! write: do `dpor`, `pcb` and `verify` reach exactly what brute force (`dfs`) does, and is that what
//! the program reaches when it copies word by word in a loop of its own? Do they count as many classes as
//! brute force? All these programs are in one binary; they are the same on every machine. And do others
//! come between what one call of the C library, or one access across two lines of the cache, reads or
//! writes?

mod common;

use common::{Compiler, LIMIT, Random, Run, compile, in_parallel, output, run, scratch};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Programs in the binary.
const PROGRAMS: u64 = 36;
/// So many of them must be small enough to be compared.
const COMPARED: usize = 24;
/// A program with more interleavings than this is left out.
const MOST: &str = "2500";

/// What the programs share, and the loops that copy in their place.
const HEAD: &str = r#"
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
typedef unsigned char byte;
/* The greatest power of two, 8 at most, that divides the address and fits. */
static size_t piece(uintptr_t at, size_t left) {
    size_t n = 8;
    while (n > left || at % n) n /= 2;
    return n;
}
static void put(volatile byte *to, const volatile byte *from, size_t n) {
    switch (n) {
    case 8: *(volatile uint64_t *)to = *(const volatile uint64_t *)from; break;
    case 4: *(volatile uint32_t *)to = *(const volatile uint32_t *)from; break;
    case 2: *(volatile uint16_t *)to = *(const volatile uint16_t *)from; break;
    default: *to = *from;
    }
}
static int loops;
/* As memmove does it; both sides lie in their words alike. */
static void copy(void *to, const void *from, size_t n) {
    if (!loops) { memmove(to, from, n); return; }
    volatile byte *t = to; const volatile byte *f = from;
    if (t > f && t < f + n)
        while (n) { size_t k = piece((uintptr_t)(f + n), n); n -= k; put(t + n, f + n, k); }
    else
        for (size_t i = 0, k; i < n; i += k) { k = piece((uintptr_t)(f + i), n - i); put(t + i, f + i, k); }
}
static void fill(void *to, int what, size_t n) {
    if (!loops) { memset(to, what, n); return; }
    byte all[8];
    for (int i = 0; i < 8; i++) all[i] = what;
    volatile byte *t = to;
    for (size_t i = 0, k; i < n; i += k) { k = piece((uintptr_t)(t + i), n - i); put(t + i, all, k); }
}
static _Alignas(64) int x[32], y[32];
static int result(int a) {
    unsigned sum = a;
    for (int i = 0; i < 12; i++) sum = sum * 3 + x[i] + 2 * y[i];
    return sum % 127;
}
"#;

/// Draws statements.
struct Statements(Random);

impl Statements {
    fn below(&mut self, n: usize) -> usize {
        self.0.below(n)
    }

    fn field(&mut self, ints: usize) -> String {
        format!("{}[{}]", self.0.pick(&["x", "y"]), self.below(ints))
    }

    /// What reads or writes a block of so many numbers. `askew`: its sides lie in their words
    /// differently.
    fn block(&mut self, ints: usize, askew: bool) -> String {
        let size = 4 * ints;
        let shift = if askew { 1 } else { 2 };
        let (to, from) = match self.below(6) {
            0 => ("x".into(), "y".into()),
            1 | 2 => ("y".into(), "x".into()),
            3 if ints > 2 => (format!("x + {shift}"), "x".into()),
            4 if ints > 2 => ("x".into(), format!("x + {shift}")),
            _ if askew => ("y + 1".into(), "x".into()),
            _ => {
                let what = self.below(3);
                return format!("fill(y, {what}, {size});");
            }
        };
        match (askew, self.below(3)) {
            (false, 0) if to == "y" => format!("assign{ints}();"),
            _ => format!("copy({to}, {from}, {size});"),
        }
    }

    /// Accesses to a few fields, in one of which the other thread's block begins or ends.
    fn fields(&mut self, ints: usize) -> String {
        let (first, last) = (0, ints - 1);
        match self.below(4) {
            0 => format!("x[{first}] = 2; x[{last}] = 3;"),
            1 => format!("x[{last}] = 2; a = y[{first}];"),
            2 => format!("a = y[{first}] + 5 * y[{last}];"),
            _ => {
                let (one, other) = (self.field(ints), self.field(ints));
                format!("{one} = 4; a = {other};")
            }
        }
    }
}

fn is_askew(k: u64) -> bool {
    k % 6 == 5
}

/// The argument says which program is run, and whether it copies in loops.
fn source() -> String {
    let mut source = String::from(HEAD);
    for ints in 1..=10 {
        let _ = writeln!(
            source,
            "struct s{ints} {{ int f[{ints}]; }} __attribute__((may_alias));
static void assign{ints}(void) {{
    if (loops) copy(y, x, {});
    else *(struct s{ints} *)y = *(struct s{ints} *)x;
}}",
            4 * ints,
        );
    }
    for k in 0..PROGRAMS {
        let mut random = Statements(Random(k));
        let ints = 1 + k as usize % 10;
        let (block, fields) = (random.block(ints, is_askew(k)), random.fields(ints));
        let second = match ints < 4 && k % 2 == 0 {
            true => random.block(ints, is_askew(k)),
            false => String::new(),
        };
        let _ = writeln!(
            source,
            "static void *f{k}(void *p) {{ {block} return p; }}
static int g{k}(void) {{
    int a = 0;
    pthread_t t;
    pthread_create(&t, 0, f{k}, 0);
    {fields} {second}
    pthread_join(t, 0);
    return result(a);
}}"
        );
    }
    let names: Vec<String> = (0..PROGRAMS).map(|k| format!("g{k}")).collect();
    let _ = writeln!(
        source,
        "int main(int count, char **words)
{{
    static int (*const programs[])(void) = {{ {} }};
    for (int i = 0; i < 12; i++) x[i] = 1;
    loops = count > 2;
    return programs[atoi(words[1])]();
}}",
        names.join(", ")
    );
    source
}

fn written(name: &str, text: &str) -> PathBuf {
    let path = scratch("copies").join(name);
    if std::fs::read_to_string(&path).ok().as_deref() != Some(text) {
        std::fs::write(&path, text).expect("the source can be written");
    }
    path
}

fn explore(options: &[&str], program: &Path, arguments: &[&str]) -> Run {
    let mut all = options.to_vec();
    all.extend(["--keep-going", "--no-shrink", "-q", "--races=off"]);
    run(&all, program, arguments)
}

fn outcomes(run: &Run) -> BTreeSet<String> {
    let labels = run.summary.outcomes.keys().cloned();
    labels.filter(|label| label != "redundant").collect()
}

/// Whether program `k` was small enough to be compared; an error when somebody was wrong.
fn check(program: &Path, k: u64) -> Result<bool, String> {
    let number = k.to_string();
    let brute = ["run", "--policy", "dfs", "-n", MOST];
    let plain = [number.as_str()];
    let all = explore(&brute, program, &plain);
    if all.summary.complete != Some(true) {
        return Ok(false);
    }
    let possible = outcomes(&all);
    let mut others: Vec<(&[&str], &[&str])> = vec![
        (&["run", "--policy", "dpor"], &plain),
        (&["run", "--policy", "pcb"], &plain),
        (&["verify"], &plain),
    ];
    let loops = [number.as_str(), "loops"];
    if !is_askew(k) {
        others.push((&["run", "--policy", "dpor"], &loops));
    }
    for (options, arguments) in others {
        let run = explore(options, program, arguments);
        let seen = outcomes(&run);
        let open = (&run.summary.bounds, run.summary.complete == Some(false));
        let classes = run.summary.classes;
        if arguments == plain && classes.is_some_and(|n| all.summary.classes != Some(n)) {
            let brute = all.summary.classes;
            return Err(format!("{}: {classes:?} classes, not {brute:?}", run.shown));
        }
        if seen != possible || open != (&Vec::new(), false) {
            return Err(format!(
                "{}: {seen:?} instead of {possible:?}, {open:?}\n{}",
                run.shown,
                run.output.all()
            ));
        }
    }
    let sampled = explore(&["run", "-n", "40", "--seed", "2"], program, &plain);
    match outcomes(&sampled).is_subset(&possible) {
        true => Ok(true),
        false => Err(format!("{}: not within {possible:?}", sampled.shown)),
    }
}

#[test]
fn copies_are_steps_of_a_word_in_all_kinds_of_runs() {
    let path = written("programs.c", &source());
    let path = path.to_str().expect("a plain path");
    let program = compile(Compiler::RaddleCc, path, &["-w", "-O0"]);
    let all: Vec<u64> = (0..PROGRAMS).collect();
    let compared = AtomicUsize::new(0);
    in_parallel(&all, |&k| {
        compared.fetch_add(usize::from(check(&program, k)?), Ordering::Relaxed);
        Ok(())
    });
    let compared = compared.into_inner();
    assert!(compared >= COMPARED, "only {compared} were compared");
}

/// Is everything that `run` and `verify` find of this call the same, and as brute force has it?
fn check_function(program: &Path, name: &str, other: &str, has_loop: bool) -> Result<(), String> {
    let call = [name, other];
    let with_loop = [name, other, "loops"];
    let mut searches: Vec<(&[&str], &[&str])> =
        vec![(&["run", "--policy", "dpor"], &call), (&["verify"], &call)];
    if has_loop {
        searches.push((&["run", "--policy", "dpor"], &with_loop));
    }
    let mut possible: Option<BTreeSet<String>> = None;
    for (options, arguments) in searches {
        let run = explore(options, program, arguments);
        let seen = outcomes(&run);
        let possible = possible.get_or_insert_with(|| seen.clone());
        let open = (&run.summary.bounds, run.summary.complete == Some(false));
        if seen != *possible || open != (&Vec::new(), false) {
            let shown = run.output.all();
            return Err(format!(
                "{}: not {possible:?}, {open:?}\n{shown}",
                run.shown
            ));
        }
    }
    let possible = possible.expect("there was a search");
    if other != "0" {
        return Ok(());
    }
    for options in [
        &["run", "--policy", "dfs", "-n", "800"][..],
        &["run", "-n", "40", "--seed", "2"],
    ] {
        let run = explore(options, program, &call);
        let (seen, all) = (outcomes(&run), run.summary.complete == Some(true));
        if seen != possible && (all || !seen.is_subset(&possible)) {
            return Err(format!("{}: {seen:?}, not {possible:?}", run.shown));
        }
    }
    Ok(())
}

#[test]
fn functions_that_only_access_memory_are_steps_of_a_word_at_most() {
    let program = compile(Compiler::RaddleCc, "tests/copies/library.c", &["-w", "-O0"]);
    let listed = output(&mut Command::new(&program), LIMIT).stdout;
    let functions = listed.lines().filter_map(|line| line.split_once(' '));
    let all: Vec<(&str, &str, bool)> = functions
        .flat_map(|(name, loops)| ["0", "1", "2"].map(|other| (name, other, loops == "1")))
        .collect();
    assert!(all.len() > 90, "{listed}");
    in_parallel(&all, |&(name, other, has_loop)| {
        check_function(&program, name, other, has_loop)
    });
}

/// Is what comes of a call in several steps found, and nothing where a mutex keeps others out?
fn check_torn(program: &Path, number: usize, name: &str, file: &str) -> Result<(), String> {
    // The numbers of one seed will do.
    let dpor: &[&str] = &["run", "--policy", "dpor", "--seed", "1"];
    let verify: &[&str] = &["verify", "--seed", "1"];
    let other: &[&str] = match number % 4 {
        0 => &["run", "--policy", "pcb", "-n", "2000"],
        _ => &["run", "-n", "300", "--seed", "4"],
    };
    // What `verify` does not follow, it names.
    for (options, locked, expected) in [
        (dpor, false, &[66][..]),
        (other, false, &[66]),
        (verify, false, &[66, 69]),
        (dpor, true, &[0]),
        (verify, true, &[0, 69]),
    ] {
        let mut arguments = vec![name, file];
        arguments.extend(locked.then_some("mutex"));
        let options = [options, &["--no-shrink", "-q", "--races=off"]].concat();
        let run = run(&options, program, &arguments);
        let function = name.trim_start_matches("of_");
        // It does not model that threads write to a pipe by other calls than `write`.
        let names = [function, "not modelled: write"];
        let is_named = names.iter().any(|name| run.output.all().contains(name));
        let unnamed = run.output.status == 69 && !is_named;
        if !expected.contains(&run.output.status) || unnamed {
            return Err(format!("{}: {}", run.shown, run.output.all()));
        }
    }
    Ok(())
}

#[test]
fn others_come_between_what_one_call_reads_or_writes() {
    let program = compile(Compiler::RaddleCc, "tests/copies/torn.c", &["-w", "-O0"]);
    let file = written("letters", "zyxwvutsrqponmlkjihgfedcbaZYXWVUT\n");
    let file = file.to_str().expect("a plain path");
    let listed = output(&mut Command::new(&program), LIMIT).stdout;
    let all: Vec<(usize, &str)> = listed.lines().enumerate().collect();
    assert!(all.len() > 50, "{listed}");
    in_parallel(&all, |&(number, name)| {
        check_torn(&program, number, name, file)
    });
}

/// What is accessed, a result, and whether it comes of some execution.
const ACROSS_LINES: [(&str, &str, bool); 11] = [
    ("60", "0", true),
    ("60", "1112131415161718", true),
    ("60", "15161718", true),
    ("60", "1112131400000000", true),
    // Three bytes and five: each part is one access.
    ("61", "161718", true),
    ("61", "1112131415000000", true),
    ("61", "1718", false),
    ("61", "15161718", false),
    // In one line.
    ("52", "15161718", false),
    ("56", "15161718", false),
    ("56", "1112131400000000", false),
];

#[test]
fn an_access_across_two_lines_of_the_cache_is_two_steps() {
    let program = compile(Compiler::RaddleCc, "tests/copies/lines.c", &["-O0"]);
    let modes = [&["run", "--policy", "dpor"][..], &["verify"]];
    let status = |mode: &[&str], arguments: &[&str]| {
        let options = [mode, &["-q", "--no-shrink", "--races=off"]].concat();
        let run = run(&options, &program, arguments);
        (
            run.output.status,
            format!("{}: {}", run.shown, run.output.all()),
        )
    };
    in_parallel(&ACROSS_LINES, |&(offset, result, comes)| {
        for mode in modes {
            let (status, said) = status(mode, &[offset, result]);
            if status != if comes { 66 } else { 0 } {
                return Err(said);
            }
        }
        Ok(())
    });
    for mode in modes {
        for (result, expected) in [("11", 66), ("22", 66), ("12", 69), ("21", 69)] {
            let (status, said) = status(mode, &["twice", result]);
            assert_eq!(status, expected, "{said}");
        }
    }
}
