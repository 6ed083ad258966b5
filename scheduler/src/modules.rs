//! Which files the target's code comes from.

use crate::elf::Elf;
use raddle_protocol::VERSION;
use raddle_protocol::hooks::SECTION;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// One executable mapping of a file in the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// The file.
    pub path: PathBuf,
    /// First address.
    pub start: u64,
    /// One past the last address.
    pub end: u64,
    /// Offset in the file of the byte at `start`.
    pub file_offset: u64,
    /// Was it built by `raddle cc`? (Has a section [`SECTION`].)
    pub instrumented: bool,
    /// Some of it was built by another version of `raddle cc`, whose hooks mean something else.
    pub stale: bool,
    /// Which hooks of ThreadSanitizer it calls.
    pub sanitizer: Sanitizer,
}

/// Hooks of ThreadSanitizer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sanitizer {
    #[default]
    None,
    /// At atomic operations alone.
    Atomics,
    /// At every access.
    Accesses,
}

/// The executable file mappings of a process.
pub fn of_process(pid: i32) -> io::Result<Vec<Module>> {
    let maps = std::fs::read(format!("/proc/{pid}/maps"))?;
    let mut known: HashMap<PathBuf, Hooks> = HashMap::new();
    let mut modules = Vec::new();
    for mut module in maps.split(|&b| b == b'\n').filter_map(parse) {
        let path = module.path.clone();
        (module.instrumented, module.stale, module.sanitizer) =
            *known.entry(path).or_insert_with_key(|p| hooks_of(p));
        modules.push(module);
    }
    Ok(modules)
}

/// Was it built by `raddle cc`, by another version of it, and which hooks of ThreadSanitizer does it call?
type Hooks = (bool, bool, Sanitizer);

fn hooks_of(path: &Path) -> Hooks {
    let none = (false, false, Sanitizer::None);
    let Ok(file) = File::open(path) else {
        return none;
    };
    let Ok(elf) = Elf::read(&file) else {
        return none;
    };
    let calls = |hooks: &[&str]| {
        elf.imports(|name| hooks.iter().any(|hook| name.starts_with(hook.as_bytes())))
    };
    // Functions without the attribute `sanitize_thread` have hooks at atomics and at their ends.
    let sanitizer = if calls(&["__tsan_read", "__tsan_write", "__tsan_unaligned"]) {
        Sanitizer::Accesses
    } else if calls(&["__tsan_atomic"]) {
        Sanitizer::Atomics
    } else if calls(&["__tsan_func_entry"]) {
        Sanitizer::Accesses
    } else {
        Sanitizer::None
    };
    let marks = elf.content(SECTION);
    let is_stale = |mark: &[u8]| mark != VERSION.to_le_bytes();
    let stale = marks
        .as_ref()
        .is_some_and(|all| all.chunks(4).any(is_stale));
    (marks.is_some(), stale, sanitizer)
}

/// One line of `/proc/PID/maps`, if it is executable and of a file.
pub(crate) fn parse(line: &[u8]) -> Option<Module> {
    let mut fields = line.splitn(6, |&b| b == b' ');
    let mut field = || std::str::from_utf8(fields.next()?).ok();
    let (start, end) = field()?.split_once('-')?;
    let access = field()?;
    let offset = field()?;
    let (_device, _inode) = (field()?, field()?);
    let path = fields.next()?.trim_ascii_start();
    if access.as_bytes().get(2) != Some(&b'x') || !path.starts_with(b"/") {
        return None;
    }
    let hex = |text| u64::from_str_radix(text, 16).ok();
    Some(Module {
        path: path_of(path),
        start: hex(start)?,
        end: hex(end)?,
        file_offset: hex(offset)?,
        instrumented: false,
        stale: false,
        sanitizer: Sanitizer::None,
    })
}

/// The path in a line, in which the kernel writes ends of lines in octal.
fn path_of(written: &[u8]) -> PathBuf {
    const NEW_LINE: &[u8] = b"\\012";
    let as_written = PathBuf::from(OsStr::from_bytes(written));
    let has = written.windows(NEW_LINE.len()).any(|part| part == NEW_LINE);
    if !has || as_written.exists() {
        return as_written;
    }
    let mut path = Vec::new();
    let mut rest = written;
    while let Some((&first, behind)) = rest.split_first() {
        rest = match rest.strip_prefix(NEW_LINE) {
            Some(behind) => {
                path.push(b'\n');
                behind
            }
            None => {
                path.push(first);
                behind
            }
        };
    }
    PathBuf::from(OsString::from_vec(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_maps() {
        type Facts = Option<(&'static str, u64, u64, u64)>;
        let cases: &[(&str, Facts)] = &[
            (
                "55d0-55e0 r-xp 00002000 fe:00 131 /usr/bin/a b",
                Some(("/usr/bin/a b", 0x55d0, 0x55e0, 0x2000)),
            ),
            (
                "7f00-7f01 rwxp 00000000 00:01 7      /memfd:x (deleted)",
                Some(("/memfd:x (deleted)", 0x7f00, 0x7f01, 0)),
            ),
            (
                "55d0-55e0 r-xp 00002000 fe:00 131 /no/a\\012b",
                Some(("/no/a\nb", 0x55d0, 0x55e0, 0x2000)),
            ),
            ("55d0-55e0 r--p 00002000 fe:00 131 /usr/bin/a", None),
            ("7ff0-7ff1 r-xp 00000000 00:00 0 [vdso]", None),
            ("7ff0-7ff1 r-xp 00000000 00:00 0", None),
            ("", None),
        ];
        for (line, expected) in cases {
            let module = parse(line.as_bytes());
            let facts = module.as_ref().map(|m| {
                let path = m.path.to_str().expect("ASCII");
                (path, m.start, m.end, m.file_offset)
            });
            assert_eq!(facts, *expected, "{line}");
        }
    }

    #[test]
    fn this_process_has_a_program_and_a_c_library() {
        let modules = of_process(std::process::id() as i32).expect("readable");
        let program = std::env::current_exe().expect("a path");
        assert!(modules.iter().any(|m| m.path == program && !m.instrumented));
        assert!(modules.iter().any(|m| m.path.ends_with("libc.so.6")));
        let here = lines_of_maps as *const () as u64;
        assert!(
            modules
                .iter()
                .any(|m| m.path == program && (m.start..m.end).contains(&here))
        );
    }
}
