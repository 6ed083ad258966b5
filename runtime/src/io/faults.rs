//! Injected faults (`flags::FAULTS`): transfers that come short, waits that are interrupted. Each
//! one is a choice of the schedule, so it is replayed, and left out when it is not needed.

use super::wait::Operation;
use crate::gate;
use crate::serial::Serial;
use raddle_protocol::event::Kind;
use raddle_protocol::shared::flags;

/// Most faults of one execution.
const MOST: u32 = 4;

struct World {
    injected: u32,
    /// The transfer under way is to come short.
    short: bool,
}

static WORLD: Serial<World> = Serial::new(World {
    injected: 0,
    short: false,
});

fn world() -> &'static mut World {
    // SAFETY: the running thread; nothing below switches.
    unsafe { WORLD.get() }
}

/// What was drawn for one step.
#[derive(Clone, Copy)]
pub struct Fault {
    /// The alternative, and of how many; 0 of 0 when there was nothing to choose.
    picked: usize,
    of: usize,
    /// Was it drawn for an operation that may wait?
    waits: bool,
}

impl Fault {
    const NONE: Fault = Fault {
        picked: 0,
        of: 0,
        waits: false,
    };
    /// A signal interrupts a wait; what never waits finds nothing to do.
    const INTERRUPTED: usize = 1;
    const SHORT: usize = 2;

    /// The result of the operation if it is interrupted.
    pub fn interrupts(self) -> Option<isize> {
        let code = if self.waits {
            libc::EINTR
        } else {
            libc::EAGAIN
        };
        (self.picked == Fault::INTERRUPTED).then_some(-(code as isize))
    }

    /// Writes the record of the choice, right after that of the step.
    pub fn write(self) {
        if self.of != 0 {
            gate::log_choice(self.picked, self.of);
        }
    }
}

/// Draws for a step of `operation`, which has just been chosen.
pub fn draw(operation: &Operation, waits: bool) -> Fault {
    world().short = false;
    if gate::flags() & flags::FAULTS == 0 || world().injected >= MOST {
        return Fault::NONE;
    }
    let of = match operation.kind {
        Kind::DescriptorRead | Kind::DescriptorWrite => 3,
        Kind::Accept | Kind::Connect | Kind::Poll | Kind::EpollWait if waits => 2,
        Kind::QueueSend | Kind::QueueReceive | Kind::SemaphoreSet if waits => 2,
        _ => return Fault::NONE,
    };
    Fault {
        waits,
        ..draw_of(of)
    }
}

fn draw_of(of: usize) -> Fault {
    let picked = gate::choose_rarely(of);
    if picked != 0 {
        world().injected += 1;
        world().short = picked == Fault::SHORT;
    }
    Fault {
        picked,
        of,
        waits: true,
    }
}

/// Draws for a wait of another family, which a signal may interrupt: is it interrupted? The fault's
/// record is to be written after that of the step. `may`: can it be interrupted at all?
pub fn interrupts_wait(may: bool) -> (bool, Fault) {
    let fault = match may && gate::flags() & flags::FAULTS != 0 && world().injected < MOST {
        true => draw_of(2),
        false => Fault::NONE,
    };
    (fault.picked == Fault::INTERRUPTED, fault)
}

/// How many of `len` bytes the transfer under way may move.
pub fn shorten(len: usize) -> usize {
    match world().short && len > 1 {
        true => len.div_ceil(2),
        false => len,
    }
}

/// Was the transfer just made cut short?
pub fn cut_short() -> bool {
    core::mem::replace(&mut world().short, false)
}
