//! `raddle verify`: all schedules and all inputs of an instrumented program.

use crate::class::label;
use crate::cli::{StrategyName, VerifyOptions};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::report::{base_name, place};
use crate::setup::Setup;
use crate::summary::{Summary, Verdict, Verification, instrumented};
use crate::symbols::Symbols;
use crate::triage::{Examined, Seen, Triage, class_of};
use raddle_analyzer::verify::{self as analyzer, Bounds, Next, Noted, Report, Strategy, Verifier};
use raddle_protocol::job::Job;
use raddle_protocol::shared::flags;
use raddle_scheduler::{Module, RunError};
use std::collections::BTreeSet;
use std::time::Instant;

/// Step limit of an execution, where the options name none.
pub const MAX_STEPS: u64 = 100_000;

/// Why exploration stops after a finding.
const ENOUGH: &str = "a finding";

/// Libraries whose functions are taken as the manuals describe them.
const SYSTEM: [&str; 9] = [
    "libc.so",
    "libdl.so",
    "libresolv.so",
    "librt.so",
    "libm.so",
    "libpthread.so",
    "libgcc_s.so",
    "ld-linux",
    "libraddle.so",
];

/// Explores and says what came of it.
pub fn verify(
    setup: &Setup,
    options: &VerifyOptions,
    mut triage: Triage<'_>,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<(Summary, Option<Error>)> {
    let started = Instant::now();
    let mut session = setup.session(&interrupt.search)?;
    let modules = session.modules().to_vec();
    check_instrumented(setup, &modules)?;
    let strategy = match options.strategy {
        StrategyName::Frontier => Strategy::Frontier,
        StrategyName::MpcS1 => Strategy::MpcS1,
        StrategyName::MpcS2 => Strategy::MpcS2,
        StrategyName::Mcr => Strategy::Mcr,
    };
    let bounds = Bounds {
        executions: options.max_executions,
        time: options.time,
        steps: setup.base.max_steps,
        branches: options.loop_bound,
    };
    let mut verifier = Verifier::new(strategy, bounds);
    let mut summary = Summary::new(strategy_name(options.strategy).to_string(), 0);
    let mut uncontrolled = BTreeSet::new();
    let mut failed = None;
    let mut found = 0u64;
    let search = interrupt.search.clone();
    verifier.stop_when(move || search.is_set());
    let report = loop {
        let job = match verifier.next() {
            Next::Done(report) => break report,
            Next::Run(job) => with_base(job, &setup.base),
        };
        let trace = match session.run(&job) {
            Ok(trace) => trace,
            Err(RunError::Stopped) => continue,
            Err(error) => {
                verifier.stop("an execution could not be run");
                failed = Some(Error::from(error));
                continue;
            }
        };
        summary.executions += 1;
        for noted in verifier.observe(&job, &trace) {
            match noted {
                Noted::Corrupt(what) => {
                    verifier.stop("an execution left records that make no sense");
                    failed = Some(Error::new(
                        Exit::Unsupported,
                        format!("the program overwrote raddle's records: {what}"),
                        "a wild write; look for it with AddressSanitizer",
                    ));
                }
                Noted::NewPaths(_) if options.keep.is_some() => {
                    triage.keep_path(summary.executions, &job, &trace)?;
                }
                Noted::NewShared(_) => triage.forget_paths(),
                _ => {}
            }
        }
        *summary.outcomes.entry(label(&trace.outcome)).or_default() += 1;
        uncontrolled.extend(trace.uncontrolled.iter().cloned());
        progress.executions(summary.executions);
        if let Some(class) = class_of(&trace, None) {
            let seen = Seen {
                execution: summary.executions,
                class,
                job,
                trace,
                reference: None,
            };
            if progress.aside(|| triage.examine(seen))? == Examined::Finding {
                found += 1;
                progress.say(format!("{found} failing"));
                if !options.findings.keep_going {
                    verifier.stop(ENOUGH);
                }
            }
        }
    };
    let gathered = triage.done();
    let trouble = gathered.trouble.clone();
    summary.gathered(gathered);
    summary.uncontrolled = uncontrolled.into_iter().collect();
    summary.instrumented = instrumented(&modules);
    summary.interrupted = interrupt.requested();
    summary.took(started.elapsed(), started.elapsed());
    let mut symbols = Symbols::new(&modules, &setup.program.path);
    conclude(&mut summary, &report, &modules, &mut symbols);
    let fault = failed.filter(|e| e.exit != Exit::Interrupted);
    if let Some(fault) = &fault
        && summary.verdict != Verdict::Finding
    {
        summary.verdict = match fault.exit {
            Exit::Unsupported => Verdict::Unsupported,
            _ => Verdict::ToolFault,
        };
    }
    Ok((summary, trouble.or(fault)))
}

fn strategy_name(strategy: StrategyName) -> &'static str {
    match strategy {
        StrategyName::Frontier => "frontier",
        StrategyName::MpcS1 => "mpc-s1",
        StrategyName::MpcS2 => "mpc-s2",
        StrategyName::Mcr => "mcr",
    }
}

/// What the options say about every execution goes into each job of the analyzer.
fn with_base(mut job: Job, base: &Job) -> Job {
    job.flags |= base.flags & (flags::KERNEL_THREADS | flags::LAZY_TIME);
    job.clock_base = base.clock_base;
    job.entropy = base.entropy;
    job
}

fn check_instrumented(setup: &Setup, modules: &[Module]) -> Result<()> {
    if modules.iter().any(|m| m.instrumented) {
        return Ok(());
    }
    Err(Error::new(
        Exit::Unsupported,
        format!(
            "{}: was not built with raddle cc",
            setup.program.path.display()
        ),
        "build it with CC=\"raddle cc\" CXX=\"raddle c++\"; `raddle run` takes it as it is",
    ))
}

/// Names of loaded modules that are neither instrumented nor among those that are modelled.
fn foreign(modules: &[Module]) -> BTreeSet<String> {
    modules
        .iter()
        .filter(|m| !m.instrumented)
        .map(|m| base_name(&m.path.to_string_lossy()).to_string())
        .filter(|name| !SYSTEM.iter().any(|known| name.starts_with(known)))
        .collect()
}

fn conclude(summary: &mut Summary, report: &Report, modules: &[Module], symbols: &mut Symbols) {
    let mut bounds: Vec<String> = Vec::new();
    if let analyzer::Verdict::VerifiedWithinBounds(why) = &report.verdict
        && why != ENOUGH
    {
        bounds.push(why.clone());
    }
    for name in foreign(modules) {
        bounds.push(format!(
            "{name} is not instrumented: what it does to shared memory is not seen"
        ));
    }
    for name in &summary.uncontrolled {
        bounds.push(format!("not under control: {name}"));
    }
    bounds.extend(report.unreached.iter().cloned());
    summary.verdict = match (summary.findings.is_empty(), bounds.is_empty()) {
        (false, _) => Verdict::Finding,
        (true, true) => Verdict::Verified,
        (true, false) => Verdict::VerifiedWithinBounds,
    };
    summary.complete = report.verdict == analyzer::Verdict::Verified && bounds.is_empty();
    let mut concretised = Vec::new();
    for entry in &report.concretised {
        let site = symbols.site(entry.pc);
        let site = &symbols.sites()[site as usize];
        let what = match entry.function.as_str() {
            "" => entry.why.text().to_string(),
            name => format!("what {name} reads"),
        };
        concretised.push(format!("{what} at {} ({} times)", place(site), entry.count));
    }
    summary.verify = Some(Verification {
        queries: report.queries,
        local_paths: report.local_paths,
        solver_seconds: report.solver_ms / 1e3,
        assumptions: report.assumptions.clone(),
        concretised,
        bounds,
    });
}
