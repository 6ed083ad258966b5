//! futex_waitv: a wait at several words at once.

use crate::gate::{self, Interrupt, Pending, Wake};
use crate::serial::Serial;
use crate::sync::{always, check_alive, pending};
use crate::time::{self, Clock};
use libc::{EAGAIN, EINTR, EINVAL, ETIMEDOUT, timespec};
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};

/// Most words of one wait (FUTEX_WAITV_MAX), and most waits at a time.
const WORDS: usize = 128;
const MOST: usize = 64;

/// The size in records of such waits.
const SEVERAL: u8 = 1;

/// The kernel's `struct futex_waitv`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Word {
    value: u64,
    address: u64,
    flags: u32,
    reserved: u32,
}

/// FUTEX2_SIZE_U32, and with FUTEX2_PRIVATE.
const PLAIN: u32 = 2;
const PRIVATE: u32 = 128;

/// One thread that waits.
#[derive(Clone, Copy)]
struct Waiter {
    who: Slot,
    words: *const Word,
    len: usize,
    /// The word at which it was woken.
    woken: Option<usize>,
}

static WAITERS: Serial<[Option<Waiter>; MOST]> = Serial::new([None; MOST]);

fn waiters() -> &'static mut [Option<Waiter>; MOST] {
    // SAFETY: the running thread; not kept over a switch.
    unsafe { WAITERS.get() }
}

impl Waiter {
    fn place_of(&self, address: u64) -> Option<usize> {
        // SAFETY: the program's array lives as long as its call.
        let words = unsafe { core::slice::from_raw_parts(self.words, self.len) };
        words.iter().position(|w| w.address == address)
    }
}

/// Does any thread wait at several words?
pub fn anybody_waits() -> bool {
    waiters().iter().any(Option::is_some)
}

/// Wakes up to `most` threads that wait at this word among others: how many.
pub fn wake(address: u64, most: usize) -> usize {
    let mut count = 0;
    for waiter in waiters().iter_mut().flatten() {
        if count == most {
            break;
        }
        if waiter.woken.is_none()
            && let Some(place) = waiter.place_of(address)
        {
            waiter.woken = Some(place);
            count += 1;
            gate::amend(waiter.who, |p| {
                p.ready = always;
                p.deadline = 0;
            });
        }
    }
    count
}

/// The system call: the index of the word at which the thread was woken, or a negative errno.
///
/// # Safety
/// The arguments are the program's, as the kernel would take them.
pub unsafe fn wait(args: [usize; 6], pc: usize) -> isize {
    let [words, len, flags, limit, clock, _] = args;
    if len == 0 || len > WORDS || flags != 0 || words == 0 {
        return -(EINVAL as isize);
    }
    // SAFETY: the caller's promise.
    let (list, limit) = unsafe {
        (
            core::slice::from_raw_parts(words as *const Word, len),
            (limit as *const timespec).as_ref(),
        )
    };
    let known =
        |w: &Word| w.flags & !PRIVATE == PLAIN && w.reserved == 0 && w.address.is_multiple_of(4);
    let deadline = match (limit, Clock::for_waiting(clock as i32)) {
        (None, _) => Some(0),
        (Some(at), Some(clock)) => time::deadline(clock, at),
        _ => None,
    };
    let (true, Some(deadline)) = (list.iter().all(known), deadline) else {
        return -(EINVAL as isize);
    };
    let object = list[0].address;
    gate::access(Kind::FutexWait, object, SEVERAL.into(), pc);
    for word in list {
        check_alive("a futex", word.address, pc);
        // SAFETY: the program's word.
        if unsafe { (word.address as *const u32).read_volatile() } != word.value as u32 {
            gate::log_full(record(Kind::FutexWait, object, EAGAIN as u64, pc));
            return -(EAGAIN as isize);
        }
    }
    let Some(place) = waiters().iter().position(Option::is_none) else {
        gate::log_full(record(Kind::FutexWait, object, EAGAIN as u64, pc));
        return -(libc::ENOMEM as isize);
    };
    waiters()[place] = Some(Waiter {
        who: gate::me(),
        words: words as *const Word,
        len,
        woken: None,
    });
    gate::log_full(Event {
        aux: u32::from(deadline != 0),
        ..record(Kind::FutexWait, object, 0, pc)
    });
    let wake = gate::point(Pending {
        deadline,
        aux: SEVERAL.into(),
        interrupt: Interrupt::UnlessRestart,
        ..pending(Kind::FutexResume, object, pc)
    });
    let woken = waiters()[place].take().and_then(|w| w.woken);
    let (event, result) = match (woken, wake) {
        (Some(word), _) => (list[word].address, word as isize),
        (None, Wake::Interrupted) => (object, -(EINTR as isize)),
        (None, _) => (object, -(ETIMEDOUT as isize)),
    };
    let error = result.min(0).unsigned_abs() as u64;
    gate::log_full(record(Kind::FutexResume, event, error, pc));
    result
}

/// The record of an operation at several words.
fn record(kind: Kind, object: u64, value: u64, pc: usize) -> Event {
    Event {
        kind: kind as u8,
        size: SEVERAL,
        object,
        value,
        pc: pc as u64,
        ..Event::default()
    }
}
