//! The state of the running thread as far as it decides what the thread does next.

use super::foreign::{DEEPEST, Foreign};
use super::hooked::tells;
use super::{LoopState, Seen};
use crate::serial::Serial;
use core::ffi::{c_int, c_void};

/// Larger stacks are not looked for.
const FARTHEST: usize = 1 << 30;
/// Frames of ours between the program and here, at most; and their bytes.
const FRAMES: usize = 24;
const OURS: usize = 16 << 10;
/// DWARF numbers of rbx, rbp, r12 to r15: what survives a call.
const SURVIVORS: [c_int; 6] = [3, 6, 12, 13, 14, 15];

#[repr(C)]
struct Context {
    private: [u8; 0],
}

unsafe extern "C" {
    fn _Unwind_Backtrace(
        each: extern "C" fn(*mut Context, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut Context) -> usize;
    fn _Unwind_GetGR(context: *mut Context, register: c_int) -> usize;
    fn _Unwind_GetCFA(context: *mut Context) -> usize;
    static __libc_stack_end: *const u8;
}

struct Search {
    pc: usize,
    frames: usize,
    found: Option<LoopState>,
}

extern "C" fn each(context: *mut Context, argument: *mut c_void) -> c_int {
    const GO_ON: c_int = 0;
    const STOP: c_int = 4;
    // SAFETY: the unwinder passes its context and the search below.
    unsafe {
        let search = &mut *argument.cast::<Search>();
        search.frames += 1;
        if _Unwind_GetIP(context) != search.pc {
            return if search.frames < FRAMES { GO_ON } else { STOP };
        }
        search.found = Some(LoopState {
            registers: SURVIVORS.map(|n| _Unwind_GetGR(context, n) as u64),
            stack_pointer: _Unwind_GetCFA(context) as u64,
            stack_end: 0,
            content: 0,
            tells: tells(search.pc),
        });
        STOP
    }
}

/// Memory of a thread that goes round a loop, as far as it counts as something else than it is now.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// What the thread saw in this iteration (the later entries count).
    pub seen: &'a [Seen],
    /// Words of its stack that others have written since the loop began: only what it saw of them
    /// counts.
    pub foreign: &'a Foreign,
}

/// The state in which the caller's caller, which called us at `pc`, will go on; `None` if that
/// cannot be told for sure. Costs some microseconds.
pub fn capture(pc: usize, known: Known) -> Option<LoopState> {
    let mut search = Search {
        pc,
        frames: 0,
        found: None,
    };
    // SAFETY: the function takes what it is given here.
    unsafe { _Unwind_Backtrace(each, (&raw mut search).cast()) };
    let mut state = search.found?;
    let from = state.stack_pointer as usize;
    // The frame that the unwinder found is the one that called us.
    let here = (&raw const search) as usize;
    if from < here || from - here > OURS || !from.is_multiple_of(8) {
        return None;
    }
    // SAFETY: between here and the frame lies our own stack.
    let return_address = unsafe { ((from - 8) as *const usize).read() };
    // SAFETY: asks for the caller's own descriptor; the C library's variable.
    let (descriptor, end) = unsafe { (libc::pthread_self() as usize, __libc_stack_end as usize) };
    let ends = [descriptor, end].into_iter();
    // On other stacks than main's the thread-local storage lies above, below the descriptor.
    let end = ends
        .filter(|&end| from < end && end - from < FARTHEST)
        .min()?;
    if return_address != pc || end - from > DEEPEST {
        return None;
    }
    state.stack_end = end as u64 & !7;
    state.content = content(from, end, known);
    if end != descriptor {
        let storage = descriptor - thread_local_bytes();
        let own = Known {
            foreign: &Foreign::EMPTY,
            ..known
        };
        state.content = state
            .content
            .wrapping_add(content(storage, descriptor, own));
    }
    Some(state)
}

impl LoopState {
    /// The word at `at` does not count any more, except for what was `seen` of it.
    pub(super) fn forget(&mut self, at: u64, seen: &[Seen]) {
        if !(self.stack_pointer..self.stack_end).contains(&at) {
            return;
        }
        // SAFETY: a word of the thread's stack, which was looked at before.
        let word = unsafe { (at as *const u64).read_volatile() };
        let [was, is] = [word, 0].map(|word| mixed(at as usize, word, seen));
        self.content = self.content.wrapping_sub(was).wrapping_add(is);
    }
}

/// Bytes of the thread-local variables of all modules that were there at the first call. Main's
/// lie in one piece below its descriptor, which others of the C library's own follow downwards.
fn thread_local_bytes() -> usize {
    unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _: usize, sum: *mut c_void) -> c_int {
        // SAFETY: the dynamic linker passes a valid entry, the caller a number.
        unsafe {
            let (info, sum) = (&*info, &mut *sum.cast::<usize>());
            let headers = core::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
            let storage = headers.iter().filter(|h| h.p_type == libc::PT_TLS);
            *sum += storage.map(|h| h.p_memsz as usize).sum::<usize>();
        }
        0
    }
    static BYTES: Serial<usize> = Serial::new(usize::MAX);
    // SAFETY: the running thread; the function writes to the variable.
    unsafe {
        let bytes = BYTES.get();
        if *bytes == usize::MAX {
            *bytes = 0;
            crate::process::loader::visit(Some(add), (&raw mut *bytes).cast());
            *bytes &= !7;
        }
        *bytes
    }
}

/// A sum over the words of `from..end`, so that single ones can be taken out.
fn content(from: usize, end: usize, known: Known) -> u64 {
    let within = |s: &Seen| (from as u64..end as u64).contains(&s.at);
    let seen = match known.seen.iter().any(within) {
        true => known.seen,
        false => &[],
    };
    let words = (from..end & !7).step_by(8);
    words.fold(0, |sum: u64, at| {
        let word = match known.foreign.contains(at as u64) {
            true => 0,
            // SAFETY: the thread's own memory.
            false => unsafe { (at as *const u64).read_volatile() },
        };
        sum.wrapping_add(mixed(at, word, seen))
    })
}

/// What the word at this address adds, with what was `seen` in its place (Steele, Lea and Flood,
/// Fast Splittable Pseudorandom Number Generators, OOPSLA 2014: the finalizer).
fn mixed(at: usize, word: u64, seen: &[Seen]) -> u64 {
    let word = seen.iter().fold(word, |word, seen| with(word, at, seen));
    let mut hash = word ^ (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// The `word` at this address with the bytes that were `seen` there.
fn with(word: u64, at: usize, seen: &Seen) -> u64 {
    let mut bytes = word.to_le_bytes();
    let size = (seen.size as usize).min(size_of::<u64>());
    for (n, &byte) in seen.value.to_le_bytes()[..size].iter().enumerate() {
        let place = (seen.at as usize + n).wrapping_sub(at);
        if let Some(old) = bytes.get_mut(place) {
            *old = byte;
        }
    }
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was seen of a word counts, whatever it is now; of a word that another thread has written
    /// since, nothing else does.
    #[test]
    fn what_others_write_is_no_matter() {
        let mut memory = [1u64, 2, 3];
        let from = (&raw const memory) as usize;
        let end = from + size_of_val(&memory);
        let seen = |at: usize, size, value| Seen {
            at: (from + at) as u64,
            size,
            value,
        };
        // The word that is written, what was seen before and after, is it the same state? First
        // where the word just changes, then where it is known that another thread writes it.
        let table = [
            (8, vec![seen(8, 8, 2)], true, true),
            (8, vec![seen(8, 4, 2)], true, true),
            (8, vec![seen(0, 8, 1), seen(8, 1, 2)], true, true),
            // What was not seen counts as it is now; so does what was seen as something else.
            (16, vec![seen(8, 8, 2)], false, true),
            (8, vec![seen(8, 8, 7)], false, false),
            // A word that two words hold.
            (8, vec![seen(6, 4, 2 << 16)], true, true),
            (8, vec![seen(1000, 8, 2)], false, true),
        ];
        for (n, (at, seen, same, same_foreign)) in table.into_iter().enumerate() {
            let mut foreign = Foreign::EMPTY;
            let look = |seen: &[Seen], foreign: &Foreign| LoopState {
                stack_pointer: from as u64,
                stack_end: end as u64,
                content: content(from, end, Known { seen, foreign }),
                ..LoopState::default()
            };
            let saw_later = seen.iter().any(|s| s.value == 7);
            let before: &[Seen] = if saw_later { &[] } else { &seen };
            let first = look(before, &foreign);
            let mut forgotten = first;
            forgotten.forget((from + at) as u64, before);
            let old = memory[at / 8];
            // SAFETY: within the array.
            let mut write = |value| unsafe {
                let memory = (&raw mut memory).cast::<u64>();
                memory.add(at / 8).write_volatile(value);
            };
            write(9);
            assert_eq!(look(&seen, &foreign) == first, same, "row {n}");
            assert!(foreign.add((from + at) as u64), "row {n}");
            assert_eq!(look(&seen, &foreign) == forgotten, same_foreign, "row {n}");
            write(old);
        }
    }
}
