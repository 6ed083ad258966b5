//! The functions that act on a request to cancel their thread before they do anything, whether or not
//! they have to wait.
//!
//! Those are the system calls that glibc 2.36 makes by `SYSCALL_CANCEL` or marks with C in its lists
//! (`syscalls.list`); most of them are in POSIX.1-2017, System Interfaces, 2.9.5.2. Functions whose every
//! call waits at the gate (sleeps, waits for signals, conditions, semaphores, threads) act there, and
//! those that do so only for some of their arguments (`fcntl`, `lockf`) likewise.

use crate::gate;
use crate::real::Entry;
use crate::serial::Serial;

const TABLE: &str = "
    accept accept4 close connect copy_file_range creat creat64 epoll_pwait epoll_pwait2 epoll_wait
    fallocate fallocate64 fdatasync fsync getrandom mq_receive mq_send mq_timedreceive mq_timedsend
    msgrcv msgsnd msync open open64 open_by_handle_at openat openat64 __open_2 __open64_2 __openat_2
    __openat64_2 poll ppoll __poll_chk __ppoll_chk pread pread64 preadv preadv64 preadv2 preadv64v2
    __pread_chk __pread64_chk pselect pwrite pwrite64 pwritev pwritev64 pwritev2 pwritev64v2 read
    __read_chk readv recv __recv_chk recvfrom __recvfrom_chk recvmmsg recvmsg select send sendmmsg
    sendmsg sendto splice sync_file_range tcdrain tee vmsplice wait wait3 wait4 waitid waitpid write
    writev";

/// Is the function with this name in the table?
pub const fn is_point(name: &str) -> bool {
    let (table, name) = (TABLE.as_bytes(), name.as_bytes());
    let (mut at, mut matched, mut whole) = (0, 0, true);
    while at <= table.len() {
        if at == table.len() || table[at].is_ascii_whitespace() {
            if whole && matched == name.len() && matched != 0 {
                return true;
            }
            (matched, whole) = (0, true);
        } else {
            whole = whole && matched < name.len() && table[at] == name[matched];
            matched += 1;
        }
        at += 1;
    }
    false
}

/// Does the program refer to `pthread_cancel`? 1: it does, 2: it does not, 0: nobody has asked.
static CANCELS: Serial<u8> = Serial::new(0);

/// A library was loaded or is unloaded.
pub fn forget_modules() {
    // SAFETY: the running thread.
    unsafe { *CANCELS.get() = 0 };
}

pub(super) fn program_cancels() -> bool {
    // SAFETY: the running thread; the reference is not kept.
    let known = unsafe { CANCELS.get() };
    if *known == 0 {
        let refers = gate::hooked::refers_to("pthread_cancel");
        *known = if refers { 1 } else { 2 };
    }
    *known == 1
}

/// The running thread calls one of these functions at `pc`. Does not return if it is cancelled.
#[inline]
pub fn enter(pc: usize) {
    if gate::active() && program_cancels() && super::may_be_cancelled() {
        gate::cancellation_point(pc);
    }
}

/// What to jump to.
extern "C-unwind" fn enter_other(function: &'static Entry, pc: usize) -> usize {
    enter(pc);
    function.address()
}

/// Exports those that are the C library's own otherwise.
macro_rules! only_points {
    ($($name:ident)*) => {$(
        const _: () = assert!(is_point(stringify!($name)));

        #[cfg(not(test))]
        const _: () = {
            #[used]
            #[unsafe(link_section = "raddle_real")]
            static ENTRY: Entry = Entry::named(concat!(stringify!($name), "\0"));

            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C-unwind" fn $name() {
                // All registers that hold arguments are kept.
                core::arch::naked_asm!(
                    ".cfi_startproc",
                    "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "push rax",
                    ".cfi_adjust_cfa_offset 56",
                    "lea rdi, [rip + {entry}]",
                    "mov rsi, [rsp + 56]",
                    "call {enter}",
                    "mov r11, rax",
                    "pop rax", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
                    ".cfi_adjust_cfa_offset -56",
                    "jmp r11",
                    ".cfi_endproc",
                    entry = sym ENTRY,
                    enter = sym enter_other,
                )
            }
        };
    )*};
}

only_points! {
    copy_file_range fallocate fallocate64 fdatasync fsync msync open_by_handle_at __openat_2 __openat64_2
    __pread_chk __pread64_chk pwrite pwrite64 pwritev pwritev64 __recvfrom_chk sync_file_range
}

#[cfg(test)]
mod tests {
    use super::{TABLE, is_point};

    #[test]
    fn whole_names_are_found() {
        assert!(TABLE.split_ascii_whitespace().all(is_point));
        for none in ["", "clos", "closed", "lose", "pthread_join", "fcntl"] {
            assert!(!is_point(none), "{none}");
        }
    }
}
