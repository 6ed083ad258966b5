//! What functions of the C library do to memory (`protocol/src/effects.rs`): is every function of the
//! headers in the table, and does what the table says lead exhaustive searches to all outcomes?

mod common;

#[path = "effects/rows.rs"]
mod rows;

use common::{Compiler, LIMIT, Random, Run, compile, in_parallel, output, run, scratch};
use raddle_protocol::effects::{Known, LONG, NONE, Row, State};
use rows::Declared;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Headers that C and POSIX name, as far as this machine has them.
const HEADERS: &str = "aio arpa/inet assert complex ctype dirent dlfcn errno fcntl fenv fmtmsg fnmatch \
                       ftw glob grp iconv inttypes langinfo libgen locale math monetary mqueue net/if \
                       netdb netinet/in nl_types poll pthread pwd regex sched search semaphore setjmp \
                       signal spawn stdio stdlib string strings sys/ipc sys/mman sys/msg sys/resource \
                       sys/select sys/sem sys/shm sys/socket sys/stat sys/statvfs sys/time sys/times \
                       sys/types sys/uio sys/un sys/utsname sys/wait syslog termios threads time uchar \
                       unistd utime utmpx wchar wctype wordexp";

/// The text without what stands behind these words in parentheses, and without the words.
fn without_attributes(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    let words = ["__attribute__", "__asm__", "__nonnull"];
    while let Some(at) = words.iter().filter_map(|word| rest.find(word)).min() {
        kept.push_str(&rest[..at]);
        let open = rest[at..].find('(').map_or(rest.len(), |open| at + open);
        let mut depth = 0;
        let end = rest[open..].find(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth == 0
        });
        rest = end.map_or("", |end| &rest[open + end + 1..]);
    }
    kept + rest
}

/// Does a parameter of this type lead to something that the function may write?
fn may_be_written(parameter: &str) -> bool {
    let pointers = parameter.matches('*').count();
    let first = parameter.find(['*', '[']).unwrap_or(0);
    let is_function = parameter.contains("(*");
    let is_const = parameter[..first]
        .split_whitespace()
        .any(|word| word == "const");
    !is_function && (pointers > 1 || first > 0 && !is_const)
}

/// The functions that are declared there.
fn declarations(text: &str) -> BTreeMap<String, Declared> {
    let text = without_attributes(&text.replace("__extension__", " "));
    let mut found = BTreeMap::new();
    for declaration in text.split(';') {
        let Some(start) = declaration.rfind("extern ") else {
            continue;
        };
        let declaration = &declaration[start + "extern ".len()..];
        let Some(open) = declaration.find('(') else {
            continue;
        };
        let head = declaration[..open].trim_end();
        let name = head
            .rsplit(|c: char| !c.is_alphanumeric() && c != '_')
            .next()
            .unwrap_or_default();
        let (mut depth, mut parts) = (0, vec![String::new()]);
        for c in declaration[open + 1..].chars() {
            match c {
                ')' if depth == 0 => break,
                ',' if depth == 0 => parts.push(String::new()),
                _ => {
                    depth += i32::from(c == '(') - i32::from(c == ')');
                    parts.last_mut().expect("there is one").push(c);
                }
            }
        }
        let declared = Declared {
            result: head[..head.len() - name.len()].trim().to_string(),
            parameters: parts.iter().map(|part| part.trim().to_string()).collect(),
        };
        found.insert(name.to_string(), declared);
    }
    found
}

/// The functions with a pointer argument that is not const.
fn declared_in(text: &str) -> BTreeSet<String> {
    let writes = |function: &Declared| function.parameters.iter().any(|one| may_be_written(one));
    let all = declarations(text).into_iter();
    all.filter(|(_, function)| writes(function))
        .map(|(name, _)| name)
        .collect()
}

/// The headers, as the compiler reads them.
fn headers() -> String {
    let source = scratch("effects").join("headers.c");
    let includes = HEADERS
        .split_whitespace()
        .map(|name| format!("#if __has_include(<{name}.h>)\n#include <{name}.h>\n#endif\n"));
    let text = format!("#define _GNU_SOURCE\n{}", includes.collect::<String>());
    let own = source.with_extension(format!("{:?}.c", std::thread::current().id()));
    std::fs::write(&own, text).expect("it can be written");
    let mut command = Command::new("gcc");
    let result = output(command.args(["-E", "-P"]).arg(&own), LIMIT);
    assert_eq!(result.status, 0, "{}", result.stderr);
    result.stdout
}

#[test]
fn the_reader_of_declarations_reads_them() {
    let text = "extern int f (int *__x) __attribute__ ((__nothrow__ (a), b));\n\
         extern int g (const char *x, int y); typedef int t;\n\
         extern void h (const void *a, int (*b) (int *, int)) __asm__ (\"\" \"other\");\n\
         extern __extension__ long i (char **restrict x, const int y[]);\n\
         extern int j (const char *const *x); extern int k (int x[2]); static int l (int *x);";
    let names: Vec<String> = declared_in(text).into_iter().collect();
    assert_eq!(names, ["f", "i", "j", "k"]);
}

/// Names with two underscores are the library's own.
#[test]
fn every_function_of_the_headers_is_in_the_table() {
    let declared = declared_in(&headers());
    assert!(declared.len() > 700, "{}", declared.len());
    let is_public = |name: &&String| !name.starts_with("__");
    let missing = declared.iter().filter(is_public);
    let missing: Vec<&String> = missing.filter(|name| Known::of(name).is_none()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// An operation of the program `pairs`.
struct Operation {
    area: String,
    text: String,
}

/// Pairs in one search.
const TOGETHER: usize = 70;

/// Pairs of operations on the same memory: both orders of a pair are reached.
#[test]
fn both_orders_of_two_operations_are_reached() {
    let wanted = std::env::var("RADDLE_EFFECT_PAIRS").ok();
    let wanted = wanted.map_or(2100, |n| n.parse().expect("a number of pairs"));
    let program = compile(
        Compiler::RaddleCc,
        "tests/effects/pairs.c",
        &["-O0", "-w", "-lm"],
    );
    let listed = output(&mut Command::new(&program), LIMIT);
    let operations: Vec<Operation> = listed
        .stdout
        .lines()
        .map(|line| {
            let mut words = line.splitn(4, ' ').skip(1);
            let mut next = || words.next().expect("four words").to_string();
            let area = next();
            next();
            Operation { area, text: next() }
        })
        .collect();
    assert!(operations.len() > 200, "{}", listed.all());
    let batches: Vec<u64> = (0..(wanted as u64).div_ceil(TOGETHER as u64)).collect();
    in_parallel(&batches, |&batch| {
        let mut random = Random(batch);
        let pairs: Vec<[usize; 2]> = (0..TOGETHER)
            .map(|_| {
                let first = random.below(operations.len());
                let area = |n: &usize| operations[*n].area == operations[first].area;
                let others: Vec<usize> = (0..operations.len()).filter(area).collect();
                [first, others[random.below(others.len())]]
            })
            .collect();
        let marks = scratch(&format!("effects-{batch}")).join("marks");
        std::fs::write(&marks, vec![b'0'; 4 * TOGETHER]).expect("it can be written");
        let mut arguments = vec![marks.to_string_lossy().to_string()];
        arguments.extend(pairs.iter().flatten().map(usize::to_string));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let options = ["run", "--policy", "dpor", "--races=off", "--no-shrink"];
        let found = run(&options, &program, &arguments);
        // Of large structures that both fill, not all is taken word by word; some calls are not safe at once.
        let is_unsafe = |name: &str| {
            let mut said = State::all().iter().map(|state| state.at_once);
            said.any(|said| !said.is_empty() && name.starts_with(said))
        };
        let mut bounds = found.summary.uncontrolled.iter();
        let known = bounds.all(|name| name == LONG || is_unsafe(name));
        if !(found.output.status == 0 || found.output.status == 69 && known) {
            return Err(format!("batch {batch}: {}", found.output.all()));
        }
        let marks = std::fs::read(&marks).expect("the marks");
        for (pair, found) in pairs.iter().zip(marks.chunks(4)) {
            // One outcome, or two.
            let reached = found[0] == b'1' && (found[3] == b'1' || found[1] == b'1');
            if !reached {
                let [a, b] = pair.map(|n| &operations[n].text);
                let found = String::from_utf8_lossy(found);
                return Err(format!("batch {batch}: {found}: {pair:?} {a} | {b}"));
            }
        }
        Ok(())
    });
}

/// Modes of `cleared` that leave what is there until they print.
const CLEAR_NOTHING: usize = 6;

#[test]
fn a_text_is_empty_before_it_is_printed() {
    let program = compile(
        Compiler::RaddleCc,
        "tests/effects/cleared.c",
        &["-O1", "-w"],
    );
    let listed = output(&mut Command::new(&program), LIMIT).stdout;
    let modes: Vec<(usize, &str)> = (0..).zip(listed.lines()).collect();
    assert_eq!(modes.len(), 18, "{listed}");
    in_parallel(&modes, |&(number, mode)| {
        let wanted = if number < CLEAR_NOTHING { 0 } else { 66 };
        for how in [&["run", "--policy", "dpor"][..], &["verify"]] {
            let options = [how, &["--no-shrink", "--races=off"]].concat();
            let found = run(&options, &program, &[mode]);
            if found.output.status != wanted {
                return Err(format!("{mode} {how:?}: {}", found.output.all()));
            }
        }
        Ok(())
    });
}

/// What `tokens` prints in each mode, one call after the other in any order.
const TOKENS: [(&str, &[&str]); 4] = [
    ("0", &["bc.d-", "cb.d-"]),
    ("1", &["bx.yz", "yx.z-"]),
    ("2", &["bc d-", "bc0d-", "cb d-", "cb0d-"]),
    ("3", &["bx yz", "bx0yz", "yx z-"]),
];

#[test]
fn a_text_is_split_by_one_call_after_the_other() {
    let program = compile(Compiler::RaddleCc, "tests/effects/tokens.c", &["-O1"]);
    in_parallel(&TOKENS, |&(mode, wanted)| {
        let file = scratch(&format!("tokens-{mode}")).join("found");
        let _ = std::fs::remove_file(&file);
        let options = ["run", "--policy", "dpor", "--races=off"];
        let search = run(&options, &program, &[mode, &file.to_string_lossy()]);
        let found = std::fs::read_to_string(&file).unwrap_or_default();
        let found: BTreeSet<&str> = found.lines().collect();
        match search.output.status == 0 && found.iter().eq(wanted) {
            true => Ok(()),
            false => Err(format!("{mode}: {found:?}: {}", search.output.all())),
        }
    });
}

/// Modes of `shared` that bound the verdict of `verify` where nothing fails: it does not model sockets and
/// processes.
const NOT_MODELLED: &[&str] = &[
    "writev",
    "recv",
    "recvfrom",
    "sender",
    "recvmsg",
    "recvmmsg",
    "sendmsg",
    "sendmmsg",
    "getsockname",
    "wait",
];

#[test]
fn the_failing_order_is_found() {
    const SHARED: &str = "tests/effects/shared.c";
    let [plain, locked, right] = [
        &["-w", "-O0", "-lm"][..],
        &["-w", "-O2", "-DLOCKED", "-lm"],
        &["-w", "-O1", "-DRIGHT", "-lm"],
    ]
    .map(|flags| compile(Compiler::RaddleCc, SHARED, flags));
    let input = scratch("effects").join("five");
    std::fs::write(&input, "5\n").expect("it can be written");
    let input = input.to_string_lossy();
    let listed = output(&mut Command::new(&plain), LIMIT).stdout;
    let modes: Vec<(usize, &str)> = (0..).zip(listed.lines()).collect();
    assert!(modes.len() > 80, "{listed}");
    let (racing, raced) = (AtomicUsize::new(0), AtomicUsize::new(0));
    in_parallel(&modes, |&(number, mode)| {
        for (command, program) in [
            (
                &["run", "--policy", "dpor"][..],
                [&plain, &locked][number % 2],
            ),
            (&["verify"], &plain),
            (&["verify"], &locked),
            (&["verify", "--strategy", "mcr"], &locked),
            (&["verify"], &right),
        ] {
            let options = [command, &["--no-shrink", "--stdin", &input]].concat();
            let found = run(&options, program, &[mode]);
            let wanted = match std::ptr::eq(program, &right) {
                true if NOT_MODELLED.contains(&mode) => 69,
                true => 0,
                false => 66,
            };
            let races = found.summary.reports.iter().filter(|r| r.class == "race");
            let has_race = races.count() > 0;
            if std::ptr::eq(program, &plain) {
                racing.fetch_add(1, Ordering::Relaxed);
                raced.fetch_add(has_race.into(), Ordering::Relaxed);
            }
            let has_none = !std::ptr::eq(program, &plain);
            if found.output.status != wanted || has_none && has_race {
                return Err(format!("{mode}: {}: {}", found.shown, found.output.all()));
            }
        }
        Ok(())
    });
    // What a call may access, or not, races with nobody.
    let (raced, racing) = (raced.into_inner(), racing.into_inner());
    assert!(4 * raced > 3 * racing, "{raced} of {racing}");
}

/// What the library keeps between calls is found by others as they left it, or that is not seen.
#[test]
fn what_the_library_keeps_is_found_in_both_orders() {
    let cases: Vec<(u32, u32)> = (0..=12).flat_map(|how| [(how, 0), (how, 1)]).collect();
    in_parallel(&cases, |&(how, seen)| {
        let (how_is, seen_is) = (format!("-DHOW={how}"), format!("-DSEEN={seen}"));
        let flags = ["-O1", "-w", &how_is, &seen_is];
        let program = compile(Compiler::RaddleCc, "tests/verify/kept.c", &flags);
        let found = run(&["run", "--policy", "dpor", "--no-shrink"], &program, &[]);
        // A file that is mapped twice, and a function that is called by a pointer.
        let bounded = [10, 11].contains(&how) && seen == 1;
        match found.output.status {
            66 if !bounded => Ok(()),
            69 if bounded => Ok(()),
            _ => Err(format!("{flags:?}: {}", found.output.all())),
        }
    });
}

fn given() -> PathBuf {
    compile(
        Compiler::RaddleCc,
        "tests/effects/given.c",
        &["-O0", "-w", "-lm"],
    )
}

/// Memory that a function is given, or leads to otherwise, and that another thread writes: both orders are
/// found.
#[test]
fn what_a_call_is_given_is_found_in_both_orders() {
    let program = given();
    let listed = output(&mut Command::new(&program), LIMIT).stdout;
    let cases: Vec<(&str, &str)> = listed
        .lines()
        .flat_map(|mode| [(mode, "0"), (mode, "1")])
        .collect();
    assert!(cases.len() > 20, "{listed}");
    in_parallel(&cases, |&(mode, seen)| {
        for options in [&["run", "--policy", "dpor"][..], &["verify"]] {
            let options = [options, &["--no-shrink", "--races=off"]].concat();
            let found = run(&options, &program, &[mode, seen]);
            // What `verify` does not follow, it names.
            let named = options[0] == "verify" && found.output.status == 69;
            if !(found.output.status == 66 || named) {
                return Err(format!(
                    "{mode} {seen}: {}: {}",
                    found.shown,
                    found.output.all()
                ));
            }
        }
        Ok(())
    });
}

/// What the kernel may refuse before it reads; what initialises objects, makes processes or timers, whose
/// accesses are conflicts only.
const GIVEN_WITHOUT_RACE: &[&str] = &[
    "semctl SETALL",
    "pthread_mutex_init",
    "pthread_cond_init",
    "pthread_rwlock_init",
    "pthread_barrier_init",
    "pthread_spin_init",
    "sem_init",
    "mtx_init",
    "cnd_init",
    "posix_spawn",
    "posix_spawn path",
    "posix_spawn attributes",
    "posix_spawn actions",
    "timer_create event",
];

/// The same, and they are races.
#[test]
fn races_are_found_with_what_a_call_is_given() {
    let program = given();
    let listed = output(&mut Command::new(&program), LIMIT).stdout;
    let modes: Vec<&str> = listed.lines().collect();
    in_parallel(&modes, |&mode| {
        let options = [
            "run",
            "-n",
            "30",
            "--races=fail",
            "--accept-exit=1",
            "--no-shrink",
        ];
        let found = run(&options, &program, &[mode, "0"]);
        let is_race = found.summary.findings.iter().any(|one| one.class == "race");
        match is_race != GIVEN_WITHOUT_RACE.contains(&mode) {
            true => Ok(()),
            false => Err(format!("{mode}: {}", found.output.all())),
        }
    });
}

/// Code that is told of what setjmp writes goes on as it did when that returns once more.
#[test]
fn what_returns_twice_goes_on() {
    in_parallel(&["-O0", "-O2"], |level| {
        let program = compile(Compiler::RaddleCc, "tests/effects/jumps.c", &[level, "-w"]);
        for options in [
            &["run", "-n", "20"][..],
            &["run", "--policy", "dpor"],
            &["verify"],
        ] {
            let found = run(&[options, &["--races=fail"]].concat(), &program, &[]);
            if found.output.status != 0 {
                return Err(format!("{level}: {}: {}", found.shown, found.output.all()));
            }
        }
        Ok(())
    });
}

/// What no row can say bounds what an exhaustive search says, by name.
#[test]
fn a_function_that_is_not_known_bounds_the_verdict() {
    let program = compile(
        Compiler::RaddleCc,
        "tests/effects/shared.c",
        &["-w", "-O0", "-lm"],
    );
    for policy in ["dpor", "dfs"] {
        let found = run(&["run", "--policy", policy], &program, &["unknown"]);
        let said = found.output.all();
        assert_eq!(found.output.status, 69, "{said}");
        assert!(said.contains("what lsearch"), "{said}");
    }
    let found = run(&["verify"], &program, &["unknown"]);
    let said = found.output.all();
    assert_eq!(found.output.status, 69, "{said}");
    assert!(said.contains("lsearch"), "{said}");
}

/// The order in which threads write a log matters only where somebody reads it; then all are tried.
#[test]
fn the_order_of_writes_is_tried_where_it_is_read() {
    let cases: &[(u32, &[&str], i32, u64)] = &[
        (0, &[], 66, u64::MAX),
        (1, &["-DSTREAM"], 66, u64::MAX),
        (2, &["-DUNREAD"], 0, 1),
        (3, &["-DUNREAD", "-DSTREAM"], 0, 1),
    ];
    in_parallel(cases, |&(number, flags, status, most)| {
        let flags = [&["-O1"], flags].concat();
        let program = compile(Compiler::RaddleCc, "tests/effects/order.c", &flags);
        // The seed chooses the names of temporary files, which are to be nobody else's. By its name a
        // file may share a place with another state, so that more orders are tried than need be.
        let mut told = String::new();
        for attempt in 0..3 {
            let seed = 12 * u64::from(std::process::id()) + 3 * u64::from(number) + attempt;
            let seed = seed.to_string();
            let options = ["run", "--policy", "dpor", "--no-shrink", "--seed", &seed];
            let found = run(&options, &program, &[]);
            told = format!("{flags:?}: {}", found.output.all());
            if found.output.status != status {
                break;
            }
            if found.summary.executions <= most {
                return Ok(());
            }
        }
        Err(told)
    });
}

/// A call that fails need not access what it is given: nobody invents a crash there, nor a race with what it
/// would have written. One that succeeds crashes, and races.
#[test]
fn a_call_that_fails_accesses_nothing() {
    // These only read.
    const READS: [u32; 6] = [3, 4, 10, 11, 20, 21];
    let mut cases = Vec::new();
    for search in [
        &["run", "--policy", "dpor"][..],
        &["run", "-n", "20"],
        &["verify"],
    ] {
        let dpor = search.contains(&"dpor");
        let fail = (0..22).filter(|call| dpor || call % 2 == 0);
        let kinds = fail
            .map(|call| (call, false))
            .chain((0..3).map(|call| (call, true)));
        cases.extend(kinds.map(|(call, succeeds)| (search, call, succeeds)));
    }
    in_parallel(&cases, |&(search, call, succeeds)| {
        let number = format!("-DCALL={call}");
        for writes in [false, true] {
            if writes && READS.contains(&call) {
                continue;
            }
            let mut flags = vec!["-O1", &number];
            flags.extend(succeeds.then_some("-DSUCCEEDS"));
            flags.extend(writes.then_some("-DWRITES"));
            let program = compile(Compiler::RaddleCc, "tests/effects/failing.c", &flags);
            let races = if writes { "fail" } else { "off" };
            let options = [search, &["--races", races, "--no-shrink"]].concat();
            let found = run(&options, &program, &[]);
            let findings = found.summary.findings.iter();
            let classes: Vec<&str> = findings.map(|f| f.class.as_str()).collect();
            let expected: &[&str] = match (succeeds, writes) {
                (false, _) => &[],
                (true, false) => &["crash"],
                (true, true) => &["race"],
            };
            if classes != expected || found.output.status == 68 {
                return Err(format!("{search:?} {flags:?}: {}", found.output.all()));
            }
        }
        Ok(())
    });
}

/// Two calls at once of functions that are not safe for threads are not two steps: nobody says that all was
/// tried. Where they cannot come at once, it was.
#[test]
fn calls_that_are_not_safe_at_once_bound_the_verdict() {
    let searches: [&[&str]; 2] = [&["run", "--policy", "dpor"], &["verify"]];
    let orders = (0..6).flat_map(|call| (0..6).map(move |order| (call, order)));
    let cases: Vec<(u32, u32)> = orders.collect();
    in_parallel(&cases, |&(call, order)| {
        let flags = [format!("-DCALL={call}"), format!("-DORDER={order}")];
        let flags = ["-O1", &flags[0], &flags[1]];
        let program = compile(Compiler::RaddleCc, "tests/effects/at_once.c", &flags);
        searches.iter().try_for_each(|search| {
            let options = [search, &["--races", "off", "--no-shrink"][..]].concat();
            let found = run(&options, &program, &[]);
            match found.output.status == if order == 0 { 69 } else { 0 } {
                true => Ok(()),
                false => Err(format!("{flags:?}, {search:?}: {}", found.output.all())),
            }
        })
    });
}

/// What a row says of an argument fits its type in the headers.
#[test]
fn accesses_lead_through_pointers() {
    let declared = declarations(&headers());
    let is_pointer = |parameter: &str| {
        let named = ["va_list", "SOCKADDR_ARG", "jmp_buf"];
        parameter.contains(['*', '[']) || named.iter().any(|name| parameter.contains(name))
    };
    let mut wrong = Vec::new();
    for row in Row::all() {
        let known = row
            .names()
            .filter_map(|name| Some((name, declared.get(name)?)));
        for (name, function) in known {
            let parameter = |n: u8| function.parameters.get(usize::from(n)).map(String::as_str);
            for effect in row.effects {
                let (pointers, numbers) = effect.arguments();
                let are = |all: &[u8], pointer: bool| {
                    let mut all = all.iter().filter(|&&n| n != NONE);
                    all.all(|&n| parameter(n).is_some_and(|one| is_pointer(one) == pointer))
                };
                if !are(&pointers, true) || !are(&numbers, false) {
                    wrong.push(format!("{name}: {effect:?}: {:?}", function.parameters));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The program of `rows.rs`, and its cases: what it is given for each of which it can be told which of the
/// two came first.
struct Rows {
    program: PathBuf,
    cases: Vec<rows::Case>,
    given: Vec<Vec<String>>,
}

impl Rows {
    /// (`RADDLE_EFFECT_ROWS`: with every name of a row, not the first one.)
    fn build(place: &str) -> Rows {
        let every = std::env::var_os("RADDLE_EFFECT_ROWS").is_some();
        let dir = scratch(place);
        let (text, cases) = rows::program(&declarations(&headers()), every);
        let source = dir.join("rows.c");
        std::fs::write(&source, text).expect("it can be written");
        let header = common::root().join("tests/effects/rows.h");
        std::fs::copy(header, dir.join("rows.h")).expect("it can be copied");
        let file = dir.join("file").to_string_lossy().to_string();
        std::fs::write(&file, "12.5/3a\n").expect("it can be written");
        let source = source.to_string_lossy().to_string();
        let program = compile(Compiler::RaddleCc, &source, &["-w", "-O0", "-lm"]);
        let mut command = Command::new(&program);
        let listed = output(command.current_dir(&dir).arg(&file), LIMIT);
        let given = listed.stdout.lines().map(|line| {
            let words = line.split(' ').map(str::to_string);
            [file.clone()].into_iter().chain(words).collect()
        });
        let given: Vec<Vec<String>> = given.collect();
        assert!(given.len() > 200, "{}: {}", cases.len(), listed.all());
        Rows {
            program,
            cases,
            given,
        }
    }

    fn case(&self, given: &[String]) -> &rows::Case {
        &self.cases[given[1].parse::<usize>().expect("a number")]
    }

    fn run(&self, options: &[&str], given: &[String]) -> Run {
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        run(options, &self.program, &given)
    }
}

/// For each row, and each argument that leads to what it reads or writes: `verify` reaches both orders of
/// the call and of an access to a byte there, or says what bounds it.
#[test]
fn verify_knows_of_all_that_rows_tell_of() {
    let rows = Rows::build("effects-rows");
    let options = ["verify", "-q", "--races=off", "--accept-exit=41,42"];
    let (proved, bounded) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    in_parallel(&rows.given, |given| {
        let case = rows.case(given);
        let found = rows.run(&options, given);
        let reached = |status: &str| found.summary.outcomes.contains_key(status);
        match found.output.status {
            69 => {
                let mut bounded = bounded.lock().expect("nobody panics");
                bounded.push(format!("{} {}", case.name, case.argument));
                Ok(())
            }
            0 if reached("exit 41") && reached("exit 42") => {
                proved.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            _ => Err(format!(
                "{} {}: {given:?}: {:?} {}",
                case.name,
                case.argument,
                found.summary.outcomes,
                found.output.all()
            )),
        }
    });
    let (proved, all) = (proved.into_inner(), rows.given.len());
    let mut bounded = bounded.into_inner().expect("nobody panics");
    bounded.sort_unstable();
    println!("verify was not bounded for {proved} of {all}, but for {bounded:?}");
    // What is bounded may leave out an order.
    assert!(2 * proved > all, "{proved} of {all}");
}

/// The same: where it can be told which came first, the call or an access to the byte, that is a race.
#[test]
fn races_are_found_with_all_that_rows_tell_of() {
    let rows = Rows::build("effects-races");
    let options = [
        "run",
        "-q",
        "-n",
        "20",
        "--races=fail",
        "--accept-exit=41,42",
        "--no-shrink",
    ];
    in_parallel(&rows.given, |given| {
        let case = rows.case(given);
        let found = rows.run(&options, given);
        let is_race = found.summary.findings.iter().any(|one| one.class == "race");
        match is_race {
            true => Ok(()),
            false => Err(format!("{} {}: {given:?}", case.name, case.argument)),
        }
    });
}
