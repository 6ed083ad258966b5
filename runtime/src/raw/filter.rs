//! The seccomp filter: futex calls from certain instructions raise SIGSYS, all else is allowed.

use crate::futex::CALLS;
use crate::os;
use crate::serial::Serial;
use libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter, sock_fprog};

/// AUDIT_ARCH_X86_64.
const X86_64: u32 = 0xc000_003e;
/// Offsets in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const POINTER_LOW: u32 = 8;
const POINTER_HIGH: u32 = 12;
/// Most instructions of one filter (BPF_MAXINSNS).
const MOST: usize = 4096;

const ALLOW: sock_filter = returns(libc::SECCOMP_RET_ALLOW);
const TRAP: sock_filter = returns(libc::SECCOMP_RET_TRAP);

const fn returns(what: u32) -> sock_filter {
    instruction(BPF_RET | BPF_K, what, 0, 0)
}

const fn load(offset: u32) -> sock_filter {
    instruction(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0)
}

/// Skips so many instructions if the loaded word is `value`, else so many others.
const fn compare(value: u32, equal: u8, different: u8) -> sock_filter {
    instruction(BPF_JMP | BPF_JEQ | BPF_K, value, equal, different)
}

const fn instruction(code: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    }
}

struct Program {
    code: [sock_filter; MOST],
    len: usize,
}

static PROGRAM: Serial<Program> = Serial::new(Program::EMPTY);

impl Program {
    const EMPTY: Program = Program {
        code: [ALLOW; MOST],
        len: 0,
    };

    fn push(&mut self, more: &[sock_filter]) {
        self.code[self.len..self.len + more.len()].copy_from_slice(more);
        self.len += more.len();
    }

    /// Traps futex calls that return to one of `sites`, whose upper halves are all `upper`.
    fn write(&mut self, upper: u32, sites: &[u64]) {
        self.len = 0;
        for (offset, wanted) in [(ARCH, X86_64), (POINTER_HIGH, upper)] {
            self.push(&[load(offset), compare(wanted, 1, 0), ALLOW]);
        }
        self.push(&[load(NUMBER)]);
        let last = CALLS.len() as u8;
        for (i, number) in (0u8..).zip(CALLS) {
            self.push(&[compare(number as u32, last - i, 0)]);
        }
        self.push(&[ALLOW]);
        self.push(&[load(POINTER_LOW)]);
        let room = (MOST - self.len - 1) / 2;
        for &site in &sites[..sites.len().min(room)] {
            self.push(&[compare(site as u32, 0, 1), TRAP]);
        }
        self.push(&[ALLOW]);
    }
}

fn upper(site: u64) -> u32 {
    (site >> 32) as u32
}

/// Has futex calls that return to one of `sites` trapped, in all threads of this process and in
/// those that it makes.
pub fn install(sites: &[u64]) {
    let groups = sites.chunk_by(|&a, &b| upper(a) == upper(b));
    for group in groups {
        // SAFETY: the running thread.
        let program = unsafe { PROGRAM.get() };
        program.write(upper(group[0]), group);
        let code = sock_fprog {
            len: program.len as u16,
            filter: program.code.as_mut_ptr(),
        };
        if !load_filter(&code) {
            crate::gate::uncontrolled("futex calls without the C library (no seccomp)");
        }
    }
}

/// Whoever may not give up the gaining of privileges gets the filter without that.
fn load_filter(code: &sock_fprog) -> bool {
    let mode = libc::SECCOMP_SET_MODE_FILTER as usize;
    let flags = libc::SECCOMP_FILTER_FLAG_TSYNC as usize;
    let at = &raw const *code as usize;
    // SAFETY: the program is read, and lives meanwhile; the options take numbers.
    unsafe {
        let load = || os::syscall(libc::SYS_seccomp, mode, flags, at, 0, 0, 0) == 0;
        load() || {
            let option = libc::PR_SET_NO_NEW_PRIVS as usize;
            os::syscall(libc::SYS_prctl, option, 1, 0, 0, 0, 0);
            load()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel would do with the filter.
    fn run(program: &Program, data: [u32; 4]) -> u32 {
        let (mut at, mut word) = (0, 0);
        loop {
            let i = program.code[at];
            at += 1;
            match u32::from(i.code) {
                code if code == BPF_LD | BPF_W | BPF_ABS => word = data[i.k as usize / 4],
                code if code == BPF_JMP | BPF_JEQ | BPF_K => {
                    at += usize::from(if word == i.k { i.jt } else { i.jf });
                }
                _ => return i.k,
            }
        }
    }

    #[test]
    fn only_futex_calls_from_the_sites_are_trapped() {
        let sites = [0x7fff_0000_1000, 0x7fff_0000_2000, 0x7fff_ffff_ffff];
        let futex = libc::SYS_futex as u32;
        let mut program = Box::new(Program::EMPTY);
        program.write(0x7fff, &sites);
        for (number, arch, site, trapped) in [
            (futex, X86_64, sites[0], true),
            (futex, X86_64, sites[2], true),
            (futex, X86_64, 0x7fff_0000_1001, false),
            (futex, X86_64, 0x5555_0000_1000, false),
            (libc::SYS_futex_waitv as u32, X86_64, sites[0], true),
            (CALLS[CALLS.len() - 1] as u32, X86_64, sites[0], true),
            (futex + 1, X86_64, sites[0], false),
            (futex, 0x4000_0003, sites[0], false),
        ] {
            let result = run(&program, [number, arch, site as u32, upper(site)]);
            assert_eq!(result == libc::SECCOMP_RET_TRAP, trapped, "{site:#x}");
        }
        let many: Vec<u64> = (0..5_000).map(|i| 0x7fff_0000_0000 | (i * 7)).collect();
        program.write(0x7fff, &many);
        assert!(program.len <= MOST);
        let first = [futex, X86_64, many[0] as u32, 0x7fff];
        assert_eq!(run(&program, first), libc::SECCOMP_RET_TRAP);
    }
}
