//! SARIF 2.1.0: each finding with its places, its stacks, and its interleaving as a flow for each
//! thread.

use super::{Content, Told};
use crate::class::Class;
use crate::exit::Exit;
use crate::report::{Names, Row, own_part, rows, source_path};
use crate::summary::{Found, Possibility, Summary};
use crate::symbols::own_place;
use crate::terminal::visible_lines;
use raddle_protocol::event::Kind;
use raddle_protocol::slot;
use raddle_protocol::witness::{Site, Witness};
use serde_json::json;
use serde_sarif::sarif::{
    ArtifactLocation, Attachment, CodeFlow, Invocation, Location, LogicalLocation, Message,
    MultiformatMessageString, Notification, PhysicalLocation, PropertyBag, Region,
    ReportingDescriptor, Result as Outcome, ResultLevel, Run, RunAutomationDetails, Sarif, Stack,
    StackFrame, ThreadFlow, ThreadFlowLocation, Tool, ToolComponent,
};
use std::collections::BTreeMap;
use std::path::Path;

/// The base of relative paths: the working directory.
const ROOT: &str = "SRCROOT";
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// The name of our fingerprints, with their version.
const FINGERPRINT: &str = "raddle/v1";

/// The whole file.
pub fn log(runs: Vec<Run>) -> Sarif {
    Sarif::builder()
        .schema(SCHEMA)
        .version(json!("2.1.0"))
        .runs(runs)
        .build()
}

/// The file's text.
pub fn text(log: &Sarif) -> String {
    let mut text = serde_json::to_string_pretty(log).expect("plain data has a JSON form");
    text.push('\n');
    text
}

/// The runs in a file's text.
pub fn read(text: &str) -> Option<Vec<Run>> {
    Some(serde_json::from_str::<Sarif>(text).ok()?.runs)
}

/// A run of one test among others: what its results are told apart by from night to night.
pub fn renamed(mut run: Run, test: &str) -> Run {
    run.automation_details = Some(details(test));
    run
}

/// One command.
pub fn run(content: &Content) -> Run {
    let summary = content.summary;
    let told = |level: ResultLevel| {
        move |(found, witness): &Told| result(found, witness.as_ref(), level, summary)
    };
    let mut results: Vec<Outcome> = Vec::new();
    results.extend(content.findings.iter().map(told(ResultLevel::Error)));
    results.extend(content.reports.iter().map(told(ResultLevel::Warning)));
    results.extend(summary.possibilities.iter().map(possibility));
    let rules = Class::ALL.map(|class| {
        let description = MultiformatMessageString::builder().text(class.description());
        ReportingDescriptor::builder()
            .id(class.name())
            .short_description(description.build())
            .build()
    });
    let driver = ToolComponent::builder()
        .name("raddle")
        .semantic_version(env!("CARGO_PKG_VERSION"))
        .rules(rules.to_vec())
        .build();
    let here = std::env::current_dir().unwrap_or_default();
    let root = ArtifactLocation::builder().uri(format!("{}/", uri(&here)));
    Run::builder()
        .tool(Tool::builder().driver(driver).build())
        .automation_details(details(&content.subject.test))
        .original_uri_base_ids(BTreeMap::from([(ROOT.to_string(), root.build())]))
        .invocations(vec![invocation(content)])
        .results(results)
        .build()
}

fn details(test: &str) -> RunAutomationDetails {
    // What follows the last slash would tell runs of one test apart.
    let id = format!("raddle/{test}/");
    RunAutomationDetails::builder().id(id).build()
}

fn invocation(content: &Content) -> Invocation {
    let summary = content.summary;
    let notification = |level: &str, text: String| {
        Notification::builder()
            .level(json!(level))
            .message(message(text))
            .build()
    };
    let uncontrolled = summary.uncontrolled.iter();
    let uncontrolled =
        uncontrolled.map(|what| notification("warning", format!("not under control: {what}")));
    let notes = summary
        .notes
        .iter()
        .map(|note| notification("note", note.clone()));
    let trouble = content.trouble.iter();
    let trouble = trouble.map(|trouble| notification("error", trouble.to_string()));
    let exit = content
        .trouble
        .map_or(summary.exit(), |trouble| trouble.exit);
    let came_to_its_end = matches!(exit, Exit::Clean | Exit::Finding | Exit::WithinBounds);
    Invocation::builder()
        .execution_successful(
            came_to_its_end && !summary.interrupted && summary.came_to_something(),
        )
        .exit_code(i64::from(exit.code()))
        .exit_code_description(summary.verdict.name())
        .tool_execution_notifications(trouble.chain(uncontrolled).chain(notes).collect::<Vec<_>>())
        .properties(properties([
            ("command", json!(content.subject.test)),
            ("executions", json!(summary.executions)),
            ("seconds", json!(summary.seconds)),
            ("policy", json!(summary.policy)),
            ("seed", json!(summary.seed)),
        ]))
        .build()
}

fn result(
    found: &Found,
    witness: Option<&Witness>,
    level: ResultLevel,
    summary: &Summary,
) -> Outcome {
    // A corpus remembers findings, not what is only reported.
    let remembered = summary.corpus.is_some() && level == ResultLevel::Error;
    let baseline = remembered.then(|| match found.known_since {
        Some(_) => json!("unchanged"),
        None => json!("new"),
    });
    let attachments = found.witness.as_deref().map(|file| {
        let attachment = Attachment::builder()
            .artifact_location(artifact(file))
            .description(message("the witness, for `raddle replay`"));
        vec![attachment.build()]
    });
    let mut result = outcome(&found.class, &found.message, &found.fingerprint, level);
    result.occurrence_count = Some(found.seen.max(1) as i64);
    result.baseline_state = baseline;
    result.attachments = attachments;
    result.properties = Some(properties([
        ("execution", json!(found.execution)),
        ("preemptions", json!(found.preemptions)),
        ("fewest", json!(found.fewest)),
        ("reproduced", json!(found.reproduced)),
        ("inputs", json!(found.inputs)),
    ]));
    if let Some(witness) = witness {
        let names = Names::new(&witness.events);
        result.locations = Some(places(witness));
        result.related_locations = Some(related(witness, &names));
        result.stacks = Some(stacks(witness, &names));
        result.code_flows = interleaving(witness, &names).map(|flow| vec![flow]);
    }
    result
}

/// What may be wrong and was not confirmed.
fn possibility(possibility: &Possibility) -> Outcome {
    let text = format!(
        "possible, not confirmed: {} ({})",
        possibility.message,
        possibility.places.join(", ")
    );
    let fingerprint = &possibility.fingerprint;
    outcome(&possibility.class, &text, fingerprint, ResultLevel::Note)
}

fn outcome(class: &str, text: &str, fingerprint: &str, level: ResultLevel) -> Outcome {
    let rule = Class::ALL.iter().position(|known| known.name() == class);
    let fingerprints = BTreeMap::from([(FINGERPRINT.to_string(), fingerprint.to_string())]);
    let mut result = Outcome::builder()
        .rule_id(class)
        .level(level)
        .message(message(text))
        .partial_fingerprints(fingerprints)
        .build();
    result.rule_index = rule.map(|at| at as i64);
    result
}

/// Where it happened: for a deadlock, where those wait that are in it.
fn places(witness: &Witness) -> Vec<Location> {
    let finding = &witness.finding;
    let cycle = finding.waits.iter().any(|wait| wait.in_cycle);
    let waits = finding.waits.iter().filter(|wait| wait.in_cycle == cycle);
    let mut sites: Vec<u32> = waits.map(|wait| wait.site).collect();
    if sites.is_empty() {
        let accesses = finding.accesses.iter().map(|access| &access.stack);
        let creations = finding.threads.iter().map(|thread| &thread.stack);
        let mut stacks = std::iter::once(&finding.stack)
            .chain(accesses)
            .chain(creations);
        sites.extend(stacks.find_map(|stack| top(stack, witness)));
    }
    let sites = sites.iter().map(|&site| &witness.sites[site as usize]);
    sites.filter_map(|site| location(site, None)).collect()
}

/// The innermost place of a stack, in the user's own code if there is one.
fn top(stack: &[u32], witness: &Witness) -> Option<u32> {
    let stack = own_part(stack, witness);
    own_place(stack, &witness.sites).or(stack.first().copied())
}

/// What else has to do with it.
fn related(witness: &Witness, names: &Names) -> Vec<Location> {
    let finding = &witness.finding;
    let mut all: Vec<(u32, String)> = Vec::new();
    for access in &finding.accesses {
        let object = witness.objects.get(access.object as usize);
        let object = object.map_or(String::new(), |object| format!(" at {}", object.name));
        let text = format!("{}{object} by {}", access.what, names.of(access.thread));
        all.extend(top(&access.stack, witness).map(|site| (site, text)));
    }
    for wait in &finding.waits {
        let holder = (wait.holder != slot::NONE).then(|| names.of(wait.holder));
        let object = witness.objects.get(wait.object as usize);
        let object = object.map(|object| object.name.as_str());
        let what = match (object, &holder) {
            (Some(object), _) => object.to_string(),
            (None, Some(thread)) => format!("{thread} to end"),
            (None, None) => "what nobody will do".to_string(),
        };
        let text = format!("{} waits for {what}", names.of(wait.thread));
        all.push((wait.site, text));
        if let (Some(site), Some(holder)) = (wait.holder_site, holder) {
            all.push((site, format!("{holder} took {what}")));
        }
    }
    for thread in &finding.threads {
        let (who, creator) = (names.of(thread.thread), names.of(thread.creator));
        let site = top(&thread.stack, witness);
        all.extend(site.map(|site| (site, format!("{who} was created by {creator}"))));
    }
    let notes = finding.notes.iter().chain(&finding.time_out);
    all.extend(notes.filter_map(|note| Some((note.site?, note.text.clone()))));
    let place = |(site, text): (u32, String)| location(&witness.sites[site as usize], Some(text));
    all.into_iter().filter_map(place).collect()
}

fn stacks(witness: &Witness, names: &Names) -> Vec<Stack> {
    let finding = &witness.finding;
    let mut all: Vec<(String, &[u32])> = Vec::new();
    let of = |thread| format!("stack of {}", names.of(thread));
    if !finding.waits.iter().any(|w| w.thread == finding.thread) {
        all.push((of(finding.thread), &finding.stack));
    }
    for access in &finding.accesses {
        all.push((of(access.thread), &access.stack));
    }
    for wait in &finding.waits {
        let who = names.of(wait.thread);
        all.push((format!("where {who} waits"), &wait.stack));
        for hold in &wait.holds {
            let object = witness.objects.get(hold.object as usize);
            let object = object.map_or("a lock", |object| object.name.as_str());
            all.push((format!("where {who} took {object}"), &hold.stack));
        }
    }
    all.retain(|(_, stack)| !stack.is_empty());
    let stack = |(text, stack): (String, &[u32])| {
        let sites = own_part(stack, witness).iter();
        let sites = sites.map(|&site| &witness.sites[site as usize]);
        let frames = sites.flat_map(|site| (0..site.frames.len()).map(move |i| frame(site, i)));
        Stack::builder()
            .message(message(text))
            .frames(frames.collect::<Vec<_>>())
            .build()
    };
    all.into_iter().map(stack).collect()
}

fn frame(site: &Site, index: usize) -> StackFrame {
    let mut frame = StackFrame::builder().build();
    frame.location = location_of(site, index, None);
    frame
}

/// The interleaving; `None` where nothing of it is known.
fn interleaving(witness: &Witness, names: &Names) -> Option<CodeFlow> {
    let mut threads: BTreeMap<u16, Vec<ThreadFlowLocation>> = BTreeMap::new();
    let after = witness.events.len() + 1;
    for row in rows(witness, names, false) {
        threads
            .entry(row.thread)
            .or_default()
            .push(step(&row, witness, after));
    }
    let flow = |(thread, locations): (u16, Vec<ThreadFlowLocation>)| {
        let name = names.of(thread);
        ThreadFlow::builder()
            .id(name.as_str())
            .message(message(format!("thread {name}")))
            .locations(locations)
            .build()
    };
    let flows: Vec<ThreadFlow> = threads.into_iter().map(flow).collect();
    if flows.is_empty() {
        return None;
    }
    let mut text = "the interleaving, by executionOrder".to_string();
    if witness.events_left_out > 0 {
        let n = witness.events_left_out;
        text.push_str(&format!(
            "; {n} events from the middle are not in the witness"
        ));
    }
    let flow = CodeFlow::builder()
        .message(message(text))
        .thread_flows(flows);
    Some(flow.build())
}

/// One line of one thread; `after` is the order of what never happened.
fn step(row: &Row, witness: &Witness, after: usize) -> ThreadFlowLocation {
    let mut text = row.did.join(", ");
    if text.is_empty() {
        text = row
            .source
            .clone()
            .unwrap_or_else(|| Kind::Choice.text().to_string());
    }
    let importance = match row.preempts {
        true => {
            text.push_str(" (another thread was interrupted here)");
            "essential"
        }
        false => "important",
    };
    let site = &witness.sites[row.site as usize];
    let location = location(site, Some(text.clone()));
    let nowhere = || Location::builder().message(message(text)).build();
    ThreadFlowLocation::builder()
        .execution_order(row.number.unwrap_or(after) as i64)
        .importance(json!(importance))
        .location(location.unwrap_or_else(nowhere))
        .build()
}

fn location(site: &Site, text: Option<String>) -> Option<Location> {
    location_of(site, site.shown as usize, text)
}

/// The place of a frame; `None` if neither a file nor a function is known.
fn location_of(site: &Site, frame: usize, text: Option<String>) -> Option<Location> {
    let frame = site.frames.get(frame)?;
    if frame.file.is_none() && frame.function.is_none() {
        return None;
    }
    let mut location = Location::builder().build();
    location.message = text.map(message);
    location.logical_locations = frame.function.as_deref().map(|function| {
        let place = LogicalLocation::builder()
            .fully_qualified_name(function)
            .kind("function");
        vec![place.build()]
    });
    location.physical_location = frame.file.as_deref().map(|file| {
        let mut source = artifact(&source_path(file));
        // Rust's own sources lie below no folder that is known.
        source.uri_base_id = source.uri_base_id.filter(|_| !file.starts_with("/rustc/"));
        let mut place = PhysicalLocation::builder()
            .artifact_location(source)
            .build();
        // Lines are counted from 1.
        let line = frame.line.filter(|&line| line > 0);
        place.region = line.map(|line| Region::builder().start_line(i64::from(line)).build());
        place
    });
    Some(location)
}

fn artifact(path: &Path) -> ArtifactLocation {
    let mut place = ArtifactLocation::builder().uri(uri(path)).build();
    place.uri_base_id = path.is_relative().then(|| ROOT.to_string());
    place
}

/// A path as a URI: absolute ones with their scheme, others relative.
fn uri(path: &Path) -> String {
    let mut uri = match path.is_absolute() {
        true => "file://".to_string(),
        false => String::new(),
    };
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

fn message(text: impl Into<String>) -> Message {
    Message::builder().text(visible_lines(&text.into())).build()
}

fn properties<const N: usize>(all: [(&str, serde_json::Value); N]) -> PropertyBag {
    let all = all.map(|(name, value)| (name.to_string(), value));
    PropertyBag::builder()
        .additional_properties(BTreeMap::from(all))
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        let table = [
            ("src/a b.c", "src/a%20b.c"),
            ("/x/ä#1.c", "file:///x/%C3%A4%231.c"),
            ("a:b.c", "a%3Ab.c"),
        ];
        for (path, expected) in table {
            assert_eq!(uri(Path::new(path)), expected);
        }
    }
}
