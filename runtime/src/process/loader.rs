//! dlopen and its kin. The dynamic linker holds a lock of its own while constructors and
//! destructors of libraries run; they may create threads, wait for them, or meet a scheduling
//! point. So that no fiber ever waits for that lock, which would stop them all, a modelled one is
//! taken around it: whoever comes second waits as at any mutex, and a constructor that waits for a
//! thread that loads a library is a deadlock like any other.

use crate::os::syscall;
use crate::sync::mutex;
use crate::{gate, intercept, serial::Serial};
use core::ffi::{CStr, c_char, c_int, c_long, c_void};
use libc::{pthread_mutex_t, size_t};
use raddle_protocol::event::Kind;
use raddle_protocol::hooks;
use raddle_protocol::libraries::{RUNTIMES, SYSTEM, is_among};
use raddle_protocol::shared::flags;
use std::io::Write;

static LOCK: Serial<pthread_mutex_t> = Serial::new(libc::PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP);

/// Calls the dynamic linker under the modelled lock.
fn guarded<R>(pc: usize, call: impl FnOnce() -> R) -> R {
    // SAFETY: the mutex is ours and lives for ever.
    unsafe {
        let lock: *mut pthread_mutex_t = LOCK.get();
        mutex::lock(lock, Kind::MutexLock, 0, pc);
        let result = call();
        mutex::unlock(lock, pc);
        result
    }
}

/// Longest path that [`Found`] holds.
const LONGEST: usize = libc::PATH_MAX as usize;

/// Where a library lies that the dynamic linker would not find for us, because it looks into the
/// search path (DT_RUNPATH, DT_RPATH) of the object that calls it, and that is not the program any
/// more.
struct Found([u8; LONGEST]);

/// The head of glibc's `struct link_map`.
#[repr(C)]
struct LinkMap {
    base: usize,
    name: *const c_char,
    dynamic: *const [usize; 2],
    next: *const LinkMap,
    previous: *const LinkMap,
}

/// The tag of the entry in a dynamic section that says where the strings lie.
const STRINGS: usize = 5;

impl LinkMap {
    /// The dynamic section: tags and values.
    ///
    /// # Safety
    /// The library is loaded.
    unsafe fn entries(&self) -> impl Iterator<Item = [usize; 2]> {
        let mut entry = self.dynamic;
        core::iter::from_fn(move || {
            // SAFETY: the caller's promise; the section ends with a zero tag.
            unsafe {
                let [tag, value] = *entry;
                entry = entry.add(1);
                (tag != 0).then_some([tag, value])
            }
        })
    }
}

unsafe extern "C" {
    fn dladdr1(
        address: *const c_void,
        info: *mut libc::Dl_info,
        extra: *mut *const LinkMap,
        flags: c_int,
    ) -> c_int;
}

/// The search path of the object at `pc`, and the object's file.
///
/// # Safety
/// The object stays loaded.
unsafe fn search_path(pc: usize) -> Option<(&'static [u8], &'static [u8])> {
    const LINK_MAP: c_int = 2;
    const RPATH: usize = 15;
    const RUNPATH: usize = 29;
    let (mut strings, mut path) = (0, None);
    // SAFETY: the dynamic linker keeps these structures.
    unsafe {
        let mut info: libc::Dl_info = core::mem::zeroed();
        let mut map = core::ptr::null::<LinkMap>();
        if dladdr1(pc as *const c_void, &mut info, &mut map, LINK_MAP) == 0 || map.is_null() {
            return None;
        }
        for entry in (*map).entries() {
            match entry {
                [STRINGS, at] => strings = at,
                [RUNPATH, offset] => path = Some(offset),
                [RPATH, offset] => path = path.or(Some(offset)),
                _ => {}
            }
        }
        let text = CStr::from_ptr((strings + path?) as *const c_char);
        Some((text.to_bytes(), CStr::from_ptr(info.dli_fname).to_bytes()))
    }
}

/// Writes `folder/file` with `$ORIGIN` replaced; `None`: too long.
fn join(folder: &[u8], origin: &[u8], file: &[u8]) -> Option<Found> {
    let mut found = Found([0; LONGEST]);
    // The last byte stays NUL.
    let mut rest = &mut found.0[..LONGEST - 1];
    let mut folder = folder;
    while let Some((&first, others)) = folder.split_first() {
        let name = [&b"$ORIGIN"[..], b"${ORIGIN}"]
            .into_iter()
            .find(|name| folder.starts_with(name));
        match name {
            Some(name) => {
                rest.write_all(origin).ok()?;
                folder = &folder[name.len()..];
            }
            None => {
                rest.write_all(&[first]).ok()?;
                folder = others;
            }
        }
    }
    rest.write_all(b"/").ok()?;
    rest.write_all(file).ok()?;
    Some(found)
}

/// Looks for `file` along the search path of the object at `pc`.
fn find(pc: usize, file: &[u8]) -> Option<Found> {
    if file.is_empty() || file.contains(&b'/') {
        return None;
    }
    // SAFETY: the object calls us.
    let (path, object) = unsafe { search_path(pc) }?;
    let origin = &object[..object.iter().rposition(|&b| b == b'/')?];
    path.split(|&b| b == b':')
        .filter(|folder| !folder.is_empty())
        .filter_map(|folder| join(folder, origin, file))
        .find(|found| {
            let path = found.0.as_ptr() as usize;
            // SAFETY: the path ends with NUL; errno stays.
            let asked = unsafe { syscall(libc::SYS_access, path, libc::R_OK as usize, 0, 0, 0, 0) };
            asked == 0
        })
}

/// Does a library that is so called by the dynamic linker (empty: the program) need nobody's hooks in
/// this job?
fn is_known(path: &[u8]) -> bool {
    let name = path.rsplit(|&b| b == b'/').next().unwrap_or(path);
    let symbolic = gate::flags() & flags::SYMBOLIC != 0;
    name.is_empty() || is_among(name, &SYSTEM) || !symbolic && is_among(name, &RUNTIMES)
}

/// Is one of these among the strings?
fn names_hooks(strings: &[u8]) -> bool {
    let mut names = strings.split(|&b| b == 0);
    names.any(|name| name == hooks::MODE.as_bytes() || name == b"__tsan_init")
}

/// The strings of the symbols of a library.
///
/// # Safety
/// The library is loaded.
unsafe fn strings_of(library: &LinkMap) -> &'static [u8] {
    const SIZE: usize = 10;
    let (mut strings, mut size) = (0, 0);
    // SAFETY: the caller's promise.
    for entry in unsafe { library.entries() } {
        match entry {
            [STRINGS, at] => strings = at,
            [SIZE, bytes] => size = bytes,
            _ => {}
        }
    }
    match strings {
        0 => &[],
        // SAFETY: as the dynamic section says.
        at => unsafe { core::slice::from_raw_parts(at as *const u8, size) },
    }
}

/// How many libraries there were before the program's first code, the program among them.
static FIRST: Serial<usize> = Serial::new(0);

/// The libraries of the program's own namespace.
fn all() -> impl Iterator<Item = &'static LinkMap> {
    let mut info = core::mem::MaybeUninit::uninit();
    let mut map = core::ptr::null::<LinkMap>();
    const LINK_MAP: c_int = 2;
    // SAFETY: the dynamic linker keeps these structures; it is not at work on them, or its lock is
    // held by us.
    unsafe {
        let here = all as fn() -> _ as *const c_void;
        if dladdr1(here, info.as_mut_ptr(), &mut map, LINK_MAP) == 0 {
            map = core::ptr::null();
        }
        while let Some(before) = map.as_ref().and_then(|map| map.previous.as_ref()) {
            map = before;
        }
        let next = |map: &&'static LinkMap| map.next.as_ref();
        core::iter::successors(map.as_ref(), next)
    }
}

/// To be called before the program's first code.
pub fn begin() {
    // SAFETY: a plain number; only one thread exists.
    unsafe { *FIRST.get() = all().count() };
}

/// Tells the controller of all libraries that the program has loaded by itself, as far as they are
/// there.
pub fn tell() {
    // SAFETY: a plain number.
    let first = unsafe { *FIRST.get() };
    for library in all().skip(first) {
        // SAFETY: the library is loaded.
        unsafe { tell_of(library) };
    }
}

/// # Safety
/// The library is loaded.
unsafe fn tell_of(library: &LinkMap) {
    // SAFETY: the name is a text.
    let name = unsafe { CStr::from_ptr(library.name) }.to_bytes();
    let mut path = [0u8; LONGEST];
    let mut folder = 0;
    if !name.starts_with(b"/") {
        // SAFETY: the buffer is as large as said.
        let end = unsafe {
            syscall(
                libc::SYS_getcwd,
                path.as_mut_ptr() as usize,
                LONGEST,
                0,
                0,
                0,
                0,
            )
        };
        let Some(last) = usize::try_from(end).ok().and_then(|end| end.checked_sub(1)) else {
            return;
        };
        path[last] = b'/';
        folder = last + 1;
    }
    if let Some(place) = path.get_mut(folder..folder + name.len()) {
        place.copy_from_slice(name);
        gate::pages().loaded(library.base as u64, &path[..folder + name.len()]);
    }
}

/// Has the program loaded a library by itself, which may need others?
static LOADS: Serial<bool> = Serial::new(false);

/// Why a library is there.
#[derive(PartialEq, Eq)]
enum Why {
    Asked,
    /// This library needs it, and no other.
    Ours,
    /// The same, but the program needs this one.
    Linked,
}

/// Why a library is there that the program did not load by itself.
fn why(handle: *mut c_void) -> Why {
    const NEEDED: usize = 1;
    // SAFETY: a plain number.
    let first = unsafe { *FIRST.get() }.min(64);
    let base = |library: &LinkMap| {
        // SAFETY: the name is a text.
        let name = unsafe { CStr::from_ptr(library.name) }.to_bytes();
        name.rsplit(|&b| b == b'/').next().unwrap_or(name)
    };
    let mut known = all().take(first);
    let Some(asked) = known.position(|one| core::ptr::eq(one, handle.cast())) else {
        return Why::Asked;
    };
    let mut ours = Why::Ours;
    // A bit for each: the program, and what those need that have one.
    let (mut needed, mut seen) = (1u64, 0u64);
    while needed != seen {
        let n = (needed & !seen).trailing_zeros() as usize;
        seen |= 1 << n;
        let Some(library) = all().nth(n) else { break };
        if base(library).starts_with(b"libraddle") {
            ours = Why::Linked;
            continue;
        }
        // SAFETY: the library is loaded; its names are texts.
        unsafe {
            let strings = library.entries().find(|entry| entry[0] == STRINGS);
            let strings = strings.map_or(0, |entry| entry[1]);
            let names = library.entries().filter(|entry| entry[0] == NEEDED);
            for [_, offset] in names.filter(|_| strings != 0) {
                let name = CStr::from_ptr((strings + offset) as *const c_char).to_bytes();
                let place = all().take(first).position(|one| base(one) == name);
                needed |= place.map_or(0, |place| 1 << place);
            }
        }
    }
    match needed >> asked & 1 {
        0 => ours,
        _ => Why::Asked,
    }
}

/// What `dlopen` is to return to the program, which asked with these flags and got `handle`: natively what
/// only this library needs would not be there.
///
/// # Safety
/// `handle` is what dlopen returned.
unsafe fn asked_for(handle: *mut c_void, flags: c_int) -> *mut c_void {
    // SAFETY: a plain value; the running thread.
    let loads = unsafe { LOADS.get() };
    if flags & libc::RTLD_NOLOAD == 0 {
        *loads |= !handle.is_null();
        return handle;
    }
    match why(handle) {
        Why::Asked => handle,
        Why::Ours if !*loads => {
            // SAFETY: the handle is one more of a library that stays.
            unsafe { real::dlclose(handle) };
            core::ptr::null_mut()
        }
        _ => {
            gate::uncontrolled("whether a library is there that raddle needs, too (RTLD_NOLOAD)");
            handle
        }
    }
}

/// Names a library without hooks that was loaded when the search had looked at all modules: an
/// exhaustive one would take it for known. The handle, as it is.
///
/// # Safety
/// `handle` is what dlopen returned.
unsafe fn seen(handle: *mut c_void) -> *mut c_void {
    tell();
    crate::states::forget_names();
    crate::vars::look_for_rare_states();
    crate::ends::look_for_registration();
    let exhaustive = gate::flags() & (flags::EXACT_SPINS | flags::SYMBOLIC) != 0;
    if exhaustive && !handle.is_null() {
        // SAFETY: glibc's handles are pointers to this structure; the name is a text.
        let unseen = unsafe {
            let library = &*handle.cast::<LinkMap>();
            let path = CStr::from_ptr(library.name).to_bytes();
            !is_known(path) && !names_hooks(strings_of(library))
        };
        if unseen {
            gate::uncontrolled("memory of a library without hooks, loaded by dlopen");
        }
    }
    handle
}

/// The name to hand on for `file`.
///
/// # Safety
/// `file` is null or a text.
unsafe fn located(pc: usize, file: *const c_char) -> Option<Found> {
    if file.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    find(pc, unsafe { CStr::from_ptr(file) }.to_bytes())
}

/// What [`visit`] calls for each library.
pub type Visit =
    Option<unsafe extern "C" fn(*mut libc::dl_phdr_info, size_t, *mut c_void) -> c_int>;

/// The C library's `dl_iterate_phdr`, for functions of ours, which never wait.
///
/// # Safety
/// As there.
pub unsafe fn visit(visit: Visit, data: *mut c_void) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { real::dl_iterate_phdr(visit, data) }
}

intercept! {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void, pc => guarded(pc, || {
        let handle = seen(match located(pc, file) {
            Some(found) => real::dlopen(found.0.as_ptr().cast(), flags),
            None => real::dlopen(file, flags),
        });
        asked_for(handle, flags)
    });
    fn dlmopen(space: c_long, file: *const c_char, flags: c_int) -> *mut c_void,
        pc => guarded(pc, || seen(real::dlmopen(space, file, flags)));
    fn dlclose(handle: *mut c_void) -> c_int, pc => guarded(pc, || {
        crate::shadow::forget_names();
        crate::states::forget_names();
        real::dlclose(handle)
    });
    /// The program's function is called while the dynamic linker holds its lock.
    fn dl_iterate_phdr(visit: Visit, data: *mut c_void) -> c_int,
        pc => guarded(pc, || real::dl_iterate_phdr(visit, data));
    /// Character sets may be modules.
    fn iconv_open(to: *const c_char, from: *const c_char) -> *mut c_void,
        pc => guarded(pc, || real::iconv_open(to, from));
    fn iconv_close(descriptor: *mut c_void) -> c_int,
        pc => guarded(pc, || real::iconv_close(descriptor));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_put_together() {
        for (folder, expected) in [
            ("/lib", "/lib/x.so"),
            ("$ORIGIN", "/home/a/x.so"),
            ("${ORIGIN}/../lib", "/home/a/../lib/x.so"),
            ("/opt/$ORIGIN", "/opt//home/a/x.so"),
        ] {
            let found = join(folder.as_bytes(), b"/home/a", b"x.so").unwrap();
            let text = CStr::from_bytes_until_nul(&found.0).unwrap();
            assert_eq!(text.to_str(), Ok(expected));
        }
        assert!(join(&[b'x'; LONGEST], b"", b"y").is_none());
    }
}
