//! What a search comes to: its verdict, and what limits that.

use super::{Campaign, Shared, State};
use crate::class::Class;
use crate::error::Error;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::limits::{Given, INPUTS, left_out};
use crate::policy::Executions;
use crate::summary::{Found, Summary, Verdict, count};
use crate::terminal::visible;
use crate::triage::Triage;
use crate::watch::Treatment;
use raddle_analyzer::search::Standing;
use std::sync::PoisonError;

/// Said where races are asked for and cannot be judged.
const NO_RACES: &str = "races were not looked for: of the accesses to memory only atomic \
                        operations are seen";

/// Said where nothing was found in a program without hooks.
const ONLY_CALLS: &str = "only calls by which threads wait for each other were places to switch, not \
                          accesses to memory nor calls of files: no module was built with `raddle cc` \
                          or `raddle cargo`";

/// Said where outputs are compared by a search that leaves out what is equivalent.
const OUTPUT: &str = "output is no step: of interleavings that only print in another order one was \
                      run (`--policy dfs` runs all)";

impl Shared<'_> {
    /// Fills in the summary; an error that is to be shown besides.
    pub(super) fn conclude(self, summary: &mut Summary) -> Option<Error> {
        let state = self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let mut standing = state.search.standing();
        // What is half done says nothing.
        standing.complete &= state.torn.is_none();
        let exhaustive = self.campaign.policy.executions() == Some(Executions::All);
        let limited = state.limits.step_limit(self.setup.base.max_steps);
        standing.bounds.extend(limited);
        if exhaustive {
            if !standing.complete {
                standing
                    .bounds
                    .push(ended_early(self.campaign, self.interrupt, &state).to_string());
            }
            standing.bounds.extend(state.limits.bounds());
            // Of what could not be started nothing is known.
            if self.modules.get().is_some() {
                standing.bounds.extend(state.unseen());
            }
            let marks = self.setup.program.sanitizers.bound();
            standing.bounds.extend(marks.map(String::from));
            let compares = self.campaign.same_output || self.campaign.reference.is_some();
            if compares && self.campaign.policy.is_reduced() {
                standing.bounds.push(OUTPUT.to_string());
            }
            let given = Given::of(state.limits.given, self.setup.seed);
            standing.bounds.extend(given.bounds);
            let assumed = given.assumptions.iter();
            summary
                .notes
                .extend(assumed.map(|text| format!("assumes: {text}")));
            let left_out = left_out(self.setup.base.flags);
            standing.bounds.extend(left_out.map(String::from));
        }
        let astray = standing.mismatches.max(state.limits.diverged);
        summary.executions = state.executions;
        summary.complete = standing.complete && astray == 0;
        let unbounded = standing.bounds.is_empty() && state.limits.uncontrolled.is_empty();
        if summary.complete && unbounded {
            let deadlock = Class::Deadlock.to_string();
            summary.possibilities.retain(|p| p.class != deadlock);
        }
        summary.classes = standing.classes;
        summary.notes.extend(state.notes(astray, &standing));
        if state.limits.inputs && !exhaustive {
            summary.notes.push(INPUTS.to_string());
        }
        // A search that samples has no end of its own, but it has to begin.
        let came_to_something = state.executions > astray;
        let nothing_ran = !came_to_something && self.campaign.executions != Some(0);
        // It is no worse for executions that could not do again what was not under control.
        let excused = !exhaustive && !state.limits.uncontrolled.is_empty();
        let as_asked = has_run_all(self.campaign, &state) && !self.interrupt.stopped();
        let fell_short = (exhaustive && !as_asked) || nothing_ran || state.limits.step_limited > 0;
        summary.notes.extend(self.lookout.note());
        let judges_races = state.judges_races();
        summary.outcomes = state.outcomes;
        summary.note_if_only_assumed();
        summary.output = summary.output.take().or(state.output);
        summary.uncontrolled = state.limits.uncontrolled.into_iter().collect();
        summary.instrumented = state.instrumented;
        let fault = state.fault.filter(|e| e.exit != Exit::Interrupted);
        let unsupported = state.unsupported.is_some()
            || fault.as_ref().is_some_and(|e| e.exit == Exit::Unsupported);
        // What is not under control may be why an execution did not end.
        let in_time = |finding: &Found| finding.class != Class::Timeout.to_string();
        let forbidden = self.campaign.strict && !summary.uncontrolled.is_empty();
        let failed = match forbidden {
            true => summary.findings.iter().any(in_time),
            false => !summary.findings.is_empty(),
        };
        summary.verdict = if failed {
            Verdict::Finding
        } else if unsupported {
            Verdict::Unsupported
        } else if fault.as_ref().is_some_and(|e| e.exit != Exit::InputOutput) {
            Verdict::ToolFault
        } else if astray > 0 && !excused {
            Verdict::Diverged
        } else if !summary.complete && fell_short {
            Verdict::NothingFoundWithinBounds
        } else if !summary.complete {
            Verdict::NothingFound
        } else if unbounded {
            Verdict::Explored
        } else {
            Verdict::ExploredWithinBounds
        };
        let nothing = [Verdict::NothingFound, Verdict::NothingFoundWithinBounds];
        let known = self.modules.get().is_some();
        if nothing.contains(&summary.verdict) && known && summary.instrumented.is_empty() {
            summary.notes.push(ONLY_CALLS.to_string());
        }
        if self.campaign.watch.races != Treatment::Off && !judges_races {
            summary.notes.push(NO_RACES.to_string());
        }
        if summary.verdict == Verdict::Finding {
            let early = fault.map(|fault| format!("the search ended early: {fault}"));
            summary.notes.extend(early);
            return None;
        }
        fault
    }

    /// What kept a search from ending its first execution, with what to do about it; `None` where an
    /// execution came to an end.
    pub(super) fn first_execution(&self, triage: &mut Triage<'_>) -> Option<String> {
        let state = self.state();
        if state.executions > 0 || !self.interrupt.stopped() {
            return None;
        }
        let Some(doing) = state.cut_off.first() else {
            let what = match state.torn {
                Some(_) => "the search was stopped while it learnt from the first execution",
                None => "the search was stopped before the first execution began",
            };
            return Some(what.to_string());
        };
        let place = triage
            .place_of(doing.pc())
            .map(|place| format!(" at {place}"));
        let advice = match (doing.moving, doing.computes()) {
            (true, _) => {
                "give it less to do or raise `--time`; `--max-steps N` ends an execution after N steps"
                    .to_string()
            }
            (false, true) => {
                let build = triage.without_hooks(doing.pc()).map(|module| {
                    format!("build {} with `raddle cc`, ", visible(&module))
                });
                format!(
                    "a loop in which no step is seen, or long work: {}give it less to do, or raise \
                     `--time` and `--timeout`",
                    build.unwrap_or_default()
                )
            }
            (false, false) => "it may wait for something outside".to_string(),
        };
        Some(format!(
            "no execution came to its end: {doing}{}; {advice}",
            place.unwrap_or_default()
        ))
    }
}

/// Were as many executions run as were asked for?
fn has_run_all(campaign: &Campaign, state: &State) -> bool {
    campaign.executions.is_some_and(|most| state.next >= most)
}

/// Why an exhaustive search did not come to its end.
fn ended_early(campaign: &Campaign, interrupt: &Interrupt, state: &State) -> &'static str {
    match () {
        () if interrupt.requested() => "it was stopped before all was explored",
        () if interrupt.late() => "the time was up before all was explored (`--time`)",
        () if has_run_all(campaign, state) => {
            "there are more interleavings than executions were asked for (`-n`)"
        }
        () => "the search ended before all was explored",
    }
}

impl State {
    /// What an exhaustive search cannot know of this program.
    fn unseen(&self) -> Vec<String> {
        let mut bounds: Vec<String> = Vec::new();
        if !self.sees_memory {
            let text = match self.instrumented.is_empty() {
                true => {
                    "the program was not built with raddle cc: its accesses to memory are no steps, \
                     nor are calls of files and of others that keep something"
                }
                false => "of its accesses to memory only atomic operations are steps",
            };
            bounds.push(text.to_string());
        } else {
            bounds.extend(self.unseen_modules.iter().cloned());
        }
        let uncontrolled = self.limits.uncontrolled.iter();
        bounds.extend(uncontrolled.map(|name| format!("not under control: {name}")));
        bounds
    }

    /// What limits the verdict.
    fn notes(&self, astray: u64, standing: &Standing) -> Vec<String> {
        let mut notes = Vec::new();
        if astray > 0 {
            let how = self.astray.as_ref();
            let files = match self.limits.uncontrolled.is_empty() {
                true => ", or is a file that an earlier execution has changed",
                false => "",
            };
            notes.push(format!(
                "{} left their schedule: something is not under control{files}{}",
                count(astray, "execution"),
                how.map_or(String::new(), |how| format!(" (the first one: {how})"))
            ));
        }
        if self.cut_short > 0 {
            notes.push(format!(
                "the search was stopped in the middle of {}, which came to nothing",
                count(self.cut_short, "execution")
            ));
        }
        if let Some(executions) = self.in_vain {
            notes.push(format!(
                "{} seemed to wait for ever, and did not: after {} the search began again, in \
                 doubt of such loops",
                self.limits.doubted_loops(),
                count(executions, "execution")
            ));
        } else if self.limits.unfair > 0 {
            let why = match self.limits.doubted.is_empty() {
                true => String::new(),
                false => format!(
                    " ({} may depend on what no hook tells; `--busy-waits run` takes none for one \
                     that waits)",
                    self.limits.doubted_loops()
                ),
            };
            notes.push(format!(
                "{} seemed to have no end, and came to one when run on fairly: no finding{why}",
                count(self.limits.unfair, "execution")
            ));
        }
        if self.known > 0 {
            notes.push(format!(
                "{} failing executions were findings that the corpus knows (--new-only)",
                self.known
            ));
        }
        notes.extend(self.unsupported.clone());
        let bounds = standing.bounds.iter();
        notes.extend(bounds.map(|bound| format!("bound: {bound}")));
        notes.extend(standing.notes.iter().cloned());
        notes
    }
}
