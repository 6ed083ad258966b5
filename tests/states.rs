//! What the C library and the kernel keep between calls (`protocol/src/effects/kept.rs`): are both orders of
//! two calls tried where, natively, it shows which came first?

mod common;

use common::{Compiler, LIMIT, Random, compile, empty, in_parallel, output, run};
use raddle_protocol::hooks::{CALLS, UNKNOWN};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

const SOURCE: &str = "tests/states/calls.c";

/// Pairs that are drawn to ask whether their order matters, and pairs of those that are searched.
const DRAWN: usize = 3000;
const SEARCHED: usize = 60;

/// Pairs that are searched in any case, by how their texts begin: what they share shows in no name (both
/// ends of a terminal, signals that are kept though they are ignored), or the library does not look at
/// it by itself alone.
const ALWAYS: [[&str; 2]; 19] = [
    [
        "struct termios x; R = tcgetattr(master",
        "struct termios x = cooked_mode;",
    ],
    [
        "R = Z(signal(SIGUSR2, SIG_IGN)",
        "R = pthread_kill(first, SIGUSR2)",
    ],
    ["R = initgroups(", "R = setresuid(-1, 4, -1)"],
    ["R = setenv(\"TZ\"", "R = unsetenv(\"TZ\")"],
    [
        "unsigned char v[4]; R = mincore(pm4",
        "R = munmap(pm4, 4096)",
    ],
    // Calls by number.
    ["R = syscall(SYS_read", "R = syscall(SYS_read"],
    ["R = syscall(SYS_pwrite64", "R = pread("],
    ["R = syscall(SYS_chdir", "char *r = getcwd(b"],
    ["R = syscall(SYS_unlink", "R = stat(\"f\""],
    // What acts on all of a kind, and on what belongs to a stream or directory.
    ["R = fflush(0)", "int o = open(\"z\", O_RDONLY)"],
    ["R = setvbuf(z, 0", "int o = open(\"z\", O_RDONLY)"],
    ["R = close(rd2fd)", "R = readdir(rd2) ? 1"],
    [
        "R = pwrite(m, \"z\", 1, 8000)",
        "R = fcntl(m, F_ADD_SEALS, F_SEAL_GROW",
    ],
    // Directories that paths begin at.
    ["R = mkdirat(dir", "R = close(dir)"],
    ["R = fpathconf(f", "R = close(f)"],
    // Memory of the library's own, which was met before there were threads.
    ["R = pt->tm_mday", "time_t n = 1500000000; R = Z(ctime"],
    ["R = H(pa, 20)", "time_t n = 1500000000; R = Z(ctime"],
    ["R = pwrite(f, \"9\"", "R = fcntl(f, F_SETFL, O_APPEND"],
    ["visits = 0; dl_iterate_phdr", "R = iconv_open(\"UTF-16\""],
];

/// What two calls returned and what could be seen afterwards.
type Outcome = [u64; 3];

/// Two calls whose order matters, what has to be looked at to see that, and what comes of each order.
struct Pair {
    calls: [usize; 2],
    view: String,
    outcomes: [Outcome; 2],
}

/// The program with all calls, or with those only that have a 1.
fn program(kept: Option<&str>) -> PathBuf {
    let kept = kept.map(|kept| format!("-DKEPT=\"{kept}\""));
    let mut flags = vec!["-O0", "-w", "--symbolic"];
    flags.extend(kept.as_deref());
    compile(Compiler::RaddleCc, SOURCE, &flags)
}

/// Functions that the program calls and of which the table does not say what they do to memory.
fn unknown(program: &Path) -> BTreeSet<String> {
    let bytes = std::fs::read(program).expect("the program");
    let elf = goblin::elf::Elf::parse(&bytes).expect("a program");
    let mut sections = elf.section_headers.iter();
    let is_calls = |name: Option<&str>| name == Some(CALLS);
    let calls = sections.find(|header| is_calls(elf.shdr_strtab.get_at(header.sh_name)));
    let range = calls.and_then(|header| header.file_range());
    let words = bytes[range.expect("a section of calls")].split(|&byte| byte == 0);
    let names = words.filter_map(|word| word.strip_prefix(UNKNOWN.as_bytes()));
    let names = names.filter_map(|name| std::str::from_utf8(name).ok());
    names.map(String::from).collect()
}

/// Does the text name one of these?
fn names_one(text: &str, names: &BTreeSet<String>) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| names.contains(word))
}

/// What the program says of pairs, as `arguments` ask for them.
fn pairs(program: &Path, tag: usize, arguments: &[String]) -> Vec<Pair> {
    let directory = empty(&format!("states-native-{tag}"));
    let mut command = Command::new(program);
    command.arg(&arguments[0]).arg(&directory);
    command.arg(tag.to_string()).args(&arguments[1..]);
    let said = output(&mut command, 20 * LIMIT);
    assert_eq!(said.status, 0, "{}", said.all());
    let lines = said.stdout.lines().map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |n: usize| u64::from_str_radix(words[n], 16).expect("a number");
        Pair {
            calls: [0, 1].map(|n| words[n].parse().expect("a number of a call")),
            view: words[2].to_string(),
            outcomes: [3, 6].map(|first| [0, 1, 2].map(|n| number(first + n))),
        }
    });
    lines.collect()
}

/// The pairs to be searched, each way round by chance.
fn chosen(program: &Path, texts: &BTreeMap<usize, String>) -> Vec<Pair> {
    let ask = |tag: usize, arguments: &[&str]| {
        let arguments: Vec<String> = arguments.iter().map(|one| one.to_string()).collect();
        pairs(program, tag, &arguments)
    };
    let ask = &ask;
    let wanted = std::env::var("RADDLE_STATE_PAIRS").ok();
    let words = wanted.as_deref().map(|wanted| wanted.split_whitespace());
    let words = words.map(Iterator::collect::<Vec<&str>>);
    let mut found = match words.as_deref() {
        Some(["part", part, parts]) => ask(0, &["all", part, parts]),
        Some(["seed", seed, count]) => ask(0, &["pairs", seed, count]),
        Some(["all"]) => {
            let parts = std::thread::scope(|scope| {
                let part = |n: usize| scope.spawn(move || ask(n, &["all", &n.to_string(), "4"]));
                let parts: Vec<_> = (0..4).map(part).collect();
                let parts = parts.into_iter().map(|part| part.join().expect("pairs"));
                parts.collect::<Vec<_>>()
            });
            parts.into_iter().flatten().collect()
        }
        Some(numbers) => {
            let arguments = [&["these"], numbers].concat();
            return ask(0, &arguments);
        }
        None => ask(0, &["pairs", "1", &DRAWN.to_string()]),
    };
    assert!(
        found.len() > DRAWN / 50,
        "{} of {} calls",
        found.len(),
        texts.len()
    );
    // By the calls alone: a pair of which the machine makes something else moves no other one.
    let drawn = |pair: &Pair| {
        let [a, b] = pair.calls.map(|call| call as u64);
        Random(a << 32 | b).below(usize::MAX)
    };
    found.sort_by_key(drawn);
    found.dedup_by_key(|pair| pair.calls);
    for pair in &mut found {
        if drawn(pair) % 2 == 1 {
            pair.calls.reverse();
            pair.outcomes.iter_mut().for_each(|one| one.swap(0, 1));
        }
    }
    if wanted.is_none() {
        found.truncate(SEARCHED);
        found.extend(always(program, texts));
    }
    found
}

/// See [`ALWAYS`].
fn always(program: &Path, texts: &BTreeMap<usize, String>) -> Vec<Pair> {
    let number = |start: &str| {
        let found = texts.iter().find(|(_, text)| text.starts_with(start));
        found
            .unwrap_or_else(|| panic!("no call {start}"))
            .0
            .to_string()
    };
    let numbers = ALWAYS.iter().flatten().map(|start| number(start));
    let arguments: Vec<String> = std::iter::once("these".to_string())
        .chain(numbers)
        .collect();
    let found = pairs(program, 1, &arguments);
    assert_eq!(found.len(), ALWAYS.len(), "an order that does not matter");
    found
}

/// What an execution came to: the outcome, and what each thread saw of the other before its call.
type Came = (Outcome, [u64; 2]);

/// What executions came to.
fn reached(record: &Path) -> BTreeSet<Came> {
    let bytes = std::fs::read(record).expect("the record");
    let (mut all, mut now) = (BTreeSet::new(), [0; 5]);
    for said in bytes.chunks_exact(16) {
        let word = |at: usize| u64::from_ne_bytes(said[at..at + 8].try_into().expect("8 bytes"));
        match word(0) as usize {
            from @ 0..5 => now[from] = word(8),
            _ => now = [0; 5],
        }
        if word(0) == 2 {
            all.insert(([now[0], now[1], now[2]], [now[3], now[4]]));
        }
    }
    all
}

/// Says what a search that claims to have tried all has left out.
fn missing(pair: &Pair, verify: bool, reached: &BTreeSet<Came>) -> Vec<String> {
    let mut missing = Vec::new();
    let mut want = |what: String, is: &dyn Fn(&Came) -> bool| {
        if !reached.iter().any(is) {
            missing.push(what);
        }
    };
    for outcome in &pair.outcomes {
        if verify {
            // Every path of every thread, not every combination of them.
            want(format!("{outcome:x?} is seen"), &|one| {
                one.0[2] == outcome[2]
            });
            for (me, seen) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                want(
                    format!("{:x} of thread {me}, {seen}", outcome[me]),
                    &|one| one.0[me] == outcome[me] && one.1[me] == seen,
                );
            }
        } else {
            for seen in [[0, 1], [1, 0], [1, 1]] {
                want(format!("{outcome:x?} {seen:?}"), &|one| {
                    *one == (*outcome, seen)
                });
            }
        }
    }
    missing
}

/// Searches for both orders of the pair; whether `dpor` and `verify` claimed to have tried all, or what
/// is wrong.
fn search(
    program: &Path,
    texts: &BTreeMap<usize, String>,
    pair: &Pair,
) -> Result<[bool; 2], String> {
    let mut claimed = [false; 2];
    for verify in [false, true] {
        let [a, b] = pair.calls;
        let name = format!("states-{a}-{b}-{verify}");
        let directory = empty(&name);
        let place = directory.join("place");
        let record = directory.join("record");
        std::fs::create_dir(&place).expect("a directory");
        std::fs::write(&record, "").expect("it can be written");
        let mut options = vec![if verify { "verify" } else { "run" }, "-q", "--races=off"];
        if !verify {
            options.extend(["--policy", "dpor", "--leaked-threads=off"]);
            // The rest is a bound.
            options.extend(["--no-lock-order", "-n", "2000"]);
        }
        let place = place.to_string_lossy();
        let file = record.to_string_lossy();
        // Names and keys that the whole machine knows are those of this pair.
        let tag = (a * 1000 + b).to_string();
        let numbers = [a.to_string(), b.to_string()];
        let arguments = [
            "run",
            &place,
            &tag,
            &numbers[0],
            &numbers[1],
            &pair.view,
            &file,
        ];
        let found = run(&options, program, &arguments);
        let missing = missing(pair, verify, &reached(&record));
        let is_whole = verify || found.summary.complete == Some(true);
        claimed[usize::from(verify)] = is_whole && found.output.status == 0;
        let is_right = match found.output.status {
            0 => !is_whole || missing.is_empty(),
            69 => true,
            _ => false,
        };
        std::fs::remove_dir_all(&directory).expect("the directory can be removed");
        if !is_right {
            let texts = [&texts[&a], &texts[&b]];
            let all = found.output.all();
            return Err(format!(
                "{a} {b}: {} | {}: {}: {missing:?}: {all}",
                texts[0], texts[1], found.shown
            ));
        }
    }
    Ok(claimed)
}

#[test]
fn both_orders_of_calls_that_share_a_state_are_reached() {
    let whole = program(None);
    let listed = output(Command::new(&whole).arg("list"), LIMIT);
    let texts: BTreeMap<usize, String> = listed
        .stdout
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(number, text)| (number.parse().expect("a number"), text.to_string()))
        .collect();
    assert!(texts.len() > 900, "{}", listed.all());
    // Whoever calls what is unknown is within bounds, whatever else it calls.
    let unknown = unknown(&whole);
    // They are prepared by functions of which it is not known what they do to memory.
    let streams = ["ms", "mp", "ml", "fm", "fmbuf", "ck"]
        .map(String::from)
        .into();
    let is_known = |text: &str| !names_one(text, &unknown) && !names_one(text, &streams);
    let bit = |text: &String| if is_known(text) { '1' } else { '0' };
    assert!(unknown.len() < 100, "{unknown:?}");
    let known = program(Some(&texts.values().map(bit).collect::<String>()));
    let pairs = chosen(&whole, &texts);
    let claims = [AtomicUsize::new(0), AtomicUsize::new(0)];
    in_parallel(&pairs, |pair| {
        let are_known = pair.calls.iter().all(|call| is_known(&texts[call]));
        let found = search(if are_known { &known } else { &whole }, &texts, pair);
        // Of many pairs, it is told at once.
        let claimed = found.inspect_err(|wrong| eprintln!("{wrong}"))?;
        for (claims, claimed) in claims.iter().zip(claimed) {
            claims.fetch_add(usize::from(claimed), Ordering::Relaxed);
        }
        Ok(())
    });
    let claims = claims.map(AtomicUsize::into_inner);
    let all = pairs.len();
    println!("dpor and verify were not bounded for {claims:?} of {all}");
    // What is bounded may leave out an order.
    let [dpor, verify] = claims;
    assert!(
        2 * dpor > all && 5 * verify > all,
        "{dpor} and {verify} of {all}"
    );
}

/// What only this library needs is not there for the program.
#[test]
fn a_library_that_the_program_does_not_need_is_not_there() {
    const NAMES: [&str; 1] = ["libgcc_s.so.1"];
    let source = "tests/states/noload.c";
    let plain = compile(Compiler::Gcc, source, &[]);
    // It needs the library that it is run with.
    let hooked = compile(Compiler::RaddleCc, source, &["--symbolic"]);
    for name in NAMES {
        let natively = output(Command::new(&plain).arg(name), LIMIT);
        assert_eq!(natively.status, 0, "{name}: {}", natively.all());
        let found = run(&["run", "-n", "2"], &plain, &[name]);
        assert_eq!(found.output.status, 0, "{}", found.output.all());
        let own = run(&["run", "-n", "2"], &plain, &[name, "load"]);
        assert!(
            own.output.all().contains("RTLD_NOLOAD"),
            "{}",
            own.output.all()
        );
        for search in [&["run", "--policy", "dpor"][..], &["verify"]] {
            let found = run(search, &hooked, &[name]);
            assert!(
                found.output.all().contains("RTLD_NOLOAD"),
                "{}",
                found.output.all()
            );
            assert_ne!(found.output.status, 0, "{}", found.output.all());
        }
    }
    for name in ["libresolv.so.2", "libm.so.6"] {
        let found = run(&["run", "--policy", "dpor"], &hooked, &[name]);
        assert_eq!(found.output.status, 0, "{}", found.output.all());
    }
}

/// Files that others make while a walk calls the program back are found, or it is said that they may not be.
#[test]
fn walks_with_callbacks_are_not_one_look_at_the_files() {
    let program = compile(Compiler::RaddleCc, "tests/states/walk.c", &["-w"]);
    for way in ["ftw", "nftw", "scandir"] {
        for options in [&["run", "--policy", "dpor"][..], &["verify"]] {
            let options = [options, &["--keep-going", "--races=off"]].concat();
            let found = run(&options, &program, &[way]);
            let said = found.output.all();
            assert!([66, 69].contains(&found.output.status), "{way}: {said}");
            assert!(said.contains("calls the program back"), "{way}: {said}");
        }
    }
}

/// What lies elsewhere than calls say: descriptors behind names of files, the position of standard output, files
/// of semaphores, what libstdc++ keeps, what is half sorted. Nobody claims that an order does not fail that does.
#[test]
fn what_lies_elsewhere_is_found_in_both_orders_or_named() {
    let program = compile(
        Compiler::RaddleCc,
        "tests/states/elsewhere.c",
        &["-O1", "-w", "-lstdc++"],
    );
    let listed = output(&mut Command::new(&program), LIMIT).stdout;
    let followed = ["access", "stat", "lstat", "dev", "readlink"];
    let searches: [&[&str]; 3] = [
        &["run", "--policy", "dpor"],
        &["run", "--policy", "dpor:source"],
        &["verify"],
    ];
    let mut cases = Vec::new();
    for mode in listed.lines() {
        for outcome in ["0", "1"] {
            cases.extend(searches.map(|search| (mode, outcome, search)));
        }
    }
    assert_eq!(cases.len(), 66, "{listed}");
    in_parallel(&cases, |&(mode, outcome, search)| {
        let options = [search, &["--no-shrink", "--races=off"]].concat();
        let found = run(&options, &program, &[mode, outcome]);
        match found.output.status {
            66 => Ok(()),
            69 if !followed.contains(&mode) => Ok(()),
            _ => Err(format!("{mode} {outcome}: {}", found.output.all())),
        }
    });
}
