//! The interleaving as a table: a column for each thread, a row for each source line.

use super::text::{Names, Style, base_name, cut, pad, place};
use super::words::{is_in_source, words};
use crate::symbols::is_own_code;
use console::measure_text_width;
use raddle_protocol::event::Kind;
use raddle_protocol::witness::{Record, Site, Witness};

/// One line of one thread: neighbouring events of the same source line.
pub struct Row {
    /// Number of its first event, from 1; `None` for what did not happen any more.
    pub number: Option<usize>,
    pub thread: u16,
    /// Index into the witness's sites.
    pub site: u32,
    place: String,
    pub source: Option<String>,
    /// What it did, beyond what the source says.
    pub did: Vec<String>,
    /// Another thread was interrupted.
    pub preempts: bool,
}

/// A row, or several that are left out.
enum Item {
    Row(Row),
    Gap(usize),
}

/// Of a long run of one thread, so many rows are shown at its start and at its end.
const RUN_ENDS: usize = 3;
/// Rows shown at the start and at the end of a long table; all preemptions are shown besides.
const FIRST: usize = 12;
const LAST: usize = 36;
/// Narrower columns than this are no use: threads are then told apart by their names.
const NARROWEST: usize = 26;
const WIDEST: usize = 56;
/// Columns of the number and the mark.
const MARGIN: usize = 8;

/// Lines of text, without line ends.
pub fn table(witness: &Witness, names: &Names, style: Style) -> Vec<String> {
    let rows = rows(witness, names, style.full);
    if rows.is_empty() {
        return Vec::new();
    }
    let items = if style.full {
        rows.into_iter().map(Item::Row).collect()
    } else {
        shorten(rows)
    };
    let mut threads: Vec<u16> = Vec::new();
    for item in &items {
        if let Item::Row(row) = item
            && !threads.contains(&row.thread)
        {
            threads.push(row.thread);
        }
    }
    threads.sort_unstable();
    let room = style.width.saturating_sub(MARGIN);
    let width = (room / threads.len()).min(WIDEST);
    if width >= NARROWEST {
        columns(&items, &threads, width, names, style)
    } else {
        list(&items, names, style)
    }
}

/// The one file that all lines are from, if there is only one: it need not be repeated.
pub fn only_file(witness: &Witness) -> Option<&str> {
    let mut only = None;
    for record in &witness.events {
        let site = &witness.sites[record.site as usize];
        let frame = &site.frames[site.shown as usize];
        if let Some(file) = frame.file.as_ref().filter(|_| is_own_code(frame)) {
            let file = base_name(file);
            if *only.get_or_insert(file) != file {
                return None;
            }
        }
    }
    only
}

/// All rows; in `full` with the returns of calls that nobody came in before.
pub fn rows(witness: &Witness, names: &Names, full: bool) -> Vec<Row> {
    let only = only_file(witness).map(|file| format!("{file}:"));
    let mut rows: Vec<Row> = Vec::new();
    let mut last: Option<(&Record, String)> = None;
    for (i, record) in witness.events.iter().enumerate() {
        let site = &witness.sites[record.site as usize];
        let mut here = shorten_place(site, only.as_deref());
        let starts = record.kind == Kind::ThreadStart as u8;
        if starts && !is_own_code(&site.frames[site.shown as usize]) {
            here = String::new();
        }
        // Worth a line where others came by in between.
        let follows = |(before, _): &(&Record, String)| before.thread == record.thread;
        let continues = last.as_ref().is_some_and(follows);
        if record.kind == Kind::Return as u8 && continues && !full {
            continue;
        }
        // What a library does on the way to the next line of one's own is told with the last one.
        let frame = &site.frames[site.shown as usize];
        let inside = frame.file.is_some() && !is_own_code(frame);
        let joins = match &last {
            Some((_, there)) => {
                let same = *there == here;
                let within = inside && continues && !record.preempts && !starts;
                if within {
                    here.clone_from(there);
                }
                within || (continues && !record.preempts && same)
            }
            None => false,
        };
        let belongs = record.kind == Kind::Choice as u8;
        let text = match is_in_source(record, site.source.as_deref()) {
            true => None,
            false => Some(words(record, witness, names)),
        };
        match rows.last_mut() {
            Some(row) if (joins || belongs) && row.thread == record.thread => {
                row.did.extend(text);
                join_lists(&mut row.did);
            }
            _ => rows.push(Row {
                number: Some(i + 1),
                thread: record.thread,
                site: record.site,
                place: here.clone(),
                source: site.source.clone(),
                did: text.into_iter().collect(),
                preempts: record.preempts,
            }),
        }
        last = Some((record, here));
    }
    for wait in &witness.finding.waits {
        let site = &witness.sites[wait.site as usize];
        rows.push(Row {
            number: None,
            thread: wait.thread,
            site: wait.site,
            place: shorten_place(site, only.as_deref()),
            source: site.source.clone(),
            did: vec!["waits for ever".to_string()],
            preempts: false,
        });
    }
    rows
}

/// "pthread_create T1", "pthread_create T2" become "pthread_create T1, T2".
fn join_lists(did: &mut Vec<String>) {
    let [.., before, last] = &did[..] else { return };
    for kind in [Kind::ThreadCreate, Kind::ThreadJoin] {
        if let (true, Some(name)) = (
            before.starts_with(kind.text()),
            last.strip_prefix(kind.text()),
        ) {
            let joined = format!("{before},{name}");
            did.truncate(did.len() - 2);
            did.push(joined);
            return;
        }
    }
}

fn shorten_place(site: &Site, only_file: Option<&str>) -> String {
    let place = place(site);
    match only_file.and_then(|file| place.strip_prefix(file)) {
        Some(line) => line.to_string(),
        None => place,
    }
}

/// Leaves out the middles of long runs, then the middle of a long table.
fn shorten(rows: Vec<Row>) -> Vec<Item> {
    let total = rows.len();
    let thread: Vec<u16> = rows.iter().map(|r| r.thread).collect();
    let switches_near = |i: usize| {
        let from = i.saturating_sub(RUN_ENDS);
        let to = (i + RUN_ENDS).min(total - 1);
        from == 0 && i < RUN_ENDS
            || to == total - 1 && i + RUN_ENDS >= total
            || (from..to).any(|k| thread[k] != thread[k + 1])
    };
    let preempted_near: Vec<bool> = (0..total)
        .map(|i| {
            rows[i.saturating_sub(1)..(i + 3).min(total)]
                .iter()
                .any(|r| r.preempts)
        })
        .collect();
    let mut kept: Vec<bool> = (0..total).map(switches_near).collect();
    let shown = kept.iter().filter(|&&k| k).count();
    if shown > FIRST + LAST {
        let mut seen = 0;
        for i in 0..total {
            seen += usize::from(kept[i]);
            kept[i] &= seen <= FIRST || seen + LAST > shown || preempted_near[i];
        }
    }
    let mut items: Vec<Item> = Vec::new();
    for (i, row) in rows.into_iter().enumerate() {
        // A gap of one row is longer than the row.
        let lonely = !kept[i] && (i == 0 || kept[i - 1]) && kept.get(i + 1) != Some(&false);
        match items.last_mut() {
            _ if kept[i] || lonely => items.push(Item::Row(row)),
            Some(Item::Gap(n)) => *n += 1,
            _ => items.push(Item::Gap(1)),
        }
    }
    items
}

fn columns(
    items: &[Item],
    threads: &[u16],
    width: usize,
    names: &Names,
    style: Style,
) -> Vec<String> {
    let mut head = " ".repeat(MARGIN);
    for &thread in threads {
        head.push_str(&pad(&names.of(thread), width));
    }
    let mut lines = vec![style.bold(head.trim_end())];
    for item in items {
        let row = match item {
            Item::Gap(n) => {
                lines.push(style.dim(&gap(*n)));
                continue;
            }
            Item::Row(row) => row,
        };
        let column = threads.iter().position(|&t| t == row.thread).unwrap_or(0);
        let indent = " ".repeat(column * width);
        for (i, text) in cell(row, width - 2, style.full).iter().enumerate() {
            let margin = margin(row, i == 0, style);
            let text = match i {
                0 => text.clone(),
                _ => style.dim(text),
            };
            lines.push(format!("{margin}{indent}{text}"));
        }
    }
    lines
}

fn list(items: &[Item], names: &Names, style: Style) -> Vec<String> {
    let widest = items.iter().filter_map(|item| match item {
        Item::Row(row) => Some(names.of(row.thread).len()),
        Item::Gap(_) => None,
    });
    let name_width = widest.max().unwrap_or(0) + 1;
    let room = style.width.saturating_sub(MARGIN + name_width + 1).max(20);
    let mut lines = Vec::new();
    for item in items {
        match item {
            Item::Gap(n) => lines.push(style.dim(&gap(*n))),
            Item::Row(row) if style.full => {
                for (i, text) in cell(row, room, true).iter().enumerate() {
                    let name = if i == 0 {
                        names.of(row.thread)
                    } else {
                        String::new()
                    };
                    let name = style.bold(&pad(&name, name_width));
                    lines.push(format!("{}{name}{text}", margin(row, i == 0, style)));
                }
            }
            Item::Row(row) => {
                let did = in_a_line(&row.did);
                let source = row.source.as_deref().unwrap_or("");
                // For want of room the source is cut off; it has half of it, at least.
                let rest = room.saturating_sub(measure_text_width(&row.place) + 4);
                let most = rest
                    .saturating_sub(measure_text_width(source))
                    .max(rest / 2);
                let did = match source.is_empty() {
                    true => did,
                    false => cut(&did, most),
                };
                let parts = [row.place.as_str(), did.as_str(), source];
                let parts: Vec<&str> = parts.into_iter().filter(|p| !p.is_empty()).collect();
                let text = parts.join("  ");
                let name = style.bold(&pad(&names.of(row.thread), name_width));
                let margin = margin(row, true, style);
                lines.push(format!("{margin}{name}{}", cut(&text, room)));
            }
        }
    }
    lines
}

/// What happened, without the middle where there is much of it.
fn in_a_line(did: &[String]) -> String {
    match did {
        [first, middle @ .., last] if middle.len() > 1 => {
            format!("{first}; … {} more; {last}", middle.len())
        }
        _ => did.join("; "),
    }
}

fn gap(rows: usize) -> String {
    format!("      … {rows} more lines …")
}

fn margin(row: &Row, first: bool, style: Style) -> String {
    match row.number {
        Some(number) if first && row.preempts => format!("{number:>5} {} ", style.yellow("»")),
        Some(number) if first => format!("{number:>5}   "),
        _ => " ".repeat(MARGIN),
    }
}

/// Place and source, then what happened: if it is not all wanted, in at most four lines, first and last.
fn cell(row: &Row, width: usize, full: bool) -> Vec<String> {
    let source = row.source.as_deref().unwrap_or("");
    let mut lines = Vec::new();
    if !row.place.is_empty() {
        let text = format!("{}  {source}", row.place);
        lines.push(cut(text.trim_end(), width));
    }
    const MOST: usize = 3;
    let mut wrapped: Vec<String> = Vec::new();
    for did in &row.did {
        match wrapped.last_mut() {
            Some(line) if line.chars().count() + 2 + did.chars().count() + 2 <= width => {
                line.push_str("; ");
                line.push_str(did);
            }
            _ => wrapped.push(did.clone()),
        }
    }
    if wrapped.len() > MOST && !full {
        let rest = wrapped.len() - (MOST - 1);
        wrapped.splice(1..=rest, [format!("… {rest} more")]);
    }
    // Without a line of source the words stand for themselves.
    let indent = if lines.is_empty() { "" } else { "  " };
    lines.extend(wrapped.iter().map(|l| cut(&format!("{indent}{l}"), width)));
    lines
}
