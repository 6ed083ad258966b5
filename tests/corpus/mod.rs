//! The table of the corpus: what each program is, and how soon its bug must be found.

use crate::common::{Compiler, compile};
use Level::{Call, Memory};
use std::path::PathBuf;

/// The policies that must find every bug.
pub const POLICIES: [&str; 3] = ["random", "pct:3", "pos"];

/// Where the bug shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// With scheduling points at intercepted calls: a plain gcc program is enough.
    Call,
    /// Only with scheduling points at shared accesses: needs `raddle cc`.
    Memory,
}

/// One program and its bug.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The file in this folder.
    pub file: &'static str,
    pub level: Level,
    /// The finding may be of any of these classes.
    pub classes: &'static [&'static str],
    pub args: &'static [&'static str],
    /// Executions within which each of [`POLICIES`] must find the bug with any seed; about four
    /// times the most that was measured over 20 seeds (`./dev bench`).
    pub within: [u32; 3],
}

impl Case {
    /// The compiled program.
    pub fn program(&self, flags: &[&str]) -> PathBuf {
        let compiler = match (self.level, self.file.ends_with(".cpp")) {
            (Level::Call, false) => Compiler::Gcc,
            (Level::Call, true) => Compiler::Gxx,
            (Level::Memory, false) => Compiler::RaddleCc,
            (Level::Memory, true) => Compiler::RaddleCxx,
        };
        compile(compiler, &format!("tests/corpus/{}", self.file), flags)
    }
}

const fn case(
    file: &'static str,
    level: Level,
    classes: &'static [&'static str],
    within: [u32; 3],
) -> Case {
    Case {
        file,
        level,
        classes,
        args: &[],
        within,
    }
}

const ASSERTION: &[&str] = &["assertion"];
const DEADLOCK: &[&str] = &["deadlock"];
const CRASH: &[&str] = &["crash"];
const MISUSE: &[&str] = &["misuse"];

/// Every program of the corpus.
pub const CASES: &[Case] = &[
    // Atomicity.
    case("lost_update.c", Memory, ASSERTION, [100, 100, 100]),
    case("bank_transfer.c", Call, ASSERTION, [100, 100, 100]),
    case("check_then_act.c", Call, ASSERTION, [100, 100, 100]),
    case("string_buffer.c", Call, ASSERTION, [100, 100, 100]),
    case("ring_buffer.c", Call, ASSERTION, [100, 100, 100]),
    case("stack_underflow.c", Call, ASSERTION, [100, 100, 100]),
    case("spin_release.c", Call, ASSERTION, [100, 100, 100]),
    case("c11_threads.c", Call, ASSERTION, [100, 100, 100]),
    case("exit_code.c", Call, &["exit"], [100, 100, 100]),
    // Order.
    case("use_before_init.c", Memory, CRASH, [100, 100, 100]),
    case("missing_join.c", Call, ASSERTION, [100, 100, 100]),
    case("reorder.c", Memory, ASSERTION, [100, 100, 100]),
    case("twostage.c", Call, ASSERTION, [100, 100, 100]),
    Case {
        args: &["3"],
        ..case("twostage.c", Call, ASSERTION, [400, 400, 400])
    },
    case("stack_escape.c", Call, ASSERTION, [100, 100, 100]),
    case("token_ring.c", Call, ASSERTION, [100, 100, 100]),
    case(
        "async_order.cpp",
        Call,
        &["crash", "assertion"],
        [100, 100, 100],
    ),
    case("once_misuse.c", Call, ASSERTION, [100, 100, 100]),
    case("double_checked.c", Memory, ASSERTION, [100, 100, 100]),
    // Deadlock.
    case("lock_order.c", Call, DEADLOCK, [100, 100, 100]),
    case("philosophers.c", Call, DEADLOCK, [100, 100, 100]),
    case("self_deadlock.c", Call, DEADLOCK, [100, 100, 100]),
    case("join_cycle.c", Call, DEADLOCK, [100, 100, 100]),
    case("lock_and_condition.c", Call, DEADLOCK, [100, 100, 100]),
    case("rwlock_upgrade.c", Call, DEADLOCK, [100, 100, 100]),
    case("sem_order.c", Call, DEADLOCK, [100, 100, 100]),
    case("barrier_misuse.c", Call, DEADLOCK, [100, 100, 100]),
    case("cancel_with_lock.c", Call, DEADLOCK, [100, 100, 100]),
    // Signals.
    case("lost_signal.c", Call, DEADLOCK, [100, 100, 100]),
    case("missed_wakeup.c", Call, DEADLOCK, [100, 100, 100]),
    case("wrong_condvar.c", Call, DEADLOCK, [400, 400, 400]),
    case("signal_one_of_two.c", Call, DEADLOCK, [100, 100, 100]),
    case("if_not_while.c", Call, ASSERTION, [100, 100, 100]),
    case("timed_wait.c", Call, ASSERTION, [100, 100, 100]),
    case("notify_before_wait.cpp", Call, DEADLOCK, [100, 100, 100]),
    // Misuse of objects.
    case("sem_count.c", Call, ASSERTION, [100, 100, 100]),
    case("unlock_not_owner.c", Call, MISUSE, [100, 100, 100]),
    case("destroy_locked.c", Call, MISUSE, [100, 100, 100]),
    case(
        "use_after_free.c",
        Memory,
        &["use-after-free"],
        [100, 100, 100],
    ),
    case("double_free.c", Call, &["double-free"], [100, 100, 100]),
    case(
        "shared_ptr_race.cpp",
        Memory,
        &["use-after-free", "double-free", "crash", "exit"],
        [400, 400, 400],
    ),
    // Lock-free and hand-made synchronisation.
    case("aba_stack.c", Memory, ASSERTION, [2000, 2000, 2000]),
    case("reader_writer.c", Memory, ASSERTION, [100, 100, 100]),
    case("work_stealing.c", Memory, ASSERTION, [400, 400, 400]),
    case("bluetooth.c", Memory, ASSERTION, [100, 100, 100]),
    case("naive_spin.c", Memory, ASSERTION, [100, 100, 100]),
    case("broken_peterson.c", Memory, ASSERTION, [400, 400, 400]),
    case("livelock.c", Call, &["livelock"], [100, 100, 100]),
];
