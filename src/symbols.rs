//! From addresses in the target to places in its source: modules, functions, lines, variables.

use crate::error::{Error, Result};
use crate::report::base_name;
use addr2line::Loader;
use goblin::elf::sym::{STT_OBJECT, STT_TLS};
use goblin::elf::{Elf, ProgramHeader, program_header::PT_LOAD};
use raddle_protocol::hooks::{SECTION, SYMBOLIC_BODY};
use raddle_protocol::libraries::{SYSTEM, is_among};
use raddle_protocol::witness::{Bytes, Frame, Module, Site, fnv1a};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Resolves the addresses of one target; every place is looked up once.
pub struct Symbols {
    images: Vec<Image>,
    sites: Vec<Site>,
    by_address: HashMap<u64, u32>,
    /// By the address and its callers.
    by_callers: HashMap<Vec<u64>, u32>,
    /// Libraries that the execution loaded by itself whose addresses are asked for.
    loaded: Vec<(u64, Vec<u8>)>,
    sources: HashMap<String, Option<Vec<String>>>,
}

/// One ELF file in the target's memory.
struct Image {
    path: PathBuf,
    /// What is added to the file's own addresses.
    base: u64,
    /// Executable ranges; none while it is not loaded.
    code: Vec<(u64, u64)>,
    /// Of a library that the program loads by itself: its executable ranges while it does.
    loaded: Option<Vec<(u64, u64)>>,
    identity: String,
    instrumented: bool,
    data: OnceCell<Data>,
    lines: OnceCell<Option<Loader>>,
}

/// What a file says of its data, at its own addresses.
#[derive(Default)]
struct Data {
    variables: Vec<Variable>,
    /// By their distance from the first of a thread.
    thread_locals: Vec<Variable>,
    /// What is loaded and can be written.
    segments: Vec<(u64, u64)>,
}

/// First address, size, name.
type Variable = (u64, u64, String);

/// The one of these variables, which are sorted, that this address lies in, and the distance from
/// its start.
fn variable_at(variables: &[Variable], address: u64) -> Option<(&str, u64)> {
    let after = variables.partition_point(|v| v.0 <= address);
    let (start, size, name) = variables[..after].last()?;
    let within = address - start;
    (within < *size).then_some((name.as_str(), within))
}

impl Symbols {
    /// Prepares the lookup in these modules; the program's own is the first of the result's.
    pub fn new(modules: &[raddle_scheduler::Module], program: &Path) -> Symbols {
        let mut images: Vec<Image> = Vec::new();
        for module in modules {
            match images.iter_mut().find(|i| i.path == module.path) {
                Some(image) => image.code.push((module.start, module.end)),
                None => images.extend(Image::of(module)),
            }
        }
        images.sort_by_key(|image| image.path != program);
        Symbols {
            images,
            sites: Vec::new(),
            by_address: HashMap::new(),
            by_callers: HashMap::new(),
            loaded: Vec::new(),
            sources: HashMap::new(),
        }
    }

    /// From here on addresses are those of an execution that has loaded these libraries by itself
    /// ([`raddle_protocol::trace::Trace::loaded`]).
    pub fn enter(&mut self, loaded: &[(u64, Vec<u8>)]) {
        if self.loaded == loaded {
            return;
        }
        self.loaded = loaded.to_vec();
        self.by_address.clear();
        self.by_callers.clear();
        for image in self.images.iter_mut().filter(|i| i.loaded.is_some()) {
            image.code.clear();
        }
        for (base, path) in loaded {
            let path = Path::new(OsStr::from_bytes(path));
            let is = |image: &Image| image.path == path && image.base == *base;
            let index = self.images.iter().position(is).or_else(|| {
                self.images.push(Image::loaded(path, *base)?);
                Some(self.images.len() - 1)
            });
            if let Some(index) = index.filter(|&index| self.images[index].loaded.is_some()) {
                self.put_in_place(index);
            }
        }
    }

    /// The library has its addresses for itself: what was there before is not any more.
    fn put_in_place(&mut self, index: usize) {
        let code = self.images[index].loaded.clone().unwrap_or_default();
        let meets = |one: &(u64, u64)| code.iter().any(|c| one.0 < c.1 && c.0 < one.1);
        for image in self.images.iter_mut().filter(|i| i.loaded.is_some()) {
            if image.code.iter().any(meets) {
                image.code.clear();
            }
        }
        self.images[index].code = code;
    }

    /// The place of a return address.
    pub fn site(&mut self, address: u64) -> u32 {
        if let Some(&known) = self.by_address.get(&address) {
            return known;
        }
        let site = self.resolve(address);
        let index = self.sites.len() as u32;
        self.sites.push(site);
        self.by_address.insert(address, index);
        index
    }

    /// The place of a return address whose callers' return addresses are these, innermost first:
    /// in a library it is shown by the innermost line of the user's own code.
    pub fn site_called_from(&mut self, address: u64, callers: &[u64]) -> u32 {
        let plain = self.site(address);
        let site = &self.sites[plain as usize];
        if is_own_code(&site.frames[site.shown as usize]) || callers.is_empty() {
            return plain;
        }
        let key: Vec<u64> = [&[address], callers].concat();
        if let Some(&known) = self.by_callers.get(&key) {
            return known;
        }
        let index = match self.resolve_outwards(plain, callers) {
            None => plain,
            Some(site) => match self.sites.iter().position(|s| *s == site) {
                Some(same) => same as u32,
                None => {
                    self.sites.push(site);
                    self.sites.len() as u32 - 1
                }
            },
        };
        self.by_callers.insert(key, index);
        index
    }

    /// The place `plain` with its callers as far as the first of the user's own code.
    fn resolve_outwards(&mut self, plain: u32, callers: &[u64]) -> Option<Site> {
        let mut frames = self.sites[plain as usize].frames.clone();
        for &caller in callers {
            let outer = self.resolve(caller);
            let inner = frames.len() as u32;
            let shown = &outer.frames[outer.shown as usize];
            let own = is_own_code(shown) && !self.is_in_runtime(caller);
            frames.extend(outer.frames);
            if own {
                return Some(Site {
                    frames,
                    shown: inner + outer.shown,
                    source: outer.source,
                    ..self.sites[plain as usize].clone()
                });
            }
        }
        None
    }

    /// Every place that was asked for.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// The name of the module at this address, if it has no hooks and could have some.
    pub fn without_hooks(&mut self, pc: u64) -> Option<String> {
        let site = self.site(pc);
        let module = self.sites[site as usize].module?;
        let image = &self.images[module as usize];
        let name = base_name(&image.path.to_string_lossy()).to_string();
        let could = !image.instrumented && !is_among(name.as_bytes(), &SYSTEM);
        could.then_some(name)
    }

    /// The modules, as a witness records them.
    pub fn modules(&self) -> Vec<Module> {
        let module = |image: &Image| Module {
            path: Bytes(image.path.as_os_str().as_bytes().to_vec()),
            base: image.base,
            identity: image.identity.clone(),
            instrumented: image.instrumented,
        };
        self.images.iter().map(module).collect()
    }

    /// The file of a module, by its place in [`Symbols::modules`].
    pub fn module_path(&self, index: u32) -> Option<&Path> {
        let image = self.images.get(index as usize)?;
        Some(&image.path)
    }

    /// Is this module one of the user's, not of the system or raddle's own?
    pub fn is_own_module(&self, index: Option<u32>) -> bool {
        let path = index.and_then(|index| self.module_path(index));
        path.is_some_and(|path| !is_of_system(path) && !is_runtime(path))
    }

    /// A module's name; the program's own may be another one in each build.
    pub fn stable_module_name(&self, index: Option<u32>) -> String {
        let path = index.and_then(|index| self.module_path(index));
        match (index, path.and_then(Path::file_name)) {
            (Some(0), _) => "program".to_string(),
            (_, Some(name)) => name.to_string_lossy().into_owned(),
            (_, None) => "?".to_string(),
        }
    }

    /// How far this place lies behind the symbol (the start of a function) by which it is known, if
    /// it is.
    pub fn distance_from_symbol(&self, site: &Site) -> Option<u64> {
        let image = self.images.get(site.module? as usize)?;
        let loader = image.loader()?;
        let symbol = loader.find_symbol_info(site.offset.wrapping_sub(1))?;
        site.offset.checked_sub(symbol.address())
    }

    /// The global variable at this address and the distance from its start.
    pub fn variable(&self, address: u64) -> Option<(&str, u64)> {
        self.images.iter().find_map(|i| i.variable(address))
    }

    /// The first and the end of all global variables of instrumented modules that can be written and
    /// have no more than so many bytes.
    pub fn instrumented_variables(&self, most: u64) -> Vec<(u64, u64)> {
        let images = self.images.iter().filter(|i| i.instrumented);
        let variables = images.flat_map(|image| {
            let data = image.data();
            let small = data.variables.iter().filter(move |v| v.1 <= most);
            let ranges = small.map(|v| (image.base + v.0, image.base + v.0 + v.1));
            ranges.filter(|v| image.has_data(v.0))
        });
        variables.collect()
    }

    /// The thread-local variable that lies `at` bytes behind the first one of a thread, in the module
    /// to whose own addresses `base` is added, and the distance from its start.
    pub fn thread_local(&self, base: u64, at: u64) -> Option<(&str, u64)> {
        let mut images = self.images.iter();
        let image = images.find(|i| i.base == base && !i.code.is_empty())?;
        variable_at(&image.data().thread_locals, at)
    }

    /// The module in whose data this address lies.
    pub fn data_of(&self, address: u64) -> Option<&Path> {
        let image = self.images.iter().find(|i| i.has_data(address))?;
        Some(&image.path)
    }

    /// Does this address lie in the data of the shim inside the target?
    pub fn is_data_of_runtime(&self, address: u64) -> bool {
        self.data_of(address).is_some_and(is_runtime)
    }

    /// Does this address lie in the shim inside the target?
    pub fn is_in_runtime(&self, address: u64) -> bool {
        let image = self.image_of(address).map(|(_, image)| &image.path);
        image.is_some_and(|path| is_runtime(path))
    }

    fn image_of(&self, address: u64) -> Option<(usize, &Image)> {
        let holds = |image: &Image| image.code.iter().any(|c| (c.0..c.1).contains(&address));
        self.images.iter().enumerate().find(|(_, i)| holds(i))
    }

    /// Is `callee` in the symbolic body of the function in which `caller` is?
    pub fn enters_symbolic_body(&self, caller: u64, callee: u64) -> bool {
        let name = |address: u64| {
            let (_, image) = self.image_of(address)?;
            image.symbol(address.wrapping_sub(image.base).wrapping_sub(1))
        };
        let body = name(callee).and_then(|name| name.strip_suffix(SYMBOLIC_BODY));
        body.is_some_and(|function| name(caller) == Some(function))
    }

    fn resolve(&mut self, address: u64) -> Site {
        let Some((index, image)) = self.image_of(address) else {
            return Site {
                module: None,
                offset: address,
                frames: vec![unknown()],
                shown: 0,
                source: None,
            };
        };
        let offset = address.wrapping_sub(image.base);
        // A return address may be the first of the next line or function: look at the call.
        let frames = image.frames(offset.wrapping_sub(1));
        let shown = frames.iter().position(is_own_code).unwrap_or(0);
        let source = match &frames[shown] {
            Frame {
                file: Some(file),
                line: Some(line),
                ..
            } => self.source_line(file, *line),
            _ => None,
        };
        Site {
            module: Some(index as u32),
            offset,
            frames,
            shown: shown as u32,
            source,
        }
    }

    fn source_line(&mut self, file: &str, line: u32) -> Option<String> {
        let lines = self.sources.entry(file.to_string()).or_insert_with(|| {
            let text = crate::store::read_regular(file.as_ref()).ok()?;
            let text = String::from_utf8_lossy(&text);
            Some(text.lines().map(|l| l.trim().to_string()).collect())
        });
        let text = lines.as_ref()?.get((line as usize).checked_sub(1)?)?;
        Some(text.chars().take(LONGEST_SOURCE_LINE).collect())
    }
}

/// Characters that are kept of a source line.
const LONGEST_SOURCE_LINE: usize = 160;

impl Image {
    fn of(module: &raddle_scheduler::Module) -> Option<Image> {
        let content = crate::store::read_regular(&module.path).ok()?;
        let elf = Elf::parse(&content).ok()?;
        let load = elf.program_headers.iter().find(|header| {
            let end = header.p_offset.saturating_add(header.p_filesz);
            // The mapping begins at a page boundary, the segment perhaps a little later.
            header.p_type == PT_LOAD
                && header.is_executable()
                && module.file_offset <= end
                && module.file_offset + 4096 > header.p_offset
        })?;
        let base = module
            .start
            .wrapping_sub(module.file_offset)
            .wrapping_sub(load.p_vaddr.wrapping_sub(load.p_offset));
        Some(Image {
            path: module.path.clone(),
            base,
            code: vec![(module.start, module.end)],
            loaded: None,
            identity: identity(&elf, &content),
            instrumented: module.instrumented,
            data: OnceCell::new(),
            lines: OnceCell::new(),
        })
    }

    /// Of a library that the program loads by itself; it is not in its place yet.
    fn loaded(path: &Path, base: u64) -> Option<Image> {
        let content = crate::store::read_regular(path).ok()?;
        let elf = Elf::parse(&content).ok()?;
        let segments = elf.program_headers.iter();
        let code = segments.filter(|s| s.p_type == PT_LOAD && s.is_executable());
        let range = |s: &ProgramHeader| {
            let start = base.wrapping_add(s.p_vaddr);
            (start, start.saturating_add(s.p_memsz))
        };
        let mut names = elf.section_headers.iter();
        let is_mark = |name: usize| elf.shdr_strtab.get_at(name) == Some(SECTION);
        Some(Image {
            path: path.to_path_buf(),
            base,
            code: Vec::new(),
            loaded: Some(code.map(range).collect()),
            identity: identity(&elf, &content),
            instrumented: names.any(|s| is_mark(s.sh_name)),
            data: OnceCell::new(),
            lines: OnceCell::new(),
        })
    }

    fn loader(&self) -> Option<&Loader> {
        let loader = self.lines.get_or_init(|| Loader::new(&self.path).ok());
        loader.as_ref()
    }

    /// The name of the function here in the table of symbols, as it stands there.
    fn symbol(&self, offset: u64) -> Option<&str> {
        self.loader()?.find_symbol(offset)
    }

    fn frames(&self, offset: u64) -> Vec<Frame> {
        let Some(loader) = self.loader() else {
            return vec![unknown()];
        };
        let mut frames = Vec::new();
        if let Ok(mut found) = loader.find_frames(offset) {
            while let Ok(Some(frame)) = found.next() {
                let location = frame.location.as_ref();
                let name = frame.function.as_ref();
                frames.push(Frame {
                    function: name.and_then(|n| n.demangle().ok()).map(Into::into),
                    file: location.and_then(|l| l.file).map(tidy),
                    line: location.and_then(|l| l.line).filter(|&line| line != 0),
                });
            }
        }
        if frames.is_empty() {
            frames.push(unknown());
        }
        // Line tables may know the line of a function without knowing its name.
        if let Some(last) = frames.last_mut()
            && last.function.is_none()
        {
            let symbol = loader.find_symbol(offset);
            last.function = symbol.map(demangle);
        }
        frames
    }

    fn data(&self) -> &Data {
        self.data
            .get_or_init(|| read_data(&self.path).unwrap_or_default())
    }

    fn variable(&self, address: u64) -> Option<(&str, u64)> {
        if self.code.is_empty() {
            return None;
        }
        variable_at(&self.data().variables, address.checked_sub(self.base)?)
    }

    fn has_data(&self, address: u64) -> bool {
        let at = address.wrapping_sub(self.base);
        let mut segments = self.data().segments.iter();
        !self.code.is_empty() && segments.any(|s| (s.0..s.1).contains(&at))
    }
}

fn read_data(path: &Path) -> Option<Data> {
    let content = crate::store::read_regular(path).ok()?;
    let elf = Elf::parse(&content).ok()?;
    let segments = elf.program_headers.iter();
    let written = segments.filter(|s| s.p_type == PT_LOAD && s.is_write());
    let range = |s: &ProgramHeader| (s.p_vaddr, s.p_vaddr.saturating_add(s.p_memsz));
    Some(Data {
        variables: read_variables(&elf, STT_OBJECT),
        thread_locals: read_variables(&elf, STT_TLS),
        segments: written.map(range).collect(),
    })
}

/// The symbols of this type.
fn read_variables(elf: &Elf<'_>, kind: u8) -> Vec<Variable> {
    let full = elf.syms.iter().map(|s| (s, &elf.strtab));
    let dynamic = elf.dynsyms.iter().map(|s| (s, &elf.dynstrtab));
    let mut variables: Vec<Variable> = full
        .chain(dynamic)
        .filter(|(s, _)| s.st_type() == kind)
        .filter(|(s, _)| s.st_shndx != 0 && s.st_size > 0)
        .filter_map(|(s, names)| {
            let name = names.get_at(s.st_name)?;
            Some((s.st_value, s.st_size, demangle(name)))
        })
        .collect();
    variables.sort();
    variables.dedup_by_key(|v| v.0);
    variables
}

/// What tells one build of a file from another: its build-id, or a hash of its content.
pub fn file_identity(path: &Path) -> Result<String> {
    let content = crate::store::read_regular(path).map_err(|e| Error::file("read", path, &e))?;
    Ok(match Elf::parse(&content) {
        Ok(elf) => identity(&elf, &content),
        Err(_) => format!("fnv1a64:{:016x}", fnv1a(&content)),
    })
}

fn identity(elf: &Elf<'_>, content: &[u8]) -> String {
    let build_id = elf
        .iter_note_headers(content)
        .into_iter()
        .flatten()
        .chain(
            elf.iter_note_sections(content, Some(".note.gnu.build-id"))
                .into_iter()
                .flatten(),
        )
        .flatten()
        .find(|note| note.name == "GNU" && note.n_type == goblin::elf::note::NT_GNU_BUILD_ID);
    match build_id {
        Some(note) => {
            let digits: String = note.desc.iter().map(|b| format!("{b:02x}")).collect();
            format!("build-id:{digits}")
        }
        None => format!("fnv1a64:{:016x}", fnv1a(content)),
    }
}

/// A symbol as its source has it. Only names that are mangled are touched: the C variable `b` would
/// become `bool`.
pub fn demangle(name: &str) -> String {
    match name.starts_with("_Z") || name.starts_with("_R") {
        true => addr2line::demangle_auto(name.into(), None).replace("_GLOBAL__N_1::", ""),
        false => name.to_string(),
    }
}

/// A text of the runtime or the kernel, with the mangled names in it as their sources have them.
pub fn readable(text: &str) -> String {
    let ends = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',');
    text.split_inclusive(ends)
        .map(|word| {
            let name = word.trim_end_matches(ends);
            demangle(name) + &word[name.len()..]
        })
        .collect()
}

/// Is this a file of the system's?
pub fn is_of_system(path: &Path) -> bool {
    const SYSTEM: [&str; 4] = ["/lib", "/usr/lib", "/usr/lib64", "/lib64"];
    SYSTEM.iter().any(|dir| path.starts_with(dir))
}

/// Is this the shim inside the target?
fn is_runtime(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "libraddle.so")
}

fn unknown() -> Frame {
    Frame {
        function: None,
        file: None,
        line: None,
    }
}

/// The innermost place of a stack in the user's own code; `sites` are those that it names.
pub fn own_place(stack: &[u32], sites: &[Site]) -> Option<u32> {
    let own = |&&site: &&u32| is_own(&sites[site as usize]);
    stack.iter().find(own).copied()
}

/// Is this place in the user's own code?
pub fn is_own(site: &Site) -> bool {
    is_own_code(&site.frames[site.shown as usize])
}

/// Is this frame in code that the user wrote, not in a library's header?
pub fn is_own_code(frame: &Frame) -> bool {
    const OTHERS: [&str; 4] = ["/usr/include/", "/usr/lib/", "/usr/src/", "/rustc/"];
    const INSIDE: [&str; 2] = ["/.cargo/registry/", "/lib/rustlib/src/"];
    match &frame.file {
        Some(file) => {
            !OTHERS.iter().any(|dir| file.starts_with(dir))
                && !INSIDE.iter().any(|dir| file.contains(dir))
        }
        None => false,
    }
}

/// A path without `.` and `..`.
fn tidy(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|p| !p.is_empty() && *p != "..") => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_their_detours() {
        let table = [
            ("/a/./b/../c.c", "/a/c.c"),
            ("../x.c", "../x.c"),
            (
                "/usr/lib/gcc/12/../../../include/c++/12/mutex",
                "/usr/include/c++/12/mutex",
            ),
            ("a/../../b.c", "../b.c"),
        ];
        for (path, expected) in table {
            assert_eq!(tidy(path), expected);
        }
    }

    #[test]
    fn only_mangled_names_are_demangled() {
        let table = [
            ("b", "b"),
            ("main", "main"),
            ("_ZN3foo3barEv", "foo::bar()"),
            ("_ZL5count", "count"),
            ("_ZN12_GLOBAL__N_110tally_lockE", "tally_lock"),
        ];
        for (name, expected) in table {
            assert_eq!(demangle(name), expected);
        }
    }

    #[test]
    fn mangled_names_within_a_text_are_demangled() {
        let table = [
            ("io_uring", "io_uring"),
            (
                "getaddrinfo (_ZN3net7resolveEPKc in a_Zb, thread T1)",
                "getaddrinfo (net::resolve(char const*) in a_Zb, thread T1)",
            ),
            ("_ZN3foo3barEv, _Z1xv", "foo::bar(), x()"),
        ];
        for (text, expected) in table {
            assert_eq!(readable(text), expected);
        }
    }

    #[test]
    fn code_of_libraries_is_not_shown_first() {
        let frame = |file: &str| Frame {
            file: Some(file.to_string()),
            ..unknown()
        };
        assert!(is_own_code(&frame("/home/me/src/a.c")));
        assert!(is_own_code(&frame("src/main.rs")));
        for other in [
            "/usr/include/c++/12/bits/std_mutex.h",
            "/rustc/abc/library/std/src/thread.rs",
            "/home/me/.cargo/registry/src/x/y.rs",
            "/home/me/.rustup/toolchains/x/lib/rustlib/src/rust/library/std/src/thread.rs",
        ] {
            assert!(!is_own_code(&frame(other)), "{other}");
        }
        assert!(!is_own_code(&unknown()));
    }

    /// An address in this test itself, found through the real path of `/proc/self/maps`.
    #[test]
    fn a_function_of_this_process_is_found_with_its_line() {
        let path = std::env::current_exe().unwrap();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let number = |text: &str| u64::from_str_radix(text, 16).unwrap();
        let modules: Vec<raddle_scheduler::Module> = maps
            .lines()
            .filter(|l| l.contains("r-xp") && l.ends_with(path.to_str().unwrap()))
            .map(|line| {
                let fields: Vec<&str> = line.split_whitespace().collect();
                let (start, end) = fields[0].split_once('-').unwrap();
                raddle_scheduler::Module {
                    path: path.clone(),
                    start: number(start),
                    end: number(end),
                    file_offset: number(fields[2]),
                    instrumented: false,
                    stale: false,
                    sanitizer: raddle_scheduler::Sanitizer::None,
                }
            })
            .collect();
        let mut symbols = Symbols::new(&modules, &path);
        let inside = a_function_of_this_process_is_found_with_its_line as fn() as usize as u64 + 1;
        let index = symbols.site(inside);
        assert_eq!(symbols.site(inside), index);
        let site = &symbols.sites()[index as usize];
        let outer = site.frames.last().unwrap();
        let function = outer.function.as_deref().unwrap_or_default();
        assert!(function.contains("found_with_its_line"), "{site:?}");
        assert!(outer.file.as_deref().unwrap().ends_with("src/symbols.rs"));
        // An address in no module, then one in a library, called from here.
        let outside = symbols.site(1);
        assert_eq!(symbols.site_called_from(1, &[]), outside);
        assert_eq!(symbols.site_called_from(1, &[2]), outside);
        assert_eq!(symbols.site_called_from(inside, &[2]), index);
        let called = symbols.site_called_from(1, &[2, inside, 3]);
        assert_ne!(symbols.site_called_from(1, &[inside]), called);
        assert_eq!(symbols.site_called_from(1, &[2, inside]), called);
        let (called, own) = (
            &symbols.sites()[called as usize],
            &symbols.sites()[index as usize],
        );
        assert_eq!((called.module, called.offset), (None, 1));
        assert_eq!(
            called.frames[called.shown as usize],
            own.frames[own.shown as usize]
        );
        assert_eq!(called.source, own.source);
        static MARK: [u64; 4] = [1, 2, 3, 4];
        let (name, within) = symbols.variable(&raw const MARK[1] as u64).unwrap();
        assert!(name.contains("MARK"), "{name}");
        assert_eq!(within, 8);
    }
}
