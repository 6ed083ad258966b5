//! The programs by which searches are measured, and what the best published search needs for each.
#![allow(dead_code, reason = "every test binary uses a part of it")]

use crate::common::{Compiler, compile};
use std::path::PathBuf;

/// One program with its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    pub name: &'static str,
    /// From the root of the checkout. With `-DFIXED` it is the repaired twin.
    pub source: &'static str,
    pub args: &'static [&'static str],
    /// The bug shows only with scheduling points at shared accesses: `raddle cc` compiles it.
    pub memory: bool,
    pub class: &'static str,
    /// Mean executions to the first failure of the best published search; `None`: nothing finds it
    /// by sampling, or no number is published.
    pub published: Option<u32>,
    /// The default policy must find it within so many executions with any seed; `None`: so deep
    /// that tests leave it to `./dev bench`.
    pub within: Option<u32>,
    /// The fewest preemptions with which it fails; `None`: all interleavings with fewer are too many
    /// for a test. (Of programs of `corpus/` the table there says it.)
    pub preemptions: Option<u64>,
}

impl Mark {
    /// The compiled program.
    pub fn program(&self, flags: &[&str]) -> PathBuf {
        let compiler = match self.memory {
            true => Compiler::RaddleCc,
            false => Compiler::Gcc,
        };
        compile(compiler, self.source, flags)
    }
}

const fn at_calls(name: &'static str, source: &'static str, class: &'static str) -> Mark {
    Mark {
        name,
        source,
        args: &[],
        memory: false,
        class,
        published: None,
        within: Some(1000),
        preemptions: Some(1),
    }
}

const fn at_accesses(name: &'static str, source: &'static str) -> Mark {
    Mark {
        memory: true,
        ..at_calls(name, source, "assertion")
    }
}

const fn published(executions: u32, mark: Mark) -> Mark {
    Mark {
        published: Some(executions),
        ..mark
    }
}

const fn sized(args: &'static [&'static str], mark: Mark) -> Mark {
    Mark {
        args,
        preemptions: None,
        ..mark
    }
}

const fn needs(preemptions: u64, mark: Mark) -> Mark {
    Mark {
        preemptions: Some(preemptions),
        ..mark
    }
}

const fn deep(mark: Mark) -> Mark {
    Mark {
        within: None,
        preemptions: None,
        ..mark
    }
}

const REORDER: &str = "tests/corpus/reorder.c";
const TWOSTAGE: &str = "tests/corpus/twostage.c";
const POOL: Mark = at_calls("thread pool", "tests/marks/thread_pool.c", "deadlock");

/// Every program, sizes included.
pub const MARKS: &[Mark] = &[
    sized(&["3"], published(10, at_accesses("reorder", REORDER))),
    sized(&["5"], published(6, at_accesses("reorder", REORDER))),
    sized(&["10"], published(6, at_accesses("reorder", REORDER))),
    sized(&["20"], published(6, at_accesses("reorder", REORDER))),
    sized(&["50"], published(6, at_accesses("reorder", REORDER))),
    sized(&["100"], published(6, at_accesses("reorder", REORDER))),
    sized(
        &["3"],
        published(8, at_calls("twostage", TWOSTAGE, "assertion")),
    ),
    sized(
        &["10"],
        published(14, at_calls("twostage", TWOSTAGE, "assertion")),
    ),
    sized(
        &["20"],
        published(22, at_calls("twostage", TWOSTAGE, "assertion")),
    ),
    sized(
        &["50"],
        published(35, at_calls("twostage", TWOSTAGE, "assertion")),
    ),
    sized(
        &["100"],
        published(56, at_calls("twostage", TWOSTAGE, "assertion")),
    ),
    published(
        9,
        at_accesses("bluetooth driver", "tests/corpus/bluetooth.c"),
    ),
    published(
        10,
        needs(
            2,
            at_accesses("work stealing", "tests/marks/work_stealing_the.c"),
        ),
    ),
    published(
        7,
        at_accesses("… lock-free", "tests/marks/work_stealing_interlocked.c"),
    ),
    published(
        1,
        at_accesses("… one word", "tests/marks/work_stealing_state.c"),
    ),
    published(
        2,
        at_calls("circular buffer", "tests/corpus/ring_buffer.c", "assertion"),
    ),
    published(
        2,
        at_calls("token ring", "tests/corpus/token_ring.c", "assertion"),
    ),
    published(
        12,
        at_calls("string buffer", "tests/corpus/string_buffer.c", "assertion"),
    ),
    published(
        27,
        needs(
            2,
            at_calls("quicksort", "tests/marks/quicksort.c", "deadlock"),
        ),
    ),
    published(
        3,
        at_calls("two locks", "tests/corpus/lock_order.c", "deadlock"),
    ),
    deep(at_accesses("SafeStack", "tests/marks/safestack.c")),
    deep(sized(
        &["4"],
        at_accesses("alternation", "tests/marks/alternation.c"),
    )),
    deep(sized(
        &["5"],
        at_accesses("Fibonacci", "tests/marks/fibonacci.c"),
    )),
    at_calls("mysqllog", "tests/marks/mysql_log.c", "assertion"),
    at_calls("nodestate", "tests/marks/node_state.c", "assertion"),
    at_calls("loadscript", "tests/marks/load_script.c", "assertion"),
    at_calls("seektoitem", "tests/marks/seek_to_item.c", "assertion"),
    at_calls("updatetimer", "tests/marks/update_timer.c", "assertion"),
    at_calls("filetransport", "tests/marks/file_transport.c", "deadlock"),
    at_accesses("createthread", "tests/marks/create_thread.c"),
    at_calls(
        "readwriteproc",
        "tests/marks/read_write_proc.c",
        "assertion",
    ),
    needs(
        0,
        at_calls(
            "openinputstr",
            "tests/marks/open_input_stream.c",
            "deadlock",
        ),
    ),
    needs(
        0,
        at_calls("httpconnect", "tests/marks/http_connect.c", "assertion"),
    ),
    needs(
        2,
        at_calls("timerthread", "tests/marks/timer_thread.c", "deadlock"),
    ),
    needs(1, sized(&["2"], POOL)),
    needs(1, sized(&["3"], POOL)),
    sized(&["4"], POOL),
    sized(&["5"], POOL),
];
