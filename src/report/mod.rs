//! A witness as people read it. Everything comes from the witness: nothing is run.

mod clean;
mod sides;
mod table;
mod text;
mod waits;
mod words;

pub use clean::{clean, origin};
pub use table::{Row, rows};
pub use text::{Names, Style, base_name, place, source_path};
pub use waits::{FoundWait, found_waits};
pub use words::words as event_words;

use crate::symbols::is_own_code;
use crate::terminal::visible;
use raddle_protocol::descriptor::{self, What};
use raddle_protocol::slot;
use raddle_protocol::witness::{Bytes, Input, PATH, Site, Witness};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;
use text::{beside, cut, full_place, in_lines, short_function};

/// Lines of a report that is not [`Style::full`].
pub const MOST_LINES: usize = 60;
/// Lines that the interleaving has at least.
const LEAST_ROWS: usize = 16;
/// Lines that every other part has at least, if it is longer.
const LEAST_PART: usize = 3;

/// The whole report, of at most [`MOST_LINES`] unless all is wanted. `file` is where the witness
/// lies, for the command that replays it.
pub fn report(witness: &Witness, file: Option<&Path>, style: Style) -> String {
    let witness = &clean(witness, true);
    let names = Names::new(&witness.events);
    let head = head(witness, &names, style);
    let foot = foot(witness, file, style);
    let mut before = [
        stack(witness, &names, style),
        sides::accesses(witness, &names, style),
        waits::who_waits(witness, &names, style),
        waits::stacks(witness, &names, style),
        sides::threads(witness, &names, style),
        notes(witness, style),
        inputs(witness, &names, style),
    ];
    let mut after = [
        blocks(witness, &names, style),
        output("standard output", &witness.finding.stdout, style),
        output("standard error", &witness.finding.stderr, style),
    ];
    let mut table = interleaving(witness, &names, style);
    if style.brief {
        table.clear();
        after.iter_mut().for_each(Vec::clear);
    }
    if !style.full {
        let parts = || before.iter().chain(&after).map(Vec::len);
        let rows = table.len().min(LEAST_ROWS);
        let room = MOST_LINES.saturating_sub(head.len() + foot.len() + rows);
        let longest = parts().max().unwrap_or(0).max(LEAST_PART);
        let fits = |most: &usize| parts().map(|len| len.min(*most)).sum::<usize>() <= room;
        let most = (LEAST_PART..=longest).rev().find(fits);
        let most = most.unwrap_or(LEAST_PART);
        for part in before.iter_mut().chain(&mut after) {
            shorten(part, most, most - 1, style);
        }
        let others: usize = before.iter().chain(&after).map(Vec::len).sum();
        let room = MOST_LINES.saturating_sub(head.len() + foot.len() + others);
        let room = room.max(LEAST_ROWS);
        shorten(&mut table, room, room / 4, style);
    }
    let parts = before.into_iter().chain([table]).chain(after);
    let lines = head.into_iter().chain(parts.flatten()).chain(foot);
    let mut text = String::new();
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// Leaves lines out of a part that has more than `most`, behind so many of the first.
fn shorten(lines: &mut Vec<String>, most: usize, first: usize, style: Style) {
    let Some(too_many) = lines.len().checked_sub(most).filter(|&n| n > 0) else {
        return;
    };
    let left_out = too_many + 1;
    let gap = style.dim(&format!(
        "      … {left_out} more lines (`raddle show --full`) …"
    ));
    lines.splice(first..first + left_out, [gap]);
}

fn head(witness: &Witness, names: &Names, style: Style) -> Vec<String> {
    let finding = &witness.finding;
    let program = base_name(&witness.command.program.to_text()).to_string();
    let title = format!("{} in {program}", finding.class);
    let title = match finding.class.as_str() {
        PATH => style.green(&title),
        _ => style.red(&title),
    };
    let mut lines = vec![format!("{title}: {}", finding.message)];
    let how = match finding.policy.as_str() {
        "verify" => "verify".to_string(),
        policy => format!("policy {policy}, seed {}", finding.seed),
    };
    // When a thread ends and leaves the others waiting, nobody runs.
    let who = match finding.thread {
        slot::NONE => String::new(),
        thread => format!("thread {}, ", names.of(thread)),
    };
    let mut facts = vec![format!("{who}execution {} ({how})", finding.execution)];
    if finding.reproduced {
        facts[0].push(',');
        facts.push(match (finding.found_preemptions, finding.preemptions) {
            (found, now) if now < found => format!("shrunk from {found} to {}", preemptions(now)),
            (_, now) => preemptions(now),
        });
        if finding.fewest && finding.preemptions > 0 {
            facts.push("(no fewer will do)".to_string());
        }
    }
    lines.extend(in_lines(&facts, "  ", style));
    if let Some(note) = &finding.time_out {
        lines.push(format!("  {}", style.yellow(&note.text)));
    }
    if !finding.reproduced {
        let why = "seen once; the same schedule, replayed, did not show it again, or there was no time for that";
        lines.push(format!("  {}: {why}", style.yellow("not reproduced")));
    }
    if !finding.uncontrolled.is_empty() {
        let list = finding.uncontrolled.join(", ");
        lines.push(format!("  {}: {list}", style.yellow("not controlled")));
    }
    lines
}

fn preemptions(n: u64) -> String {
    match n {
        0 => "no preemption".to_string(),
        1 => "1 preemption".to_string(),
        n => format!("{n} preemptions"),
    }
}

fn heading(text: &str, style: Style) -> [String; 2] {
    [String::new(), format!("  {}", style.bold(text))]
}

fn stack(witness: &Witness, names: &Names, style: Style) -> Vec<String> {
    let finding = &witness.finding;
    if finding.stack.is_empty() || waits::shows_stack_of(finding.thread, witness, style) {
        return Vec::new();
    }
    let title = format!("stack of {}", names.of(finding.thread));
    let mut lines = heading(&title, style).to_vec();
    lines.extend(frames(&finding.stack, witness, style));
    lines
}

/// The frames of a stack, one a line.
fn frames(stack: &[u32], witness: &Witness, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    let mut number = 0;
    'stack: for &site in own_part(stack, witness) {
        let site = &witness.sites[site as usize];
        for (i, frame) in site.frames.iter().enumerate() {
            let function = frame.function.as_deref().map(short_function);
            let function = function.unwrap_or_else(|| "??".to_string());
            let place = full_place(frame).unwrap_or_else(|| module_place(witness, site));
            let inlined = match i + 1 < site.frames.len() {
                true => " (inlined)",
                false => "",
            };
            let parts = [
                format!("#{number:<2} {function}{inlined}"),
                format!("at {place}"),
            ];
            lines.extend(in_lines(&parts, "    ", style));
            let is_shown = i == site.shown as usize;
            if let (true, Some(line)) = (is_shown, lines.pop()) {
                let source = site.source.as_deref();
                lines.push(
                    beside(format!("{line}  "), source, 60, style)
                        .trim_end()
                        .into(),
                );
            }
            number += 1;
            // What called it is the same for every program.
            if frame.function.as_deref() == Some("main") {
                break 'stack;
            }
        }
    }
    lines
}

/// Without the part of the libraries below a thread's start routine, and without what a panic of
/// Rust does before it unwinds (`__rust_end_short_backtrace` is where Rust's own report begins).
pub fn own_part<'a>(stack: &'a [u32], witness: &Witness) -> &'a [u32] {
    let frames = |&site: &u32| witness.sites[site as usize].frames.iter();
    let is_of_panic = |site: &u32| {
        frames(site).any(|frame| {
            let function = frame.function.as_deref().unwrap_or_default();
            let parts = ["__rustc::", "std::panicking::", "core::panicking::"];
            parts.iter().any(|part| function.starts_with(part))
                || function.contains("__rust_end_short_backtrace")
        })
    };
    let panicking = stack.iter().take_while(|&site| is_of_panic(site)).count();
    let stack = &stack[panicking % stack.len().max(1)..];
    let own = |site: &u32| frames(site).any(is_own_code);
    let located = |site: &u32| frames(site).any(|frame| frame.file.is_some());
    let last = stack.iter().rposition(own);
    match last.or_else(|| stack.iter().rposition(located)) {
        Some(last) => &stack[..=last],
        None => stack,
    }
}

fn module_place(witness: &Witness, site: &Site) -> String {
    match site.module.and_then(|m| witness.modules.get(m as usize)) {
        Some(module) => {
            let path = module.path.to_text();
            format!("{}+{:#x}", base_name(&path), site.offset)
        }
        None => format!("{:#x}", site.offset),
    }
}

/// `line`, which ends before a place, with that place and its source.
fn located(line: &str, site: &Site, style: Style) -> String {
    let line = format!("{line}{}", place(site));
    beside(line, site.source.as_deref(), 50, style)
}

fn notes(witness: &Witness, style: Style) -> Vec<String> {
    let notes = &witness.finding.notes;
    let mut lines = Vec::new();
    for note in notes {
        let text = format!("    {}", note.text);
        lines.push(match note.site {
            Some(site) => located(&format!("{text} at "), &witness.sites[site as usize], style),
            None => text,
        });
    }
    if !lines.is_empty() {
        lines.insert(0, String::new());
    }
    lines
}

fn inputs(witness: &Witness, names: &Names, style: Style) -> Vec<String> {
    let inputs = &witness.recipe.inputs;
    if inputs.is_empty() {
        return Vec::new();
    }
    let mut lines = heading("inputs", style).to_vec();
    for input in inputs {
        let site = input.site.map(|s| &witness.sites[s as usize]);
        let place = site.map_or(String::new(), |s| format!(" at {}", self::place(s)));
        let who = names.of(input.thread);
        lines.push(format!("    {}  ({who}{place})", input_text(input)));
    }
    lines
}

/// An input with its name: as a text if it is an argument of the program, as a signed number where
/// it has a number's size, else as a text or as bytes.
fn input_text(input: &Input) -> String {
    let bytes = &input.bytes.0;
    let is_argument = |name: &String| name.starts_with("argument ");
    let value = match input_number(input) {
        _ if input.name.as_ref().is_some_and(is_argument) => {
            let end = bytes.iter().position(|&byte| byte == 0);
            format!("\"{}\"", bytes[..end.unwrap_or(bytes.len())].escape_ascii())
        }
        Some(number) => number.to_string(),
        None => text_of(bytes).unwrap_or_else(|| {
            let hex: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
            format!("bytes {}", hex.join(" "))
        }),
    };
    match &input.name {
        Some(name) => format!("{name} = {value}"),
        None => format!("input {} = {value}", input.index + 1),
    }
}

/// Bytes as a quoted text, if that is what they are up to the zeros at their end.
fn text_of(bytes: &[u8]) -> Option<String> {
    let zeros = bytes.iter().rev().take_while(|&&byte| byte == 0).count();
    let text = &bytes[..bytes.len() - zeros];
    let is_text = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    let end = match zeros {
        0 => String::new(),
        n => format!(" and {n} zero bytes"),
    };
    let whole = !text.is_empty() && text.iter().all(is_text);
    whole.then(|| format!("\"{}\"{end}", text.escape_ascii()))
}

/// An input as a signed number, if it has a number's size.
pub fn input_number(input: &Input) -> Option<i64> {
    let bytes = &input.bytes.0;
    if !matches!(bytes.len(), 1 | 2 | 4 | 8) {
        return None;
    }
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let shift = 64 - 8 * bytes.len() as u32;
    Some(i64::from_le_bytes(wide) << shift >> shift)
}

fn interleaving(witness: &Witness, names: &Names, style: Style) -> Vec<String> {
    let table = table::table(witness, names, style);
    if table.is_empty() {
        return Vec::new();
    }
    let mut title = match table::only_file(witness) {
        Some(file) => format!("the interleaving, by lines of {file}"),
        None => "the interleaving".to_string(),
    };
    if witness.events.iter().any(|e| e.preempts) {
        title.push_str(" (» here another thread was interrupted)");
    }
    let mut lines = heading(&title, style).to_vec();
    lines.extend(table);
    if witness.events_left_out > 0 {
        let n = witness.events_left_out;
        let line = format!("      {n} events from the middle are not in the witness");
        lines.push(style.dim(&line));
    }
    lines
}

/// Where the blocks of the heap come from that the table names; the first few.
fn blocks(witness: &Witness, names: &Names, style: Style) -> Vec<String> {
    const MOST: usize = 12;
    let mut lines: Vec<String> = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for object in &witness.objects {
        let Some(block) = &object.block else { continue };
        let name = object.name.split('+').next().unwrap_or(&object.name);
        if seen.iter().any(|s| s == name) || seen.len() == MOST {
            continue;
        }
        seen.push(name.to_string());
        let by = names.of(block.thread);
        let line = match descriptor::what_of(object.address) {
            Some(What::Messages | What::Semaphores) => {
                format!("    {name}: id {}, made by {by} at ", block.size)
            }
            Some(_) => format!("    {name}: {}, made by {by} at ", numbers(block.size)),
            None => format!("    {name}: {} bytes, allocated by {by} at ", block.size),
        };
        lines.push(located(&line, &witness.sites[block.site as usize], style));
    }
    if !lines.is_empty() {
        lines.insert(0, String::new());
    }
    lines
}

/// The descriptors that an object was made with, the second one in the upper half.
fn numbers(packed: u64) -> String {
    match (packed as u32, packed >> 32) {
        (one, 0) => format!("descriptor {one}"),
        (one, two) => format!("descriptors {one} and {two}"),
    }
}

fn output(what: &str, bytes: &Bytes, style: Style) -> Vec<String> {
    const LAST: usize = 8;
    if bytes.0.is_empty() {
        return Vec::new();
    }
    let text = bytes.to_text();
    let all: Vec<&str> = text.lines().collect();
    let last = &all[all.len().saturating_sub(LAST)..];
    let title = match last.len() < all.len() {
        true => format!("end of its {what}"),
        false => format!("its {what}"),
    };
    let mut lines = heading(&title, style).to_vec();
    let visible = |l: &&str| {
        let clean: String = l
            .chars()
            .map(|c| if c.is_control() { '·' } else { c })
            .collect();
        format!("    {}", cut(&clean, style.width.saturating_sub(4)))
    };
    lines.extend(last.iter().map(visible));
    lines
}

fn foot(witness: &Witness, file: Option<&Path>, style: Style) -> Vec<String> {
    let mut lines = vec![String::new()];
    lines.push(format!("  fingerprint {}", witness.finding.fingerprint));
    // Of what was seen once there is nothing to replay.
    if let Some(file) = file.filter(|_| witness.finding.reproduced) {
        let command = format!("raddle replay {}", shell_word(file.as_os_str()));
        lines.push(format!("  replay it   {}", style.bold(&command)));
        lines.push(format!("  in gdb      {command} --gdb"));
        if let Some(other) = witness
            .finding
            .other
            .as_ref()
            .filter(|o| !o.steps.is_empty())
        {
            lines.push(format!("  {}", other.what));
            lines.push(format!("              {command} --other"));
        }
    }
    lines
}

/// Quoted where a shell needs it; what cannot be seen, and what is no text, by its bytes.
pub fn shell_word(word: &OsStr) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    match word.to_str() {
        Some(text) if !text.is_empty() && text.chars().all(plain) => text.to_string(),
        Some(text) if visible(text) == text => format!("'{}'", text.replace('\'', r"'\''")),
        _ => {
            let byte = |&byte: &u8| match byte {
                b'\'' | b'\\' => format!("\\{}", char::from(byte)),
                b' '..=b'~' => char::from(byte).to_string(),
                _ => format!("\\x{byte:02x}"),
            };
            let bytes: String = word.as_encoded_bytes().iter().map(byte).collect();
            format!("$'{bytes}'")
        }
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub use tests::sample;
