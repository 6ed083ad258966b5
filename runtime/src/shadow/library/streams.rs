//! Reading standard input and files. Where they are symbolic, the C library reads, and the bytes that it
//! delivers get the expressions of their places in the file; what scanf reads is read by its model, and
//! the stream put behind it. Bytes of others are stored by the library, after the call, as far as threads
//! share the place.

use super::Call;
use super::foreign;
use super::formats::{self, Given, List, Target};
use super::live::Live;
use super::machine::{Machine, Val};
use super::scan::{self, Text};
use crate::io;
use crate::shadow::blocks::UnderWay;
use crate::shadow::outside::Source;
use core::ffi::{CStr, c_char, c_int};
use libc::FILE;
use raddle_protocol::expr::{Op, Why};
use raddle_protocol::library::Model;

/// Where a stream or descriptor stands.
#[derive(Clone, Copy)]
struct Place {
    source: Source,
    offset: u64,
}

impl Place {
    fn of_stream(stream: u64) -> Option<Place> {
        let stream = stream as *mut FILE;
        // SAFETY: the program passes one of its streams.
        unsafe {
            let source = Source::behind(libc::fileno(stream))?;
            let offset = libc::ftello(stream) as u64;
            Some(Place { source, offset })
        }
    }

    fn of_descriptor(descriptor: c_int) -> Option<Place> {
        let source = Source::behind(descriptor)?;
        // SAFETY: a plain system call.
        let offset = unsafe { libc::lseek(descriptor, 0, libc::SEEK_CUR) } as u64;
        Some(Place { source, offset })
    }

    /// How far the stream has gone from here.
    fn behind(self, stream: u64) -> u64 {
        let now = Place::of_stream(stream).map_or(0, |place| place.offset);
        now.saturating_sub(self.offset)
    }

    /// The byte at an offset from here, if it is the one that was read: the program may have put
    /// back another.
    fn byte(self, offset: u64, read: u8) -> Val {
        let offset = self.offset + offset;
        let expr = match self.source.byte(offset) == read {
            true => self.source.expr(offset),
            false => 0,
        };
        Val {
            expr,
            ..Val::byte(read)
        }
    }

    /// Gives `len` bytes at `at`, which were read from here, their expressions. Each but the last is
    /// decided not to be the `delimiter`, and the last whether it is.
    fn deliver(self, m: &mut Live, at: u64, len: u64, delimiter: Option<u8>) {
        for i in 0..len {
            // SAFETY: the C library wrote these bytes.
            let byte = self.byte(i, unsafe { m.left(at + i) });
            m.write(at + i, byte);
            if let Some(delimiter) = delimiter {
                m.is(byte, delimiter.into());
            }
        }
    }
}

unsafe extern "C" {
    static stdin: *mut FILE;
    fn getdelim(line: u64, size: u64, delimiter: c_int, stream: u64) -> i64;
    fn fgets(to: u64, size: c_int, stream: u64) -> u64;
    fn fread(to: u64, size: u64, count: u64, stream: u64) -> u64;
    fn fgetc(stream: u64) -> c_int;
    fn fopen(path: *const c_char, mode: u64) -> u64;
    fn ungetc(c: c_int, stream: u64) -> c_int;
    fn vfscanf(stream: u64, format: u64, list: *mut List) -> c_int;
}

/// Is the model one of those here?
pub fn is_ours(model: Model) -> bool {
    use Model::*;
    matches!(
        model,
        Getc | Getchar
            | Fgets
            | Fread
            | Read
            | Getline
            | Getdelim
            | Fopen
            | Open
            | Ungetc
            | Scanf
            | Fscanf
    )
}

impl Call<'_, Live> {
    /// This call, for what others find of it.
    fn under_way(&self) -> UnderWay {
        UnderWay::of(self.model.names()[0], self.values.as_ptr().addr())
    }

    /// It is about to store so much here.
    fn will_store(&self, at: u64, len: u64) {
        self.under_way().will_store(at, len, false, self.m.pc);
    }

    /// It has.
    fn has_written(&self, at: u64, len: u64) {
        self.under_way().has_written(at, len, false, self.m.pc);
    }

    /// It has written a text here.
    ///
    /// # Safety
    /// There is one.
    unsafe fn has_written_text(&self, at: u64) {
        // SAFETY: the caller's promise.
        let len = unsafe { self.under_way().text(at, u64::MAX) };
        self.has_written(at, len);
    }

    /// Performs a call of a function of this file.
    pub fn read_outside(mut self) -> Val {
        let call = self.under_way();
        let result = self.performed();
        call.returned();
        result
    }

    fn performed(&mut self) -> Val {
        match self.model {
            Model::Getc => {
                let stream = self.address(0);
                self.character(stream)
            }
            // SAFETY: a variable of the C library.
            Model::Getchar => self.character(unsafe { stdin } as u64),
            Model::Fgets => {
                let (to, size, stream) = (self.address(0), self.size(1) as c_int, self.address(2));
                let place = Place::of_stream(stream);
                if place.is_none() {
                    self.will_store(to, size.max(0) as u64);
                }
                // SAFETY: the program's call.
                let result = unsafe { fgets(to, size, stream) };
                match place.filter(|_| result != 0) {
                    Some(place) => {
                        let len = place.behind(stream).min(size as u64);
                        place.deliver(self.m, to, len, Some(b'\n'));
                        self.m.write(to + len, Val::byte(0));
                    }
                    // SAFETY: the library has written a text.
                    None if result != 0 => unsafe { self.has_written_text(to) },
                    None => {}
                }
                Val::word(result)
            }
            Model::Fread => {
                let (to, stream) = (self.address(0), self.address(3));
                let (size, count) = (self.size(1), self.size(2));
                let place = Place::of_stream(stream);
                let before = position(stream);
                if place.is_none() {
                    self.will_store(to, size.saturating_mul(count));
                }
                // SAFETY: the program's call.
                let done = unsafe { fread(to, size, count, stream) };
                // A part of an element may have come as well.
                match place {
                    Some(place) => {
                        let len = place.behind(stream).min(size * count);
                        place.deliver(self.m, to, len, None);
                    }
                    None => {
                        let part = position(stream).saturating_sub(before);
                        let len = part.clamp(done * size, size.saturating_mul(count));
                        self.has_written(to, len);
                    }
                }
                Val::word(done)
            }
            Model::Read => {
                let (descriptor, to, len) = (self.size(0) as c_int, self.address(1), self.size(2));
                let place = Place::of_descriptor(descriptor);
                let pc = self.m.pc;
                if place.is_none() {
                    self.will_store(to, len);
                }
                // SAFETY: the program's call.
                let done = unsafe { io::read(descriptor, to as *mut _, len as usize, pc) };
                match (place, done) {
                    (Some(place), 1..) => place.deliver(self.m, to, done as u64, None),
                    (None, 1..) => self.has_written(to, done as u64),
                    _ => {}
                }
                Val::word(io::answer(done) as u64)
            }
            Model::Getline => {
                let stream = self.address(2);
                self.line(b'\n', stream)
            }
            Model::Getdelim => {
                let (delimiter, stream) = (self.size(2) as u8, self.address(3));
                self.line(delimiter, stream)
            }
            Model::Ungetc => self.put_back(),
            Model::Scanf => {
                let format = self.address(0);
                // SAFETY: a variable of the C library.
                self.scan_stream(unsafe { stdin } as u64, format, 1)
            }
            Model::Fscanf => {
                let (stream, format) = (self.address(0), self.address(1));
                self.scan_stream(stream, format, 2)
            }
            _ => self.open(),
        }
    }

    /// ungetc: what is put back is followed if it is what was read.
    fn put_back(&mut self) -> Val {
        let (given, stream) = (self.argument(0), self.address(1));
        let is_end = self.m.is(given, u64::from(u32::MAX));
        let byte = self.m.low(given, 8);
        if let Some(place) = Place::of_stream(stream).filter(|_| !is_end) {
            let before = place.offset.checked_sub(1).map(|offset| Val {
                expr: place.source.expr(offset),
                ..Val::byte(place.source.byte(offset))
            });
            if !before.is_some_and(|before| self.m.same(byte, before)) {
                foreign::lose(b"ungetc", self.m.pc);
            }
        } else {
            // Whoever reads it again finds a number.
            self.m.concrete(given, Why::Call);
        }
        // SAFETY: the program's call.
        let put = unsafe { ungetc(given.value as c_int, stream) };
        match put {
            0.. => self.m.extend(Op::ZExt, byte, 32),
            _ => Val::of(32, u64::from(put as u32)),
        }
    }

    /// scanf and fscanf; the addresses for the results are arguments from `from` on.
    fn scan_stream(&mut self, stream: u64, format: u64, from: usize) -> Val {
        let places = &self.values[from..];
        let place = Place::of_stream(stream);
        let known = place.filter(|_| scan::knows(self.m, format));
        let Some(place) = known else {
            if place.is_some() {
                foreign::lose(self.model.names()[0].as_bytes(), self.m.pc);
            }
            targets(format, places, |target| {
                self.will_store(target.at, target.units.saturating_mul(target.size));
            });
            // SAFETY: the program's call, with its arguments in a list.
            let read = unsafe { vfscanf(stream, format, &mut List::of(places)) };
            let mut stored = 0;
            targets(format, places, |target| {
                stored += i32::from(target.counts);
                if stored <= read {
                    // SAFETY: the library has stored this.
                    unsafe { self.has_stored(target) };
                }
            });
            return Val::of(32, u64::from(read as u32));
        };
        let left = place.source.len().saturating_sub(place.offset);
        let start = self.m.borrow(left + 1);
        for i in 0..left {
            let byte = place.byte(i, place.source.byte(place.offset + i));
            self.m.write(start + i, byte);
        }
        let end = start + left;
        self.m.write(end, Val::byte(0));
        let text = Text {
            start,
            end: Some(end),
        };
        let (result, progress) = scan::scan(self.m, text, format, places);
        let behind = place.offset + (progress.at - start);
        // SAFETY: the program's stream. A read at the end marks it as ended.
        unsafe {
            libc::fseeko(stream as *mut FILE, behind as i64, libc::SEEK_SET);
            if progress.saw_end {
                fgetc(stream);
            }
        }
        self.m.give_back(start, left + 1);
        result
    }

    /// The call has stored this.
    ///
    /// # Safety
    /// It has.
    unsafe fn has_stored(&self, target: Target) {
        match (target.is_text, target.size) {
            // SAFETY: by the contract above.
            (true, 1) => unsafe { self.has_written_text(target.at) },
            (true, _) => self.has_written(target.at, target.size),
            _ => self.has_written(target.at, target.units * target.size),
        }
    }

    fn character(&mut self, stream: u64) -> Val {
        let place = Place::of_stream(stream);
        // SAFETY: the program's call.
        let read = unsafe { fgetc(stream) };
        let value = Val::of(32, u64::from(read as u32));
        match place {
            Some(place) if read >= 0 => {
                let byte = place.byte(0, read as u8);
                self.m.extend(Op::ZExt, byte, 32)
            }
            _ => value,
        }
    }

    /// getline and getdelim.
    fn line(&mut self, delimiter: u8, stream: u64) -> Val {
        let (line, size) = (self.address(0), self.address(1));
        let place = Place::of_stream(stream);
        let words = [line, size];
        words.iter().for_each(|&word| self.will_store(word, 8));
        let [block, room] = words.map(|word| match word {
            0 => 0,
            // SAFETY: the program's variable; a null pointer is an error.
            word => unsafe { *(word as *const u64) },
        });
        if place.is_none() {
            self.will_store(block, room);
        }
        // SAFETY: the program's call.
        let len = unsafe { getdelim(line, size, delimiter.into(), stream) };
        if words.contains(&0) {
            return Val::word(len as u64);
        }
        // SAFETY: getdelim wrote the address of its block.
        let to = unsafe { *(line as *const u64) };
        words.iter().for_each(|&word| self.has_written(word, 8));
        match (place, len) {
            (Some(place), 0..) => {
                place.deliver(self.m, to, len as u64, Some(delimiter));
                self.m.write(to + len as u64, Val::byte(0));
            }
            (None, 0..) => self.has_written(to, len as u64 + 1),
            _ => {}
        }
        Val::word(len as u64)
    }

    /// fopen and open: of a symbolic file, the one in memory.
    fn open(&mut self) -> Val {
        let path = self.address(0);
        let second = self.address(1);
        let third = self.argument(2);
        let third = self.m.concrete(third, Why::Call);
        // SAFETY: the program passes a string.
        let source = unsafe { Source::at(path as *const c_char) };
        let mut own = [0; 32];
        let path = match source {
            None => path as *const c_char,
            Some(source) => in_memory(source.descriptor, &mut own),
        };
        // SAFETY: the program's call, perhaps with another path.
        unsafe {
            match self.model {
                Model::Fopen => Val::word(fopen(path, second)),
                _ => {
                    let (flags, mode) = (second as c_int, third as libc::mode_t);
                    Val::of(32, io::open(path, flags, mode, self.m.pc) as u64)
                }
            }
        }
    }
}

/// How far the stream has gone; 0 if nobody can tell.
fn position(stream: u64) -> u64 {
    // SAFETY: the program's stream.
    unsafe { libc::ftello(stream as *mut FILE) }.max(0) as u64
}

/// Calls `each` for the places where a call of scanf stores something.
fn targets(format: u64, places: &[u64], each: impl FnMut(Target)) {
    let mut each = each;
    // SAFETY: the program passes a format.
    let format = unsafe { CStr::from_ptr(format as *const c_char) }.to_bytes();
    let format = format.iter().copied();
    formats::targets(format, &mut Given::new(places), |_, target| each(target));
}

/// A path by which a descriptor's file can be opened anew.
fn in_memory(descriptor: c_int, buffer: &mut [u8; 32]) -> *const c_char {
    use std::io::Write;
    let mut rest = &mut buffer[..31];
    // 31 bytes are enough for any number.
    let _ = write!(rest, "/proc/self/fd/{descriptor}");
    buffer.as_ptr().cast()
}
