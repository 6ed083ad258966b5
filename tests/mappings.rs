//! Calls that act on pages (munmap, mprotect, madvise, …) come before and after what other threads do
//! with these pages, in `dpor` and in `verify`.

mod common;

use common::{Compiler, compile, in_parallel, run};
use std::process::Command;

const CALLS: [&str; 18] = [
    "munmap",
    "mprotect",
    "pkey_mprotect",
    "mremap",
    "shrink",
    "shmdt",
    "fixed",
    "dontneed",
    "remove",
    "brk",
    "sbrk",
    "brk by number",
    "munmap by number",
    "mprotect by number",
    "mremap by number",
    "fixed by number",
    "dontneed by number",
    "shmdt by number",
];
const USES: [&str; 5] = ["read", "write", "atomic", "memcpy", "strlen"];

/// Calls that give the page another content: where that depends on other threads, `verify` cannot follow
/// it.
const CHANGE_CONTENT: [&str; 8] = [
    "mremap",
    "shrink",
    "fixed",
    "dontneed",
    "remove",
    "mremap by number",
    "fixed by number",
    "dontneed by number",
];

#[test]
fn pages_are_used_before_and_after_calls_that_act_on_them() {
    let program = compile(Compiler::RaddleCc, "tests/mappings/pages.c", &["-O0"]);
    let pairs: Vec<(&str, &str)> = CALLS
        .iter()
        .flat_map(|&call| USES.iter().map(move |&used| (call, used)))
        // Which function a number stands for has nothing to do with the use.
        .filter(|(call, used)| !call.ends_with("number") || ["write", "memcpy"].contains(used))
        .collect();
    let modes = [&["run", "--policy", "dpor"][..], &["verify"]];
    in_parallel(&pairs, |&(call, used)| {
        for mode in modes {
            for order in [&[][..], &["after"]] {
                let options = [mode, &["--races=off", "--no-shrink"]].concat();
                let run = run(&options, &program, &[&[call, used], order].concat());
                let right: &[i32] = match order.is_empty() {
                    // The call fails the program only between the write and the read behind it.
                    true if mode == ["verify"]
                        && used == "write"
                        && CHANGE_CONTENT.contains(&call) =>
                    {
                        &[66, 69]
                    }
                    true => &[66],
                    false if mode == ["verify"] && CHANGE_CONTENT.contains(&call) => &[0, 69],
                    false => &[0],
                };
                if !right.contains(&run.output.status) {
                    let (shown, all) = (&run.shown, run.output.all());
                    return Err(format!("{shown}: {right:?} is right\n{all}"));
                }
            }
        }
        Ok(())
    });
}

/// Why the memory is not there, or not for the call; of programs that make no call that acts on pages: the
/// first four.
const HOW: [&str; 8] = [
    "null", "low", "wild", "constant", "none", "unmapped", "guard", "edge",
];

/// What the calls of `faults.c` come to that hand memory to the kernel which is not there is what it is
/// natively: they fail, or the C library faults.
#[test]
fn the_kernel_finds_that_memory_is_not_there() {
    let source = "tests/mappings/faults.c";
    let modes = [
        (Compiler::Gcc, &["run", "-n", "1"][..]),
        (Compiler::RaddleCc, &["run", "--policy", "dpor"]),
        (Compiler::RaddleCc, &["verify"]),
    ];
    for (kind, how) in [(&[][..], &HOW[..]), (&["-DKEEPS_PAGES"], &HOW[..4])] {
        let options = [&["-O0", "-w"], kind].concat();
        let native = compile(Compiler::Gcc, source, &options);
        let hooked = compile(Compiler::RaddleCc, source, &options);
        let cases: Vec<_> = modes
            .iter()
            .flat_map(|mode| how.iter().map(move |&how| (mode, how)))
            .collect();
        in_parallel(&cases, |&((compiler, mode), how)| {
            let alone = Command::new(&native).arg(how).output();
            let alone = alone.map_err(|error| error.to_string())?;
            let right = String::from_utf8_lossy(&alone.stdout);
            let least = match how {
                "constant" | "edge" => 60,
                _ => 100,
            };
            if right.matches("Bad address").count() < least {
                return Err(format!("natively: {right}"));
            }
            let program = match compiler {
                Compiler::Gcc => &native,
                _ => &hooked,
            };
            let run = run(&[*mode, &["-q"]].concat(), program, &[how]);
            match run.output.stdout == right && run.summary.findings.is_empty() {
                true => Ok(()),
                false => {
                    let (shown, all) = (&run.shown, run.output.all());
                    Err(format!("{shown}: {all}\nnatively: {right}"))
                }
            }
        });
    }
}

/// A call that hands a page to the kernel fails after another thread has taken it away, and nothing faults.
#[test]
fn calls_fail_whose_memory_others_take_away() {
    let program = compile(Compiler::RaddleCc, "tests/mappings/gone.c", &["-O0"]);
    let calls = [
        "read",
        "write",
        "pread",
        "readv",
        "writev",
        "send",
        "recv",
        "fstat",
        "stat",
        "open",
        "getrandom",
        "uname",
        "pipe",
        "nanosleep",
        "readlink",
        "poll",
        "getcwd",
    ];
    let protected = ["read", "write", "fstat", "open"];
    let pairs: Vec<_> = calls
        .map(|call| (call, "munmap"))
        .into_iter()
        .chain(protected.map(|call| (call, "mprotect")))
        .collect();
    let modes = [&["run", "--policy", "dpor"][..], &["verify"]];
    in_parallel(&pairs, |&(call, how)| {
        for mode in modes {
            let options = [mode, &["--no-shrink"]].concat();
            for (rest, right) in [(&[][..], &[0, 69][..]), (&["both"], &[66])] {
                let run = run(&options, &program, &[&[call, how], rest].concat());
                if !right.contains(&run.output.status) {
                    let (shown, all) = (&run.shown, run.output.all());
                    return Err(format!("{shown}: {right:?} is right\n{all}"));
                }
            }
        }
        Ok(())
    });
}

/// What is named where others change, or find, what lies in memory by calls that are not followed.
const FILE: &str = "a file that is mapped";
const TWICE: &str = "memory that is mapped at two places";

/// A call of `content.c`, and what bounds verdicts of `dpor` and of `verify` about it; nothing: it is
/// followed.
const CONTENT: [(&str, [&str; 2]); 41] = [
    ("dontneed", [""; 2]),
    ("dontneed of a global", [""; 2]),
    ("dontneed, shared", [""; 2]),
    ("dontneed, locked", [""; 2]),
    ("remove", [""; 2]),
    ("free", ["MADV_FREE"; 2]),
    ("guard", [""; 2]),
    ("fixed", [""; 2]),
    ("fixed in a global", [""; 2]),
    ("fixed, shared", [""; 2]),
    ("fixed, of a file", ["", "mapped over other memory"]),
    ("fixed, of a shared file", ["", "mapped over other memory"]),
    ("unmapped and mapped", [""; 2]),
    ("unmapped and mapped by hint", [""; 2]),
    ("shrinks and grows", [""; 2]),
    ("moved over", [""; 2]),
    ("moved away", [""; 2]),
    ("moved to elsewhere", [""; 2]),
    ("moved with its users", [""; 2]),
    ("attached over", ["", "mapped over other memory"]),
    ("attached again", [TWICE; 2]),
    ("brk", [""; 2]),
    ("sbrk", [""; 2]),
    ("punched", [FILE; 2]),
    ("truncated", [FILE; 2]),
    ("twice", [TWICE; 2]),
    ("attached twice", [TWICE; 2]),
    ("pwrite", [FILE; 2]),
    ("write", [FILE; 2]),
    ("pwritev", [FILE; 2]),
    ("sendfile", [FILE; 2]),
    ("copy_file_range", [FILE; 2]),
    ("stream", [FILE; 2]),
    ("open", [FILE; 2]),
    ("pread", [""; 2]),
    ("pread of what is mapped", [FILE; 2]),
    ("remap_file_pages", ["remap_file_pages"; 2]),
    ("/proc/self/mem", ["/proc/self/mem"; 2]),
    ("private file", [FILE; 2]),
    ("private file over", [FILE; 2]),
    ("process_madvise", ["process_madvise"; 2]),
];
/// The same where the program refers to functions that access memory by the number of its process.
const BY_PROCESS: [(&str, [&str; 2]); 2] = [
    ("process_vm_writev", ["", "process_vm_writev"]),
    ("process_vm_readv", ["", "process_vm_readv"]),
];

/// What a call leaves in memory is found in both orders with what another thread writes there, or bounds the
/// verdict by name.
#[test]
fn what_calls_leave_in_memory_is_found() {
    const DPOR: &[&str] = &["run", "--policy", "dpor"];
    const FRONTIER: &[&str] = &["verify"];
    // It takes each combination of what reads return, which may take longer: of some rows.
    const MCR: &[&str] = &["verify", "--strategy", "mcr", "--time", "4s"];
    let source = "tests/mappings/content.c";
    let compiled = |define: &'static [&'static str]| {
        compile(
            Compiler::RaddleCc,
            source,
            &[&["-O0", "-w"], define].concat(),
        )
    };
    let (program, by_process) = (compiled(&[]), compiled(&["-DBY_PROCESS"]));
    let rows = CONTENT.iter().map(|row| (&program, row));
    let rows = rows.chain(BY_PROCESS.iter().map(|row| (&by_process, row)));
    let cases: Vec<_> = rows
        .enumerate()
        .flat_map(|(n, row)| {
            let modes = [DPOR, FRONTIER, MCR].into_iter();
            let modes = modes.filter(move |&mode| mode != MCR || n % 8 == 0);
            modes.map(move |mode| (row, mode))
        })
        .flat_map(|(row, mode)| [&[][..], &["by number"]].map(|how| (row, mode, how)))
        .filter(|(_, mode, how)| *mode != MCR || how.is_empty())
        // What a system call by its number reads into memory, or does by the number of the process, is not
        // followed, and only counted.
        .filter(|((_, row), mode, how)| {
            let is_counted = row.0 == "pread" || row.0.starts_with("process_vm");
            *mode == DPOR || how.is_empty() || !is_counted
        })
        .collect();
    in_parallel(&cases, |&((program, &(call, named)), mode, how)| {
        let named = named[usize::from(mode != DPOR)];
        let bugs: &[i32] = match named {
            "" => &[66],
            _ => &[66, 69],
        };
        let right: &[i32] = match named {
            "" => &[0],
            _ => &[69],
        };
        let forms = [
            ("writer", bugs),
            ("caller", bugs),
            ("neither", right),
            ("ordered", if named.is_empty() { right } else { &[0, 69] }),
        ];
        // By number it is enough that both ends are known.
        let skipped = [0, 1][how.len()];
        for (form, wanted) in forms.into_iter().skip(skipped).take(4 - 2 * skipped) {
            let options = [mode, &["--races=off", "--no-shrink"]].concat();
            let run = run(&options, program, &[&[call, form], how].concat());
            let (shown, all) = (&run.shown, run.output.all());
            let status = run.output.status;
            let is_limited = mode == MCR && status == 69 && all.contains("the time was limited");
            let is_named = status != 69 || all.contains(named);
            if !is_limited && (!wanted.contains(&status) || !is_named) {
                return Err(format!("{shown}: {wanted:?}, {named:?} is right\n{all}"));
            }
        }
        Ok(())
    });
}

/// An input that lay in a page is not there after a call that gives the page another content; where it is
/// moved, it is not followed.
#[test]
fn calls_that_change_pages_take_inputs_away() {
    let program = compile(Compiler::RaddleCc, "tests/mappings/inputs.c", &["-O0"]);
    for (call, form, right) in [
        ("dontneed", "changed", 0),
        ("dontneed", "kept", 66),
        ("fixed", "changed", 0),
        ("fixed", "kept", 66),
        ("moved", "kept", 69),
    ] {
        let run = run(&["verify"], &program, &[call, form]);
        let (shown, all) = (&run.shown, run.output.all());
        assert_eq!(run.output.status, right, "{shown}\n{all}");
    }
}
