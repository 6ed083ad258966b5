//! Calls that make a process, or replace this one.
//!
//! fork, posix_spawn and clone without shared memory: the child is another program as far as the
//! execution is concerned; nothing in it is controlled, and it is ended with the execution.
//! vfork: the same, until its child has exec'd or exited the whole target stands still, as the
//! kernel has it. exec: the new program runs uncontrolled in place of the old one, and its exit
//! status is the execution's. daemon: the target stays in the foreground. clone with shared
//! memory, which would run beside the controlled threads, is refused.

use crate::gate::{self, Aside, Fatal};
use crate::serial::Serial;
use crate::{intercept, os, time};
use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::Ordering;
use libc::pid_t;
use raddle_protocol::event::{Kind, handlers};
use raddle_protocol::outcome::End;

mod real_clone {
    use super::Entry;
    use core::ffi::{c_int, c_void};
    crate::real! {
        fn clone(
            entry: Entry,
            stack: *mut c_void,
            flags: c_int,
            argument: *mut c_void,
            parent: *mut libc::pid_t,
            tls: *mut c_void,
            child: *mut libc::pid_t
        ) -> c_int;
    }
}

/// What a process that `clone` makes calls first.
type Entry = extern "C-unwind" fn(*mut c_void) -> c_int;

/// The step of making a process, and its name in the summary.
pub fn announce(name: &str, pc: usize) {
    gate::simple(Kind::ChildMade, 0, pc);
    gate::uncontrolled(name);
    crate::raw::let_go();
}

/// The record of that step.
pub fn made(result: bool, pc: usize) {
    if result {
        super::child_made();
        // It may hold the other end of whatever there is now.
        crate::io::share_all();
    }
    gate::log(Kind::ChildMade, 0, u64::from(result), pc);
}

/// `fork`: the handlers of `pthread_atfork` run, the library is passive in the child.
unsafe fn fork_here(pc: usize, fork: impl FnOnce() -> pid_t) -> pid_t {
    announce("fork", pc);
    // The handlers have steps of their own, which come later.
    made(true, pc);
    gate::log(Kind::TakenOver, handlers::FORK, 0, pc);
    let child = fork();
    if child > 0 {
        super::remember(child);
        super::FORKED.store(true, Ordering::Relaxed);
    }
    child
}

/// `daemon`: closing descriptors and changing the folder as asked, in this very process.
unsafe fn stay(keep_folder: c_int, keep_output: c_int, pc: usize) -> c_int {
    gate::simple(Kind::ChildMade, 0, pc);
    gate::uncontrolled("daemon (stays in the foreground)");
    made(false, pc);
    // SAFETY: constant paths.
    unsafe {
        if keep_folder == 0 {
            libc::chdir(c"/".as_ptr());
        }
        if keep_output == 0 {
            let path = c"/dev/null".as_ptr() as usize;
            let (at, mode) = (libc::AT_FDCWD as usize, libc::O_RDWR as usize);
            let fd = os::syscall(libc::SYS_openat, at, path, mode, 0, 0, 0);
            if fd < 0 {
                return time::errno_result(-fd as c_int);
            }
            for target in 0..3 {
                os::syscall(libc::SYS_dup2, fd as usize, target, 0, 0, 0, 0);
            }
            if fd > 2 {
                os::close(fd as c_int);
            }
        }
    }
    0
}

/// The execution ends because of a call that nobody could control.
fn refuse(message: &str, pc: usize) -> ! {
    gate::finish(Fatal {
        end: End::Unsupported,
        code: 0,
        message: format_args!("{message}"),
        detail: [0; 4],
        pc,
        stack: true,
    })
}

const SHARED: &str = "clone() with shared memory makes a thread that cannot be controlled";

/// What a child by `clone` is to call.
static ENTRY: Serial<Option<(Entry, *mut c_void)>> = Serial::new(None);

/// First code of a child by `clone` with memory of its own.
extern "C-unwind" fn enter(_: *mut c_void) -> c_int {
    gate::leave();
    // SAFETY: this process has one thread, and the word was written before it was made.
    match unsafe { *ENTRY.get() } {
        Some((entry, argument)) => entry(argument),
        None => 127,
    }
}

/// The C library's `clone`: seven arguments, of which the last is on the stack.
#[allow(clippy::too_many_arguments)]
unsafe extern "C-unwind" fn on_clone(
    entry: Entry,
    stack: *mut c_void,
    flags: c_int,
    argument: *mut c_void,
    parent: *mut pid_t,
    tls: *mut c_void,
    child: *mut pid_t,
    pc: usize,
) -> c_int {
    // SAFETY: the program's arguments, handed on.
    unsafe {
        if !gate::active() {
            return real_clone::clone(entry, stack, flags, argument, parent, tls, child);
        }
        let waits = flags & libc::CLONE_VFORK != 0;
        if flags & libc::CLONE_VM != 0 && !waits {
            refuse(SHARED, pc);
        }
        announce("clone", pc);
        let run =
            |entry, argument| real_clone::clone(entry, stack, flags, argument, parent, tls, child);
        let result = if flags & libc::CLONE_VM != 0 {
            // The caller stands still until its child has left our memory.
            let aside = gate::stand_aside();
            let child = run(entry, argument);
            gate::come_back(aside);
            child
        } else {
            *ENTRY.get() = Some((entry, argument));
            run(enter, core::ptr::null_mut())
        };
        made(result > 0, pc);
        super::remember(result);
        result
    }
}

crate::export_seven! {
    /// The C library's `clone`.
    fn clone = on_clone;
}

/// What a `vfork` that is under way has switched off.
static ASIDE: Serial<Option<Aside>> = Serial::new(None);

/// Before the system call of `vfork`: the child runs in our memory and must find the library
/// passive. Returns whether it was active.
extern "C-unwind" fn before_vfork(pc: usize) -> bool {
    let active = gate::active();
    if active {
        announce("vfork", pc);
        made(true, pc);
        // SAFETY: the running thread; in a child, where the library is passive, nobody comes here.
        unsafe { *ASIDE.get() = Some(gate::stand_aside()) };
    }
    active
}

/// In the parent, when the child has gone its own way: the result for the program.
extern "C-unwind" fn after_vfork(result: isize, active: bool) -> isize {
    // SAFETY: as in `before_vfork`.
    if active && let Some(aside) = unsafe { ASIDE.get() }.take() {
        gate::come_back(aside);
    }
    if result < 0 {
        return time::errno_result(-result as c_int) as isize;
    }
    if active {
        super::remember(result as pid_t);
    }
    result
}

/// The C library's `vfork`. The return address is held in a register over the system call, since
/// the child uses the same stack; what the parent must remember lies in registers that a callee
/// preserves, which the child restores before it returns into the program.
#[cfg(not(test))]
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn vfork() -> pid_t {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "mov rdi, [rsp]",
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 8",
        "call {before}",
        "add rsp, 8",
        ".cfi_adjust_cfa_offset -8",
        "movzx esi, al",
        "pop rdi",
        ".cfi_adjust_cfa_offset -8",
        "mov eax, 58",
        "syscall",
        "push rdi",
        ".cfi_adjust_cfa_offset 8",
        "test rax, rax",
        "jz 2f",
        "mov rdi, rax",
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 8",
        "call {after}",
        "add rsp, 8",
        ".cfi_adjust_cfa_offset -8",
        "2: ret",
        ".cfi_endproc",
        before = sym before_vfork,
        after = sym after_vfork,
    )
}

/// The step of an exec. What fails comes back and goes on.
fn leave_for(name: &str, pc: usize) {
    announce(name, pc);
    made(false, pc);
}

type Strings = *const *const c_char;

/// What `pthread_atfork` registers.
type ForkHandler = Option<extern "C-unwind" fn()>;

intercept! {
    /// What `pthread_atfork`, a part of every program, calls.
    fn __register_atfork(prepare: ForkHandler, parent: ForkHandler, child: ForkHandler, module: *mut c_void) -> c_int, pc => {
        gate::log(Kind::HandedOn, handlers::FORK, 0, pc);
        real::__register_atfork(prepare, parent, child, module)
    };
    fn fork() -> pid_t, pc => fork_here(pc, || real::fork());
    fn _Fork() -> pid_t, pc => fork_here(pc, || {
        let child = real::_Fork();
        if child == 0 {
            gate::leave();
        }
        child
    });
    fn daemon(keep_folder: c_int, keep_output: c_int) -> c_int, pc => stay(keep_folder, keep_output, pc);
    fn execve(path: *const c_char, argv: Strings, environment: Strings) -> c_int, pc => {
        leave_for("execve", pc);
        real::execve(path, argv, environment)
    };
    fn execv(path: *const c_char, argv: Strings) -> c_int, pc => {
        leave_for("execv", pc);
        real::execv(path, argv)
    };
    fn execvp(file: *const c_char, argv: Strings) -> c_int, pc => {
        leave_for("execvp", pc);
        real::execvp(file, argv)
    };
    fn execvpe(file: *const c_char, argv: Strings, environment: Strings) -> c_int, pc => {
        leave_for("execvpe", pc);
        real::execvpe(file, argv, environment)
    };
    fn fexecve(fd: c_int, argv: Strings, environment: Strings) -> c_int, pc => {
        leave_for("fexecve", pc);
        real::fexecve(fd, argv, environment)
    };
    fn execveat(folder: c_int, path: *const c_char, argv: Strings, environment: Strings, flags: c_int) -> c_int, pc => {
        leave_for("execveat", pc);
        real::execveat(folder, path, argv, environment, flags)
    };
}

/// Functions whose arguments do not leave a register free, or have no fixed number: the step is
/// taken first, then the C library's function is entered with everything as it was.
mod noted {
    use super::{announce, gate, leave_for, made};
    use crate::real::Entry;

    fn spawn(name: &str, pc: usize) {
        announce(name, pc);
        made(true, pc);
    }

    macro_rules! noted {
        ($($name:ident = $note:expr;)*) => {$(
            const _: () = {
                extern "C-unwind" fn note(pc: usize) -> usize {
                    #[used]
                    #[unsafe(link_section = "raddle_real")]
                    static ENTRY: Entry = Entry::named(concat!(stringify!($name), "\0"));
                    if gate::active() {
                        let note: fn(&str, usize) = $note;
                        note(stringify!($name), pc);
                    }
                    ENTRY.address()
                }

                /// As the C library's.
                #[cfg_attr(not(test), unsafe(no_mangle))]
                #[unsafe(naked)]
                unsafe extern "C-unwind" fn $name() {
                    core::arch::naked_asm!(
                        "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9",
                        "push rax",
                        "mov rdi, [rsp + 56]",
                        "call {note}",
                        "mov r11, rax",
                        "pop rax", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
                        "jmp r11",
                        note = sym note,
                    )
                }
                #[cfg(test)]
                const _: unsafe extern "C-unwind" fn() = $name;
            };
        )*};
    }

    noted! {
        posix_spawn = spawn;
        posix_spawnp = spawn;
        execl = leave_for;
        execlp = leave_for;
        execle = leave_for;
    }
}
