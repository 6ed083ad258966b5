//! Real programs from Debian's sources with inputs that can be anything: how many paths `verify`
//! takes through them, how it ends, and how much more of the source the inputs that it finds cover
//! than the one that it was given. `./dev real` fetches the sources and writes `docs/real.md`.
//!
//! Each program is built twice: by `raddle cc --symbolic`, and by clang with counters of covered lines. The
//! inputs of all kept paths and findings are given to the second one, without raddle.
//!
//! `cargo bench --bench real -- [--time SECONDS] [--to FILE] [WORD…]`: so long for each case; only
//! those whose text has one of the words.

#[path = "../common/mod.rs"]
mod common;

use common::{LIMIT, Output, Run, empty, output, raddle, root};
use raddle_protocol::witness::{Input, Witness, decode};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const LLVM: &str = "/usr/lib/llvm-19/bin";
/// What counts lines; the counters do not care for the order of threads.
const COUNTERS: &str = "-fprofile-instr-generate -fcoverage-mapping -fprofile-update=atomic";
/// Exit statuses by which these programs say that an input is no good.
const REFUSALS: &str = "1,2,255";

/// A program from the sources of Debian.
struct Program {
    name: &'static str,
    /// Builds it in the folder of its source, with `$CC`, `$CXX` and `$FLAGS`; the program is then
    /// at `path`.
    build: &'static str,
    path: &'static str,
    cases: &'static [Case],
}

/// What can be anything, and how the program is called.
struct Case {
    symbolic: [&'static str; 2],
    args: &'static [&'static str],
    /// The file that it reads (none of these calls removes it), made by this program of a short
    /// text.
    made_by: &'static [&'static str],
}

const PLAIN: &[&str] = &["cat"];

const PROGRAMS: [Program; 2] = [
    Program {
        name: "pbzip2",
        build: "make pbzip2 CXX=\"$CXX\" CXXFLAGS=\"$FLAGS -std=gnu++98\"",
        path: "pbzip2",
        cases: &[
            Case {
                symbolic: ["--symbolic-arg", "2:3"],
                args: &["-ck", "-v", "input"],
                made_by: PLAIN,
            },
            Case {
                symbolic: ["--symbolic-arg", "2:3"],
                args: &["-cdk", "-v", "input"],
                made_by: &["bzip2", "-c"],
            },
        ],
    },
    Program {
        name: "xz-utils",
        build: "./configure --disable-shared --disable-nls --disable-doc --disable-scripts \
                --disable-xzdec --disable-lzmadec --disable-lzmainfo CC=\"$CC\" CFLAGS=\"$FLAGS\" \
                && make -j2",
        path: "src/xz/xz",
        cases: &[
            Case {
                symbolic: ["--symbolic-arg", "2:4"],
                args: &["-ck", "-T2", "input"],
                made_by: PLAIN,
            },
            Case {
                symbolic: ["--symbolic-file", "input:16"],
                args: &["-cd", "--format=lzma", "input"],
                made_by: &["xz", "-c", "--format=lzma"],
            },
            Case {
                symbolic: ["--symbolic-file", "input"],
                args: &["-cdT2", "input"],
                made_by: &["xz", "-c"],
            },
        ],
    },
];

/// The two builds of a program.
struct Builds {
    hooked: PathBuf,
    counted: PathBuf,
}

fn must(command: &mut Command) -> Output {
    let done = output(command, LIMIT);
    assert_eq!(done.status, 0, "{command:?}\n{}", done.all());
    done
}

impl Program {
    fn build(&self, with: &str, cc: &str, cxx: &str, flags: &str) -> PathBuf {
        let source = root().join(".deps").join(self.name);
        assert!(
            source.exists(),
            "{} is missing: `./dev real` fetches it",
            source.display()
        );
        let folder = empty(&format!("real-{}-{with}", self.name)).join("build");
        must(Command::new("cp").arg("-rLp").arg(&source).arg(&folder));
        let mut shell = Command::new("sh");
        shell.args(["-ec", self.build]).current_dir(&folder);
        must(shell.env("CC", cc).env("CXX", cxx).env("FLAGS", flags));
        folder.join(self.path)
    }

    fn builds(&self) -> Builds {
        let raddle = raddle().display();
        let hooked = self.build(
            "hooked",
            &format!("{raddle} cc --symbolic"),
            &format!("{raddle} c++ --symbolic"),
            "-g -O1",
        );
        let counted = self.build("counted", "clang-19", "clang++-19", COUNTERS);
        Builds { hooked, counted }
    }
}

/// Sums of `llvm-cov` over these profiles.
fn summary(counted: &Path, profiles: &[PathBuf]) -> serde_json::Value {
    let merged = counted.with_extension("merged");
    let list = counted.with_extension("list");
    let mut text = String::new();
    for profile in profiles {
        let _ = writeln!(text, "{}", profile.display());
    }
    std::fs::write(&list, text).expect("the list can be written");
    let mut merge = Command::new(format!("{LLVM}/llvm-profdata"));
    let mut export = Command::new(format!("{LLVM}/llvm-cov"));
    export.args(["export", "-summary-only"]).arg(counted);
    must(
        merge
            .args(["merge", "-sparse", "-f"])
            .arg(&list)
            .arg("-o")
            .arg(&merged),
    );
    export.arg("-instr-profile").arg(&merged);
    let json: serde_json::Value =
        serde_json::from_str(&must(&mut export).stdout).expect("llvm-cov writes JSON");
    json["data"][0]["totals"].clone()
}

/// One call of a program.
struct Call {
    args: Vec<Vec<u8>>,
    file: Option<Vec<u8>>,
}

impl Case {
    fn text(&self, program: &Program) -> String {
        let [option, value] = self.symbolic;
        format!(
            "{option} {value} -- {} {}",
            program.name,
            self.args.join(" ")
        )
    }

    /// Makes the file that the program reads.
    fn prepare(&self, dir: &Path) {
        let text = dir.join("text");
        std::fs::write(&text, "a text, a text, a short text\n").expect("it can be written");
        let made = Command::new(self.made_by[0])
            .args(&self.made_by[1..])
            .arg(&text)
            .output();
        let made = made.expect("the program that makes the file is there");
        std::fs::write(dir.join("input"), made.stdout).expect("it can be written");
    }

    /// The call that repeats what a witness says of the inputs.
    fn call(&self, inputs: &[Input]) -> Call {
        let mut call = Call {
            args: self.args.iter().map(|a| a.as_bytes().to_vec()).collect(),
            file: None,
        };
        for input in inputs {
            let name = input.name.as_deref().unwrap_or_default();
            let bytes = input.bytes.0.clone();
            match name
                .strip_prefix("argument ")
                .and_then(|n| n.parse::<usize>().ok())
            {
                Some(n) => {
                    let text = bytes.split(|&b| b == 0).next().unwrap_or_default();
                    call.args[n - 1] = text.to_vec();
                }
                None => call.file = Some(bytes),
            }
        }
        call
    }
}

impl Call {
    /// Runs the counted program; its profile, if it wrote one.
    fn profile(&self, counted: &Path, dir: &Path, n: usize) -> Option<PathBuf> {
        let original = std::fs::read(dir.join("input")).expect("it was made");
        let place = dir.join("native");
        let _ = std::fs::remove_dir_all(&place);
        std::fs::create_dir_all(&place).expect("the folder can be made");
        let content = self.file.as_ref().unwrap_or(&original);
        std::fs::write(place.join("input"), content).expect("it can be written");
        let profile = dir.join(format!("{n}.profraw"));
        // A limit of the shell's: what an input makes of a program may take for ever.
        let mut command = Command::new("timeout");
        command.args(["-s", "KILL", "10"]).arg(counted);
        command.args(self.args.iter().map(|arg| OsStr::from_bytes(arg)));
        output(
            command
                .current_dir(&place)
                .env("LLVM_PROFILE_FILE", &profile),
            LIMIT,
        );
        profile.exists().then_some(profile)
    }
}

/// Witnesses in a folder.
fn kept(dir: &Path) -> Vec<Witness> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    let read = |file: &PathBuf| decode(&std::fs::read(file).ok()?).ok();
    files.iter().filter_map(read).collect()
}

fn explore(case: &Case, builds: &Builds, dir: &Path, seconds: &str) -> (Run, PathBuf) {
    let tests = dir.join("tests");
    let _ = std::fs::remove_dir_all(&tests);
    let (time, [option, value]) = (format!("{seconds}s"), case.symbolic);
    let value = value.replace("input", &dir.join("input").to_string_lossy());
    let keep = tests.to_str().expect("text");
    let options = [
        "verify",
        "--keep-going",
        "--no-shrink",
        "--accept-exit",
        REFUSALS,
        "--time",
        &time,
        "--keep",
        keep,
        option,
        &value,
    ];
    let input = dir.join("input");
    let args: Vec<&str> = case
        .args
        .iter()
        .map(|&arg| match arg {
            "input" => input.to_str().expect("text"),
            arg => arg,
        })
        .collect();
    (common::run(&options, &builds.hooked, &args), tests)
}

fn row(program: &Program, case: &Case, builds: &Builds, seconds: &str) -> String {
    let dir = empty("real-case");
    case.prepare(&dir);
    let (run, tests) = explore(case, builds, &dir, seconds);
    let witnesses = kept(&tests);
    let calls = witnesses.iter().map(|w| case.call(&w.recipe.inputs));
    let covered = |profiles: &[PathBuf]| {
        let sums = summary(&builds.counted, profiles);
        let sum = |what: &str, of: &str| sums[what][of].as_u64().unwrap_or(0);
        [
            ("lines", "covered"),
            ("branches", "covered"),
            ("lines", "count"),
        ]
        .map(|(w, o)| sum(w, o))
    };
    let plain = case.call(&[]).profile(&builds.counted, &dir, 0);
    let plain: Vec<PathBuf> = plain.into_iter().collect();
    let profiles = calls
        .enumerate()
        .filter_map(|(n, c)| c.profile(&builds.counted, &dir, n + 1));
    let all: Vec<PathBuf> = plain.iter().cloned().chain(profiles).collect();
    let ([lines, branches, count], [more_lines, more_branches, _]) =
        (covered(&plain), covered(&all));
    let summary = &run.summary;
    let found: BTreeSet<&str> = summary.findings.iter().map(|f| &*f.message).collect();
    let outcomes = summary
        .outcomes
        .iter()
        .map(|(end, n)| format!("{end}: {n}"));
    format!(
        "| `{}` | {} | {} | {} | {} | {:.0} | {:.0} | {} | {} | {lines} → {more_lines} | \
         {branches} → {more_branches} | {} |\n",
        case.text(program),
        count,
        summary.verdict,
        summary.executions,
        summary.local_paths.unwrap_or(0),
        summary.seconds,
        summary.solver_seconds,
        outcomes.collect::<Vec<_>>().join(", "),
        witnesses.len(),
        match found.is_empty() {
            true => "none".to_string(),
            false => found.into_iter().collect::<Vec<_>>().join("; "),
        },
    )
}

const HEAD: &str = "| call | lines with code | verdict | executions | local paths | seconds | in the \
                    solver | ends | tests kept | lines covered | branches covered | findings |\n\
                    |---|---|---|---|---|---|---|---|---|---|---|---|\n";

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|a| a != "--bench");
    let (mut seconds, mut to, mut words) = ("120".to_string(), None, Vec::new());
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--time" => seconds = arguments.next().expect("--time has a value"),
            "--to" => to = arguments.next(),
            _ => words.push(argument),
        }
    }
    let mut text = format!(
        "# Real programs\n\nWritten by `./dev real`: programs of Debian's sources, built by `raddle \
         cc --symbolic`, under `verify` with one part of their input free, {seconds} s each. An exit status of \
         {REFUSALS} is accepted. Lines and branches are those that the calls of the first column \
         cover natively, then together with the inputs of all tests that were kept.\n\n{HEAD}"
    );
    print!("{HEAD}");
    for program in &PROGRAMS {
        let wanted = |case: &&Case| {
            let text = case.text(program);
            words.is_empty() || words.iter().any(|w| text.contains(w.as_str()))
        };
        let cases: Vec<&Case> = program.cases.iter().filter(wanted).collect();
        if cases.is_empty() {
            continue;
        }
        let builds = program.builds();
        for case in cases {
            let row = row(program, case, &builds, &seconds);
            print!("{row}");
            text.push_str(&row);
        }
    }
    if let Some(path) = to {
        std::fs::write(&path, text).expect("the table can be written");
    }
}
