//! What the controller has loaded in place of `libtsan.so.2`, so that ThreadSanitizer's own runtime
//! stays away. The hooks themselves are in `libraddle.so`; here is what only programs that were
//! built by gcc with `-fsanitize=thread` need: `memcpy` and its kin, which gcc calls without a hook
//! because ThreadSanitizer intercepts them, and the names of `sanitizer/common_interface_defs.h`.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use core::arch::naked_asm;
use core::sync::atomic::{AtomicU8, Ordering};

/// Not 0 once this library is relocated, so that the hooks can be called.
static READY: AtomicU8 = AtomicU8::new(0);

/// Defines a function that goes to the hook `$hook`; before that can be called it does the plain
/// operation.
macro_rules! block {
    ($name:ident, $hook:literal, $($plain:literal),+) => {
        /// As in C; an access that `libraddle.so` is told of.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            naked_asm!(
                "cmp byte ptr [rip + {ready}], 0",
                "je 2f",
                concat!("jmp qword ptr [rip + ", $hook, "@GOTPCREL]"),
                "2:",
                "mov rax, rdi",
                $($plain),+,
                ready = sym READY,
            )
        }
    };
}

block!(memcpy, "__tsan_memcpy", "mov rcx, rdx", "rep movsb", "ret");
block!(
    memmove,
    "__tsan_memmove",
    "mov rcx, rdx",
    "mov r8, rdi",
    "sub r8, rsi",
    "cmp r8, rdx",
    "jb 3f",
    "rep movsb",
    "ret",
    "3:", // the target begins within the source: from the end downwards
    "lea rdi, [rdi + rcx - 1]",
    "lea rsi, [rsi + rcx - 1]",
    "std",
    "rep movsb",
    "cld",
    "ret"
);
block!(
    memset,
    "__tsan_memset",
    "mov r8, rdi",
    "mov eax, esi",
    "mov rcx, rdx",
    "rep stosb",
    "mov rax, r8",
    "ret"
);

/// Defines a function that is a hook under another name.
macro_rules! forward {
    ($($name:ident => $hook:literal;)*) => {$(
        /// See `sanitizer/common_interface_defs.h`.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            naked_asm!(concat!("jmp qword ptr [rip + ", $hook, "@GOTPCREL]"))
        }
    )*};
}

forward! {
    __sanitizer_unaligned_load16 => "raddle_read2";
    __sanitizer_unaligned_load32 => "raddle_read4";
    __sanitizer_unaligned_load64 => "raddle_read8";
    __sanitizer_unaligned_store16 => "raddle_write2";
    __sanitizer_unaligned_store32 => "raddle_write4";
    __sanitizer_unaligned_store64 => "raddle_write8";
}

/// Defines functions that do nothing and return 0.
macro_rules! nothing {
    ($($name:ident)*) => {$(
        /// Has no meaning without ThreadSanitizer's runtime.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            naked_asm!("xor eax, eax", "ret")
        }
    )*};
}

nothing! {
    __sanitizer_acquire_crash_state
    __sanitizer_get_allocated_size
    __sanitizer_get_current_allocated_bytes
    __sanitizer_get_estimated_allocated_size
    __sanitizer_get_free_bytes
    __sanitizer_get_heap_size
    __sanitizer_get_module_and_offset_for_pc
    __sanitizer_get_ownership
    __sanitizer_get_report_path
    __sanitizer_get_unmapped_bytes
    __sanitizer_install_malloc_and_free_hooks
    __sanitizer_print_stack_trace
    __sanitizer_report_error_summary
    __sanitizer_sandbox_on_notify
    __sanitizer_set_death_callback
    __sanitizer_set_report_fd
    __sanitizer_set_report_path
    __sanitizer_symbolize_global
    __sanitizer_symbolize_pc
}

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

extern "C" fn start() {
    READY.store(1, Ordering::Relaxed);
}
