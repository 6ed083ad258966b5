//! What the kernel keeps for each of its threads, where one of them carries all of the program's.
//!
//! What is only there to be asked about again is kept here for each thread: its name, its timer slack
//! and a few flags. The rest has effects (on files, identities, rights, registers): it holds for all
//! threads from then on, and is named, unless the thread that sets it is the only one, since all others
//! will have it from that one as they would without us.

use super::names;
use crate::numbers::calls;
use crate::serial::Serial;
use crate::slots::{PerSlot, Zero};
use crate::{gate, intercept, os, substrate, time, timers};
use core::ffi::{c_int, c_long, c_uint, c_ulong, c_void};
use libc::*;
use raddle_protocol::{Slot, slot};

const PR_SET_SYSCALL_USER_DISPATCH: c_int = 59;
const ARCH_SET_GS: usize = 0x1001;
const ARCH_SET_FS: usize = 0x1002;
/// What `personality` asks without changing anything.
const PERSONALITY_ASKS: u32 = 0xffff_ffff;

/// A thread's own settings.
#[derive(Clone, Copy)]
struct Own {
    known: bool,
    /// Nanoseconds; the second is what 0 asks for: the creator's when the thread was made.
    slack: [u64; 2],
    /// What PR_GET_KEEPCAPS, PR_GET_NO_NEW_PRIVS and PR_MCE_KILL_GET answer.
    keeps_capabilities: u8,
    no_new_privileges: u8,
    memory_failures: u8,
    death_signal: u8,
}

// SAFETY: integers and false.
unsafe impl Zero for Own {}

static OWN: Serial<PerSlot<Own>> = Serial::new(PerSlot::new());
/// What threads have of which nobody has set anything: as it was when the first one asked.
static BASE: Serial<Option<Own>> = Serial::new(None);

fn base() -> Own {
    let ask = |option: c_int| {
        // SAFETY: numbers only.
        unsafe { os::syscall(SYS_prctl, option as usize, 0, 0, 0, 0, 0) }
    };
    // SAFETY: the running thread.
    *unsafe { BASE.get() }.get_or_insert_with(|| {
        let slack = ask(PR_GET_TIMERSLACK) as u64;
        Own {
            known: true,
            slack: [slack, slack],
            keeps_capabilities: ask(PR_GET_KEEPCAPS) as u8,
            no_new_privileges: ask(PR_GET_NO_NEW_PRIVS) as u8,
            memory_failures: ask(PR_MCE_KILL_GET) as u8,
            // The one that there is, is the controller's.
            death_signal: 0,
        }
    })
}

fn own(s: Slot) -> &'static mut Own {
    let base = base();
    // SAFETY: the running thread; nothing below switches.
    let all = unsafe { OWN.get() };
    all.map();
    let own = &mut all[s];
    if !own.known {
        *own = base;
    }
    own
}

/// `child` begins with what its creator has.
pub fn inherit(creator: Slot, child: Slot) {
    // SAFETY: the running thread.
    if unsafe { BASE.get() }.is_some() {
        let from = *own(creator);
        *own(child) = Own {
            slack: [from.slack[0]; 2],
            death_signal: 0,
            ..from
        };
    }
}

/// Are there threads that a setting of the running one must not reach?
fn are_others() -> bool {
    !substrate::kernel_threads() && gate::threads_alive() > 1 + timers::helpers()
}

fn alone_or_named(name: &str) {
    if are_others() {
        gate::uncontrolled(name);
    }
}

/// To be called before the identity of all threads changes: the kernel is to know whether the one that
/// asks keeps its capabilities then.
pub fn identity_changes() {
    // SAFETY: the running thread, also below; numbers only.
    unsafe {
        if BASE.get().is_none() {
            return;
        }
        let keeps = own(gate::me()).keeps_capabilities;
        os::syscall(
            SYS_prctl,
            PR_SET_KEEPCAPS as usize,
            keeps.into(),
            0,
            0,
            0,
            0,
        );
        let alive = (0..slot::COUNT as Slot).filter(|&s| gate::state(s) == gate::State::Alive);
        if alive
            .into_iter()
            .any(|s| own(s).keeps_capabilities != keeps)
        {
            gate::uncontrolled("PR_SET_KEEPCAPS of some threads, when the identity of all changes");
        }
    }
}

/// `prctl`: its result or a negative errno; `None`: it is the kernel's to answer.
///
/// # Safety
/// As the call's manual page says.
unsafe fn control([option, a, b, c, d, _]: [usize; 6]) -> Option<isize> {
    const INVALID: isize = -(EINVAL as isize);
    let option = option as c_int;
    let me = gate::me();
    // SAFETY: the caller's promise.
    unsafe {
        match option {
            PR_SET_NAME | PR_GET_NAME if a == 0 => return Some(-(EFAULT as isize)),
            PR_SET_NAME => {
                let text = a as *const u8;
                let len = (0..names::LEN - 1).take_while(|&i| text.add(i).read() != 0);
                let len = len.count();
                names::set_own(core::slice::from_raw_parts(text, len));
                return Some(0);
            }
            PR_GET_NAME => {
                (a as *mut [u8; names::LEN]).write(names::own());
                return Some(0);
            }
            _ if substrate::kernel_threads() => return None,
            _ => {}
        }
        let own = own(me);
        let kept = |to: &mut u8, value: usize| match value {
            0 | 1 => {
                *to = value as u8;
                Some(0)
            }
            _ => Some(INVALID),
        };
        match option {
            PR_SET_TIMERSLACK => {
                own.slack[0] = if a == 0 { own.slack[1] } else { a as u64 };
                Some(0)
            }
            PR_GET_TIMERSLACK => Some(own.slack[0] as isize),
            PR_SET_KEEPCAPS => match os::syscall(SYS_prctl, option as usize, a, b, c, d, 0) {
                0 => kept(&mut own.keeps_capabilities, a),
                failed => Some(failed),
            },
            PR_GET_KEEPCAPS => Some(own.keeps_capabilities.into()),
            PR_SET_PDEATHSIG if a > 64 => Some(INVALID),
            PR_SET_PDEATHSIG => {
                own.death_signal = a as u8;
                Some(0)
            }
            PR_GET_PDEATHSIG if a == 0 => Some(-(EFAULT as isize)),
            PR_GET_PDEATHSIG => {
                (a as *mut c_int).write(own.death_signal.into());
                Some(0)
            }
            PR_MCE_KILL => match (a as c_int, b as c_int, c | d) {
                (PR_MCE_KILL_CLEAR, 0, 0) => {
                    own.memory_failures = PR_MCE_KILL_DEFAULT as u8;
                    Some(0)
                }
                (PR_MCE_KILL_SET, PR_MCE_KILL_LATE..=PR_MCE_KILL_DEFAULT, 0) => {
                    own.memory_failures = b as u8;
                    Some(0)
                }
                _ => Some(INVALID),
            },
            PR_MCE_KILL_GET if a | b | c | d != 0 => Some(INVALID),
            PR_MCE_KILL_GET => Some(own.memory_failures.into()),
            PR_GET_NO_NEW_PRIVS if a | b | c | d != 0 => Some(INVALID),
            PR_GET_NO_NEW_PRIVS => Some(own.no_new_privileges.into()),
            PR_SET_NO_NEW_PRIVS => {
                alone_or_named("prctl(PR_SET_NO_NEW_PRIVS) of one thread, which holds for all");
                let result = os::syscall(SYS_prctl, option as usize, a, b, c, d, 0);
                if result == 0 {
                    own.no_new_privileges = 1;
                }
                Some(result)
            }
            // They change how this library learns of instructions and calls, too.
            PR_SET_SECCOMP | PR_SET_TSC | PR_SET_SYSCALL_USER_DISPATCH => {
                gate::uncontrolled("prctl that traps system calls or instructions");
                None
            }
            _ if is_of_process(option) => None,
            _ => {
                alone_or_named("prctl that sets something for one thread, which holds for all");
                None
            }
        }
    }
}

/// Is it asked about, or set, for the whole process?
fn is_of_process(option: c_int) -> bool {
    const PR_GET_IO_FLUSHER: c_int = 58;
    const PR_SET_MDWE: c_int = 65;
    const PR_GET_MDWE: c_int = 66;
    const PR_SET_MEMORY_MERGE: c_int = 67;
    const PR_GET_MEMORY_MERGE: c_int = 68;
    let sets = matches!(
        option,
        PR_SET_DUMPABLE
            | PR_SET_CHILD_SUBREAPER
            | PR_SET_MM
            | PR_SET_THP_DISABLE
            | PR_SET_VMA
            | PR_SET_PTRACER
            | PR_SET_MDWE
            | PR_SET_MEMORY_MERGE
            | PR_SET_TIMING
            | PR_TASK_PERF_EVENTS_DISABLE
            | PR_TASK_PERF_EVENTS_ENABLE
    );
    let asks = matches!(
        option,
        PR_GET_DUMPABLE
            | PR_GET_CHILD_SUBREAPER
            | PR_GET_THP_DISABLE
            | PR_GET_MDWE
            | PR_GET_MEMORY_MERGE
            | PR_GET_TIMING
            | PR_GET_SECCOMP
            | PR_GET_SECUREBITS
            | PR_GET_TSC
            | PR_GET_TID_ADDRESS
            | PR_CAPBSET_READ
            | PR_GET_SPECULATION_CTRL
            | PR_GET_IO_FLUSHER
            | PR_GET_UNALIGN
            | PR_GET_FPEMU
            | PR_GET_FPEXC
            | PR_GET_ENDIAN
    );
    sets || asks
}

/// `unshare`: as [`control`].
fn part(what: c_int) -> Option<isize> {
    /// A process with several threads cannot.
    const WHOLE: c_int = CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM;
    if what == 0 || !are_others() {
        return None;
    }
    if what & WHOLE != 0 {
        return Some(-(EINVAL as isize));
    }
    gate::uncontrolled(match what {
        CLONE_FS => "unshare(CLONE_FS): threads still have one working directory and umask",
        CLONE_FILES => "unshare(CLONE_FILES): threads still have one table of descriptors",
        _ => "unshare of one thread, which holds for all",
    });
    None
}

/// What a call does to one thread, and here to all; `None` of one that does no such thing.
#[allow(non_upper_case_globals)] // the numbers' names are libc's
fn concerns(number: c_long, [a, ..]: [usize; 6]) -> Option<&'static str> {
    const SYS_landlock_restrict_self: c_long = 446;
    Some(match number {
        SYS_setuid | SYS_setreuid | SYS_setresuid | SYS_setfsuid => {
            "a direct system call that sets the user of one thread, and here of all"
        }
        SYS_setgid | SYS_setregid | SYS_setresgid | SYS_setfsgid | SYS_setgroups => {
            "a direct system call that sets the groups of one thread, and here of all"
        }
        SYS_capset => "capset: capabilities of one thread, and here of all",
        SYS_landlock_restrict_self => "landlock_restrict_self of one thread, which holds for all",
        SYS_set_mempolicy => "set_mempolicy of one thread, which holds for all",
        SYS_setns => "setns of one thread, which holds for all",
        SYS_personality if a as u32 != PERSONALITY_ASKS => {
            "personality of one thread, which holds for all"
        }
        SYS_iopl | SYS_ioperm => "rights to ports of one thread, which hold for all",
        SYS_modify_ldt if a != 0 => "modify_ldt",
        SYS_arch_prctl if a == ARCH_SET_GS => "the base of GS of one thread, which holds for all",
        SYS_pkey_alloc => "protection keys, whose rights here are those of all threads",
        SYS_set_robust_list => "set_robust_list: the list of one thread, and here of all",
        SYS_set_tid_address => "set_tid_address: no word is cleared when a thread ends",
        SYS_rseq => "rseq: restartable sequences of one thread, and here of all",
        _ => return None,
    })
}

/// What is not under control however many threads there are.
#[allow(non_upper_case_globals)] // as above
fn always(number: c_long, [a, ..]: [usize; 6]) -> Option<&'static str> {
    Some(match number {
        SYS_seccomp => "seccomp",
        SYS_arch_prctl if a == ARCH_SET_FS => "the base of FS, set by the program",
        SYS_add_key | SYS_request_key | SYS_keyctl => "keys that the kernel keeps",
        _ => return None,
    })
}

/// The result of a system call, or a negative errno, if it is one about the thread that makes it which
/// the kernel is not to be asked; what it is asked all the same is named where it does not do that here
/// which the program means.
///
/// # Safety
/// As the call's manual page says.
#[allow(non_upper_case_globals)] // as above
pub unsafe fn perform(number: c_long, args: [usize; 6]) -> Option<isize> {
    match number {
        // SAFETY: the caller's promise.
        SYS_prctl => unsafe { control(args) },
        SYS_unshare => part(args[0] as c_int),
        _ => {
            if let Some(name) = always(number, args) {
                gate::uncontrolled(name);
            } else if let Some(name) = concerns(number, args) {
                alone_or_named(name);
            }
            None
        }
    }
}

/// [`perform`], else the kernel's answer, as the C library returns it.
unsafe fn call(number: c_long, [a, b, c, d, e]: [usize; 5]) -> c_long {
    // SAFETY: the program's arguments, as the kernel would take them.
    let result = unsafe {
        let ours = perform(number, [a, b, c, d, e, 0]);
        ours.unwrap_or_else(|| calls::perform(number, [a, b, c, d, e, 0]))
    };
    match result {
        -4095..0 => time::errno_result(-result as c_int).into(),
        result => result as c_long,
    }
}

intercept! {
    fn prctl(option: c_int, a: c_ulong, b: c_ulong, c: c_ulong, d: c_ulong) -> c_int, _pc => {
        let args = [option as usize, a as usize, b as usize, c as usize, d as usize];
        call(SYS_prctl, args) as c_int
    };
    fn unshare(what: c_int) -> c_int,
        _pc => call(SYS_unshare, [what as usize, 0, 0, 0, 0]) as c_int;
    fn setns(fd: c_int, what: c_int) -> c_int,
        _pc => call(SYS_setns, [fd as usize, what as usize, 0, 0, 0]) as c_int;
    /// Of the calling thread alone, as in Linux; so is the next one.
    fn setfsuid(id: uid_t) -> c_int,
        _pc => call(SYS_setfsuid, [id as usize, 0, 0, 0, 0]) as c_int;
    fn setfsgid(id: gid_t) -> c_int,
        _pc => call(SYS_setfsgid, [id as usize, 0, 0, 0, 0]) as c_int;
    fn capget(header: *mut c_void, data: *mut c_void) -> c_int,
        _pc => call(SYS_capget, [header as usize, data as usize, 0, 0, 0]) as c_int;
    fn capset(header: *mut c_void, data: *const c_void) -> c_int,
        _pc => call(SYS_capset, [header as usize, data as usize, 0, 0, 0]) as c_int;
    fn personality(to: c_ulong) -> c_int,
        _pc => call(SYS_personality, [to as usize, 0, 0, 0, 0]) as c_int;
    fn iopl(level: c_int) -> c_int,
        _pc => call(SYS_iopl, [level as usize, 0, 0, 0, 0]) as c_int;
    fn ioperm(from: c_ulong, count: c_ulong, on: c_int) -> c_int,
        _pc => call(SYS_ioperm, [from as usize, count as usize, on as usize, 0, 0]) as c_int;
    fn modify_ldt(what: c_int, at: *mut c_void, bytes: c_ulong) -> c_int,
        _pc => call(SYS_modify_ldt, [what as usize, at as usize, bytes as usize, 0, 0]) as c_int;
    fn arch_prctl(what: c_int, at: c_ulong) -> c_int,
        _pc => call(SYS_arch_prctl, [what as usize, at as usize, 0, 0, 0]) as c_int;
    fn pkey_alloc(flags: c_uint, rights: c_uint) -> c_int,
        _pc => call(SYS_pkey_alloc, [flags as usize, rights as usize, 0, 0, 0]) as c_int;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_names_nothing() {
        for (number, a, named) in [
            (SYS_personality, PERSONALITY_ASKS as usize, false),
            (SYS_personality, 0, true),
            (SYS_modify_ldt, 0, false),
            (SYS_modify_ldt, 1, true),
            (SYS_arch_prctl, 0x1004, false),
            (SYS_arch_prctl, ARCH_SET_GS, true),
            (SYS_capget, 0, false),
            (SYS_getresuid, 0, false),
            (SYS_setresuid, 0, true),
        ] {
            let name = concerns(number, [a, 0, 0, 0, 0, 0]);
            assert_eq!(name.is_some(), named, "call {number} with {a}");
        }
    }
}
