//! Random numbers of the processor (rdrand, rdseed): the program gets the running thread's, as from
//! [`entropy`].
//!
//! The processor cannot be told to trap them, and bytes that look like such an instruction may be a part
//! of another one, so none is overwritten. The pages of code that hold such bytes cannot be executed.
//! A thread that comes there does one instruction after the other (the trap flag) until it leaves
//! them: so where an instruction begins is known, and those that are looked for are performed here.
//! Libraries that are linked in bring them along, mostly without use, and nobody comes there.

use crate::serial::Serial;
use crate::{entropy, gate, os};
use core::ffi::{c_int, c_void};
use libc::{REG_EFL, REG_RIP};
use raddle_protocol::shared::given;

/// The first bytes of the instruction. It is one of the group's sixth or seventh with a register.
const DRAW: [u8; 2] = [0x0f, 0xc7];
const OPERANDS: u8 = 0xf0;
/// How far behind it the carry flag, by which it says that it has a number, is asked for, if it is.
const CARRY: usize = 16;
/// Most pages that are watched.
const PAGES: usize = 32;
/// So many instructions are done one by one at most, then these pages are like others: each takes
/// some 20 microseconds.
const STEPS: u32 = 5_000;
/// Bytes of the longest instruction.
const LONGEST: usize = 15;

const NAME: &str = "random numbers of the processor (rdrand, rdseed)";

struct Watch {
    pages: [usize; PAGES],
    len: usize,
    /// There are more of them, or threads are there all the time: it is not known who draws.
    lost: bool,
    /// Those pages cannot be executed.
    closed: bool,
    /// A thread is doing one instruction after the other.
    stepping: bool,
    steps: u32,
}

static WATCH: Serial<Watch> = Serial::new(Watch {
    pages: [0; PAGES],
    len: 0,
    lost: false,
    closed: false,
    stepping: false,
    steps: 0,
});

fn page_of(address: usize) -> usize {
    address & !(os::PAGE - 1)
}

impl Watch {
    fn add(&mut self, page: usize) {
        if self.contains(page) {
            return;
        }
        match self.pages.get_mut(self.len) {
            Some(place) => {
                *place = page;
                self.len += 1;
                self.closed = false;
            }
            None => self.lost = true,
        }
    }

    fn contains(&self, address: usize) -> bool {
        self.pages[..self.len].contains(&page_of(address))
    }

    /// From here on those pages cannot be executed, or can.
    fn close(&mut self, closed: bool) {
        if self.closed == closed {
            return;
        }
        self.closed = closed;
        let access = libc::PROT_READ | if closed { 0 } else { libc::PROT_EXEC };
        for &page in &self.pages[..self.len] {
            // SAFETY: code, which nobody writes; who comes there goes on in [`noticed`].
            unsafe { os::syscall(libc::SYS_mprotect, page, os::PAGE, access as usize, 0, 0, 0) };
        }
    }
}

/// Remembers where in this code random numbers may be drawn.
pub fn look_at(code: &[u8]) {
    // SAFETY: the running thread.
    let watch = unsafe { WATCH.get() };
    each(code, |at| {
        // It may lie in two pages, with what comes before it.
        let first = code.as_ptr() as usize + at;
        watch.add(page_of((first - 2).max(code.as_ptr() as usize)));
        watch.add(page_of(first + DRAW.len()));
    });
}

/// From here on who comes to those places is noticed, if this is an execution: the mappings of the
/// process that they are cloned from say which modules there are.
pub fn watch() {
    // SAFETY: the running thread.
    let watch = unsafe { WATCH.get() };
    if gate::active() && !watch.lost && !watch.stepping && watch.len > 0 {
        watch.close(true);
    }
}

/// To be called when an execution begins.
pub fn begin() {
    watch();
    // SAFETY: the running thread.
    if unsafe { WATCH.get() }.lost {
        gate::uncontrolled(NAME);
    }
}

/// The signals that must not be blocked, as the kernel's set.
pub fn unblockable() -> u64 {
    // SAFETY: the running thread.
    match unsafe { WATCH.get() }.len {
        0 => 0,
        _ => 1 << (libc::SIGSEGV - 1) | 1 << (libc::SIGTRAP - 1),
    }
}

/// Did a thread come to such a page, or do an instruction there?
///
/// # Safety
/// `info` and `context` are those that the handler of `signal` was given.
pub unsafe fn noticed(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) -> bool {
    const SEGV_ACCERR: c_int = 2;
    const TRAP_FLAG: i64 = 1 << 8;
    // SAFETY: the running thread; the caller's promise.
    let (watch, registers, code, at) = unsafe {
        let context = &mut *context.cast::<libc::ucontext_t>();
        let at = (*info).si_addr() as usize;
        (
            WATCH.get(),
            &mut context.uc_mcontext.gregs,
            (*info).si_code,
            at,
        )
    };
    let next = registers[REG_RIP as usize] as usize;
    let comes = signal == libc::SIGSEGV
        && code == SEGV_ACCERR
        && watch.closed
        && watch.contains(at)
        && (next..next + LONGEST).contains(&at);
    let steps = signal == libc::SIGTRAP && code == libc::TRAP_TRACE && watch.stepping;
    if !comes && !steps {
        return false;
    }
    watch.steps += 1;
    if watch.steps > STEPS && !watch.lost {
        watch.lost = true;
        gate::uncontrolled(NAME);
    }
    watch.stepping = !watch.lost && (comes || watch.contains(next));
    watch.close(!watch.lost && !watch.stepping);
    if watch.stepping {
        registers[REG_EFL as usize] |= TRAP_FLAG;
        // SAFETY: the processor is about to execute what is there.
        unsafe { perform(registers) };
    } else {
        registers[REG_EFL as usize] &= !TRAP_FLAG;
    }
    true
}

/// Performs instructions for random numbers, as far as they are next.
///
/// # Safety
/// The next instruction can be executed.
unsafe fn perform(registers: &mut [i64; 23]) {
    /// Carry, parity, adjust, zero, sign, overflow.
    const FLAGS: i64 = 0x8d5;
    const HAS_NUMBER: i64 = 1;
    loop {
        let at = registers[REG_RIP as usize] as *const u8;
        // SAFETY: the caller's promise; a byte is read if those before it are the instruction's.
        let Some((len, register, size)) = decode(|n| unsafe { at.add(n).read() }) else {
            return;
        };
        if !gate::active() {
            // Nobody's number yet: the processor's.
            gate::uncontrolled(NAME);
            return;
        }
        let mut number = [0u8; 8];
        // SAFETY: the buffer is as long, and the thread is controlled.
        unsafe { entropy::fill(given::PROCESSOR, number.as_mut_ptr(), number.len()) };
        let number = i64::from_ne_bytes(number);
        let into = &mut registers[NUMBERS[register] as usize];
        *into = match size {
            8 => number,
            4 => number & 0xffff_ffff,
            _ => *into & !0xffff | number & 0xffff,
        };
        let flags = &mut registers[REG_EFL as usize];
        *flags = *flags & !FLAGS | HAS_NUMBER;
        registers[REG_RIP as usize] += len as i64;
    }
}

/// The registers in the order of the processor's encoding.
const NUMBERS: [c_int; 16] = {
    use libc::*;
    [
        REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI, REG_R8, REG_R9,
        REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
    ]
};

/// Is this an instruction for a random number? Its bytes, the number of its register, the bytes of the
/// number (Intel's manual, volume 2, RDRAND, RDSEED).
fn decode(byte: impl Fn(usize) -> u8) -> Option<(usize, usize, u32)> {
    let mut len = 0;
    let half = byte(len) == 0x66;
    len += usize::from(half);
    let mut rex = 0;
    if byte(len) & 0xf0 == 0x40 {
        rex = byte(len);
        len += 1;
    }
    for expected in DRAW {
        if byte(len) != expected {
            return None;
        }
        len += 1;
    }
    let operand = byte(len);
    let size = match (rex & 8 != 0, half) {
        (true, _) => 8,
        (_, true) => 2,
        _ => 4,
    };
    let register = usize::from(operand & 7) | usize::from(rex & 1) << 3;
    (operand >= OPERANDS).then_some((len + 1, register, size))
}

/// Calls `each` with the place of all such bytes, but for those that are where a jump or call leads.
/// (They may be another instruction's still: some 50 of the 676 MiB of code of a machine's programs.)
fn each(code: &[u8], mut each: impl FnMut(usize)) {
    let mut from = 0;
    let next = |from: usize| {
        code.get(from..)
            .and_then(|rest| super::sites::position(rest, &DRAW))
    };
    while let Some(at) = next(from) {
        let place = from + at;
        from = place + DRAW.len();
        let operand = code.get(from).is_some_and(|&byte| byte >= OPERANDS);
        let behind = &code[code.len().min(from + 1)..code.len().min(from + 1 + CARRY)];
        if operand && (asks_for_carry(behind) || !is_distance(code, place)) {
            each(place);
        }
    }
}

/// Do the bytes there look like a part of the distance of a call or jump, of four bytes? That is within
/// the code, so its highest byte is mostly 255 if it is negative.
fn is_distance(code: &[u8], place: usize) -> bool {
    let before = |n: usize| place.checked_sub(n).map(|at| code[at]);
    let jumps = |byte: Option<u8>| matches!(byte, Some(0xe8 | 0xe9));
    let prefix = matches!(before(1), Some(0x40..=0x4f | 0x66));
    jumps(before(1)) && code.get(place + 3) == Some(&0xff) || jumps(before(2)) && !prefix
}

/// Does some instruction here depend on the carry flag: jc, jnc, setc, setnc, cmovc, cmovnc; or the
/// first one, which may have a prefix: adc, sbb? (Their single bytes are found in any code.)
fn asks_for_carry(code: &[u8]) -> bool {
    let long =
        |pair: &[u8]| pair[0] == 0x0f && matches!(pair[1], 0x42 | 0x43 | 0x82 | 0x83 | 0x92 | 0x93);
    let jump = |&byte: &u8| matches!(byte, 0x72 | 0x73);
    let sum = |byte: &u8| matches!(byte, 0x10..=0x15 | 0x18..=0x1d);
    let first = match code {
        [0x40..=0x4f, rest @ ..] | rest => rest.first(),
    };
    code.iter().any(jump) || code.windows(2).any(long) || first.is_some_and(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found() {
        let places = |code: &[u8]| {
            let mut all = Vec::new();
            each(code, |at| all.push(at));
            all
        };
        // rdrand eax; jnc; and the same without a look at the carry flag.
        let draw = [0x90, 0x0f, 0xc7, 0xf0, 0x73, 0xfb];
        assert_eq!(places(&draw), [1]);
        assert_eq!(places(&draw[..4]), [1]);
        // mov -0x18(%rbp), %eax; rdrand rsi.
        assert_eq!(places(&[0x8b, 0x45, 0xe8, 0x48, 0x0f, 0xc7, 0xf6]), [4]);
        // Two calls.
        assert!(places(&[0xe8, 0x0f, 0xc7, 0xff, 0xff]).is_empty());
        assert!(places(&[0xe8, 0x12, 0x0f, 0xc7, 0xff]).is_empty());
        // cmpxchg8b is another instruction of the group.
        assert!(places(&[0x0f, 0xc7, 0x0f, 0x73, 0xfb]).is_empty());
        // rdseed rdx; setc al.
        assert_eq!(places(&[0x48, 0x0f, 0xc7, 0xfa, 0x0f, 0x92, 0xc0]), [1]);
    }

    #[test]
    fn instructions_are_decoded() {
        type Case = (&'static [u8], Option<(usize, usize, u32)>);
        let table: [Case; 6] = [
            (&[0x0f, 0xc7, 0xf0], Some((3, 0, 4))),
            (&[0x48, 0x0f, 0xc7, 0xfa], Some((4, 2, 8))),
            (&[0x41, 0x0f, 0xc7, 0xf7], Some((4, 15, 4))),
            (&[0x66, 0x0f, 0xc7, 0xf3], Some((4, 3, 2))),
            (&[0x0f, 0xc7, 0x0f], None),
            (&[0x90, 0x90, 0x90], None),
        ];
        for (code, expected) in table {
            assert_eq!(decode(|n| code[n]), expected, "{code:x?}");
        }
    }
}
