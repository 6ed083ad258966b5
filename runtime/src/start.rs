//! From `__libc_start_main` to the program's `main`: attach to the controller's pages, wait for
//! jobs as the zygote, obey one in a clone. See `raddle_protocol::shared`, "Life of a target".

pub mod effects;
mod environment;
mod freeze;
mod inherited;
pub mod ipc;
mod namespaces;
pub mod network;
mod rewind;
mod zygote;

pub use freeze::freeze;

use crate::gate::{self, Fatal};
use crate::serial::Serial;
use crate::{ends, os, raw, real, shadow, substrate, threads, time, vars};
use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::Ordering;
use environment::Settings;
use raddle_protocol::outcome::End;
use raddle_protocol::shared::{Control, MAGIC, TOTAL, flags};

mod real_libc {
    use super::{Main, c_char, c_int, c_void};
    crate::real! {
        fn __libc_start_main(
            main: Main,
            argc: c_int,
            argv: *mut *mut c_char,
            init: *mut c_void,
            fini: *mut c_void,
            rtld_fini: *mut c_void,
            stack_end: *mut c_void,
        ) -> c_int;
    }
}

/// The type of `main`.
type Main = extern "C-unwind" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;

static MAIN: Serial<Option<Main>> = Serial::new(None);

/// The first function of every dynamically linked program.
///
/// # Safety
/// Called by the program's entry code only.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C-unwind" fn __libc_start_main(
    main: Main,
    argc: c_int,
    argv: *mut *mut c_char,
    init: *mut c_void,
    fini: *mut c_void,
    rtld_fini: *mut c_void,
    stack_end: *mut c_void,
) -> c_int {
    // SAFETY: the kernel lays the environment behind the arguments.
    let environment = unsafe { argv.add(argc as usize + 1) };
    let mut entry = main;
    // SAFETY: the environment ends with a null pointer; only one thread exists.
    unsafe {
        if let Some(settings) = Settings::read(environment)
            && environment::executable_is(settings.target)
        {
            attach(&settings);
            if settings.own_network {
                network::isolate();
            }
            shadow::want_outside(settings.symbolic);
            environment::clean(environment);
            environment::settle_random();
            prepare();
            zygote::serve(&settings);
            begin();
            *MAIN.get() = Some(main);
            entry = main_wrapper;
        }
        real_libc::__libc_start_main(entry, argc, argv, init, fini, rtld_fini, stack_end)
    }
}

/// Maps the controller's pages.
fn attach(settings: &Settings) {
    let base = os::map_shared(settings.shared, TOTAL);
    // SAFETY: mapped just now; only the head's constant fields are read before the check.
    let control = unsafe { &*base.cast::<Control>() };
    if control.magic != MAGIC {
        os::die("raddle: the shared pages are not raddle's", b"");
    }
    control
        .runtime_version
        .store(raddle_protocol::VERSION, Ordering::Release);
    if control.controller_version != raddle_protocol::VERSION {
        os::die(
            "raddle: libraddle.so and raddle are of different versions",
            b"",
        );
    }
    os::close(settings.shared);
    // SAFETY: mapped for ever.
    unsafe { gate::attach(base, settings.notify) };
}

/// All that need not be done again in each execution.
fn prepare() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location();
        let (file, line) = place.map_or(("?", 0), |l| (l.file(), l.line()));
        let payload = panic.payload();
        let text = match payload.downcast_ref::<&str>() {
            Some(text) => text,
            None => payload
                .downcast_ref::<String>()
                .map_or("panic", |text| text),
        };
        gate::finish(Fatal {
            end: End::ToolFault,
            code: 0,
            message: format_args!("the runtime failed at {file}:{line}: {text}"),
            detail: [0; 4],
            pc: 0,
            stack: true,
        });
    }));
    real::prime();
    os::prime();
    threads::prepare();
    vars::look_for_rare_states();
    ends::look_for_registration();
    crate::sync::rwlock::prepare();
    ends::install();
    raw::redirect_vdso();
    raw::look_at_modules();
    crate::io::begin();
    crate::process::loader::begin();
    crate::busy::prepare();
    crate::foreign::sanitizers::install();
    // SAFETY: the functions live as long as the process.
    unsafe { libc::pthread_atfork(Some(before_fork), None, Some(after_fork_in_child)) };
}

extern "C" fn before_fork() {
    if gate::active() {
        gate::uncontrolled("fork");
        crate::io::share_all();
    }
}

extern "C" fn after_fork_in_child() {
    gate::leave();
}

/// The job lies in the pages: from here on this process obeys it.
fn begin() {
    let job = gate::pages().job();
    substrate::begin(job.flags & flags::KERNEL_THREADS != 0);
    threads::begin();
    crate::ends::begin();
    time::begin(job.clock_base);
    vars::set_mode(
        raddle_protocol::hooks::MODE_SYMBOLIC,
        job.flags & flags::SYMBOLIC != 0,
    );
    vars::set_mode(
        raddle_protocol::hooks::MODE_LENT,
        job.flags & flags::EXHAUSTIVE != 0,
    );
    gate::begin();
    threads::note_storage();
    raw::begin();
    crate::busy::begin();
    crate::signals::begin();
    crate::states::variables::name_insides();
    shadow::begin();
}

extern "C-unwind" fn main_wrapper(
    argc: c_int,
    argv: *mut *mut c_char,
    environment: *mut *mut c_char,
) -> c_int {
    // SAFETY: written before the C library was started.
    let Some(main) = (unsafe { *MAIN.get() }) else {
        os::die("raddle: no main function", b"");
    };
    // SAFETY: the arrays that `main` gets.
    unsafe { shadow::begin_outside(argv, environment, main as usize + 1) };
    crate::fenv::look("floating point as set before main");
    crate::heap::tell_of_high_blocks();
    vars::prepare_call(main as usize, 0);
    // When main has left by `pthread_exit`, what we have to do at once comes to lie here, and its variables
    // stay, as natively ([`threads`]).
    let room = core::hint::black_box([0u64; 128]);
    let status = main(argc, argv, environment);
    core::hint::black_box(&room);
    ends::main_returned(status, vars::result_of(main as usize))
}
