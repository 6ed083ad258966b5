//! One row for each intercepted function: its type, and what it does while threads are controlled.

/// Defines the export, the real function and the pass-through of each row.
///
/// `intercept! { fn name(a: A) -> R, pc => expression; }` exports `name` (see [`crate::export!`]).
/// While threads are not controlled it calls the real one; else its value is that of the
/// expression, in which `pc` is the caller's return address. The expression stands in an `unsafe`
/// block: it relies on the program's arguments as the C library would. Makes a module `on` with the
/// implementations and a module `real` with the real functions: one use a module.
#[macro_export]
macro_rules! intercept {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> $ret:ty, $pc:ident => $body:expr;)*) => {
        /// The C library's functions.
        mod real {
            use super::*;
            $crate::real! { $(fn $name($($arg: $ty),*) -> $ret;)* }
        }

        /// What the exports jump to.
        mod on {
            use super::*;
            $($crate::implementation! { $name [$($arg: $ty),*] $ret, $pc => $body })*
        }

        $crate::export! { $($(#[$doc])* fn $name($($arg: $ty),*) -> $ret = on::$name;)* }
    };
}

/// One function of exactly six parameters: see [`crate::export!`].
#[doc(hidden)]
#[macro_export]
macro_rules! implementation {
    ($name:ident [] $ret:ty, $pc:ident => $body:expr) => {
        $crate::implementation! { @ $name [] [_unused1, _unused2, _unused3, _unused4, _unused5] $ret, $pc => $body }
    };
    ($name:ident [$a:ident: $ta:ty] $ret:ty, $pc:ident => $body:expr) => {
        $crate::implementation! { @ $name [$a: $ta] [_unused2, _unused3, _unused4, _unused5] $ret, $pc => $body }
    };
    ($name:ident [$a:ident: $ta:ty, $b:ident: $tb:ty] $ret:ty, $pc:ident => $body:expr) => {
        $crate::implementation! { @ $name [$a: $ta, $b: $tb] [_unused3, _unused4, _unused5] $ret, $pc => $body }
    };
    ($name:ident [$a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty] $ret:ty, $pc:ident => $body:expr) => {
        $crate::implementation! { @ $name [$a: $ta, $b: $tb, $c: $tc] [_unused4, _unused5] $ret, $pc => $body }
    };
    ($name:ident [$a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty, $d:ident: $td:ty] $ret:ty, $pc:ident => $body:expr) => {
        $crate::implementation! { @ $name [$a: $ta, $b: $tb, $c: $tc, $d: $td] [_unused5] $ret, $pc => $body }
    };
    ($name:ident [$a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty, $d:ident: $td:ty, $e:ident: $te:ty] $ret:ty, $pc:ident => $body:expr) => {
        $crate::implementation! { @ $name [$a: $ta, $b: $tb, $c: $tc, $d: $td, $e: $te] [] $ret, $pc => $body }
    };
    (@ $name:ident [$($arg:ident: $ty:ty),*] [$($pad:ident),*] $ret:ty, $pc:ident => $body:expr) => {
        pub unsafe extern "C-unwind" fn $name($($arg: $ty,)* $($pad: usize,)* $pc: usize) -> $ret {
            if !$crate::gate::active() {
                // SAFETY: the program's arguments, handed on.
                return unsafe { real::$name($($arg),*) };
            }
            let _ = $pc;
            // SAFETY: the arguments are what the C function's contract says of them.
            #[allow(unused_unsafe)]
            unsafe { $body }
        }
    };
}
