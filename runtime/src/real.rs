//! The functions that ours shadow, found by `dlsym(RTLD_NEXT)`.

use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// One shadowed function; the macro [`real!`] puts it into the section that [`prime`] walks.
#[repr(C)]
pub struct Entry {
    name: &'static CStr,
    address: AtomicUsize,
}

impl Entry {
    /// Not resolved yet.
    pub const fn new(name: &'static CStr) -> Entry {
        Entry {
            name,
            address: AtomicUsize::new(0),
        }
    }

    /// The same; the text ends with a zero byte.
    pub const fn named(text: &'static str) -> Entry {
        match CStr::from_bytes_with_nul(text.as_bytes()) {
            Ok(name) => Entry::new(name),
            Err(_) => panic!("the text ends with its only zero byte"),
        }
    }

    /// The function's address, looked up at the first call. Ends the process when no library has
    /// the function: the program could not have been linked against it either.
    #[inline]
    pub fn address(&self) -> usize {
        match self.address.load(Ordering::Relaxed) {
            0 => self.resolve(),
            address => address,
        }
    }

    #[cold]
    fn resolve(&self) -> usize {
        let address = self.look_up();
        if address == 0 {
            crate::os::die(
                "raddle: the C library lacks a function: ",
                self.name.to_bytes(),
            );
        }
        address
    }

    /// Its name.
    pub fn name(&self) -> &'static CStr {
        self.name
    }

    /// Is it the function of this name?
    pub fn is(&self, name: &str) -> bool {
        self.name.to_bytes() == name.as_bytes()
    }

    /// As [`Entry::address`]; a function that no library of the program's global scope has is looked
    /// for in `libraries` (names for `dlopen`), which may have been loaded apart.
    pub fn address_in(&self, libraries: &[&CStr]) -> usize {
        if self.address.load(Ordering::Relaxed) == 0 && self.look_up() == 0 {
            for library in libraries {
                // SAFETY: names that end with a NUL; the library stays loaded.
                let address = crate::gate::passively(|| unsafe {
                    let handle =
                        libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
                    match handle.is_null() {
                        true => 0,
                        false => libc::dlsym(handle, self.name.as_ptr()) as usize,
                    }
                });
                if address != 0 {
                    self.address.store(address, Ordering::Relaxed);
                    break;
                }
            }
        }
        self.address()
    }

    fn look_up(&self) -> usize {
        static BUSY: AtomicBool = AtomicBool::new(false);
        // The dynamic linker frees, and a sanitizer's heap asks for the time then: it is within
        // another look-up, which must not begin again.
        let nested = BUSY.swap(true, Ordering::Relaxed);
        if nested && self.name == c"clock_gettime" {
            return crate::os::clock_gettime as *const () as usize;
        }
        // SAFETY: a plain look-up of a NUL-terminated name.
        let next = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) } as usize;
        let address = match next {
            0 => self.before(),
            address => address,
        };
        BUSY.store(nested, Ordering::Relaxed);
        self.address.store(address, Ordering::Relaxed);
        address
    }

    /// The function of a library before ours; 0: there is none. A program that was linked against this
    /// library and is started as usual has it behind the C library.
    #[cold]
    fn before(&self) -> usize {
        let base = |address: *const c_void| {
            // SAFETY: a plain look-up; the structure is all zeros if it fails.
            unsafe {
                let mut info: libc::Dl_info = core::mem::zeroed();
                libc::dladdr(address, &mut info);
                info.dli_fbase
            }
        };
        // SAFETY: a plain look-up of a NUL-terminated name.
        let first = unsafe { libc::dlsym(libc::RTLD_DEFAULT, self.name.as_ptr()) };
        match base(first) == base((&raw const FIRST).cast()) {
            true => 0,
            false => first as usize,
        }
    }
}

/// Declares shadowed functions: `real! { fn sem_post(sem: *mut sem_t) -> c_int; }` gives an
/// `unsafe fn sem_post` that calls the next library's. Put it into a module of its own
/// (`mod real`), so that the names do not collide with the exports.
#[macro_export]
macro_rules! real {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)?;)*) => {$(
        /// The C library's own.
        ///
        /// # Safety
        /// As the function's own documentation says.
        $(#[$doc])*
        #[allow(clippy::too_many_arguments, dead_code)]
        pub unsafe fn $name($($arg: $ty),*) $(-> $ret)? {
            #[used]
            #[unsafe(link_section = "raddle_real")]
            static ENTRY: $crate::real::Entry = $crate::real::Entry::named(concat!(stringify!($name), "\0"));
            type F = unsafe extern "C-unwind" fn($($ty),*) $(-> $ret)?;
            // SAFETY: the address is that of the C function of this name, whose type is declared.
            unsafe { core::mem::transmute::<usize, F>(ENTRY.address())($($arg),*) }
        }
    )*};
}

unsafe extern "C" {
    #[link_name = "__start_raddle_real"]
    static FIRST: c_void;
    #[link_name = "__stop_raddle_real"]
    static END: c_void;
}

/// Resolves every function that [`real!`] declared, so that no execution has to do it again.
pub fn prime() {
    let first = (&raw const FIRST).cast::<Entry>();
    let bytes = (&raw const END) as usize - first as usize;
    // SAFETY: the linker lays all entries of the section out in a row.
    let entries = unsafe { core::slice::from_raw_parts(first, bytes / size_of::<Entry>()) };
    for entry in entries {
        entry.look_up();
    }
}
