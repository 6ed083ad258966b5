//! Is every function of the thread headers accounted for? The table is `runtime/functions.txt`.

mod common;

use common::{Compiler, compile, root, run};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// The headers whose functions must all be in the table.
const HEADERS: &[&str] = &[
    "pthread.h",
    "threads.h",
    "semaphore.h",
    "signal.h",
    "sched.h",
    "time.h",
    "sys/time.h",
    "sys/wait.h",
    "spawn.h",
    "sys/timerfd.h",
    "dlfcn.h",
    "setjmp.h",
    "mqueue.h",
    "sys/msg.h",
    "sys/sem.h",
];

/// Headers that they include for a part of their own declarations.
const PARTS: &[&str] = &[
    "bits/sigthread.h",
    "bits/signal_ext.h",
    "bits/sched.h",
    "bits/cpu-set.h",
    "bits/time.h",
    "bits/dlfcn.h",
    "bits/setjmp.h",
    "bits/spawn_ext.h",
    "bits/mqueue2.h",
];

/// Name, how, what.
fn table() -> BTreeMap<String, (String, String)> {
    let text = std::fs::read_to_string(root().join("runtime/functions.txt")).expect("the table");
    let mut rows = BTreeMap::new();
    for line in text.lines() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let parts: Vec<&str> = line.split(" | ").collect();
        let [name, how, what] = parts[..] else {
            panic!("a row has three columns: {line}");
        };
        assert!(!what.is_empty(), "{name} lacks a reason");
        let row = (how.to_string(), what.to_string());
        let twice = rows.insert(name.to_string(), row).is_some();
        assert!(!twice, "{name} has two rows");
    }
    rows
}

/// What the preprocessor makes of all headers.
fn preprocessed() -> String {
    let includes: String = HEADERS
        .iter()
        .map(|header| format!("#include <{header}>\n"))
        .collect();
    let source = common::scratch("interception").join("headers.c");
    std::fs::write(&source, format!("#define _GNU_SOURCE\n{includes}")).expect("it can be written");
    let mut command = Command::new("gcc");
    let result = common::output(command.arg("-E").arg(&source), common::LIMIT);
    assert_eq!(result.status, 0, "{}", result.stderr);
    result.stdout
}

/// The names of functions that a text of declarations declares.
fn declared_in(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for declaration in text.split(';') {
        let Some(start) = declaration.rfind("extern ") else {
            continue;
        };
        // The name stands before the first parenthesis that is not an attribute's.
        let words: Vec<&str> = declaration[start..].split('(').collect();
        let name = words.iter().rev().skip(1).rev().find_map(|before| {
            let name = before
                .trim_end()
                .rsplit(|c: char| !c.is_alphanumeric() && c != '_')
                .next()?;
            let keyword = name.is_empty() || name.starts_with("__attribute") || name == "__asm__";
            (!keyword && !name.starts_with("__nonnull")).then(|| name.to_string())
        });
        names.extend(name);
    }
    names
}

/// The functions that the headers of this machine declare.
fn declared() -> BTreeSet<String> {
    let (mut text, mut ours) = (String::new(), false);
    for line in preprocessed().lines() {
        if let Some(marker) = line.strip_prefix("# ") {
            let file = marker.split('"').nth(1).unwrap_or_default();
            ours = HEADERS
                .iter()
                .chain(PARTS)
                .any(|header| file.ends_with(&format!("/{header}")));
        } else if ours {
            text.push_str(line);
            text.push('\n');
        }
    }
    declared_in(&text)
}

fn exported() -> BTreeSet<String> {
    let library = common::raddle().with_file_name("libraddle.so");
    let mut command = Command::new("nm");
    command.args(["-D", "--defined-only"]).arg(&library);
    let result = common::output(&mut command, common::LIMIT);
    assert_eq!(result.status, 0, "{}", result.stderr);
    result
        .stdout
        .lines()
        .filter_map(|line| line.split_whitespace().last())
        .map(|name| name.split('@').next().unwrap_or(name).to_string())
        .collect()
}

#[test]
fn the_reader_of_declarations_reads_them() {
    let text = "extern int f (int __x) __attribute__ ((__nothrow__ , __leaf__));\n\
         typedef int t;\nextern void (*g (int)) (void);\n\
         extern __pid_t h (void) __asm__ (\"\" \"other\");\nextern int variable;\n\
         static int i (void) { return 0; }";
    let names: Vec<String> = declared_in(text).into_iter().collect();
    assert!(names.contains(&"f".to_string()) && names.contains(&"h".to_string()));
    assert!(!names.contains(&"variable".to_string()) && !names.contains(&"i".to_string()));
}

#[test]
fn every_declared_function_has_a_row() {
    let (table, declared) = (table(), declared());
    assert!(declared.len() > 250, "only {} found", declared.len());
    for known in [
        "pthread_create",
        "thrd_join",
        "sem_open",
        "sigwait",
        "timer_create",
    ] {
        assert!(declared.contains(known), "{known} was not read");
    }
    let missing: Vec<&String> = declared
        .iter()
        .filter(|name| !table.contains_key(*name))
        .collect();
    assert!(
        missing.is_empty(),
        "not in runtime/functions.txt: {missing:?}"
    );
}

#[test]
fn modelled_functions_are_exported_and_passed_ones_are_not() {
    let (table, exported) = (table(), exported());
    for (name, (how, _)) in &table {
        match how.as_str() {
            "modelled" | "refused" => {
                assert!(exported.contains(name), "{name} is {how} and not exported");
            }
            "passed" => assert!(!exported.contains(name), "{name} is {how} and exported"),
            _ => panic!("{name}: {how} is not one of the three"),
        }
    }
}

#[test]
fn refused_functions_end_the_execution_with_their_message() {
    let program = compile(Compiler::Gcc, "tests/interception/refused.c", &[]);
    let table = table();
    let refused: Vec<_> = table.iter().filter(|(_, row)| row.0 == "refused").collect();
    assert!(!refused.is_empty());
    for (name, (_, message)) in refused {
        let run = run(&["run", "-n", "1"], &program, &[name]);
        let all = run.output.all();
        assert_eq!(run.output.status, 68, "{name}: {all}");
        assert!(all.contains(message.as_str()), "{name}: {all}");
    }
}
