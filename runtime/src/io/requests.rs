//! What `fcntl`, `ioctl`, `msgctl`, `semctl` and `shmctl` read and write where their last argument leads: that
//! depends on the command. A search that is to miss nothing is told of it, or that it is not known; and
//! whoever looks for races, of what is accessed for sure.

use super::descriptors;
use crate::access::{range_read, range_write};
use crate::gone::{self, Memory};
use crate::{gate, gate::hooked::tells, numbers, os, vars};
use core::ffi::{c_int, c_void};
use core::mem::offset_of;
use libc::{msqid_ds, shmid_ds};
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
const MOST: usize = 128;
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
    pub const MSG_STAT: c_int = 11;
    pub const MSG_INFO: c_int = 12;
    pub const MSG_STAT_ANY: c_int = 13;
    pub const SHM_STAT: c_int = 13;
    pub const SHM_INFO: c_int = 14;
    pub const SHM_STAT_ANY: c_int = 15;
    pub const SEM_STAT: c_int = 18;
    pub const SEM_INFO: c_int = 19;
    pub const SEM_STAT_ANY: c_int = 20;
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

/// What is told of a queue of messages.
const QUEUE: Argument = Written(size_of::<libc::msqid_ds>());
/// The same of a segment of memory.
const SEGMENT: Argument = Written(size_of::<libc::shmid_ds>());

/// The call has written there: the numbers of processes, so far in, become those that the program sees.
///
/// # Safety
/// There are numbers.
unsafe fn show(at: usize, places: [usize; 2]) {
    for place in places {
        let number = (at + place) as *mut libc::pid_t;
        // SAFETY: the caller's promise.
        unsafe { number.write_unaligned(numbers::shown(number.read_unaligned())) };
    }
}

/// What `msgctl` does with its argument.
fn of_messages(command: c_int) -> Argument {
    use linux::{MSG_INFO, MSG_STAT, MSG_STAT_ANY};
    match command {
        libc::IPC_STAT | MSG_STAT | MSG_STAT_ANY => QUEUE,
        libc::IPC_SET => Read(size_of::<libc::msqid_ds>()),
        libc::IPC_INFO | MSG_INFO => Written(32),
        libc::IPC_RMID => Number,
        _ => Unknown,
    }
}

/// What `shmctl` does with its argument.
fn of_shared_memory(command: c_int) -> Argument {
    use linux::{SHM_INFO, SHM_STAT, SHM_STAT_ANY};
    match command {
        libc::IPC_STAT | SHM_STAT | SHM_STAT_ANY => SEGMENT,
        libc::IPC_SET => Read(size_of::<libc::shmid_ds>()),
        libc::IPC_INFO => Written(72),
        SHM_INFO => Written(48),
        libc::IPC_RMID | libc::SHM_LOCK | libc::SHM_UNLOCK => Number,
        _ => Unknown,
    }
}

/// What `semctl` does with its argument, with a set of so many semaphores.
fn of_semaphores(command: c_int, count: impl FnOnce() -> usize) -> Argument {
    use linux::{SEM_INFO, SEM_STAT, SEM_STAT_ANY};
    const STATE: usize = size_of::<libc::semid_ds>();
    let all = || Some(2 * count()).filter(|&bytes| bytes <= MOST);
    match command {
        libc::IPC_STAT | SEM_STAT | SEM_STAT_ANY => Written(STATE),
        libc::IPC_SET => Read(STATE),
        libc::GETALL => all().map_or(Unknown, Written),
        libc::SETALL => all().map_or(Unknown, Read),
        libc::IPC_INFO | SEM_INFO => Written(40),
        libc::IPC_RMID
        | libc::GETPID
        | libc::GETVAL
        | libc::GETNCNT
        | libc::GETZCNT
        | libc::SETVAL => Number,
        _ => Unknown,
    }
}

/// How many semaphores are in a set; 0: nobody knows.
fn semaphores_in(id: c_int) -> usize {
    // SAFETY: plain data.
    let mut state: libc::semid_ds = unsafe { core::mem::zeroed() };
    let (id, stat, at) = (
        id as usize,
        libc::IPC_STAT as usize,
        &raw mut state as usize,
    );
    // SAFETY: a structure of this kind.
    match unsafe { os::syscall(libc::SYS_semctl, id, 0, stat, at, 0, 0) } {
        0 => state.sem_nsems as usize,
        _ => 0,
    }
}

/// Performs a call with this argument, or with memory of ours in its place. `sure`: what it is to read, it
/// reads in any case.
fn told(
    name: &'static str,
    leads: Argument,
    sure: bool,
    argument: usize,
    pc: usize,
    call: impl FnOnce(usize) -> isize,
) -> isize {
    let exhaustive = gate::exhaustive();
    let (reads, writes, len) = match leads {
        _ if !gate::several() => return call(argument),
        Number => return call(argument),
        Unknown => {
            // No pointer leads to the first page.
            if exhaustive && argument >= 4096 {
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
    let given = argument as *mut u8;
    let (place, bytes) = (given.cast::<c_void>(), len as u64);
    // Symbolic runs have other records of accesses; of code without hooks it is not known what keeps its
    // accesses in order.
    // What lies on the caller's own stack seldom is for others, and a loop that waits by such calls would
    // change memory each time.
    let own = raddle_protocol::stack::slot_of(argument as u64) == Some(gate::me());
    let exact = !vars::symbolic() && !own && tells(pc);
    match reads {
        // SAFETY: the memory is there, as was just asked, and the program's own call reads it.
        true if exact && sure => unsafe { range_read(place, bytes, pc) },
        true if exhaustive => gate::access_unseen(Kind::ReadRange, argument as u64, bytes, pc),
        _ => {}
    }
    let mut copy = Copied([0; MOST]);
    let copied = &mut copy.0;
    if !gone::try_read(argument, &mut copied[..len]) {
        // Others have taken it away meanwhile.
        return call(argument);
    }
    let result = call(copied.as_mut_ptr() as usize);
    if writes && result >= 0 {
        match exact {
            // SAFETY: as above, it writes it.
            true => unsafe { range_write(place, bytes, pc) },
            false if !exhaustive => {}
            false => gate::access_unseen(Kind::WriteRange, argument as u64, bytes, pc),
        }
        if !Memory::written(argument, len).is_gone() {
            // SAFETY: as above.
            unsafe { given.copy_from_nonoverlapping(copied.as_ptr(), len) };
        }
    }
    result
}

fn is_open(fd: c_int) -> bool {
    // SAFETY: a question about a number.
    unsafe {
        os::syscall(
            libc::SYS_fcntl,
            fd as usize,
            libc::F_GETFD as usize,
            0,
            0,
            0,
            0,
        ) >= 0
    }
}

/// `fcntl` with whatever argument.
///
/// # Safety
/// As `fcntl`.
pub unsafe fn fcntl(fd: c_int, command: c_int, argument: usize, pc: usize) -> isize {
    const NAME: &str = "what fcntl reads and writes where its argument leads";
    let leads = of_command(command);
    told(NAME, leads, is_open(fd), argument, pc, |argument| {
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
    let sure = [libc::FIONBIO, libc::FIOASYNC].contains(&(request as u64)) && is_open(fd);
    told(NAME, leads, sure, argument, pc, |argument| {
        // SAFETY: as above.
        unsafe { descriptors::ask(fd, request, argument, pc) }
    })
}

/// Performs `msgctl` by `call`, with whatever argument.
pub fn messages(
    command: c_int,
    argument: usize,
    pc: usize,
    call: impl FnOnce(usize) -> isize,
) -> isize {
    const NAME: &str = "what msgctl reads and writes where its argument leads";
    told(NAME, of_messages(command), true, argument, pc, |at| {
        let result = call(at);
        if of_messages(command) == QUEUE && result >= 0 {
            let places = [
                offset_of!(msqid_ds, msg_lspid),
                offset_of!(msqid_ds, msg_lrpid),
            ];
            // SAFETY: the call has succeeded.
            unsafe { show(at, places) };
        }
        result
    })
}

/// The same of `semctl`.
pub fn semaphores(
    id: c_int,
    command: c_int,
    argument: usize,
    pc: usize,
    call: impl FnOnce(usize) -> isize,
) -> isize {
    const NAME: &str = "what semctl reads and writes where its argument leads";
    let leads = of_semaphores(command, || semaphores_in(id));
    told(NAME, leads, command == libc::IPC_SET, argument, pc, call)
}

/// The same of `shmctl`.
pub fn shared_memory(
    command: c_int,
    argument: usize,
    pc: usize,
    call: impl FnOnce(usize) -> isize,
) -> isize {
    const NAME: &str = "what shmctl reads and writes where its argument leads";
    told(NAME, of_shared_memory(command), true, argument, pc, |at| {
        let result = call(at);
        if of_shared_memory(command) == SEGMENT && result >= 0 {
            let places = [
                offset_of!(shmid_ds, shm_cpid),
                offset_of!(shmid_ds, shm_lpid),
            ];
            // SAFETY: the call has succeeded.
            unsafe { show(at, places) };
        }
        result
    })
}
