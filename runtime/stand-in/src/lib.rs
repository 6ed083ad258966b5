//! What the controller has loaded in place of `libtsan.so.2`, so that ThreadSanitizer's own runtime
//! stays away. The hooks themselves are in `libraddle.so`; here is what only programs that were
//! built by gcc with `-fsanitize=thread` need: `memcpy` and its kin, which gcc calls without a hook
//! because ThreadSanitizer intercepts them, other functions of the C library, for the same reason
//! (`protocol/src/effects.rs`), and the names of `sanitizer/common_interface_defs.h`.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use core::arch::naked_asm;
use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

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

/// A function of the C library that has a wrapper here.
struct Function {
    name: &'static CStr,
    /// That of the C library, once it was looked up.
    address: AtomicUsize,
}

impl Function {
    fn address(&self) -> usize {
        let known = self.address.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        // SAFETY: a plain look-up of a NUL-terminated name.
        let address = unsafe { dlsym(NEXT, self.name.as_ptr()) } as usize;
        self.address.store(address, Ordering::Relaxed);
        address
    }
}

/// `RTLD_NEXT`.
const NEXT: *mut c_void = -1isize as *mut c_void;

unsafe extern "C" {
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn raddle_library_call(name: *const c_char, arguments: *const usize, caller: usize);
    fn raddle_library_result(
        name: *const c_char,
        arguments: *const usize,
        caller: usize,
        result: usize,
    );
}

fn is_ready() -> bool {
    READY.load(Ordering::Relaxed) != 0
}

/// Tells of the call; what to jump to.
extern "C-unwind" fn tell(function: &Function, arguments: *const usize, caller: usize) -> usize {
    if is_ready() {
        // SAFETY: the name and the arguments of the call.
        unsafe { raddle_library_call(function.name.as_ptr(), arguments, caller) };
    }
    function.address()
}

/// Tells of the call, makes it, and tells of its result.
extern "C-unwind" fn call(function: &Function, arguments: *const usize, caller: usize) -> usize {
    type Real = unsafe extern "C-unwind" fn(usize, usize, usize, usize, usize, usize) -> usize;
    let address = tell(function, arguments, caller);
    // SAFETY: a function of at most six arguments, which are these.
    let result = unsafe {
        let real = core::mem::transmute::<usize, Real>(address);
        let [a, b, c, d, e, f] = *arguments.cast::<[usize; 6]>();
        real(a, b, c, d, e, f)
    };
    if is_ready() {
        // SAFETY: as in `tell`.
        unsafe { raddle_library_result(function.name.as_ptr(), arguments, caller, result) };
    }
    result
}

/// Defines wrappers of functions of the C library. `$with` gets the function, its arguments and the
/// caller; then come the instructions of `$then`.
macro_rules! wrap {
    ($with:ident, $then:literal; $($name:ident)*) => {$(
        const _: () = {
            static FUNCTION: Function = Function {
                name: match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!(),
                },
                address: AtomicUsize::new(0),
            };

            /// As in C; `libraddle.so` is told what it does to memory.
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C" fn $name() {
                naked_asm!(
                    ".cfi_startproc",
                    "push rax", // counts vector registers where there may be more arguments
                    "push r9", "push r8", "push rcx", "push rdx", "push rsi", "push rdi",
                    ".cfi_adjust_cfa_offset 56",
                    "lea rdi, [rip + {function}]",
                    "mov rsi, rsp",
                    "mov rdx, [rsp + 56]",
                    "call {with}",
                    $then,
                    ".cfi_endproc",
                    function = sym FUNCTION,
                    with = sym $with,
                )
            }
        };
    )*};
}

wrap! { call, "add rsp, 56\n.cfi_adjust_cfa_offset -56\nret";
    strlen strdup __strdup puts fputs strrchr rindex strnlen strndup __strndup strchr index strchrnul
    memchr strcmp strncmp memcmp bcmp strcpy stpcpy strncpy stpncpy strcat strncat mempcpy bzero
    explicit_bzero qsort pread pread64 pwrite pwrite64 fread fread_unlocked fwrite fwrite_unlocked
    vsnprintf vsprintf
}

// More arguments may lie on the stack and in vector registers.
wrap! { tell, "mov r11, rax\npop rdi\npop rsi\npop rdx\npop rcx\npop r8\npop r9\npop rax\n.cfi_adjust_cfa_offset -56\njmp r11";
    snprintf sprintf
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
