//! What a target writes to its standard output and standard error: two memory files.

use crate::sys;
use nix::fcntl::{FallocateFlags, fallocate};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// The two files. Both are append-only, so setting their size to 0 is all that an execution needs.
#[derive(Debug)]
pub struct Output {
    pub stdout: File,
    pub stderr: File,
    keep: usize,
}

impl Output {
    /// Empty files of which `keep` bytes each are handed back.
    pub fn new(keep: usize) -> io::Result<Output> {
        let stdout = sys::memory_file(c"raddle-stdout")?;
        let stderr = sys::memory_file(c"raddle-stderr")?;
        for file in [&stdout, &stderr] {
            sys::append_only(file)?;
        }
        Ok(Output {
            stdout,
            stderr,
            keep,
        })
    }

    /// Empties both.
    pub fn clear(&self) -> io::Result<()> {
        self.stdout.set_len(0)?;
        self.stderr.set_len(0)
    }

    /// Takes what was written, at most the first `keep` bytes of each, and empties the files.
    pub fn take(&self) -> io::Result<(Vec<u8>, Vec<u8>)> {
        Ok((self.take_one(&self.stdout)?, self.take_one(&self.stderr)?))
    }

    fn take_one(&self, file: &File) -> io::Result<Vec<u8>> {
        let size = file.metadata()?.len();
        if size == 0 {
            return Ok(Vec::new());
        }
        let mut content = vec![0; size.min(self.keep as u64) as usize];
        let mut got = 0;
        while got < content.len() {
            match file.read_at(&mut content[got..], got as u64)? {
                0 => break,
                n => got += n,
            }
        }
        content.truncate(got);
        file.set_len(0)?;
        Ok(content)
    }

    /// Gives back the memory of all that will not be kept, so that a target which writes without
    /// end does not fill the machine.
    pub fn trim(&self) -> io::Result<()> {
        for file in [&self.stdout, &self.stderr] {
            let size = file.metadata()?.len();
            let keep = self.keep as u64;
            if size > keep {
                let hole =
                    FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
                fallocate(file, hole, keep as i64, (size - keep) as i64)?;
            }
        }
        Ok(())
    }

    /// The first line on standard error that is not empty, for messages.
    pub fn first_error_line(&self) -> String {
        let mut head = [0; 4096];
        let n = self.stderr.read_at(&mut head, 0).unwrap_or(0);
        let text = String::from_utf8_lossy(&head[..n]);
        let first = text.lines().map(str::trim).find(|line| !line.is_empty());
        first.unwrap_or_default().to_owned()
    }
}
