//! Instructions that tell of the processor: its time stamps, which are virtual time here, and its
//! random numbers, which nothing can replace and are named.
//!
//! A module that holds such an instruction has reading of time stamps trapped in the whole process
//! (PR_SET_TSC); no other program pays for that.

use crate::serial::Serial;
use crate::{gate, os, time};
use core::ffi::{CStr, c_int, c_void};
use libc::dl_phdr_info;

const PR_SET_TSC: usize = 26;
const PR_TSC_ENABLE: usize = 1;
const PR_TSC_SIGSEGV: usize = 2;

const RDTSC: &[u8] = &[0x0f, 0x31];
const RDTSCP: &[u8] = &[0x0f, 0x01, 0xf9];
const RDRAND: &[u8] = &[0x0f, 0xc7];
/// How far behind rdrand the carry flag, by which it says that it has a number, is asked for.
const CARRY: usize = 16;

struct Found {
    /// Time stamps are trapped.
    stamps: bool,
    /// A module draws random numbers from the processor.
    random: bool,
}

static FOUND: Serial<Found> = Serial::new(Found {
    stamps: false,
    random: false,
});

/// Looks for such instructions in all modules but those that are known to need none.
pub fn look() {
    let (mut stamps, mut random) = (false, false);
    let mut found = (&mut stamps, &mut random);
    // SAFETY: the function gets the pair.
    unsafe { libc::dl_iterate_phdr(Some(look_at), (&raw mut found).cast()) };
    // SAFETY: the running thread.
    let known = unsafe { FOUND.get() };
    known.random |= random;
    if stamps && !known.stamps {
        known.stamps = trap(PR_TSC_SIGSEGV);
    }
}

/// Names what cannot be controlled. To be called when an execution begins.
pub fn begin() {
    // SAFETY: the running thread.
    if unsafe { FOUND.get() }.random {
        gate::uncontrolled("random numbers of the processor (rdrand, rdseed)");
    }
}

fn trap(how: usize) -> bool {
    // SAFETY: an option with a number.
    unsafe { os::syscall(libc::SYS_prctl, PR_SET_TSC, how, 0, 0, 0, 0) == 0 }
}

/// A child is about to be made, which would have the trap without the handler: time stamps are the
/// processor's again.
pub fn let_go() {
    // SAFETY: the running thread.
    let known = unsafe { FOUND.get() };
    if core::mem::replace(&mut known.stamps, false) {
        trap(PR_TSC_ENABLE);
        gate::uncontrolled("time stamps of the processor (rdtsc), once a child is made");
    }
}

unsafe extern "C" fn look_at(info: *mut dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
    // SAFETY: the dynamic linker passes a valid entry, whose segments are mapped as said; the pair
    // is the caller's.
    unsafe {
        let (info, (stamps, random)) = (&*info, &mut *found.cast::<(&mut bool, &mut bool)>());
        let name = CStr::from_ptr(info.dlpi_name).to_bytes();
        if super::is_library(name) {
            return 0;
        }
        let headers = core::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
        let code = libc::PF_R | libc::PF_X;
        for header in headers {
            if header.p_type == libc::PT_LOAD && header.p_flags & code == code {
                let start = (info.dlpi_addr + header.p_vaddr) as *const u8;
                let code = core::slice::from_raw_parts(start, header.p_filesz as usize);
                **stamps = **stamps || contains(code, RDTSC) || contains(code, RDTSCP);
                **random = **random || draws(code);
            }
        }
    }
    0
}

fn contains(code: &[u8], what: &[u8]) -> bool {
    super::sites::position(code, what).is_some()
}

/// Is there an instruction for a random number, and one behind it that asks whether there is one? (The
/// bytes may be another instruction's.)
fn draws(code: &[u8]) -> bool {
    let mut from = 0;
    while let Some(at) = code
        .get(from..)
        .and_then(|rest| super::sites::position(rest, RDRAND))
    {
        from += at + RDRAND.len();
        // The operand: a register, of the sixth or seventh instruction of the group.
        let operand = code.get(from).is_some_and(|&byte| byte >= 0xf0);
        let behind = &code[code.len().min(from + 1)..code.len().min(from + 1 + CARRY)];
        if operand && asks_for_carry(behind) {
            return true;
        }
    }
    false
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

/// Was this signal raised by reading a time stamp? Then it is read, in virtual nanoseconds, and the
/// program goes on behind the instruction.
///
/// # Safety
/// `info` and `context` are those that the handler of `signal` was given.
pub unsafe fn read_stamp(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) -> bool {
    const SI_KERNEL: c_int = 0x80;
    // SAFETY: the running thread; the caller's promise.
    unsafe {
        if signal != libc::SIGSEGV || (*info).si_code != SI_KERNEL || !FOUND.get().stamps {
            return false;
        }
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let at = registers[libc::REG_RIP as usize] as *const u8;
        // The processor has read the first bytes there.
        let is = |bytes: &[u8]| (0..bytes.len()).all(|i| at.add(i).read() == bytes[i]);
        let len = match () {
            () if is(RDTSC) => RDTSC.len(),
            () if is(RDTSCP) => RDTSCP.len(),
            () => return false,
        };
        let now = time::stamp();
        registers[libc::REG_RAX as usize] = (now & 0xffff_ffff) as i64;
        registers[libc::REG_RDX as usize] = (now >> 32) as i64;
        if len == RDTSCP.len() {
            registers[libc::REG_RCX as usize] = 0;
        }
        registers[libc::REG_RIP as usize] += len as i64;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_found() {
        // rdrand eax; jnc; and the same bytes without a look at the carry flag.
        let draw = [0x90, 0x0f, 0xc7, 0xf0, 0x73, 0xfb];
        assert!(draws(&draw));
        assert!(!draws(&draw[..4]));
        // cmpxchg8b is another instruction of the group.
        assert!(!draws(&[0x0f, 0xc7, 0x0f, 0x73, 0xfb]));
        // rdseed rdx; setc al.
        assert!(draws(&[0x48, 0x0f, 0xc7, 0xfa, 0x0f, 0x92, 0xc0]));
        assert!(contains(&[0x90, 0x0f, 0x31], RDTSC));
        assert!(!contains(&[0x90, 0x0f, 0x32], RDTSC));
    }
}
