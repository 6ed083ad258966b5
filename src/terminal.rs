//! Standard output and standard error. Standard output belongs to the program under test, or to
//! what a command was asked to show; what raddle has to say goes to standard error.

use crate::error::Error;
use crate::exit::Exit;
use raddle_protocol::trace::Trace;
use std::io::{self, Write};
use std::sync::Mutex;

/// Why the first write to standard output failed that did; not where nobody reads it any more.
static UNWRITTEN: Mutex<Option<io::Error>> = Mutex::new(None);

/// What was lost of standard output, as an error.
pub fn unwritten() -> Option<Error> {
    let failed = UNWRITTEN.lock().ok()?.take()?;
    Some(Error::new(
        Exit::InputOutput,
        format!("cannot write standard output: {failed}"),
        "",
    ))
}

/// Says something. Where nobody reads any more the result is still the exit code and the files, so
/// that is no reason to stop.
pub fn tell(text: &str) {
    let colours = console::colors_enabled_stderr();
    // Where else could that be said?
    let _ = write(io::stderr().lock(), harmless(text, colours).as_bytes());
}

/// Shows what was asked for, on standard output.
pub fn print(text: &str) {
    let colours = console::colors_enabled();
    give(harmless(text, colours).as_bytes());
}

fn give(bytes: &[u8]) {
    if let Err(error) = write(io::stdout().lock(), bytes)
        && error.kind() != io::ErrorKind::BrokenPipe
        && let Ok(mut first) = UNWRITTEN.lock()
    {
        first.get_or_insert(error);
    }
}

/// What the program under test wrote to its standard output in one execution.
#[derive(Clone, Debug, Default)]
pub struct Printed {
    /// The beginning.
    kept: Vec<u8>,
    /// How many bytes came after that.
    more: u64,
}

impl Printed {
    pub fn of(trace: &Trace) -> Printed {
        Printed {
            kept: trace.stdout.clone(),
            more: trace.stdout_rest.bytes(),
        }
    }
}

/// Passes on what the program under test wrote, as it is.
pub fn pass_on(output: &Printed) {
    give(&output.kept);
    if output.more > 0 {
        let (kept, more) = (output.kept.len(), output.more);
        tell(&format!(
            "raddle: note: its standard output is cut off after {kept} bytes: {more} more were not kept\n"
        ));
    }
}

fn write(mut to: impl Write, bytes: &[u8]) -> io::Result<()> {
    to.write_all(bytes)?;
    to.flush()
}

/// Prints an error in its one form; how the command ends with it.
pub fn complain(error: &Error) -> Exit {
    tell(&format!("raddle: error: {error}\n"));
    error.exit
}

/// A file that may not grow any more (`ulimit -f`) is an error like a full disk, not the end of this
/// process. Programs that it starts get the signal as ever: a handler does not outlive `exec`.
pub fn survive_full_files() {
    extern "C" fn nothing(_: libc::c_int) {}
    // SAFETY: zeros are a value of the structure; the handler does nothing.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as usize;
        libc::sigaction(libc::SIGXFSZ, &action, std::ptr::null_mut());
    }
}

/// Can this character do something else on a terminal, or in a file for other programs, than be
/// seen? Control characters; those that change the direction of text, or cannot be seen; those
/// that are none.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{fdd0}'..='\u{fdef}'
            | '\u{e0000}'..='\u{e007f}')
        || u32::from(c) & 0xfffe == 0xfffe
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> String {
    let mut result = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if !is_hidden(c) || stays(c) => result.push(c),
            '\t' => result.push(' '),
            '\n' => result.push_str("\\n"),
            '\r' => result.push_str("\\r"),
            c => result.extend(c.escape_unicode()),
        }
    }
    result
}

/// A text from a file or from a program as part of a line: every character is seen and no more.
pub fn visible(text: &str) -> String {
    escaped(text, |_| false)
}

/// The same of a text of several lines.
pub fn visible_lines(text: &str) -> String {
    escaped(text, |c| c == '\n')
}

/// What [`crate::report::Style`] sets.
const COLOURS: [&str; 6] = ["[0m", "[1m", "[2m", "[31m", "[32m", "[33m"];

/// A text of ours, which may have colours, without anything else that a terminal would obey.
fn harmless(text: &str, colours: bool) -> String {
    let mut result = String::with_capacity(text.len());
    for (n, part) in text.split('\u{1b}').enumerate() {
        if n > 0 {
            let is_ours = colours && COLOURS.iter().any(|code| part.starts_with(code));
            result.push_str(match is_ours {
                true => "\u{1b}",
                false => "\\u{1b}",
            });
        }
        result.push_str(&visible_lines(part));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_seen() {
        let table = [
            ("plain ä 漢", "plain ä 漢"),
            ("a\tb\nc\rd", "a b\\nc\\rd"),
            ("\u{1b}[2J\u{7}", "\\u{1b}[2J\\u{7}"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("\u{202e}evil\u{2066}", "\\u{202e}evil\\u{2066}"),
            ("\u{fffe}\u{feff}\u{1fffe}", "\\u{fffe}\\u{feff}\\u{1fffe}"),
        ];
        for (text, expected) in table {
            assert_eq!(visible(text), expected);
        }
        assert_eq!(visible_lines("a\nb\u{1b}"), "a\nb\\u{1b}");
    }

    #[test]
    fn only_colours_reach_the_terminal() {
        let style = crate::report::Style {
            width: 80,
            colour: true,
            full: false,
            brief: false,
        };
        let ours = [
            style.bold("a"),
            style.dim("b"),
            style.red("c"),
            style.yellow("d"),
            style.green("e"),
        ];
        for text in ours {
            assert_eq!(harmless(&text, true), text);
        }
        let table = [
            ("\u{1b}[31mred\n", true, "\u{1b}[31mred\n"),
            ("\u{1b}[31mred", false, "\\u{1b}[31mred"),
            ("\u{1b}[8mgone", true, "\\u{1b}[8mgone"),
            ("\u{1b}[30;40mgone", true, "\\u{1b}[30;40mgone"),
            ("\u{1b}]0;title\u{7}", true, "\\u{1b}]0;title\\u{7}"),
            ("\u{1b}[2J\u{1b}", true, "\\u{1b}[2J\\u{1b}"),
        ];
        for (text, colours, expected) in table {
            assert_eq!(harmless(text, colours), expected);
        }
    }
}
