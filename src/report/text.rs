//! Small pieces of every report: colours, widths, names of places and threads.

use crate::same::without_hash;
use console::{StyledObject, measure_text_width};
use raddle_protocol::event::Kind;
use raddle_protocol::slot;
use raddle_protocol::witness::{Frame, Record, Site};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// How a report may look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns.
    pub width: usize,
    pub colour: bool,
    /// Leave nothing out of long interleavings.
    pub full: bool,
    /// Leave the interleaving and the outputs out.
    pub brief: bool,
}

/// Columns where the output is no terminal.
const DEFAULT_WIDTH: usize = 120;

impl Style {
    /// What suits the standard output.
    pub fn of_stdout() -> Style {
        Style::of(&console::Term::stdout(), console::colors_enabled())
    }

    /// What suits standard error.
    pub fn of_stderr() -> Style {
        Style::of(&console::Term::stderr(), console::colors_enabled_stderr())
    }

    fn of(terminal: &console::Term, colour: bool) -> Style {
        let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
        let width = match terminal.size_checked() {
            Some((_, columns)) => usize::from(columns),
            None => columns.unwrap_or(DEFAULT_WIDTH),
        };
        Style {
            width: width.clamp(40, 400),
            colour,
            full: false,
            brief: false,
        }
    }

    fn apply<'a>(
        self,
        text: &'a str,
        f: impl Fn(StyledObject<&'a str>) -> StyledObject<&'a str>,
    ) -> String {
        f(console::style(text).force_styling(self.colour)).to_string()
    }

    pub fn bold(self, text: &str) -> String {
        self.apply(text, StyledObject::bold)
    }

    pub fn dim(self, text: &str) -> String {
        self.apply(text, StyledObject::dim)
    }

    pub fn red(self, text: &str) -> String {
        self.apply(text, |t| t.red().bold())
    }

    pub fn yellow(self, text: &str) -> String {
        self.apply(text, |t| t.yellow().bold())
    }

    pub fn green(self, text: &str) -> String {
        self.apply(text, |t| t.green().bold())
    }
}

/// Cuts to a number of columns; the cut is marked.
pub fn cut(text: &str, width: usize) -> String {
    console::truncate_str(text, width, "…").into_owned()
}

/// A line with the source beside it, as far as there is room for so many columns of that.
pub fn beside(line: String, source: Option<&str>, most: usize, style: Style) -> String {
    const LEAST: usize = 12;
    let taken = measure_text_width(&line) + 2;
    let room = style.width.saturating_sub(taken).min(most);
    match source {
        Some(source) if room >= LEAST => format!("{line}  {}", style.dim(&cut(source, room))),
        _ => line,
    }
}

/// Parts in lines of the style's width, which begin with `indent`; what is wider than a line is parted at
/// spaces.
pub fn in_lines(parts: &[String], indent: &str, style: Style) -> Vec<String> {
    let room = style.width.saturating_sub(indent.len());
    let parts = parts
        .iter()
        .flat_map(|part| match measure_text_width(part) <= room {
            true => vec![part.as_str()],
            false => part.split(' ').collect(),
        });
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        let width = measure_text_width(part);
        match lines.last_mut() {
            Some(line) if measure_text_width(line) + 1 + width <= style.width => {
                line.push(' ');
                line.push_str(part);
            }
            _ => lines.push(format!("{indent}{part}")),
        }
    }
    lines
}

/// Fills up with spaces to a number of columns.
pub fn pad(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(measure_text_width(text));
    format!("{text}{}", " ".repeat(missing))
}

/// `file.c:12`, or the next best thing.
pub fn place(site: &Site) -> String {
    let frame = &site.frames[site.shown as usize];
    match (&frame.file, frame.line) {
        (Some(file), Some(line)) => format!("{}:{line}", base_name(file)),
        (Some(file), None) => base_name(file).to_string(),
        _ => match &frame.function {
            Some(function) => short_function(function),
            None if is_nowhere(site) => String::new(),
            None => format!("{:#x}", site.offset),
        },
    }
}

/// The place of events that the program's text does not contain, such as the end of a thread.
pub fn is_nowhere(site: &Site) -> bool {
    site.module.is_none() && site.offset == 0
}

/// A source file's path, relative to the working directory if it is below that.
pub fn source_path(file: &str) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let path = Path::new(file);
    let file = path.strip_prefix(&here).unwrap_or(path);
    // The path of Rust's own sources begins with a commit.
    match file.strip_prefix("/rustc") {
        Ok(rest) => rest.iter().skip(1).collect(),
        Err(_) => file.to_path_buf(),
    }
}

/// The place with its whole path, as editors understand it.
pub fn full_place(frame: &Frame) -> Option<String> {
    let file = source_path(frame.file.as_deref()?);
    Some(match frame.line {
        Some(line) => format!("{}:{line}", file.display()),
        None => file.display().to_string(),
    })
}

pub fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A function's name without template arguments, parameters and hashes.
pub fn short_function(name: &str) -> String {
    let name = without_hash(name);
    if name.contains("operator") {
        return name.to_string();
    }
    let mut depth = 0usize;
    let mut short = String::new();
    for (at, c) in name.char_indices() {
        match c {
            // Rust's `<T as Trait>::f` and closures `{closure#0}` keep their form.
            '<' if at == 0 => short.push(c),
            '<' | '(' => depth += 1,
            '>' | ')' if depth > 0 => depth -= 1,
            _ if depth == 0 => short.push(c),
            _ => {}
        }
    }
    match short.trim_end_matches("::").trim() {
        "" => name.to_string(),
        short => short.to_string(),
    }
}

/// What threads are called: `main`, its children `T1`, `T2` …, their children `T1.1` ….
pub struct Names(HashMap<u16, String>);

impl Names {
    pub fn new(records: &[Record]) -> Names {
        Names::by_creations(records.iter().map(|r| (r.kind, r.thread, r.value)))
    }

    /// By kind, thread and value of all events.
    pub fn by_creations(events: impl Iterator<Item = (u8, u16, u64)>) -> Names {
        let mut names = HashMap::from([(slot::MAIN, "main".to_string())]);
        let mut children: HashMap<u16, usize> = HashMap::new();
        for (_, creator, child) in events.filter(|e| e.0 == Kind::ThreadCreate as u8) {
            let k = children.entry(creator).or_default();
            *k += 1;
            let name = match names.get(&creator) {
                _ if child == u64::from(slot::TIMERS) => "timers".to_string(),
                Some(parent) if creator != slot::MAIN => format!("{parent}.{k}"),
                _ => format!("T{child}"),
            };
            names.entry(child as u16).or_insert(name);
        }
        Names(names)
    }

    pub fn of(&self, thread: u16) -> String {
        match self.0.get(&thread) {
            Some(name) => name.clone(),
            None if thread == slot::NONE => "nobody".to_string(),
            None => format!("T{thread}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_function_names_become_readable() {
        let table = [
            ("main", "main"),
            (
                "std::vector<int, std::allocator<int> >::push_back(int&&)",
                "std::vector::push_back",
            ),
            ("demo::worker::h0123456789abcdef", "demo::worker"),
            ("f(std::pair<int, int>)", "f"),
            ("A::operator()(int) const", "A::operator()(int) const"),
            ("demo::main::{closure#0}", "demo::main::{closure#0}"),
        ];
        for (name, expected) in table {
            assert_eq!(short_function(name), expected);
        }
    }

    #[test]
    fn threads_are_named_by_their_parents() {
        let create = |thread, value| Record {
            kind: Kind::ThreadCreate as u8,
            thread,
            value,
            site: 0,
            object: 0,
            preempts: false,
        };
        let names = Names::new(&[create(0, 1), create(1, 4000), create(0, 2), create(1, 5000)]);
        let table = [
            (0, "main"),
            (1, "T1"),
            (2, "T2"),
            (4000, "T1.1"),
            (5000, "T1.2"),
            (7, "T7"),
        ];
        for (thread, expected) in table {
            assert_eq!(names.of(thread), expected);
        }
        assert_eq!(names.of(slot::NONE), "nobody");
    }
}
