//! Which object a descriptor stands for, who made it, and whether another process can reach it.
//!
//! Pipes and sockets are known by their inode, however often their descriptors are duplicated or
//! handed on; all anonymous objects (eventfd, epoll …) share one inode and are known by their
//! descriptor, which is followed through dup and close.

use super::{random, raw};
use crate::gate;
use crate::objects::Table;
use crate::serial::Serial;
use crate::slots::PerSlot;
use core::ffi::c_int;
use raddle_protocol::descriptor::{self, What};
use raddle_protocol::event::{Event, Kind};

/// What a descriptor stands for.
#[derive(Clone, Copy)]
pub struct Object {
    /// See [`raddle_protocol::descriptor`].
    pub number: u64,
    pub what: What,
    /// Another process can use it too, or its other end.
    outside: bool,
    /// The how-many-th object of the process it is.
    serial: u64,
}

struct World {
    inodes: Table<Object>,
    descriptors: Table<Object>,
    /// How many objects each thread has made.
    made: PerSlot<u64>,
    all: u64,
    /// Objects before this one are shared with a child process.
    shared: u64,
    /// How often anything has changed that somebody may wait for.
    changes: u64,
    /// By number of the object: `changes` when it was last operated on.
    changed: Table<u64>,
}

static WORLD: Serial<World> = Serial::new(World {
    inodes: Table::new(),
    descriptors: Table::new(),
    made: PerSlot::new(),
    all: 0,
    shared: 0,
    changes: 1,
    changed: Table::new(),
});

fn world() -> &'static mut World {
    // SAFETY: the running thread; nothing below switches.
    unsafe { WORLD.get() }
}

/// Key of the object with this device and inode; never 0.
fn inode_key(device: u64, inode: u64) -> u64 {
    (inode.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ device.rotate_left(40)) | 1
}

fn descriptor_key(fd: c_int) -> u64 {
    // The table hashes addresses, whose low bits it ignores.
    (fd as u64 + 1) << 3
}

/// How a descriptor's file is recognised.
enum Identity {
    /// By this key of its inode.
    Inode(u64, What),
    /// By the descriptor.
    Descriptor,
    /// A device of random numbers.
    Random,
    /// It never blocks.
    Harmless,
}

fn identify(fd: c_int) -> Identity {
    let Some(stat) = raw::stat(fd) else {
        return Identity::Harmless;
    };
    let key = inode_key(stat.st_dev, stat.st_ino);
    match stat.st_mode & libc::S_IFMT {
        libc::S_IFIFO => Identity::Inode(key, What::Pipe),
        libc::S_IFSOCK => Identity::Inode(key, What::Network),
        libc::S_IFCHR if may_wait(stat.st_rdev) => Identity::Inode(key, What::Other),
        // Files of the kernel's own, like any other to look at.
        libc::S_IFREG if is_queue(key) => Identity::Inode(key, What::Queue),
        0 => Identity::Descriptor,
        _ if random::is_source(&stat) => Identity::Random,
        _ => Identity::Harmless,
    }
}

fn is_queue(key: u64) -> bool {
    let known = world().inodes.get(key);
    known.is_some_and(|object| object.what == What::Queue)
}

/// May an operation on this device wait? Not on memory, null, zero, full and random numbers.
fn may_wait(device: u64) -> bool {
    const MEMORY: u32 = 1;
    const KERNEL_LOG: u32 = 11;
    libc::major(device) != MEMORY || libc::minor(device) == KERNEL_LOG
}

/// The object behind `fd` if operations on it can block. One that nobody here made comes from
/// outside.
pub fn find(fd: c_int) -> Option<Object> {
    match sort(fd) {
        Sort::Object(object) => Some(object),
        Sort::Random | Sort::Harmless => None,
    }
}

/// What operations on a descriptor may do.
pub enum Sort {
    /// Block.
    Object(Object),
    /// Get random numbers.
    Random,
    /// Neither.
    Harmless,
}

/// What is behind `fd`; see [`find`].
pub fn sort(fd: c_int) -> Sort {
    let w = world();
    match identify(fd) {
        Identity::Harmless => Sort::Harmless,
        Identity::Random => Sort::Random,
        Identity::Inode(key, what) => Sort::Object(match w.inodes.get(key) {
            Some(known) => *known,
            None => *w.inodes.entry(key, || new_object(what, true)),
        }),
        Identity::Descriptor => Sort::Object(match w.descriptors.get(descriptor_key(fd)) {
            Some(known) => *known,
            None => *w
                .descriptors
                .entry(descriptor_key(fd), || new_object(What::Other, true)),
        }),
    }
}

/// The result of a call on a descriptor behind which is no object: what was closed is told of.
pub fn checked(fd: c_int, pc: usize, result: isize) -> isize {
    if result == -(libc::EBADF as isize) {
        gate::note(Event {
            kind: Kind::NotOpen as u8,
            aux: fd as u32,
            value: result as u64,
            pc: pc as u64,
            ..Event::default()
        });
    }
    result
}

fn new_object(what: What, outside: bool) -> Object {
    let (w, me) = (world(), gate::me());
    w.made.map();
    let k = w.made[me];
    w.made[me] += 1;
    w.all += 1;
    Object {
        number: descriptor::object(what, me, k as u32),
        what,
        outside,
        serial: w.all,
    }
}

/// Notes that the running thread made `what`, with one or two descriptors (`second` < 0: one).
pub fn made(what: What, first: c_int, second: c_int, outside: bool, pc: usize) -> Object {
    let object = new_object(what, outside);
    for fd in [first, second] {
        adopt(fd, object);
    }
    let upper = if second < 0 { 0 } else { second as u64 };
    log_making(&object, first as u32 as u64 | upper << 32, pc);
    object
}

fn log_making(object: &Object, value: u64, pc: usize) {
    gate::log_full(Event {
        kind: Kind::DescriptorMade as u8,
        object: object.number,
        value,
        pc: pc as u64,
        ..Event::default()
    });
}

/// Notes that the running thread made, or was the first to see, a thing that has an id, no
/// descriptor.
pub fn made_with_id(what: What, id: c_int, outside: bool, pc: usize) -> Object {
    let object = new_object(what, outside);
    log_making(&object, id as u32 as u64, pc);
    object
}

/// Notes that the running thread made the message queue behind `fd`.
pub fn made_queue(fd: c_int, outside: bool, pc: usize) -> Option<Object> {
    let object = of_inode(&raw::stat(fd)?, What::Queue, outside);
    log_making(&object, fd as u64, pc);
    Some(object)
}

/// `fd` stands for `object`.
pub fn adopt(fd: c_int, object: Object) {
    if fd < 0 {
        return;
    }
    match identify(fd) {
        Identity::Inode(key, _) => {
            world().inodes.insert(key, object);
        }
        Identity::Descriptor => {
            world().descriptors.insert(descriptor_key(fd), object);
        }
        Identity::Random | Identity::Harmless => {}
    }
}

/// The object of a named pipe or locked file with this device and inode, made if it is not known.
pub fn of_inode(stat: &libc::stat, what: What, outside: bool) -> Object {
    let key = inode_key(stat.st_dev, stat.st_ino);
    match world().inodes.get(key) {
        Some(known) => *known,
        None => *world().inodes.entry(key, || new_object(what, outside)),
    }
}

/// The object with this device and inode, if it is known.
pub fn known_inode(stat: &libc::stat) -> Option<Object> {
    let key = inode_key(stat.st_dev, stat.st_ino);
    world().inodes.get(key).copied()
}

/// `copy` is a duplicate of `fd`.
pub fn duplicated(fd: c_int, copy: c_int) {
    let w = world();
    w.descriptors.remove(descriptor_key(copy));
    if let Some(object) = w.descriptors.get(descriptor_key(fd)).copied() {
        w.descriptors.insert(descriptor_key(copy), object);
    }
}

/// `fd` is closed.
pub fn closed(fd: c_int) {
    world().descriptors.remove(descriptor_key(fd));
}

/// Says whether another process can reach the object behind `fd`.
pub fn set_outside(fd: c_int, outside: bool) {
    let w = world();
    let object = match identify(fd) {
        Identity::Inode(key, _) => w.inodes.get(key),
        Identity::Descriptor => w.descriptors.get(descriptor_key(fd)),
        Identity::Random | Identity::Harmless => None,
    };
    if let Some(object) = object {
        object.outside = outside;
    }
}

impl Object {
    /// May another process end a wait for it?
    pub fn is_outside(&self) -> bool {
        self.outside || self.serial <= world().shared
    }
}

/// A child process has, or may have, a copy of every descriptor that there is now.
pub fn share_all() {
    super::rearm();
    world().shared = world().all;
}

/// Has any child process got descriptors of ours?
pub fn is_shared() -> bool {
    world().shared != 0
}

/// Something happened that a wait without a pollable condition may depend on.
pub fn change() {
    world().changes += 1;
}

/// [`change`], of this object.
pub fn change_of(object: u64) {
    change();
    let w = world();
    if object != 0 {
        w.changed.insert(object, w.changes);
    }
}

/// [`changes`] when this object was last operated on; 0: never.
pub fn last_change_of(object: u64) -> u64 {
    world().changed.get(object).map_or(0, |&mut at| at)
}

/// Changes so far; never 0.
pub fn changes() -> u64 {
    world().changes
}
