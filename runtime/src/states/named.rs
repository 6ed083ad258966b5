//! Names of files behind which something else lies: descriptors, below `/proc/self/fd` and its kin, and
//! semaphores and shared memory.

use super::first_of;
use core::ffi::c_int;

/// Longest name that is looked at.
const LONGEST: usize = 64;

/// What such a name leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// One descriptor, whether it is open or not.
    Descriptor(c_int),
    /// The list of all.
    Descriptors,
    /// The file that the C library keeps a named semaphore in. Raddle's have none.
    Semaphore,
    /// The file of named shared memory. That of the execution has none.
    SharedMemory,
}

impl Named {
    /// What the path there leads to, if it is such a name.
    pub fn at(path: u64) -> Option<Named> {
        let (mut text, mut len) = ([0; LONGEST], 0);
        while len < LONGEST {
            match first_of((path as *const u8).wrapping_add(len))? {
                0 => break,
                byte => text[len] = byte,
            }
            len += 1;
            // Most paths lead elsewhere.
            if len == 2 && ![*b"/p", *b"/d"].contains(&[text[0], text[1]]) {
                return None;
            }
        }
        Named::of(&text[..len])
    }

    fn of(path: &[u8]) -> Option<Named> {
        let rest = path.strip_prefix(b"/")?;
        let mut parts = rest
            .split(|&byte| byte == b'/')
            .filter(|part| !part.is_empty());
        let is_list = |part: &[u8]| part == b"fd" || part == b"fdinfo";
        match parts.next()? {
            b"proc" => parts.find(|part| is_list(part))?,
            b"dev" => match parts.next()? {
                b"fd" => b"",
                b"stdin" => return Some(Named::Descriptor(0)),
                b"stdout" => return Some(Named::Descriptor(1)),
                b"stderr" => return Some(Named::Descriptor(2)),
                b"shm" => {
                    return Some(match parts.next()?.starts_with(b"sem.") {
                        true => Named::Semaphore,
                        false => Named::SharedMemory,
                    });
                }
                _ => return None,
            },
            _ => return None,
        };
        let number = parts
            .next()
            .and_then(|part| core::str::from_utf8(part).ok());
        let number = number.and_then(|part| part.parse().ok());
        Some(number.map_or(Named::Descriptors, Named::Descriptor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_descriptors_are_known() {
        use Named::{Descriptor, Descriptors, Semaphore, SharedMemory};
        let table: &[(&str, Option<Named>)] = &[
            ("/proc/self/fd/3", Some(Descriptor(3))),
            ("/proc//self/fd/12/x", Some(Descriptor(12))),
            ("/proc/thread-self/fd/0", Some(Descriptor(0))),
            ("/proc/77/task/78/fdinfo/4", Some(Descriptor(4))),
            ("/proc/self/fd", Some(Descriptors)),
            ("/proc/self/fd/", Some(Descriptors)),
            ("/proc/self/maps", None),
            ("/dev/fd/5", Some(Descriptor(5))),
            ("/dev/fd", Some(Descriptors)),
            ("/dev/stderr", Some(Descriptor(2))),
            ("/dev/null", None),
            ("/dev/shm/sem.name", Some(Semaphore)),
            ("/dev/shm/name", Some(SharedMemory)),
            ("/dev/shm", None),
            ("/tmp/proc/self/fd/3", None),
            ("proc/self/fd/3", None),
            ("", None),
        ];
        for (path, named) in table {
            assert_eq!(Named::of(path.as_bytes()), *named, "{path}");
        }
    }
}
