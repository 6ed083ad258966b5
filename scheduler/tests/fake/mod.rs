//! Targets that speak the protocol in every way, bad ones above all.
//!
//! The test program is its own target: started with the variable [`ROLE`] it behaves, before its
//! `main`, like a program into which the runtime was loaded, and never comes to its tests.

mod child;

use raddle_protocol::VERSION;
use raddle_protocol::shared::{self, Control, Hello, command, env};
use raddle_scheduler::{Limits, Reuse, Session, StartError, Statuses, Stdin, StopFlag, Target};
use std::io::Read;
use std::time::Duration;

/// What the target is to do: `SERVER` or `SERVER:CHILD` or `SERVER:CHILD:NUMBER`.
pub const ROLE: &str = "RADDLE_TEST_ROLE";

/// This program in the role `role`.
pub fn target(role: &str) -> Target {
    Target {
        program: std::env::current_exe().expect("the test program has a path"),
        name: None,
        args: Vec::new(),
        env: vec![(ROLE.into(), role.into())],
        cwd: None,
        stdin: Stdin::Null,
        // Any library will do: the role is played without one.
        runtime: "/lib/x86_64-linux-gnu/libm.so.6".into(),
    }
}

/// Little time, small outputs.
pub fn limits() -> Limits {
    Limits {
        wall: Duration::from_millis(2500),
        output_bytes: 4096,
        record_bytes: 256 << 20,
        reuse: Reuse::Processes,
        accepted: Statuses::NONE,
    }
}

/// A session with the role `role`.
pub fn start(role: &str) -> Result<Session, StartError> {
    Session::start(&target(role), &limits(), &StopFlag::new().expect("a flag"))
}

#[used]
#[unsafe(link_section = ".init_array")]
static PLAY: extern "C" fn() = play;

extern "C" fn play() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let mut words = role.split(':');
    let server = words.next().unwrap_or_default();
    let child = words.next().unwrap_or_default();
    let number = words.next().and_then(|n| n.parse().ok()).unwrap_or(0);
    let fd = |name| {
        std::env::var(name)
            .ok()
            .and_then(|n| n.parse().ok())
            .unwrap_or(-1)
    };
    let stage = Stage {
        control_fd: fd(env::CONTROL_FD),
        notify_fd: fd(env::NOTIFY_FD),
        base: map(fd(env::SHARED_FD)),
    };
    stage.serve(server, child, number);
    exit(0);
}

/// What a runtime has.
#[derive(Clone, Copy)]
pub struct Stage {
    control_fd: i32,
    notify_fd: i32,
    base: *mut u8,
}

fn map(fd: i32) -> *mut u8 {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping at a place of the kernel's choice.
    unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            shared::TOTAL,
            access,
            libc::MAP_SHARED,
            fd,
            0,
        )
        .cast()
    }
}

fn exit(code: i32) -> ! {
    // SAFETY: takes a number and does not return.
    unsafe { libc::_exit(code) }
}

fn wait_for_ever() -> ! {
    loop {
        // SAFETY: takes nothing.
        unsafe { libc::pause() };
    }
}

fn write(fd: i32, bytes: &[u8]) {
    // SAFETY: the bytes are readable; what becomes of them is not this side's concern.
    unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
}

impl Stage {
    fn control(&self) -> *mut Control {
        self.base.cast()
    }

    fn serve(&self, server: &str, child: &str, number: u64) {
        // SAFETY: takes nothing.
        let pid = unsafe { libc::getpid() };
        match server {
            "exit-early" => {
                write(2, b"\nfake: no such symbol\nmore\n");
                exit(7)
            }
            "hang-early" => wait_for_ever(),
            "close-early" => {
                // SAFETY: a descriptor of our own.
                unsafe { libc::close(self.control_fd) };
                wait_for_ever()
            }
            "short-hello" => {
                write(self.control_fd, b"RADDL");
                exit(0)
            }
            "garbage-hello" => write(self.control_fd, &[0x5a; 64]),
            "old-hello" => self.hello(VERSION + 1, pid),
            "other-hello" => self.hello(VERSION, 1),
            _ => self.hello(VERSION, pid),
        }
        while self.await_go() {
            match server {
                "die-at-go" => exit(5),
                "mute" => wait_for_ever(),
                "answer-init" => write(self.control_fd, &1i32.to_ne_bytes()),
                "answer-parent" => {
                    // SAFETY: takes nothing.
                    let parent = unsafe { libc::getppid() };
                    write(self.control_fd, &parent.to_ne_bytes());
                }
                "answer-self" => write(self.control_fd, &pid.to_ne_bytes()),
                "answer-nobody" => write(self.control_fd, &0x3fff_fff0i32.to_ne_bytes()),
                "answer-errno" => write(self.control_fd, &(-libc::EAGAIN).to_ne_bytes()),
                "answer-least" => write(self.control_fd, &i32::MIN.to_ne_bytes()),
                _ => self.clone_child(child, number),
            }
        }
    }

    fn hello(&self, version: u32, pid: i32) {
        let hello = Hello {
            magic: shared::MAGIC,
            version,
            pid,
        };
        // SAFETY: Hello has no padding.
        let bytes =
            unsafe { std::slice::from_raw_parts((&raw const hello).cast(), size_of::<Hello>()) };
        write(self.control_fd, bytes);
    }

    fn await_go(&self) -> bool {
        let mut byte = 0u8;
        // SAFETY: one byte of room.
        let n = unsafe { libc::read(self.control_fd, (&raw mut byte).cast(), 1) };
        n == 1 && byte == command::GO
    }

    fn clone_child(&self, child: &str, number: u64) {
        let flags = libc::CLONE_PARENT | libc::SIGCHLD;
        // Closed on this side when the answer is written: the child plays after that.
        let (answered, answering) = std::io::pipe().expect("a pipe");
        // SAFETY: a plain fork; this process has one thread.
        let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) } as i32;
        if pid == 0 {
            // SAFETY: numbers only.
            unsafe {
                libc::setpgid(0, 0);
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            }
            drop(answering);
            let _ = (&answered).read(&mut [0]);
            drop(answered);
            self.act(child, number);
            exit(0);
        }
        write(self.control_fd, &pid.to_ne_bytes());
        drop(answering);
    }
}
