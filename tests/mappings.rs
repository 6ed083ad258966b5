//! Calls that act on pages (munmap, mprotect, madvise, …) come before and after what other threads do
//! with these pages, in `dpor` and in `verify`.

mod common;

use common::{Compiler, compile, in_parallel, run};

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
