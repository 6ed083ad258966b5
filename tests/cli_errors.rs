//! Bad input: one line that names the cause and the way out, and the documented exit code.

mod common;

use common::{Compiler, LIMIT, Output, compile, empty, output, raddle, scratch};
use raddle_cli::exit::Exit;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A command line, what its error must contain, and its exit code.
struct Case {
    args: Vec<String>,
    says: &'static [&'static str],
    exit: Exit,
}

fn case(args: &[&str], says: &'static [&'static str], exit: Exit) -> Case {
    Case {
        args: args.iter().map(|a| a.to_string()).collect(),
        says,
        exit,
    }
}

fn command(dir: &Path, args: &[String]) -> Command {
    let mut command = Command::new(raddle());
    command.current_dir(dir).args(args);
    command
}

fn check(dir: &Path, cases: &[Case]) {
    let mut wrong = Vec::new();
    for case in cases {
        let got = output(&mut command(dir, &case.args), LIMIT);
        if let Err(why) = is_as_expected(&got, case) {
            wrong.push(format!(
                "raddle {}: {why}\n{}",
                case.args.join(" "),
                got.all()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn is_as_expected(got: &Output, case: &Case) -> Result<(), String> {
    let code = i32::from(case.exit.code());
    if got.status != code {
        return Err(format!("exit code {} instead of {code}", got.status));
    }
    let lines: Vec<&str> = got.stderr.lines().collect();
    let [line] = lines[..] else {
        return Err(format!("{} lines instead of one", lines.len()));
    };
    if !line.starts_with("raddle: error: ") {
        return Err("the line does not begin as an error".to_string());
    }
    match case.says.iter().find(|part| !line.contains(**part)) {
        Some(missing) => Err(format!("`{missing}` is missing")),
        None => Ok(()),
    }
}

fn with_mode(path: &Path, content: &[u8], mode: u32) {
    std::fs::write(path, content).expect("the file can be written");
    let mode = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(path, mode).expect("its mode can be set");
}

#[test]
fn programs_that_cannot_be_run() {
    let dir = scratch("unsuitable");
    let good = compile(Compiler::Gcc, "examples/flaky.c", &[]);
    let elf = std::fs::read(&good).expect("the program can be read");
    let mut bits32 = elf.clone();
    bits32[4] = 1;
    let mut machine = elf.clone();
    machine[18..20].copy_from_slice(&183u16.to_le_bytes());
    with_mode(&dir.join("bits32"), &bits32, 0o755);
    with_mode(&dir.join("other_machine"), &machine, 0o755);
    with_mode(&dir.join("cut_off"), &elf[..40], 0o755);
    with_mode(&dir.join("set_uid"), &elf, 0o4755);
    with_mode(&dir.join("not_executable"), &elf, 0o644);
    let mut without_linker = elf.clone();
    let linker = b"/lib64/ld-linux";
    let named = elf.windows(linker.len()).position(|text| text == linker);
    without_linker[named.expect("a dynamic linker") + 1] = b'x';
    with_mode(&dir.join("without_linker"), &without_linker, 0o755);
    with_mode(&dir.join("script"), b"#!/bin/sh -e\nexit 0\n", 0o755);
    with_mode(&dir.join("text"), b"hello\n", 0o755);
    let other = compile(Compiler::RaddleCc, "examples/flaky.c", &[]);
    let mut other = std::fs::read(other).expect("the program can be read");
    let version = raddle_protocol::VERSION.to_le_bytes();
    let places = (0..other.len()).step_by(version.len());
    let marks: Vec<usize> = places
        .filter(|&at| other[at..].starts_with(&version))
        .collect();
    assert!(!marks.is_empty(), "no mark of raddle cc");
    marks.iter().for_each(|&at| other[at] ^= 1);
    with_mode(&dir.join("of_another_version"), &other, 0o755);
    let fixed = compile(Compiler::Gcc, "examples/flaky.c", &["-static"]);
    let fixed = fixed.to_str().expect("a path of ours is text");
    let good = good.to_str().expect("a path of ours is text");
    let unsuitable = Exit::Unsupported;
    check(
        &dir,
        &[
            case(
                &["run", "--", fixed],
                &["statically linked", "-static"],
                unsuitable,
            ),
            case(
                &["run", "--", "./script"],
                &["script for /bin/sh", "raddle run"],
                unsuitable,
            ),
            case(
                &["run", "--", "./missing"],
                &["./missing", "no such program"],
                unsuitable,
            ),
            case(&["run", "--", "no-such-command"], &["in PATH"], unsuitable),
            case(
                &["run", "--", "./not_executable"],
                &["not executable", "chmod"],
                unsuitable,
            ),
            case(
                &["run", "--", "./without_linker"],
                &["dynamic linker /xib64/", "does not exist"],
                unsuitable,
            ),
            case(&["run", "--", "./bits32"], &["32-bit", "-m64"], unsuitable),
            case(
                &["run", "--", "./other_machine"],
                &["another processor"],
                unsuitable,
            ),
            case(
                &["run", "--", "./cut_off"],
                &["not an ELF program"],
                unsuitable,
            ),
            case(
                &["run", "--", "./set_uid"],
                &["set-uid", "chmod ug-s"],
                unsuitable,
            ),
            case(
                &["run", "--", "./text"],
                &["not an ELF program"],
                unsuitable,
            ),
            case(&["run", "--", "./"], &["not a regular file"], unsuitable),
            case(
                &["run", "--", "./of_another_version"],
                &["another version of raddle cc", "build it anew"],
                unsuitable,
            ),
            case(
                &["verify", "--", good],
                &["not built with raddle cc", "CC="],
                unsuitable,
            ),
        ],
    );
}

/// What is to be shown or passed on is not lost in silence; a finding is one all the same.
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let dir = scratch("unwritten");
    let (witness, _) = witness(&dir);
    let witness = witness.to_string_lossy();
    let (good, found) = (Exit::InputOutput, Exit::Finding);
    let table: [(&[&str], Exit); 4] = [
        (&["run", "-q", "-n", "1", "--", "/bin/echo", "hi"], good),
        (&["show", &witness], good),
        (&["replay", "-q", "--trust", &witness], found),
        (
            &[
                "run",
                "-q",
                "-n",
                "1",
                "--",
                "/bin/sh",
                "-c",
                "echo hi; exit 3",
            ],
            found,
        ),
    ];
    for (args, exit) in table {
        let args: Vec<String> = args.iter().map(|arg| arg.to_string()).collect();
        let full = std::fs::File::options().write(true).open("/dev/full");
        let mut command = command(&dir, &args);
        command
            .stdout(full.expect("Linux has it"))
            .stderr(Stdio::piped());
        let got = command.output().expect("raddle starts");
        let text = String::from_utf8_lossy(&got.stderr);
        let told = text.contains("cannot write standard output") || args[0] == "replay";
        let code = Some(i32::from(exit.code()));
        assert!(
            told && got.status.code() == code,
            "{args:?}: {:?} {text}",
            got.status
        );
    }
}

#[test]
fn wrong_usage() {
    let dir = scratch("usage");
    let usage = Exit::Usage;
    check(
        &dir,
        &[
            case(
                &["show", "a", "b"],
                &["unexpected argument 'b'", "raddle help"],
                usage,
            ),
            case(
                &["run", "--keep-env", "A=B", "--", "/bin/true"],
                &["no name of a variable"],
                usage,
            ),
            case(
                &["run", "--time", "99999999999999999999h", "--", "x"],
                &["no time is as long"],
                usage,
            ),
            case(
                &["verify", "--symbolic-stdin", "3", "--stdin", "f", "--", "x"],
                &["cannot be used with"],
                usage,
            ),
            case(
                &["run", "-n", "0", "--", "x"],
                &["-n 0", "at least 1"],
                usage,
            ),
            case(
                &["run", "-j", "0", "--", "x"],
                &["-j 0", "at least 1"],
                usage,
            ),
            case(&["run", "-n", "-5", "--", "x"], &["-5"], usage),
            case(
                &["run", "--policy", "luck", "--", "x"],
                &["`luck`", "pct:D"],
                usage,
            ),
            case(
                &["run", "--policy", "pct:0", "--", "x"],
                &["pct:0", "pct:3"],
                usage,
            ),
            case(
                &["run", "--time", "soon", "--", "x"],
                &["soon", "30s"],
                usage,
            ),
            case(
                &["run", "--threads", "green", "--", "x"],
                &["green", "fiber"],
                usage,
            ),
            case(&["run"], &["required", "raddle help"], usage),
            case(&["run", "x"], &["x", "write `--` before"], usage),
            case(
                &["run", "--frobnicate", "--", "x"],
                &["--frobnicate"],
                usage,
            ),
            case(&["dance"], &["dance"], usage),
            case(&["replay"], &["required"], usage),
            case(&["replay", "w", "-n", "0"], &["-n 0"], usage),
            case(&["replay", "w", "--", "-batch"], &["--gdb"], usage),
            case(
                &["verify", "--strategy", "guess", "--", "x"],
                &["guess", "frontier"],
                usage,
            ),
        ],
    );
}

/// A witness of the example that fails.
fn witness(dir: &Path) -> (PathBuf, String) {
    let program = compile(Compiler::Gcc, "examples/flaky.c", &[]);
    let file = dir.join("good.raddle");
    let args = ["run", "-q", "-n", "1000", "-o"].map(String::from);
    let mut command = command(dir, &args);
    command.arg(&file).arg("--").arg(&program);
    let found = output(&mut command, LIMIT);
    assert_eq!(found.status, 66, "{}", found.all());
    let text = std::fs::read_to_string(&file).expect("the witness was written");
    (file, text)
}

#[test]
fn witnesses_that_cannot_be_used() {
    let dir = scratch("witnesses");
    let (_, text) = witness(&dir);
    let put = |name: &str, content: &[u8]| {
        std::fs::write(dir.join(name), content).expect("the file can be written");
    };
    put("truncated", &text.as_bytes()[..text.len() / 2]);
    put(
        "future",
        text.replacen("witness 2\n", "witness 99\n", 1).as_bytes(),
    );
    put(
        "corrupt",
        text.replacen("assertion", "assertioN", 1).as_bytes(),
    );
    put("elf", b"\x7fELF");
    put("empty", b"");
    let other = compile(Compiler::Gcc, "examples/flaky.c", &["-DFIXED"]);
    let other_name = dir.join("another-program");
    std::fs::copy(&other, &other_name).expect("the program can be copied");
    let bad = Exit::BadWitness;
    for command in ["replay", "show"] {
        check(
            &dir,
            &[
                case(&[command, "truncated"], &["truncated", "again"], bad),
                case(&[command, "future"], &["version 99", "use the raddle"], bad),
                case(&[command, "corrupt"], &["corrupt", "checksum"], bad),
                case(&[command, "elf"], &["not a raddle witness"], bad),
                case(&[command, "empty"], &["not a raddle witness"], bad),
                case(
                    &[command, "none"],
                    &["none", "No such file"],
                    Exit::InputOutput,
                ),
                case(&[command, "."], &["cannot read"], Exit::InputOutput),
            ],
        );
    }
    let program = ["replay", "good.raddle", "--program", "./another-program"];
    let gone = ["replay", "good.raddle", "--program", "./gone"];
    check(
        &dir,
        &[
            case(&program, &["another program", "--program"], bad),
            case(&gone, &["gone", "no such program"], Exit::Unsupported),
        ],
    );
}

#[test]
fn a_debugger_that_is_missing_is_named() {
    let dir = scratch("debugger");
    witness(&dir);
    let args = ["replay", "good.raddle", "--gdb", "--trust"].map(String::from);
    let got = output(
        command(&dir, &args).env("RADDLE_GDB", "/nonexistent/gdb"),
        LIMIT,
    );
    let case = case(
        &[],
        &["/nonexistent/gdb is not installed", "apt-get"],
        Exit::MissingTool,
    );
    assert_eq!(is_as_expected(&got, &case), Ok(()), "{}", got.all());
}

#[test]
fn without_space_the_finding_is_still_told() {
    let dir = scratch("full");
    let program = compile(Compiler::Gcc, "examples/flaky.c", &[]);
    let program = program.to_str().expect("a path of ours is text");
    for options in [["-o", "/dev/full"], ["--json", "/dev/full"]] {
        let args = [&["run"], &options[..], &["--", program]].concat();
        let case = case(
            &args,
            &["/dev/full", "No space left", "free some space"],
            Exit::InputOutput,
        );
        let mut got = output(&mut command(&dir, &case.args), LIMIT);
        assert!(got.stderr.contains("assertion in flaky"), "{}", got.all());
        // The error comes last.
        let last = got.stderr.lines().last().unwrap_or_default().to_string();
        got.stderr = last;
        assert_eq!(is_as_expected(&got, &case), Ok(()), "{}", got.all());
        assert!(!Path::new("/dev/full").is_file(), "the device was replaced");
    }
}

#[test]
fn files_without_an_end_are_not_read_to_it() {
    let dir = scratch("endless");
    let program = compile(Compiler::Gcc, "examples/flaky.c", &[]);
    let program = program.to_str().expect("a path of ours is text");
    let file = Exit::InputOutput;
    let endless = |option: &str| {
        let args = ["run", "-q", option, "/dev/zero", "--", program];
        case(&args, &["/dev/zero", "more than"], file)
    };
    let steps = compile(Compiler::RaddleCc, "examples/flaky.c", &[]);
    let steps = steps.to_str().expect("a path of ours is text");
    let verify = ["verify", "-q", "--suppressions", "/dev/zero", "--", steps];
    check(
        &dir,
        &[
            endless("--suppressions"),
            endless("--expect-output"),
            case(&verify, &["/dev/zero", "more than"], file),
            case(&["show", "/dev/zero"], &["/dev/zero"], Exit::BadWitness),
            case(&["replay", "/dev/zero"], &["/dev/zero"], Exit::BadWitness),
            case(&["coverage", "/dev/zero"], &["/dev/zero"], file),
        ],
    );
}

/// So much more than a witness holds.
#[test]
fn standard_input_that_does_not_end_is_not_kept() {
    let dir = scratch("endless-input");
    let program = compile(Compiler::Gcc, "examples/flaky.c", &[]);
    let mut piped = Command::new("sh");
    piped.args(["-c", "yes | \"$0\" run -q -- \"$1\""]);
    piped.arg(raddle()).arg(program).current_dir(&dir);
    let got = output(&mut piped, LIMIT);
    let case = case(
        &[],
        &["standard input has more than", "read a file by name"],
        Exit::InputOutput,
    );
    assert_eq!(is_as_expected(&got, &case), Ok(()), "{}", got.all());
}

/// A pipe that nobody writes to is waited for a while, and not where raddle is asked to end.
#[test]
fn pipes_that_give_nothing_are_not_waited_for_without_end() {
    // Under `nohup`, the commands would ignore it as well.
    // SAFETY: no handler is installed.
    unsafe { libc::signal(libc::SIGHUP, libc::SIG_DFL) };
    let dir = empty("pipes");
    let made = Command::new("mkfifo").arg(dir.join("pipe")).status();
    assert!(made.is_ok_and(|status| status.success()));
    let program = compile(Compiler::Gcc, "examples/flaky.c", &[]);
    let program = program.to_str().expect("a path of ours is text");
    let of_run = |option| ["run", "-q", option, "pipe", "--", program];
    let table = [
        of_run("--suppressions").to_vec(),
        of_run("--expect-output").to_vec(),
        of_run("--stdin").to_vec(),
        vec!["show", "pipe"],
        vec!["replay", "pipe"],
    ];
    for (n, args) in table.iter().enumerate() {
        let args: Vec<String> = args.iter().map(|arg| arg.to_string()).collect();
        let mut child = command(&dir, &args);
        child.stdin(Stdio::null()).stderr(Stdio::null());
        let mut child = child.spawn().expect("raddle starts");
        std::thread::sleep(Duration::from_millis(500));
        let signal = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP][n % 3];
        // SAFETY: a number of a child that has not been waited for, so it is nobody else's.
        unsafe { libc::kill(child.id() as i32, signal) };
        let status = child.wait().expect("a child");
        let interrupted = i32::from(Exit::Interrupted.code());
        assert_eq!(status.code(), Some(interrupted), "{args:?}");
    }
    let options = [
        ("run", "--suppressions"),
        ("run", "--expect-output"),
        ("run", "--stdin"),
        ("verify", "--stdin"),
    ];
    // Nothing comes from it, or no end.
    for (endless, (command_name, option)) in [false, true]
        .into_iter()
        .flat_map(|endless| options.map(|option| (endless, option)))
    {
        let mut writer = endless.then(|| {
            let mut writer = Command::new("sh");
            writer.args(["-c", "exec yes >pipe"]).current_dir(&dir);
            writer.spawn().expect("a shell starts")
        });
        let args = [command_name, "--time", "1s", option, "pipe", "--", program];
        let got = output(&mut command(&dir, &args.map(String::from)), LIMIT);
        if let Some(writer) = &mut writer {
            writer.kill().expect("a child can be killed");
            writer.wait().expect("a child");
        }
        // Where more is read than such a file may have, that is told before the time is up.
        let too_long = got.status == i32::from(Exit::InputOutput.code());
        let late = got.status == i32::from(Exit::WithinBounds.code())
            && got.stderr.contains("bound: the time was up");
        assert!(late || endless && too_long, "{args:?}: {got:?}");
    }
    let file = Exit::InputOutput;
    let verify = ["verify", "--symbolic-file", "pipe", "--", program];
    std::fs::create_dir(dir.join("corpus")).expect("a directory can be made");
    let named = Command::new("mkfifo")
        .arg(dir.join("corpus/corpus.db"))
        .status();
    assert!(named.is_ok_and(|status| status.success()));
    check(
        &dir,
        &[
            case(&["show", "pipe"], &["nothing came from it within"], file),
            case(&verify, &["pipe", "no regular file"], file),
            case(&of_run("--corpus"), &["pipe", "Not a directory"], file),
            case(
                &["run", "--corpus", "corpus", "--", program],
                &["corpus.db", "no regular file"],
                file,
            ),
        ],
    );
}

#[test]
fn places_that_cannot_be_written_are_named_before_anything_runs() {
    let dir = empty("places");
    let program = compile(Compiler::Gcc, "tests/hostile/hang.c", &[]);
    let program = program.to_str().expect("a path of ours is text");
    let (file, usage) = (Exit::InputOutput, Exit::Usage);
    let run = |options: &[&'static str], says, exit| {
        // It would hang.
        let args = [&["run", "-n", "1"], options, &["--", program, "compute"]].concat();
        case(&args, says, exit)
    };
    check(
        &dir,
        &[
            run(&["--json", "/proc/new"], &["/proc/new"], file),
            run(&["--junit", "."], &["Is a directory"], file),
            run(&["--sarif", "/dev/null/new"], &["/dev/null/new"], file),
            run(&["-o", "/proc/new"], &["/proc/new"], file),
            run(&["--witness-dir", "/proc/new"], &["/proc/new"], file),
            run(&["--corpus", "/proc/new"], &["/proc/new"], file),
            run(&["--json", "-"], &["--json -", "/dev/stderr"], usage),
            run(
                &["--json", "a", "--sarif", "./a"],
                &["--json and for --sarif"],
                usage,
            ),
            case(
                &["verify", "--keep", "/proc/new", "--", program],
                &["/proc/new"],
                file,
            ),
            case(
                &["replay", "--json", "w", "w"],
                &["the witness and for --json"],
                usage,
            ),
        ],
    );
    let left = std::fs::read_dir(&dir).expect("it is there").count();
    assert_eq!(left, 0, "something was made");
}

#[test]
fn limits_of_files_are_named() {
    let dir = scratch("limited");
    let program = compile(Compiler::Gcc, "examples/flaky.c", &[]);
    let size: &[&str] = &["size of files", "ulimit -f"];
    let open: &[&str] = &["Too many open files", "ulimit -n"];
    let sizes = [0, 1, 100].map(|blocks| (format!("-f {blocks}"), size));
    // How many are open when raddle starts is the shell's affair: each of raddle's own comes to be one too
    // many.
    let files = (6..=20).map(|files| (format!("-n {files}"), open));
    for (limit, named) in files.chain(sizes) {
        let mut shell = Command::new("bash");
        let script = format!("ulimit {limit}; exec \"$@\"");
        shell
            .current_dir(&dir)
            .args(["-c", &script, "bash"])
            .arg(raddle());
        shell.args(["run", "-q", "-n", "5", "--"]).arg(&program);
        let got = output(&mut shell, LIMIT);
        // What was found before the limit was met is told, and that it could not be seen again.
        let finding = i32::from(Exit::Finding.code());
        let told = got.status == finding && got.stderr.contains("an execution was not repeated");
        let expected = match told {
            true => named.iter().all(|part| got.stderr.contains(part)),
            false => is_as_expected(&got, &case(&[], named, Exit::InputOutput)).is_ok(),
        };
        assert!(expected, "{limit}: {}", got.all());
    }
}

#[test]
fn the_summary_says_that_a_program_is_unsuitable() {
    let dir = scratch("summary");
    let args = ["run", "--json", "unsuitable.json", "--", "./missing"].map(String::from);
    let got = output(&mut command(&dir, &args), LIMIT);
    assert_eq!(got.status, 68, "{}", got.all());
    let text = std::fs::read_to_string(dir.join("unsuitable.json")).expect("it was written");
    let summary: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(summary["verdict"], "unsupported");
    assert!(
        summary["notes"][0]
            .as_str()
            .is_some_and(|n| n.contains("no such program"))
    );
}
