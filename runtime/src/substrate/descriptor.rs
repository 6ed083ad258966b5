//! The kernel's thread id in the C library's thread descriptor.
//!
//! The C library keeps it in a field that it does not document; the field is found by looking for
//! the main thread's known id.

use crate::serial::Serial;
use core::sync::atomic::{AtomicU32, Ordering};
use libc::pthread_t;

/// Where glibc 2.34 to 2.41 have it, in bytes from the descriptor's start.
const USUAL: usize = 720;
/// Where to look in others.
const FROM: usize = 0x280;
const TO: usize = 0x340;

/// Offset of the field; 0: not found.
static OFFSET: Serial<usize> = Serial::new(0);

/// Finds the field. To be called on the main thread before the process is cloned.
pub fn find() {
    let id = crate::os::thread_id();
    // SAFETY: every descriptor is larger than TO, which glibc's layout guarantees (its first 0x2c0
    // bytes are a reserved header); only one thread exists.
    unsafe {
        let descriptor = libc::pthread_self() as *const u8;
        let is_there = |o: usize| descriptor.add(o).cast::<i32>().read() == id;
        *OFFSET.get() = place(is_there).unwrap_or(0);
    }
}

/// Where the id is, if that is certain. Ids near 0x7fff may look like the upper halves of addresses
/// that lie around it.
fn place(is_there: impl Fn(usize) -> bool) -> Option<usize> {
    if is_there(USUAL) {
        return Some(USUAL);
    }
    let mut matches = (FROM..TO).step_by(4).filter(|&o| is_there(o));
    matches.next().filter(|_| matches.next().is_none())
}

/// Where the list of held robust mutexes lies in a descriptor, in bytes, and the size that the
/// kernel was told; `None`: not known.
static ROBUST: Serial<Option<(usize, usize)>> = Serial::new(None);

/// Asks the kernel where the calling thread's list is. To be called on the main thread before the
/// process is cloned: a clone's thread has not told the kernel of one.
pub fn find_robust_list() {
    let (mut head, mut size) = (0usize, 0usize);
    // SAFETY: the kernel writes two words.
    let result = unsafe {
        let (head, size) = (&raw mut head as usize, &raw mut size as usize);
        crate::os::syscall(libc::SYS_get_robust_list, 0, head, size, 0, 0, 0)
    };
    // SAFETY: asks for the caller's own descriptor.
    let descriptor = unsafe { libc::pthread_self() } as usize;
    if result == 0 && head > descriptor {
        // SAFETY: only one thread exists.
        unsafe { *ROBUST.get() = Some((head - descriptor, size)) };
    }
}

/// See [`ROBUST`].
pub fn robust_list() -> Option<(usize, usize)> {
    // SAFETY: written once, before there are threads.
    unsafe { *ROBUST.get() }
}

/// Sets the id; returns the former one, `None` if the field is unknown.
pub fn set_thread_id(thread: pthread_t, id: i32) -> Option<i32> {
    // SAFETY: written once, before there are threads.
    let offset = unsafe { *OFFSET.get() };
    if offset == 0 {
        return None;
    }
    // SAFETY: `find` saw that the field is there; descriptors of ours are never freed.
    unsafe {
        let field = (thread as *mut u8).add(offset).cast::<i32>();
        Some(core::mem::replace(&mut *field, id))
    }
}

/// The links by which the C library keeps the descriptors of all threads; they lie before the id.
#[repr(C)]
struct Links {
    next: *mut Links,
    previous: *mut Links,
}

/// Takes the descriptor of a thread that has ended from the C library's list, as the C library does
/// itself when a thread has ended, which ours never do for it. A list of another form than the
/// expected one is left alone.
pub fn unlink(thread: pthread_t) {
    // SAFETY: written once, before there are threads.
    let offset = unsafe { *OFFSET.get() };
    if offset == 0 {
        return;
    }
    // SAFETY: the descriptor is still there, since the thread is about to end on its own stack;
    // nobody else changes the list meanwhile.
    unsafe {
        let links = (thread as *mut u8).add(offset).cast::<Links>().sub(1);
        let (next, previous) = ((*links).next, (*links).previous);
        let sound = |at: *mut Links| !at.is_null() && at.is_aligned() && at != links;
        if sound(next) && sound(previous) && (*next).previous == links && (*previous).next == links
        {
            (*next).previous = previous;
            (*previous).next = next;
            ((*links).next, (*links).previous) = (links, links);
        }
    }
}

/// Has the kernel thread of `thread` gone (the kernel then clears the field)? Waits for it a little,
/// since it is on its way.
pub fn has_left(thread: pthread_t) -> bool {
    // SAFETY: written once, before there are threads.
    let offset = unsafe { *OFFSET.get() };
    if offset == 0 {
        return false;
    }
    // SAFETY: as above; the kernel writes the field.
    let field = unsafe { AtomicU32::from_ptr((thread as *mut u8).add(offset).cast()) };
    loop {
        match field.load(Ordering::Acquire) {
            0 => return true,
            id => crate::os::futex_wait(field, id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_found_where_it_usually_is_or_where_it_is_alone() {
        let cases: [(&[usize], Option<usize>); 5] = [
            (&[720], Some(720)),
            (&[700, 720, 724], Some(720)),
            (&[704], Some(704)),
            (&[704, 708], None),
            (&[], None),
        ];
        for (matches, expected) in cases {
            assert_eq!(place(|o| matches.contains(&o)), expected, "{matches:?}");
        }
    }
}
