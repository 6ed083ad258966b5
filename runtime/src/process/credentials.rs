//! The setuid family. The C library changes the credentials of every kernel thread by a signal to
//! each; the kernel threads that made fibers are gone, and all fibers run on one: one raw system
//! call is for all of them. With kernel threads the C library's own way is right.

use crate::{gate, intercept, os, substrate, threads, time};
use core::ffi::{c_char, c_int};
use libc::{gid_t, uid_t};

/// One raw call for all fibers.
fn change(number: i64, args: [u32; 3]) -> c_int {
    let [a, b, c] = args.map(|id| id as usize);
    threads::identity_changes();
    // SAFETY: the calls take numbers only.
    let result = unsafe { os::syscall(number, a, b, c, 0, 0, 0) };
    time::errno_result(-result as c_int)
}

/// Changes nothing, as the kernel has it.
const SAME: u32 = u32::MAX;

fn own_way() -> bool {
    substrate::kernel_threads()
}

macro_rules! changing {
    ($($name:ident($($arg:ident: $ty:ty),*) = $number:expr, $args:expr;)*) => {
        intercept! {
            $(fn $name($($arg: $ty),*) -> c_int, pc => {
                if own_way() {
                    return gate::passively(|| real::$name($($arg),*));
                }
                change($number, $args)
            };)*
            fn setgroups(count: usize, groups: *const gid_t) -> c_int, pc => {
                if own_way() {
                    return gate::passively(|| real::setgroups(count, groups));
                }
                let result = os::syscall(libc::SYS_setgroups, count, groups as usize, 0, 0, 0, 0);
                time::errno_result(-result as c_int)
            };
            // The C library calls its own setgroups here.
            fn initgroups(user: *const c_char, group: gid_t) -> c_int, pc => {
                match own_way() {
                    true => gate::passively(|| real::initgroups(user, group)),
                    false => join_groups(user, group),
                }
            };
        }
    };
}

/// Most groups that the kernel lets a process be in.
const MOST_GROUPS: usize = 1 << 16;

/// All fibers are in the groups of this user from now on, and in this one.
///
/// # Safety
/// The name is a text.
unsafe fn join_groups(user: *const c_char, group: gid_t) -> c_int {
    let bytes = MOST_GROUPS * size_of::<gid_t>();
    let groups = os::map_memory(bytes);
    let mut count = MOST_GROUPS as c_int;
    // SAFETY: there is room for so many; the caller's promise.
    let result = unsafe {
        libc::getgrouplist(user, group, groups.cast(), &mut count);
        let count = count.clamp(0, MOST_GROUPS as c_int) as usize;
        os::syscall(libc::SYS_setgroups, count, groups as usize, 0, 0, 0, 0)
    };
    os::unmap(groups, bytes);
    time::errno_result(-result as c_int)
}

changing! {
    setuid(id: uid_t) = libc::SYS_setuid, [id, 0, 0];
    setgid(id: gid_t) = libc::SYS_setgid, [id, 0, 0];
    seteuid(id: uid_t) = libc::SYS_setresuid, [SAME, id, SAME];
    setegid(id: gid_t) = libc::SYS_setresgid, [SAME, id, SAME];
    setreuid(own: uid_t, effective: uid_t) = libc::SYS_setreuid, [own, effective, 0];
    setregid(own: gid_t, effective: gid_t) = libc::SYS_setregid, [own, effective, 0];
    setresuid(own: uid_t, effective: uid_t, saved: uid_t) = libc::SYS_setresuid, [own, effective, saved];
    setresgid(own: gid_t, effective: gid_t, saved: gid_t) = libc::SYS_setresgid, [own, effective, saved];
}
