//! Locks of files: flock, and locks of open file descriptions. POSIX record locks belong to the
//! process, so its threads never wait for each other there; they wait for other processes.

use super::raw;
use super::table::{self, Object};
use super::wait::{Condition, Operation, Waiting};
use crate::gate;
use crate::objects::Table;
use crate::os::syscall;
use crate::serial::Serial;
use core::ffi::c_int;
use raddle_protocol::descriptor::What;
use raddle_protocol::event::Kind;
use raddle_protocol::{Slot, slot};

/// Who holds the locks of one family on a file, how many there are, and where the last was taken.
#[derive(Clone, Copy)]
struct Held {
    /// `slot::NONE` where there were several at once: which of them was given back is not known.
    by: Slot,
    pc: usize,
    count: u32,
}

/// Locks of one family are not in the way of the other's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    /// `flock`.
    Whole,
    /// `fcntl`, of open file descriptions.
    Description,
    /// `fcntl`, of the process.
    Process,
}

static HELD: Serial<Table<Held>> = Serial::new(Table::new());

fn held() -> &'static mut Table<Held> {
    // SAFETY: the running thread; nothing below switches.
    unsafe { HELD.get() }
}

fn key(object: u64, family: Family) -> u64 {
    object << 3 | 1 << 2 | family as u64
}

/// The object for the lock of the file behind `fd`.
fn object_of(fd: c_int) -> Option<Object> {
    Some(table::of_inode(&raw::stat(fd)?, What::File, false))
}

/// Announces until `attempt` gets the lock.
fn acquire(
    fd: c_int,
    object: &Object,
    family: Family,
    pc: usize,
    mut attempt: impl FnMut() -> isize,
) -> isize {
    let operation = Operation {
        cancellable: family != Family::Whole,
        ..Operation::on(Kind::FileLock, fd, object, pc)
    };
    let mut waiting = Waiting::new(Condition::Change, false);
    loop {
        operation.arrive(&mut waiting);
        let result = attempt();
        if !matches!(-result as c_int, libc::EAGAIN | libc::EACCES) {
            operation.conclude(result);
            return result;
        }
        // Nobody here has it: then somebody outside does.
        let by = held()
            .get(key(object.number, family))
            .filter(|h| h.count > 0)
            .copied();
        waiting = Waiting::new(Condition::Change, by.is_none()).after_attempt();
        waiting.holder = by.map_or(waiting.holder, |h| (h.by, h.pc));
        operation.log_in_vain();
    }
}

/// `flock`.
pub fn whole(fd: c_int, operation: c_int, pc: usize) -> isize {
    // SAFETY: numbers only.
    let call =
        |how: c_int| unsafe { syscall(libc::SYS_flock, fd as usize, how as usize, 0, 0, 0, 0) };
    let Some(object) = object_of(fd) else {
        return call(operation);
    };
    if operation & !libc::LOCK_NB == libc::LOCK_UN {
        let release = Operation::on(Kind::FileUnlock, fd, &object, pc);
        return release.at_once(|| {
            released(&object, Family::Whole);
            call(operation)
        });
    }
    let result = if operation & libc::LOCK_NB != 0 {
        Operation::on(Kind::FileLock, fd, &object, pc).at_once(|| call(operation))
    } else {
        acquire(fd, &object, Family::Whole, pc, || {
            call(operation | libc::LOCK_NB)
        })
    };
    if result == 0 {
        taken(&object, Family::Whole, pc);
    }
    result
}

fn taken(object: &Object, family: Family, pc: usize) {
    let by = gate::me();
    let held = held().entry(key(object.number, family), || Held { by, pc, count: 0 });
    *held = Held {
        by: if held.count == 0 { by } else { slot::NONE },
        pc,
        count: held.count + 1,
    };
}

fn released(object: &Object, family: Family) {
    if let Some(held) = held().get(key(object.number, family)) {
        held.count = held.count.saturating_sub(1);
    }
}

/// `fcntl` with a command that locks.
///
/// # Safety
/// `lock` is the program's.
pub unsafe fn record_lock(fd: c_int, command: c_int, lock: *mut libc::flock, pc: usize) -> isize {
    let call = |command: c_int| {
        // SAFETY: the caller's promise.
        unsafe {
            syscall(
                libc::SYS_fcntl,
                fd as usize,
                command as usize,
                lock as usize,
                0,
                0,
                0,
            )
        }
    };
    let Some(object) = object_of(fd).filter(|_| !lock.is_null()) else {
        return call(command);
    };
    let (quiet, family) = match command {
        libc::F_SETLKW => (libc::F_SETLK, Family::Process),
        libc::F_OFD_SETLKW | libc::F_OFD_SETLK => (libc::F_OFD_SETLK, Family::Description),
        _ => (command, Family::Process),
    };
    // SAFETY: as above.
    if c_int::from(unsafe { (*lock).l_type }) == libc::F_UNLCK {
        let release = Operation::on(Kind::FileUnlock, fd, &object, pc);
        return release.at_once(|| {
            released(&object, family);
            call(command)
        });
    }
    let result = match command {
        libc::F_OFD_SETLK => {
            Operation::on(Kind::FileLock, fd, &object, pc).at_once(|| call(command))
        }
        _ => acquire(fd, &object, family, pc, || call(quiet)),
    };
    if result == 0 && family == Family::Description {
        taken(&object, family, pc);
    }
    result
}

/// Closes a descriptor of a file that never blocks; where it was locked before, locks may go with it.
pub fn close(fd: c_int, pc: usize, call: impl FnOnce() -> isize) -> isize {
    let locked = raw::stat(fd)
        .filter(|stat| stat.st_mode & libc::S_IFMT == libc::S_IFREG)
        .and_then(|stat| table::known_inode(&stat));
    match locked {
        Some(object) => {
            let operation = Operation {
                cancellable: false,
                ..Operation::on(Kind::Close, fd, &object, pc)
            };
            // Whether a lock goes with it only the kernel knows: who waits will try. The count
            // may stay too high, which makes a foreign holder pass for one of ours.
            operation.at_once(call)
        }
        None => call(),
    }
}
