//! What the controller says through the environment.

use crate::io;
use core::ffi::{CStr, c_char};
use raddle_protocol::shared::env;

/// The variables of [`raddle_protocol::shared::env`].
pub struct Settings {
    /// Descriptor of the shared pages.
    pub shared: i32,
    /// Descriptor of the control socket; -1 without a zygote.
    pub control: i32,
    /// Descriptor of the eventfd.
    pub notify: i32,
    /// Device and inode of the program.
    pub target: (u64, u64),
    /// Is the target to have a network of its own?
    pub own_network: bool,
    /// See [`env::SYMBOLIC`].
    pub symbolic: &'static [u8],
}

impl Settings {
    /// Reads an environment; `None` if it does not come from a controller.
    ///
    /// # Safety
    /// `environment` is an array of strings that ends with a null pointer.
    pub unsafe fn read(environment: *mut *mut c_char) -> Option<Settings> {
        let mut settings = Settings {
            shared: -1,
            control: -1,
            notify: -1,
            target: (0, 0),
            own_network: false,
            symbolic: &[],
        };
        let mut has_target = false;
        // SAFETY: the caller's promise.
        for (name, value) in unsafe { variables(environment) } {
            let number = || core::str::from_utf8(value).ok()?.parse().ok();
            match name {
                n if n == env::SHARED_FD.as_bytes() => settings.shared = number()?,
                n if n == env::CONTROL_FD.as_bytes() => settings.control = number()?,
                n if n == env::NOTIFY_FD.as_bytes() => settings.notify = number()?,
                n if n == env::TARGET.as_bytes() => {
                    settings.target = parse_identity(value)?;
                    has_target = true;
                }
                n if n == env::SYMBOLIC.as_bytes() => settings.symbolic = value,
                n if n == env::NETWORK.as_bytes() => settings.own_network = value == b"own",
                _ => {}
            }
        }
        (has_target && settings.shared >= 0).then_some(settings)
    }
}

/// `dev:inode`, both decimal.
fn parse_identity(text: &[u8]) -> Option<(u64, u64)> {
    let (device, inode) = core::str::from_utf8(text).ok()?.split_once(':')?;
    Some((device.parse().ok()?, inode.parse().ok()?))
}

/// Names and values.
///
/// # Safety
/// As [`Settings::read`]; the strings live as long as the process.
unsafe fn variables(
    environment: *mut *mut c_char,
) -> impl Iterator<Item = (&'static [u8], &'static [u8])> {
    (0..)
        // SAFETY: the iteration stops at the null pointer.
        .map(move |i| unsafe { *environment.add(i) })
        .take_while(|entry| !entry.is_null())
        .filter_map(|entry| {
            // SAFETY: a string.
            let entry = unsafe { CStr::from_ptr(entry) }.to_bytes();
            let equals = entry.iter().position(|&b| b == b'=')?;
            Some((&entry[..equals], &entry[equals + 1..]))
        })
}

/// Is this process's executable the file with this device and inode?
pub fn executable_is(target: (u64, u64)) -> bool {
    // SAFETY: a string.
    let found = unsafe { io::status_at(c"/proc/self/exe".as_ptr()) };
    found.is_some_and(|stat| (stat.st_dev, stat.st_ino) == target)
}

/// Puts constants in the places of the random numbers that the kernel gives a new program: those that
/// the program can ask for (AT_RANDOM), and the word that the C library made of them to guard stacks.
/// (The one that guards its pointers is in use already.)
///
/// # Safety
/// Only one thread exists, and no frame that is guarded returns.
pub unsafe fn settle_random() {
    const BYTES: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834;
    // The lowest byte is zero, so that no string reads past it.
    const GUARD: u64 = 0xf39c_c060_5ced_c800;
    // SAFETY: the kernel gives the address of 16 bytes on the stack; the word is where code on x86-64
    // looks for it.
    unsafe {
        let at = libc::getauxval(libc::AT_RANDOM) as *mut u128;
        if !at.is_null() {
            at.write_unaligned(BYTES);
        }
        core::arch::asm!("mov fs:[0x28], {}", in(reg) GUARD, options(nostack));
    }
}

/// Removes our traces, so that programs that the target starts are left alone: our variables
/// (except the session's name, by which such programs are found), and the library from
/// `LD_PRELOAD`.
///
/// # Safety
/// As [`Settings::read`]; nobody else uses the environment now.
pub unsafe fn clean(environment: *mut *mut c_char) {
    const OURS: [&str; 7] = [
        env::SHARED_FD,
        env::CONTROL_FD,
        env::NOTIFY_FD,
        env::TARGET,
        env::FILL,
        env::NETWORK,
        env::SYMBOLIC,
    ];
    let mut to = environment;
    let mut from = environment;
    // SAFETY: both stay within the array, `to` behind `from`.
    unsafe {
        while !(*from).is_null() {
            let entry = CStr::from_ptr(*from).to_bytes();
            let name = &entry[..entry.iter().position(|&b| b == b'=').unwrap_or(entry.len())];
            let mut keep = !OURS.iter().any(|ours| ours.as_bytes() == name);
            keep &= entry != env::EAGER.as_bytes();
            if name == b"LD_PRELOAD" {
                let value = core::slice::from_raw_parts_mut(
                    (*from).cast::<u8>().add(name.len() + 1),
                    entry.len() - name.len() - 1,
                );
                let rest = remove_library(value);
                (*from).add(name.len() + 1 + rest).write(0);
                keep = rest > 0;
            }
            if keep {
                *to = *from;
                to = to.add(1);
            }
            from = from.add(1);
        }
        *to = core::ptr::null_mut();
    }
}

/// Takes our libraries out of a list separated by colons or spaces, in place; the new length.
fn remove_library(list: &mut [u8]) -> usize {
    let mut len = 0;
    let mut start = 0;
    while start < list.len() {
        let rest = &list[start..];
        let size = rest
            .iter()
            .position(|b| b": ".contains(b))
            .unwrap_or(rest.len());
        let item = start..start + size;
        let file = list[item.clone()]
            .rsplit(|&b| b == b'/')
            .next()
            .unwrap_or(b"");
        let ours = [env::RUNTIME_LIBRARY, env::TSAN_LIBRARY];
        if size > 0 && !ours.iter().any(|name| name.as_bytes() == file) {
            if len > 0 {
                list[len] = b':';
                len += 1;
            }
            list.copy_within(item, len);
            len += size;
        }
        start += size + 1;
    }
    len
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;

    fn array(entries: &[&str]) -> (Vec<CString>, Vec<*mut c_char>) {
        let strings: Vec<_> = entries.iter().map(|e| CString::new(*e).unwrap()).collect();
        let mut pointers: Vec<_> = strings.iter().map(|s| s.as_ptr().cast_mut()).collect();
        pointers.push(core::ptr::null_mut());
        (strings, pointers)
    }

    #[test]
    fn settings_need_pages_and_a_target() {
        type Fields = (i32, i32, i32, (u64, u64));
        let table: [(&[&str], Option<Fields>); 6] = [
            (&[], None),
            (&["RADDLE_SHARED_FD=3"], None),
            (&["RADDLE_TARGET=1:2"], None),
            (&["RADDLE_SHARED_FD=3", "RADDLE_TARGET=1"], None),
            (&["RADDLE_SHARED_FD=x", "RADDLE_TARGET=1:2"], None),
            (
                &[
                    "A=b",
                    "RADDLE_NOTIFY_FD=5",
                    "RADDLE_SHARED_FD=3",
                    "RADDLE_TARGET=1:22",
                ],
                Some((3, -1, 5, (1, 22))),
            ),
        ];
        for (entries, expected) in table {
            let (_strings, mut pointers) = array(entries);
            // SAFETY: built just so.
            let settings = unsafe { Settings::read(pointers.as_mut_ptr()) };
            let got = settings.map(|s| (s.shared, s.control, s.notify, s.target));
            assert_eq!(got, expected, "{entries:?}");
        }
    }

    #[test]
    fn cleaning_leaves_the_rest() {
        let table: [(&[&str], &[&str]); 6] = [
            (&["A=1", "RADDLE_TARGET=1:2", "B=2"], &["A=1", "B=2"]),
            (&["LD_BIND_NOW=raddle", "RADDLE_FILL=..", "B=2"], &["B=2"]),
            (
                &["LD_BIND_NOW=1", "RADDLE_SESSION=x"],
                &["LD_BIND_NOW=1", "RADDLE_SESSION=x"],
            ),
            (&["LD_PRELOAD=/x/libraddle.so", "B=2"], &["B=2"]),
            (
                &["LD_PRELOAD=/a/libasan.so:/x/libraddle.so:/x/libraddle_tsan.so /b.so"],
                &["LD_PRELOAD=/a/libasan.so:/b.so"],
            ),
            (
                &["RADDLE_OPTIONS=x", "LD_PRELOAD_X=libraddle.so"],
                &["RADDLE_OPTIONS=x", "LD_PRELOAD_X=libraddle.so"],
            ),
        ];
        for (before, after) in table {
            let (strings, mut pointers) = array(before);
            // SAFETY: built just so.
            unsafe { clean(pointers.as_mut_ptr()) };
            let end = pointers.iter().position(|p| p.is_null()).unwrap();
            let left: Vec<&str> = pointers[..end]
                .iter()
                // SAFETY: pointers to the strings above.
                .map(|&p| unsafe { CStr::from_ptr(p) }.to_str().unwrap())
                .collect();
            assert_eq!(left, after);
            drop(strings);
        }
    }
}
