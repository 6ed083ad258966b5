//! Which files the target's code comes from.

use crate::elf::Elf;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
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
    /// Was it built by `raddle cc`? (Has a section `raddle_hooks`.)
    pub instrumented: bool,
}

/// The executable file mappings of a process.
pub fn of_process(pid: i32) -> io::Result<Vec<Module>> {
    let maps = std::fs::read(format!("/proc/{pid}/maps"))?;
    let mut known: HashMap<PathBuf, bool> = HashMap::new();
    let mut modules = Vec::new();
    for mut module in maps.split(|&b| b == b'\n').filter_map(parse) {
        let path = module.path.clone();
        module.instrumented = *known.entry(path).or_insert_with_key(|p| is_instrumented(p));
        modules.push(module);
    }
    Ok(modules)
}

fn is_instrumented(path: &Path) -> bool {
    let Ok(file) = File::open(path) else {
        return false;
    };
    Elf::read(&file).is_ok_and(|elf| elf.has_section("raddle_hooks"))
}

/// One line of `/proc/PID/maps`, if it is executable and of a file.
fn parse(line: &[u8]) -> Option<Module> {
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
        path: PathBuf::from(OsStr::from_bytes(path)),
        start: hex(start)?,
        end: hex(end)?,
        file_offset: hex(offset)?,
        instrumented: false,
    })
}
