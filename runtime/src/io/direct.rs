//! Descriptor operations by the C library's `syscall`, or by code whose system calls are trapped.

use super::fifo::{self, Open};
use super::multiplex::{self, Limit};
use super::{descriptors, functions, random, requests, sockets, system_v};
use core::ffi::{c_int, c_uint, c_void};
use libc::*;
use raddle_protocol::descriptor::What;

/// One system call, if it is one on descriptors that this module performs: its result in the
/// kernel's form.
///
/// # Safety
/// The arguments are the program's.
#[allow(non_upper_case_globals)] // the numbers' names are libc's
pub unsafe fn perform(number: c_long, args: [usize; 6], pc: usize) -> Option<isize> {
    let [a, b, c, d, e, f] = args;
    let fd = a as c_int;
    // SAFETY: the caller's promise.
    Some(unsafe {
        match number {
            SYS_pread64 if random::is_random(fd) => random::read(fd, b as *mut c_void, c),
            SYS_read => functions::read_silently(fd, b as *mut c_void, c, pc),
            SYS_write => functions::write_silently(fd, b as *const c_void, c, pc),
            SYS_readv => functions::read_vector(fd, b as *const iovec, c as c_int, pc),
            SYS_writev => functions::write_vector(fd, b as *const iovec, c as c_int, pc),
            SYS_recvfrom => {
                let name = (e as *mut sockaddr, f as *mut socklen_t);
                functions::receive(fd, (b as *mut c_void, c), d as c_int, name, pc)
            }
            SYS_sendto => {
                let name = (e as *const sockaddr, f as socklen_t);
                functions::send(fd, (b as *const c_void, c), d as c_int, name, pc)
            }
            SYS_recvmsg => functions::receive_message(fd, b as *mut msghdr, c as c_int, pc),
            SYS_sendmsg => functions::send_message(fd, b as *const msghdr, c as c_int, pc),
            SYS_close => descriptors::close(fd, pc),
            SYS_pipe => descriptors::pipe(a as *mut c_int, 0, pc),
            SYS_pipe2 => descriptors::pipe(a as *mut c_int, b as c_int, pc),
            SYS_eventfd => descriptors::event(a as c_uint, 0, pc),
            SYS_eventfd2 => descriptors::event(a as c_uint, b as c_int, pc),
            SYS_dup => descriptors::dup(fd),
            SYS_dup2 if a != b => descriptors::dup_onto(fd, b as c_int, 0, pc),
            SYS_dup3 => descriptors::dup_onto(fd, b as c_int, c as c_int, pc),
            SYS_fcntl => requests::fcntl(fd, b as c_int, c, pc),
            SYS_ioctl => requests::ioctl(fd, b, c, pc),
            SYS_msgctl => system_v::control_messages(fd, b as c_int, c, pc),
            SYS_semctl => system_v::control_semaphores(fd, b as c_int, c as c_int, d, pc),
            SYS_shmctl => requests::shared_memory(b as c_int, c, pc, |arg| {
                crate::os::syscall(number, a, b, arg, 0, 0, 0)
            }),
            SYS_flock => super::locks::whole(fd, b as c_int, pc),
            SYS_socket => sockets::socket(fd, b as c_int, c as c_int, pc),
            SYS_socketpair => sockets::pair(fd, b as c_int, c as c_int, d as *mut c_int, pc),
            SYS_bind => sockets::bind(fd, b as *const sockaddr, c as socklen_t, pc),
            SYS_listen => sockets::listen(fd, b as c_int, pc),
            SYS_accept => accept(args, 0, pc),
            SYS_accept4 => accept(args, d as c_int, pc),
            SYS_connect => sockets::connect(fd, b as *const sockaddr, c as socklen_t, pc),
            SYS_shutdown => sockets::shutdown(fd, b as c_int, pc),
            SYS_open => open([AT_FDCWD as usize, a, b, c], pc),
            SYS_openat => open([a, b, c, d], pc),
            SYS_poll => {
                let limit = Limit::of_milliseconds(c as c_int);
                multiplex::poll(a as *mut pollfd, b, limit, pc)
            }
            SYS_ppoll => {
                let (limit, mask) = (c as *const timespec, d as *const sigset_t);
                multiplex::poll_masked(a as *mut pollfd, b, limit, mask, pc)
            }
            SYS_select => multiplex::select_until(fd, sets([b, c, d]), e as *mut timeval, pc),
            SYS_pselect6 => {
                // The last argument points to the mask's address and its size.
                let mask = (f as *const *const sigset_t).as_ref();
                let mask = mask.copied().unwrap_or(core::ptr::null());
                multiplex::select_masked(fd, sets([b, c, d]), e as *const timespec, mask, pc)
            }
            SYS_epoll_wait => {
                let limit = Limit::of_milliseconds(d as c_int);
                multiplex::epoll_wait(fd, b as *mut epoll_event, c as c_int, limit, pc)
            }
            SYS_epoll_pwait | SYS_epoll_pwait2 => {
                let limit = match number {
                    SYS_epoll_pwait => Some(Limit::of_milliseconds(d as c_int)),
                    _ => Limit::of_timespec(d as *const timespec),
                };
                let room = (b as *mut epoll_event, c as c_int);
                multiplex::epoll_wait_masked(fd, room, limit, e as *const sigset_t, pc)
            }
            SYS_epoll_ctl => {
                let event = d as *mut epoll_event;
                multiplex::epoll_control(fd, b as c_int, c as c_int, event, pc)
            }
            SYS_epoll_create1 => multiplex::epoll_create(a as c_int, pc),
            SYS_inotify_init1 | SYS_timerfd_create => {
                let what = match number {
                    SYS_timerfd_create => What::Timer,
                    _ => What::Other,
                };
                let fd = crate::os::syscall(number, a, b, 0, 0, 0, 0);
                descriptors::anonymous(what, fd, true, pc)
            }
            _ => return None,
        }
    })
}

fn sets(addresses: [usize; 3]) -> [*mut fd_set; 3] {
    addresses.map(|set| set as *mut fd_set)
}

unsafe fn accept(args: [usize; 6], flags: c_int, pc: usize) -> isize {
    let [fd, name, len, ..] = args;
    // SAFETY: the program's arguments.
    unsafe {
        sockets::accept(
            fd as c_int,
            name as *mut sockaddr,
            len as *mut socklen_t,
            flags,
            pc,
        )
    }
}

unsafe fn open(args: [usize; 4], pc: usize) -> isize {
    let [directory, path, flags, mode] = args;
    let call = Open {
        directory: directory as c_int,
        path: path as *const c_char,
        flags: flags as c_int,
        mode: mode as mode_t,
    };
    // SAFETY: the program's arguments.
    unsafe { fifo::open(call, pc) }
}
