//! Reading and writing: one piece of a transfer, and transfers of several pieces.

use super::table::{self, Object};
use super::wait::{Operation, WOULD_BLOCK, Waiting};
use super::{faults, raw};
use crate::gate;
use crate::os::syscall;
use crate::time;
use core::ffi::{c_int, c_void};
use libc::{MSG_DONTWAIT, POLLIN, POLLOUT, iovec};
use raddle_protocol::descriptor::What;
use raddle_protocol::event::Kind;

/// Bytes that a pipe takes in one piece, or not at all.
const PIPE_BUF: usize = libc::PIPE_BUF;

/// Is `object` a socket?
pub fn is_socket(object: &Object) -> bool {
    matches!(object.what, What::Network | What::Local | What::Pair)
}

/// Does the descriptor, or this call's `flags`, ask not to wait?
fn never_waits(fd: c_int, flags: c_int) -> bool {
    flags & MSG_DONTWAIT != 0 || raw::status_flags(fd) & libc::O_NONBLOCK != 0
}

/// When a wait on this socket ends by its own time-out (`option`: `SO_RCVTIMEO`, `SO_SNDTIMEO`).
fn deadline(fd: c_int, object: &Object, option: c_int) -> u64 {
    if !is_socket(object) {
        return 0;
    }
    let mut limit = libc::timeval {
        tv_sec: 0,
        tv_usec: 0,
    };
    let mut len = size_of::<libc::timeval>() as libc::socklen_t;
    // SAFETY: the buffer is as large as said.
    unsafe {
        let (to, size) = (&raw mut limit as usize, &raw mut len as usize);
        let (level, option) = (libc::SOL_SOCKET as usize, option as usize);
        syscall(
            libc::SYS_getsockopt,
            fd as usize,
            level,
            option,
            to,
            size,
            0,
        );
    }
    match time::microseconds(&limit) {
        0 => 0,
        ns => time::deadline_in(ns),
    }
}

/// Which way the bytes go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    In,
    Out,
}

impl Way {
    /// The record, what `poll` is to wait for, and the option of sockets that limits the wait.
    fn traits(self) -> (Kind, i16, c_int) {
        match self {
            Way::In => (Kind::DescriptorRead, POLLIN, libc::SO_RCVTIMEO),
            Way::Out => (Kind::DescriptorWrite, POLLOUT, libc::SO_SNDTIMEO),
        }
    }

    /// What was written others can read before the caller goes on.
    fn returns(self, result: isize, pc: usize) {
        if matches!(self, Way::Out) && result >= 0 {
            gate::returns(pc);
        }
    }
}

/// One operation that transfers one piece: `attempt` is given the flags that keep it from waiting.
///
/// # Safety
/// `attempt` relies on the program's arguments.
pub unsafe fn piece(
    way: Way,
    fd: c_int,
    object: &Object,
    flags: c_int,
    pc: usize,
    mut attempt: impl FnMut(c_int) -> isize,
) -> isize {
    let (kind, ready, limit) = way.traits();
    let operation = Operation::on(kind, fd, object, pc);
    if never_waits(fd, flags) {
        let result = operation.at_once(|| attempt(flags));
        way.returns(result, pc);
        return result;
    }
    let operation = Operation {
        deadline: deadline(fd, object, limit),
        ..operation
    };
    let waiting = Waiting::for_one(fd, ready, object);
    let result = operation.until_done(waiting, || {
        gently(fd, object, |quiet| attempt(flags | quiet))
    });
    way.returns(result, pc);
    result
}

/// Lets `attempt` not wait: a socket by the flag that it is given, another descriptor by its
/// status. What another process shares is left as it is: it has been polled.
fn gently(fd: c_int, object: &Object, attempt: impl FnOnce(c_int) -> isize) -> isize {
    if is_socket(object) {
        attempt(MSG_DONTWAIT)
    } else if object.is_outside() {
        attempt(0)
    } else {
        raw::without_blocking(fd, || attempt(0))
    }
}

/// The call that transfers `len` bytes at `memory` through a socket or anything else.
///
/// # Safety
/// As the call: the memory is the program's.
unsafe fn plain_call(
    way: Way,
    socket: bool,
    fd: c_int,
    memory: usize,
    len: usize,
    flags: c_int,
) -> isize {
    let call = match (way, socket) {
        (Way::In, true) => libc::SYS_recvfrom,
        (Way::In, false) => libc::SYS_read,
        (Way::Out, true) => libc::SYS_sendto,
        (Way::Out, false) => libc::SYS_write,
    };
    // `read` and `write` do not look at a fourth argument.
    // SAFETY: the caller's promise.
    unsafe { syscall(call, fd as usize, memory, len, flags as usize, 0, 0) }
}

/// `read`, or `recv` with `flags`, of an object that may block.
///
/// # Safety
/// As `read`.
pub unsafe fn read(
    fd: c_int,
    object: &Object,
    into: *mut c_void,
    len: usize,
    flags: c_int,
    pc: usize,
) -> isize {
    if object.what == What::Signal {
        // SAFETY: the caller's promise.
        return unsafe { super::signal::read(fd, object, into, len, pc) };
    }
    let socket = is_socket(object);
    let all = flags & libc::MSG_WAITALL != 0 && is_stream(fd);
    let flags = flags & !libc::MSG_WAITALL;
    let mut done = 0;
    loop {
        let (to, rest) = (into as usize + done, len - done);
        // SAFETY: the caller's promise.
        let result = unsafe {
            piece(Way::In, fd, object, flags, pc, |quiet| {
                plain_call(Way::In, socket, fd, to, faults::shorten(rest), quiet)
            })
        };
        match result {
            n if n > 0 => done += n as usize,
            n => return if done > 0 { done as isize } else { n },
        }
        if !all || done == len {
            return done as isize;
        }
    }
}

/// Does the socket carry a stream of bytes?
fn is_stream(fd: c_int) -> bool {
    raw::socket_option(fd, libc::SOL_SOCKET, libc::SO_TYPE) == Some(libc::SOCK_STREAM)
}

/// `write`, or `send` with `flags`, to an object that may block: a blocking one takes all, piece by
/// piece.
///
/// # Safety
/// As `write`.
pub unsafe fn write(
    fd: c_int,
    object: &Object,
    from: *const c_void,
    len: usize,
    flags: c_int,
    pc: usize,
) -> isize {
    let socket = is_socket(object);
    let pipe = matches!(object.what, What::Pipe | What::Fifo);
    let pieces = !never_waits(fd, flags) && (pipe || (socket && is_stream(fd)));
    let mut done = 0;
    loop {
        let (at, rest) = (from as usize + done, len - done);
        let most = if pieces && pipe {
            rest.min(PIPE_BUF)
        } else {
            rest
        };
        // SAFETY: the caller's promise.
        let result = unsafe {
            piece(Way::Out, fd, object, flags, pc, |quiet| {
                plain_call(Way::Out, socket, fd, at, faults::shorten(most), quiet)
            })
        };
        if result < 0 {
            return if done > 0 { done as isize } else { result };
        }
        done += result as usize;
        if !pieces || done >= len || faults::cut_short() {
            return done as isize;
        }
    }
}

/// `readv`: one receiving operation.
///
/// # Safety
/// As `readv`.
pub unsafe fn read_vector(
    fd: c_int,
    object: &Object,
    parts: *const iovec,
    count: c_int,
    pc: usize,
) -> isize {
    // SAFETY: the caller's promise.
    unsafe {
        if count == 1 {
            return read(fd, object, (*parts).iov_base, (*parts).iov_len, 0, pc);
        }
        let socket = is_socket(object);
        piece(Way::In, fd, object, 0, pc, |quiet| {
            vector_call(fd, socket, parts, count, quiet, Way::In)
        })
    }
}

unsafe fn vector_call(
    fd: c_int,
    socket: bool,
    parts: *const iovec,
    count: c_int,
    flags: c_int,
    way: Way,
) -> isize {
    // SAFETY: the caller's promise; the message only points to its parts.
    unsafe {
        if !socket {
            let call = match way {
                Way::In => libc::SYS_readv,
                Way::Out => libc::SYS_writev,
            };
            return syscall(call, fd as usize, parts as usize, count as usize, 0, 0, 0);
        }
        let mut message: libc::msghdr = core::mem::zeroed();
        message.msg_iov = parts.cast_mut();
        message.msg_iovlen = count as usize;
        match way {
            Way::In => raw::receive_message(fd, &mut message, flags),
            Way::Out => raw::send_message(fd, &message, flags),
        }
    }
}

/// `writev`: what fits in one piece goes in one, more goes part by part.
///
/// # Safety
/// As `writev`.
pub unsafe fn write_vector(
    fd: c_int,
    object: &Object,
    parts: *const iovec,
    count: c_int,
    pc: usize,
) -> isize {
    if !(0..=1024).contains(&count) {
        return -(libc::EINVAL as isize);
    }
    // SAFETY: the caller's promise.
    let parts = unsafe { core::slice::from_raw_parts(parts, count as usize) };
    let total: usize = parts.iter().map(|part| part.iov_len).sum();
    let socket = is_socket(object);
    let streams = !socket || is_stream(fd);
    let mut done = 0;
    if total <= PIPE_BUF || socket || never_waits(fd, 0) {
        // SAFETY: the caller's promise.
        let result = unsafe {
            piece(Way::Out, fd, object, 0, pc, |quiet| {
                vector_call(fd, socket, parts.as_ptr(), count, quiet, Way::Out)
            })
        };
        if result < 0 || result as usize == total || !streams || never_waits(fd, 0) {
            return result;
        }
        done = result as usize;
    }
    // SAFETY: the caller's promise.
    unsafe { write_rest(fd, object, parts, done, pc) }
}

/// Writes all parts but the first `done` bytes of them.
unsafe fn write_rest(
    fd: c_int,
    object: &Object,
    parts: &[iovec],
    mut done: usize,
    pc: usize,
) -> isize {
    let mut before = 0;
    for part in parts {
        let end = before + part.iov_len;
        if done < end {
            let (from, len) = (part.iov_base as usize + (done - before), end - done);
            // SAFETY: within the part.
            let result = unsafe { write(fd, object, from as *const c_void, len, 0, pc) };
            if result < 0 {
                return if done > 0 { done as isize } else { result };
            }
            done += result as usize;
            if (result as usize) < len {
                break;
            }
        }
        before = end;
    }
    done as isize
}

/// `sendmsg`: as [`write_vector`]; ancillary data goes with the first piece.
///
/// # Safety
/// As `sendmsg`.
pub unsafe fn send_message(
    fd: c_int,
    object: &Object,
    message: *const libc::msghdr,
    flags: c_int,
    pc: usize,
) -> isize {
    // SAFETY: the caller's promise, also below.
    let first = unsafe {
        piece(Way::Out, fd, object, flags, pc, |quiet| {
            raw::send_message(fd, message, quiet)
        })
    };
    if first < 0 || never_waits(fd, flags) || !is_stream(fd) {
        return first;
    }
    // SAFETY: as above.
    unsafe {
        let parts = core::slice::from_raw_parts((*message).msg_iov, (*message).msg_iovlen);
        write_rest(fd, object, parts, first as usize, pc)
    }
}

/// `recvmsg`; descriptors that come along are adopted.
///
/// # Safety
/// As `recvmsg`.
pub unsafe fn receive_message(
    fd: c_int,
    object: &Object,
    message: *mut libc::msghdr,
    flags: c_int,
    pc: usize,
) -> isize {
    // SAFETY: the caller's promise, also below. The kernel changes the lengths in the header, so
    // every attempt begins with those of the program. It may lie where only the kernel finds that it
    // cannot be written.
    unsafe {
        let asked = *message;
        let result = piece(
            Way::In,
            fd,
            object,
            flags & !libc::MSG_WAITALL,
            pc,
            |quiet| {
                let lengths = |of: &libc::msghdr| (of.msg_namelen, of.msg_controllen, of.msg_flags);
                if lengths(&*message) != lengths(&asked) {
                    *message = asked;
                }
                raw::receive_message(fd, message, quiet)
            },
        );
        if result >= 0 && !object.is_outside() {
            adopt_passed(message, pc);
        }
        result
    }
}

/// Descriptors of anonymous objects that came over a socket whose other end is ours as well.
unsafe fn adopt_passed(message: *const libc::msghdr, pc: usize) {
    // SAFETY: the kernel has filled the control data in.
    unsafe {
        let mut part = libc::CMSG_FIRSTHDR(message);
        while !part.is_null() {
            if (*part).cmsg_level == libc::SOL_SOCKET && (*part).cmsg_type == libc::SCM_RIGHTS {
                let bytes = (*part).cmsg_len - libc::CMSG_LEN(0) as usize;
                let fds = libc::CMSG_DATA(part).cast::<c_int>();
                for i in 0..bytes / size_of::<c_int>() {
                    let fd = fds.add(i).read_unaligned();
                    table::closed(fd);
                    if raw::stat(fd).is_some_and(|s| s.st_mode & libc::S_IFMT == 0) {
                        table::made(What::Event, fd, -1, false, pc);
                    }
                }
            }
            part = libc::CMSG_NXTHDR(message, part);
        }
    }
}

/// Moves data between two descriptors by `attempt`, which must not wait; `from` and `to` may be
/// such as never block.
///
/// # Safety
/// `attempt` relies on the program's arguments.
pub unsafe fn between(
    from: c_int,
    to: c_int,
    waits: bool,
    pc: usize,
    mut attempt: impl FnMut() -> isize,
) -> Option<isize> {
    let (source, target) = (table::find(from), table::find(to));
    let object = target.or(source)?;
    let fd = if target.is_some() { to } else { from };
    let operation = Operation::on(Kind::Transfer, fd, &object, pc);
    if !waits {
        return Some(operation.at_once(attempt));
    }
    loop {
        // Both sides must be ready at once; one that is not is waited for alone.
        let blocked = [(from, source, POLLIN), (to, target, POLLOUT)]
            .into_iter()
            .find(|(fd, object, events)| object.is_some() && !raw::is_ready(*fd, *events));
        let waiting = match blocked {
            Some((fd, Some(object), events)) => Waiting::for_one(fd, events, &object),
            _ => Waiting::for_one(fd, POLLIN | POLLOUT, &object),
        };
        let result = operation.until_done(waiting, || {
            let ready =
                |fd, object: &Option<Object>, events| object.is_none() || raw::is_ready(fd, events);
            if !ready(from, &source, POLLIN) || !ready(to, &target, POLLOUT) {
                return -(libc::EALREADY as isize);
            }
            raw::without_blocking(from, || raw::without_blocking(to, &mut attempt))
        });
        if result != -(libc::EALREADY as isize) && result != WOULD_BLOCK {
            return Some(result);
        }
    }
}
