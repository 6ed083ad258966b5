//! Functions of the C library that wait for other processes or machines, or act on them, and have no
//! model: they are named, and then they do what they do.

use crate::gate;
use crate::real::Entry;
use crate::threads::points::{self, is_point};
use crate::{intercept, numbers};
use core::ffi::{c_char, c_int, c_void};
use libc::{addrinfo, sockaddr, socklen_t};

/// Names the function, if threads are controlled; what to jump to.
extern "C-unwind" fn note(function: &'static Entry, pc: usize) -> usize {
    if gate::active() {
        let name = function.name().to_str().unwrap_or_default();
        if is_point(name) {
            points::enter(pc);
        }
        gate::uncontrolled(name);
    }
    function.address()
}

/// Exports a function by instructions that ask another one where to jump to.
macro_rules! export {
    ($name:ident by $asked:ident: $($instruction:literal)*) => {
        #[cfg(not(test))]
        const _: () = {
            #[used]
            #[unsafe(link_section = "raddle_real")]
            static ENTRY: Entry = Entry::named(concat!(stringify!($name), "\0"));

            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C-unwind" fn $name() {
                core::arch::naked_asm!(
                    ".cfi_startproc",
                    $($instruction,)*
                    "jmp r11",
                    ".cfi_endproc",
                    entry = sym ENTRY,
                    asked = sym $asked,
                )
            }
        };
    };
}

/// Exports functions, whatever their arguments, that are named when they are called.
macro_rules! named {
    ($($name:ident)*) => {$(
        // All registers that hold arguments are kept; rax counts vector registers.
        export! { $name by note:
            "push rdi" "push rsi" "push rdx" "push rcx" "push r8" "push r9" "push rax"
            ".cfi_adjust_cfa_offset 56"
            "lea rdi, [rip + {entry}]"
            "mov rsi, [rsp + 56]"
            "call {asked}"
            "mov r11, rax"
            "pop rax" "pop r9" "pop r8" "pop rcx" "pop rdx" "pop rsi" "pop rdi"
            ".cfi_adjust_cfa_offset -56"
        }
    )*};
}

named! {
    gethostbyname gethostbyname2 gethostbyaddr gethostbyname_r gethostbyname2_r gethostbyaddr_r
    getaddrinfo_a gai_suspend
    res_query res_search res_querydomain res_send res_nquery res_nsearch res_nquerydomain res_nsend
    rcmd rcmd_af rexec rexec_af
    ptrace pidfd_send_signal
    statfs statfs64 fstatfs fstatfs64 statvfs statvfs64 fstatvfs fstatvfs64
    tcdrain tcsendbreak getpass vmsplice wordexp
    remap_file_pages process_madvise
}

/// A function of more arguments than `intercept!` has room for, whose first is the number of a
/// process: that number as the kernel knows it, and what to jump to. Another process is named.
#[repr(C)]
struct Known {
    function: usize,
    process: isize,
}

extern "C" fn known(function: &'static Entry, process: libc::pid_t) -> Known {
    let function = match numbers::is_own(process) {
        true => function.address(),
        false => note(function, 0),
    };
    Known {
        function,
        process: numbers::process(process) as isize,
    }
}

/// Exports functions that have their first argument translated by [`known`].
macro_rules! of_process {
    ($($name:ident)*) => {$(
        export! { $name by known:
            "push rsi" "push rdx" "push rcx" "push r8" "push r9"
            ".cfi_adjust_cfa_offset 40"
            "mov esi, edi"
            "lea rdi, [rip + {entry}]"
            "call {asked}"
            "mov r11, rax"
            "mov rdi, rdx"
            "pop r9" "pop r8" "pop rcx" "pop rdx" "pop rsi"
            ".cfi_adjust_cfa_offset -40"
        }
    )*};
}

of_process! { process_vm_readv process_vm_writev }

/// Is this the text of an address, which nobody is asked about?
fn is_address(name: *const c_char) -> bool {
    let mut address = [0u8; 16];
    [libc::AF_INET, libc::AF_INET6].into_iter().any(|family| {
        let into = address.as_mut_ptr().cast::<c_void>();
        // SAFETY: the program's text; room for either kind of address.
        unsafe { inet_pton(family, name, into) == 1 }
    })
}

unsafe extern "C" {
    fn inet_pton(family: c_int, text: *const c_char, into: *mut c_void) -> c_int;
}

intercept! {
    fn getaddrinfo(
        name: *const c_char, service: *const c_char, hints: *const addrinfo, into: *mut *mut addrinfo,
    ) -> c_int, pc => {
        let numeric = hints.as_ref().is_some_and(|h| h.ai_flags & libc::AI_NUMERICHOST != 0);
        if !name.is_null() && !numeric && !is_address(name) {
            gate::uncontrolled("getaddrinfo");
        }
        real::getaddrinfo(name, service, hints, into)
    };
}

/// `getnameinfo`, which has seven arguments.
unsafe extern "C-unwind" fn name_of_address(
    at: *const sockaddr,
    len: socklen_t,
    host: *mut c_char,
    room: socklen_t,
    service: *mut c_char,
    service_room: socklen_t,
    flags: c_int,
    _: usize,
) -> c_int {
    if gate::active() && !host.is_null() && flags & libc::NI_NUMERICHOST == 0 {
        gate::uncontrolled("getnameinfo");
    }
    // SAFETY: the program's arguments, handed on.
    unsafe { real7::getnameinfo(at, len, host, room, service, service_room, flags) }
}

/// The C library's function of seven arguments.
mod real7 {
    use super::*;
    crate::real! {
        fn getnameinfo(
            at: *const sockaddr, len: socklen_t, host: *mut c_char, room: socklen_t,
            service: *mut c_char, service_room: socklen_t, flags: c_int,
        ) -> c_int;
    }
}

crate::export_seven! { fn getnameinfo = name_of_address; }
