//! Files that the command writes and reads: witnesses and summaries.

use crate::error::{Error, Result};
use crate::exit::Exit;
use raddle_protocol::witness::{DecodeError, Witness, decode, encode};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What programs print and are given is nobody else's business: the mode of every file that is
/// made.
pub const PRIVATE: u32 = 0o600;

/// A file that is there to be read has no more bytes than this.
const MOST_BYTES: u64 = 512 << 20;

/// Reads a file that the user named, of at most `most` bytes; a pipe or a device, too.
///
/// # Errors
/// It cannot be read, or is longer.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    let failed = |e: std::io::Error| Error::file("read", path, &e);
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut content = Vec::new();
    file.take(most + 1)
        .read_to_end(&mut content)
        .map_err(failed)?;
    match content.len() as u64 <= most {
        true => Ok(content),
        false => Err(Error::new(
            Exit::InputOutput,
            format!("{} has more than {most} bytes", path.display()),
            "name another file",
        )),
    }
}

/// Reads a file that begins with `start`; of another one no more than that.
fn read_as_far_as(path: &Path, start: &[u8]) -> Result<Vec<u8>> {
    let failed = |e: std::io::Error| Error::file("read", path, &e);
    let mut begin = Vec::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    let begun = file.take(start.len() as u64).read_to_end(&mut begin);
    begun.map_err(failed)?;
    match begin == start {
        true => read(path, MOST_BYTES),
        false => Ok(begin),
    }
}

/// Reads a file that somebody else named, such as a target's map of memory or line information: only
/// if it is a regular one, and not endless.
pub fn read_regular(path: &Path) -> std::io::Result<Vec<u8>> {
    // Whatever else it is, opening it must not wait.
    let file = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return Err(std::io::Error::other("it is no regular file, or too large"));
    }
    let mut content = Vec::with_capacity(metadata.len() as usize);
    file.take(MOST_BYTES).read_to_end(&mut content)?;
    Ok(content)
}

/// Writes a whole file or nothing: under another name first, then renamed.
pub fn write(path: &Path, content: &[u8]) -> Result<()> {
    write_file(path, content).map_err(|e| Error::file("write", path, &e))
}

fn write_file(path: &Path, content: &[u8]) -> std::io::Result<()> {
    // A device or a pipe is written to, not replaced.
    if std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        return std::fs::OpenOptions::new()
            .write(true)
            .open(path)?
            .write_all(content);
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new()
        .prefix(".raddle-")
        .permissions(std::fs::Permissions::from_mode(PRIVATE))
        .tempfile_in(folder)?;
    file.write_all(content)?;
    file.as_file().sync_data()?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

/// Where witnesses go.
#[derive(Clone, Debug)]
pub enum Place {
    /// This file, for the first one; further ones beside it.
    File(PathBuf),
    Folder(PathBuf),
}

impl Place {
    /// Where witness number `n` (from 0) goes.
    pub fn path(&self, n: usize, witness: &Witness) -> PathBuf {
        let program = witness.command.program.to_text();
        let name = crate::report::base_name(&program).to_string();
        let finding = &witness.finding;
        let short: String = finding.fingerprint.chars().take(8).collect();
        let own = format!("{name}-{}-{short}.raddle", finding.class);
        match self {
            Place::File(file) if n == 0 => file.clone(),
            Place::File(file) => file.with_file_name(own),
            Place::Folder(folder) if folder == Path::new(".") => PathBuf::from(own),
            Place::Folder(folder) => folder.join(own),
        }
    }
}

/// Writes a witness file.
pub fn write_witness(path: &Path, witness: &Witness) -> Result<()> {
    write(path, encode(witness).as_bytes())
}

/// Reads a witness file.
pub fn read_witness(path: &Path) -> Result<Witness> {
    let content = read_as_far_as(path, b"raddle witness")?;
    decode(&content).map_err(|e| {
        let remedy = match e {
            DecodeError::NotAWitness => "name a file that raddle has written (*.raddle)",
            DecodeError::Version(_) => "use the raddle that wrote it",
            DecodeError::Truncated | DecodeError::Corrupt => "copy it again, or find it again",
            DecodeError::Malformed(_) => "find it again",
        };
        Error::new(Exit::BadWitness, format!("{}: {e}", path.display()), remedy)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_else_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/deeper/file");
        write(&path, b"one").unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        let entries = std::fs::read_dir(path.parent().unwrap()).unwrap();
        assert_eq!(entries.count(), 1);
    }

    #[test]
    fn a_full_disk_is_an_error_and_devices_are_not_replaced() {
        let error = write(Path::new("/dev/full"), b"x").unwrap_err();
        assert_eq!(error.exit, Exit::InputOutput);
        assert!(error.to_string().contains("No space left"), "{error}");
        assert!(!std::fs::metadata("/dev/full").unwrap().is_file());
    }

    #[test]
    fn files_are_read_as_far_as_they_may_go() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        write(&path, b"0123456789").unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, PRIVATE);
        assert_eq!(read(&path, 10).unwrap(), b"0123456789");
        assert_eq!(read_regular(&path).unwrap(), b"0123456789");
        for (path, most) in [(path.as_path(), 9), (Path::new("/dev/zero"), 1 << 20)] {
            let error = read(path, most).unwrap_err();
            assert!(error.to_string().contains("more than"), "{error}");
        }
        assert!(read_regular(Path::new("/dev/zero")).is_err());
        assert!(read_regular(dir.path()).is_err());
    }

    #[test]
    fn a_folder_is_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let error = write(dir.path(), b"x").unwrap_err();
        assert_eq!(error.exit, Exit::InputOutput);
    }
}
