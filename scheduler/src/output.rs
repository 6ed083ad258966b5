//! What a target writes to its standard output and standard error: two memory files.

use crate::sys;
use nix::fcntl::{FallocateFlags, fallocate};
use raddle_protocol::hash::LongHash;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, Seek};
use std::os::unix::fs::FileExt;

/// The two files. Both are append-only, so setting their size to 0 is all that an execution needs.
#[derive(Debug)]
pub struct Output {
    pub stdout: Stream,
    pub stderr: Stream,
}

/// One of the files.
#[derive(Debug)]
pub struct Stream {
    pub file: File,
    /// Bytes of an execution's output that are kept.
    keep: usize,
    read: Cell<Read>,
}

/// How far a file has been read that holds the output of an execution, or what a copy goes on
/// with.
#[derive(Clone, Copy, Debug, Default)]
struct Read {
    /// Bytes at its beginning that are to be kept.
    keep: u64,
    /// Up to here its bytes have gone into `rest`.
    end: u64,
    /// Of all that is not kept.
    rest: LongHash,
    /// What has gone into `rest` was taken back by the program.
    lost: bool,
}

/// What was written by one execution, or up to a copy.
#[derive(Clone, Debug, Default)]
pub struct Written {
    pub kept: Vec<u8>,
    /// What came after that.
    pub rest: LongHash,
    /// Of what is not kept the program has taken something back, so `rest` says nothing.
    pub lost: bool,
}

/// Bytes that are read in one piece.
const PIECE: usize = 1 << 20;

impl Output {
    /// Empty files; of what each execution writes to one, `keep` bytes are handed back.
    pub fn new(keep: usize) -> io::Result<Output> {
        Ok(Output {
            stdout: Stream::new(c"raddle-stdout", keep)?,
            stderr: Stream::new(c"raddle-stderr", keep)?,
        })
    }

    /// Empties both.
    pub fn clear(&self) -> io::Result<()> {
        self.stdout.clear()?;
        self.stderr.clear()
    }

    /// Takes note of what is not to be kept, and gives its memory back, so that a target which
    /// writes without end does not fill the machine.
    pub fn trim(&self) -> io::Result<()> {
        self.stdout.trim()?;
        self.stderr.trim()
    }

    /// The first line on standard error that is not empty, for messages.
    pub fn first_error_line(&self) -> String {
        let mut head = [0; 4096];
        let n = self.stderr.file.read_at(&mut head, 0).unwrap_or(0);
        let text = String::from_utf8_lossy(&head[..n]);
        let first = text.lines().map(str::trim).find(|line| !line.is_empty());
        first.unwrap_or_default().to_owned()
    }
}

impl Stream {
    fn new(name: &std::ffi::CStr, keep: usize) -> io::Result<Stream> {
        let file = sys::memory_file(name)?;
        sys::append_only(&file)?;
        let stream = Stream {
            file,
            keep,
            read: Cell::default(),
        };
        stream.go_on_from(&Written::default());
        Ok(stream)
    }

    fn clear(&self) -> io::Result<()> {
        self.go_on_from(&Written::default());
        self.empty()
    }

    /// What is written from now on comes after `written`. The file has to be empty.
    pub fn go_on_from(&self, written: &Written) {
        self.read.set(Read {
            keep: (self.keep - self.keep.min(written.kept.len())) as u64,
            end: 0,
            rest: written.rest,
            lost: written.lost,
        });
    }

    /// Adds what was written to `written`, after which it came, and empties the file.
    pub fn take(&self, written: &mut Written) -> io::Result<()> {
        let size = self.file.metadata()?.len();
        if size == 0 && self.read.get().end == 0 {
            return Ok(());
        }
        self.take_note(size)?;
        let read = self.read.get();
        let before = written.kept.len();
        written
            .kept
            .resize(before + size.min(read.keep) as usize, 0);
        let got = self.fill(&mut written.kept[before..], 0)?;
        written.kept.truncate(before + got);
        (written.rest, written.lost) = (read.rest, read.lost);
        self.go_on_from(written);
        self.empty()
    }

    fn empty(&self) -> io::Result<()> {
        self.file.set_len(0)?;
        // All who have the file share this position.
        (&self.file).rewind()
    }

    fn trim(&self) -> io::Result<()> {
        let size = self.file.metadata()?.len();
        let from = self.read.get().end.max(self.read.get().keep);
        if size > from {
            self.take_note(size)?;
            let hole = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
            fallocate(&self.file, hole, from as i64, (size - from) as i64)?;
        }
        Ok(())
    }

    /// What is not to be kept of the first `size` bytes goes into the hash.
    fn take_note(&self, size: u64) -> io::Result<()> {
        let mut read = self.read.get();
        // It may have made the file shorter, and written more since; then nobody knows.
        read.lost |= size < read.end;
        let mut from = read.end.max(read.keep);
        let mut piece = Vec::new();
        while from < size {
            piece.resize(PIECE.min((size - from) as usize), 0);
            let got = self.fill(&mut piece, from)?;
            if got == 0 {
                break;
            }
            read.rest.add(&piece[..got]);
            from += got as u64;
            read.end = from;
        }
        self.read.set(read);
        Ok(())
    }

    /// Reads from `offset` on as much as there is; how much.
    fn fill(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut got = 0;
        while got < into.len() {
            match self.file.read_at(&mut into[got..], offset + got as u64) {
                Ok(0) => break,
                Ok(n) => got += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(got)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// What is made of these pieces, with so many bytes kept, and with what happens in between.
    fn taken(pieces: &[&[u8]], keep: usize, between: impl Fn(&Stream, &mut Written)) -> Written {
        let stream = Stream::new(c"test", keep).unwrap();
        let mut written = Written::default();
        for piece in pieces {
            (&stream.file).write_all(piece).unwrap();
            between(&stream, &mut written);
        }
        stream.take(&mut written).unwrap();
        written
    }

    #[test]
    fn what_is_not_kept_is_known_by_its_hash() {
        let pieces: [&[u8]; 4] = [b"abc", b"defghijklmn", b"", b"opq"];
        let whole = pieces.concat();
        for keep in 0..20 {
            let mut rest = LongHash::default();
            rest.add(&whole[keep.min(whole.len())..]);
            type Way<'a> = &'a dyn Fn(&Stream, &mut Written);
            let ways: [Way; 3] = [
                &|_, _| {},
                &|stream, _| stream.trim().unwrap(),
                // As where a copy is made.
                &|stream, written| {
                    stream.trim().unwrap();
                    stream.take(written).unwrap();
                },
            ];
            for way in ways {
                let written = taken(&pieces, keep, way);
                assert_eq!(written.kept, whole[..keep.min(whole.len())], "{keep}");
                assert_eq!(written.rest, rest, "{keep}");
                assert!(!written.lost);
            }
        }
    }

    #[test]
    fn what_was_taken_back_is_unknown() {
        let cut = |to: u64| {
            move |stream: &Stream, _: &mut Written| {
                stream.trim().unwrap();
                stream.file.set_len(to).unwrap();
            }
        };
        assert!(taken(&[b"abcdef", b"g"], 3, cut(4)).lost);
        assert!(taken(&[b"abcdef"], 3, cut(0)).lost);
        assert!(!taken(&[b"ab"], 3, cut(0)).lost);
    }
}
