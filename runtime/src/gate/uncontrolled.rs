//! Names what is not under control, with who did it: the calling function, its module, the thread.

use super::{gate, me, pages, passively};
use core::ffi::CStr;
use core::fmt::{self, Write};
use raddle_protocol::outcome::STACK;
use raddle_protocol::shared::UNCONTROLLED_NAME;
use raddle_protocol::slot;

/// Names something that is not controlled, the first time; the execution goes on.
pub fn uncontrolled(name: &str) {
    if !pages().attached() || pages().names_uncontrolled(name) {
        return;
    }
    let mut text = Text {
        bytes: [0; UNCONTROLLED_NAME],
        len: 0,
    };
    let _ = passively(|| describe(name, &mut text));
    let named = core::str::from_utf8(&text.bytes[..text.len]);
    pages().uncontrolled(named.unwrap_or(name));
}

/// Has this execution done anything that is not under control?
pub fn anything_uncontrolled() -> bool {
    pages().attached() && pages().names_any_uncontrolled()
}

fn describe(name: &str, text: &mut Text) -> fmt::Result {
    text.write_str(name)?;
    // The thread that ran last has ended, and none is chosen: it is nobody's call.
    if me() == slot::NONE {
        return Ok(());
    }
    text.write_str(" (")?;
    if let Some(caller) = caller() {
        write!(text, "{caller}, ")?;
    }
    match me() {
        slot::MAIN => text.write_str("thread main)"),
        s => write!(text, "thread T{s})"),
    }
}

/// A place in the program.
struct Place {
    module: &'static [u8],
    function: Option<&'static [u8]>,
    offset: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let module = core::str::from_utf8(self.module).unwrap_or("?");
        match self.function.and_then(|f| core::str::from_utf8(f).ok()) {
            Some(function) => write!(f, "{function} in {module}"),
            None => write!(f, "{module}+{:#x}", self.offset),
        }
    }
}

/// The innermost frame that is not ours.
fn caller() -> Option<Place> {
    let mut frames = [0usize; STACK];
    let len = crate::pages::Os::stack(&mut gate().pages.os, &mut frames);
    let own = place(caller as fn() -> Option<Place> as usize)?;
    let places = frames[..len].iter().filter_map(|&pc| place(pc - 1));
    let mut places = places.filter(|place| place.module != own.module);
    places.next()
}

fn place(address: usize) -> Option<Place> {
    // SAFETY: the structure is filled if the result is not 0; the strings live as long as the
    // module, and who runs is in it.
    unsafe {
        let mut info: libc::Dl_info = core::mem::zeroed();
        if libc::dladdr(address as *const _, &mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        let path = CStr::from_ptr(info.dli_fname).to_bytes();
        let function = (!info.dli_sname.is_null()).then(|| CStr::from_ptr(info.dli_sname));
        Some(Place {
            module: path.rsplit(|&b| b == b'/').next().unwrap_or(path),
            function: function.map(CStr::to_bytes),
            offset: address + 1 - info.dli_fbase as usize,
        })
    }
}

/// Text of limited length.
struct Text {
    bytes: [u8; UNCONTROLLED_NAME],
    len: usize,
}

impl Write for Text {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        for &byte in s.as_bytes() {
            if self.len < self.bytes.len() && byte.is_ascii() {
                self.bytes[self.len] = byte;
                self.len += 1;
            }
        }
        Ok(())
    }
}
