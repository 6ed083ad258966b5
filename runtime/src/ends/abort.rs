//! abort and failed assertions.

use crate::gate::{self, Fatal};
use crate::os;
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::fmt;
use raddle_protocol::outcome::End;

mod real {
    use core::ffi::{c_char, c_int, c_uint};
    crate::real! {
        fn abort() -> !;
        fn __assert_fail(what: *const c_char, file: *const c_char, line: c_uint,
            function: *const c_char) -> !;
        fn __assert_perror_fail(errno: c_int, file: *const c_char, line: c_uint,
            function: *const c_char) -> !;
        fn __stack_chk_fail() -> !;
        fn __chk_fail() -> !;
    }
}

crate::export! {
    /// As in C.
    fn abort() -> ! = abort_from;
    /// What a failed `assert` calls.
    fn __assert_fail(what: *const c_char, file: *const c_char, line: c_uint,
        function: *const c_char) -> ! = assert_fail_from;
    /// The BSD form.
    fn __assert(what: *const c_char, file: *const c_char, line: c_int) -> ! = assert_from;
    /// What a failed `assert_perror` calls.
    fn __assert_perror_fail(errno: c_int, file: *const c_char, line: c_uint,
        function: *const c_char) -> ! = assert_perror_fail_from;
    /// What a damaged stack canary calls.
    fn __stack_chk_fail() -> ! = stack_chk_fail_from;
    /// What an overflow seen by a fortified function calls.
    fn __chk_fail() -> ! = chk_fail_from;
}

/// Writes an abnormal end into the outcome.
fn note(end: End, message: fmt::Arguments, pc: usize) {
    if gate::active() {
        super::announce(libc::SIGABRT, pc);
        gate::record(&Fatal {
            end,
            code: libc::SIGABRT,
            message,
            detail: [0; 4],
            pc,
            stack: true,
        });
    }
}

/// Text of the program's own; what is not UTF-8 is replaced.
struct Text(*const c_char);

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_null() {
            return f.write_str("?");
        }
        // SAFETY: the C library's contract: a NUL-terminated string.
        for chunk in unsafe { CStr::from_ptr(self.0) }.to_bytes().utf8_chunks() {
            f.write_str(chunk.valid())?;
            if !chunk.invalid().is_empty() {
                f.write_str("\u{fffd}")?;
            }
        }
        Ok(())
    }
}

/// SIGABRT with its default disposition: the end of `abort` without anybody's handler.
pub fn abort_natively() -> ! {
    super::signals::raise_natively(libc::SIGABRT);
    os::exit_group(128 + libc::SIGABRT)
}

/// A finding of class assertion that no library function stands for; then as `abort`.
pub fn fail_assertion(message: fmt::Arguments, pc: usize) -> ! {
    note(End::Assertion, message, pc);
    abort_natively()
}

/// Finds a function of the C++ library, if that is loaded.
fn find<F: Copy>(name: &CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<usize>()) };
    // SAFETY: a plain look-up.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    // SAFETY: callers name a function and its type as the C++ ABI defines them.
    (!found.is_null()).then(|| unsafe { core::mem::transmute_copy(&found) })
}

/// The name of the exception type that `std::terminate` was called for, if the caller of abort is
/// the C++ library and it says so.
fn uncaught(pc: usize) -> Option<*const c_char> {
    type CurrentType = unsafe extern "C" fn() -> *const [*const c_char; 2];
    type Demangle =
        unsafe extern "C" fn(*const c_char, *mut c_char, *mut usize, *mut c_int) -> *const c_char;
    let null = core::ptr::null_mut();
    // SAFETY: `__cxa_current_exception_type` returns a std::type_info (virtual table, then name)
    // or null, `__cxa_demangle` a text or null.
    unsafe {
        let mut module: libc::Dl_info = core::mem::zeroed();
        if libc::dladdr(pc as *const c_void, &mut module) == 0 || module.dli_fname.is_null() {
            return None;
        }
        let file = CStr::from_ptr(module.dli_fname).to_bytes();
        let names: [&[u8]; 2] = [b"libstdc++", b"libc++"];
        if !names.iter().any(|n| file.windows(n.len()).any(|w| w == *n)) {
            return None;
        }
        let info = find::<CurrentType>(c"__cxa_current_exception_type")?();
        let mangled = info.as_ref()?[1];
        let mut status = 0;
        let plain = find::<Demangle>(c"__cxa_demangle")
            .map(|demangle| demangle(mangled, null, null.cast(), &mut status));
        Some(plain.filter(|name| !name.is_null()).unwrap_or(mangled))
    }
}

unsafe extern "C-unwind" fn abort_from(pc: usize) -> ! {
    if gate::active() {
        match uncaught(pc) {
            Some(name) => note(
                End::Abort,
                format_args!("uncaught exception of type {}", Text(name)),
                pc,
            ),
            None => note(End::Abort, format_args!("abort() was called"), pc),
        }
    }
    // SAFETY: passed on.
    unsafe { real::abort() }
}

unsafe extern "C-unwind" fn assert_fail_from(
    what: *const c_char,
    file: *const c_char,
    line: c_uint,
    function: *const c_char,
    pc: usize,
) -> ! {
    let message = format_args!(
        "assertion `{}' failed at {}:{line} in {}",
        Text(what),
        Text(file),
        Text(function)
    );
    note(End::Assertion, message, pc);
    // SAFETY: passed on.
    unsafe { real::__assert_fail(what, file, line, function) }
}

unsafe extern "C-unwind" fn assert_from(
    what: *const c_char,
    file: *const c_char,
    line: c_int,
    pc: usize,
) -> ! {
    let function = core::ptr::null();
    // SAFETY: passed on.
    unsafe { assert_fail_from(what, file, line as c_uint, function, pc) }
}

unsafe extern "C-unwind" fn assert_perror_fail_from(
    errno: c_int,
    file: *const c_char,
    line: c_uint,
    function: *const c_char,
    pc: usize,
) -> ! {
    let message = format_args!(
        "unexpected error {errno} at {}:{line} in {}",
        Text(file),
        Text(function)
    );
    note(End::Assertion, message, pc);
    // SAFETY: passed on.
    unsafe { real::__assert_perror_fail(errno, file, line, function) }
}

unsafe extern "C-unwind" fn stack_chk_fail_from(pc: usize) -> ! {
    note(
        End::Abort,
        format_args!("stack smashing detected: a stack frame was overwritten"),
        pc,
    );
    // SAFETY: passed on.
    unsafe { real::__stack_chk_fail() }
}

unsafe extern "C-unwind" fn chk_fail_from(pc: usize) -> ! {
    note(
        End::Abort,
        format_args!("buffer overflow detected by a fortified function"),
        pc,
    );
    // SAFETY: passed on.
    unsafe { real::__chk_fail() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_made_printable() {
        let table: &[(&CStr, &str)] =
            &[(c"x == 1", "x == 1"), (c"a\xffb", "a\u{fffd}b"), (c"", "")];
        for (bytes, text) in table {
            assert_eq!(Text(bytes.as_ptr()).to_string(), *text);
        }
        assert_eq!(Text(core::ptr::null()).to_string(), "?");
    }
}
