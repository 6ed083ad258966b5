//! Names of sockets and paths: who else can know them, and stable port numbers.

use super::{raw, sockets, table};
use crate::objects::Table;
use crate::os::syscall;
use crate::serial::Serial;
use core::ffi::{c_char, c_int};
use libc::{sockaddr, sockaddr_storage, socklen_t};
use raddle_protocol::hash::Fnv1a;

struct World {
    /// Hashes of the names that sockets of this process have or had.
    names: Table<()>,
    /// Hashes of device and inode of directories that only this process knows.
    directories: Table<()>,
    /// The next port that is given to who asks for any.
    next_port: u16,
}

/// First port that is given: within the usual ephemeral range, away from its ends.
const FIRST_PORT: u16 = 40_000;
/// So many ports are tried.
const PORTS: u16 = 20_000;

static WORLD: Serial<World> = Serial::new(World {
    names: Table::new(),
    directories: Table::new(),
    next_port: FIRST_PORT,
});

fn world() -> &'static mut World {
    // SAFETY: the running thread; nothing below switches.
    unsafe { WORLD.get() }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hash = Fnv1a::default();
    hash.add(bytes);
    hash.finish() | 1
}

/// Family and port of an Internet name; `None` for another family.
///
/// # Safety
/// `name` points to `len` bytes.
unsafe fn port_place(name: *const sockaddr, len: socklen_t) -> Option<*mut u16> {
    if (len as usize) < size_of::<libc::sockaddr_in>() {
        return None;
    }
    // SAFETY: long enough; both families have the port in the same place.
    unsafe {
        match c_int::from((*name).sa_family) {
            libc::AF_INET | libc::AF_INET6 => {
                Some((&raw const (*name.cast::<libc::sockaddr_in>()).sin_port).cast_mut())
            }
            _ => None,
        }
    }
}

/// The port in a name.
///
/// # Safety
/// As [`port_place`].
pub unsafe fn port(name: *const sockaddr, len: socklen_t) -> Option<u16> {
    // SAFETY: passed on; the place need not be aligned.
    unsafe { port_place(name, len).map(|place| u16::from_be(place.read_unaligned())) }
}

/// Binds to the next free port of ours instead of any.
///
/// # Safety
/// As `bind`; the name is an Internet one.
pub unsafe fn bind_stably(fd: c_int, name: *const sockaddr, len: socklen_t) -> isize {
    let mut result = -(libc::EINVAL as isize);
    // SAFETY: the name is copied, as far as there is room for any.
    unsafe {
        let mut copy: sockaddr_storage = core::mem::zeroed();
        let size = (len as usize).min(size_of::<sockaddr_storage>());
        core::ptr::copy_nonoverlapping(name.cast::<u8>(), (&raw mut copy).cast(), size);
        let copied: *const sockaddr = (&raw const copy).cast();
        let Some(place) = port_place(copied, len) else {
            return sockets::bind_call(fd, name, len);
        };
        for _ in 0..PORTS {
            let w = world();
            place.write_unaligned(w.next_port.to_be());
            w.next_port = FIRST_PORT + (w.next_port + 1 - FIRST_PORT) % PORTS;
            result = sockets::bind_call(fd, copied, len);
            if result != -(libc::EADDRINUSE as isize) {
                break;
            }
        }
    }
    result
}

/// Gives a socket that is about to connect, and has no name yet, a stable port.
///
/// # Safety
/// As `connect`.
pub unsafe fn give_stable_port(fd: c_int, to: *const sockaddr, len: socklen_t) {
    // SAFETY: the caller's promise; an all-zero name is the wildcard.
    unsafe {
        if port(to, len).is_none() {
            return;
        }
        let own = raw::name_of(libc::SYS_getsockname, fd);
        if own.is_some_and(|(name, len)| port((&raw const name).cast(), len as u32) != Some(0)) {
            return;
        }
        let mut any: sockaddr_storage = core::mem::zeroed();
        any.ss_family = (*to).sa_family;
        let size = match c_int::from(any.ss_family) {
            libc::AF_INET => size_of::<libc::sockaddr_in>(),
            _ => size_of::<libc::sockaddr_in6>(),
        };
        bind_stably(fd, (&raw const any).cast(), size as socklen_t);
    }
}

/// Notes the name that `fd` has now as one of ours.
pub fn remember_name(fd: c_int) {
    if let Some(key) = name_key(libc::SYS_getsockname, fd) {
        world().names.entry(key, || ());
    }
}

/// A number for the name of a socket or its peer: of the port alone for Internet sockets, since a
/// listener may have no address of its own.
fn name_key(call: libc::c_long, fd: c_int) -> Option<u64> {
    let (name, len) = raw::name_of(call, fd)?;
    let pointer: *const sockaddr = (&raw const name).cast();
    // SAFETY: the name is as long as the kernel says.
    unsafe { key_of(pointer, len as socklen_t) }
}

unsafe fn key_of(name: *const sockaddr, len: socklen_t) -> Option<u64> {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(port) = port(name, len) {
            return Some(hash(&port.to_be_bytes()));
        }
        if (len as usize) <= size_of::<libc::sa_family_t>() {
            return None;
        }
        Some(hash(core::slice::from_raw_parts(
            name.cast::<u8>(),
            len as usize,
        )))
    }
}

/// Was the connection that `fd` is an end of made by this process?
pub fn peer_is_ours(fd: c_int) -> bool {
    if !sockets::is_network(fd) {
        return sockets::peer_is_self(fd);
    }
    sockets::own_network()
        || name_key(libc::SYS_getpeername, fd).is_some_and(|key| world().names.get(key).is_some())
            && !table::is_shared()
}

/// Does a connection to this name lead to another process?
///
/// # Safety
/// `name` points to `len` bytes.
pub unsafe fn is_foreign(fd: c_int, name: *const sockaddr, len: socklen_t) -> bool {
    if !sockets::is_network(fd) {
        return !sockets::peer_is_self(fd);
    }
    // SAFETY: the caller's promise.
    let known = unsafe { key_of(name, len) }.is_some_and(|key| world().names.get(key).is_some());
    !sockets::own_network() && (!known || table::is_shared())
}

/// Can another process find a socket by this name?
///
/// # Safety
/// `name` points to `len` bytes.
pub unsafe fn is_public(fd: c_int, name: *const sockaddr, len: socklen_t) -> bool {
    if sockets::is_network(fd) {
        return !sockets::own_network();
    }
    let path = size_of::<libc::sa_family_t>();
    if len as usize <= path {
        return false;
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { core::slice::from_raw_parts(name.cast::<u8>(), len as usize) };
    match bytes[path] {
        // An abstract name belongs to the network.
        0 => !sockets::own_network(),
        _ => {
            let end = bytes[path..].iter().position(|&b| b == 0);
            let path = &bytes[path..][..end.unwrap_or(bytes.len() - path)];
            !is_private(path)
        }
    }
}

/// Notes a directory whose name nobody else knows.
///
/// # Safety
/// `path` is a string.
pub unsafe fn remember_directory(path: *const c_char) {
    crate::start::effects::note();
    // SAFETY: the caller's promise.
    if let Some(stat) = unsafe { raw::stat_path(path) } {
        world().directories.entry(directory_key(&stat), || ());
    }
}

fn directory_key(stat: &libc::stat) -> u64 {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&stat.st_dev.to_ne_bytes());
    bytes[8..].copy_from_slice(&stat.st_ino.to_ne_bytes());
    hash(&bytes)
}

/// Does `path` lie in a directory that [`remember_directory`] noted?
pub fn is_private(path: &[u8]) -> bool {
    let mut parent = [0u8; 256];
    let len = path.iter().rposition(|&b| b == b'/').unwrap_or(0);
    if len == 0 || len >= parent.len() {
        return false;
    }
    parent[..len].copy_from_slice(&path[..len]);
    // SAFETY: the buffer ends with a NUL.
    let stat = unsafe { raw::stat_path(parent.as_ptr().cast()) };
    !table::is_shared()
        && stat.is_some_and(|stat| world().directories.get(directory_key(&stat)).is_some())
}

/// `mkfifo`: 0 or a negative errno.
///
/// # Safety
/// `path` is a string.
pub unsafe fn make_fifo(path: *const c_char, mode: libc::mode_t) -> isize {
    crate::start::effects::note();
    // SAFETY: the caller's promise.
    unsafe {
        let mode = (mode | libc::S_IFIFO) as usize;
        let result = syscall(libc::SYS_mknod, path as usize, mode, 0, 0, 0, 0);
        if result == 0
            && is_private(core::ffi::CStr::from_ptr(path).to_bytes())
            && let Some(stat) = raw::stat_path(path)
        {
            table::of_inode(&stat, raddle_protocol::descriptor::What::Fifo, false);
        }
        result
    }
}
