//! A network of the target's own: loopback only, so that no two executions, and nobody else, get
//! in each other's way at a port.

use super::namespaces;
use crate::os::{self, syscall};
use crate::serial::Serial;
use core::ffi::c_int;
use libc::CLONE_NEWNET;

static OWN: Serial<bool> = Serial::new(false);

/// Is the process in a network of its own?
pub fn is_own() -> bool {
    // SAFETY: a plain flag, written before any thread was made.
    unsafe { *OWN.get() }
}

/// Moves the process, which has one thread, into a network of its own, if the system allows it.
pub fn isolate() {
    if !namespaces::enter(CLONE_NEWNET) {
        return;
    }
    raise_loopback();
    // Connections that have ended must not keep the next execution from their ports.
    namespaces::write(c"/proc/sys/net/ipv4/tcp_max_tw_buckets", b"0");
    // SAFETY: a plain flag.
    unsafe { *OWN.get() = true };
}

/// Switches the loopback device on.
fn raise_loopback() {
    // SAFETY: the structure is as large as the kernel's, the name ends with a NUL.
    unsafe {
        let (family, kind) = (libc::AF_INET as usize, libc::SOCK_DGRAM as usize);
        let fd = syscall(libc::SYS_socket, family, kind, 0, 0, 0, 0);
        if fd < 0 {
            return;
        }
        let mut request: libc::ifreq = core::mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
            *to = *from as _;
        }
        for call in [libc::SIOCGIFFLAGS, libc::SIOCSIFFLAGS] {
            let at = &raw mut request as usize;
            syscall(libc::SYS_ioctl, fd as usize, call as usize, at, 0, 0, 0);
            request.ifr_ifru.ifru_flags |= libc::IFF_UP as i16;
        }
        os::close(fd as c_int);
    }
}
