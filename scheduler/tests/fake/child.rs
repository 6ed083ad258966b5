//! What the executions of a fake target do.

use super::{Stage, exit, wait_for_ever, write};
use raddle_protocol::constraint::Constraint;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::outcome::End;
use raddle_protocol::schedule::Step;
use raddle_protocol::shared::{self, Region};
use std::sync::atomic::Ordering::SeqCst;

/// xorshift64*: a few lines, so that a seed means the same for ever.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

impl Stage {
    /// Plays `child`; returning means exit status 0.
    pub fn act(&self, child: &str, number: u64) {
        match child {
            "ok" => self.finish(End::Exit, 0),
            "raw-exit" => exit(number as i32),
            "assert" => {
                self.finish(End::Assertion, 0);
                raise(libc::SIGABRT)
            }
            "late-exit" => {
                self.finish(End::Exit, 0);
                exit(number as i32)
            }
            "signal" => raise(number as i32),
            "spin" => loop {
                std::hint::spin_loop();
            },
            "block" => wait_for_ever(),
            "stop" => raise(libc::SIGSTOP),
            "steps" => loop {
                self.step();
            },
            "family" => self.family(number),
            "fill" => self.fill(number),
            "output" => self.output(number as usize),
            "endless-output" => loop {
                write(1, &[b'x'; 1 << 16]);
            },
            "echo" => echo(),
            "close-all" => {
                // SAFETY: numbers only.
                unsafe { libc::close_range(0, u32::MAX, 0) };
                self.finish(End::Exit, 0)
            }
            "scribble" => self.scribble(number),
            "corrupt" => self.corrupt(number),
            "misdirect" => {
                // An answer for the next clone, before there is one.
                write(self.control_fd, &1i32.to_ne_bytes());
                self.finish(End::Exit, 0)
            }
            "inputs" => self.show_job(),
            _ => exit(99),
        }
    }

    fn finish(&self, end: End, code: i32) {
        let c = self.control();
        let text = b"as \xff said";
        // SAFETY: the mapped head.
        unsafe {
            (*c).threads.store(1, SeqCst);
            (*c).outcome.code = code;
            (&raw mut (*c).outcome.message)
                .cast::<u8>()
                .copy_from(text.as_ptr(), text.len());
            (*c).outcome.message_len = text.len() as u32;
            (*c).outcome.end = end as u32;
        }
    }

    fn step(&self) {
        // SAFETY: the mapped head.
        unsafe { (*self.control()).steps.fetch_add(1, SeqCst) };
    }

    /// Makes processes that outlive it: in its own group, in another one, orphaned, and a daemon.
    fn family(&self, then: u64) {
        // SAFETY: this process has one thread.
        unsafe {
            if libc::fork() == 0 {
                wait_for_ever();
            }
            if libc::fork() == 0 {
                libc::setpgid(0, 0);
                wait_for_ever();
            }
            if libc::fork() == 0 {
                if libc::fork() == 0 {
                    libc::setsid();
                    wait_for_ever();
                }
                exit(0);
            }
            let c = self.control();
            let name = (&raw mut (*c).uncontrolled).cast::<[u8; 4]>();
            name.write(*b"fork");
            (*c).uncontrolled_len.store(1, SeqCst);
        }
        match then {
            0 => self.finish(End::Exit, 0),
            _ => wait_for_ever(),
        }
    }

    /// Fills log and steps `times` over, as a runtime does.
    fn fill(&self, times: u64) {
        let c = self.control();
        let log = at::<Event>(self, shared::LOG);
        let taken = at::<Step>(self, shared::TAKEN);
        let mut n = 0;
        for _ in 0..times {
            for i in 0..shared::LOG.capacity::<Event>() {
                let event = Event {
                    kind: Kind::Yield as u8,
                    value: n,
                    ..Event::default()
                };
                n += 1;
                // SAFETY: below the capacity.
                unsafe { log.add(i).write_volatile(event) };
            }
            for i in 0..1000 {
                // SAFETY: below the capacity.
                unsafe { taken.add(i).write_volatile(Step::thread(3, 40)) };
            }
            // SAFETY: the mapped head.
            unsafe {
                (*c).log_len
                    .store(shared::LOG.capacity::<Event>() as u64, SeqCst);
                (*c).taken_len.store(1000, SeqCst);
                (*c).events.store(n, SeqCst);
                self.await_drain();
            }
        }
        self.finish(End::Exit, 0);
    }

    fn await_drain(&self) {
        let c = self.control();
        // SAFETY: the mapped head.
        let (wanted, drains) = unsafe { (&(*c).drain_wanted, &(*c).drains) };
        let before = drains.load(SeqCst);
        wanted.store(1, SeqCst);
        write(self.notify_fd, &1u64.to_ne_bytes());
        while drains.load(SeqCst) == before {
            let none = std::ptr::null::<libc::timespec>();
            // SAFETY: the futex word is mapped.
            unsafe { libc::syscall(libc::SYS_futex, drains, libc::FUTEX_WAIT, before, none) };
        }
    }

    fn output(&self, n: usize) {
        for _ in 0..n {
            write(1, b"out ");
            write(2, b"err ");
        }
        self.finish(End::Exit, 0);
    }

    /// Writes the job as it sees it: prefix, inputs, ranges, constraints.
    fn show_job(&self) {
        // SAFETY: the mapped pages, which this process alone uses now.
        unsafe {
            let job = (*self.control()).job;
            let part = |region: Region, bytes: usize| {
                std::slice::from_raw_parts(self.base.add(region.offset), bytes)
            };
            write(
                1,
                part(shared::STEPS, job.steps_len as usize * size_of::<Step>()),
            );
            write(1, part(shared::INPUTS, job.inputs_len as usize));
            write(1, part(shared::RANGES, job.ranges_len as usize * 16));
            let constraints = job.constraints_len as usize * size_of::<Constraint>();
            write(1, part(shared::CONSTRAINTS, constraints));
            write(
                2,
                format!(
                    "{:x} {:?} {} {} {}",
                    job.flags, job.tail, job.max_steps, job.clock_base, job.entropy
                )
                .as_bytes(),
            );
        }
        self.finish(End::Exit, 0);
    }

    /// Random bytes at random places, then an end of a random kind.
    fn scribble(&self, seed: u64) {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let regions = [shared::CONTROL, shared::TAKEN, shared::LOG, shared::NODES];
        let head = Region {
            offset: 0,
            size: 256,
        };
        for _ in 0..1 + random.below(40) {
            let region = match random.below(3) {
                0 => head,
                1 => shared::CONTROL,
                _ => regions[random.below(regions.len())],
            };
            let from = random.below(region.size);
            let length = (1 + random.below(512)).min(region.size - from);
            let style = random.below(3);
            for i in 0..length {
                let byte = match style {
                    0 => random.next() as u8,
                    1 => 0xff,
                    _ => random.below(4) as u8,
                };
                // SAFETY: within the mapping.
                unsafe { self.base.add(region.offset + from + i).write_volatile(byte) };
            }
            if random.below(8) == 0 {
                write(
                    self.notify_fd,
                    &random.next().clamp(1, 1 << 40).to_ne_bytes(),
                );
            }
        }
        match random.below(4) {
            0 => exit(random.below(256) as i32),
            1 => raise(libc::SIGSEGV),
            2 => self.finish(End::Exit, 0),
            _ => {}
        }
    }

    /// One field each.
    fn corrupt(&self, which: u64) {
        let c = self.control();
        let huge = u64::MAX / 3;
        self.finish(End::Exit, 0);
        // SAFETY: the mapped head and regions.
        unsafe {
            match which {
                0 => (*c).magic = 7,
                1 => (*c).controller_version = 77,
                2 => (*c).taken_len.store(huge, SeqCst),
                3 => (*c).log_len.store(huge, SeqCst),
                4 => (*c).nodes_len.store(huge, SeqCst),
                5 => (*c).nodes_len.store(0, SeqCst),
                6 => (*c).uncontrolled_len.store(65, SeqCst),
                7 => (*c).outcome.end = 1000,
                8 => (*c).outcome.message_len = u32::MAX,
                9 => (*c).outcome.stack_len = 65,
                10 => (*c).outcome.waits_len = 257,
                11 => {
                    (*c).outcome.end = End::Divergence as u32;
                    (*c).outcome.detail[2] = 9;
                }
                12 => (*c).outcome.waits_len = 1,
                13 => (*c).taken_len.store(1, SeqCst),
                14 => (*c).log_len.store(1, SeqCst),
                15 => (*c).nodes_len.store(2, SeqCst),
                16 => (*c).steps.store(u64::MAX, SeqCst),
                _ => exit(98),
            }
            if which >= 13 {
                at::<u64>(self, shared::TAKEN).write(0);
                at::<u64>(self, shared::LOG).write(0);
                at::<[u64; 4]>(self, shared::NODES).write([0; 4]);
            }
        }
    }
}

fn at<T>(stage: &Stage, region: Region) -> *mut T {
    // SAFETY: within the mapping.
    unsafe { stage.base.add(region.offset).cast() }
}

fn raise(signal: i32) {
    // SAFETY: numbers only.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::kill(libc::getpid(), signal);
    }
}

fn echo() {
    let mut buffer = [0u8; 4096];
    loop {
        // SAFETY: room for that many bytes.
        let n = unsafe { libc::read(0, buffer.as_mut_ptr().cast(), buffer.len()) };
        match usize::try_from(n) {
            Ok(0) | Err(_) => return,
            Ok(n) => write(1, &buffer[..n]),
        }
    }
}
