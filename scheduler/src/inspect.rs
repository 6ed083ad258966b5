//! Can this program be run under control, and what is it made of?

use crate::elf::Elf;
use crate::error::Unsuitable;
use crate::sanitizers::Sanitizers;
use raddle_protocol::hash::Fnv1a;
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// What [`inspect`] found out.
#[derive(Clone, Debug)]
pub struct Program {
    /// Absolute path of the executable, links followed.
    pub path: PathBuf,
    /// Its device and inode.
    pub file: (u64, u64),
    /// Its dynamic linker.
    pub interpreter: String,
    /// Was it built by `raddle cc`? (Has a section `raddle_hooks`.)
    pub instrumented: bool,
    /// Has it line information?
    pub debug_info: bool,
    /// `build-id:HEX`, or `fnv1a64:HEX` of the content when it has no build id.
    pub identity: String,
    /// Does it use sockets that others connect to? (Names `bind`.)
    pub serves: bool,
    /// Names of the libraries that it asks for, in its own order.
    pub needed: Vec<String>,
    /// Sanitizers that take part.
    pub sanitizers: Sanitizers,
}

/// Looks at `program`, a path or a bare name that is looked up in `PATH`.
pub fn inspect(program: &Path) -> Result<Program, Unsuitable> {
    let path = locate(program)?;
    let unreadable = |source| Unsuitable::Unreadable {
        path: path.clone(),
        source,
    };
    let meta = std::fs::metadata(&path).map_err(unreadable)?;
    if !meta.is_file() {
        return Err(Unsuitable::NotAFile(path));
    }
    if !executable(&path) {
        return Err(Unsuitable::NotExecutable(path));
    }
    let file = File::open(&path).map_err(unreadable)?;
    if let Some(interpreter) = script_interpreter(&file).map_err(unreadable)? {
        return Err(Unsuitable::Script { path, interpreter });
    }
    let elf = Elf::read(&file).map_err(|e| e.at(&path))?;
    let Some(interpreter) = elf.interpreter().map_err(|e| e.at(&path))? else {
        return Err(match elf.is_program() {
            true => Unsuitable::Static(path),
            false => Unsuitable::Library(path),
        });
    };
    if !interpreter.ends_with("/ld-linux-x86-64.so.2") {
        return Err(Unsuitable::Interpreter { path, interpreter });
    }
    if !Path::new(&interpreter).exists() {
        return Err(Unsuitable::MissingInterpreter { path, interpreter });
    }
    if meta.mode() & (libc::S_ISUID | libc::S_ISGID) != 0 {
        return Err(Unsuitable::SetId(path));
    }
    if has_capabilities(&path) {
        return Err(Unsuitable::Capabilities(path));
    }
    Ok(Program {
        file: (meta.dev(), meta.ino()),
        sanitizers: Sanitizers::of(&path, &interpreter, &elf)?,
        interpreter,
        instrumented: elf.has_section("raddle_hooks"),
        debug_info: elf.has_section(".debug_line"),
        identity: match elf.build_id() {
            Some(id) => format!("build-id:{}", hex(&id)),
            None => format!("fnv1a64:{:016x}", hash_file(&file).map_err(unreadable)?),
        },
        serves: elf.names("bind"),
        needed: elf.needed().map_err(|e| e.at(&path))?,
        path,
    })
}

/// The absolute path that `program` means, as a shell would find it.
fn locate(program: &Path) -> Result<PathBuf, Unsuitable> {
    let not_found = || Unsuitable::NotFound(program.to_owned());
    if program.as_os_str().as_bytes().contains(&b'/') {
        return match std::fs::canonicalize(program) {
            Ok(path) => Ok(path),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Err(not_found()),
            Err(source) => Err(Unsuitable::Unreadable {
                path: program.to_owned(),
                source,
            }),
        };
    }
    if program.as_os_str().is_empty() {
        return Err(not_found());
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    std::env::split_paths(&path)
        .map(|dir| dir.join(program))
        .find(|candidate| candidate.is_file() && executable(candidate))
        .and_then(|found| std::fs::canonicalize(found).ok())
        .ok_or_else(not_found)
}

/// May this user execute `path`?
fn executable(path: &Path) -> bool {
    nix::unistd::access(path, nix::unistd::AccessFlags::X_OK).is_ok()
}

/// What the `#!` line names, if there is one.
fn script_interpreter(file: &File) -> io::Result<Option<String>> {
    let mut head = [0; 256];
    let n = file.read_at(&mut head, 0)?;
    let Some(line) = head[..n].strip_prefix(b"#!") else {
        return Ok(None);
    };
    let line = line.split(|&b| b == b'\n').next().unwrap_or_default();
    Ok(Some(
        String::from_utf8_lossy(line.trim_ascii()).into_owned(),
    ))
}

fn has_capabilities(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else {
        return false;
    };
    let name = c"security.capability";
    // SAFETY: both strings end in NUL; a null buffer of size 0 asks for the length only.
    let size = unsafe { libc::getxattr(path.as_ptr(), name.as_ptr(), std::ptr::null_mut(), 0) };
    size > 0
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn hash_file(file: &File) -> io::Result<u64> {
    let mut hash = Fnv1a::default();
    let mut buffer = vec![0; 1 << 16];
    let mut at = 0;
    loop {
        let n = file.read_at(&mut buffer, at)?;
        if n == 0 {
            return Ok(hash.finish());
        }
        hash.add(&buffer[..n]);
        at += n as u64;
    }
}

#[cfg(test)]
mod tests;
