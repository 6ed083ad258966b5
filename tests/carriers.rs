//! Ways by which what one thread has read comes to the place where it matters (`carriers/`): by copies, calls
//! of the C library, files, pipes, threads, signals. Do exhaustive searches and `verify` find each outcome of
//! the race behind every one of them, or name what they do not follow?

mod common;

use common::{Compiler, compile, in_parallel, root, run};

const SOURCE: &str = "tests/carriers/carriers.c";

/// What some search names as not followed. All others have to be found.
const NAMED: &[&str] = &[
    "aio_write",
    "argz",
    "assembly",
    "file behind a mapping",
    "fmemopen to read",
    "fputws",
    "glob",
    "gmtime_r",
    "inet_pton",
    "long double",
    "mapping of a file",
    "message queue of System V",
    "mktime",
    "modf",
    "mremap",
    "name by prctl",
    "name of getopt_long",
    "own buffer",
    "rand_r",
    "shmat",
    "strftime",
    "strtod",
    "text of getsubopt",
    "two mappings",
    "vasprintf",
    "vfprintf",
    "vsnprintf",
    "wcsdup",
    "wcstombs",
    "write by its number",
];

/// The rows of the program: line, name.
fn rows() -> Vec<(usize, String)> {
    let text = std::fs::read_to_string(root().join(SOURCE)).expect("the program");
    let lines = (1..).zip(text.lines());
    let rows = lines.filter_map(|(n, line)| {
        let (name, _) = line.strip_prefix(" K(")?.split_once(')')?;
        Some((n, name.to_string()))
    });
    let rows: Vec<(usize, String)> = rows.collect();
    assert!(rows.len() > 170, "only {} found", rows.len());
    let is_row = |name: &&&str| !rows.iter().any(|(_, row)| row == **name);
    let unknown: Vec<&&str> = NAMED.iter().filter(is_row).collect();
    assert!(unknown.is_empty(), "no rows: {unknown:?}");
    rows
}

/// Whatever is carried, both outcomes are found, or the verdict is within bounds. With `RADDLE_CARRIERS=all`
/// also by maximal causality reduction, and where the threads exclude each other.
#[test]
fn what_is_carried_is_followed_or_named() {
    let all = std::env::var("RADDLE_CARRIERS").is_ok_and(|value| value == "all");
    let flags = ["-O1", "-w", "-lm", "-lrt"];
    let program = compile(Compiler::RaddleCc, SOURCE, &flags);
    let searches: &[&[&str]] = &[
        &["verify"],
        &["run", "--policy", "dpor", "-n", "20000"],
        &["verify", "--strategy", "mcr"],
    ];
    let searches = &searches[..if all { 3 } else { 2 }];
    let sections: &[&[&str]] = if all { &[&[], &["locked"]] } else { &[&[]] };
    in_parallel(&rows(), |(row, name)| {
        let row = row.to_string();
        for (search, section) in searches
            .iter()
            .flat_map(|s| sections.iter().map(move |l| (s, l)))
        {
            let options = [search, &["--no-shrink", "--races=off"][..]].concat();
            for bad in ["a", "x"] {
                let arguments = [&[row.as_str(), bad][..], section].concat();
                let output = run(&options, &program, &arguments).output;
                match output.status {
                    66 => {}
                    69 if NAMED.contains(&name.as_str()) => {}
                    _ => {
                        let all = output.all();
                        return Err(format!("{name}, {bad}, {options:?}, {section:?}: {all}"));
                    }
                }
            }
        }
        Ok(())
    });
}

/// What others have written into a block is there when it has moved, and nothing else.
#[test]
fn blocks_move_with_what_is_in_them() {
    /// That of `mremap`, whose pages are named.
    const PAGES: usize = 7;
    let source = "tests/carriers/moved.c";
    let program = compile(Compiler::RaddleCc, source, &["-O1", "-w"]);
    let searches: &[&[&str]] = &[
        &["verify"],
        &["verify", "--strategy", "mcr"],
        &["run", "--policy", "dpor"],
    ];
    let all: Vec<(usize, &[&str])> = (0..=PAGES)
        .flat_map(|how| searches.iter().map(move |&search| (how, search)))
        .collect();
    in_parallel(&all, |&(how, search)| {
        for (bad, right) in [("11", 66), ("12", 66), ("13", 0)] {
            let options = [search, &["--no-shrink"]].concat();
            let output = run(&options, &program, &[&how.to_string(), bad]).output;
            let named = how == PAGES && output.status == 69;
            if output.status != right && !named {
                return Err(format!("{how}, {bad}, {search:?}: {}", output.all()));
            }
        }
        Ok(())
    });
}

/// A block that grows where it lies is no block that was freed.
#[test]
fn blocks_that_grow_under_a_lock_are_proved_to_be_right() {
    let source = "tests/carriers/grown.c";
    let program = compile(Compiler::RaddleCc, source, &["-O1", "-w"]);
    let searches: [&[&str]; 2] = [&["verify"], &["run", "--policy", "dpor"]];
    for bytes in ["4", "40", "400"] {
        for search in searches {
            for (section, right) in [(&["locked"][..], 0), (&[], 66)] {
                let options = [search, &["--no-shrink"]].concat();
                let arguments = [&[bytes], section].concat();
                let output = run(&options, &program, &arguments).output;
                assert_eq!(
                    output.status,
                    right,
                    "{bytes}, {search:?}: {}",
                    output.all()
                );
            }
        }
    }
}

/// libstdc++ keeps the texts of exceptions; what is given and read is told of all the same.
#[test]
fn texts_of_exceptions_are_followed_or_named() {
    /// One that threads share, and one that is made of a `std::string`.
    const NAMED: [usize; 2] = [1, 6];
    let searches: &[&[&str]] = &[
        &["verify"],
        &["verify", "--strategy", "mcr"],
        &["run", "--policy", "dpor"],
    ];
    let all: Vec<usize> = (0..=6).collect();
    in_parallel(&all, |how| {
        let flags = [&format!("-DHOW={how}"), "-O1", "-w"];
        let program = compile(Compiler::RaddleCxx, "tests/carriers/exceptions.cpp", &flags);
        for (search, bad) in searches.iter().flat_map(|s| [(s, "a"), (s, "x")]) {
            let options = [search, &["--no-shrink"][..]].concat();
            let output = run(&options, &program, &[bad]).output;
            if output.status != 66 && !(output.status == 69 && NAMED.contains(how)) {
                return Err(format!("{how}, {bad}, {search:?}: {}", output.all()));
            }
        }
        Ok(())
    });
}
