//! What is not under control is told: where a thread hangs, who did what, and on demand as an error.

mod common;

use common::{Compiler, LIMIT, compile, output, raddle, run, scratch};
use std::process::Command;

#[test]
fn a_hang_is_told_with_thread_call_function_and_module() {
    let program = compile(Compiler::Gcc, "tests/watchdog/stuck.c", &[]);
    let cases: &[(&str, &[&str])] = &[
        (
            "compute",
            &[
                "T1 is in uncontrolled code",
                "computing",
                "turn_the_wheel in stuck",
            ],
        ),
        (
            "block",
            &[
                "T1 is in uncontrolled code",
                "system call pause",
                "sleep_for_ever in stuck",
            ],
        ),
    ];
    for (mode, texts) in cases {
        for threads in ["fiber", "kernel"] {
            let options = [
                "run",
                "-n",
                "1",
                "--timeout",
                "2s",
                "--no-shrink",
                "--threads",
                threads,
            ];
            let run = run(&options, &program, &[mode]);
            let finding = run.summary.findings.first().expect("a finding");
            assert_eq!(finding.class, "timeout", "{}", run.output.all());
            for text in *texts {
                assert!(
                    finding.message.contains(text),
                    "{mode} {threads}: {}",
                    finding.message
                );
            }
        }
    }
}

#[test]
fn what_is_not_controlled_is_named_and_strict_makes_it_an_error() {
    let program = compile(Compiler::RaddleCc, "tests/watchdog/assembly.c", &[]);
    let dir = scratch("strict");
    for (options, status) in [(&[][..], 0), (&["--strict"][..], 68)] {
        let mut command = Command::new(raddle());
        command
            .current_dir(&dir)
            .args(["run", "-n", "20", "--policy", "random"]);
        let result = output(command.args(options).arg("--").arg(&program), LIMIT);
        assert_eq!(result.status, status, "{}", result.all());
        let text = result.all();
        let told = text.contains("inline assembly (")
            && text.contains("assembly-")
            && text.contains("thread ");
        assert!(told, "{text}");
    }
}

/// They may give a waiting thread what it waits for: that is no deadlock.
#[test]
fn what_calls_without_a_model_move_is_found() {
    let program = compile(Compiler::Gcc, "tests/watchdog/moved.c", &[]);
    for call in ["vmsplice", "SYS_vmsplice", "SYS_splice", "SYS_tee"] {
        for polls in [&[][..], &["poll"]] {
            let run = run(&["run", "-n", "20"], &program, &[&[call], polls].concat());
            let all = run.output.all();
            assert_eq!(run.output.status, 0, "{call} {polls:?}: {all}");
            let name = call.trim_start_matches("SYS_");
            let named = run
                .summary
                .uncontrolled
                .iter()
                .any(|told| told.contains(name));
            assert!(named, "{call}: {all}");
        }
    }
}

/// As the source has it, not as the linker does.
#[test]
fn functions_of_cpp_are_named_as_in_their_source() {
    let program = compile(Compiler::Gxx, "tests/watchdog/resolver.cpp", &[]);
    let run = run(&["run", "-n", "2"], &program, &[]);
    let text = "gethostbyname (net::ask(char const*) in resolver-";
    let named = run
        .summary
        .uncontrolled
        .iter()
        .any(|name| name.starts_with(text));
    assert!(named, "{}", run.output.all());
}

/// With its function, module and thread; the fifo's other side is opened by nobody.
#[test]
fn direct_calls_and_waits_for_the_outside_are_named() {
    let program = compile(Compiler::Gcc, "tests/watchdog/direct.c", &[]);
    let cases = [
        ("none", 0, 0, ""),
        ("numeric", 0, 0, ""),
        (
            "getaddrinfo",
            0,
            68,
            "not under control: getaddrinfo (work in direct-",
        ),
        (
            "gethostbyname_r",
            0,
            68,
            "not under control: gethostbyname_r (work in direct-",
        ),
        (
            "vmsplice",
            0,
            68,
            "not under control: vmsplice (work in direct-",
        ),
        (
            "ptrace",
            0,
            68,
            "not under control: ptrace (work in direct-",
        ),
        (
            "io_uring",
            0,
            68,
            "not under control: io_uring (work in direct-",
        ),
        (
            "fork",
            0,
            68,
            "a new process or thread by a direct system call (work in direct-",
        ),
        ("pause", 66, 68, "blocked in the system call pause"),
        ("pause", 66, 68, "the system call pause (work in direct-"),
        (
            "fifo",
            66,
            68,
            "not closed: waits for the outside (work in direct-",
        ),
        (
            "fifo",
            66,
            68,
            "T1 waits for something outside of the process since its open (work in direct-",
        ),
    ];
    // The kernel's messages come from a device that makes readers wait.
    let device = [(
        "device",
        66,
        68,
        "not closed: waits for the outside (work in direct-",
    )];
    let readable = std::fs::File::open("/dev/kmsg").is_ok();
    let device = device.into_iter().filter(|_| readable);
    for (mode, lenient, strict, text) in cases.into_iter().chain(device) {
        for (more, status) in [(&[][..], lenient), (&["--strict"][..], strict)] {
            let options = ["run", "-n", "3", "--timeout", "1s", "--no-shrink"];
            let run = run(&[&options[..], more].concat(), &program, &[mode]);
            let all = run.output.all();
            assert_eq!(run.output.status, status, "{mode} {more:?}\n{all}");
            assert!(all.contains(text), "{mode}: {text}\n{all}");
            let thread = text.is_empty() || all.contains(", thread T1)");
            assert!(thread, "{mode}\n{all}");
        }
    }
}
