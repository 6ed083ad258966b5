//! read, write and their kin: the exports.

use super::table::{self, Object, Sort};
use super::transfer::{self, Way};
use super::wait::{FOLLOWED, answer, is_followed, tell_moved};
use super::{credentials, random};
use crate::access::staged;
use crate::foreign::tsan::{filled, reads};
use crate::gate;
use crate::gone::Memory;
use crate::intercept;
use crate::os::{self, syscall};
use crate::shadow::one_body;
use crate::states;
use core::ffi::{c_int, c_uint, c_void};
use libc::{
    SYS_read, SYS_readv, SYS_recvfrom, SYS_recvmsg, SYS_sendmsg, SYS_sendto, SYS_write, SYS_writev,
};
use libc::{iovec, mmsghdr, msghdr, off_t, size_t, sockaddr, socklen_t, ssize_t};
use raddle_protocol::event::Kind;

/// `read`, of anything, by the program itself.
///
/// # Safety
/// As `read`; so for all functions here.
pub unsafe fn read(fd: c_int, into: *mut c_void, len: usize, pc: usize) -> isize {
    if !is_followed(fd, len) || Memory::written(into as usize, len).is_missing() {
        // SAFETY: the caller's promise.
        return unsafe { read_silently(fd, into, len, pc) };
    }
    // What arrives becomes the program's after the step, byte by byte, as by code of its own.
    let mut bytes = [0u8; FOLLOWED];
    // SAFETY: as many bytes as there is room for.
    let result = unsafe { read_silently(fd, bytes.as_mut_ptr().cast(), len, pc) };
    if let Some(bytes) = bytes.get(..result.max(0) as usize) {
        tell_moved(len, bytes);
        for (at, byte) in (into as u64..).zip(bytes) {
            one_body::write_by_kernel(at, *byte, pc);
        }
    }
    result
}

/// `write`, to anything, likewise.
///
/// # Safety
/// See [`read`].
pub unsafe fn write(fd: c_int, from: *const c_void, len: usize, pc: usize) -> isize {
    let is_missing = || Memory::read(from as usize, len).is_missing();
    // Nobody takes it away before the step.
    let never_there = || !states::pages_may_go() && is_missing();
    if !is_followed(fd, len) || never_there() {
        // SAFETY: the caller's promise.
        return unsafe { write_silently(fd, from, len, pc) };
    }
    // What goes away is read before the step, and decided upon, unless the caller has done so.
    let mut bytes = [0u8; FOLLOWED];
    let is_read = staged::finds(gate::me(), from as u64, len as u64);
    if is_read {
        os::try_read(from as usize, &mut bytes[..len]);
    } else {
        for (at, byte) in (from as u64..).zip(&mut bytes[..len]) {
            *byte = one_body::read_by_kernel(at, pc);
        }
    }
    if is_missing() {
        // SAFETY: the caller's promise.
        return unsafe { write_silently(fd, from, len, pc) };
    }
    // SAFETY: so many bytes were read.
    let result = unsafe { write_silently(fd, bytes.as_ptr().cast(), len, pc) };
    if result == len as isize {
        tell_moved(len, &bytes[..len]);
    }
    result
}

/// `eventfd_read`: 0 or a negative errno.
///
/// # Safety
/// As `eventfd_read`.
unsafe fn take(fd: c_int, into: *mut u64, pc: usize) -> isize {
    let mut count = [0; size_of::<u64>()];
    // SAFETY: as many bytes as there is room for.
    let result = unsafe { read_silently(fd, count.as_mut_ptr().cast(), count.len(), pc) };
    if result != count.len() as isize {
        return result;
    }
    let value = u64::from_ne_bytes(count);
    match is_followed(fd, count.len()) {
        true => {
            tell_moved(count.len(), &count);
            one_body::write(Kind::Write, into as u64, 8, value, pc);
        }
        // SAFETY: the caller's promise.
        false => unsafe { into.write(value) },
    }
    0
}

/// `eventfd_write`: 0 or a negative errno.
fn add(fd: c_int, value: u64, pc: usize) -> isize {
    let count = value.to_ne_bytes();
    // SAFETY: bytes of our own.
    let result = unsafe { write_silently(fd, count.as_ptr().cast(), count.len(), pc) };
    if result != count.len() as isize {
        return result;
    }
    if is_followed(fd, count.len()) {
        tell_moved(count.len(), &count);
    }
    0
}

/// `read`, of anything.
///
/// # Safety
/// See [`read`].
pub unsafe fn read_silently(fd: c_int, into: *mut c_void, len: usize, pc: usize) -> isize {
    // SAFETY: the caller's promise.
    unsafe {
        match table::sort(fd) {
            Sort::Object(object) => transfer::read(fd, &object, into, len, 0, pc),
            Sort::Random => random::read(fd, into, len),
            Sort::Harmless => table::checked(
                fd,
                pc,
                syscall(SYS_read, fd as usize, into as usize, len, 0, 0, 0),
            ),
        }
    }
}

/// `write`, to anything.
///
/// # Safety
/// See [`read`].
pub unsafe fn write_silently(fd: c_int, from: *const c_void, len: usize, pc: usize) -> isize {
    // SAFETY: the caller's promise.
    unsafe {
        match table::find(fd) {
            Some(object) => transfer::write(fd, &object, from, len, 0, pc),
            None => table::checked(
                fd,
                pc,
                syscall(SYS_write, fd as usize, from as usize, len, 0, 0, 0),
            ),
        }
    }
}

/// `readv`.
///
/// # Safety
/// See [`read`].
pub unsafe fn read_vector(fd: c_int, parts: *const iovec, count: c_int, pc: usize) -> isize {
    // SAFETY: the caller's promise.
    unsafe {
        match table::sort(fd) {
            Sort::Object(object) => transfer::read_vector(fd, &object, parts, count, pc),
            Sort::Random => random::read_vector(fd, parts, count),
            Sort::Harmless => table::checked(
                fd,
                pc,
                syscall(
                    SYS_readv,
                    fd as usize,
                    parts as usize,
                    count as usize,
                    0,
                    0,
                    0,
                ),
            ),
        }
    }
}

/// `writev`.
///
/// # Safety
/// See [`read`].
pub unsafe fn write_vector(fd: c_int, parts: *const iovec, count: c_int, pc: usize) -> isize {
    // SAFETY: the caller's promise.
    unsafe {
        match table::find(fd) {
            Some(object) => transfer::write_vector(fd, &object, parts, count, pc),
            None => table::checked(
                fd,
                pc,
                syscall(
                    SYS_writev,
                    fd as usize,
                    parts as usize,
                    count as usize,
                    0,
                    0,
                    0,
                ),
            ),
        }
    }
}

/// The socket behind `fd`; `None` leaves the answer to the kernel.
fn socket(fd: c_int) -> Option<Object> {
    table::find(fd).filter(transfer::is_socket)
}

/// `recvfrom`.
///
/// # Safety
/// See [`read`].
pub unsafe fn receive(
    fd: c_int,
    to: (*mut c_void, usize),
    flags: c_int,
    name: (*mut sockaddr, *mut socklen_t),
    pc: usize,
) -> isize {
    let ((into, len), (name, room)) = (to, name);
    // SAFETY: the caller's promise.
    let call = |flags: c_int| unsafe {
        let (into, name, room) = (into as usize, name as usize, room as usize);
        syscall(
            SYS_recvfrom,
            fd as usize,
            into,
            len,
            flags as usize,
            name,
            room,
        )
    };
    match socket(fd) {
        None => table::checked(fd, pc, call(flags)),
        // SAFETY: as above.
        Some(object) if name.is_null() => unsafe {
            transfer::read(fd, &object, into, len, flags, pc)
        },
        // SAFETY: as above.
        Some(object) => unsafe {
            transfer::piece(Way::In, fd, &object, flags & !libc::MSG_WAITALL, pc, call)
        },
    }
}

/// `sendto`.
///
/// # Safety
/// See [`read`].
pub unsafe fn send(
    fd: c_int,
    from: (*const c_void, usize),
    flags: c_int,
    name: (*const sockaddr, socklen_t),
    pc: usize,
) -> isize {
    let ((at, len), (name, size)) = (from, name);
    // SAFETY: the caller's promise.
    let call = |flags: c_int| unsafe {
        let (at, name) = (at as usize, name as usize);
        syscall(
            SYS_sendto,
            fd as usize,
            at,
            len,
            flags as usize,
            name,
            size as usize,
        )
    };
    match socket(fd) {
        None => table::checked(fd, pc, call(flags)),
        // SAFETY: as above.
        Some(object) if name.is_null() => unsafe {
            transfer::write(fd, &object, at, len, flags, pc)
        },
        // SAFETY: as above.
        Some(object) => unsafe { transfer::piece(Way::Out, fd, &object, flags, pc, call) },
    }
}

/// `recvmsg`.
///
/// # Safety
/// See [`read`].
pub unsafe fn receive_message(fd: c_int, message: *mut msghdr, flags: c_int, pc: usize) -> isize {
    // SAFETY: the caller's promise.
    unsafe {
        match socket(fd) {
            Some(object) => {
                let result = transfer::receive_message(fd, &object, message, flags, pc);
                if result >= 0 {
                    credentials::shown(message);
                }
                result
            }
            None => table::checked(
                fd,
                pc,
                syscall(
                    SYS_recvmsg,
                    fd as usize,
                    message as usize,
                    flags as usize,
                    0,
                    0,
                    0,
                ),
            ),
        }
    }
}

/// `sendmsg`.
///
/// # Safety
/// See [`read`].
pub unsafe fn send_message(fd: c_int, message: *const msghdr, flags: c_int, pc: usize) -> isize {
    // SAFETY: the caller's promise.
    unsafe {
        match socket(fd) {
            Some(object) => credentials::sent(message, || {
                transfer::send_message(fd, &object, message, flags, pc)
            }),
            None => table::checked(
                fd,
                pc,
                syscall(
                    SYS_sendmsg,
                    fd as usize,
                    message as usize,
                    flags as usize,
                    0,
                    0,
                    0,
                ),
            ),
        }
    }
}

/// Several messages, one after the other: how many, or the error of the first.
unsafe fn several(
    messages: *mut mmsghdr,
    count: c_uint,
    mut one: impl FnMut(*mut msghdr, bool) -> isize,
) -> isize {
    for i in 0..count as usize {
        // SAFETY: the program's array.
        let message = unsafe { messages.add(i) };
        // SAFETY: as above.
        let result = one(unsafe { &raw mut (*message).msg_hdr }, i == 0);
        if result < 0 {
            return if i == 0 { result } else { i as isize };
        }
        // SAFETY: as above.
        let len = unsafe { &raw mut (*message).msg_len };
        if Memory::written(len as usize, size_of::<c_uint>()).is_gone() {
            return if i == 0 {
                -(libc::EFAULT as isize)
            } else {
                i as isize
            };
        }
        // SAFETY: as above, and it can be written.
        unsafe { *len = result as c_uint };
    }
    count as isize
}

unsafe fn send_messages(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
    pc: usize,
) -> isize {
    // SAFETY: the program's arguments.
    unsafe {
        several(messages, count, |m, _| {
            crate::io::functions::send_message(fd, m, flags, pc)
        })
    }
}

/// The time-out is looked at by the kernel between messages only, which in virtual time is never.
unsafe fn receive_messages(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
    pc: usize,
) -> isize {
    let after_first = match flags & libc::MSG_WAITFORONE != 0 {
        true => libc::MSG_DONTWAIT,
        false => 0,
    };
    let flags = flags & !libc::MSG_WAITFORONE;
    // SAFETY: the program's arguments.
    unsafe {
        several(messages, count, |m, first| {
            let more = if first { 0 } else { after_first };
            crate::io::functions::receive_message(fd, m, flags | more, pc)
        })
    }
}

/// In the place of an offset: where the descriptor stands, which it must where there are none.
const HERE: off_t = -1;
const NOBODY: (*const sockaddr, socklen_t) = (core::ptr::null(), 0);
const UNASKED: (*mut sockaddr, *mut socklen_t) = (core::ptr::null_mut(), core::ptr::null_mut());

intercept! {
    kernel;
    fn read(fd: c_int, into: *mut c_void, len: size_t) -> ssize_t,
        pc => answer(filled(into, crate::io::functions::read(fd, into, len, pc), pc));
    fn __read_chk(fd: c_int, into: *mut c_void, len: size_t, room: size_t) -> ssize_t, pc => {
        if len > room {
            return real::__read_chk(fd, into, len, room);
        }
        answer(filled(into, crate::io::functions::read(fd, into, len, pc), pc))
    };
    fn write(fd: c_int, from: *const c_void, len: size_t) -> ssize_t,
        pc => {
            reads(from, len, pc);
            answer(crate::io::functions::write(fd, from, len, pc))
        };
    fn readv(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t,
        pc => answer(read_vector(fd, parts, count, pc));
    fn writev(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t,
        pc => answer(write_vector(fd, parts, count, pc));
    fn preadv2(fd: c_int, parts: *const iovec, count: c_int, at: off_t, flags: c_int) -> ssize_t, pc => {
        match (at, flags) {
            (HERE, 0) => answer(read_vector(fd, parts, count, pc)),
            _ => real::preadv2(fd, parts, count, at, flags),
        }
    };
    fn preadv64v2(fd: c_int, parts: *const iovec, count: c_int, at: off_t, flags: c_int) -> ssize_t, pc => {
        match (at, flags) {
            (HERE, 0) => answer(read_vector(fd, parts, count, pc)),
            _ => real::preadv64v2(fd, parts, count, at, flags),
        }
    };
    fn pwritev2(fd: c_int, parts: *const iovec, count: c_int, at: off_t, flags: c_int) -> ssize_t, pc => {
        match (at, flags) {
            (HERE, 0) => answer(write_vector(fd, parts, count, pc)),
            _ => real::pwritev2(fd, parts, count, at, flags),
        }
    };
    fn pwritev64v2(fd: c_int, parts: *const iovec, count: c_int, at: off_t, flags: c_int) -> ssize_t, pc => {
        match (at, flags) {
            (HERE, 0) => answer(write_vector(fd, parts, count, pc)),
            _ => real::pwritev64v2(fd, parts, count, at, flags),
        }
    };
    fn recv(fd: c_int, into: *mut c_void, len: size_t, flags: c_int) -> ssize_t,
        pc => answer(filled(into, receive(fd, (into, len), flags, UNASKED, pc), pc));
    fn __recv_chk(fd: c_int, into: *mut c_void, len: size_t, room: size_t, flags: c_int) -> ssize_t, pc => {
        if len > room {
            return real::__recv_chk(fd, into, len, room, flags);
        }
        answer(filled(into, receive(fd, (into, len), flags, UNASKED, pc), pc))
    };
    fn send(fd: c_int, from: *const c_void, len: size_t, flags: c_int) -> ssize_t,
        pc => {
            reads(from, len, pc);
            answer(crate::io::functions::send(fd, (from, len), flags, NOBODY, pc))
        };
    fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t,
        pc => answer(receive_message(fd, message, flags, pc));
    fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t,
        pc => answer(send_message(fd, message, flags, pc));
    fn sendmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int,
        pc => answer(send_messages(fd, messages, count, flags, pc)) as c_int;
    fn recvmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int, limit: *mut libc::timespec) -> c_int,
        pc => answer(receive_messages(fd, messages, count, flags, pc)) as c_int;
    fn eventfd_read(fd: c_int, into: *mut u64) -> c_int, pc => answer(take(fd, into, pc)) as c_int;
    fn eventfd_write(fd: c_int, value: u64) -> c_int, pc => answer(add(fd, value, pc)) as c_int;
    fn sendfile(to: c_int, from: c_int, at: *mut off_t, len: size_t) -> ssize_t, pc => {
        let call = || syscall(libc::SYS_sendfile, to as usize, from as usize, at as usize, len, 0, 0);
        answer(transfer::between(from, to, true, pc, call).unwrap_or_else(call))
    };
    fn sendfile64(to: c_int, from: c_int, at: *mut off_t, len: size_t) -> ssize_t, pc => {
        let call = || syscall(libc::SYS_sendfile, to as usize, from as usize, at as usize, len, 0, 0);
        answer(transfer::between(from, to, true, pc, call).unwrap_or_else(call))
    };
    fn tee(from: c_int, to: c_int, len: size_t, flags: c_uint) -> ssize_t, pc => {
        let call = || syscall(libc::SYS_tee, from as usize, to as usize, len, flags as usize, 0, 0);
        let waits = flags & libc::SPLICE_F_NONBLOCK == 0;
        answer(transfer::between(from, to, waits, pc, call).unwrap_or_else(call))
    };
}

crate::intercept6! {
    fn recvfrom(fd: c_int, into: *mut c_void, len: size_t, flags: c_int, name: *mut sockaddr, room: *mut socklen_t)
        -> ssize_t, pc => answer(filled(into, receive(fd, (into, len), flags, (name, room), pc), pc));
    fn sendto(fd: c_int, from: *const c_void, len: size_t, flags: c_int, name: *const sockaddr, size: socklen_t)
        -> ssize_t, pc => {
            reads(from, len, pc);
            answer(crate::io::functions::send(fd, (from, len), flags, (name, size), pc))
        };
    fn splice(from: c_int, from_at: *mut i64, to: c_int, to_at: *mut i64, len: size_t, flags: c_uint)
        -> ssize_t, pc => {
            let call = || {
                let (source, target) = (from as usize, to as usize);
                syscall(libc::SYS_splice, source, from_at as usize, target, to_at as usize, len, flags as usize)
            };
            let waits = flags & libc::SPLICE_F_NONBLOCK == 0;
            answer(transfer::between(from, to, waits, pc, call).unwrap_or_else(call))
        };
}
