//! Sockets: made, named, connected, accepted, shut down.

use super::table::{self, Object};
use super::wait::{Condition, Operation, Waiting, answer};
use super::{places, raw};
use crate::gate;
use crate::intercept;
use crate::os::{self, syscall};
use crate::start::network;
use core::ffi::c_int;
use libc::{POLLIN, POLLOUT, sockaddr, socklen_t};
use raddle_protocol::descriptor::What;
use raddle_protocol::event::Kind;
use raddle_protocol::shared::flags;

/// Is the network the target's own?
pub fn own_network() -> bool {
    network::is_own() && !table::is_shared()
}

fn is_internet(family: c_int) -> bool {
    matches!(family, libc::AF_INET | libc::AF_INET6)
}

fn family_of(fd: c_int) -> c_int {
    raw::socket_option(fd, libc::SOL_SOCKET, libc::SO_DOMAIN).unwrap_or(libc::AF_UNSPEC)
}

fn is_stream(fd: c_int) -> bool {
    raw::socket_option(fd, libc::SOL_SOCKET, libc::SO_TYPE) == Some(libc::SOCK_STREAM)
}

/// `socket`. Until it gets a name or a peer nobody can reach it.
pub unsafe fn socket(family: c_int, kind: c_int, protocol: c_int, pc: usize) -> isize {
    let (family_word, kind_word) = (family as usize, kind as usize);
    // SAFETY: numbers only.
    let fd = unsafe {
        syscall(
            libc::SYS_socket,
            family_word,
            kind_word,
            protocol as usize,
            0,
            0,
            0,
        )
    };
    if fd < 0 {
        return fd;
    }
    let what = match family {
        libc::AF_UNIX => What::Local,
        _ if is_internet(family) => What::Network,
        _ => What::Other,
    };
    table::made(what, fd as c_int, -1, what == What::Other, pc);
    if what == What::Network {
        super::settle::prepare(fd as c_int);
        if gate::flags() & flags::OWN_NETWORK != 0 && !network::is_own() {
            gate::uncontrolled("network: not allowed one of its own");
        }
        if kind & 0xf == libc::SOCK_STREAM {
            // Nagle's algorithm waits in real time for an acknowledgement.
            raw::set_socket_option(fd as c_int, libc::IPPROTO_TCP, libc::TCP_NODELAY, 1);
        }
    }
    fd
}

/// `socketpair`.
pub unsafe fn pair(
    family: c_int,
    kind: c_int,
    protocol: c_int,
    into: *mut c_int,
    pc: usize,
) -> isize {
    // SAFETY: the program's buffer.
    unsafe {
        let (family, kind, protocol) = (family as usize, kind as usize, protocol as usize);
        let result = syscall(
            libc::SYS_socketpair,
            family,
            kind,
            protocol,
            into as usize,
            0,
            0,
        );
        if result == 0 {
            table::made(What::Pair, *into, *into.add(1), false, pc);
        }
        result
    }
}

/// `bind`. In a network of its own the target gets the same free ports every time.
pub unsafe fn bind(fd: c_int, name: *const sockaddr, len: socklen_t, pc: usize) -> isize {
    let Some(object) = table::find(fd) else {
        // SAFETY: the program's arguments.
        return unsafe { bind_call(fd, name, len) };
    };
    // SAFETY: as above.
    let step = || unsafe {
        match object.what == What::Network && own_network() && places::port(name, len) == Some(0) {
            true => places::bind_stably(fd, name, len),
            false => bind_call(fd, name, len),
        }
    };
    let operation = Operation::on(Kind::Listen, fd, &object, pc);
    let result = operation.at_once(step);
    match -result as c_int {
        0 => {
            // SAFETY: as above.
            let outside = unsafe { places::is_public(fd, name, len) };
            table::set_outside(fd, outside);
            if object.what == What::Network {
                places::remember_name(fd);
            }
        }
        libc::EADDRINUSE if object.what == What::Network && !own_network() => {
            gate::uncontrolled("bind: the port is in use outside");
        }
        _ => {}
    }
    result
}

/// The system call itself.
pub unsafe fn bind_call(fd: c_int, name: *const sockaddr, len: socklen_t) -> isize {
    // SAFETY: the program's arguments.
    unsafe {
        syscall(
            libc::SYS_bind,
            fd as usize,
            name as usize,
            len as usize,
            0,
            0,
            0,
        )
    }
}

/// `listen`.
pub fn listen(fd: c_int, backlog: c_int, pc: usize) -> isize {
    // SAFETY: numbers only.
    let call = || unsafe { syscall(libc::SYS_listen, fd as usize, backlog as usize, 0, 0, 0, 0) };
    let Some(object) = table::find(fd) else {
        return table::checked(fd, pc, call());
    };
    let result = Operation::on(Kind::Listen, fd, &object, pc).at_once(call);
    if result == 0 {
        if object.what == What::Network && !own_network() {
            table::set_outside(fd, true);
        }
        places::remember_name(fd);
    }
    result
}

/// `accept4`.
pub unsafe fn accept(
    fd: c_int,
    name: *mut sockaddr,
    len: *mut socklen_t,
    flags: c_int,
    pc: usize,
) -> isize {
    // SAFETY: the program's arguments.
    let call = || unsafe {
        syscall(
            libc::SYS_accept4,
            fd as usize,
            name as usize,
            len as usize,
            flags as usize,
            0,
            0,
        )
    };
    let Some(object) = table::find(fd) else {
        return table::checked(fd, pc, call());
    };
    let operation = Operation::on(Kind::Accept, fd, &object, pc);
    let result = if raw::status_flags(fd) & libc::O_NONBLOCK != 0 {
        operation.at_once(call)
    } else {
        // The kernel changes the length; each attempt begins with the program's own.
        // SAFETY: as above.
        let room = unsafe { len.as_ref().copied() };
        let waiting = Waiting::for_one(fd, POLLIN, &object);
        operation.until_done(waiting, || {
            if let Some(room) = room {
                // SAFETY: as above.
                unsafe { len.write(room) };
            }
            raw::without_blocking(fd, call)
        })
    };
    if result >= 0 {
        let outside = object.is_outside() && !places::peer_is_ours(result as c_int);
        if object.what == What::Network {
            super::settle::prepare(result as c_int);
        }
        table::made(object.what, result as c_int, -1, outside, pc);
    }
    result
}

/// `connect`.
pub unsafe fn connect(fd: c_int, name: *const sockaddr, len: socklen_t, pc: usize) -> isize {
    // SAFETY: the program's arguments.
    let call = || unsafe {
        syscall(
            libc::SYS_connect,
            fd as usize,
            name as usize,
            len as usize,
            0,
            0,
            0,
        )
    };
    let Some(object) = table::find(fd) else {
        return table::checked(fd, pc, call());
    };
    if object.what == What::Network && own_network() && is_stream(fd) {
        // SAFETY: as above.
        unsafe { places::give_stable_port(fd, name, len) };
    }
    let operation = Operation::on(Kind::Connect, fd, &object, pc);
    let result = if raw::status_flags(fd) & libc::O_NONBLOCK != 0 {
        operation.at_once(call)
    } else {
        connect_waiting(&operation, &object, call)
    };
    if result == 0 || result == -(libc::EINPROGRESS as isize) {
        places::remember_name(fd);
        // SAFETY: as above.
        let outside = unsafe { places::is_foreign(fd, name, len) };
        table::set_outside(fd, outside);
        if outside {
            gate::uncontrolled("not closed: connects to the outside");
        }
    }
    if result == -(libc::ENETUNREACH as isize) && own_network() {
        gate::uncontrolled("connect: no way out of its own network");
    }
    result
}

/// A connection that waits until it is made, as a blocking socket does.
fn connect_waiting(
    operation: &Operation,
    object: &Object,
    mut call: impl FnMut() -> isize,
) -> isize {
    let fd = operation.fd;
    // A full queue of a local listener can be noticed by trying only.
    let waiting = Waiting::new(
        Condition::Change,
        object.what == What::Local && object.is_outside(),
    );
    let result = operation.until_done(waiting, || raw::without_blocking(fd, &mut call));
    if result != -(libc::EINPROGRESS as isize) {
        return result;
    }
    let waiting = Waiting::for_one(fd, POLLOUT, object);
    operation.until_done(waiting, || {
        match raw::socket_option(fd, libc::SOL_SOCKET, libc::SO_ERROR) {
            Some(code) => -(code as isize),
            None => -(libc::EBADF as isize),
        }
    })
}

/// `shutdown`.
pub fn shutdown(fd: c_int, how: c_int, pc: usize) -> isize {
    // SAFETY: numbers only.
    let call = || unsafe { syscall(libc::SYS_shutdown, fd as usize, how as usize, 0, 0, 0, 0) };
    match table::find(fd) {
        Some(object) => Operation::on(Kind::Shutdown, fd, &object, pc).at_once(call),
        None => table::checked(fd, pc, call()),
    }
}

intercept! {
    kernel;
    fn socket(family: c_int, kind: c_int, protocol: c_int) -> c_int,
        pc => answer(crate::io::sockets::socket(family, kind, protocol, pc)) as c_int;
    fn socketpair(family: c_int, kind: c_int, protocol: c_int, into: *mut c_int) -> c_int,
        pc => answer(crate::io::sockets::pair(family, kind, protocol, into, pc)) as c_int;
    fn bind(fd: c_int, name: *const sockaddr, len: socklen_t) -> c_int,
        pc => answer(crate::io::sockets::bind(fd, name, len, pc)) as c_int;
    fn listen(fd: c_int, backlog: c_int) -> c_int,
        pc => answer(crate::io::sockets::listen(fd, backlog, pc)) as c_int;
    fn accept(fd: c_int, name: *mut sockaddr, len: *mut socklen_t) -> c_int,
        pc => answer(crate::io::sockets::accept(fd, name, len, 0, pc)) as c_int;
    fn accept4(fd: c_int, name: *mut sockaddr, len: *mut socklen_t, flags: c_int) -> c_int,
        pc => answer(crate::io::sockets::accept(fd, name, len, flags, pc)) as c_int;
    fn connect(fd: c_int, name: *const sockaddr, len: socklen_t) -> c_int,
        pc => answer(crate::io::sockets::connect(fd, name, len, pc)) as c_int;
    fn shutdown(fd: c_int, how: c_int) -> c_int,
        pc => answer(crate::io::sockets::shutdown(fd, how, pc)) as c_int;
}

/// The process id of the other end of a local connection, as the kernel noted it.
pub fn peer_process(fd: c_int) -> Option<i32> {
    // SAFETY: the buffer is as large as said.
    unsafe {
        let mut who: libc::ucred = core::mem::zeroed();
        let mut len = size_of::<libc::ucred>() as socklen_t;
        let (to, size) = (&raw mut who as usize, &raw mut len as usize);
        let (level, name) = (libc::SOL_SOCKET as usize, libc::SO_PEERCRED as usize);
        let result = syscall(libc::SYS_getsockopt, fd as usize, level, name, to, size, 0);
        (result == 0 && who.pid != 0).then_some(who.pid)
    }
}

/// Is the other end of this local connection held by this process alone?
pub fn peer_is_self(fd: c_int) -> bool {
    !table::is_shared() && peer_process(fd) == Some(os::process())
}

/// Is this a socket of an Internet family?
pub fn is_network(fd: c_int) -> bool {
    is_internet(family_of(fd))
}
