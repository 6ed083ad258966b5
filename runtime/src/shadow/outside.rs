//! Inputs that the program does not name itself: standard input, files, arguments, variables of
//! the environment. The job says what they hold, as of other inputs of the main thread.

use super::access::Access;
use super::inputs::Input;
use super::nodes::Expr;
use crate::io;
use crate::os;
use crate::serial::Serial;
use core::ffi::{CStr, c_char};
use raddle_protocol::event::Kind;

/// What is symbolic, as [`raddle_protocol::shared::env::SYMBOLIC`] lists it.
static WANTED: Serial<&'static [u8]> = Serial::new(&[]);

/// Standard input and files that are symbolic, at most.
const MOST: usize = 8;

/// A symbolic file: its content lies in a file in memory.
#[derive(Clone, Copy)]
pub struct Source {
    /// Device and inode of the file in memory.
    own: (u64, u64),
    /// Device and inode of the file that it stands for; of none for standard input.
    stands_for: (u64, u64),
    /// Descriptor of the file in memory.
    pub descriptor: i32,
    input: Input,
}

static SOURCES: Serial<[Option<Source>; MOST]> = Serial::new([None; MOST]);

/// Keeps what the environment says, which stays where it is.
pub fn want(list: &'static [u8]) {
    // SAFETY: no other thread runs yet.
    *unsafe { WANTED.get() } = list;
}

/// Before the program's `main`, in the process that obeys a job: puts the inputs where the program
/// will find them.
///
/// # Safety
/// The arrays are those of `main`, whose address is `pc`.
pub unsafe fn begin(arguments: *mut *mut c_char, variables: *mut *mut c_char, pc: usize) {
    // SAFETY: the main thread, and nobody else yet.
    let wanted = core::mem::take(unsafe { WANTED.get() });
    for entry in wanted.split(|&byte| byte == b'\n') {
        let mut parts = entry.splitn(3, |&byte| byte == b':');
        let (Some(kind), Some(len), Some(name)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let Some(len) = number(len) else { continue };
        let input = Input::next(len);
        // SAFETY: by the contract above.
        unsafe {
            match kind {
                b"arg" => argument(arguments, name, input, pc),
                b"env" => variable(variables, name, input, pc),
                _ => file(name, input, pc),
            }
        }
    }
}

fn number(text: &[u8]) -> Option<u64> {
    core::str::from_utf8(text).ok()?.parse().ok()
}

/// The parts, `more` zeros and a NUL, in memory of their own.
fn text(parts: &[&[u8]], more: u64) -> *mut u8 {
    let len: usize = parts.iter().map(|part| part.len()).sum();
    let whole = os::map_memory(len + more as usize + 1);
    let mut at = whole;
    for part in parts {
        // SAFETY: the mapping has room for all parts and is zero behind them.
        unsafe {
            at.copy_from_nonoverlapping(part.as_ptr(), part.len());
            at = at.add(part.len());
        }
    }
    whole
}

/// Writes the input to memory of ours, byte by byte.
fn fill(at: *mut u8, input: Input, name: *const c_char, pc: usize) {
    let at = at as u64;
    for offset in 0..input.len {
        let value = input.byte(offset).into();
        let expr = match crate::vars::symbolic() {
            true => input.expr(offset, 1),
            false => 0,
        };
        if offset == 0 {
            input.record(at, expr, name, pc);
        }
        Access::new(Kind::Write, at + offset, 1, pc).write(value, expr);
    }
}

unsafe fn argument(arguments: *mut *mut c_char, name: &[u8], input: Input, pc: usize) {
    let Some(index) = number(name) else { return };
    let place = text(&[], input.len);
    let name = text(&[b"argument ", name], 0);
    // SAFETY: the command has counted the arguments.
    unsafe { *arguments.add(index as usize) = place.cast() };
    fill(place, input, name.cast(), pc);
}

unsafe fn variable(variables: *mut *mut c_char, name: &[u8], input: Input, pc: usize) {
    let entries = (0..)
        // SAFETY: the array ends with a null pointer, where the iteration stops.
        .map(|i| unsafe { variables.add(i) })
        // SAFETY: as above.
        .take_while(|&entry| unsafe { !(*entry).is_null() });
    for entry in entries {
        // SAFETY: a string.
        let held = unsafe { CStr::from_ptr(*entry) }.to_bytes();
        if held
            .strip_prefix(name)
            .is_some_and(|rest| rest.first() == Some(&b'='))
        {
            let whole = text(&[name, b"="], input.len);
            // SAFETY: within the array; the text is longer than the name.
            unsafe {
                *entry = whole.cast();
                fill(
                    whole.add(name.len() + 1),
                    input,
                    text(&[name], 0).cast(),
                    pc,
                );
            }
            return;
        }
    }
}

/// A file, or standard input, where the name is empty.
unsafe fn file(name: &[u8], input: Input, pc: usize) {
    // SAFETY: plain system calls on memory of ours.
    unsafe {
        let path = text(&[name], 0);
        let descriptor = libc::memfd_create(c"raddle".as_ptr(), 0);
        for offset in 0..input.len {
            os::write(descriptor, &[input.byte(offset)]);
        }
        libc::lseek(descriptor, 0, libc::SEEK_SET);
        let source = Source {
            own: identity_of(descriptor).unwrap_or_default(),
            stands_for: identity_at(path.cast()).unwrap_or_default(),
            descriptor,
            input,
        };
        let sources = SOURCES.get();
        if let Some(free) = sources.iter_mut().find(|source| source.is_none()) {
            *free = Some(source);
        }
        let name = match name {
            b"" => {
                libc::dup2(descriptor, 0);
                c"standard input".as_ptr()
            }
            _ => path.cast::<c_char>().cast_const(),
        };
        let first = match crate::vars::symbolic() {
            true => input.expr(0, 1),
            false => 0,
        };
        input.record(0, first, name, pc);
    }
}

/// Device and inode of what a descriptor leads to.
fn identity_of(descriptor: i32) -> Option<(u64, u64)> {
    io::status(descriptor).map(|found| (found.st_dev, found.st_ino))
}

/// Device and inode of what lies at a path.
///
/// # Safety
/// The path is a string.
unsafe fn identity_at(path: *const c_char) -> Option<(u64, u64)> {
    // SAFETY: the caller's promise.
    let found = unsafe { io::status_at(path) };
    found.map(|found| (found.st_dev, found.st_ino))
}

impl Source {
    fn find(is: impl Fn(&Source) -> bool) -> Option<Source> {
        // SAFETY: the running thread; the reference is not kept.
        let sources = unsafe { SOURCES.get() };
        sources.iter().flatten().find(|source| is(source)).copied()
    }

    /// Is there any?
    pub fn any() -> bool {
        Source::find(|_| true).is_some()
    }

    /// The one that a descriptor leads to.
    pub fn behind(descriptor: i32) -> Option<Source> {
        let own = Source::any().then(|| identity_of(descriptor)).flatten()?;
        Source::find(|source| source.own == own)
    }

    /// The one that stands for the file at a path.
    ///
    /// # Safety
    /// The path is a string.
    pub unsafe fn at(path: *const c_char) -> Option<Source> {
        if !Source::any() {
            return None;
        }
        // SAFETY: by the contract above.
        let held = unsafe { identity_at(path) }?;
        Source::find(|source| source.stands_for == held)
    }

    /// Bytes.
    pub fn len(&self) -> u64 {
        self.input.len
    }

    /// The byte at `offset`.
    pub fn byte(&self, offset: u64) -> u8 {
        self.input.byte(offset)
    }

    /// The expression of the byte at `offset`.
    pub fn expr(&self, offset: u64) -> Expr {
        match offset < self.input.len {
            true => self.input.expr(offset, 1),
            false => 0,
        }
    }
}
