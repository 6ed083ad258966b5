//! Where a command is to write: looked at before anything is run, so that what was found is not lost at
//! the end for want of a place. Nothing is made or changed by that.

use crate::error::{Error, Result};
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Places by the options that name them.
#[derive(Default)]
pub struct Outputs<'a> {
    files: Vec<(&'static str, &'a Path)>,
    folders: Vec<(&'static str, &'a Path)>,
    taken: Vec<(&'static str, &'a Path)>,
}

impl<'a> Outputs<'a> {
    pub fn file(mut self, option: &'static str, path: &'a Option<PathBuf>) -> Outputs<'a> {
        self.files.extend(path.iter().map(|path| (option, &**path)));
        self
    }

    pub fn folder(mut self, option: &'static str, path: &'a Option<PathBuf>) -> Outputs<'a> {
        let given = path.iter().map(|path| (option, &**path));
        self.folders.extend(given);
        self
    }

    /// A file that is read, so none may be written there.
    pub fn read(mut self, what: &'static str, path: Option<&'a OsStr>) -> Outputs<'a> {
        let given = path.into_iter().map(|path| (what, Path::new(path)));
        self.taken.extend(given);
        self
    }

    /// # Errors
    /// A place that cannot be written to; one file for two things.
    pub fn check(self) -> Result<()> {
        let mut taken: Vec<(&str, PathBuf)> = self
            .taken
            .iter()
            .map(|&(what, path)| (what, identity(path)))
            .collect();
        for &(option, path) in &self.files {
            if path == Path::new("-") {
                return Err(Error::usage(
                    format!("`{option} -`: standard output is the program's"),
                    "name a file, such as /dev/stderr",
                ));
            }
            may_write(path).map_err(|e| Error::file("write", path, &e))?;
            // Devices take what comes from whomever.
            if fs::metadata(path).is_ok_and(|m| m.file_type().is_char_device()) {
                continue;
            }
            let own = identity(path);
            if let Some((other, _)) = taken.iter().find(|(_, taken)| *taken == own) {
                return Err(Error::usage(
                    format!("{} is named for {other} and for {option}", path.display()),
                    "name two files",
                ));
            }
            taken.push((option, own));
        }
        for &(_, path) in &self.folders {
            let checked = match path.exists() && !path.is_dir() {
                true => Err(io::Error::from_raw_os_error(libc::ENOTDIR)),
                false => may_make_in(path),
            };
            checked.map_err(|e| Error::file("write to", path, &e))?;
        }
        Ok(())
    }
}

/// The same for all names of a file that is there, or would be made.
fn identity(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    if let Ok(real) = fs::canonicalize(&absolute) {
        return real;
    }
    match (absolute.parent(), absolute.file_name()) {
        (Some(folder), Some(name)) => identity(folder).join(name),
        _ => absolute,
    }
}

/// Can the file be written, made or replaced?
fn may_write(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(m) if m.is_dir() => Err(io::Error::from_raw_os_error(libc::EISDIR)),
        // Whoever reads a pipe would take an opening for the beginning.
        Ok(m) if m.file_type().is_fifo() => Ok(()),
        Ok(m) if !m.is_file() => {
            let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
            let opened = OpenOptions::new()
                .write(true)
                .custom_flags(flags)
                .open(path);
            opened.map(drop)
        }
        _ => match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => may_make_in(folder),
            _ => may_make_in(Path::new(".")),
        },
    }
}

/// Can a file be made in this directory, or the directory itself, if it is not there?
fn may_make_in(folder: &Path) -> io::Result<()> {
    let absolute = std::path::absolute(folder)?;
    let there = absolute.ancestors().find(|folder| folder.exists());
    let there = there.unwrap_or(Path::new("/"));
    tempfile::Builder::new()
        .prefix(".raddle-")
        .tempfile_in(there)
        .map(drop)
        .map_err(|e| {
            // The path in it is none that anybody has named.
            let inner = e.get_ref().and_then(|e| e.source());
            let errno = inner.and_then(|e| e.downcast_ref::<io::Error>()?.raw_os_error());
            errno.map_or(e, io::Error::from_raw_os_error)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

    #[test]
    fn places_are_looked_at_and_left_as_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("there"), "old").unwrap();
        std::os::unix::fs::symlink(at("there"), at("link")).unwrap();
        /// Options with what they are given, the program's files, and what is wrong.
        type Case = (
            &'static [(&'static str, &'static str)],
            &'static [&'static str],
            Option<Exit>,
        );
        let table: [Case; 12] = [
            (&[], &[], None),
            (&[("--json", "new")], &[], None),
            (&[("--json", "new/deeper/file")], &["a/b"], None),
            (&[("--json", "there"), ("--junit", "new")], &[], None),
            (
                &[("--json", "/dev/null"), ("--junit", "/dev/null")],
                &[],
                None,
            ),
            (&[("--json", "/dev/full")], &[], None),
            (&[("--json", "-")], &[], Some(Exit::Usage)),
            (
                &[("--json", "new"), ("--sarif", "./new")],
                &[],
                Some(Exit::Usage),
            ),
            (
                &[("--json", "there"), ("-o", "link")],
                &[],
                Some(Exit::Usage),
            ),
            (&[("--json", "there/below")], &[], Some(Exit::InputOutput)),
            (&[("--json", "/proc/new")], &[], Some(Exit::InputOutput)),
            (&[("--json", "new")], &["there"], Some(Exit::InputOutput)),
        ];
        for (files, folders, expected) in table {
            let placed = |name: &str| match name {
                "-" => PathBuf::from(name),
                name => dir.path().join(name),
            };
            let files: Vec<_> = files
                .iter()
                .map(|&(o, name)| (o, Some(placed(name))))
                .collect();
            let folders: Vec<_> = folders.iter().map(|name| Some(placed(name))).collect();
            let mut outputs = Outputs::default();
            for (option, path) in &files {
                outputs = outputs.file(option, path);
            }
            for path in &folders {
                outputs = outputs.folder("--witness-dir", path);
            }
            let result = outputs.check();
            assert_eq!(
                result.err().map(|e| e.exit),
                expected,
                "{files:?} {folders:?}"
            );
        }
        let directory = Some(dir.path().to_path_buf());
        assert!(
            Outputs::default()
                .file("--json", &directory)
                .check()
                .is_err()
        );
        let program = at("there");
        let same = Some(program.clone());
        let outputs = Outputs::default().read("the program", Some(program.as_os_str()));
        assert_eq!(
            outputs.file("-o", &same).check().unwrap_err().exit,
            Exit::Usage
        );
        assert_eq!(fs::read(at("there")).unwrap(), b"old");
        let mut names: Vec<_> = fs::read_dir(dir.path())
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        names.sort();
        assert_eq!(names, ["link", "there"]);
    }
}
