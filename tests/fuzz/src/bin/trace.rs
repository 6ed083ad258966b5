//! Arbitrary records: whatever passes the validation must not bring the analyzer down.
#![no_main]

use libfuzzer_sys::fuzz_target;
use raddle_analyzer::dfs::Dfs;
use raddle_analyzer::verify::{Bounds, Next, Strategy, Verifier};
use raddle_protocol::outcome::End;
use raddle_protocol::trace::{Counters, Outcome, Trace, validate};

fuzz_target!(|bytes: &[u8]| {
    let (events, nodes, taken) = raddle_fuzz::records(bytes);
    if validate(&events, &nodes, &taken).is_err() {
        return;
    }
    let outcome = Outcome {
        end: End::Exit,
        code: 0,
        thread: 0,
        detail: [0; 4],
        message: String::new(),
        stack: Vec::new(),
        waits: Vec::new(),
        timed_out: false,
    };
    let trace = Trace {
        events,
        taken,
        nodes,
        outcome,
        counters: Counters::default(),
        uncontrolled: Vec::new(),
        stdout: Vec::new(),
        stderr: Vec::new(),
    };
    let mut dfs = Dfs::new();
    if dfs.next_prefix().is_some() {
        dfs.observe(&trace);
        dfs.next_prefix();
    }
    for strategy in [Strategy::Frontier, Strategy::MpcS1] {
        let mut verifier = Verifier::new(strategy, Bounds::default());
        if let Next::Run(job) = verifier.next() {
            verifier.observe(&job, &trace);
            verifier.next();
        }
    }
});
