//! The macros that export intercepted functions.

/// Exports functions that shadow those of the C library.
///
/// `export! { fn name(a: A, b: B) -> R = path::to::implementation; }` defines the symbol `name`. It
/// puts the caller's return address into the sixth argument register and jumps to the
/// implementation, which therefore is an `extern "C-unwind" fn` of exactly six parameters: the function's
/// own (at most five, none of them floating point), `usize` for every register in between (their
/// content is undefined), and the return address. The type is checked. Its name must not be that of the
/// symbol. `C-unwind` because
/// `pthread_exit` and cancellation unwind the program's stack through our frames: code that may
/// switch threads must hold nothing with a destructor. Unit tests get no symbol:
/// they must not hijack their own process.
///
/// ```ignore
/// export! { fn sem_post(sem: *mut sem_t) -> c_int = post; }
/// extern "C-unwind" fn post(sem: *mut sem_t, _: usize, _: usize, _: usize, _: usize, pc: usize) -> c_int
/// ```
#[macro_export]
macro_rules! export {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? = $imp:path;)*) => {$(
        const _: $crate::export_type!(($($ty),*) $(-> $ret)?) = $imp;

        #[cfg(not(test))]
        const _: () = {
            $(#[$doc])*
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C-unwind" fn $name($($arg: $ty),*) $(-> $ret)? {
                core::arch::naked_asm!("mov r9, [rsp]", "jmp {}", sym $imp)
            }
        };
    )*};
}

/// The type of an implementation: see [`export!`].
#[doc(hidden)]
#[macro_export]
macro_rules! export_type {
    (() $(-> $r:ty)?) => { unsafe extern "C-unwind" fn(usize, usize, usize, usize, usize, usize) $(-> $r)? };
    (($a:ty) $(-> $r:ty)?) => { unsafe extern "C-unwind" fn($a, usize, usize, usize, usize, usize) $(-> $r)? };
    (($a:ty, $b:ty) $(-> $r:ty)?) => { unsafe extern "C-unwind" fn($a, $b, usize, usize, usize, usize) $(-> $r)? };
    (($a:ty, $b:ty, $c:ty) $(-> $r:ty)?) => { unsafe extern "C-unwind" fn($a, $b, $c, usize, usize, usize) $(-> $r)? };
    (($a:ty, $b:ty, $c:ty, $d:ty) $(-> $r:ty)?) => { unsafe extern "C-unwind" fn($a, $b, $c, $d, usize, usize) $(-> $r)? };
    (($a:ty, $b:ty, $c:ty, $d:ty, $e:ty) $(-> $r:ty)?) => { unsafe extern "C-unwind" fn($a, $b, $c, $d, $e, usize) $(-> $r)? };
}

/// Exports functions of seven integer arguments, of which the last lies on the stack.
///
/// `export_seven! { fn name = path::to::implementation; }` defines the symbol `name`. It calls the
/// implementation with the arguments as they came, the seventh and the caller's return address
/// behind the six in registers.
#[macro_export]
macro_rules! export_seven {
    ($($(#[$doc:meta])* fn $name:ident = $imp:path;)*) => {$(
        #[cfg(not(test))]
        const _: () = {
            $(#[$doc])*
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C-unwind" fn $name() {
                core::arch::naked_asm!(
                    ".cfi_startproc",
                    "sub rsp, 8",
                    ".cfi_adjust_cfa_offset 8",
                    "push [rsp + 8]",
                    ".cfi_adjust_cfa_offset 8",
                    "push [rsp + 24]",
                    ".cfi_adjust_cfa_offset 8",
                    "call {}",
                    "add rsp, 24",
                    ".cfi_adjust_cfa_offset -24",
                    "ret",
                    ".cfi_endproc",
                    sym $imp,
                )
            }
        };
    )*};
}
