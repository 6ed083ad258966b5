//! Intercepted functions of six arguments: the caller's address goes on the stack.

/// As [`crate::intercept!`], for functions of exactly six arguments of the register class.
#[doc(hidden)]
#[macro_export]
macro_rules! intercept6 {
    ($(fn $name:ident($a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty, $d:ident: $td:ty, $e:ident: $te:ty, $f:ident: $tf:ty)
        -> $ret:ty, $pc:ident => $body:expr;)*) => {
        /// The C library's functions of six arguments.
        mod real6 {
            use super::*;
            $crate::real! { $(fn $name($a: $ta, $b: $tb, $c: $tc, $d: $td, $e: $te, $f: $tf) -> $ret;)* }
        }

        /// What the exports call.
        mod on6 {
            use super::*;
            $(
                #[allow(clippy::too_many_arguments)]
                pub unsafe extern "C-unwind" fn $name(
                    $a: $ta, $b: $tb, $c: $tc, $d: $td, $e: $te, $f: $tf, $pc: usize,
                ) -> $ret {
                    #[allow(unused_imports)]
                    use $crate::gone::Value as _;
                    if const { $crate::threads::points::is_point(stringify!($name)) } {
                        $crate::threads::points::enter($pc);
                    }
                    const KNOWN: $crate::gone::Known = $crate::gone::Known::of(stringify!($name));
                    if !$crate::gate::active()
                        || $crate::gone::any(
                            &KNOWN,
                            &[
                                $crate::gone::Argument($a).memory(),
                                $crate::gone::Argument($b).memory(),
                                $crate::gone::Argument($c).memory(),
                                $crate::gone::Argument($d).memory(),
                                $crate::gone::Argument($e).memory(),
                                $crate::gone::Argument($f).memory(),
                            ],
                            &[],
                        )
                    {
                        // SAFETY: the program's arguments, handed on.
                        return unsafe { real6::$name($a, $b, $c, $d, $e, $f) };
                    }
                    // SAFETY: the arguments are what the C function's contract says of them.
                    #[allow(unused_unsafe)]
                    unsafe { $body }
                }
            )*
        }

        $(
            #[cfg(not(test))]
            const _: () = {
                #[unsafe(no_mangle)]
                #[unsafe(naked)]
                unsafe extern "C-unwind" fn $name(
                    $a: $ta, $b: $tb, $c: $tc, $d: $td, $e: $te, $f: $tf,
                ) -> $ret {
                    core::arch::naked_asm!(
                        ".cfi_startproc",
                        "push [rsp]",
                        ".cfi_adjust_cfa_offset 8",
                        "call {}",
                        "add rsp, 8",
                        ".cfi_adjust_cfa_offset -8",
                        "ret",
                        ".cfi_endproc",
                        sym on6::$name,
                    )
                }
            };
        )*
    };
}
