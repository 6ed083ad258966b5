//! The loopback network as if it were synchronous: after an operation on a network socket, what it
//! sent has arrived.
//!
//! Packets to the own machine usually arrive within the sending system call, but the kernel may
//! leave them to a thread of its own when it is busy. They wait in a queue of the processor, in
//! order; so a datagram of ours that is sent after them, and has arrived, proves that they have.

use super::raw;
use crate::os::syscall;
use crate::serial::Serial;
use core::ffi::c_int;
use libc::{POLLIN, SOCK_CLOEXEC, SOCK_DGRAM, SOCK_NONBLOCK, pollfd, sockaddr_in};
use raddle_protocol::descriptor::{What, what_of};
use raddle_protocol::event::Kind;

/// A socket that is connected to itself; -1: none was needed, or none was to be had.
static PROBE: Serial<c_int> = Serial::new(-1);

/// The highest descriptor that has been a network socket of the program's.
static HIGHEST: Serial<c_int> = Serial::new(-1);

/// Descriptors of ours have numbers from here on.
const OWN: usize = 901;
/// One round a packet: a connection takes three, its end four.
const ROUNDS: usize = 4;
/// How long a probe may take before it counts as lost, in milliseconds.
const PATIENCE: c_int = 200;

/// The program has the network socket `fd`: makes the probe, if there is none.
pub fn prepare(fd: c_int) {
    // SAFETY: the running thread.
    let (probe, highest) = unsafe { (PROBE.get(), HIGHEST.get()) };
    *highest = fd.max(*highest);
    if *probe < 0 {
        crate::start::effects::note();
        *probe = make().unwrap_or(-1);
    }
}

fn make() -> Option<c_int> {
    // SAFETY: plain calls on our own socket; the structures are as large as said.
    unsafe {
        let kind = (SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK) as usize;
        let low = syscall(libc::SYS_socket, libc::AF_INET as usize, kind, 0, 0, 0, 0);
        if low < 0 {
            return None;
        }
        let fd = raw::fcntl(low as c_int, libc::F_DUPFD_CLOEXEC, OWN);
        syscall(libc::SYS_close, low as usize, 0, 0, 0, 0, 0);
        let mut name: sockaddr_in = core::mem::zeroed();
        name.sin_family = libc::AF_INET as libc::sa_family_t;
        name.sin_addr.s_addr = u32::from_be_bytes([127, 0, 0, 1]).to_be();
        let (at, len) = (&raw const name as usize, size_of::<sockaddr_in>());
        let bound = syscall(libc::SYS_bind, fd as usize, at, len, 0, 0, 0);
        let (own, size) = raw::name_of(libc::SYS_getsockname, fd as c_int)?;
        let to = &raw const own as usize;
        let joined = syscall(libc::SYS_connect, fd as usize, to, size, 0, 0, 0);
        (fd >= 0 && bound == 0 && joined == 0).then_some(fd as c_int)
    }
}

/// Lets arrive what an operation of this kind on `object` has sent.
pub fn settle(kind: Kind, object: u64) {
    let several = object == 0 || matches!(kind, Kind::Transfer | Kind::Close);
    if !several && what_of(object) != Some(What::Network) {
        return;
    }
    // SAFETY: the running thread.
    let probe = unsafe { *PROBE.get() };
    if probe < 0 {
        return;
    }
    let rounds = match kind {
        Kind::Connect | Kind::Close | Kind::Shutdown | Kind::Accept => ROUNDS,
        Kind::Poll | Kind::EpollWait | Kind::EpollControl => 0,
        _ => 2,
    };
    for _ in 0..rounds {
        round(probe);
    }
}

fn round(probe: c_int) {
    let mut byte = 0u8;
    let at = &raw mut byte as usize;
    let mut one = pollfd {
        fd: probe,
        events: POLLIN,
        revents: 0,
    };
    // SAFETY: one byte, one entry.
    unsafe {
        if syscall(libc::SYS_write, probe as usize, at, 1, 0, 0, 0) == 1
            && raw::poll(&mut one, 1, PATIENCE) > 0
        {
            syscall(libc::SYS_read, probe as usize, at, 1, 0, 0, 0);
        }
    }
}

/// How long, in milliseconds, the kernel may take by its own timers until something that is under
/// way between the program's network sockets arrives; 0: nothing is.
pub fn under_way() -> u64 {
    // SAFETY: the running thread.
    let highest = unsafe { *HIGHEST.get() };
    (0..=highest).map(under_way_at).max().unwrap_or(0)
}

/// A segment that the other side has no room for: nothing comes of it unless somebody reads.
const FULL: u64 = 100;
/// A segment that has not been acknowledged, which may come 40 ms late, or has been dropped.
const UNACKNOWLEDGED: u64 = 1_500;
/// A connection that the listener had no room for is asked for again after a second, then two.
const UNCONNECTED: u64 = 4_000;

fn under_way_at(fd: c_int) -> u64 {
    const TCP_SYN_SENT: u8 = 2;
    const SIOCOUTQNSD: usize = 0x894b;
    if raw::socket_option(fd, libc::SOL_SOCKET, libc::SO_PROTOCOL) != Some(libc::IPPROTO_TCP) {
        return 0;
    }
    let (mut queued, mut unsent): (c_int, c_int) = (0, 0);
    let mut state = 0u8;
    let mut len: libc::socklen_t = 1;
    // SAFETY: the buffers are as large as the calls' results; the state is the first byte.
    unsafe {
        let (queue, rest) = (&raw mut queued as usize, &raw mut unsent as usize);
        syscall(
            libc::SYS_ioctl,
            fd as usize,
            libc::TIOCOUTQ as usize,
            queue,
            0,
            0,
            0,
        );
        syscall(libc::SYS_ioctl, fd as usize, SIOCOUTQNSD, rest, 0, 0, 0);
        let (level, name) = (libc::IPPROTO_TCP as usize, libc::TCP_INFO as usize);
        let (to, size) = (&raw mut state as usize, &raw mut len as usize);
        syscall(libc::SYS_getsockopt, fd as usize, level, name, to, size, 0);
    }
    match (state, queued - unsent, unsent) {
        (TCP_SYN_SENT, ..) => UNCONNECTED,
        (_, 1.., _) => UNACKNOWLEDGED,
        (_, _, 1..) => FULL,
        _ => 0,
    }
}
