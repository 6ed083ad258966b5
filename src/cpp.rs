//! Programs that use libstdc++, whose code has no hooks.

use crate::report::base_name;
use crate::symbols::demangle;
use goblin::elf::Elf;
use goblin::elf::sym::{STT_OBJECT, STT_TLS};
use raddle_protocol::cpp::is_known;
use raddle_scheduler::Module;
use std::collections::BTreeSet;
use std::path::Path;

/// How the library's file is called.
pub const LIBRARY: &str = "libstdc++.so";

/// Functions that are named, at most.
const NAMED: usize = 3;

/// The bound that the calls of libstdc++ are by code that is followed; `None`: of all its functions
/// that may be called it is known what they do.
pub fn unseen_calls(modules: &[Module]) -> Option<String> {
    let name = |module: &Module| base_name(&module.path.to_string_lossy()).to_string();
    let library = modules.iter().find(|m| name(m).starts_with(LIBRARY))?;
    let callers = modules.iter().filter(|module| module.instrumented);
    let callers: BTreeSet<&Path> = callers.map(|module| module.path.as_path()).collect();
    let what = match unknown(&library.path, callers) {
        Some(unknown) if unknown.is_empty() => return None,
        Some(unknown) => listed(&unknown),
        None => "it".to_string(),
    };
    let library = name(library);
    Some(format!(
        "{library} is not instrumented: what {what} does to shared memory is not seen"
    ))
}

/// The library's functions that the callers may call and that are not known, for people; `None`: a
/// file cannot be read.
fn unknown<'a>(
    library: &Path,
    callers: impl IntoIterator<Item = &'a Path>,
) -> Option<BTreeSet<String>> {
    let bytes = std::fs::read(library).ok()?;
    let functions: BTreeSet<&str> = {
        let elf = Elf::parse(&bytes).ok()?;
        let defined = elf.dynsyms.iter();
        let defined =
            defined.filter(|s| !s.is_import() && ![STT_OBJECT, STT_TLS].contains(&s.st_type()));
        let names: Vec<usize> = defined.map(|s| s.st_name).collect();
        names
            .into_iter()
            .filter_map(|at| elf.dynstrtab.get_at(at))
            .collect()
    };
    let mut unknown = BTreeSet::new();
    for caller in callers {
        let bytes = std::fs::read(caller).ok()?;
        let elf = Elf::parse(&bytes).ok()?;
        let imports = elf.dynsyms.iter().filter(|s| s.is_import());
        let names = imports.filter_map(|s| elf.dynstrtab.get_at(s.st_name));
        let foreign = names.filter(|name| functions.contains(name) && !is_known(name));
        unknown.extend(foreign.map(|name| short(&demangle(name))));
    }
    Some(unknown)
}

/// A function's name without its parameters and those of its templates.
fn short(name: &str) -> String {
    let mut depth = 0;
    let mut kept = String::new();
    for c in name.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            '(' if depth == 0 => break,
            _ if depth == 0 => kept.push(c),
            _ => {}
        }
    }
    kept
}

fn listed(names: &BTreeSet<String>) -> String {
    let first: Vec<&str> = names.iter().map(String::as_str).take(NAMED).collect();
    match names.len().saturating_sub(NAMED) {
        0 => first.join(", "),
        more => format!("{} (and {more} more)", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short() {
        let table = [
            ("operator new(unsigned long)", "operator new"),
            (
                "std::vector<int, std::allocator<int> >::at(unsigned long)",
                "std::vector::at",
            ),
            ("strlen", "strlen"),
        ];
        for (long, expected) in table {
            assert_eq!(short(long), expected);
        }
    }

    #[test]
    fn a_list_has_an_end() {
        let names = |n: usize| (0..n).map(|i| i.to_string()).collect();
        assert_eq!(listed(&names(2)), "0, 1");
        assert_eq!(listed(&names(5)), "0, 1, 2 (and 2 more)");
    }
}
