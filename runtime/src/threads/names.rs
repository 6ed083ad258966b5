//! Names of threads. Modelled, because with fibers the kernel knows one thread only.

use super::{info, slot_of};
use crate::{gate, os};
use core::ffi::{c_char, c_int};
use libc::pthread_t;
use raddle_protocol::Slot;
use raddle_protocol::conflict::kept;

mod real {
    use core::ffi::{c_char, c_int};
    use libc::pthread_t;
    crate::real! {
        fn pthread_setname_np(thread: pthread_t, name: *const c_char) -> c_int;
        fn pthread_getname_np(thread: pthread_t, name: *mut c_char, len: usize) -> c_int;
    }
}

crate::export! {
    fn pthread_setname_np(thread: pthread_t, name: *const c_char) -> c_int = set_from;
    fn pthread_getname_np(thread: pthread_t, name: *mut c_char, len: usize) -> c_int = get_from;
}

/// Longest name, the NUL included.
pub const LEN: usize = 16;

/// The name of `s`; main's is the kernel's own until the program sets one.
fn name(s: Slot) -> &'static mut [u8; LEN] {
    let info = info(s);
    if !info.named {
        info.named = true;
        let (ask, into) = (libc::PR_GET_NAME as usize, info.name.as_mut_ptr() as usize);
        // SAFETY: the buffer has 16 bytes, as the call wants.
        unsafe { os::syscall(libc::SYS_prctl, ask, into, 0, 0, 0, 0) };
    }
    &mut info.name
}

/// `child` has the name of its creator, as the kernel does it.
pub fn inherit(child: Slot, creator: Slot) {
    let from = info(creator);
    let (named, name) = (from.named, from.name);
    let child = info(child);
    (child.named, child.name) = (named, name);
}

/// The running thread gives itself this name, of less than [`LEN`] bytes.
pub fn set_own(new: &[u8]) {
    let me = gate::me();
    about(me, true);
    let name = name(me);
    name.fill(0);
    name[..new.len()].copy_from_slice(new);
}

/// The running thread's name, with zeros behind it.
pub fn own() -> [u8; LEN] {
    let me = gate::me();
    about(me, false);
    *name(me)
}

/// The running thread asks about the name or the scheduling of `s`, or sets it. Has that not ended?
pub fn about(s: Slot, changes: bool) -> bool {
    match s == gate::me() {
        true => gate::ask(kept::settings_of(s), changes, 0),
        false => gate::ask_unfollowed(kept::settings_of(s), changes, 0),
    }
    gate::state(s) == gate::State::Alive
}

unsafe extern "C-unwind" fn set_from(thread: pthread_t, new: *const c_char, _: usize) -> c_int {
    let s = if gate::active() {
        slot_of(thread)
    } else {
        None
    };
    let Some(s) = s else {
        // SAFETY: passed on.
        return unsafe { real::pthread_setname_np(thread, new) };
    };
    // SAFETY: a string, as the function says.
    let new = unsafe { core::ffi::CStr::from_ptr(new) }.to_bytes_with_nul();
    if new.len() > LEN {
        return libc::ERANGE;
    }
    // The C library looks for the file of its kernel thread.
    if !about(s, true) {
        return libc::ENOENT;
    }
    let name = name(s);
    name.fill(0);
    name[..new.len()].copy_from_slice(new);
    0
}

unsafe extern "C-unwind" fn get_from(
    thread: pthread_t,
    buffer: *mut c_char,
    len: usize,
    _: usize,
) -> c_int {
    let s = if gate::active() {
        slot_of(thread)
    } else {
        None
    };
    let Some(s) = s else {
        // SAFETY: passed on.
        return unsafe { real::pthread_getname_np(thread, buffer, len) };
    };
    if len < LEN {
        return libc::ERANGE;
    }
    if !about(s, false) {
        return libc::ENOENT;
    }
    // SAFETY: the buffer has at least LEN bytes.
    unsafe { buffer.cast::<[u8; LEN]>().write(*name(s)) };
    0
}
