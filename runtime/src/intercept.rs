//! One row for each intercepted function: its type, and what it does while threads are controlled.

/// Defines the export, the real function and the pass-through of each row.
///
/// `intercept! { fn name(a: A) -> R, pc => expression; }` exports `name` (see [`crate::export!`]).
/// While threads are not controlled it calls the real one; else its value is that of the
/// expression, in which `pc` is the caller's return address. The expression stands in an `unsafe`
/// block: it relies on the program's arguments as the C library would. Makes a module `on` with the
/// implementations and a module `real` with the real functions: one use a module.
///
/// With `kernel;` before the rows these are system calls: where an argument leads to memory that is not
/// there ([`crate::gone`]), the real one is called, which fails.
#[macro_export]
macro_rules! intercept {
    (kernel; $($rows:tt)*) => {
        $crate::intercept! { @rows true; $($rows)* }
    };
    (@rows $kernel:literal; $($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> $ret:ty, $pc:ident => $body:expr;)*) => {
        /// The C library's functions.
        mod real {
            use super::*;
            $crate::real! { $(fn $name($($arg: $ty),*) -> $ret;)* }
        }

        /// What the exports jump to.
        mod on {
            use super::*;
            $(
                pub unsafe extern "C-unwind" fn $name($($arg: $ty,)* $pc: usize) -> $ret {
                    #[allow(unused_imports)]
                    use $crate::gone::Value as _;
                    if const { $crate::threads::points::is_point(stringify!($name)) } {
                        $crate::threads::points::enter($pc);
                    }
                    const KNOWN: $crate::gone::Known = $crate::gone::Known::of(stringify!($name));
                    if !$crate::gate::active()
                        || $kernel && $crate::gone::any(
                            &KNOWN,
                            &[$($crate::gone::Argument($arg).memory()),*],
                            &[$($crate::gone::Argument($arg).number()),*],
                        )
                    {
                        // SAFETY: the program's arguments, handed on.
                        return unsafe { real::$name($($arg),*) };
                    }
                    let _ = $pc;
                    // SAFETY: the arguments are what the C function's contract says of them.
                    #[allow(unused_unsafe, clippy::macro_metavars_in_unsafe)]
                    unsafe { $body }
                }
            )*
        }

        $crate::export! { $($(#[$doc])* fn $name($($arg: $ty),*) -> $ret = on::$name;)* }
    };
    ($($rows:tt)*) => {
        $crate::intercept! { @rows false; $($rows)* }
    };
}
