//! System calls that go to the kernel although they wait, or act on threads, signals and timers that
//! are under control: each is named before it is made.

use libc::*;

/// What the summary says of a system call; `None` of one that ends by itself and concerns no other
/// thread.
#[allow(non_upper_case_globals)] // the numbers' names are libc's
pub fn name(number: c_long) -> Option<&'static str> {
    Some(match number {
        SYS_pause => "the system call pause",
        SYS_rt_sigsuspend => "the system call rt_sigsuspend",
        SYS_rt_sigtimedwait => "the system call rt_sigtimedwait",
        SYS_rt_sigaction => "the system call rt_sigaction",
        SYS_rt_sigqueueinfo => "the system call rt_sigqueueinfo",
        SYS_rt_tgsigqueueinfo => "the system call rt_tgsigqueueinfo",
        SYS_pidfd_send_signal => "the system call pidfd_send_signal",
        SYS_signalfd | SYS_signalfd4 => "the system call signalfd",
        SYS_alarm => "the system call alarm",
        SYS_setitimer => "the system call setitimer",
        SYS_timer_create => "the system call timer_create",
        SYS_timerfd_settime => "the system call timerfd_settime",
        SYS_semop => "the system call semop",
        SYS_semtimedop => "the system call semtimedop",
        SYS_msgsnd => "the system call msgsnd",
        SYS_msgrcv => "the system call msgrcv",
        SYS_mq_open => "the system call mq_open",
        SYS_mq_timedsend => "the system call mq_timedsend",
        SYS_mq_timedreceive => "the system call mq_timedreceive",
        SYS_mq_notify => "the system call mq_notify",
        SYS_recvmmsg => "the system call recvmmsg",
        SYS_sendmmsg => "the system call sendmmsg",
        SYS_sendfile => "the system call sendfile",
        SYS_splice => "the system call splice",
        SYS_tee => "the system call tee",
        SYS_vmsplice => "the system call vmsplice",
        SYS_remap_file_pages => "the system call remap_file_pages",
        SYS_process_madvise => "the system call process_madvise",
        SYS_io_setup | SYS_io_submit | SYS_io_getevents => "asynchronous I/O of the kernel",
        SYS_io_uring_setup | SYS_io_uring_enter | SYS_io_uring_register => "io_uring",
        SYS_userfaultfd => "userfaultfd",
        SYS_ptrace => "ptrace",
        SYS_adjtimex | SYS_clock_adjtime => "adjtimex",
        SYS_statfs | SYS_fstatfs => "statfs",
        SYS_execve | SYS_execveat => "a new program by a direct system call",
        _ => return None,
    })
}
