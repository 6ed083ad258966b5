//! Message queues and sets of semaphores of System V. The kernel has them; who would have to wait
//! there waits at the gate, and tries again after each operation on the same object. The first
//! attempt in vain is the step in which the wait begins. Where other processes use the object, who
//! waits for them would try in vain now and then; so an attempt is made when it can succeed.

use super::requests;
use super::requests::linux::{MSG_INFO, MSG_STAT, MSG_STAT_ANY, SEM_INFO, SEM_STAT, SEM_STAT_ANY};
use super::table::{self, Object};
use super::wait::{Condition, Operation, WOULD_BLOCK, Waiting, answer};
use crate::objects::Table;
use crate::os::syscall;
use crate::serial::Serial;
use crate::slots::{PerSlot, Zero};
use crate::start::{effects, ipc};
use crate::{gate, intercept, numbers, time};
use core::ffi::{c_int, c_long, c_void};
use libc::{
    EAGAIN, EALREADY, EIDRM, EINVAL, ENOMSG, IPC_NOWAIT, IPC_PRIVATE, SYS_msgctl, SYS_msgget,
    SYS_msgrcv, SYS_msgsnd, SYS_semctl, SYS_semget, SYS_semtimedop, key_t, pid_t, sembuf, timespec,
};
use raddle_protocol::descriptor::What;
use raddle_protocol::event::Kind;

/// The semaphore of a set that a thread waits for, in vain as yet.
#[derive(Clone, Copy, Default)]
struct Wanted {
    object: u64,
    number: u16,
    /// It is to become zero.
    zero: bool,
}

// SAFETY: numbers and a truth value, which may be zero.
unsafe impl Zero for Wanted {}

struct World {
    /// By family and id.
    objects: Table<Object>,
    wanted: PerSlot<Wanted>,
}

static WORLD: Serial<World> = Serial::new(World {
    objects: Table::new(),
    wanted: PerSlot::new(),
});

fn world() -> &'static mut World {
    // SAFETY: the running thread; nothing below switches.
    unsafe { WORLD.get() }
}

/// What there is of the whole machine is used, and said.
const SHARED: &str = "System V queues and semaphores of other processes";

fn object_of(what: What, id: c_int, pc: usize) -> Object {
    let key = u64::from(id as u32) << 8 | what as u64;
    match world().objects.get(key) {
        Some(known) => *known,
        None => {
            let made = table::made_with_id(what, id, !ipc::is_own(), pc);
            *world().objects.entry(key, || made)
        }
    }
}

fn operation(kind: Kind, object: u64, pc: usize) -> Operation {
    Operation {
        kind,
        fd: -1,
        object,
        deadline: 0,
        pc,
        cancellable: false,
    }
}

/// `msgget` and `semget`: `call` with a key, other arguments and flags.
fn get(what: What, call: c_long, args: [usize; 3], pc: usize) -> c_int {
    // SAFETY: numbers only.
    let ask =
        |[key, second, third]: [usize; 3]| unsafe { syscall(call, key, second, third, 0, 0, 0) };
    effects::note();
    let [key, ..] = args;
    let own = ipc::own(|| exists(key as key_t, || ask([key, 0, 0])));
    let result = operation(Kind::QueueControl, 0, pc).at_once(|| ask(args));
    if result >= 0 {
        object_of(what, result as c_int, pc);
    }
    if !own {
        gate::uncontrolled(SHARED);
    }
    answer(result) as c_int
}

/// Is there an object of this key, in use by whoever? `ask` is the call that only looks for it.
fn exists(key: key_t, ask: impl FnOnce() -> isize) -> bool {
    key != IPC_PRIVATE && ask() != -(libc::ENOENT as isize)
}

/// Tries until it need not wait, or the time has come. `can`: can `of` succeed now?
fn until_done<T>(
    operation: &Operation,
    outside: bool,
    (of, can): (&T, fn(usize) -> bool),
    attempt: impl Fn() -> isize,
) -> isize {
    let condition = match outside {
        true => Condition::Asked(can, &raw const *of as usize),
        false => Condition::ChangeOf(operation.object),
    };
    let mut waits = false;
    operation.until_done(Waiting::new(condition, outside), || {
        let result = attempt();
        // Whoever began to wait before it was removed is told so.
        let removed = waits && result == -(EINVAL as isize);
        waits |= result == WOULD_BLOCK;
        if removed { -(EIDRM as isize) } else { result }
    })
}

/// A message to come or go.
struct Message {
    id: c_int,
    bytes: usize,
    /// The type that is wanted; `None`: it is sent.
    wanted: Option<c_long>,
    flags: c_int,
}

impl Message {
    /// `msgsnd` and `msgrcv`: `call` with flags, which fails rather than wait if they say so.
    fn transfer(&self, pc: usize, call: impl Fn(c_int) -> isize) -> isize {
        let object = object_of(What::Messages, self.id, pc);
        let kind = match self.wanted {
            Some(_) => Kind::QueueReceive,
            None => Kind::QueueSend,
        };
        let operation = Operation {
            cancellable: true,
            ..operation(kind, object.number, pc)
        };
        if self.flags & IPC_NOWAIT != 0 {
            return operation.at_once(|| call(self.flags));
        }
        until_done(
            &operation,
            object.is_outside(),
            (self, Message::can_be_at),
            || match call(self.flags | IPC_NOWAIT) {
                result if result == -(ENOMSG as isize) => WOULD_BLOCK,
                result => result,
            },
        )
    }

    /// Need the call with this message not wait now? (An error that it has counts.)
    fn can_be_at(message: usize) -> bool {
        // SAFETY: asked only while the call waits, on whose stack it lies; the structure is as large
        // as the kernel's.
        let (message, queue) = unsafe {
            let message = &*(message as *const Message);
            let mut queue: libc::msqid_ds = core::mem::zeroed();
            let into = &raw mut queue as usize;
            let look = libc::IPC_STAT as usize;
            if syscall(SYS_msgctl, message.id as usize, look, into, 0, 0, 0) < 0 {
                return true;
            }
            (message, queue)
        };
        let (room, count) = (queue.msg_qbytes as usize, queue.msg_qnum as usize);
        match message.wanted {
            None => queue.__msg_cbytes as usize + message.bytes <= room && count < room,
            Some(0) => count > 0,
            Some(_) => (0..count).any(|n| message.is_wanted(n)),
        }
    }

    /// Is the `n`-th message of the queue of the type that is wanted? Yes if it cannot be told.
    fn is_wanted(&self, n: usize) -> bool {
        let mut found: c_long = 0;
        let flags = (IPC_NOWAIT | libc::MSG_COPY | libc::MSG_NOERROR) as usize;
        let (id, into) = (self.id as usize, &raw mut found as usize);
        // SAFETY: a copy without its text.
        let result = unsafe { syscall(SYS_msgrcv, id, into, 0, n, flags, 0) };
        match self.wanted {
            _ if result < 0 => true,
            Some(wanted) if wanted < 0 => found <= -wanted,
            Some(wanted) => (found == wanted) == (self.flags & libc::MSG_EXCEPT == 0),
            None => true,
        }
    }
}

/// `semtimedop`.
///
/// # Safety
/// `ops` has `count` entries, if that is a count that the kernel accepts.
unsafe fn operate(
    id: c_int,
    ops: *mut sembuf,
    count: usize,
    limit: Option<&timespec>,
    pc: usize,
) -> isize {
    /// The kernel's SEMOPM.
    const MOST: usize = 500;
    let at_once = timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the caller's promise.
    let call = || unsafe {
        let limit = &raw const at_once as usize;
        syscall(
            SYS_semtimedop,
            id as usize,
            ops as usize,
            count,
            limit,
            0,
            0,
        )
    };
    let Some(deadline) = limit.map_or(Some(0), time::deadline_after) else {
        return -(EINVAL as isize);
    };
    let object = object_of(What::Semaphores, id, pc);
    let operation = Operation {
        deadline,
        ..operation(Kind::SemaphoreSet, object.number, pc)
    };
    if ops.is_null() || !(1..=MOST).contains(&count) {
        return operation.at_once(call);
    }
    let given = Operations { id, ops, count };
    if given.all().iter().all(does_not_wait) {
        return operation.at_once(call);
    }
    const GIVES_UP: isize = -(EALREADY as isize);
    let asked = (&given, Operations::can_be_at as fn(usize) -> bool);
    let result = until_done(&operation, object.is_outside(), asked, || {
        let result = call();
        match given.blocked_on().filter(|_| result == WOULD_BLOCK) {
            Some(op) if does_not_wait(&op) => GIVES_UP,
            Some(op) => {
                wants(object.number, op);
                WOULD_BLOCK
            }
            None => result,
        }
    });
    if result == GIVES_UP {
        -(EAGAIN as isize)
    } else {
        result
    }
}

fn does_not_wait(op: &sembuf) -> bool {
    c_int::from(op.sem_flg) & IPC_NOWAIT != 0
}

/// The calling thread waits because of this operation.
fn wants(object: u64, op: sembuf) {
    let wanted = &mut world().wanted;
    wanted.map();
    wanted[gate::me()] = Wanted {
        object,
        number: op.sem_num,
        zero: op.sem_op == 0,
    };
}

/// `semctl` with a command that takes at most a number.
fn semaphore(id: c_int, number: u16, command: c_int) -> isize {
    let (number, command) = (usize::from(number), command as usize);
    // SAFETY: numbers only.
    unsafe { syscall(SYS_semctl, id as usize, number, command, 0, 0, 0) }
}

/// The operations of one call.
struct Operations {
    id: c_int,
    ops: *const sembuf,
    count: usize,
}

impl Operations {
    fn all(&self) -> &[sembuf] {
        // SAFETY: the program gave so many.
        unsafe { core::slice::from_raw_parts(self.ops, self.count) }
    }

    /// The first one that cannot be done now; `None` if it cannot be told.
    fn blocked_on(&self) -> Option<sembuf> {
        let ops = self.all();
        let blocked = |(i, op): &(usize, &sembuf)| {
            let earlier = ops[..*i].iter().filter(|o| o.sem_num == op.sem_num);
            let change: isize = earlier.map(|o| isize::from(o.sem_op)).sum();
            let found = semaphore(self.id, op.sem_num, libc::GETVAL);
            let value = found + change;
            found >= 0
                && match op.sem_op {
                    0 => value != 0,
                    by => value + isize::from(by) < 0,
                }
        };
        ops.iter().enumerate().find(blocked).map(|(_, &op)| op)
    }

    /// Need the call not wait now, or does it not want to?
    fn can_be_at(operations: usize) -> bool {
        // SAFETY: asked only while the call waits, on whose stack it lies.
        let operations = unsafe { &*(operations as *const Operations) };
        operations.blocked_on().is_none_or(|op| does_not_wait(&op))
    }
}

/// How many threads wait, in vain as yet, for this semaphore to grow, or to be `zero`.
fn waiting_for(object: u64, number: c_int, zero: bool) -> isize {
    let wanted = &mut world().wanted;
    wanted.map();
    let waits = |&s: &raddle_protocol::Slot| {
        let Wanted {
            object: of,
            number: which,
            zero: empty,
        } = wanted[s];
        gate::waits_in(s, Kind::SemaphoreSet, object)
            && (of, c_int::from(which), empty) == (object, number, zero)
    };
    gate::alive_threads().filter(waits).count() as isize
}

/// `semctl`.
///
/// # Safety
/// As `semctl`.
pub unsafe fn control_semaphores(
    id: c_int,
    number: c_int,
    command: c_int,
    arg: usize,
    pc: usize,
) -> isize {
    requests::semaphores(id, command, arg, pc, |arg| {
        // SAFETY: the program's arguments.
        let call = || unsafe {
            let (number, command) = (number as usize, command as usize);
            syscall(SYS_semctl, id as usize, number, command, arg, 0, 0)
        };
        // They take no id: they tell of the machine, or list all objects.
        if [libc::IPC_INFO, SEM_STAT, SEM_INFO, SEM_STAT_ANY].contains(&command) {
            return call();
        }
        let object = object_of(What::Semaphores, id, pc);
        operation(Kind::QueueControl, object.number, pc).at_once(|| {
            let waiting = match command {
                libc::GETNCNT => waiting_for(object.number, number, false),
                libc::GETZCNT => waiting_for(object.number, number, true),
                _ => 0,
            };
            match call() {
                result if result < 0 => result,
                result if command == libc::GETPID => numbers::shown(result as pid_t) as isize,
                result => result + waiting,
            }
        })
    })
}

/// `msgctl`.
///
/// # Safety
/// As `msgctl`.
pub unsafe fn control_messages(id: c_int, command: c_int, arg: usize, pc: usize) -> isize {
    requests::messages(command, arg, pc, |arg| {
        // SAFETY: the program's arguments.
        let call = || unsafe { syscall(SYS_msgctl, id as usize, command as usize, arg, 0, 0, 0) };
        if [libc::IPC_INFO, MSG_STAT, MSG_INFO, MSG_STAT_ANY].contains(&command) {
            return call();
        }
        let object = object_of(What::Messages, id, pc);
        operation(Kind::QueueControl, object.number, pc).at_once(call)
    })
}

/// The result of a call after which others may go on.
fn returned(result: isize, pc: usize) -> c_int {
    if result >= 0 {
        gate::returns(pc);
    }
    answer(result) as c_int
}

intercept! {
    kernel;
    fn msgget(key: key_t, flags: c_int) -> c_int,
        pc => get(What::Messages, SYS_msgget, [key as usize, flags as usize, 0], pc);
    fn msgsnd(id: c_int, message: *const c_void, bytes: usize, flags: c_int) -> c_int, pc => {
        let (to, from) = (id as usize, message as usize);
        let sent = Message { id, bytes, wanted: None, flags };
        let call = |flags| syscall(SYS_msgsnd, to, from, bytes, flags as usize, 0, 0);
        returned(sent.transfer(pc, call), pc)
    };
    fn msgrcv(id: c_int, into: *mut c_void, bytes: usize, of: c_long, flags: c_int) -> isize, pc => {
        let (from, to) = (id as usize, into as usize);
        let received = Message { id, bytes, wanted: Some(of), flags };
        let call = |flags| syscall(SYS_msgrcv, from, to, bytes, of as usize, flags as usize, 0);
        answer(received.transfer(pc, call))
    };
    fn msgctl(id: c_int, command: c_int, arg: usize) -> c_int,
        pc => answer(control_messages(id, command, arg, pc)) as c_int;
    fn semget(key: key_t, count: c_int, flags: c_int) -> c_int,
        pc => get(What::Semaphores, SYS_semget, [key as usize, count as usize, flags as usize], pc);
    fn semop(id: c_int, ops: *mut sembuf, count: usize) -> c_int,
        pc => returned(operate(id, ops, count, None, pc), pc);
    fn semtimedop(id: c_int, ops: *mut sembuf, count: usize, limit: *const timespec) -> c_int,
        pc => returned(operate(id, ops, count, limit.as_ref(), pc), pc);
    fn semctl(id: c_int, number: c_int, command: c_int, arg: usize) -> c_int,
        pc => answer(control_semaphores(id, number, command, arg, pc)) as c_int;
    fn shmctl(id: c_int, command: c_int, arg: usize) -> c_int,
        pc => requests::shared_memory(command, arg, pc, |arg| real::shmctl(id, command, arg) as isize) as c_int;
    fn shmget(key: key_t, bytes: usize, flags: c_int) -> c_int, pc => {
        effects::note();
        let look = || syscall(libc::SYS_shmget, key as usize, 0, 0, 0, 0, 0);
        ipc::own(|| exists(key, look));
        real::shmget(key, bytes, flags)
    };
}
