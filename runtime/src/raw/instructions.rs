//! Instructions that tell of the processor: its time stamps, which are virtual time here, and its
//! random numbers ([`super::draws`]).
//!
//! A module that reads time stamps has that trapped in the whole process (PR_SET_TSC); no other
//! program pays for it.

use super::draws;
use crate::serial::Serial;
use crate::{gate, os, time};
use core::ffi::{CStr, c_int, c_void};
use libc::dl_phdr_info;

const PR_SET_TSC: usize = 26;
const PR_TSC_ENABLE: usize = 1;
const PR_TSC_SIGSEGV: usize = 2;

const RDTSC: &[u8] = &[0x0f, 0x31];
const RDTSCP: &[u8] = &[0x0f, 0x01, 0xf9];
/// Are time stamps trapped?
static STAMPS: Serial<bool> = Serial::new(false);

/// Looks for such instructions in all modules but those that are known to need none.
pub fn look() {
    let mut stamps = false;
    // SAFETY: the function gets the variable.
    unsafe { crate::process::loader::visit(Some(look_at), (&raw mut stamps).cast()) };
    draws::watch();
    // SAFETY: the running thread.
    let known = unsafe { STAMPS.get() };
    if stamps && !*known {
        *known = trap(PR_TSC_SIGSEGV);
    }
}

/// Signals that must not be blocked for such instructions to be noticed, as the kernel's set.
pub fn unblockable() -> u64 {
    // SAFETY: the running thread.
    u64::from(unsafe { *STAMPS.get() }) << (libc::SIGSEGV - 1) | draws::unblockable()
}

fn trap(how: usize) -> bool {
    // SAFETY: an option with a number.
    unsafe { os::syscall(libc::SYS_prctl, PR_SET_TSC, how, 0, 0, 0, 0) == 0 }
}

/// A child is about to be made, which would have the trap without the handler: time stamps are the
/// processor's again.
pub fn let_go() {
    // SAFETY: the running thread.
    if core::mem::replace(unsafe { STAMPS.get() }, false) {
        trap(PR_TSC_ENABLE);
        gate::uncontrolled("time stamps of the processor (rdtsc), once a child is made");
    }
}

unsafe extern "C" fn look_at(info: *mut dl_phdr_info, _: usize, stamps: *mut c_void) -> c_int {
    // SAFETY: the dynamic linker passes a valid entry, whose segments are mapped as said; the
    // variable is the caller's.
    unsafe {
        let (info, stamps) = (&*info, &mut *stamps.cast::<bool>());
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
                *stamps = *stamps || contains(code, RDTSC) || contains(code, RDTSCP);
                draws::look_at(code);
            }
        }
    }
    0
}

fn contains(code: &[u8], what: &[u8]) -> bool {
    super::sites::position(code, what).is_some()
}

/// Was this signal raised by an instruction that is looked for? Then the program goes on behind it.
///
/// # Safety
/// `info` and `context` are those that the handler of `signal` was given.
pub unsafe fn performed(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) -> bool {
    // SAFETY: the caller's promise.
    unsafe { draws::noticed(signal, info, context) || read_stamp(signal, info, context) }
}

/// Was a time stamp to be read? In virtual nanoseconds.
///
/// # Safety
/// See [`performed`].
unsafe fn read_stamp(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) -> bool {
    const SI_KERNEL: c_int = 0x80;
    // SAFETY: the running thread; the caller's promise.
    unsafe {
        if signal != libc::SIGSEGV || (*info).si_code != SI_KERNEL || !*STAMPS.get() {
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
        assert!(contains(&[0x90, 0x0f, 0x31], RDTSC));
        assert!(!contains(&[0x90, 0x0f, 0x32], RDTSC));
    }
}
