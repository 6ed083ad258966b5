//! The result of a command: what is said at its end, and what `--json` writes.

use crate::class::{Class, STEP_LIMIT};
use crate::corpus::Account;
use crate::divergence::Divergence;
use crate::error::Error;
use crate::exit::Exit;
use crate::report::{FoundWait, Style, base_name, shell_word};
use crate::terminal::{Printed, visible};
use crate::triage::Gathered;
use raddle_protocol::witness::Witness;
use raddle_scheduler::{Module, Sanitizer};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    NothingFound,
    /// The same, of a search that did less than it set out to do: the notes say what.
    NothingFoundWithinBounds,
    Finding,
    Verified,
    VerifiedWithinBounds,
    /// Every interleaving was run, or one for each that is equivalent.
    Explored,
    /// Every interleaving within the bounds that the notes name.
    ExploredWithinBounds,
    Diverged,
    Unsupported,
    ToolFault,
    /// An error with a file, or a signal, came before anything was run.
    NotRun,
}

impl Verdict {
    /// As it stands in the files.
    pub fn name(self) -> String {
        let value = serde_json::to_value(self).expect("a verdict has a JSON form");
        value.as_str().unwrap_or_default().to_string()
    }
}

/// The content of the summary file; the README of `src/` explains the fields.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub verdict: Verdict,
    pub executions: u64,
    pub seconds: f64,
    pub executions_per_second: f64,
    pub policy: String,
    pub seed: u64,
    pub findings: Vec<Found>,
    /// Races and leaked threads that do not fail the run.
    pub reports: Vec<Found>,
    /// What was foreseen and not confirmed.
    pub possibilities: Vec<Possibility>,
    /// Rules of the suppression file that were of use, with how many findings each kept quiet.
    pub suppressed: BTreeMap<String, u64>,
    /// How often each way to end was seen: "exit 0", "deadlock" …
    pub outcomes: BTreeMap<String, u64>,
    /// What was not under control, by name.
    pub uncontrolled: Vec<String>,
    /// Modules whose accesses to memory are seen, and who put the hooks in.
    pub instrumented: BTreeMap<String, String>,
    /// Stopped by a signal.
    pub interrupted: bool,
    /// All that there is to explore was explored.
    pub complete: bool,
    /// Mazurkiewicz traces among the executions, where the policy counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<u64>,
    /// Facts that limit what the verdict says.
    pub notes: Vec<String>,
    /// What there was in the corpus, and what is there now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corpus: Option<Account>,
    /// What the program wrote to its standard output in the execution that stands for all: the one
    /// of the first finding, else the first.
    #[serde(skip)]
    pub output: Option<Printed>,
    #[serde(flatten)]
    pub verify: Option<Verification>,
    #[serde(flatten)]
    pub replay: Option<Replays>,
}

/// What only `replay` knows.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Replays {
    /// Executions that failed in the same way, with the same events.
    pub reproduced: u64,
    /// The first one that did not.
    pub divergence: Option<Divergence>,
}

/// What only `verify` knows.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Verification {
    pub queries: u64,
    /// Questions that the unsatisfiable core of another one has answered.
    pub spared_queries: u64,
    pub local_paths: u64,
    pub solver_seconds: f64,
    /// For making the formulas.
    pub encoding_seconds: f64,
    /// For executions and what is done with each.
    pub executing_seconds: f64,
    pub assumptions: Vec<String>,
    /// Statements at which values were made concrete, as text.
    pub concretised: Vec<String>,
    /// What bounds the verdict.
    pub bounds: Vec<String>,
}

/// One finding.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    pub class: String,
    pub message: String,
    /// It was only seen where a time-out came early: which one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_out: Option<String>,
    pub fingerprint: String,
    pub execution: u64,
    pub preemptions: u64,
    /// No schedule with fewer preemptions fails in the same way: all of them were run.
    pub fewest: bool,
    /// The witness file; `null` when it could not be written.
    #[serde(serialize_with = "as_text")]
    pub witness: Option<PathBuf>,
    pub inputs: Vec<FoundInput>,
    /// Of a deadlock or a livelock: who waits for whom.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<FoundWait>,
    pub reproduced: bool,
    /// In how many executions it was seen.
    pub seen: u64,
    /// When an earlier run stored it in the corpus, in UTC.
    pub known_since: Option<String>,
}

/// Something that may be wrong: no execution has shown it.
#[derive(Clone, Debug, Serialize)]
pub struct Possibility {
    pub class: String,
    pub message: String,
    pub fingerprint: String,
    /// Where in the source.
    pub places: Vec<String>,
}

/// One input of a finding.
#[derive(Clone, Debug, Serialize)]
pub struct FoundInput {
    pub thread: u16,
    pub index: u32,
    pub name: Option<String>,
    /// As a signed number; `null` where it has no number's size.
    pub value: Option<i64>,
    pub bytes: Vec<u8>,
}

/// A path that may be no text in UTF-8, as people read it.
fn as_text<S: serde::Serializer>(path: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
    path.as_deref().map(Path::to_string_lossy).serialize(to)
}

impl Found {
    /// The witness file as a word of a command; nothing if there is none.
    fn file(&self) -> String {
        let file = self.witness.as_deref();
        file.map_or(String::new(), |file| shell_word(file.as_os_str()))
    }

    pub fn new(witness: &Witness, file: Option<PathBuf>) -> Found {
        let witness = &crate::report::clean(witness, true);
        let finding = &witness.finding;
        let inputs = witness.recipe.inputs.iter();
        Found {
            class: finding.class.clone(),
            message: match &finding.time_out {
                Some(note) => format!("{}; {}", finding.message, note.text),
                None => finding.message.clone(),
            },
            time_out: finding.time_out.as_ref().map(|note| note.text.clone()),
            fingerprint: finding.fingerprint.clone(),
            execution: finding.execution,
            preemptions: finding.preemptions,
            fewest: finding.fewest,
            witness: file,
            inputs: inputs
                .map(|input| FoundInput {
                    thread: input.thread,
                    index: input.index,
                    name: input.name.clone(),
                    value: crate::report::input_number(input),
                    bytes: input.bytes.0.clone(),
                })
                .collect(),
            waits: crate::report::found_waits(witness),
            reproduced: finding.reproduced,
            seen: 1,
            known_since: None,
        }
    }
}

/// Are the module's accesses to memory seen, not only its atomic operations?
pub fn sees_accesses(module: &Module) -> bool {
    module.instrumented || module.sanitizer == Sanitizer::Accesses
}

/// Are those of any module?
pub fn sees_memory(modules: &[Module]) -> bool {
    modules.iter().any(sees_accesses)
}

/// The modules whose accesses to memory are seen, by name, and who put the hooks in.
pub fn instrumented(modules: &[Module]) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for module in modules {
        let who = match (module.instrumented, module.sanitizer) {
            (false, Sanitizer::None) => continue,
            (true, Sanitizer::None | Sanitizer::Atomics) => "raddle cc",
            (false, Sanitizer::Atomics) => "raddle cargo (atomic operations)",
            (false, Sanitizer::Accesses) => "-fsanitize=thread",
            (true, Sanitizer::Accesses) => "raddle cc, -fsanitize=thread",
        };
        let name = base_name(&module.path.to_string_lossy()).to_string();
        all.insert(name, who.to_string());
    }
    all
}

/// An execution that was counted as a failure of this class came to another end.
pub fn recount(outcomes: &mut BTreeMap<String, u64>, from: Class, to: String) {
    let from = from.to_string();
    if let Some(times) = outcomes.get_mut(&from) {
        *times -= 1;
        if *times == 0 {
            outcomes.remove(&from);
        }
    }
    *outcomes.entry(to).or_default() += 1;
}

impl Summary {
    /// Of a command that has not done anything yet.
    pub fn new(policy: String, seed: u64) -> Summary {
        Summary {
            verdict: Verdict::NothingFound,
            executions: 0,
            seconds: 0.0,
            executions_per_second: 0.0,
            policy,
            seed,
            findings: Vec::new(),
            reports: Vec::new(),
            possibilities: Vec::new(),
            suppressed: BTreeMap::new(),
            outcomes: BTreeMap::new(),
            uncontrolled: Vec::new(),
            instrumented: BTreeMap::new(),
            interrupted: false,
            complete: false,
            classes: None,
            notes: Vec::new(),
            corpus: None,
            output: None,
            verify: None,
            replay: None,
        }
    }

    /// Of a command that did not come as far as a verdict of its own; `None` where it was not understood.
    pub fn of_error(error: &Error) -> Option<Summary> {
        let mut summary = Summary::new(String::new(), 0);
        summary.verdict = match error.exit {
            Exit::Unsupported => Verdict::Unsupported,
            Exit::ToolFault => Verdict::ToolFault,
            Exit::Usage => return None,
            _ => Verdict::NotRun,
        };
        summary.interrupted = error.exit == Exit::Interrupted;
        summary.notes.push(error.to_string());
        Some(summary)
    }

    /// Says so where assumptions gave up all executions: whatever is said of them is said of nothing.
    pub fn note_if_only_assumed(&mut self) {
        let given_up = |label: &String| ["assumption", "redundant"].contains(&label.as_str());
        if self.outcomes.contains_key("assumption") && self.outcomes.keys().all(given_up) {
            let text = "an assumption gave up every execution: nothing behind it has run";
            self.notes.push(text.to_string());
        }
    }

    /// Takes over what triage has gathered.
    pub fn gathered(&mut self, gathered: Gathered) {
        self.findings = gathered.findings;
        self.reports = gathered.reports;
        self.possibilities = gathered.possibilities;
        self.suppressed = gathered.suppressed.into_iter().collect();
        self.notes = gathered.notes;
        self.output = gathered.output;
    }

    /// Sets the time, and the rate from the time that went into the executions.
    pub fn took(&mut self, time: Duration, executing: Duration) {
        self.seconds = time.as_secs_f64();
        self.executions_per_second = self.executions as f64 / executing.as_secs_f64().max(1e-9);
    }

    /// Is there an execution behind the verdict, or a proof that wants none?
    pub fn came_to_something(&self) -> bool {
        self.complete || !self.came_to_no_end()
    }

    pub fn exit(&self) -> Exit {
        match self.verdict {
            Verdict::Finding => Exit::Finding,
            Verdict::Diverged => Exit::Diverged,
            Verdict::Unsupported => Exit::Unsupported,
            Verdict::ToolFault => Exit::ToolFault,
            _ if self.interrupted => Exit::Interrupted,
            Verdict::NothingFoundWithinBounds
            | Verdict::VerifiedWithinBounds
            | Verdict::ExploredWithinBounds => Exit::WithinBounds,
            Verdict::NothingFound | Verdict::Verified | Verdict::Explored => Exit::Clean,
            Verdict::NotRun => Exit::InputOutput,
        }
    }

    /// The content of the summary file.
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data has a JSON form");
        text.push('\n');
        text
    }

    /// The last lines of the command's output. `reported`: findings have been shown in full.
    pub fn text(&self, style: Style, reported: bool) -> String {
        let (verdict, good) = self.claim();
        let verdict = match good {
            true if self.reported().is_some() || self.came_to_no_end() => style.yellow(&verdict),
            true => style.green(&verdict),
            false => style.red(&verdict),
        };
        let how = match &self.verify {
            Some(_) => format!("strategy {}", self.policy),
            None => format!("policy {}, seed {}", self.policy, self.seed),
        };
        let mut text = format!(
            "raddle: {verdict}: {} in {:.2} s ({:.0} a second), {how}\n",
            count(self.executions, "execution"),
            self.seconds,
            self.executions_per_second,
        );
        if self.complete && self.verify.is_none() && self.verdict == Verdict::Finding {
            text.push_str("  all interleavings were explored\n");
        }
        if let Some(classes) = self.classes {
            text.push_str(&format!(
                "  {} of equivalent interleavings\n",
                match classes {
                    1 => "1 class".to_string(),
                    n => format!("{n} classes"),
                }
            ));
        }
        let fine = self.outcomes.len() == 1 && self.outcomes.contains_key("exit 0");
        if !fine && !self.outcomes.is_empty() {
            let outcomes: Vec<String> = self
                .outcomes
                .iter()
                .map(|(what, n)| format!("{what}: {n}"))
                .collect();
            text.push_str(&format!("  ended with {}\n", outcomes.join(", ")));
        }
        if let Some(verify) = &self.verify {
            text.push_str(&verify.text());
        }
        if !self.uncontrolled.is_empty() {
            let list = visible(&self.uncontrolled.join(", "));
            text.push_str(&format!("  not under control: {list}\n"));
        }
        if let Some(corpus) = &self.corpus {
            text.push_str(&corpus.text());
        }
        for note in &self.notes {
            text.push_str(&format!("  note: {}\n", visible(note)));
        }
        text.push_str(&self.asides(style));
        if self.findings.len() > 1 || !reported {
            for found in &self.findings {
                let file = found.file();
                let first = found.execution;
                // What executions show besides their ends is looked into once.
                let when = match Class::from_name(&found.class) {
                    Some(Class::Race | Class::Leak) => format!("first in execution {first}"),
                    _ => format!(
                        "in {}, first in number {first}",
                        count(found.seen, "execution")
                    ),
                };
                text.push_str(&format!(
                    "  {} ({when}): {}  {}\n",
                    style.bold(&found.class),
                    found.message,
                    file
                ));
            }
        }
        for found in &self.findings {
            if let Some(since) = &found.known_since {
                let (class, name) = (&found.class, &found.fingerprint);
                text.push_str(&format!("  {class} {name}: known since {since} UTC\n"));
            }
        }
        text
    }
}

impl Summary {
    /// The verdict in words, and whether it is a good one. "Nothing found" is said only where nothing
    /// was: beside what was found and does not fail the run stands that no execution failed, or none
    /// but by a time-out that came early.
    pub fn claim(&self) -> (String, bool) {
        let failed_early = self.reports.iter().any(|found| found.time_out.is_some());
        let nothing = match (self.reported().is_some(), self.interrupted) {
            (false, false) => "nothing found",
            (false, true) => "nothing found so far",
            (true, false) if failed_early => "no other failure",
            (true, true) if failed_early => "no other failure so far",
            (true, false) => "no failure",
            (true, true) => "no failure so far",
        };
        let (claim, good) = match self.verdict {
            // Whatever else: that is no search in which nothing was found.
            Verdict::NothingFoundWithinBounds
            | Verdict::VerifiedWithinBounds
            | Verdict::ExploredWithinBounds
                if self.came_to_no_end() =>
            {
                let stopped = if self.interrupted { "stopped, " } else { "" };
                (format!("{stopped}no execution came to its end"), true)
            }
            Verdict::NothingFound | Verdict::NothingFoundWithinBounds if self.interrupted => {
                (format!("stopped, {nothing}"), true)
            }
            Verdict::NothingFoundWithinBounds => (format!("{nothing}, within bounds"), true),
            Verdict::NothingFound => (nothing.to_string(), true),
            Verdict::Finding => ("failed".to_string(), false),
            Verdict::Verified => ("verified".to_string(), true),
            Verdict::VerifiedWithinBounds => ("verified within bounds".to_string(), true),
            Verdict::Explored => (format!("all interleavings explored, {nothing}"), true),
            Verdict::ExploredWithinBounds => (format!("explored within bounds, {nothing}"), true),
            Verdict::Diverged => ("diverged".to_string(), false),
            Verdict::Unsupported => ("unsupported".to_string(), false),
            Verdict::ToolFault => ("tool fault".to_string(), false),
            Verdict::NotRun => ("not run".to_string(), false),
        };
        let cut = self.outcomes.get(STEP_LIMIT).copied().unwrap_or(0);
        let told = self.reported().into_iter();
        let cut =
            (cut > 0).then(|| format!("{} cut off by the step limit", count(cut, "execution")));
        let told: Vec<String> = told.chain(cut).filter(|_| good).collect();
        match &told[..] {
            [] => (claim, good),
            told => (format!("{claim}, {}", told.join(", ")), good),
        }
    }

    /// Was each execution cut short, or none made?
    fn came_to_no_end(&self) -> bool {
        self.outcomes.values().all(|times| *times == 0)
    }

    /// What was found that does not fail the run, and what would make it.
    fn reported(&self) -> Option<String> {
        let early = |found: &Found| found.time_out.is_some();
        let race = |found: &Found| !early(found) && found.class == Class::Race.name();
        let leak = |found: &Found| !early(found) && found.class == Class::Leak.name();
        let number = |is_one: &dyn Fn(&Found) -> bool| {
            self.reports.iter().filter(|found| is_one(found)).count() as u64
        };
        let kinds = [
            (
                number(&early),
                "failure",
                " by an early time-out",
                "--early-timeouts=fail",
            ),
            (number(&race), "data race", "", "--races=fail"),
            (number(&leak), "leaked thread", "", "--leaked-threads=fail"),
        ];
        let there = kinds.into_iter().filter(|kind| kind.0 > 0);
        let told = there.map(|(n, what, how, option)| {
            let does = if n == 1 { "does" } else { "do" };
            let n = count(n, what);
            format!("{n}{how} reported ({does} not fail the run; {option})")
        });
        let mut told: Vec<String> = told.collect();
        for class in [Class::Deadlock, Class::Race] {
            let same = |p: &&Possibility| p.class == class.name();
            let n = self.possibilities.iter().filter(same).count() as u64;
            if n > 0 {
                told.push(count(n, &format!("possible {class}")));
            }
        }
        (!told.is_empty()).then(|| told.join(", "))
    }

    /// What does not decide the verdict.
    fn asides(&self, style: Style) -> String {
        let mut text = String::new();
        for found in &self.reports {
            let file = found.file();
            text.push_str(&format!(
                "  {}: {}  {}\n",
                style.bold(&found.class),
                found.message,
                file
            ));
        }
        for possibility in &self.possibilities {
            text.push_str(&format!(
                "  possible {}: {}\n",
                possibility.class,
                visible(&possibility.message)
            ));
        }
        for (rule, n) in &self.suppressed {
            text.push_str(&format!("  suppressed by {}: {n}\n", visible(rule)));
        }
        text
    }
}

impl Verification {
    fn text(&self) -> String {
        let mut text = format!(
            "  {}, {}, {:.2} s in the solver, {:.2} s encoding, {:.2} s executing\n",
            count(self.local_paths, "local path"),
            match (self.queries, self.spared_queries) {
                (1, 0) => "1 query".to_string(),
                (n, 0) => format!("{n} queries"),
                (n, spared) => format!("{n} queries ({spared} more answered by others)"),
            },
            self.solver_seconds,
            self.encoding_seconds,
            self.executing_seconds
        );
        let lists = [
            ("bound", &self.bounds),
            ("assumes", &self.assumptions),
            ("made concrete", &self.concretised),
        ];
        for (what, list) in lists {
            for entry in list {
                text.push_str(&format!("  {what}: {entry}\n"));
            }
        }
        text
    }
}

pub fn count(n: u64, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_only_assumed_is_told() {
        for (outcomes, told) in [
            (&["assumption"][..], true),
            (&["assumption", "redundant"], true),
            (&["assumption", "exit 0"], false),
            (&["redundant"], false),
            (&[], false),
        ] {
            let mut summary = Summary::new("dpor".into(), 1);
            let labels = outcomes.iter().map(|label| (label.to_string(), 3));
            summary.outcomes = labels.collect();
            summary.note_if_only_assumed();
            assert_eq!(summary.notes.len() == 1, told, "{outcomes:?}");
        }
    }

    #[test]
    fn verdicts_have_their_names_and_codes() {
        let table = [
            (Verdict::NothingFound, "nothing-found", Exit::Clean),
            (
                Verdict::NothingFoundWithinBounds,
                "nothing-found-within-bounds",
                Exit::WithinBounds,
            ),
            (Verdict::Finding, "finding", Exit::Finding),
            (Verdict::Verified, "verified", Exit::Clean),
            (
                Verdict::VerifiedWithinBounds,
                "verified-within-bounds",
                Exit::WithinBounds,
            ),
            (Verdict::Explored, "explored", Exit::Clean),
            (
                Verdict::ExploredWithinBounds,
                "explored-within-bounds",
                Exit::WithinBounds,
            ),
            (Verdict::Diverged, "diverged", Exit::Diverged),
            (Verdict::Unsupported, "unsupported", Exit::Unsupported),
            (Verdict::ToolFault, "tool-fault", Exit::ToolFault),
            (Verdict::NotRun, "not-run", Exit::InputOutput),
        ];
        for (verdict, name, exit) in table {
            let mut summary = Summary::new("random".into(), 1);
            summary.verdict = verdict;
            let json = serde_json::to_value(&summary).unwrap();
            assert_eq!(json["verdict"], name);
            assert_eq!(verdict.name(), name);
            assert_eq!(summary.exit(), exit);
        }
    }

    #[test]
    fn an_interrupted_search_is_not_a_clean_one_and_keeps_its_findings() {
        let mut summary = Summary::new("random".into(), 1);
        summary.interrupted = true;
        assert_eq!(summary.exit(), Exit::Interrupted);
        summary.verdict = Verdict::Finding;
        assert_eq!(summary.exit(), Exit::Finding);
    }

    #[test]
    fn what_came_to_no_end_is_not_called_a_search() {
        for verdict in [
            Verdict::NothingFoundWithinBounds,
            Verdict::VerifiedWithinBounds,
            Verdict::ExploredWithinBounds,
        ] {
            for (interrupted, claim) in [
                (false, "no execution came to its end"),
                (true, "stopped, no execution came to its end"),
            ] {
                let mut summary = Summary::new("random".into(), 1);
                (summary.verdict, summary.interrupted) = (verdict, interrupted);
                assert_eq!(summary.claim(), (claim.to_string(), true));
                summary.outcomes.insert("exit 0".into(), 1);
                assert_ne!(summary.claim().0, claim, "{verdict:?}");
            }
        }
    }

    #[test]
    fn nothing_found_is_said_only_where_nothing_was() {
        let race = Possibility {
            class: Class::Deadlock.to_string(),
            message: String::new(),
            fingerprint: String::new(),
            places: Vec::new(),
        };
        for verdict in [
            Verdict::NothingFound,
            Verdict::Explored,
            Verdict::ExploredWithinBounds,
        ] {
            for interrupted in [false, true] {
                let mut summary = Summary::new("random".into(), 1);
                (summary.verdict, summary.interrupted) = (verdict, interrupted);
                summary.outcomes.insert("exit 0".into(), 1);
                assert!(summary.claim().0.contains("nothing found"), "{verdict:?}");
                summary.possibilities.push(race.clone());
                let (claim, good) = summary.claim();
                assert!(good && !claim.contains("nothing found"), "{claim}");
                assert!(claim.ends_with("1 possible deadlock"), "{claim}");
            }
        }
    }
}
