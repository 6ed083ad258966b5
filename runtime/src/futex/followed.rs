//! Futexes in symbolic runs. A wait is what the kernel does: with a lock for each word it compares the
//! word, and if that is as expected, waits for a condition of that word, which gives the lock up; who
//! wakes holds the lock, too. So the formula knows waits and wakes as it knows those of condition
//! variables, and decides whether the word is as expected.
//!
//! Waits with bits of their own, at several words, requeues and wakes that also change a word are
//! not followed. They go the way of other runs, and so does what meets them: who is moved to another word
//! by a requeue waits there as in other runs.

use super::{Operation, Request};
use crate::gate;
use crate::serial::Serial;
use crate::shadow::one_body;
use crate::sync::{check_alive, cond, mutex};
use core::ffi::c_int;
use libc::{EAGAIN, PTHREAD_COND_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, SYS_futex};
use libc::{pthread_cond_t, pthread_mutex_t};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::{Slot, slot};

/// Words that are used as futexes, at most.
const MOST: usize = 512;

/// What stands for a word.
#[repr(C)]
struct Futex {
    word: u64,
    lock: pthread_mutex_t,
    queue: pthread_cond_t,
}

static ALL: Serial<[Futex; MOST]> = Serial::new(
    [const {
        Futex {
            word: 0,
            lock: PTHREAD_MUTEX_INITIALIZER,
            queue: PTHREAD_COND_INITIALIZER,
        }
    }; MOST],
);

/// The place of a word is the same in all executions.
fn place(word: u64) -> usize {
    (word / 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> 48 & (MOST - 1)
}

/// What stands for this word; `None`: another one has its place, which is said.
fn of(word: u64, pc: usize) -> Option<(*mut pthread_mutex_t, *mut pthread_cond_t)> {
    // SAFETY: the running thread; the reference is not kept.
    let futex = unsafe { &mut ALL.get()[place(word)] };
    let (lock, queue) = (&raw mut futex.lock, &raw mut futex.queue);
    if futex.word == 0 {
        futex.word = word;
        gate::log_full(Event {
            kind: Kind::Futex as u8,
            object: lock as u64,
            aux: size_of::<Futex>() as u32,
            value: word,
            pc: pc as u64,
            ..Event::default()
        });
    }
    if futex.word != word {
        gate::uncontrolled("very many words that are futexes");
        return None;
    }
    Some((lock, queue))
}

/// Waits while the word is `expected`: 0 or a negative errno; `None`: that cannot be followed.
///
/// # Safety
/// It is the address of a word.
pub unsafe fn wait(address: *const u32, expected: u32, deadline: u64, pc: usize) -> Option<c_int> {
    let word = address as u64;
    let (lock, queue) = of(word, pc)?;
    check_alive("a futex", word, pc);
    // SAFETY: the lock and the queue are ours and stay.
    unsafe {
        mutex::lock(lock, Kind::MutexLock, 0, pc);
        let result = match one_body::is(word, size_of::<u32>() as u32, expected.into(), pc) {
            true => cond::wait_through(queue, lock, deadline, pc),
            false => EAGAIN,
        };
        mutex::unlock(lock, pc);
        match (result, core::mem::take(moved_to(gate::me()))) {
            (0, target @ 1..) => Some(super::stay(target, u32::MAX, deadline, pc)),
            _ => Some(-result),
        }
    }
}

/// Wakes up to `most`: how many; `None`: that cannot be followed.
pub fn wake(address: *const u32, most: usize, pc: usize) -> Option<usize> {
    let (lock, queue) = of(address as u64, pc)?;
    // SAFETY: as in `wait`.
    unsafe { mutex::lock(lock, Kind::MutexLock, 0, pc) };
    // Whose time runs out before the step that would wake it is not woken. How many steps there are must not
    // depend on how many wait.
    let woken = match most {
        0..slot::COUNT => (0..most).filter_map(|_| cond::wake_one(queue, pc)).count(),
        _ => cond::wake_all(queue, pc),
    };
    // SAFETY: as above.
    unsafe { mutex::unlock(lock, pc) };
    Some(woken)
}

/// By thread: the word to which a requeue has moved it, until it waits there or is woken there.
static MOVED: Serial<[u64; slot::COUNT]> = Serial::new([0; slot::COUNT]);

/// Not to be kept over a switch.
fn moved_to(who: Slot) -> &'static mut u64 {
    // SAFETY: the running thread.
    unsafe { &mut MOVED.get()[usize::from(who)] }
}

/// Those that were moved to this word and do not wait there yet.
fn moved(word: u64) -> impl Iterator<Item = Slot> {
    gate::alive_threads().filter(move |&who| *moved_to(who) == word)
}

/// Was anybody moved to this word who does not wait there yet?
pub fn any_moved(word: u64) -> bool {
    crate::vars::symbolic() && moved(word).next().is_some()
}

/// May anybody wait at this word, or be about to, in a wait that is followed?
fn is_used(address: *const u32) -> bool {
    let word = address as u64;
    // SAFETY: the running thread; the reference is not kept.
    crate::vars::symbolic() && unsafe { ALL.get()[place(word)].word == word }
}

/// Beside a wake that is not followed: wakes up to `most` of those whose waits at this word are, or who were
/// moved there: how many.
pub fn wake_besides(address: *const u32, most: usize, pc: usize) -> usize {
    let mut woken = 0;
    while woken < most
        && crate::vars::symbolic()
        && let Some(who) = moved(address as u64).next()
    {
        *moved_to(who) = 0;
        woken += 1;
    }
    if woken < most && is_used(address) {
        woken += wake(address, most - woken, pc).unwrap_or(0);
    }
    woken
}

/// A requeue that is not followed moves up to `most` of those whose waits at this word are to `target`: how
/// many.
pub fn move_besides(address: *const u32, most: usize, target: u64, pc: usize) -> usize {
    if most == 0 || !is_used(address) {
        return 0;
    }
    let Some((lock, queue)) = of(address as u64, pc) else {
        return 0;
    };
    // SAFETY: as in `wait`.
    unsafe { mutex::lock(lock, Kind::MutexLock, 0, pc) };
    let mut moved = 0;
    while moved < most
        && cond::waiting(queue) > 0
        && let Some(who) = cond::wake_one(queue, pc)
    {
        *moved_to(who) = target;
        moved += 1;
    }
    // SAFETY: as above.
    unsafe { mutex::unlock(lock, pc) };
    moved
}

/// Is this a call of `syscall` that is followed? Not if the program uses how many a wake woke.
pub fn follows(arguments: &[u64], uses_result: bool) -> bool {
    let &[number, _, op, ..] = arguments else {
        return false;
    };
    let operation = Operation::of(op as c_int);
    let all_bits = !operation.bitset || arguments.get(6).is_some_and(|&b| b as u32 == u32::MAX);
    let follows = match operation.request {
        Request::Wait => all_bits,
        Request::Wake => all_bits && !uses_result,
        _ => false,
    };
    number == SYS_futex as u64 && follows
}
