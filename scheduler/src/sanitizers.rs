//! Which sanitizers a program was built with, and what that asks of its start.

use crate::elf::Elf;
use crate::error::Unsuitable;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

/// The library that programs built by gcc 12 with `-fsanitize=thread` ask for; raddle has a
/// stand-in of this name.
const LIBTSAN: &str = "libtsan.so.2";

/// The sanitizers of a program whose runtime libraries take part in an execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sanitizers {
    /// It, or a library of its, asks for [`LIBTSAN`], which raddle takes the place of.
    pub thread: bool,
    /// AddressSanitizer.
    pub address: bool,
    /// UndefinedBehaviorSanitizer, not the form that only traps.
    pub undefined: bool,
    /// LeakSanitizer by itself.
    pub leak: bool,
}

/// What a runtime that is linked into the program defines, and which one it is.
const LINKED_IN: &[(&str, Which)] = &[
    ("__asan_init", Which::Address),
    ("__ubsan_handle_type_mismatch_v1", Which::Undefined),
    ("__lsan_init", Which::Leak),
    ("__tsan_init", Which::Refused("ThreadSanitizer")),
    ("__msan_init", Which::Refused("MemorySanitizer")),
    ("__hwasan_init", Which::Refused("HWAddressSanitizer")),
    ("__dfsan_init", Which::Refused("DataFlowSanitizer")),
];

/// What the names of runtime libraries begin with.
const LIBRARIES: &[(&str, Which)] = &[
    ("libasan.so", Which::Address),
    ("libclang_rt.asan", Which::Address),
    ("libubsan.so", Which::Undefined),
    ("libclang_rt.ubsan_standalone", Which::Undefined),
    ("liblsan.so", Which::Leak),
    (LIBTSAN, Which::Thread),
    (
        "libtsan.so",
        Which::Refused("another version of ThreadSanitizer"),
    ),
    ("libclang_rt.tsan", Which::Refused("ThreadSanitizer")),
    ("libhwasan.so", Which::Refused("HWAddressSanitizer")),
    ("libclang_rt.hwasan", Which::Refused("HWAddressSanitizer")),
];

#[derive(Clone, Copy)]
enum Which {
    Thread,
    Address,
    Undefined,
    Leak,
    /// Its runtime and ours cannot both be in charge of the threads, or of all memory.
    Refused(&'static str),
}

impl Sanitizers {
    /// Looks at a program and at the libraries that the dynamic linker would load with it.
    pub fn of(path: &Path, interpreter: &str, elf: &Elf) -> Result<Sanitizers, Unsuitable> {
        let mut found = Sanitizers::default();
        let mut add = |which| {
            match which {
                Which::Thread => found.thread = true,
                Which::Address => found.address = true,
                Which::Undefined => found.undefined = true,
                Which::Leak => found.leak = true,
                Which::Refused(name) => {
                    let path = path.to_owned();
                    return Err(Unsuitable::Sanitizer { path, name });
                }
            }
            Ok(())
        };
        let names: Vec<&str> = LINKED_IN.iter().map(|row| row.0).collect();
        for (row, defined) in LINKED_IN.iter().zip(elf.defines(&names)) {
            if defined {
                add(row.1)?;
            }
        }
        for library in libraries(path, interpreter) {
            let row = LIBRARIES.iter().find(|row| library.starts_with(row.0));
            if let Some(row) = row {
                add(row.1)?;
            }
        }
        // AddressSanitizer's runtime contains the other two.
        found.leak &= !found.address;
        Ok(found)
    }

    /// Settings that the runtimes get on top of the user's.
    pub fn set(self, environment: &mut BTreeMap<OsString, OsString>) {
        // The reports shall be quick and short, since their stacks are told by raddle as well; the
        // user may want it otherwise.
        const QUIET: &str = "symbolize=0:print_legend=0";
        // The check of leaks stops all threads of the process by other means than ours; and the
        // library that stands first in the list of loaded ones is raddle's.
        const NEEDED: &str = "verify_asan_link_order=0:detect_leaks=0";
        let mut set = |name: &str, before: &str, after: &str| {
            let value = environment.entry(name.into()).or_default();
            let parts = [OsStr::new(before), value, OsStr::new(after)];
            let parts: Vec<&OsStr> = parts.into_iter().filter(|p| !p.is_empty()).collect();
            *value = parts.join(OsStr::new(":"));
        };
        if self.address {
            set("ASAN_OPTIONS", QUIET, NEEDED);
        }
        if self.leak {
            set("LSAN_OPTIONS", "", NEEDED);
        }
    }

    /// What an exhaustive search cannot know of such a program.
    pub fn bound(self) -> Option<&'static str> {
        self.address.then_some(
            "AddressSanitizer marks memory that is freed, or has gone out of scope, in memory of its own: \
             that is no step",
        )
    }

    /// What limits a verdict on such a program.
    pub fn notes(self) -> Vec<&'static str> {
        let mut notes = Vec::new();
        if self.address || self.leak {
            notes.push("leaks are not looked for: LeakSanitizer is switched off");
        }
        if self.address {
            notes.push("AddressSanitizer's allocator is in charge of the heap: addresses of blocks may depend on the interleaving");
        }
        notes
    }
}

/// Names of all libraries that the dynamic linker would load; empty when it does not say.
fn libraries(path: &Path, interpreter: &str) -> Vec<String> {
    let listed = Command::new(interpreter)
        .arg("--list")
        .arg(path)
        .stdin(std::process::Stdio::null())
        .output();
    let Ok(listed) = listed else {
        return Vec::new();
    };
    names(&String::from_utf8_lossy(&listed.stdout))
}

/// The names in lines such as `libm.so.6 => /lib/libm.so.6 (0x7f…)`.
fn names(listed: &str) -> Vec<String> {
    let name = |line: &str| {
        let word = line.split_whitespace().next()?;
        Some(word.rsplit('/').next()?.to_string())
    };
    listed.lines().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linker_names_each_library_in_a_line() {
        let listed = "\tlinux-vdso.so.1 (0x7fff)\n\tlibtsan.so.2 => not found\n\
                      \tlibc.so.6 => /lib/libc.so.6 (0x7f)\n\t/lib64/ld-linux-x86-64.so.2 (0x7f)\n";
        let expected = [
            "linux-vdso.so.1",
            LIBTSAN,
            "libc.so.6",
            "ld-linux-x86-64.so.2",
        ];
        assert_eq!(names(listed), expected);
    }

    #[test]
    fn settings_are_added_to_the_users_own() {
        let sanitizers = Sanitizers {
            address: true,
            ..Sanitizers::default()
        };
        for (before, after) in [
            (
                None,
                "symbolize=0:print_legend=0:verify_asan_link_order=0:detect_leaks=0",
            ),
            (
                Some("detect_leaks=1"),
                "symbolize=0:print_legend=0:detect_leaks=1:verify_asan_link_order=0:detect_leaks=0",
            ),
        ] {
            let mut environment = BTreeMap::new();
            if let Some(value) = before {
                environment.insert("ASAN_OPTIONS".into(), value.into());
            }
            sanitizers.set(&mut environment);
            assert_eq!(environment[OsStr::new("ASAN_OPTIONS")], after);
            assert_eq!(environment.len(), 1);
        }
    }
}
