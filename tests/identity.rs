//! Is one defect one finding, in all interleavings, built anew and in another directory? Are two
//! defects two, whatever of a program tells them apart?

mod common;

use common::{LIMIT, in_parallel, output, raddle, scratch};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Compilers with flags, as the shell takes them.
const BUILDS: [(&str, &[&str]); 5] = [
    ("raddle", &["cc", "-g", "-O0"]),
    ("gcc", &["-g", "-O2"]),
    ("gcc", &["-O0"]),
    ("gcc", &["-O1", "-s"]),
    ("clang-19", &["-gline-tables-only", "-O1"]),
];
/// What `HOW` and `SAY` of the program may be.
const ENDS: [(u8, u8); 11] = [
    (0, 0),
    (0, 1),
    (1, 0),
    (2, 0),
    (3, 0),
    (4, 0),
    (5, 0),
    (6, 0),
    (7, 0),
    (8, 0),
    (9, 0),
];

/// Builds `tests/identity/defects.c` in a directory of its own.
fn build(dir: &Path, build: (&str, &[&str]), defines: &[String]) {
    std::fs::create_dir_all(dir).expect("the directory can be made");
    let source = common::root().join("tests/identity/defects.c");
    std::fs::copy(source, dir.join("defects.c")).expect("the source can be copied");
    let compiler = match build.0 {
        "raddle" => raddle(),
        other => Path::new(other),
    };
    let mut command = Command::new(compiler);
    let file = dir.join("defects.c");
    command.current_dir(dir).args(build.1).args(defines);
    command.arg("-pthread").arg(file).args(["-o", "defects"]);
    let built = output(&mut command, LIMIT);
    assert_eq!(built.status, 0, "{command:?}: {}", built.all());
}

/// The fingerprints that a search finds.
fn fingerprints(dir: &Path, options: &[&str]) -> BTreeSet<String> {
    let mut command = Command::new(raddle());
    command.current_dir(dir).args(["run", "-q", "--keep-going"]);
    command.args([
        "-n",
        "80",
        "--no-shrink",
        "--races",
        "off",
        "--json",
        "summary.json",
    ]);
    let run = output(command.args(options).args(["--", "./defects"]), LIMIT);
    let text = std::fs::read_to_string(dir.join("summary.json"));
    let text = text.unwrap_or_else(|error| panic!("{command:?}: {error}: {}", run.all()));
    let summary: common::Summary = serde_json::from_str(&text).expect("a summary");
    let findings = summary.findings.into_iter();
    findings.map(|finding| finding.fingerprint).collect()
}

#[test]
fn one_defect_is_one_finding_and_two_are_two() {
    let root = common::empty("identity");
    let mut cases = Vec::new();
    for (n, how_built) in BUILDS.into_iter().enumerate() {
        for (how, say) in ENDS {
            cases.push((n, how_built, how, say));
        }
    }
    in_parallel(&cases, |&(n, how_built, how, say)| {
        let case = format!("{how_built:?} -DHOW={how} -DSAY={say}");
        let found = |place: &str, bug: u8| {
            let dir = root.join(format!("{n}-{how}-{say}-{bug}{place}"));
            let defines = [("HOW", how), ("SAY", say), ("BUG", bug)];
            let defines = defines.map(|(name, value)| format!("-D{name}={value}"));
            build(&dir, how_built, &defines);
            fingerprints(&dir, &["--policy", "random"])
        };
        let (one, two) = (found("", 1), found("", 2));
        let elsewhere = found("/some/where/else", 1);
        if one.len() != 1 || two.len() != 1 {
            return Err(format!("{case}: {one:?} {two:?} are not one each"));
        }
        if one == two {
            return Err(format!("{case}: two defects have one name"));
        }
        if one != elsewhere {
            return Err(format!("{case}: the name depends on the directory"));
        }
        // Where the code of a defect is the same in both programs, so is its name.
        let both = found("", 3);
        let lines = how_built.1.contains(&"-g") && how_built.1.contains(&"-O0");
        let expected = &one | &two;
        match how {
            _ if both.len() != 2 => Err(format!("{case}: {both:?} are not two")),
            _ if lines && both != expected => Err(format!("{case}: {both:?}, not {expected:?}")),
            _ => Ok(()),
        }
    });
}

#[test]
fn a_defect_that_the_corpus_does_not_know_is_new() {
    let dir = scratch("identity-corpus");
    let _ = std::fs::remove_dir_all(dir.join("corpus"));
    let run = |bug: u8, status: i32| {
        let defines = [
            "-DHOW=0".to_string(),
            "-DSAY=1".to_string(),
            format!("-DBUG={bug}"),
        ];
        build(&dir, ("gcc", &["-g", "-O1"]), &defines);
        let mut command = Command::new(raddle());
        command
            .current_dir(&dir)
            .args(["run", "-q", "--keep-going", "-n", "100", "--new-only"]);
        let got = output(
            command.args(["--corpus", "corpus", "--", "./defects"]),
            LIMIT,
        );
        assert_eq!(got.status, status, "-DBUG={bug}: {}", got.all());
    };
    run(1, 66);
    run(2, 66);
    run(3, 0);
}
