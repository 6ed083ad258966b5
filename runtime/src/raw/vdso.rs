//! The kernel's shared object (vdso), whose functions tell the time without a system call: they are
//! made to jump to functions of this library, for programs that look for them by themselves.

use crate::{entropy, gate, os, time};
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use libc::{Elf64_Ehdr, Elf64_Phdr, Elf64_Sym, timespec};

/// A function of the kernel's, and the address of ours.
type Row = (&'static CStr, usize);

fn table() -> [Row; 6] {
    [
        (c"__vdso_clock_gettime", clock_gettime as *const () as usize),
        (c"__vdso_gettimeofday", gettimeofday as *const () as usize),
        (c"__vdso_time", time_now as *const () as usize),
        (c"__vdso_clock_getres", clock_getres as *const () as usize),
        (c"__vdso_getcpu", getcpu as *const () as usize),
        (c"__vdso_getrandom", getrandom as *const () as usize),
    ]
}

/// An entry of the dynamic section.
#[repr(C)]
struct Dynamic {
    tag: u64,
    value: u64,
}

/// Redirects the functions. To be called once, before the process is cloned. Where the object cannot
/// be written, programs do not find it.
pub fn redirect() {
    // SAFETY: the kernel's object is mapped where it says, and is a valid one; only one thread
    // exists.
    unsafe {
        let base = libc::getauxval(libc::AT_SYSINFO_EHDR) as usize;
        if base == 0 {
            return;
        }
        let header = &*(base as *const Elf64_Ehdr);
        let headers = core::slice::from_raw_parts(
            (base + header.e_phoff as usize) as *const Elf64_Phdr,
            header.e_phnum.into(),
        );
        let of_kind = |kind| headers.iter().find(|h| h.p_type == kind);
        let (Some(code), Some(dynamic)) = (of_kind(libc::PT_LOAD), of_kind(libc::PT_DYNAMIC))
        else {
            return;
        };
        let bias = base + code.p_offset as usize - code.p_vaddr as usize;
        let bytes = (code.p_memsz as usize).next_multiple_of(os::PAGE);
        let all = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        if os::set_protection(base, bytes, all) {
            each_function(bias, (base + dynamic.p_offset as usize) as *const Dynamic);
            os::set_protection(base, bytes, libc::PROT_READ | libc::PROT_EXEC);
        } else {
            gate::uncontrolled("clocks of the kernel's shared object (vdso)");
        }
    }
}

/// # Safety
/// `dynamic` is the dynamic section of an object that can be written, whose addresses count from
/// `bias`.
unsafe fn each_function(bias: usize, mut dynamic: *const Dynamic) {
    const DT_NULL: u64 = 0;
    const DT_HASH: u64 = 4;
    const DT_STRTAB: u64 = 5;
    const DT_SYMTAB: u64 = 6;
    let (mut hash, mut names, mut symbols) = (0, 0, 0);
    // SAFETY: the section ends with a null entry, and the tables lie where it says; the number of
    // symbols is the second word of the hash table.
    unsafe {
        while (*dynamic).tag != DT_NULL {
            let at = bias + (*dynamic).value as usize;
            match (*dynamic).tag {
                DT_HASH => hash = at,
                DT_STRTAB => names = at,
                DT_SYMTAB => symbols = at,
                _ => {}
            }
            dynamic = dynamic.add(1);
        }
        if hash == 0 || names == 0 || symbols == 0 {
            return;
        }
        let count = *(hash as *const u32).add(1) as usize;
        for symbol in core::slice::from_raw_parts(symbols as *const Elf64_Sym, count) {
            let name = CStr::from_ptr((names as *const c_char).add(symbol.st_name as usize));
            let ours = table().into_iter().find(|(known, _)| *known == name);
            if let Some((_, ours)) = ours
                && symbol.st_size as usize >= JUMP
            {
                jump(bias + symbol.st_value as usize, ours);
            }
        }
    }
}

/// Bytes of the instructions that [`jump`] writes.
const JUMP: usize = 12;

/// Makes the function at `from` jump to `to`.
///
/// # Safety
/// There is a function of at least [`JUMP`] bytes, which can be written.
unsafe fn jump(from: usize, to: usize) {
    // movabs rax, to; jmp rax
    let mut code = [0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0];
    code[2..10].copy_from_slice(&to.to_le_bytes());
    // SAFETY: the caller's promise.
    unsafe { (from as *mut [u8; JUMP]).write(code) };
}

fn call(number: i64, args: [usize; 3]) -> isize {
    let [a, b, c] = args;
    // SAFETY: the program's arguments, as the kernel would take them.
    unsafe { os::syscall(number, a, b, c, 0, 0, 0) }
}

unsafe extern "C" fn clock_gettime(clock: c_int, into: *mut timespec) -> c_int {
    match gate::active() {
        // SAFETY: the program's argument.
        true => unsafe { time::get(clock, into) },
        false => call(libc::SYS_clock_gettime, [clock as usize, into as usize, 0]) as c_int,
    }
}

unsafe extern "C" fn clock_getres(clock: c_int, into: *mut timespec) -> c_int {
    if !gate::active() {
        return call(libc::SYS_clock_getres, [clock as usize, into as usize, 0]) as c_int;
    }
    let told = |into: *mut timespec| {
        // SAFETY: the program's argument.
        if let Some(into) = unsafe { into.as_mut() } {
            *into = time::timespec_of(1);
        }
        0
    };
    match time::Clock::of(clock) {
        None => -libc::EINVAL,
        // The kernel's object leaves these to the kernel.
        Some(time::Clock::Processor) => -crate::gone::written_to(into, told),
        Some(_) => told(into),
    }
}

unsafe extern "C" fn gettimeofday(into: *mut libc::timeval, zone: *mut c_void) -> c_int {
    if !gate::active() {
        return call(libc::SYS_gettimeofday, [into as usize, zone as usize, 0]) as c_int;
    }
    // SAFETY: the program's argument.
    unsafe { time::time_of_day(into) };
    0
}

unsafe extern "C" fn time_now(into: *mut libc::time_t) -> libc::time_t {
    match gate::active() {
        // SAFETY: the program's argument.
        true => unsafe { time::seconds(into) },
        false => call(libc::SYS_time, [into as usize, 0, 0]) as libc::time_t,
    }
}

unsafe extern "C" fn getcpu(processor: *mut c_uint, node: *mut c_uint, _: *mut c_void) -> c_int {
    if !gate::active() {
        return call(libc::SYS_getcpu, [processor as usize, node as usize, 0]) as c_int;
    }
    for into in [processor, node] {
        // SAFETY: the program's arguments.
        if let Some(into) = unsafe { into.as_mut() } {
            *into = 0;
        }
    }
    0
}

/// Its caller keeps a state of the kernel's, which is left alone; where the caller asks for the size of
/// one, there is none, and it makes the system call.
unsafe extern "C" fn getrandom(
    into: *mut u8,
    len: usize,
    flags: c_uint,
    _: *mut c_void,
    state: usize,
) -> isize {
    if state == usize::MAX {
        return -(libc::ENOSYS as isize);
    }
    match gate::active() {
        // SAFETY: the program's buffer.
        true => unsafe { entropy::getrandom(into, len, flags) },
        false => call(libc::SYS_getrandom, [into as usize, len, flags as usize]),
    }
}
