//! Files that the command writes and reads: witnesses and summaries.

use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::interrupt;
use raddle_protocol::hash::LongHash;
use raddle_protocol::witness::{DecodeError, Witness, decode, encode};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What programs print and are given is nobody else's business: the mode of every file that is
/// made.
pub const PRIVATE: u32 = 0o600;

/// A file that is there to be read has no more bytes than this.
const MOST_BYTES: u64 = 512 << 20;

/// So long a pipe that the user named may give or take nothing, in milliseconds.
const PATIENCE: libc::c_int = 10_000;
/// So often it is looked whether a signal has come.
const LOOK: libc::c_int = 50;

/// A file that the user named: a regular one, a pipe or a device. A read fails where nothing comes
/// for [`PATIENCE`], or a signal does, and that of a pipe or a device when the time is up.
pub struct Named(File);

/// A signal came, or the time was up, while a pipe was read or written.
#[derive(Debug, thiserror::Error)]
#[error("stopped")]
struct Asked;

impl Named {
    pub fn open(path: &Path) -> Result<Named> {
        // A pipe that nobody writes to must not be waited for without end.
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
            .open(path);
        file.map(Named).map_err(|e| Error::file("read", path, &e))
    }

    /// The file, if it is a regular one.
    pub fn regular(self) -> io::Result<std::result::Result<File, Named>> {
        Ok(match self.0.metadata()?.is_file() {
            true => Ok(self.0),
            false => Err(self),
        })
    }

    /// Waits until there is something to read, or the end.
    fn wait(&self) -> io::Result<()> {
        // Regular files give all at once, and are read for reports when the time is up, too.
        let limited = !self.0.metadata()?.is_file();
        match is_ready(&self.0, libc::POLLIN, limited)? {
            true => Ok(()),
            false => Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("nothing came from it within {} s", PATIENCE / 1000),
            )),
        }
    }
}

impl Read for Named {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.wait()?;
        self.0.read(into)
    }
}

/// Why `path` could not be read.
fn unread(path: &Path, e: &io::Error) -> Error {
    match e.get_ref().is_some_and(|inner| inner.is::<Asked>()) {
        true => Error::new(
            Exit::Interrupted,
            format!("stopped while reading {}", path.display()),
            "",
        ),
        false => Error::file("read", path, e),
    }
}

/// Reads a file that the user named, of at most `most` bytes; a pipe or a device, too.
///
/// # Errors
/// It cannot be read, or is longer.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    let file = Named::open(path)?;
    read_all(file, path, most)
}

/// [`read`] of an open file.
pub fn read_all(file: Named, path: &Path, most: u64) -> Result<Vec<u8>> {
    let failed = |e: io::Error| unread(path, &e);
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

/// Reads a regular file or a pipe that the user named, however long it is: its beginning, of at most
/// `kept` bytes, and a hash of what follows.
///
/// # Errors
/// It cannot be read, or is a device, which may have no end.
pub fn read_long(path: &Path, kept: u64) -> Result<(Vec<u8>, LongHash)> {
    let failed = |e: io::Error| unread(path, &e);
    let mut file = Named::open(path)?;
    let metadata = file.0.metadata().map_err(failed)?;
    let mut rest = LongHash::default();
    if std::os::unix::fs::FileTypeExt::is_char_device(&metadata.file_type()) {
        return Ok((read_all(file, path, kept)?, rest));
    }
    let mut content = Vec::new();
    let begun = (&mut file).take(kept).read_to_end(&mut content);
    begun.map_err(failed)?;
    let mut piece = vec![0; 1 << 20];
    loop {
        match file.read(&mut piece).map_err(failed)? {
            0 => return Ok((content, rest)),
            n => rest.add(&piece[..n]),
        }
    }
}

/// Reads a file that begins with `start`; of another one no more than that.
fn read_as_far_as(path: &Path, start: &[u8]) -> Result<Vec<u8>> {
    let mut file = Named::open(path)?;
    let mut content = Vec::new();
    let begun = (&mut file)
        .take(start.len() as u64)
        .read_to_end(&mut content);
    begun.map_err(|e| unread(path, &e))?;
    if content == start {
        let most = MOST_BYTES - start.len() as u64;
        content.append(&mut read_all(file, path, most)?);
    }
    Ok(content)
}

/// Makes the directory of this name, if it is not there.
pub fn folder(dir: &Path, what: &str) -> Result<()> {
    if dir.exists() && !dir.is_dir() {
        let there = io::Error::from_raw_os_error(libc::ENOTDIR);
        return Err(Error::file(what, dir, &there));
    }
    std::fs::create_dir_all(dir).map_err(|e| Error::file(what, dir, &e))
}

/// Opens a file of raddle's own to read and write it, and makes it if it is not there.
///
/// # Errors
/// Something else has its name, such as a pipe, which might be waited for without end.
pub fn open_own(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(PRIVATE)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is no regular file")),
    }
}

/// Reads a file that somebody else named, such as a target's map of memory or line information: only
/// if it is a regular one, and not endless.
pub fn read_regular(path: &Path) -> std::io::Result<Vec<u8>> {
    // Whatever else it is, opening it must not wait.
    let file = OpenOptions::new()
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
    // A device or a pipe is written to, not replaced; nor is what a descriptor refers to.
    let descriptor = ["/dev", "/proc"].iter().any(|dir| path.starts_with(dir));
    if std::fs::metadata(path).is_ok_and(|m| !m.is_dir() && (descriptor || !m.is_file())) {
        return write_in_place(path, content);
    }
    // Of a link the file that it leads to.
    let real = std::fs::canonicalize(path);
    let path = real.as_deref().unwrap_or(path);
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

/// Writes to a pipe or a device; an error where nobody takes anything for [`PATIENCE`].
fn write_in_place(path: &Path, mut content: &[u8]) -> io::Result<()> {
    let open = || {
        OpenOptions::new()
            .append(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
            .open(path)
    };
    let late = |what| Err(io::Error::new(io::ErrorKind::TimedOut, what));
    let started = Instant::now();
    let patience = Duration::from_millis(PATIENCE as u64);
    let mut file = loop {
        match open() {
            // A pipe that nobody reads.
            Err(e) if e.raw_os_error() == Some(libc::ENXIO) => {
                if started.elapsed() > patience {
                    return late("nobody reads it");
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            result => break result?,
        }
    };
    while !content.is_empty() {
        match file.write(content) {
            Ok(n) => content = &content[n..],
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                if !is_ready(&file, libc::POLLOUT, false)? {
                    return late("nobody reads on");
                }
            }
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Waits until the file can be read or written; `false`: not within [`PATIENCE`]. `limited`: an error
/// when the time is up.
fn is_ready(file: &File, events: libc::c_short, limited: bool) -> io::Result<bool> {
    let mut polled = libc::pollfd {
        fd: file.as_raw_fd(),
        events,
        revents: 0,
    };
    // In parts: a signal may come just before the call.
    for _ in 0..PATIENCE / LOOK {
        if interrupt::came() || (limited && interrupt::late()) {
            return Err(io::Error::other(Asked));
        }
        // SAFETY: one structure, which lives longer than the call.
        match unsafe { libc::poll(&mut polled, 1, LOOK) } {
            0 => {}
            n if n > 0 => return Ok(true),
            _ => match io::Error::last_os_error() {
                e if e.kind() == io::ErrorKind::Interrupted => {
                    return Err(io::Error::other(Asked));
                }
                e => return Err(e),
            },
        }
    }
    Ok(false)
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
