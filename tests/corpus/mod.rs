//! The table of the corpus: what each program is, and how soon its bug must be found.
#![allow(dead_code, reason = "every test binary uses a part of it")]

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
    /// The fewest preemptions with which it fails. Fewer do not do: `pcb` with one fewer explores
    /// all and finds nothing, as a test has it. 0: the order in which threads that wait go on, or
    /// in which they were created, is enough; 1: one thread comes between two steps of another;
    /// 2: it does so twice, or two threads do it to each other.
    pub preemptions: u64,
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
    preemptions: u64,
    within: [u32; 3],
) -> Case {
    Case {
        file,
        level,
        classes,
        args: &[],
        preemptions,
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
    case("lost_update.c", Memory, ASSERTION, 1, [50, 140, 56]),
    case("bank_transfer.c", Call, ASSERTION, 1, [50, 50, 50]),
    case("check_then_act.c", Call, ASSERTION, 1, [50, 96, 50]),
    case("string_buffer.c", Call, ASSERTION, 1, [50, 180, 64]),
    case("ring_buffer.c", Call, ASSERTION, 1, [50, 96, 50]),
    case("stack_underflow.c", Call, ASSERTION, 1, [56, 100, 50]),
    case("spin_release.c", Call, ASSERTION, 1, [50, 96, 50]),
    case("c11_threads.c", Call, ASSERTION, 0, [50, 50, 50]),
    case("exit_code.c", Call, &["exit"], 1, [50, 96, 50]),
    // Order.
    case("use_before_init.c", Memory, CRASH, 1, [50, 50, 50]),
    case("missing_join.c", Call, ASSERTION, 0, [50, 50, 50]),
    case("reorder.c", Memory, ASSERTION, 1, [130, 200, 110]),
    case("twostage.c", Call, ASSERTION, 1, [280, 96, 160]),
    Case {
        args: &["3"],
        ..case("twostage.c", Call, ASSERTION, 1, [700, 500, 320])
    },
    case("stack_escape.c", Call, ASSERTION, 0, [50, 50, 50]),
    case("token_ring.c", Call, ASSERTION, 0, [56, 130, 68]),
    case(
        "async_order.cpp",
        Call,
        &["crash", "assertion"],
        0,
        [50, 80, 50],
    ),
    case("once_misuse.c", Call, ASSERTION, 1, [52, 80, 68]),
    case("double_checked.c", Memory, ASSERTION, 1, [440, 290, 160]),
    // Deadlock.
    case("lock_order.c", Call, DEADLOCK, 1, [56, 96, 64]),
    case("philosophers.c", Call, DEADLOCK, 1, [100, 470, 160]),
    case("self_deadlock.c", Call, DEADLOCK, 0, [52, 50, 50]),
    case("join_cycle.c", Call, DEADLOCK, 0, [88, 50, 76]),
    case("lock_and_condition.c", Call, DEADLOCK, 0, [50, 50, 50]),
    case("rwlock_upgrade.c", Call, DEADLOCK, 0, [52, 50, 50]),
    case("sem_order.c", Call, DEADLOCK, 0, [52, 50, 50]),
    case("barrier_misuse.c", Call, DEADLOCK, 0, [50, 50, 50]),
    case("cancel_with_lock.c", Call, DEADLOCK, 0, [50, 50, 50]),
    // Signals.
    case("signal_unblocked.c", Call, CRASH, 0, [50, 50, 50]),
    case("lost_signal.c", Call, DEADLOCK, 1, [50, 50, 50]),
    case("missed_wakeup.c", Call, DEADLOCK, 1, [50, 80, 64]),
    case("wrong_condvar.c", Call, DEADLOCK, 0, [130, 840, 92]),
    case("signal_one_of_two.c", Call, DEADLOCK, 1, [50, 50, 50]),
    case("if_not_while.c", Call, ASSERTION, 1, [52, 50, 120]),
    case("timed_wait.c", Call, ASSERTION, 0, [150, 2900, 1900]),
    case("notify_before_wait.cpp", Call, DEADLOCK, 1, [50, 50, 50]),
    // Misuse of objects.
    case("sem_count.c", Call, ASSERTION, 0, [56, 50, 60]),
    case("unlock_not_owner.c", Call, MISUSE, 1, [56, 130, 60]),
    case("destroy_locked.c", Call, MISUSE, 1, [50, 50, 52]),
    case(
        "use_after_free.c",
        Memory,
        &["use-after-free"],
        1,
        [190, 64, 92],
    ),
    case("double_free.c", Call, &["double-free"], 1, [50, 80, 50]),
    case(
        "shared_ptr_race.cpp",
        Memory,
        &["use-after-free", "double-free", "crash", "exit"],
        1,
        [12000, 270, 130],
    ),
    // Lock-free and hand-made synchronisation.
    case("aba_stack.c", Memory, ASSERTION, 1, [3700, 430, 6300]),
    case("reader_writer.c", Memory, ASSERTION, 2, [410, 3800, 310]),
    case("work_stealing.c", Memory, ASSERTION, 0, [56, 50, 50]),
    case("bluetooth.c", Memory, ASSERTION, 1, [270, 190, 480]),
    case("naive_spin.c", Memory, ASSERTION, 2, [110, 8000, 140]),
    case("broken_peterson.c", Memory, ASSERTION, 2, [850, 21000, 410]),
    case("livelock.c", Call, &["livelock"], 1, [50, 140, 50]),
];
