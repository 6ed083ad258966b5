//! Arbitrary records: whatever passes the validation must not bring the analyzer down.
#![no_main]

use libfuzzer_sys::fuzz_target;
use raddle_analyzer::bounds::Bound;
use raddle_analyzer::dfs::Dfs;
use raddle_analyzer::dpor::{Algorithm, Dpor};
use raddle_analyzer::search::{Next as Planned, Search};
use raddle_analyzer::steer::Steer;
use raddle_analyzer::verify::{Bounds, Next, Strategy, Verifier};
use raddle_analyzer::{leaks, locks, races};
use raddle_protocol::outcome::End;
use raddle_protocol::trace::{Outcome, Trace, validate};

/// Executions that a search is shown the same trace for.
const EXECUTIONS: u64 = 3;

fuzz_target!(|bytes: &[u8]| {
    let (events, nodes, taken) = raddle_fuzz::records(bytes);
    if validate(&events, &nodes, &taken).is_err() {
        return;
    }
    races::distinct(&events);
    locks::cycles(&events);
    leaks::leaks(&events);
    let trace = Trace {
        nodes,
        ..Trace::new(events, taken, Outcome::new(End::Exit, 0))
    };
    let searches: [Box<dyn Search>; 6] = [
        Box::new(Dfs::new()),
        Box::new(Dfs::bounded(Bound::Preemptions(None))),
        Box::new(Dfs::bounded(Bound::Delays(1))),
        Box::new(Dpor::new(Algorithm::Optimal)),
        Box::new(Dpor::new(Algorithm::Source)),
        Box::new(Steer::new(1)),
    ];
    for mut search in searches {
        for n in 0..EXECUTIONS {
            if let Planned::Run(_) = search.next(n) {
                search.observe(n, &trace);
            }
        }
    }
    for strategy in [Strategy::Frontier, Strategy::MpcS1] {
        let mut verifier = Verifier::new(strategy, Bounds::default());
        if let Next::Run(job) = verifier.next() {
            verifier.observe(&job, &trace);
            verifier.next();
        }
    }
});
