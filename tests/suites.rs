//! Is a folder of programs with a table held against raddle as it says (`suites/`, `./dev suites`)?

mod common;
#[path = "suites/mod.rs"]
mod suites;

use common::{in_parallel, root};
use suites::{Row, Said, ask, read};

#[test]
fn lines_of_tables() {
    let row = |flags: &[&str], fails, count| Row {
        file: "a.c".into(),
        flags: flags.iter().map(|flag| flag.to_string()).collect(),
        fails,
        count,
    };
    let table = [
        ("", Ok(None)),
        ("  # a word", Ok(None)),
        ("a.c | | - | -", Ok(Some(row(&[], None, None)))),
        (
            "a.c|-DN=3  -O0|ok|12",
            Ok(Some(row(&["-DN=3", "-O0"], Some(false), Some(12)))),
        ),
        (
            "a.c | -x | fails | -",
            Ok(Some(row(&["-x"], Some(true), None))),
        ),
        ("a.c | ok | 3", Err(())),
        ("a.c | | right | 3", Err(())),
        ("a.c | | ok | many", Err(())),
    ];
    for (line, expected) in table {
        assert_eq!(Row::parse(line).map_err(|_| ()), expected, "{line}");
    }
}

/// Both searches decide all programs of a small suite as its table says, and `dpor` needs what it says.
#[test]
fn the_sample_comes_out_as_its_table_says() {
    let folder = root().join("tests/suites/sample");
    let rows = read(&folder).expect("a table");
    assert!(rows.len() > 5, "{rows:?}");
    in_parallel(&rows, |row| {
        let program = row.build(&folder, true)?;
        for verify in [false, true] {
            let answer = ask(&program, verify, 60);
            let decided = matches!(answer.said, Said::Decided(_));
            if !decided || row.is_contradicted(&answer) {
                return Err(format!("{row:?} verify {verify}: {answer:?}"));
            }
            let expected = row.count.filter(|_| !verify && row.fails == Some(false));
            if expected.is_some_and(|count| count != answer.executions) {
                return Err(format!("{row:?}: {answer:?}"));
            }
        }
        Ok(())
    });
}
