//! The floating point environment, which each thread has for itself (`substrate::fiber`), and each
//! handler of a signal. What `verify` makes of floating point numbers holds for the one that programs
//! begin with; another one is named in symbolic runs.

use crate::gate;
use core::ffi::c_int;

/// The control word that programs begin with: to the nearest, no traps, small numbers stay.
const USUAL: u32 = 0x1f80;
/// Bits that say what happened.
const STATUS: u32 = 0x3f;

/// How the processor computes: in the vector unit, and in the x87 unit, which has none of its registers
/// in use where functions are called.
#[repr(C)]
pub struct Environment {
    mxcsr: u32,
    x87_control: u16,
    x87_status: u16,
}

impl Environment {
    /// What programs, and handlers of signals, begin with.
    const USUAL: Environment = Environment {
        mxcsr: USUAL,
        x87_control: 0x37f,
        x87_status: 0,
    };

    /// The running thread's.
    pub fn current() -> Environment {
        let mut now = Environment::USUAL;
        // SAFETY: stores to the three fields.
        unsafe {
            core::arch::asm!(
                "stmxcsr [{0}]", "fnstcw [{0} + 4]", "fnstsw [{0} + 6]",
                in(reg) &raw mut now, options(nostack, preserves_flags),
            );
        }
        now
    }

    /// Makes it the running thread's.
    fn put(&self) {
        // The seven words of the x87 unit's own environment.
        let mut words = [0u32; 7];
        // SAFETY: stores to the words, and loads them and the fields. Exceptions that were seen are
        // taken away before a control word is loaded that may let them trap.
        unsafe {
            core::arch::asm!(
                "fnclex", "fnstenv [{words}]",
                words = in(reg) words.as_mut_ptr(), options(nostack, preserves_flags),
            );
            words[0] = u32::from(self.x87_control);
            words[1] |= u32::from(self.x87_status & 0x7f);
            core::arch::asm!(
                "ldmxcsr [{own}]", "fldenv [{words}]",
                own = in(reg) self, words = in(reg) words.as_ptr(), options(nostack, preserves_flags),
            );
        }
    }
}

/// Calls a handler of a signal, which has an environment of its own, as the kernel has it.
pub fn aside(handler: impl FnOnce()) {
    let interrupted = Environment::current();
    Environment::USUAL.put();
    handler();
    interrupted.put();
}

/// Does the running thread compute as programs do that set nothing?
fn is_usual() -> bool {
    let mut word = 0u32;
    // SAFETY: stores the control word.
    unsafe { core::arch::asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack)) };
    word & !STATUS == USUAL
}

/// Names who has set the environment, in symbolic runs and unless it is the usual one.
pub fn look(name: &str) {
    if crate::vars::symbolic() && !is_usual() {
        gate::uncontrolled(name);
    }
}

/// Exports functions of one argument that set the environment.
macro_rules! set {
    ($($name:ident)*) => {
        mod on {
            use super::*;
            use crate::real::Entry;
            $(
                pub unsafe extern "C-unwind" fn $name(to: usize, _: usize) -> c_int {
                    #[used]
                    #[unsafe(link_section = "raddle_real")]
                    static ENTRY: Entry = Entry::named(concat!(stringify!($name), "\0"));
                    let address = ENTRY.address_in(&[c"libm.so.6"]);
                    // SAFETY: the C library's function of this name, with the program's argument.
                    let result = unsafe {
                        core::mem::transmute::<usize, unsafe extern "C" fn(usize) -> c_int>(address)(to)
                    };
                    if gate::active() {
                        look(concat!("floating point as set by ", stringify!($name)));
                    }
                    result
                }
            )*
        }
        crate::export! { $(
            /// As in C, or as glibc adds.
            fn $name(to: usize) -> c_int = on::$name;
        )* }
    };
}

set! { fesetround fesetenv feupdateenv fesetmode feenableexcept }
