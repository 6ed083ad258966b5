//! Do operations on one object conflict where their order can be told, and as seldom as that allows? All
//! pairs of operations on objects of each kind, and drawn triples (`commute/objects.c`): `dpor` reaches
//! what brute force reaches.

mod common;

use common::{Compiler, LIMIT, Random, Run, compile, in_parallel, output, run, scratch};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What there is to be done to an object of one kind.
struct Kind {
    name: String,
    /// States of the object that main makes before.
    setups: usize,
    operations: Vec<String>,
}

/// What main does to an object, and what the other threads do.
#[derive(Clone)]
struct Pick {
    kind: usize,
    setup: usize,
    operations: Vec<usize>,
}

impl Pick {
    fn argument(&self) -> String {
        let mut text = format!("{}/{}", self.kind, self.setup);
        for operation in &self.operations {
            write!(text, "/{operation}").expect("a string takes it");
        }
        text
    }

    fn shown(&self, kinds: &[Kind]) -> String {
        let kind = &kinds[self.kind];
        let texts = self.operations.iter().map(|&n| &kind.operations[n][..]);
        let texts: Vec<&str> = texts.collect();
        let (name, setup) = (&kind.name, self.setup);
        format!(
            "{name}/{setup}: {} ({})",
            texts.join(" | "),
            self.argument()
        )
    }
}

/// What came of one pick: how often each outcome was seen, and whether an execution did not get so far.
#[derive(Default)]
struct Seen {
    begun: usize,
    outcomes: BTreeMap<String, usize>,
}

impl Seen {
    fn told(&self) -> (BTreeSet<&str>, bool) {
        let outcomes = self.outcomes.keys().map(String::as_str).collect();
        (outcomes, self.begun > self.outcomes.values().sum())
    }
}

/// What came of a search.
struct Search {
    /// For each pick.
    seen: Vec<Seen>,
    /// How executions of any pick ended.
    ends: BTreeSet<String>,
    executions: u64,
}

/// Picks in one search.
const TOGETHER: usize = 25;

/// Kinds that are looked at without hooks for accesses to memory, which makes brute force small: what
/// their operations do is told by their calls alone.
const BY_CALLS: &[&str] = &[
    "normal",
    "recursive",
    "errorcheck",
    "robust",
    "rwlock",
    "writers",
    "spin",
    "semaphore",
    "condition",
    "barrier",
    "once",
    "thread",
    "eventfd",
    "set",
    "messages",
    "queue",
    "file",
];

fn kinds(program: &Path) -> Vec<Kind> {
    let listed = output(&mut Command::new(program), LIMIT);
    let mut kinds: Vec<Kind> = Vec::new();
    for line in listed.stdout.lines() {
        let words: Vec<&str> = line.splitn(5, ' ').collect();
        let [_, name, setups, _, text] = words[..] else {
            panic!("{line}");
        };
        if kinds.last().is_none_or(|kind| kind.name != name) {
            kinds.push(Kind {
                name: name.to_string(),
                setups: setups.parse().expect("a number"),
                operations: Vec::new(),
            });
        }
        let kind = kinds.last_mut().expect("there is one");
        kind.operations.push(text.to_string());
    }
    kinds
}

/// Searches all executions of these picks, and says what came of each.
fn search(policy: &str, program: &Path, picks: &[Pick]) -> Result<Search, String> {
    let first = picks[0].argument().replace('/', "-");
    let log = scratch(&format!("commute-{policy}-{first}-{}", picks.len())).join("log");
    std::fs::write(&log, "").expect("it can be written");
    let mut arguments = vec![log.to_string_lossy().into_owned()];
    arguments.extend(picks.iter().map(Pick::argument));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let options = "-q --races=off --no-shrink --keep-going --no-lock-order --leaked-threads=off";
    let mut all = vec!["run", "--policy", policy];
    all.extend(options.split(' '));
    let found = run(&all, program, &arguments);
    let uncontrolled = &found.summary.uncontrolled;
    if ![0, 66, 69].contains(&found.output.status) || !uncontrolled.is_empty() {
        return Err(format!("{}: {}", found.shown, found.output.all()));
    }
    let mut seen: Vec<Seen> = picks.iter().map(|_| Seen::default()).collect();
    for line in std::fs::read_to_string(&log).expect("the log").lines() {
        let (number, outcome) = line.split_once(' ').unwrap_or((line, ""));
        let seen = &mut seen[number.parse::<usize>().expect("a number")];
        match outcome {
            "" => seen.begun += 1,
            _ => *seen.outcomes.entry(outcome.to_string()).or_default() += 1,
        }
    }
    Ok(Search {
        seen,
        ends: found.summary.outcomes.into_keys().collect(),
        executions: found.summary.executions,
    })
}

/// Both searches reach the same.
fn compare(kinds: &[Kind], program: &Path, picks: &[Pick]) -> Result<(), String> {
    let explored = search("dpor", program, picks)?;
    let all = search("dfs", program, picks)?;
    let mut wrong = String::new();
    for (n, pick) in picks.iter().enumerate() {
        let (mine, its) = (&explored.seen[n], &all.seen[n]);
        let same = mine.told() == its.told() && its.begun > 0;
        // On a busy machine an execution may be begun a second time; by itself a pick has ends of its own.
        let same =
            same || picks.len() > 1 && compare(kinds, program, std::slice::from_ref(pick)).is_ok();
        let same = same
            || picks.len() == 1
                && mine.outcomes.keys().eq(its.outcomes.keys())
                && explored.ends == all.ends;
        if !same {
            let (pick, mine, its) = (pick.shown(kinds), mine.told(), its.told());
            writeln!(wrong, "{pick}: dpor {mine:?}, dfs {its:?}").expect("a string takes it");
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong),
    }
}

fn programs() -> [PathBuf; 2] {
    let source = "tests/commute/objects.c";
    [
        compile(Compiler::Gcc, source, &["-O2", "-w"]),
        compile(Compiler::RaddleCc, source, &["-O2", "-w"]),
    ]
}

fn program_for<'p>(kind: &Kind, [bare, hooked]: &'p [PathBuf; 2]) -> &'p Path {
    match BY_CALLS.contains(&&kind.name[..]) {
        true => bare,
        false => hooked,
    }
}

/// All pairs of a kind and a setup, in their order.
fn pairs(kinds: &[Kind]) -> Vec<Pick> {
    let mut pairs = Vec::new();
    for (number, kind) in kinds.iter().enumerate() {
        for setup in 0..kind.setups {
            let count = kind.operations.len();
            pairs.extend((0..count * count).map(|n| Pick {
                kind: number,
                setup,
                operations: vec![n / count, n % count],
            }));
        }
    }
    pairs
}

/// Of each kind so many picks (all with `RADDLE_OBJECT_PAIRS=all`), in groups for one search.
fn groups(kinds: &[Kind], all: &[Pick], most: usize, random: &mut Random) -> Vec<Vec<Pick>> {
    let everything = std::env::var("RADDLE_OBJECT_PAIRS").is_ok_and(|wanted| wanted == "all");
    let mut groups = Vec::new();
    for number in 0..kinds.len() {
        let mut picks: Vec<Pick> = all.iter().filter(|p| p.kind == number).cloned().collect();
        if !everything {
            for k in 0..picks.len() {
                let other = k + random.below(picks.len() - k);
                picks.swap(k, other);
            }
            picks.truncate(most);
        }
        groups.extend(picks.chunks(TOGETHER).map(<[Pick]>::to_vec));
    }
    groups
}

#[test]
fn pairs_of_operations_come_out_as_with_brute_force() {
    let programs = programs();
    let kinds = kinds(&programs[0]);
    assert!(kinds.len() > 15, "{}", kinds.len());
    let groups = groups(&kinds, &pairs(&kinds), TOGETHER, &mut Random(1));
    in_parallel(&groups, |picks| {
        let program = program_for(&kinds[picks[0].kind], &programs);
        compare(&kinds, program, picks)
    });
}

#[test]
fn triples_of_operations_come_out_as_with_brute_force() {
    let programs = programs();
    let kinds = kinds(&programs[0]);
    let mut random = Random(2);
    let mut triples = Vec::new();
    let small = |kind: &Kind| BY_CALLS.contains(&&kind.name[..]) && kind.name != "thread";
    for (number, kind) in kinds.iter().enumerate().filter(|(_, kind)| small(kind)) {
        triples.extend((0..40).map(|_| {
            Pick {
                kind: number,
                setup: random.below(kind.setups),
                operations: (0..3)
                    .map(|_| random.below(kind.operations.len()))
                    .collect(),
            }
        }));
    }
    let groups = groups(&kinds, &triples, 2, &mut random);
    in_parallel(&groups, |picks| {
        let program = program_for(&kinds[picks[0].kind], &programs);
        compare(&kinds, program, picks)
    });
}

/// Of a pick alone: how executions ended, which stands for the outcome where they ended by themselves.
fn ends(options: &[&str], program: &Path, pick: &Pick) -> Run {
    let statuses: Vec<String> = (1..128).map(|n| n.to_string()).collect();
    let statuses = statuses.join(",");
    let always = [
        "-q",
        "--races=off",
        "--no-shrink",
        "--accept-exit",
        &statuses,
    ];
    run(
        &[options, &always].concat(),
        program,
        &["-", &pick.argument()],
    )
}

#[test]
fn verify_comes_to_the_same_or_says_what_bounds_it() {
    let programs = programs();
    let hooked = compile(
        Compiler::RaddleCc,
        "tests/commute/objects.c",
        &["-O2", "-w", "-DHOOKED", "--symbolic"],
    );
    let kinds = kinds(&programs[0]);
    let picks: Vec<Pick> = groups(&kinds, &pairs(&kinds), 2, &mut Random(3)).concat();
    let proved = AtomicUsize::new(0);
    in_parallel(&picks, |pick| {
        let brute = "run --policy dfs --keep-going --no-lock-order --leaked-threads=off";
        let brute: Vec<&str> = brute.split(' ').collect();
        let all = ends(&brute, program_for(&kinds[pick.kind], &programs), pick);
        let verified = ends(&["verify"], &hooked, pick);
        let (all_ends, mut ends) = (all.summary.outcomes, verified.summary.outcomes);
        // What bounds it, executions that were planned may not follow.
        let bounded = verified.output.status == 69;
        match bounded {
            true => _ = ends.remove("diverged"),
            false => _ = proved.fetch_add(1, Ordering::Relaxed),
        }
        let within = ends.keys().all(|end| all_ends.contains_key(end));
        let right = match verified.output.status {
            0 => all_ends.keys().eq(ends.keys()),
            66 => all.output.status == 66,
            _ => bounded && within,
        };
        match right {
            true => Ok(()),
            false => {
                let (pick, said) = (pick.shown(&kinds), verified.output.all());
                Err(format!("{pick}: verify {ends:?}, dfs {all_ends:?}\n{said}"))
            }
        }
    });
    let (proved, all) = (proved.into_inner(), picks.len());
    assert!(
        2 * proved > all,
        "verify was bounded, but for {proved} of {all}"
    );
}

/// Pairs of which nobody can tell the order are one execution: kind, setup, operations.
const COMMUTE: &[(&str, usize, &str, &str)] = &[
    (
        "semaphore",
        0,
        "coded(sem_post(&sem))",
        "coded(sem_post(&sem))",
    ),
    ("semaphore", 0, "coded(sem_trywait(&sem))", "value()"),
    ("semaphore", 1, "value()", "value()"),
    (
        "normal",
        1,
        "pthread_mutex_trylock(&mutex)",
        "pthread_mutex_trylock(&mutex)",
    ),
    (
        "rwlock",
        0,
        "pthread_rwlock_tryrdlock(&rwlock)",
        "pthread_rwlock_tryrdlock(&rwlock)",
    ),
    (
        "rwlock",
        2,
        "pthread_rwlock_tryrdlock(&rwlock)",
        "pthread_rwlock_trywrlock(&rwlock)",
    ),
    (
        "spin",
        1,
        "pthread_spin_trylock(&spin)",
        "pthread_spin_trylock(&spin)",
    ),
    ("atomic", 0, "exchange(5, 1)", "atomic_fetch_add(&word, 0)"),
    ("atomic", 1, "exchange(0, 1)", "atomic_exchange(&word, 1)"),
    (
        "atomic",
        1,
        "atomic_fetch_or(&word, 1)",
        "atomic_fetch_and(&word, 1)",
    ),
    ("atomic", 0, "exchange(0, 0)", "*(volatile int *)&word"),
    (
        "atomic",
        1,
        "(atomic_store(&word, 1), 0)",
        "atomic_load(&word)",
    ),
    (
        "futex",
        0,
        "futex(FUTEX_WAKE_PRIVATE, 1)",
        "futex(FUTEX_WAKE_PRIVATE, INT_MAX)",
    ),
    ("eventfd", 1, "ready(0, POLLIN)", "ready(0, POLLOUT)"),
];

#[test]
fn what_commutes_is_one_execution() {
    let programs = programs();
    let kinds = kinds(&programs[0]);
    in_parallel(COMMUTE, |&(name, setup, first, second)| {
        let kind = kinds.iter().position(|kind| kind.name == name).expect(name);
        let number = |text: &str| {
            let mut operations = kinds[kind].operations.iter();
            operations.position(|one| one == text).expect(text)
        };
        for operations in [[first, second], [second, first]] {
            let pick = Pick {
                kind,
                setup,
                operations: operations.map(number).to_vec(),
            };
            let program = program_for(&kinds[kind], &programs);
            let executions = search("dpor", program, std::slice::from_ref(&pick))?.executions;
            if executions != 1 {
                return Err(format!("{}: {executions}", pick.shown(&kinds)));
            }
        }
        Ok(())
    });
}
