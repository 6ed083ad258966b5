//! What the controller has loaded in place of `libtsan.so.2`, so that ThreadSanitizer's own runtime
//! stays away. The hooks themselves are in `libraddle.so`; here is what only programs that were
//! built by gcc with `-fsanitize=thread` need: `memcpy` and its kin, which gcc calls without a hook
//! because ThreadSanitizer intercepts them, and the names of `sanitizer/common_interface_defs.h`.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use core::arch::naked_asm;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

/// First byte of `libraddle.so`.
static LOW: AtomicUsize = AtomicUsize::new(0);
/// Its bytes. At first everything passes for it, since nothing is relocated yet.
static SIZE: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Defines a function that goes to the hook `$hook`, except for callers in `libraddle.so`, which
/// get the plain operation.
macro_rules! block {
    ($name:ident, $hook:literal, $($plain:literal),+) => {
        /// As in C; an access that `libraddle.so` is told of.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            naked_asm!(
                "mov rax, [rsp]",
                "sub rax, [rip + {low}]",
                "cmp rax, [rip + {size}]",
                "jb 2f",
                concat!("jmp qword ptr [rip + ", $hook, "@GOTPCREL]"),
                "2:",
                "mov rax, rdi",
                $($plain),+,
                low = sym LOW,
                size = sym SIZE,
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
        pub unsafe extern "C" fn $name() {
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
        pub unsafe extern "C" fn $name() {
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

unsafe extern "C" {
    /// A function of `libraddle.so`.
    fn __tsan_init();
}

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

extern "C" fn start() {
    // SAFETY: the callback has the declared type.
    unsafe { libc::dl_iterate_phdr(Some(look_at), core::ptr::null_mut()) };
}

unsafe extern "C" fn look_at(info: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> c_int {
    // SAFETY: the dynamic linker passes a valid description of a module.
    let (base, headers) = unsafe {
        let info = &*info;
        let headers = core::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize);
        (info.dlpi_addr as usize, headers)
    };
    let loaded = headers.iter().filter(|h| h.p_type == libc::PT_LOAD);
    let end = loaded.map(|h| h.p_vaddr + h.p_memsz).max().unwrap_or(0) as usize;
    let hook = __tsan_init as *const () as usize;
    if (base..base + end).contains(&hook) {
        LOW.store(base, Ordering::Relaxed);
        SIZE.store(end, Ordering::Relaxed);
        return 1;
    }
    0
}
