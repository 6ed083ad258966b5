//! Fibers: every thread is a real pthread with its own stack, descriptor and thread-local storage,
//! but the main kernel thread runs them all.
//!
//! A new thread's kernel thread saves its registers and leaves by a raw `exit`; the kernel clears
//! [`Context::word`] when it is gone for good. From then on the context belongs to whoever switches
//! to it. The C library still believes that the thread lives, and no fiber ever reaches the end of
//! its start routine's caller: see `threads::ending`.

use super::{Attributes, Context, Substrate, context, entry, pool, stacks};
use crate::fenv::Environment;
use crate::os;
use crate::serial::Serial;
use core::arch::naked_asm;
use core::ffi::c_int;
use core::mem::offset_of;
use core::sync::atomic::Ordering;
use libc::pthread_t;
use raddle_protocol::Slot;

/// The substrate of this name.
pub struct Fibers;

/// Has the kernel let programs set the FS base (AT_HWCAP2 bit 1)?
static FSGSBASE: Serial<bool> = Serial::new(false);
/// See [`super::begin`].
pub fn begin() {
    // SAFETY: only one thread exists; getauxval reads a table.
    unsafe {
        *FSGSBASE.get() = libc::getauxval(libc::AT_HWCAP2) & 2 != 0;
        let main = context(raddle_protocol::slot::MAIN);
        (*main).fs = libc::pthread_self();
    }
}

/// Makes the context of `s` and waits until its kernel thread has gone.
pub fn create(s: Slot, attr: &Attributes) -> Result<pthread_t, c_int> {
    let context = context(s);
    // SAFETY: the context is ours until the thread is known; all signals stay blocked while there
    // are two kernel threads, so that none is delivered to the one that leaves.
    unsafe {
        (*context).word.store(1, Ordering::Relaxed);
        let former = os::block_signals();
        let result = stacks::create(s, attr, entry, context.cast());
        if result.is_ok() {
            while (*context).word.load(Ordering::Acquire) != 0 {
                os::futex_wait(&(*context).word, 1);
            }
        }
        os::restore_signals(former);
        result
    }
}

impl Substrate for Fibers {
    fn spawn(&mut self, s: Slot, attr: &Attributes) -> Result<pthread_t, c_int> {
        let thread = if pool::take(s, attr) {
            // SAFETY: written by `create`.
            unsafe { (*context(s)).fs }
        } else {
            pool::want(s, attr);
            create(s, attr)?
        };
        // A new thread begins with its creator's, whenever its memory was made.
        // SAFETY: the thread is parked, and `save` has left one at its stack pointer.
        unsafe { ((*context(s)).rsp as *mut Environment).write(Environment::current()) };
        Ok(thread)
    }

    #[inline]
    fn switch(&mut self, from: Slot, to: Slot) {
        // SAFETY: `from` is running, `to` is parked.
        unsafe {
            if *FSGSBASE.get() {
                switch_fast(context(from), context(to));
            } else {
                switch_slow(context(from), context(to));
            }
        }
    }

    fn finish(&mut self, me: Slot, to: Slot) -> ! {
        self.switch(me, to);
        os::die("raddle: a thread that had ended was continued", b"")
    }
}

/// Saves what a call keeps, on the stack: lowest, an [`Environment`].
macro_rules! save {
    () => {
        "push rbp; push rbx; push r12; push r13; push r14; push r15
         sub rsp, 8; stmxcsr [rsp]; fnstcw [rsp + 4]; fnstsw [rsp + 6]"
    };
}

/// Takes from the stack what [`save`] put there, and returns. The exceptions that the x87 unit has seen
/// are rarely different, and dear to set; those of another thread must be gone before the control word
/// lets them trap.
macro_rules! restore {
    () => {
        "ldmxcsr [rsp]
         fnstsw ax
         xor ax, [rsp + 6]
         test al, 0x7f
         jz 5f
         fnclex
         sub rsp, 32
         fnstenv [rsp]
         mov ax, [rsp + 38]
         and ax, 0x7f
         or [rsp + 4], ax
         fldenv [rsp]
         add rsp, 32
         5: fldcw [rsp + 4]; add rsp, 8
         pop r15; pop r14; pop r13; pop r12; pop rbx; pop rbp
         ret"
    };
}

pub(crate) use {restore, save};

/// Saves the caller's context and ends the kernel thread; returns on whichever switches to it.
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn park(_context: *mut Context) {
    naked_asm!(
        save!(),
        "mov [rdi + {rsp}], rsp",
        "mov rax, fs:[0x10]", // the descriptor's pointer to itself
        "mov [rdi + {fs}], rax",
        "lea rdi, [rdi + {word}]",
        "mov eax, {set_tid_address}",
        "syscall",
        "2: xor edi, edi",
        "mov eax, {exit}",
        "syscall",
        "jmp 2b",
        rsp = const offset_of!(Context, rsp),
        fs = const offset_of!(Context, fs),
        word = const offset_of!(Context, word),
        set_tid_address = const libc::SYS_set_tid_address,
        exit = const libc::SYS_exit,
    )
}

#[unsafe(naked)]
unsafe extern "C-unwind" fn switch_fast(_from: *mut Context, _to: *const Context) {
    naked_asm!(
        save!(),
        "mov [rdi + {rsp}], rsp",
        "mov rsp, [rsi + {rsp}]",
        "mov rax, [rsi + {fs}]",
        "wrfsbase rax",
        restore!(),
        rsp = const offset_of!(Context, rsp),
        fs = const offset_of!(Context, fs),
    )
}

#[unsafe(naked)]
unsafe extern "C-unwind" fn switch_slow(_from: *mut Context, _to: *const Context) {
    naked_asm!(
        save!(),
        "mov [rdi + {rsp}], rsp",
        "mov rsp, [rsi + {rsp}]",
        "mov rsi, [rsi + {fs}]",
        "mov edi, 0x1002", // ARCH_SET_FS
        "mov eax, {arch_prctl}",
        "syscall",
        restore!(),
        rsp = const offset_of!(Context, rsp),
        fs = const offset_of!(Context, fs),
        arch_prctl = const libc::SYS_arch_prctl,
    )
}
