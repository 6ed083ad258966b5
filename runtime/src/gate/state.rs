//! The state of the running thread as far as it decides what the thread does next.

use super::{LoopState, Seen};
use crate::serial::Serial;
use core::ffi::{c_int, c_void};

/// Deeper stacks are not compared.
const DEEPEST: usize = 256 << 10;
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
            content: 0,
        });
        STOP
    }
}

/// The state in which the caller's caller, which called us at `pc`, will go on, with memory that is
/// `known` as it was then; `None` if that cannot be told for sure. Costs some microseconds.
pub fn capture(pc: usize, known: [&[Seen]; 2]) -> Option<LoopState> {
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
    state.content = hash(from, end, 0, known);
    if end != descriptor {
        let storage = descriptor - thread_local_bytes();
        state.content = hash(storage, descriptor, state.content, known);
    }
    Some(state)
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
            libc::dl_iterate_phdr(Some(add), (&raw mut *bytes).cast());
            *bytes &= !7;
        }
        *bytes
    }
}

/// FNV-1a by words of `from..end`, with what is `known` in its place.
fn hash(from: usize, end: usize, seed: u64, known: [&[Seen]; 2]) -> u64 {
    let within = |s: &Seen| (from as u64..end as u64).contains(&s.at);
    let relevant = |list: &'_ [Seen]| list.iter().any(within);
    let known = known.map(|list| if relevant(list) { list } else { &[] });
    (from..end & !7)
        .step_by(8)
        .fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, at| {
            // SAFETY: the thread's own memory.
            let word = unsafe { (at as *const u64).read_volatile() };
            let all = known.into_iter().flatten();
            let word = all.fold(word, |word, seen| with(word, at, seen));
            (hash ^ word)
                .wrapping_mul(0x0000_0100_0000_01b3)
                .rotate_left(23)
        })
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

    #[test]
    fn what_is_known_is_hashed_as_it_was() {
        let mut memory = [1u64, 2, 3];
        let from = (&raw const memory) as usize;
        let end = from + size_of_val(&memory);
        let seen = |at: usize, size, value| Seen {
            at: (from + at) as u64,
            size,
            value,
        };
        let before = hash(from, end, 0, [&[], &[]]);
        let table = [
            (8, vec![seen(8, 8, 2)], true),
            (8, vec![seen(8, 4, 2)], true),
            (8, vec![seen(0, 8, 1), seen(8, 1, 2)], true),
            // What was not seen counts as it is now; so does what was seen as something else.
            (16, vec![seen(8, 8, 2)], false),
            (8, vec![seen(8, 8, 7)], false),
            // A word that two words hold.
            (8, vec![seen(6, 4, 2 << 16)], true),
            (8, vec![seen(1000, 8, 2)], false),
        ];
        for (n, (at, seen, same)) in table.into_iter().enumerate() {
            let old = memory[at / 8];
            // SAFETY: within the array.
            unsafe {
                (&raw mut memory)
                    .cast::<u64>()
                    .add(at / 8)
                    .write_volatile(9)
            };
            for known in [[&seen[..], &[]], [&[], &seen[..]]] {
                assert_eq!(hash(from, end, 0, known) == before, same, "row {n}");
            }
            // SAFETY: as above.
            unsafe {
                (&raw mut memory)
                    .cast::<u64>()
                    .add(at / 8)
                    .write_volatile(old)
            };
        }
    }
}
