//! Functions that only access memory, in a run that is not symbolic: their models do the work, and each
//! access is a step, as it is in symbolic runs. What decides where a text ends is read byte by byte, as
//! in a plain loop: the C library reads more at a time, and reads some of it twice, but promises neither.
//! Where schedules are sampled, such a read is of a word as far as the function will go, which is found
//! out before.
//!
//! Only the first accesses of a call are steps by themselves ([`most_steps`]); the rest is told of in
//! pages before and as one step behind it.

use super::Call;
use super::characters::folds_ascii_only;
use super::fortified::Plain;
use super::machine::{Machine, Val};
use crate::access::pieces::{self, WORD};
use crate::access::{self, copied_between, filled, most_steps};
use crate::gate;
use crate::shadow::nodes::Nodes;
use crate::shadow::world;
use core::ffi::c_void;
use raddle_protocol::event::Kind;
use raddle_protocol::expr::{Op, Why};
use raddle_protocol::hooks::Ty;
use raddle_protocol::library::Model;
use raddle_protocol::shared::flags;

type Address = *mut c_void;

crate::hooks! { ROWS:
    fn raddle_stepwise(model: u32, arguments: Address) -> u32 = stepwise;
}

/// Most arguments of such a function.
const MOST: usize = 5;
const PAGE: u64 = 4096;

/// Memory that an argument leads to, in a text or block of which that is the first byte.
#[derive(Clone, Copy, Default)]
struct Area {
    at: u64,
    private: bool,
    /// The page of it that was told of in advance.
    page: u64,
    /// What was read without a step of its own: from, to.
    rest: Option<(u64, u64)>,
    /// How far it will be read, if that was found out.
    end: u64,
    /// The piece that was read last: where, how many bytes, what.
    piece: (u64, u64, u64),
}

/// A call whose accesses are steps.
struct Steps {
    areas: [Area; MOST],
    count: usize,
    pc: usize,
    /// So many accesses are steps by themselves yet.
    left: u64,
    /// Only to find out how far it goes: nothing is a step, nothing is written.
    ahead: bool,
}

impl Steps {
    /// The area in which an address lies. What different arguments lead to is apart, or both is shared.
    fn area(&mut self, at: u64) -> Option<&mut Area> {
        let areas = self.areas[..self.count].iter_mut();
        areas
            .filter(|area| area.at <= at)
            .max_by_key(|area| area.at)
    }

    fn is_private(&mut self, at: u64) -> bool {
        self.area(at).is_some_and(|area| area.private)
    }

    /// Reads without a step.
    fn read_on(&mut self, at: u64) -> u64 {
        let pc = self.pc;
        if let Some(area) = self.area(at)
            && !area.private
        {
            let (from, to) = area.rest.unwrap_or((at, at));
            area.rest = Some((from.min(at), to.max(at + 1)));
            let page = at & !(PAGE - 1);
            if area.page != page {
                area.page = page;
                let start = page.max(area.at);
                let len = page + PAGE - start;
                gate::access_unseen(Kind::ReadRange, start, len, pc);
            }
        }
        // SAFETY: the function reads there. Volatile: others may change it.
        u64::from(unsafe { (at as *const u8).read_volatile() })
    }

    /// One step for as many bytes as make a piece, if it is known that the function reads them.
    fn of_piece(&mut self, at: u64) -> Option<Val> {
        let (pc, left) = (self.pc, self.left);
        let area = self.area(at)?;
        let (start, size, value) = area.piece;
        if (start..start + size).contains(&at) {
            return Some(Val::of(8, value >> (8 * (at - start))));
        }
        if area.private || at >= area.end || left == 0 {
            return None;
        }
        let size = pieces::size(at, area.end - at, WORD);
        let value = self.step(at, size, pc);
        self.area(at)?.piece = (at, size, value);
        Some(Val::of(8, value))
    }

    /// Reads as a step.
    fn step(&mut self, at: u64, size: u64, pc: usize) -> u64 {
        self.left -= 1;
        gate::within_call(most_steps() - self.left);
        // SAFETY: the function reads there.
        let value = unsafe { access::read(at, size, pc) };
        gate::within_call(0);
        value
    }

    fn read_ahead(&mut self, at: u64, width: u8) -> Val {
        let size = u64::from(width / 8);
        if let Some(area) = self.area(at) {
            area.end = area.end.max(at + size);
        }
        // SAFETY: the function reads there. Volatile: others may change it.
        let byte = |i| u64::from(unsafe { ((at + i) as *const u8).read_volatile() }) << (8 * i);
        Val::of(width, (0..size).map(byte).sum())
    }

    /// Tells of what was read without steps.
    fn tell_rest(&self) {
        for area in &self.areas[..self.count] {
            if let Some((from, to)) = area.rest {
                access::tell_long(Kind::ReadRange, from, to - from, self.pc);
            }
        }
    }
}

impl Machine for Steps {
    fn nodes(&mut self) -> &mut Nodes {
        &mut world().nodes
    }

    fn read(&mut self, at: u64) -> Val {
        self.read_value(at, 8)
    }

    fn read_value(&mut self, at: u64, width: u8) -> Val {
        if self.ahead {
            return self.read_ahead(at, width);
        }
        if width == 8
            && let Some(byte) = self.of_piece(at)
        {
            return byte;
        }
        let size = u64::from(width / 8);
        if self.left == 0 || self.is_private(at) {
            let bytes = (0..size).map(|i| self.read_on(at + i) << (8 * i));
            return Val::of(width, bytes.sum());
        }
        let pc = self.pc;
        Val::of(width, self.step(at, size, pc))
    }

    fn write(&mut self, at: u64, byte: Val) {
        self.write_value(at, byte);
    }

    fn write_value(&mut self, at: u64, value: Val) {
        if self.ahead {
            return;
        }
        let size = u64::from(value.width / 8);
        match self.is_private(at) {
            // SAFETY: the function writes there.
            true => unsafe {
                let bytes = value.value.to_le_bytes();
                (at as *mut u8).copy_from(bytes.as_ptr(), size as usize);
            },
            // SAFETY: as above.
            false => unsafe { access::write(at, size, value.value, self.pc) },
        }
    }

    fn write_word(&mut self, at: u64, value: u64) {
        self.write_value(at, Val::word(value));
    }

    fn copy(&mut self, to: u64, from: u64, len: u64) {
        if self.ahead {
            return;
        }
        let sides = [to, from].map(|at| (at, self.is_private(at)));
        // SAFETY: the function does this copy.
        unsafe { copied_between(sides, len, self.pc) };
    }

    fn fill(&mut self, to: u64, byte: Val, len: u64) {
        if self.ahead {
            return;
        }
        let (at, byte) = (to as Address, byte.value as u8);
        // SAFETY: the function does this fill.
        unsafe {
            match self.is_private(to) {
                true => core::ptr::write_bytes(at.cast::<u8>(), byte, len as usize),
                false => filled(at, byte, len, self.pc),
            }
        }
    }

    fn duplicate(&mut self, from: u64, len: u64) -> u64 {
        if self.ahead {
            return 0;
        }
        // SAFETY: the program's own malloc.
        let block = unsafe { libc::malloc(len as usize + 1) } as u64;
        if block != 0 {
            // Nobody else knows of the block yet.
            let sides = [(block, true), (from, self.is_private(from))];
            // SAFETY: the function does this copy, to a block with room for it and a NUL.
            unsafe {
                copied_between(sides, len, self.pc);
                *((block + len) as *mut u8) = 0;
            }
        }
        block
    }

    fn decide(&mut self, _: Val, _: Why) {}

    fn compare(&mut self, _: u64, _: u64, _: u64) -> Val {
        unreachable!("none of these calls a function of the program's")
    }

    fn borrow(&mut self, _: u64) -> u64 {
        unreachable!("none of these needs memory")
    }

    fn give_back(&mut self, _: u64, _: u64) {}

    fn fail(&mut self, error: i32) {
        if self.ahead {
            return;
        }
        // SAFETY: the running thread's own variable.
        unsafe { *libc::__errno_location() = error };
    }

    fn complain(&mut self, _: &[u8]) {}

    fn extend(&mut self, op: Op, a: Val, width: u8) -> Val {
        match op {
            Op::SExt => Val::of(width, a.signed() as u64),
            _ => Val::of(width, a.value),
        }
    }

    fn low(&mut self, a: Val, width: u8) -> Val {
        Val::of(width, a.value)
    }
}

/// Is it clear that the model does what the function does?
fn is_followed(model: Model) -> bool {
    use Model::{Strcasecmp, Strcasestr, Strncasecmp};
    !matches!(model, Strcasecmp | Strncasecmp | Strcasestr) || folds_ascii_only()
}

unsafe extern "C-unwind" fn stepwise(model: u32, arguments: Address, pc: usize) -> u32 {
    let (number, count, private) = (model & 0xffff, model >> 16 & 0xff, model >> 24);
    let known = Model::from_number(number).filter(|model| model.is_stepwise());
    let count = count as usize;
    let Some(model) = known.filter(|_| count <= MOST) else {
        return 0;
    };
    if !access::scheduled() || access::shadowed() || !gate::several() || !is_followed(model) {
        return 0;
    }
    // SAFETY: by the contract of the hook.
    let values = unsafe { core::slice::from_raw_parts_mut(arguments.cast(), count) };
    let mut steps = Steps {
        areas: [Area::default(); MOST],
        count: 0,
        pc,
        left: most_steps(),
        ahead: false,
    };
    for (index, (ty, &at)) in model.params().iter().zip(values.iter()).enumerate() {
        let is_end = matches!(model, Model::Strtol | Model::Strtoul) && index == 1;
        if *ty != Ty::Ptr || is_end && at == 0 {
            continue;
        }
        if !access::is_address(at) {
            return 0;
        }
        steps.areas[steps.count] = Area {
            at,
            private: private >> index & 1 != 0,
            ..Area::default()
        };
        steps.count += 1;
    }
    if gate::flags() & flags::EXHAUSTIVE == 0 {
        steps.ahead = true;
        perform(&mut steps, model, values);
        steps.ahead = false;
    }
    let Some(result) = perform(&mut steps, model, values) else {
        return 0;
    };
    steps.tell_rest();
    if let Some(first) = values.first_mut() {
        *first = result;
    }
    1
}

/// Its result; `None` if the function is to end the program.
fn perform(m: &mut Steps, model: Model, values: &[u64]) -> Option<u64> {
    let mut plain = Plain::default();
    let call = Call {
        m,
        model,
        values,
        exprs: &[],
        real: 0,
    };
    let call = call.unfortified(&mut plain).ok()?;
    Some(call.perform().value)
}
