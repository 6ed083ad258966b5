//! Functions of programs that were built by `raddle cc` in part: objects from elsewhere that were
//! linked in, functions that are excluded by attributes.

use crate::cpp;
use crate::report::base_name;
use crate::symbols::demangle;
use addr2line::gimli::{
    BaseAddresses, CieOrFde, EhFrame, EndianSlice, NativeEndian, UnwindSection,
};
use goblin::elf::sym::{STT_FUNC, STT_GNU_IFUNC};
use goblin::elf::{Elf, SectionHeader, program_header::PT_LOAD};
use raddle_protocol::compile::SYMBOLIC;
use raddle_protocol::cpp::is_known;
use raddle_protocol::hooks::{CALLS, HARNESS, HOOKED, LEFT_OUT, PREFIX, SIGNATURE, TABLE, UNKNOWN};
use raddle_protocol::libraries::{OURS, SYSTEM as SYSTEM_LIBRARIES, is_among};
use raddle_scheduler::{Module, Sanitizer};
use std::collections::BTreeSet;
use std::path::Path;

/// Functions that are named, at most.
pub const NAMED: usize = 3;

/// Functions that the C library has for linking in. Names with two underscores are its own, and the
/// compiler's.
const SYSTEM: &[&str] = &["atexit", "at_quick_exit", "pthread_atfork"];

/// The files that were built by `raddle cc`, and what is in them.
pub fn files(modules: &[Module]) -> Vec<(&Path, Vec<u8>)> {
    let ours = |m: &&Module| m.instrumented && m.sanitizer != Sanitizer::Accesses;
    let paths: BTreeSet<&Path> = modules
        .iter()
        .filter(ours)
        .map(|m| m.path.as_path())
        .collect();
    let paths = paths.into_iter();
    paths
        .filter_map(|path| Some((path, crate::store::read_regular(path).ok()?)))
        .collect()
}

/// The bounds that calls of functions of the system, and of libstdc++, are of which nothing tells what they
/// do to memory that threads may share. `files`: who may call them.
pub fn unknown_calls(modules: &[Module], files: &[(&Path, Vec<u8>)]) -> Vec<String> {
    let called = files.iter().filter_map(|file| calls(&file.1)).flatten();
    let called = called.filter_map(|name| name.strip_prefix(UNKNOWN.as_bytes()));
    let called: BTreeSet<&[u8]> = called.collect();
    if called.is_empty() {
        return Vec::new();
    }
    let name = |module: &Module| base_name(&module.path.to_string_lossy()).to_string();
    let of = |library: &str, is_one: &dyn Fn(&str) -> bool| {
        let mut unknown = BTreeSet::new();
        for module in modules.iter().filter(|module| is_one(&name(module))) {
            let Ok(bytes) = crate::store::read_regular(&module.path) else {
                continue;
            };
            let Ok(elf) = Elf::parse(&bytes) else {
                continue;
            };
            let defined = elf.dynsyms.iter().filter(|symbol| !symbol.is_import());
            let names = defined.filter_map(|symbol| elf.dynstrtab.get_at(symbol.st_name));
            let names = names.filter(|name| called.contains(name.as_bytes()) && !is_known(name));
            unknown.extend(names.map(|name| short(&demangle(name))));
        }
        let what = if unknown.len() == 1 { "does" } else { "do" };
        (!unknown.is_empty()).then(|| {
            format!(
                "what {} of {library} {what} to shared memory is not seen",
                listed(&unknown)
            )
        })
    };
    let system = of("the C library", &|name| {
        is_among(name.as_bytes(), &SYSTEM_LIBRARIES) && !name.starts_with(OURS)
    });
    let cpp = of("libstdc++", &|name| name.starts_with(cpp::LIBRARY));
    system.into_iter().chain(cpp).collect()
}

/// The bound that functions are which could have symbolic bodies and have none, because their files are
/// large or `raddle cc` was told so.
pub fn left_out(files: &[(&Path, Vec<u8>)]) -> Option<String> {
    let said = files.iter().filter_map(|file| calls(&file.1)).flatten();
    let said = said.filter_map(|entry| entry.strip_prefix(LEFT_OUT.as_bytes()));
    let mut count = 0;
    let mut sources = BTreeSet::new();
    for entry in said {
        let entry = String::from_utf8_lossy(entry);
        let (functions, source) = entry.split_once(' ')?;
        count += functions.parse::<usize>().ok()?;
        sources.insert(base_name(source).to_string());
    }
    let functions = if count == 1 {
        "a function"
    } else {
        &format!("{count} functions")
    };
    let (have, they) = if count == 1 {
        ("has", "it")
    } else {
        ("have", "they")
    };
    let read = if count == 1 { "reads" } else { "read" };
    (count > 0).then(|| {
        format!(
            "{functions} of {} {have} no symbolic body: what {they} {read} of the inputs is decided \
             value by value, and accesses outside of variables are not looked for there; \
             `raddle cc --symbolic` (or {SYMBOLIC}=1) makes the bodies, in more time",
            listed(&sources)
        )
    })
}

/// A bound for each of the files that is followed in part.
pub fn bounds(files: &[(&Path, Vec<u8>)]) -> BTreeSet<String> {
    let mut used = BTreeSet::from([&b"main"[..]]);
    for (_, bytes) in files {
        used.extend(calls(bytes).into_iter().flatten());
    }
    let bound = |(path, bytes): &(&Path, Vec<u8>)| bound(path, bytes, &used);
    files.iter().filter_map(bound).collect()
}

/// The functions that code with hooks refers to, and that lie elsewhere.
fn calls(bytes: &[u8]) -> Option<impl Iterator<Item = &[u8]>> {
    let elf = Elf::parse(bytes).ok()?;
    let content = bytes.get(named(&elf, CALLS)?.file_range()?)?;
    Some(
        content
            .split(|&byte| byte == 0)
            .filter(|name| !name.is_empty()),
    )
}

fn named<'e>(elf: &'e Elf<'_>, name: &str) -> Option<&'e SectionHeader> {
    let mut headers = elf.section_headers.iter();
    headers.find(|header| elf.shdr_strtab.get_at(header.sh_name) == Some(name))
}

fn bound(path: &Path, bytes: &[u8], used: &BTreeSet<&[u8]>) -> Option<String> {
    let name = path.to_string_lossy();
    let name = base_name(&name);
    let (names, nameless) = of(bytes, used)?;
    let (what, one) = match (names.len(), nameless) {
        (0, 0) => return None,
        (0, 1) => ("a function".to_string(), true),
        (0, count) => (format!("{count} functions"), false),
        (count, _) => (listed(&names), count == 1),
    };
    Some(match one {
        true => format!(
            "{what} in {name} was not built by raddle cc: what it does to shared memory is not seen"
        ),
        false => format!(
            "{what} in {name} were not built by raddle cc: what they do to shared memory is not seen"
        ),
    })
}

/// Functions without hooks: the names of those that are `used`, and of a file without names how many
/// there are. `None`: not a file of machine code.
fn of(bytes: &[u8], used: &BTreeSet<&[u8]>) -> Option<(BTreeSet<String>, usize)> {
    let elf = Elf::parse(bytes).ok()?;
    let before = |entry: u64, n: u64| word(&elf, bytes, entry.checked_sub(8 * n)?);
    let is_mark = |word: u64| [PREFIX, HOOKED].contains(&word);
    let is_hooked = |entry: u64| match before(entry, 1) {
        Some(word) if word as u32 == SIGNATURE => before(entry, 2).is_some_and(is_mark),
        word => word.is_some_and(is_mark),
    };
    if elf.syms.is_empty() {
        let system = system_code(&elf);
        let unhooked = entries(&elf, bytes).into_iter().filter(|&address| {
            !is_hooked(address)
                && !system
                    .iter()
                    .any(|(from, to)| (*from..*to).contains(&address))
        });
        return Some((BTreeSet::new(), unhooked.count()));
    }
    let functions = elf.syms.iter().filter(|symbol| {
        !symbol.is_import()
            && symbol.st_size > 0
            && [STT_FUNC, STT_GNU_IFUNC].contains(&symbol.st_type())
    });
    let unhooked = functions.filter(|symbol| !is_hooked(symbol.st_value));
    let names = unhooked.filter_map(|symbol| elf.strtab.get_at(symbol.st_name));
    let known: BTreeSet<&str> = elf
        .strtab
        .to_vec()
        .unwrap_or_default()
        .into_iter()
        .collect();
    // The address sanitizer brings functions of its own for those of the C library.
    let replaces = |name: &str| known.contains(format!("___interceptor_{name}").as_str());
    let names = names.filter(|name| used.contains(name.as_bytes()));
    let names = names.filter(|name| !is_system(name) && !replaces(name));
    Some((names.map(|name| short(&demangle(name))).collect(), 0))
}

fn is_system(name: &str) -> bool {
    let mut own = TABLE.iter().chain(HARNESS);
    let own = own.any(|hook| hook.name == name);
    own || name.starts_with("__") || is_known(name) || SYSTEM.contains(&name)
}

/// Eight bytes at an address of the file as it will be loaded.
fn word(elf: &Elf<'_>, bytes: &[u8], address: u64) -> Option<u64> {
    let loaded = elf.program_headers.iter().filter(|h| h.p_type == PT_LOAD);
    let mut offsets = loaded.filter_map(|header| {
        let within = address.checked_sub(header.p_vaddr)?;
        (within + 8 <= header.p_filesz).then_some(header.p_offset + within)
    });
    let at = offsets.next()? as usize;
    let word = bytes.get(at..at + 8)?;
    Some(u64::from_le_bytes(word.try_into().ok()?))
}

/// Where functions begin, by the table for exceptions.
fn entries(elf: &Elf<'_>, bytes: &[u8]) -> Vec<u64> {
    let Some(section) = named(elf, ".eh_frame") else {
        return Vec::new();
    };
    let Some(content) = section.file_range().and_then(|range| bytes.get(range)) else {
        return Vec::new();
    };
    let table = EhFrame::from(EndianSlice::new(content, NativeEndian));
    let bases = BaseAddresses::default().set_eh_frame(section.sh_addr);
    let mut entries = table.entries(&bases);
    let mut found = Vec::new();
    while let Ok(Some(entry)) = entries.next() {
        if let CieOrFde::Fde(partial) = entry
            && let Ok(entry) = partial.parse(|table, bases, at| table.cie_from_offset(bases, at))
        {
            found.push(entry.initial_address());
        }
    }
    found
}

/// Where the code lies that is in every program.
fn system_code(elf: &Elf<'_>) -> Vec<(u64, u64)> {
    let sections = elf.section_headers.iter().filter(|header| {
        let name = elf.shdr_strtab.get_at(header.sh_name).unwrap_or_default();
        name.starts_with(".plt") || [".init", ".fini"].contains(&name)
    });
    let sections = sections.map(|header| (header.sh_addr, header.sh_addr + header.sh_size));
    sections.chain([(elf.entry, elf.entry + 1)]).collect()
}

/// A function's name without its parameters and those of its templates.
pub fn short(name: &str) -> String {
    let mut depth = 0;
    let mut kept = String::new();
    let mut rest = name.chars().peekable();
    while let Some(c) = rest.next() {
        if depth == 0 && kept.ends_with("operator") && "<>=-(".contains(c) {
            // A part of the name, which may be `()`, `<=>` or `->`.
            kept.push(c);
            while let Some(more) = rest.next_if(|&c| "<>=)".contains(c)) {
                kept.push(more);
            }
            continue;
        }
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            '(' if depth == 0 => break,
            _ if depth == 0 => kept.push(c),
            _ => {}
        }
    }
    kept.trim_end().into()
}

/// The first of these names, and how many more there are.
pub fn listed(names: &BTreeSet<String>) -> String {
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
            (
                "std::basic_istream<char, std::char_traits<char> >::operator>>(int&)",
                "std::basic_istream::operator>>",
            ),
            (
                "bool std::operator< <int>(A<int> const&)",
                "bool std::operator<",
            ),
            ("A<(B)1>::operator()(int) const", "A::operator()"),
            ("A::operator->()", "A::operator->"),
            ("A::operator bool() const", "A::operator bool"),
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
