//! Handlers of the program, called as functions on the thread that they interrupt.

use super::actions::{action_of, info_of};
use super::world::{Action, Set, Signal, bit};
use super::{mask_of, set_mask, world};
use crate::access::staged;
use crate::fenv;
use crate::gate::{self, Interrupt, Pending};
use crate::serial::Serial;
use crate::slots::{PerSlot, Zero};
use crate::timers::SI_KERNEL;
use core::ffi::{c_int, c_void};
use libc::{siginfo_t, ucontext_t};
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind, SIGNAL_OWN};

/// An operation that was announced when a handler interrupted it. Lies on the thread's own stack.
struct Frame {
    magic: u64,
    pending: Pending,
    below: *mut Frame,
}

const MAGIC: u64 = 0x7369_676e_616c_2121;

/// What a thread has besides its mask.
struct Own {
    /// The innermost operation that a handler interrupted.
    frames: *mut Frame,
    /// `sigaltstack`: lowest address and bytes (0: none).
    stack: usize,
    stack_size: usize,
    /// Handlers that run on that stack.
    on_stack: u32,
}

// SAFETY: a null pointer and zeros.
unsafe impl Zero for Own {}

static OWN: Serial<PerSlot<Own>> = Serial::new(PerSlot::new());

fn own(s: Slot) -> &'static mut Own {
    // SAFETY: serialised; not kept over a switch.
    unsafe {
        let all = OWN.get();
        all.map();
        &mut all[s]
    }
}

/// The operation of `s` that handlers have interrupted, if it is under way.
pub fn suspended(s: Slot) -> Option<&'static mut Pending> {
    if !world(|w| w.busy) {
        return None;
    }
    let mut at = own(s).frames;
    // SAFETY: a frame is alive as long as its handler runs; one that was left by an exception is
    // told by its magic. The outermost is the one that may wait in a queue.
    unsafe {
        if at.is_null() || (*at).magic != MAGIC {
            return None;
        }
        while !(*at).below.is_null() && (*(*at).below).magic == MAGIC {
            at = (*at).below;
        }
        Some(&mut (*at).pending)
    }
}

/// The running thread leaves the handlers whose frames lie below `stack_pointer` by a longjmp.
pub fn leave(stack_pointer: usize, mask: Option<Set>) {
    let me = gate::me();
    let own = own(me);
    while !own.frames.is_null() && (own.frames as usize) < stack_pointer {
        // SAFETY: the frame is still on the stack.
        unsafe {
            (*own.frames).magic = 0;
            own.frames = (*own.frames).below;
        }
    }
    own.on_stack = 0;
    if let Some(mask) = mask {
        set_mask(me, mask);
    }
}

/// Runs the handler of one signal that is due for the running thread, as the step that it has just
/// been chosen for. True if the operation `p` that it had announced ends with EINTR.
#[cold]
pub fn handle(p: &mut Pending) -> bool {
    let me = gate::me();
    // Its own come before those of the process.
    let to_thread = world(|w| w.pending_at(me) & !w.mask(me) != 0);
    let Some(signal) = world(|w| {
        let open = !w.mask(me);
        w.take(me, open)
    }) else {
        return false;
    };
    super::refresh(me);
    let action = action_of(signal.number);
    let resets = action.flags & libc::SA_RESETHAND != 0;
    // Of other operations it matters whether they could go on.
    let alone = to_thread
        && p.kind == Kind::SignalReturn
        && ![libc::SI_TIMER, SI_KERNEL].contains(&signal.code);
    gate::log_full(Event {
        kind: Kind::SignalHandler as u8,
        aux: if alone && !resets { SIGNAL_OWN } else { 0 },
        object: action.handler as u64,
        value: signal.number as u64,
        pc: p.pc as u64,
        ..Event::default()
    });
    let mut blocked = !(p.ready)(p, me);
    if p.outside {
        blocked = gate::told(blocked);
    }
    let mut frame = Frame {
        magic: MAGIC,
        pending: *p,
        below: own(me).frames,
    };
    own(me).frames = &raw mut frame;
    run(signal, action, p.pc);
    // Whatever the handler did, it is not part of a round in which it came.
    gate::round_changed();
    own(me).frames = frame.below;
    frame.magic = 0;
    *p = frame.pending;
    let restarts = action.flags & libc::SA_RESTART != 0;
    blocked
        && match p.interrupt {
            Interrupt::Never => false,
            Interrupt::UnlessRestart => !restarts,
            Interrupt::Always | Interrupt::WhileBlocked => true,
        }
}

/// Calls the handler with the mask that it wants.
fn run(signal: Signal, action: Action, pc: usize) {
    let me = gate::me();
    let before = mask_of(me);
    let own_bit = match action.flags & libc::SA_NODEFER {
        0 => bit(signal.number),
        _ => 0,
    };
    if action.flags & libc::SA_RESETHAND != 0 {
        super::actions::set_action(signal.number, action.reset());
    }
    set_mask(me, before | action.mask | own_bit);
    let mut info = info_of(signal);
    // SAFETY: a structure of words, which may be zero.
    let mut context: ucontext_t = unsafe { core::mem::zeroed() };
    context.uc_mcontext.gregs[libc::REG_RIP as usize] = pc as i64;
    // SAFETY: the set is ours.
    unsafe { super::write_set(&mut context.uc_sigmask, before) };
    // A handler finds memory as others do, whatever call it came into.
    staged::aside(me, || {
        fenv::aside(|| call(action, signal.number, &mut info, &mut context));
    });
    // SAFETY: as above. A handler may have changed what it returns to.
    set_mask(me, unsafe { super::read_set(&context.uc_sigmask) });
}

/// Calls the handler, on the alternate stack if it is to be there.
fn call(action: Action, signal: c_int, info: &mut siginfo_t, context: &mut ucontext_t) {
    let me = gate::me();
    let (stack, size, busy) = {
        let own = own(me);
        (own.stack, own.stack_size, own.on_stack != 0)
    };
    let (info, context) = (&raw mut *info, (&raw mut *context).cast::<c_void>());
    let switch = action.flags & libc::SA_ONSTACK != 0 && size != 0 && !busy;
    if switch {
        own(me).on_stack = 1;
        let top = (stack + size) & !15;
        // SAFETY: the program's handler, on the stack that it gave.
        unsafe { call_on(signal, info, context, action.handler, top) };
        own(me).on_stack = 0;
    } else {
        type Handler = extern "C-unwind" fn(c_int, *mut siginfo_t, *mut c_void);
        // SAFETY: the program gave this function for this signal.
        let handler = unsafe { core::mem::transmute::<usize, Handler>(action.handler) };
        handler(signal, info, context);
    }
}

/// Calls `handler` with the first three arguments on the stack that ends at `top`.
#[unsafe(naked)]
unsafe extern "C-unwind" fn call_on(
    signal: c_int,
    info: *mut siginfo_t,
    context: *mut c_void,
    handler: usize,
    top: usize,
) {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_rel_offset rbp, 0",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "mov rsp, r8",
        "call rcx",
        "mov rsp, rbp",
        "pop rbp",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
    )
}

/// Bytes of the smallest alternate stack: what the processor's registers take counts.
fn least_stack() -> usize {
    const AT_MINSIGSTKSZ: u64 = 51;
    // SAFETY: asks only; 0 where the kernel does not tell.
    libc::MINSIGSTKSZ.max(unsafe { libc::getauxval(AT_MINSIGSTKSZ) } as usize)
}

/// `sigaltstack` of the running thread: 0 or an errno.
///
/// # Safety
/// The pointers are null or as the function's documentation says.
pub unsafe fn alternate_stack(new: *const libc::stack_t, old: *mut libc::stack_t) -> c_int {
    let own = own(gate::me());
    // SAFETY: the caller's promise.
    let (new, old) = unsafe { (new.as_ref().copied(), old.as_mut()) };
    if let Some(old) = old {
        old.ss_sp = own.stack as *mut c_void;
        old.ss_size = own.stack_size;
        old.ss_flags = match (own.stack_size, own.on_stack) {
            (0, _) => libc::SS_DISABLE,
            (_, 0) => 0,
            _ => libc::SS_ONSTACK,
        };
    }
    let Some(new) = new else { return 0 };
    if own.on_stack != 0 {
        return libc::EPERM;
    }
    // What the kernel takes for a mode: none, one of these two; its automatic disarming besides.
    const AUTODISARM: c_int = 1 << 31;
    let mode = new.ss_flags & !AUTODISARM;
    if ![0, libc::SS_ONSTACK, libc::SS_DISABLE].contains(&mode) {
        return libc::EINVAL;
    }
    if new.ss_flags & libc::SS_DISABLE != 0 {
        (own.stack, own.stack_size) = (0, 0);
    } else if new.ss_size < least_stack() {
        return libc::ENOMEM;
    } else {
        (own.stack, own.stack_size) = (new.ss_sp as usize, new.ss_size);
    }
    0
}
