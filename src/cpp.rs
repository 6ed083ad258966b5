//! Programs that use libstdc++, whose code has no hooks.

use crate::report::base_name;
use crate::symbols::demangle;
use crate::unhooked::{listed, short};
use goblin::elf::Elf;
use goblin::elf::sym::{STT_OBJECT, STT_TLS};
use raddle_protocol::cpp::is_known;
use raddle_scheduler::Module;
use std::collections::BTreeSet;
use std::path::Path;

/// How the library's file is called.
pub const LIBRARY: &str = "libstdc++.so";

/// The bound that the calls of libstdc++ are by code that is followed; `None`: of all its functions
/// that may be called it is known what they do.
pub fn unseen_calls(modules: &[Module]) -> Option<String> {
    let name = |module: &Module| base_name(&module.path.to_string_lossy()).to_string();
    let library = modules.iter().find(|m| name(m).starts_with(LIBRARY))?;
    let callers = modules.iter().filter(|module| module.instrumented);
    let callers: BTreeSet<&Path> = callers.map(|module| module.path.as_path()).collect();
    let what = match unknown(&library.path, callers) {
        Some(unknown) if unknown.is_empty() => return None,
        Some(unknown) if unknown.len() > 1 => format!("{} do", listed(&unknown)),
        Some(unknown) => format!("{} does", listed(&unknown)),
        None => "it does".to_string(),
    };
    let library = name(library);
    Some(format!(
        "{library} is not instrumented: what {what} to shared memory is not seen"
    ))
}

/// The library's functions that the callers may call and that are not known, for people; `None`: a
/// file cannot be read.
fn unknown<'a>(
    library: &Path,
    callers: impl IntoIterator<Item = &'a Path>,
) -> Option<BTreeSet<String>> {
    let bytes = crate::store::read_regular(library).ok()?;
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
        let bytes = crate::store::read_regular(caller).ok()?;
        let elf = Elf::parse(&bytes).ok()?;
        let imports = elf.dynsyms.iter().filter(|s| s.is_import());
        let names = imports.filter_map(|s| elf.dynstrtab.get_at(s.st_name));
        let foreign = names.filter(|name| functions.contains(name) && !is_known(name));
        unknown.extend(foreign.map(|name| short(&demangle(name))));
    }
    Some(unknown)
}
