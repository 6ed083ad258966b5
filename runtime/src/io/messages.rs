//! POSIX message queues. Their descriptors are waited for as those of pipes. Their names belong to
//! the execution: the kernel knows a queue by a name of its own, for as long as it takes to make it,
//! so that executions do not meet there and nothing is left behind. A name that no execution made,
//! but that exists, is another process's.

use super::names::Text;
use super::table::{self, Object};
use super::wait::{self, Operation, WOULD_BLOCK, Waiting, answer};
use super::{descriptors, raw};
use crate::objects::Table;
use crate::os::{self, syscall};
use crate::serial::Serial;
use crate::start::effects;
use crate::time::{self, Clock};
use crate::timers::{self, Event};
use crate::{export, gate, intercept};
use core::ffi::{CStr, c_char, c_int, c_uint};
use libc::{
    EBADF, EBUSY, EEXIST, EINVAL, EMFILE, ENOENT, ETIMEDOUT, O_ACCMODE, O_CREAT, O_EXCL,
    O_NONBLOCK, POLLIN, POLLOUT, SYS_mq_getsetattr, SYS_mq_open, SYS_mq_timedreceive,
    SYS_mq_timedsend, SYS_mq_unlink, mode_t, mq_attr, mqd_t, timespec,
};
use raddle_protocol::descriptor::What;
use raddle_protocol::event::Kind;

/// How many names there can be at a time, and how long one is.
const MOST: usize = 64;
const LONGEST: usize = 255;

/// Descriptors by which queues are kept have numbers from here on.
const OWN: usize = 902;

/// Of the kernel's: higher priorities are refused.
const PRIORITIES: c_uint = 32_768;
/// `si_code` of a signal that tells of a message.
const SI_MESGQ: c_int = -3;

#[derive(Clone, Copy)]
struct Named {
    /// Without the slash.
    name: [u8; LONGEST],
    len: usize,
    /// Keeps the queue.
    fd: c_int,
}

struct World {
    named: [Option<Named>; MOST],
    /// How many queues were made.
    made: u32,
    /// Whom the next message in an empty queue is told, by the number of the queue.
    told: Table<Event>,
}

static WORLD: Serial<World> = Serial::new(World {
    named: [None; MOST],
    made: 0,
    told: Table::new(),
});

fn world() -> &'static mut World {
    // SAFETY: the running thread; nothing below switches.
    unsafe { WORLD.get() }
}

fn find(name: &[u8]) -> Option<usize> {
    let is = |n: &Option<Named>| n.as_ref().is_some_and(|n| &n.name[..n.len] == name);
    world().named.iter().position(is)
}

/// The arguments of `mq_open`; the name without its slash.
#[derive(Clone, Copy)]
struct Open {
    name: *const c_char,
    flags: c_int,
    mode: mode_t,
    attributes: *const mq_attr,
}

impl Open {
    /// The system call.
    ///
    /// # Safety
    /// `name` is a text, the attributes are null or readable.
    unsafe fn call(&self, name: *const c_char, flags: c_int) -> isize {
        let (mode, attributes) = (self.mode as usize, self.attributes as usize);
        // SAFETY: the caller's promise.
        unsafe {
            syscall(
                SYS_mq_open,
                name as usize,
                flags as usize,
                mode,
                attributes,
                0,
                0,
            )
        }
    }

    /// A new queue: its descriptor, or minus an errno. The user's limit counts queues of other
    /// executions as well, which end soon.
    ///
    /// # Safety
    /// As [`Open::call`].
    unsafe fn make(&self, name: &[u8], pc: usize) -> isize {
        const ROUNDS: usize = 400;
        const PAUSE_MS: c_int = 5;
        let Some(place) = world().named.iter().position(Option::is_none) else {
            return -(libc::ENOSPC as isize);
        };
        world().made += 1;
        let hidden = Text::of(format_args!("raddle.{}.{}", os::process(), world().made));
        let hidden = hidden.bytes.as_ptr().cast();
        let mut fd = -(EMFILE as isize);
        for round in 0..ROUNDS {
            // SAFETY: the caller's promise; the name ends with a NUL.
            fd = unsafe { self.call(hidden, self.flags | O_EXCL) };
            if fd != -(EMFILE as isize) {
                break;
            }
            if round == 0 {
                gate::uncontrolled("the user's limit of message queues, which other processes use");
            }
            // SAFETY: waits only.
            unsafe { raw::poll(core::ptr::null_mut(), 0, PAUSE_MS) };
        }
        if fd < 0 {
            return fd;
        }
        // SAFETY: as above.
        unsafe { syscall(SYS_mq_unlink, hidden as usize, 0, 0, 0, 0, 0) };
        let mut named = Named {
            name: [0; LONGEST],
            len: name.len(),
            fd: raw::fcntl(fd as c_int, libc::F_DUPFD_CLOEXEC, OWN) as c_int,
        };
        named.name[..name.len()].copy_from_slice(name);
        world().named[place] = Some(named);
        table::made_queue(fd as c_int, false, pc);
        fd
    }

    /// Another descriptor of the queue in this place.
    fn again(&self, place: usize) -> isize {
        let kept = world().named[place].map_or(-1, |n| n.fd);
        let path = Text::of(format_args!("/proc/self/fd/{kept}"));
        let flags = self.flags & (O_ACCMODE | O_NONBLOCK) | libc::O_CLOEXEC;
        let (at, path) = (libc::AT_FDCWD as usize, path.bytes.as_ptr() as usize);
        // SAFETY: the path ends with a NUL.
        unsafe { syscall(libc::SYS_openat, at, path, flags as usize, 0, 0, 0) }
    }

    /// # Safety
    /// As [`Open::call`].
    unsafe fn perform(&self, pc: usize) -> isize {
        // SAFETY: the caller's promise, also below.
        let name = unsafe { CStr::from_ptr(self.name) }.to_bytes();
        let (creates, anew) = (self.flags & O_CREAT != 0, self.flags & O_EXCL != 0);
        match find(name) {
            Some(_) if creates && anew => return -(EEXIST as isize),
            Some(place) => return self.again(place),
            None => {}
        }
        // SAFETY: as above.
        let there = unsafe { self.call(self.name, self.flags & !(O_CREAT | O_EXCL)) };
        match there {
            0.. if creates && anew => {
                os::close(there as c_int);
                -(EEXIST as isize)
            }
            0.. => {
                gate::uncontrolled("a message queue of other processes");
                table::made_queue(there as c_int, true, pc);
                there
            }
            // SAFETY: as above.
            _ if there == -(ENOENT as isize) && creates => unsafe { self.make(name, pc) },
            _ => there,
        }
    }
}

unsafe extern "C-unwind" fn open_from(
    name: *const c_char,
    flags: c_int,
    mode: mode_t,
    attributes: *const mq_attr,
    pc: usize,
) -> mqd_t {
    // SAFETY: the program's arguments; they count only where a queue may be made.
    unsafe {
        if *name != b'/' as c_char {
            return time::errno_result(EINVAL);
        }
        let creates = flags & O_CREAT != 0;
        let open = Open {
            name: name.add(1),
            flags,
            mode: if creates { mode } else { 0 },
            attributes: if creates {
                attributes
            } else {
                core::ptr::null()
            },
        };
        if !gate::active() {
            // In a child of an execution, which nobody controls.
            let known = find(CStr::from_ptr(open.name).to_bytes());
            return answer(match known.filter(|_| flags & O_EXCL == 0) {
                Some(place) => open.again(place),
                None => open.call(open.name, flags),
            }) as c_int;
        }
        effects::note();
        answer(control(-1, 0, pc).at_once(|| open.perform(pc))) as c_int
    }
}

/// An operation on a queue that never waits.
fn control(fd: c_int, object: u64, pc: usize) -> Operation {
    Operation {
        kind: Kind::QueueControl,
        fd,
        object,
        deadline: 0,
        pc,
        cancellable: false,
    }
}

/// `mq_unlink`.
///
/// # Safety
/// `name` is a text.
unsafe fn unlink(name: *const c_char, pc: usize) -> isize {
    // SAFETY: the caller's promise.
    let given = unsafe { CStr::from_ptr(name) }.to_bytes();
    let Some(bare) = given.strip_prefix(b"/") else {
        return -(EINVAL as isize);
    };
    control(-1, 0, pc).at_once(|| match find(bare) {
        Some(place) => {
            if let Some(named) = world().named[place].take() {
                os::close(named.fd);
            }
            0
        }
        // SAFETY: the caller's promise.
        None => unsafe { syscall(SYS_mq_unlink, name as usize + 1, 0, 0, 0, 0, 0) },
    })
}

/// The queue behind `fd`; one that nobody here made comes from outside.
fn queue(fd: c_int) -> Option<Object> {
    match table::find(fd) {
        Some(object) => (object.what == What::Queue).then_some(object),
        None => {
            attributes(fd).and_then(|_| Some(table::of_inode(&raw::stat(fd)?, What::Queue, true)))
        }
    }
}

fn attributes(fd: c_int) -> Option<mq_attr> {
    // SAFETY: the structure is as large as the kernel's.
    unsafe {
        let mut found: mq_attr = core::mem::zeroed();
        let into = &raw mut found as usize;
        let result = syscall(SYS_mq_getsetattr, fd as usize, 0, into, 0, 0, 0);
        (result == 0).then_some(found)
    }
}

/// A message that goes one way: the call, the memory, and what else the call is given.
#[derive(Clone, Copy)]
struct Message {
    sends: bool,
    memory: usize,
    bytes: usize,
    /// The priority, or where it goes.
    priority: usize,
}

impl Message {
    /// The system call, which does not wait: `-ETIMEDOUT` instead.
    ///
    /// # Safety
    /// The memory is the program's.
    unsafe fn call(&self, fd: c_int) -> isize {
        let call = if self.sends {
            SYS_mq_timedsend
        } else {
            SYS_mq_timedreceive
        };
        let long_ago = timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let until = &raw const long_ago as usize;
        // SAFETY: the caller's promise.
        unsafe {
            syscall(
                call,
                fd as usize,
                self.memory,
                self.bytes,
                self.priority,
                until,
                0,
            )
        }
    }

    /// Does the kernel refuse it, however full the queue is?
    fn is_refused(&self, fd: c_int) -> bool {
        let Some(queue) = attributes(fd) else {
            return true;
        };
        let size = queue.mq_msgsize as usize;
        let mode = raw::status_flags(fd) & O_ACCMODE;
        match self.sends {
            true => {
                let priority = self.priority >= PRIORITIES as usize;
                self.bytes > size || priority || mode == libc::O_RDONLY
            }
            false => self.bytes < size || mode == libc::O_WRONLY,
        }
    }

    /// # Safety
    /// As [`Message::call`].
    unsafe fn transfer(&self, fd: c_int, until: Option<&timespec>, pc: usize) -> isize {
        let deadline = until.map_or(Some(0), |at| time::deadline(Clock::Wall, at));
        let (Some(deadline), true) = (deadline, until.is_none_or(|at| at.tv_sec >= 0)) else {
            return -(EINVAL as isize);
        };
        let Some(object) = queue(fd) else {
            return -(EBADF as isize);
        };
        let (kind, events) = match self.sends {
            true => (Kind::QueueSend, POLLOUT),
            false => (Kind::QueueReceive, POLLIN),
        };
        let operation = Operation {
            deadline,
            ..Operation::on(kind, fd, &object, pc)
        };
        // SAFETY: the caller's promise.
        let attempt = || match unsafe { self.call(fd) } {
            result if result == -(ETIMEDOUT as isize) => WOULD_BLOCK,
            result => result,
        };
        if raw::status_flags(fd) & O_NONBLOCK != 0 || self.is_refused(fd) {
            return operation.at_once(attempt);
        }
        let waiting = Waiting::for_one(fd, events, &object);
        match operation.until_done(waiting, attempt) {
            WOULD_BLOCK => -(ETIMEDOUT as isize),
            result => result,
        }
    }
}

/// `mq_timedsend`, and `mq_send`, which has no limit.
///
/// # Safety
/// `bytes` can be read from `from`.
unsafe fn send(
    fd: mqd_t,
    (from, bytes): (*const c_char, usize),
    priority: c_uint,
    until: Option<&timespec>,
    pc: usize,
) -> c_int {
    let message = Message {
        sends: true,
        memory: from as usize,
        bytes,
        priority: priority as usize,
    };
    // SAFETY: the caller's promise.
    let result = unsafe { message.transfer(fd, until, pc) };
    if result == 0 {
        tell(fd, pc);
        gate::returns(pc);
    }
    answer(result) as c_int
}

/// `mq_timedreceive`, and `mq_receive`, which has no limit.
///
/// # Safety
/// `bytes` can be written to `to`; `priority` is null or can be written to.
unsafe fn receive(
    fd: mqd_t,
    (to, bytes): (*mut c_char, usize),
    priority: *mut c_uint,
    until: Option<&timespec>,
    pc: usize,
) -> isize {
    let message = Message {
        sends: false,
        memory: to as usize,
        bytes,
        priority: priority as usize,
    };
    // SAFETY: the caller's promise.
    answer(unsafe { message.transfer(fd, until, pc) })
}

/// A message was sent: whoever asked for it is told if the queue was empty and nobody waited for
/// one. A thread that has come to its call may have begun to wait, or not.
fn tell(fd: c_int, pc: usize) {
    let Some(object) = queue(fd) else { return };
    let was_empty = attributes(fd).is_some_and(|queue| queue.mq_curmsgs == 1);
    if !was_empty || world().told.get(object.number).is_none() {
        return;
    }
    if gate::alive_threads().any(|s| receives(s, object.number)) {
        let waits = gate::choose(2);
        gate::log_choice(waits, 2);
        if waits == 1 {
            return;
        }
    }
    if let Some(event) = world().told.remove(object.number) {
        timers::notify(&event, SI_MESGQ, pc);
    }
}

/// Is somebody to be told of the next message in this queue?
pub fn anybody_is_told(object: u64) -> bool {
    world().told.get(object).is_some()
}

/// Has the thread come to a call that waits for a message of this queue?
fn receives(s: raddle_protocol::Slot, object: u64) -> bool {
    let wanted = |p: &gate::Pending| p.kind == Kind::QueueReceive && p.object == object;
    let receives = gate::announced(s).filter(wanted);
    // SAFETY: the thread has announced it, so its operation lives.
    receives.is_some_and(|p| unsafe { wait::of(&p) }.is_some())
}

/// `mq_notify`.
fn ask_to_be_told(fd: mqd_t, event: Option<&Event>, pc: usize) -> isize {
    if event.is_some_and(|event| !timers::is_valid(event)) {
        return -(EINVAL as isize);
    }
    let Some(object) = queue(fd) else {
        return -(EBADF as isize);
    };
    if object.is_outside() {
        gate::uncontrolled("mq_notify for a queue that other processes use");
    }
    control(fd, object.number, pc).at_once(|| {
        let told = &mut world().told;
        match event {
            None => {
                told.remove(object.number);
                0
            }
            Some(_) if told.get(object.number).is_some() => -(EBUSY as isize),
            Some(&event) => {
                told.insert(object.number, event);
                0
            }
        }
    })
}

/// A descriptor of this object is closed: whoever asked by any is not told any more.
pub fn closed(object: &Object) {
    if object.what == What::Queue {
        world().told.remove(object.number);
    }
}

/// `mq_getattr` and `mq_setattr`.
///
/// # Safety
/// Both are null or the program's.
unsafe fn exchange(fd: mqd_t, new: *const mq_attr, old: *mut mq_attr, pc: usize) -> c_int {
    let number = queue(fd).map_or(0, |object| object.number);
    let (new, old) = (new as usize, old as usize);
    // SAFETY: the caller's promise.
    let call = || unsafe { syscall(SYS_mq_getsetattr, fd as usize, new, old, 0, 0, 0) };
    answer(control(fd, number, pc).at_once(call)) as c_int
}

export! {
    /// Two of the arguments are there only for a new queue.
    fn mq_open(name: *const c_char, flags: c_int, mode: mode_t, attributes: *const mq_attr) -> mqd_t = open_from;
    /// What a call without those two is in fortified programs.
    fn __mq_open_2(name: *const c_char, flags: c_int, mode: mode_t, attributes: *const mq_attr) -> mqd_t = open_from;
}

intercept! {
    kernel;
    fn mq_close(fd: mqd_t) -> c_int, pc => answer(descriptors::close(fd, pc)) as c_int;
    fn mq_unlink(name: *const c_char) -> c_int, pc => {
        effects::note();
        answer(unlink(name, pc)) as c_int
    };
    fn mq_send(fd: mqd_t, from: *const c_char, bytes: usize, priority: c_uint) -> c_int,
        pc => send(fd, (from, bytes), priority, None, pc);
    fn mq_timedsend(fd: mqd_t, from: *const c_char, bytes: usize, priority: c_uint, until: *const timespec) -> c_int,
        pc => send(fd, (from, bytes), priority, until.as_ref(), pc);
    fn mq_receive(fd: mqd_t, to: *mut c_char, bytes: usize, priority: *mut c_uint) -> isize,
        pc => receive(fd, (to, bytes), priority, None, pc);
    fn mq_timedreceive(fd: mqd_t, to: *mut c_char, bytes: usize, priority: *mut c_uint, until: *const timespec) -> isize,
        pc => receive(fd, (to, bytes), priority, until.as_ref(), pc);
    fn mq_notify(fd: mqd_t, event: *const Event) -> c_int,
        pc => answer(ask_to_be_told(fd, event.as_ref(), pc)) as c_int;
    fn mq_getattr(fd: mqd_t, into: *mut mq_attr) -> c_int, pc => exchange(fd, core::ptr::null(), into, pc);
    fn mq_setattr(fd: mqd_t, new: *const mq_attr, old: *mut mq_attr) -> c_int, pc => exchange(fd, new, old, pc);
}
