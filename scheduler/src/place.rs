//! Where a process is, for people: the function and the module of an instruction.

use crate::elf::Elf;
use crate::modules::{Module, parse};
use std::fs::File;
use std::path::PathBuf;

/// The instruction that the running thread `tid` of a child of ours executes now; `None` if it
/// cannot be seen. Stops the thread for a moment.
pub fn instruction(tid: i32) -> Option<u64> {
    // SAFETY: the thread is traced for these calls only; the kernel fills the structure.
    unsafe {
        let none = std::ptr::null_mut::<libc::c_void>();
        if libc::ptrace(libc::PTRACE_SEIZE, tid, none, none) != 0 {
            return None;
        }
        let mut registers: libc::user_regs_struct = std::mem::zeroed();
        let mut stop: libc::siginfo_t = std::mem::zeroed();
        // Only for a stop: a process that ends meanwhile is reaped by who has started it.
        let stops = libc::WSTOPPED | libc::__WALL;
        let seen = libc::ptrace(libc::PTRACE_INTERRUPT, tid, none, none) == 0
            && libc::waitid(libc::P_PID, tid as libc::id_t, &mut stop, stops) == 0
            && libc::ptrace(libc::PTRACE_GETREGS, tid, none, &raw mut registers) == 0;
        libc::ptrace(libc::PTRACE_DETACH, tid, none, none);
        seen.then_some(registers.rip)
    }
}

/// The function and module at `address` in the process `pid`.
pub fn describe(pid: i32, address: u64) -> Option<String> {
    let maps = std::fs::read(format!("/proc/{pid}/maps")).ok()?;
    let mut lines = maps.split(|&b| b == b'\n');
    let (path, offset) = lines.find_map(|line| mapped(line, address))?;
    let module = path.file_name()?.to_string_lossy().into_owned();
    let file = File::open(&path).ok();
    let function = file.and_then(|file| Elf::read(&file).ok()?.function_at(offset));
    Some(match function {
        Some(function) => format!("{function} in {module}"),
        None => format!("{module}+{offset:#x}"),
    })
}

/// `what` of the runtime, which knows only the functions that a module exports: a caller that it
/// gives as `(MODULE+0xDISTANCE` is called by its function, if the file of the module has its name.
pub fn with_function(what: &str, modules: &[Module]) -> String {
    let named = || {
        let (before, rest) = what.split_once(" (")?;
        let (module, rest) = rest.split_once("+0x")?;
        let (distance, after) = rest.split_once(',')?;
        let distance = u64::from_str_radix(distance, 16).ok()?.checked_sub(1)?;
        let is = |m: &&Module| m.path.file_name().is_some_and(|name| name == module);
        let file = File::open(&modules.iter().find(is)?.path).ok()?;
        let function = Elf::read(&file).ok()?.function_behind(distance)?;
        Some(format!("{before} ({function} in {module},{after}"))
    };
    named().unwrap_or_else(|| what.to_string())
}

/// The file and the offset in it, if this line of /proc/PID/maps is about `address`.
fn mapped(line: &[u8], address: u64) -> Option<(PathBuf, u64)> {
    let module = parse(line)?;
    let inside = (module.start..module.end).contains(&address);
    inside.then(|| (module.path, address - module.start + module.file_offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_maps() {
        let line = "7ffff7c00000-7ffff7c28000 r-xp 00026000 fe:01 1234   /usr/lib/libc.so.6";
        let path = PathBuf::from("/usr/lib/libc.so.6");
        let table = [
            (line, 0x7fff_f7c0_0010, Some((path, 0x26010))),
            (line, 0x7fff_f7c2_8000, None),
            (
                "7ffff7c00000-7ffff7c28000 rw-p 00000000 00:00 0 [heap]",
                0x7fff_f7c0_0010,
                None,
            ),
            (
                "7ffff7c00000-7ffff7c28000 rw-p 00000000 00:00 0",
                0x7fff_f7c0_0010,
                None,
            ),
            ("", 0, None),
        ];
        for (line, address, expected) in table {
            assert_eq!(mapped(line.as_bytes(), address), expected, "{line}");
        }
    }

    #[test]
    fn functions_of_this_process() {
        let address = lines_of_maps as fn() as usize as u64;
        let text = describe(std::process::id() as i32, address).expect("a place");
        assert!(text.contains("lines_of_maps"), "{text}");
        assert_eq!(describe(std::process::id() as i32, 8), None);
    }

    /// Whoever has started a process learns how it ended, even if it ends while it is looked at.
    #[test]
    fn a_look_reaps_nobody() {
        for n in 0..100 {
            let mut child = std::process::Command::new("false")
                .spawn()
                .expect("it can be started");
            std::thread::sleep(std::time::Duration::from_micros(20 * n));
            for _ in 0..20 {
                instruction(child.id() as i32);
            }
            let status = child.wait().expect("it is still there to be waited for");
            assert_eq!(status.code(), Some(1));
        }
    }
}
