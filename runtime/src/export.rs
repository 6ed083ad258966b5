//! The macros that export intercepted functions.

/// Exports functions that shadow those of the C library.
///
/// `export! { fn name(a: A, b: B) -> R = path::to::implementation; }` defines the symbol `name`. It
/// puts the caller's return address into the register of the argument behind the function's own (at
/// most five, none of them floating point) and jumps to the implementation, which therefore is an
/// `extern "C-unwind" fn` with one parameter more, of type `usize`. The type is checked. Its name
/// must not be that of the symbol. `C-unwind` because `pthread_exit` and cancellation unwind the
/// program's stack through our frames: code that may switch threads must hold nothing with a
/// destructor. Unit tests get no symbol: they must not hijack their own process.
///
/// ```ignore
/// export! { fn sem_post(sem: *mut sem_t) -> c_int = post; }
/// extern "C-unwind" fn post(sem: *mut sem_t, pc: usize) -> c_int
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
                core::arch::naked_asm!(
                    concat!("mov ", $crate::register_behind!($($arg)*), ", [rsp]"),
                    "jmp {}",
                    sym $imp,
                )
            }
        };
    )*};
}

/// The type of an implementation: see [`export!`].
#[doc(hidden)]
#[macro_export]
macro_rules! export_type {
    (($($arg:ty),*) $(-> $ret:ty)?) => { unsafe extern "C-unwind" fn($($arg,)* usize) $(-> $ret)? };
}

/// The register of the integer argument behind so many (System V ABI for x86-64, 3.2.3).
#[doc(hidden)]
#[macro_export]
macro_rules! register_behind {
    () => {
        "rdi"
    };
    ($a:ident) => {
        "rsi"
    };
    ($a:ident $b:ident) => {
        "rdx"
    };
    ($a:ident $b:ident $c:ident) => {
        "rcx"
    };
    ($a:ident $b:ident $c:ident $d:ident) => {
        "r8"
    };
    ($a:ident $b:ident $c:ident $d:ident $e:ident) => {
        "r9"
    };
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
