//! The rules of the house that a machine can check.

mod common;

use common::root;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Which crates of the workspace a crate may import.
const IMPORTS: &[(&str, &[&str])] = &[
    (
        "raddle",
        &["raddle-protocol", "raddle-scheduler", "raddle-analyzer"],
    ),
    ("raddle-protocol", &[]),
    ("raddle-runtime", &["raddle-protocol"]),
    ("raddle-tsan", &[]),
    ("raddle-scheduler", &["raddle-protocol"]),
    ("raddle-plugin", &["raddle-protocol"]),
    ("raddle-analyzer", &["raddle-protocol"]),
];

/// Crates that may name the solver, and crates whose work is free of files and processes.
const ONLY_USER_OF_THE_SOLVER: &str = "raddle-analyzer";

fn metadata() -> serde_json::Value {
    let result = common::output(
        Command::new(env!("CARGO"))
            .args([
                "metadata",
                "--format-version",
                "1",
                "--no-deps",
                "--offline",
            ])
            .current_dir(root()),
        common::LIMIT,
    );
    assert_eq!(result.status, 0, "{}", result.stderr);
    serde_json::from_str(&result.stdout).expect("cargo writes JSON")
}

/// Normal and build dependencies of every crate of the workspace.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let text = |value: &serde_json::Value| value.as_str().expect("a name").to_string();
    metadata()["packages"]
        .as_array()
        .expect("packages are listed")
        .iter()
        .map(|package| {
            let names = package["dependencies"]
                .as_array()
                .expect("dependencies are listed")
                .iter()
                .filter(|dependency| dependency["kind"] != "dev")
                .map(|dependency| text(&dependency["name"]))
                .collect();
            (text(&package["name"]), names)
        })
        .collect()
}

/// Every file of the checkout with one of these endings, build results left out.
fn files(endings: &[&str]) -> Vec<PathBuf> {
    fn walk(dir: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).expect("the folder can be read") {
            let path = entry.expect("it can be read").path();
            let name = path.file_name().expect("it has a name").to_string_lossy();
            if name.starts_with('.') || name == "target" {
                continue;
            }
            if path.is_dir() {
                walk(&path, endings, found);
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(root(), endings, &mut found);
    found.sort();
    found
}

#[test]
fn crates_import_only_what_the_table_allows() {
    let dependencies = dependencies();
    let known: Vec<&str> = IMPORTS.iter().map(|row| row.0).collect();
    assert_eq!(
        dependencies.len(),
        known.len(),
        "the table has a row for every crate: {:?}",
        dependencies.keys()
    );
    for (name, allowed) in IMPORTS {
        for used in &dependencies[*name] {
            let ours = known.contains(&used.as_str());
            assert!(
                !ours || allowed.contains(&used.as_str()),
                "{name} imports {used}"
            );
            assert!(
                used != "cadical" || *name == ONLY_USER_OF_THE_SOLVER,
                "{name} imports the solver"
            );
        }
    }
}

#[test]
fn one_module_alone_names_the_solver() {
    let users: Vec<PathBuf> = files(&[".rs"])
        .into_iter()
        .filter(|path| path.starts_with(root().join("analyzer/src")))
        .filter(|path| read(path).lines().any(mentions_the_solver))
        .collect();
    let folders: Vec<&Path> = users.iter().map(|path| module_of(path)).collect();
    assert!(!users.is_empty(), "the solver is used somewhere");
    assert!(
        folders.windows(2).all(|pair| pair[0] == pair[1]),
        "the solver is named in several modules: {users:?}"
    );
}

fn mentions_the_solver(line: &str) -> bool {
    let code = line.split("//").next().expect("a split has a first part");
    code.contains("cadical::") || code.contains("use cadical")
}

/// A module is a file, or a folder of that name beside it.
fn module_of(path: &Path) -> &Path {
    let parent = path.parent().expect("a file has a folder");
    if parent.ends_with("solve") {
        parent
    } else {
        path
    }
}

#[test]
fn the_analyzer_does_no_input_or_output() {
    for path in files(&[".rs"]) {
        if !path.starts_with(root().join("analyzer/src")) {
            continue;
        }
        let text = read(&path);
        let code = text.split("#[cfg(test)]").next().expect("a first part");
        for forbidden in [
            "std::fs",
            "std::process",
            "std::net",
            "std::env",
            "println!",
        ] {
            assert!(
                !code.contains(forbidden),
                "{} uses {forbidden}",
                path.display()
            );
        }
    }
}

#[test]
fn no_rust_file_is_over_800_lines() {
    for path in files(&[".rs"]) {
        let lines = read(&path).lines().count();
        assert!(lines <= 800, "{} has {lines} lines", path.display());
    }
}

#[test]
fn nothing_is_left_open() {
    // Spelled in two halves, so that this file does not find itself.
    let marks = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("todo", "!("),
        concat!("unimplemented", "!("),
        concat!("#[ig", "nore"),
    ];
    for path in files(&[".rs", ".c", ".cpp", ".cc", ".h", ".sh"]) {
        let text = read(&path);
        for mark in marks {
            assert!(!text.contains(mark), "{} has {mark}", path.display());
        }
    }
}

#[test]
fn every_folder_explains_itself() {
    for folder in [
        "protocol",
        "runtime",
        "scheduler",
        "compiler-plugin",
        "analyzer",
        "src",
        "tests",
        "examples",
    ] {
        let readme = root().join(folder).join("README.md");
        assert!(readme.exists(), "{} is missing", readme.display());
    }
}

#[test]
fn every_path_that_the_documents_name_exists() {
    let mut wrong = Vec::new();
    for document in files(&[".md"]) {
        let text = read(&document);
        for word in text.split('`').skip(1).step_by(2) {
            let looks_like_path = word.contains('/')
                && word
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c))
                && !word.starts_with('/')
                && !word.starts_with("target/")
                && !word.starts_with("../")
                && !word.ends_with("./dev");
            let folder = document.parent().expect("a file has a folder");
            let places = [
                root().join(word),
                folder.join(word),
                folder.join("src").join(word),
            ];
            if looks_like_path && !places.iter().any(|place| place.exists()) {
                wrong.push(format!("{}: `{word}`", document.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_readme_has_the_table_of_exit_codes() {
    let readme = read(&root().join("README.md"));
    let table = raddle_cli::exit::Exit::table();
    assert!(
        readme.contains(&table),
        "the README has another table than\n{table}"
    );
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
