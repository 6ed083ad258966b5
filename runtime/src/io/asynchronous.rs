//! Asynchronous I/O, `aio_read` and its kin. The C library does it on threads of its own, which
//! nobody would control. Here a controlled thread does each request and tells whom it is to tell,
//! so that when it begins and when it has ended is a matter of the schedule. As in the C library,
//! the requests for one descriptor are done one after the other.

use crate::gate;
use crate::intercept;
use crate::serial::Serial;
use crate::signals;
use crate::sync::{cond, mutex};
use crate::threads;
use crate::time::{self, errno_result};
use crate::timers::{Event, notify};
use core::ffi::{c_int, c_void};
use libc::{
    AIO_ALLDONE, AIO_CANCELED, AIO_NOTCANCELED, EAGAIN, EBADF, ECANCELED, EINPROGRESS, EINVAL, EIO,
    ESPIPE, ETIMEDOUT, pthread_cond_t, pthread_mutex_t, timespec,
};
use raddle_protocol::event::Kind;
use raddle_protocol::{Slot, slot};

/// Most requests, and most lists of requests, that are under way at a time.
const MOST: usize = 256;
/// Greatest amount by which a request may lower its priority, which has no effect here.
const LOWEST_PRIORITY: c_int = 20;
/// `si_code` of a signal that tells of a request.
const SI_ASYNCIO: c_int = -4;

/// glibc's `struct aiocb` on x86-64.
#[repr(C)]
pub struct Request {
    fd: c_int,
    opcode: c_int,
    priority: c_int,
    buffer: *mut c_void,
    bytes: usize,
    event: Event,
    /// The rest of the `struct sigevent`, and what is the C library's own.
    rest: [u64; 6],
    error: c_int,
    result: isize,
    offset: i64,
    reserved: [u64; 4],
}

const _: () = assert!(size_of::<Request>() == size_of::<libc::aiocb>());
const _: () = assert!(
    core::mem::offset_of!(Request, offset) == core::mem::offset_of!(libc::aiocb, aio_offset)
);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Free,
    Waits,
    Runs,
    Cancelled,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    Read,
    Write,
    Sync,
    SyncData,
}

/// A request under way.
#[derive(Clone, Copy)]
struct Place {
    stage: Stage,
    request: *mut Request,
    work: Work,
    fd: c_int,
    /// In the order in which they were made.
    number: u64,
    /// Whom to tell.
    event: Event,
    /// Its list (`MOST`: none).
    list: usize,
}

/// A list of requests that tells when all are done.
#[derive(Clone, Copy)]
struct List {
    left: usize,
    event: Event,
}

struct World {
    places: [Place; MOST],
    lists: [Option<List>; MOST],
    made: u64,
    lock: pthread_mutex_t,
    /// Who holds the lock, or held it last and may be told so: a handler that interrupts it must not
    /// wait for it.
    holder: Slot,
    changed: pthread_cond_t,
}

static WORLD: Serial<World> = Serial::new(World {
    places: [Place {
        stage: Stage::Free,
        request: core::ptr::null_mut(),
        work: Work::Read,
        fd: -1,
        number: 0,
        event: Event::NONE,
        list: MOST,
    }; MOST],
    lists: [None; MOST],
    made: 0,
    lock: libc::PTHREAD_MUTEX_INITIALIZER,
    holder: slot::NONE,
    changed: libc::PTHREAD_COND_INITIALIZER,
});

fn world() -> &'static mut World {
    // SAFETY: serialised; not kept over a switch.
    unsafe { WORLD.get() }
}

unsafe extern "C-unwind" {
    // These two are the library's own exports, and steps.
    fn read(fd: c_int, buffer: *mut c_void, bytes: usize) -> isize;
    fn write(fd: c_int, buffer: *const c_void, bytes: usize) -> isize;
}

fn hold(pc: usize) {
    // SAFETY: a mutex of ours.
    unsafe { mutex::lock(&mut world().lock, Kind::MutexLock, 0, pc) };
    world().holder = gate::me();
}

fn release(pc: usize) {
    // SAFETY: as above.
    unsafe { mutex::unlock(&mut world().lock, pc) };
    if world().holder == gate::me() {
        world().holder = slot::NONE;
    }
}

/// Waits until something has changed; false if `deadline` (virtual nanoseconds, 0: none) came first.
fn await_change(deadline: u64, pc: usize) -> bool {
    let (changed, lock) = (&raw mut world().changed, &raw mut world().lock);
    // SAFETY: objects of ours.
    let result = unsafe { cond::wait(changed, lock, deadline, pc) };
    world().holder = gate::me();
    result != ETIMEDOUT
}

fn has_changed(pc: usize) {
    cond::broadcast(&mut world().changed, pc);
}

/// Makes a request: 0 or an errno.
///
/// # Safety
/// `request` is one that the program gave.
unsafe fn submit(request: *mut Request, work: Work, list: usize, pc: usize) -> c_int {
    // SAFETY: the caller's promise.
    let given = unsafe { &mut *request };
    let is_sync = matches!(work, Work::Sync | Work::SyncData);
    if !is_sync && !(0..=LOWEST_PRIORITY).contains(&given.priority) {
        (given.error, given.result) = (EINVAL, -1);
        return EINVAL;
    }
    hold(pc);
    let free = world().places.iter().position(|p| p.stage == Stage::Free);
    if let Some(free) = free {
        (given.error, given.result) = (EINPROGRESS, 0);
        let world = world();
        world.made += 1;
        world.places[free] = Place {
            stage: Stage::Waits,
            request,
            work,
            fd: given.fd,
            number: world.made,
            event: given.event,
            list,
        };
    } else {
        (given.error, given.result) = (EAGAIN, -1);
    }
    release(pc);
    let Some(free) = free else { return EAGAIN };
    signals::while_blocked(pc, || {
        threads::spawn_notified(serve, core::ptr::null(), free as u64);
    });
    0
}

/// The thread of one request.
extern "C-unwind" fn serve(index: *mut c_void) -> *mut c_void {
    let (index, pc) = (index as usize, serve as *const () as usize);
    hold(pc);
    while world().places[index].stage == Stage::Waits {
        if is_first(index) {
            world().places[index].stage = Stage::Runs;
        } else {
            await_change(0, pc);
        }
    }
    let place = world().places[index];
    if place.stage == Stage::Runs {
        release(pc);
        let (result, error) = perform(&place);
        hold(pc);
        finish(&place, result, error);
        has_changed(pc);
    }
    world().places[index].stage = Stage::Free;
    let last = is_done(place.list);
    release(pc);
    notify(&place.event, SI_ASYNCIO, pc);
    if let Some(event) = last {
        notify(&event, SI_ASYNCIO, pc);
    }
    core::ptr::null_mut()
}

/// Have all earlier requests for the same descriptor been done?
fn is_first(index: usize) -> bool {
    let world = world();
    let own = world.places[index];
    let open = |p: &&Place| matches!(p.stage, Stage::Waits | Stage::Runs) && p.fd == own.fd;
    let mut open = world.places.iter().filter(open);
    open.all(|p| p.number >= own.number)
}

/// Does the work: the result, and an errno.
fn perform(place: &Place) -> (isize, c_int) {
    // SAFETY: the program gave the descriptor, the buffer and its length for this.
    let result = unsafe {
        let Request {
            buffer,
            bytes,
            offset,
            ..
        } = *place.request;
        let fd = place.fd;
        let streams = |result| result < 0 && *libc::__errno_location() == ESPIPE;
        match place.work {
            Work::Read => match libc::pread(fd, buffer, bytes, offset) {
                result if streams(result) => read(fd, buffer, bytes),
                result => result,
            },
            Work::Write => match libc::pwrite(fd, buffer, bytes, offset) {
                result if streams(result) => write(fd, buffer, bytes),
                result => result,
            },
            Work::Sync => libc::fsync(fd) as isize,
            Work::SyncData => libc::fdatasync(fd) as isize,
        }
    };
    match result {
        // SAFETY: this thread's.
        -1 => (-1, unsafe { *libc::__errno_location() }),
        done => (done, 0),
    }
}

fn finish(place: &Place, result: isize, error: c_int) {
    // SAFETY: the program keeps a request until it is over.
    unsafe {
        (*place.request).result = result;
        (*place.request).error = error;
    }
}

/// One request of the list is done, while the lock is held: whom to tell if it was the last one.
fn is_done(list: usize) -> Option<Event> {
    let list = world().lists.get_mut(list)?;
    let pending = list.as_mut()?;
    pending.left -= 1;
    match pending.left {
        0 => list.take().map(|done| done.event),
        _ => None,
    }
}

/// `aio_cancel`: what became of them, or -1.
///
/// # Safety
/// `request` is null or one that the program has made.
unsafe fn cancel(fd: c_int, request: *mut Request, pc: usize) -> c_int {
    // SAFETY: asks only.
    if unsafe { libc::fcntl(fd, libc::F_GETFL) } < 0 {
        return errno_result(EBADF);
    }
    // SAFETY: the caller's promise.
    if !request.is_null() && unsafe { (*request).fd } != fd {
        return errno_result(EINVAL);
    }
    hold(pc);
    let (mut cancelled, mut running) = (false, false);
    for place in &mut world().places {
        let meant = place.fd == fd && (request.is_null() || place.request == request);
        match place.stage {
            Stage::Waits if meant => {
                place.stage = Stage::Cancelled;
                cancelled = true;
                finish(place, -1, ECANCELED);
            }
            Stage::Runs => running |= meant,
            _ => {}
        }
    }
    has_changed(pc);
    release(pc);
    match cancelled {
        _ if running => AIO_NOTCANCELED,
        true => AIO_CANCELED,
        false => AIO_ALLDONE,
    }
}

/// `aio_error` and `aio_return`: what `of` takes from a request.
///
/// # Safety
/// `request` is one that the program has made.
unsafe fn ask<T>(request: *const Request, of: fn(&Request) -> T, pc: usize) -> T {
    let interrupted = world().holder == gate::me();
    if !interrupted {
        hold(pc);
    }
    // SAFETY: the caller's promise.
    let answer = of(unsafe { &*request });
    if !interrupted {
        release(pc);
    }
    answer
}

/// Waits until `enough` of the requests are over, or the deadline has come: false.
fn await_requests(enough: impl Fn() -> bool, deadline: u64, pc: usize) -> bool {
    hold(pc);
    let mut in_time = true;
    while !enough() && in_time {
        in_time = await_change(deadline, pc);
    }
    let enough = enough();
    release(pc);
    enough
}

/// `aio_suspend`. Handlers of signals do not end it.
///
/// # Safety
/// `list` has `n` requests that the program has made, or null; `limit` is null or readable.
unsafe fn suspend(list: *const *mut Request, n: c_int, limit: *const timespec, pc: usize) -> c_int {
    // SAFETY: the caller's promise.
    let (given, limit) = unsafe { (requests(list, n), limit.as_ref()) };
    let enough = || {
        let mut given = given.clone().peekable();
        given.peek().is_none() || given.any(|r| error_of(r) != EINPROGRESS)
    };
    let deadline = match limit {
        None => 0,
        Some(limit) => match time::deadline_after(limit) {
            Some(deadline) => deadline,
            None => return errno_result(EINVAL),
        },
    };
    match await_requests(enough, deadline, pc) {
        true => 0,
        false => errno_result(EAGAIN),
    }
}

/// The requests of a list, which may have null in between.
///
/// # Safety
/// `list` has `n` entries.
unsafe fn requests(
    list: *const *mut Request,
    n: c_int,
) -> impl Iterator<Item = *mut Request> + Clone {
    let n = usize::try_from(n).unwrap_or(0);
    // SAFETY: the caller's promise.
    let all = (0..n).map(move |i| unsafe { *list.add(i) });
    all.filter(|r| !r.is_null())
}

/// Its error, EINPROGRESS until it is over.
fn error_of(request: *mut Request) -> c_int {
    // SAFETY: one that the program has made, and keeps until it is over.
    unsafe { (*request).error }
}

/// `lio_listio`.
///
/// # Safety
/// `list` has `n` requests of the program, or null; `event` is null or readable.
unsafe fn submit_all(
    mode: c_int,
    list: *const *mut Request,
    n: c_int,
    event: *const Event,
    pc: usize,
) -> c_int {
    if n < 0 || mode != libc::LIO_WAIT && mode != libc::LIO_NOWAIT {
        return errno_result(EINVAL);
    }
    // SAFETY: the caller's promise.
    let (given, event) = unsafe { (requests(list, n), event.as_ref()) };
    // SAFETY: as above.
    let given = given.filter(|&r| unsafe { (*r).opcode } != libc::LIO_NOP);
    let left = given.clone().count();
    let event = event.filter(|_| mode == libc::LIO_NOWAIT);
    let place = match event {
        Some(&event) if left > 0 => list_of(left, event),
        _ => MOST,
    };
    let mut failed = false;
    for request in given.clone() {
        // SAFETY: as above.
        let refused = unsafe {
            match (*request).opcode {
                libc::LIO_READ => submit(request, Work::Read, place, pc) != 0,
                libc::LIO_WRITE => submit(request, Work::Write, place, pc) != 0,
                _ => {
                    ((*request).error, (*request).result) = (EINVAL, -1);
                    true
                }
            }
        };
        if refused {
            hold(pc);
            let last = is_done(place);
            release(pc);
            if let Some(event) = last {
                notify(&event, SI_ASYNCIO, pc);
            }
        }
        failed |= refused;
    }
    if let (Some(event), 0) = (event, left) {
        notify(event, SI_ASYNCIO, pc);
    }
    if mode == libc::LIO_WAIT {
        let open = |r| error_of(r) == EINPROGRESS;
        await_requests(|| !given.clone().any(open), 0, pc);
        failed |= given.clone().any(|r| error_of(r) != 0);
    }
    if failed { errno_result(EIO) } else { 0 }
}

/// A place for a list of so many requests; `MOST`: there is none.
fn list_of(left: usize, event: Event) -> usize {
    let lists = &mut world().lists;
    let free = lists.iter().position(Option::is_none).unwrap_or(MOST);
    if let Some(list) = lists.get_mut(free) {
        *list = Some(List { left, event });
    }
    free
}

/// `aio_fsync`.
///
/// # Safety
/// `request` is one of the program.
unsafe fn synchronise(operation: c_int, request: *mut Request, pc: usize) -> c_int {
    let work = match operation {
        libc::O_SYNC => Work::Sync,
        libc::O_DSYNC => Work::SyncData,
        _ => return errno_result(EINVAL),
    };
    // SAFETY: the caller's promise.
    unsafe {
        let flags = libc::fcntl((*request).fd, libc::F_GETFL);
        if flags < 0 || flags & libc::O_ACCMODE == libc::O_RDONLY {
            return errno_result(EBADF);
        }
        errno_result(submit(request, work, MOST, pc))
    }
}

intercept! {
    fn aio_read(r: *mut Request) -> c_int, pc => errno_result(submit(r, Work::Read, MOST, pc));
    fn aio_read64(r: *mut Request) -> c_int, pc => errno_result(submit(r, Work::Read, MOST, pc));
    fn aio_write(r: *mut Request) -> c_int, pc => errno_result(submit(r, Work::Write, MOST, pc));
    fn aio_write64(r: *mut Request) -> c_int, pc => errno_result(submit(r, Work::Write, MOST, pc));
    fn aio_fsync(how: c_int, r: *mut Request) -> c_int, pc => synchronise(how, r, pc);
    fn aio_fsync64(how: c_int, r: *mut Request) -> c_int, pc => synchronise(how, r, pc);
    fn aio_error(r: *const Request) -> c_int, pc => ask(r, |r| r.error, pc);
    fn aio_error64(r: *const Request) -> c_int, pc => ask(r, |r| r.error, pc);
    fn aio_return(r: *mut Request) -> isize, pc => ask(r, |r| r.result, pc);
    fn aio_return64(r: *mut Request) -> isize, pc => ask(r, |r| r.result, pc);
    fn aio_cancel(fd: c_int, r: *mut Request) -> c_int, pc => cancel(fd, r, pc);
    fn aio_cancel64(fd: c_int, r: *mut Request) -> c_int, pc => cancel(fd, r, pc);
    fn aio_suspend(list: *const *mut Request, n: c_int, limit: *const timespec) -> c_int,
        pc => suspend(list, n, limit, pc);
    fn aio_suspend64(list: *const *mut Request, n: c_int, limit: *const timespec) -> c_int,
        pc => suspend(list, n, limit, pc);
    fn lio_listio(mode: c_int, list: *const *mut Request, n: c_int, event: *const Event) -> c_int,
        pc => submit_all(mode, list, n, event, pc);
    fn lio_listio64(mode: c_int, list: *const *mut Request, n: c_int, event: *const Event) -> c_int,
        pc => submit_all(mode, list, n, event, pc);
}
