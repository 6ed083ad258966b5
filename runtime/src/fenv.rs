//! The floating point environment. What `verify` makes of floating point numbers holds for the one
//! that programs begin with; another one is named in symbolic runs.

use crate::gate;
use core::ffi::c_int;

/// The control word that programs begin with: to the nearest, no traps, small numbers stay.
const USUAL: u32 = 0x1f80;
/// Bits that say what happened.
const STATUS: u32 = 0x3f;

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
                pub unsafe extern "C-unwind" fn $name(
                    to: usize, _: usize, _: usize, _: usize, _: usize, _: usize,
                ) -> c_int {
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
