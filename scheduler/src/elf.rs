//! The few facts about an ELF file that matter here, read without loading the file.

use crate::error::Unsuitable;
use goblin::container::{Container, Ctx, Endian};
use goblin::elf::{
    Header, ProgramHeader, SectionHeader, dynamic, header, program_header, section_header,
};
use raddle_protocol::hooks::SYMBOLIC_BODY;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Most bytes of one table that are read; real tables are far smaller.
const TABLE: u64 = 64 << 20;
/// Bytes of an entry of a symbol table: name, info, other, section, value, size.
const SYMBOL: usize = 24;
const CONTEXT: Ctx = Ctx {
    container: Container::Big,
    le: Endian::Little,
};

/// Why a file is not what is wanted.
#[derive(Debug)]
pub enum ElfError {
    Bits32,
    Machine,
    Malformed(&'static str),
    Io(io::Error),
}

impl ElfError {
    /// The same, for people.
    pub fn at(self, path: &Path) -> Unsuitable {
        let path = path.to_owned();
        match self {
            ElfError::Bits32 => Unsuitable::Bits32(path),
            ElfError::Machine => Unsuitable::Machine(path),
            ElfError::Malformed(why) => Unsuitable::NotElf { path, why },
            ElfError::Io(source) => Unsuitable::Unreadable { path, source },
        }
    }
}

impl From<io::Error> for ElfError {
    fn from(e: io::Error) -> ElfError {
        match e.kind() {
            io::ErrorKind::UnexpectedEof => ElfError::Malformed("it is cut short"),
            _ => ElfError::Io(e),
        }
    }
}

/// An x86-64 ELF file: its tables, its content where asked for.
pub struct Elf<'f> {
    file: &'f File,
    kind: u16,
    programs: Vec<ProgramHeader>,
    sections: Vec<(String, SectionHeader)>,
}

impl<'f> Elf<'f> {
    /// Reads the header and the two tables.
    pub fn read(file: &'f File) -> Result<Elf<'f>, ElfError> {
        let mut head = [0; 64];
        let n = file.read_at(&mut head, 0)?;
        if n < header::SIZEOF_IDENT || head[..4] != *header::ELFMAG {
            return Err(ElfError::Malformed("it does not begin like one"));
        }
        if head[header::EI_CLASS] == header::ELFCLASS32 {
            return Err(ElfError::Bits32);
        }
        if n < head.len() {
            return Err(ElfError::Malformed("it is cut short"));
        }
        let header: Header = goblin::elf::Elf::parse_header(&head)
            .map_err(|_| ElfError::Malformed("its header is damaged"))?;
        if head[header::EI_DATA] != header::ELFDATA2LSB || header.e_machine != header::EM_X86_64 {
            return Err(ElfError::Machine);
        }
        let damaged = |_| ElfError::Malformed("its tables are damaged");
        let count = usize::from(header.e_phnum);
        let table = bytes(file, header.e_phoff, count * ProgramHeader::size(CONTEXT))?;
        let programs = ProgramHeader::parse(&table, 0, count, CONTEXT).map_err(damaged)?;
        let count = usize::from(header.e_shnum);
        let table = bytes(file, header.e_shoff, count * SectionHeader::size(CONTEXT))?;
        let sections = match count {
            0 => Vec::new(),
            _ => SectionHeader::parse_from(&table, 0, count, CONTEXT).map_err(damaged)?,
        };
        let names = match sections.get(usize::from(header.e_shstrndx)) {
            Some(names) => content(file, names)?,
            None => Vec::new(),
        };
        let sections = sections
            .into_iter()
            .map(|s| (text_at(&names, s.sh_name as u64), s))
            .collect();
        Ok(Elf {
            file,
            kind: header.e_type,
            programs,
            sections,
        })
    }

    /// The dynamic linker that it asks for.
    pub fn interpreter(&self) -> Result<Option<String>, ElfError> {
        let Some(p) = self
            .programs
            .iter()
            .find(|p| p.p_type == program_header::PT_INTERP)
        else {
            return Ok(None);
        };
        let text = bytes(self.file, p.p_offset, p.p_filesz.min(4096) as usize)?;
        Ok(Some(text_at(&text, 0)))
    }

    /// Something that can be executed, not a library or an object file.
    pub fn is_program(&self) -> bool {
        match self.kind {
            header::ET_EXEC => true,
            header::ET_DYN => self
                .dynamic(dynamic::DT_FLAGS_1)
                .is_ok_and(|flags| flags.iter().any(|f| f & dynamic::DF_1_PIE != 0)),
            _ => false,
        }
    }

    /// Is there a section of this name?
    pub fn has_section(&self, name: &str) -> bool {
        self.section(name).is_some()
    }

    /// What is in the section of this name, if it is there and can be read.
    pub fn content(&self, name: &str) -> Option<Vec<u8>> {
        content(self.file, self.section(name)?).ok()
    }

    /// Is this among the names that its dynamic symbols have?
    pub fn names(&self, symbol: &str) -> bool {
        let strings = self.section(".dynstr").map(|s| content(self.file, s));
        let Some(Ok(strings)) = strings else {
            return false;
        };
        strings.split(|&b| b == 0).any(|s| s == symbol.as_bytes())
    }

    /// The GNU build id, where there is one.
    pub fn build_id(&self) -> Option<Vec<u8>> {
        let note = content(self.file, self.section(".note.gnu.build-id")?).ok()?;
        let word =
            |i: usize| Some(u32::from_le_bytes(note.get(i..i + 4)?.try_into().ok()?) as usize);
        let start = 12 + word(0)?.next_multiple_of(4);
        let id = note.get(start..start.checked_add(word(4)?)?)?;
        (!id.is_empty()).then(|| id.to_vec())
    }

    /// Names of the libraries that it asks for.
    pub fn needed(&self) -> Result<Vec<String>, ElfError> {
        let Some(dynamic) = self.dynamic_section() else {
            return Ok(Vec::new());
        };
        let Some((_, strings)) = self.sections.get(dynamic.sh_link as usize) else {
            return Err(ElfError::Malformed("its dynamic section is damaged"));
        };
        let strings = content(self.file, strings)?;
        let needed = self.dynamic(dynamic::DT_NEEDED)?;
        Ok(needed.into_iter().map(|at| text_at(&strings, at)).collect())
    }

    /// Which of `names` it defines itself, as far as its symbol tables tell.
    pub fn defines(&self, names: &[&str]) -> Vec<bool> {
        let mut found = vec![false; names.len()];
        const BOTH: [u32; 2] = [section_header::SHT_DYNSYM, section_header::SHT_SYMTAB];
        self.symbols(&BOTH, |symbol, defined| {
            let same = |name: &&str| defined && name.as_bytes() == symbol;
            if let Some(i) = names.iter().position(same) {
                found[i] = true;
            }
        });
        found
    }

    /// Does it ask others for a function or variable whose name is `wanted`?
    pub fn imports(&self, wanted: impl Fn(&[u8]) -> bool) -> bool {
        let mut found = false;
        self.symbols(&[section_header::SHT_DYNSYM], |symbol, defined| {
            found |= !defined && wanted(symbol);
        });
        found
    }

    /// Calls `look` with every name in its symbol tables of these types, and whether that is defined here. A table
    /// that cannot be read is left out.
    fn symbols(&self, types: &[u32], mut look: impl FnMut(&[u8], bool)) {
        for (_, table) in &self.sections {
            if !types.contains(&table.sh_type) {
                continue;
            }
            let strings = self.sections.get(table.sh_link as usize);
            let Some((Ok(strings), Ok(entries))) =
                strings.map(|(_, s)| (content(self.file, s), content(self.file, table)))
            else {
                continue;
            };
            for entry in entries.chunks_exact(SYMBOL) {
                let at = u32::from_le_bytes(entry[..4].try_into().unwrap_or_default());
                let tail = strings.get(at as usize..).unwrap_or_default();
                let name = tail.split(|&b| b == 0).next().unwrap_or_default();
                look(name, entry[6..8] != [0, 0]);
            }
        }
    }

    /// The name of the function whose code lies at this offset of the file.
    pub fn function_at(&self, offset: u64) -> Option<String> {
        let load = self.programs.iter().find(|p| {
            p.p_type == program_header::PT_LOAD
                && (p.p_offset..p.p_offset.saturating_add(p.p_filesz)).contains(&offset)
        })?;
        self.function_of((offset - load.p_offset).checked_add(load.p_vaddr)?)
    }

    /// The name of the function whose code lies so many bytes behind the module's first one in
    /// memory.
    pub fn function_behind(&self, distance: u64) -> Option<String> {
        let loads = self
            .programs
            .iter()
            .filter(|p| p.p_type == program_header::PT_LOAD);
        let first = loads.map(|p| p.p_vaddr & !0xfff).min()?;
        self.function_of(first.checked_add(distance)?)
    }

    /// The name of the function at this address; of a symbolic body, that of its function.
    fn function_of(&self, address: u64) -> Option<String> {
        let tables = [section_header::SHT_SYMTAB, section_header::SHT_DYNSYM];
        tables.iter().find_map(|&kind| {
            let (_, table) = self.sections.iter().find(|(_, s)| s.sh_type == kind)?;
            let (_, strings) = self.sections.get(table.sh_link as usize)?;
            let symbols = content(self.file, table).ok()?;
            let symbol = symbols.chunks_exact(SYMBOL).find(|symbol| {
                let word = |at| u64::from_le_bytes(symbol[at..at + 8].try_into().unwrap_or([0; 8]));
                let (start, size) = (word(8), word(16));
                symbol[4] & 0xf == goblin::elf::sym::STT_FUNC
                    && (start..start.saturating_add(size)).contains(&address)
            })?;
            let name = u32::from_le_bytes(symbol[..4].try_into().ok()?);
            let name = text_at(&content(self.file, strings).ok()?, name.into());
            let function = name.strip_suffix(SYMBOLIC_BODY);
            Some(function.map_or(name.clone(), String::from))
        })
    }

    fn section(&self, name: &str) -> Option<&SectionHeader> {
        self.sections
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, s)| s)
    }

    fn dynamic_section(&self) -> Option<&SectionHeader> {
        let mut sections = self.sections.iter().map(|(_, s)| s);
        sections.find(|s| s.sh_type == section_header::SHT_DYNAMIC)
    }

    /// The values of all dynamic entries with this tag.
    fn dynamic(&self, tag: u64) -> Result<Vec<u64>, ElfError> {
        let Some(section) = self.dynamic_section() else {
            return Ok(Vec::new());
        };
        let words: Vec<u64> = content(self.file, section)?
            .chunks_exact(8)
            .map(|c| u64::from_le_bytes(c.try_into().unwrap_or_default()))
            .collect();
        let entries = words
            .chunks_exact(2)
            .take_while(|e| e[0] != dynamic::DT_NULL);
        Ok(entries.filter(|e| e[0] == tag).map(|e| e[1]).collect())
    }
}

fn content(file: &File, section: &SectionHeader) -> Result<Vec<u8>, ElfError> {
    if section.sh_type == section_header::SHT_NOBITS {
        return Ok(Vec::new());
    }
    let size = usize::try_from(section.sh_size).unwrap_or(usize::MAX);
    bytes(file, section.sh_offset, size)
}

fn bytes(file: &File, offset: u64, size: usize) -> Result<Vec<u8>, ElfError> {
    if size as u64 > TABLE {
        return Err(ElfError::Malformed("one of its tables is impossibly large"));
    }
    let mut buffer = vec![0; size];
    file.read_exact_at(&mut buffer, offset)?;
    Ok(buffer)
}

/// The NUL-terminated text at `at`; empty when there is none.
fn text_at(strings: &[u8], at: u64) -> String {
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    let tail = strings.get(at..).unwrap_or_default();
    let text = tail.split(|&b| b == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}
