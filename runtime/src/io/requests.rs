//! What `fcntl` and `ioctl` read and write where their last argument leads: that depends on the command. A
//! search that is to miss nothing is told of it, or that it is not known.

use super::descriptors;
use crate::gate;
use crate::gone::Memory;
use core::ffi::c_int;
use raddle_protocol::event::Kind;

/// What the argument of a command leads to, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Argument {
    /// It is no pointer.
    Number,
    Read(usize),
    Written(usize),
    /// Read, then written.
    Both(usize),
    Unknown,
}

use Argument::{Both, Number, Read, Unknown, Written};

/// The longest of these.
const MOST: usize = 64;
/// Bytes of `struct ifreq`.
const INTERFACE: usize = 40;
/// Bytes of the kernel's `struct termios`.
const TERMINAL: usize = 36;

/// Commands of Linux that the crate `libc` does not have.
pub mod linux {
    use core::ffi::c_int;

    pub const F_SETOWN_EX: c_int = 15;
    pub const F_GETOWN_EX: c_int = 16;
    pub const F_GETOWNER_UIDS: c_int = 17;
    pub const F_GETSIG: c_int = 11;
    pub const F_SETSIG: c_int = 10;
    pub const F_GET_RW_HINT: c_int = 1035;
    pub const F_SET_RW_HINT: c_int = 1036;
    pub const F_GET_FILE_RW_HINT: c_int = 1037;
    pub const F_SET_FILE_RW_HINT: c_int = 1038;
    pub const FIOSETOWN: u64 = 0x8901;
    pub const SIOCSPGRP: u64 = 0x8902;
    pub const FIOGETOWN: u64 = 0x8903;
    pub const SIOCGPGRP: u64 = 0x8904;
    pub const SIOCATMARK: u64 = 0x8905;
    pub const SIOCGSTAMP: u64 = 0x8906;
    pub const SIOCGSTAMPNS: u64 = 0x8907;
    pub const SIOCGIFCONF: u64 = 0x8912;
    /// Those of interfaces, but for [`SIOCGIFCONF`].
    pub const INTERFACES: core::ops::RangeInclusive<u64> = 0x8910..=0x8943;
}

/// What the argument leads to, in memory of ours.
#[repr(align(8))]
struct Copied([u8; MOST]);

/// What `fcntl` does with its argument.
fn of_command(command: c_int) -> Argument {
    use libc::*;
    const LOCK: usize = size_of::<flock>();
    match command {
        F_GETLK | F_OFD_GETLK => Both(LOCK),
        F_SETLK | F_SETLKW | F_OFD_SETLK | F_OFD_SETLKW => Read(LOCK),
        linux::F_SETOWN_EX | linux::F_SET_RW_HINT | linux::F_SET_FILE_RW_HINT => Read(8),
        linux::F_GETOWN_EX
        | linux::F_GETOWNER_UIDS
        | linux::F_GET_RW_HINT
        | linux::F_GET_FILE_RW_HINT => Written(8),
        F_DUPFD
        | F_DUPFD_CLOEXEC
        | F_GETFD
        | F_SETFD
        | F_GETFL
        | F_SETFL
        | F_GETOWN
        | F_SETOWN
        | linux::F_GETSIG
        | linux::F_SETSIG
        | F_GETLEASE
        | F_SETLEASE
        | F_NOTIFY
        | F_GETPIPE_SZ
        | F_SETPIPE_SZ
        | F_ADD_SEALS
        | F_GET_SEALS => Number,
        _ => Unknown,
    }
}

/// What `ioctl` does with its argument.
fn of_request(request: u64) -> Argument {
    use libc::*;
    match request {
        FIONREAD
        | TIOCOUTQ
        | TIOCGPGRP
        | TIOCGSID
        | linux::FIOGETOWN
        | linux::SIOCGPGRP
        | linux::SIOCATMARK => Written(4),
        FIONBIO | FIOASYNC | TIOCSPGRP | linux::FIOSETOWN | linux::SIOCSPGRP => Read(4),
        TIOCGWINSZ => Written(size_of::<winsize>()),
        TIOCSWINSZ => Read(size_of::<winsize>()),
        TCGETS => Written(TERMINAL),
        TCSETS | TCSETSW | TCSETSF => Read(TERMINAL),
        linux::SIOCGSTAMP | linux::SIOCGSTAMPNS => Written(16),
        linux::SIOCGIFCONF => Unknown,
        request if linux::INTERFACES.contains(&request) => Both(INTERFACE),
        FIOCLEX | FIONCLEX | TCSBRK | TCXONC | TCFLSH | TIOCEXCL | TIOCNXCL | TIOCSCTTY
        | TIOCNOTTY => Number,
        _ => Unknown,
    }
}

/// Performs a call with this argument, or with memory of ours in its place.
fn told(
    name: &'static str,
    leads: Argument,
    argument: usize,
    pc: usize,
    call: impl FnOnce(usize) -> isize,
) -> isize {
    let (reads, writes, len) = match leads {
        _ if !gate::exhaustive() || !gate::several() => return call(argument),
        Number => return call(argument),
        Unknown => {
            // No pointer leads to the first page.
            if argument >= 4096 {
                gate::uncontrolled(name);
            }
            return call(argument);
        }
        Read(len) => (true, false, len),
        Written(len) => (false, true, len),
        Both(len) => (true, true, len),
    };
    let memory = match writes {
        true => Memory::written(argument, len),
        false => Memory::read(argument, len),
    };
    if memory.is_missing() {
        return call(argument);
    }
    if reads {
        gate::access_unseen(Kind::ReadRange, argument as u64, len as u64, pc);
    }
    let mut copy = Copied([0; MOST]);
    let bytes = &mut copy.0;
    let given = argument as *mut u8;
    // SAFETY: the memory is there, as was just asked, unless others take it away, and the program's own call
    // reads it.
    unsafe { given.copy_to_nonoverlapping(bytes.as_mut_ptr(), len) };
    let result = call(bytes.as_mut_ptr() as usize);
    if writes && result >= 0 {
        gate::access_unseen(Kind::WriteRange, argument as u64, len as u64, pc);
        // SAFETY: as above.
        unsafe { given.copy_from_nonoverlapping(bytes.as_ptr(), len) };
    }
    result
}

/// `fcntl` with whatever argument.
///
/// # Safety
/// As `fcntl`.
pub unsafe fn fcntl(fd: c_int, command: c_int, argument: usize, pc: usize) -> isize {
    const NAME: &str = "what fcntl reads and writes where its argument leads";
    told(NAME, of_command(command), argument, pc, |argument| {
        // SAFETY: the caller's promise; memory of the same size.
        unsafe { descriptors::control(fd, command, argument, pc) }
    })
}

/// `ioctl` with whatever argument.
///
/// # Safety
/// As `ioctl`.
pub unsafe fn ioctl(fd: c_int, request: usize, argument: usize, pc: usize) -> isize {
    const NAME: &str = "what ioctl reads and writes where its argument leads";
    // The kernel looks at 32 bits.
    let leads = of_request(request as u64 & 0xffff_ffff);
    told(NAME, leads, argument, pc, |argument| {
        // SAFETY: as above.
        unsafe { descriptors::ask(fd, request, argument, pc) }
    })
}
