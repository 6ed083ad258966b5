//! Accesses of 1, 2, 4 or 8 bytes, plain and atomic.

use super::nodes::{Expr, Nodes};
use super::simplify::Operand;
use super::{atomic, branch, built, lost, touch, world};
use crate::access::pieces::torn;
use crate::access::{SEQ_CST, Update, check, load, log_order, order, store};
use crate::gate;
use crate::os;
use crate::vars;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::expr::{Op, Why};
use raddle_protocol::hooks::cas_orders;

/// One access of the program.
#[derive(Clone, Copy)]
pub struct Access {
    /// Read, Write, Rmw, AtomicRead or AtomicWrite.
    pub kind: Kind,
    pub at: u64,
    /// 1, 2, 4 or 8 bytes.
    pub size: u32,
    pub pc: usize,
    orders: Orders,
}

/// Bit in place of the order: the kernel accesses it.
const OF_KERNEL: u32 = 1 << 31;
/// Bit in place of the order: it may be that it is not accessed.
const UNSURE: u32 = 1 << 30;

/// The C11 orders of an atomic access.
#[derive(Clone, Copy)]
struct Orders {
    usual: u32,
    /// The order of a compare-exchange that does not find this.
    otherwise: Option<(u64, u32)>,
}

impl Access {
    /// Its parts stay in registers as long as what is next is [`Access::read`] or [`Access::write`]
    /// of settled memory.
    #[inline(always)]
    pub fn new(kind: Kind, at: u64, size: u32, pc: usize) -> Access {
        Access {
            kind,
            at,
            size,
            pc,
            orders: Orders {
                usual: SEQ_CST,
                otherwise: None,
            },
        }
    }

    /// With this C11 order.
    pub fn ordered(mut self, order: u32) -> Access {
        self.orders.usual = order;
        self
    }

    /// With the orders of a compare-exchange that expects this value, as `cas_order` puts them
    /// together.
    pub fn exchanging(mut self, expected: u64, orders: u32) -> Access {
        let (success, failure) = cas_orders(orders);
        self.orders = Orders {
            usual: success,
            otherwise: Some((expected, failure)),
        };
        self
    }

    /// A plain one that the kernel makes for the program: memory that is not there is no fault, and holds
    /// what the records say.
    pub fn of_kernel(mut self, is: bool) -> Access {
        if is {
            self.orders.usual |= OF_KERNEL;
        }
        self
    }

    /// A plain one of which it is not sure that it happens: what it finds is decided upon, but it races with
    /// nobody.
    pub fn unsure(mut self, is: bool) -> Access {
        if is {
            self.orders.usual |= UNSURE;
        }
        self
    }

    /// The record of the order of an atomic access that finds this: before its own record, and
    /// before a node names the number of that.
    fn log_order(self, old: u64) {
        if matches!(self.kind, Kind::Read | Kind::Write) {
            return;
        }
        match self.orders.otherwise {
            Some((expected, order)) if expected != old => log_order(order, true),
            _ => log_order(self.orders.usual, false),
        }
    }

    fn len(self) -> u64 {
        u64::from(self.size)
    }

    fn width(self) -> u8 {
        (8 * self.size) as u8
    }

    fn is_of_kernel(self) -> bool {
        self.orders.usual & OF_KERNEL != 0
    }

    /// What is there; for the kernel, where nothing is, what the records say.
    fn found(self) -> u64 {
        if !self.is_of_kernel() {
            return self.fetch();
        }
        let mut bytes = [0; 8];
        if !os::try_read(self.at as usize, &mut bytes[..self.size as usize]) {
            bytes = self.recorded();
        }
        u64::from_le_bytes(bytes)
    }

    /// Changes the bytes; for the kernel, if they are there.
    fn change(self, value: u64) {
        if !self.is_of_kernel() {
            return self.put(value);
        }
        // SAFETY: the program's bytes.
        unsafe { os::try_write(self.at as usize, &value.to_le_bytes()[..self.size as usize]) };
    }

    /// What the records say that shared bytes hold.
    fn recorded(self) -> [u8; 8] {
        let mut held = [0; 8];
        world().cells.parts(self.at, self.len(), |p| {
            let bytes = &p.cell.content[p.from..p.from + p.len];
            held[p.at..p.at + p.len].copy_from_slice(bytes);
        });
        held
    }

    fn fetch(self) -> u64 {
        if self.kind == Kind::Read || self.kind == Kind::Write {
            // SAFETY: the program accesses these bytes.
            return unsafe {
                match self.size {
                    1 => u64::from((self.at as *const u8).read()),
                    2 => u64::from((self.at as *const u16).read_unaligned()),
                    4 => u64::from((self.at as *const u32).read_unaligned()),
                    _ => (self.at as *const u64).read_unaligned(),
                }
            };
        }
        // SAFETY: the program accesses these bytes, atomically.
        unsafe { load(self.at, self.size, order(5)) }
    }

    fn put(self, value: u64) {
        if self.kind == Kind::Write {
            // SAFETY: the program writes these bytes.
            unsafe {
                match self.size {
                    1 => (self.at as *mut u8).write(value as u8),
                    2 => (self.at as *mut u16).write_unaligned(value as u16),
                    4 => (self.at as *mut u32).write_unaligned(value as u32),
                    _ => (self.at as *mut u64).write_unaligned(value),
                }
            }
            return;
        }
        // SAFETY: the program writes these bytes, atomically.
        unsafe { store(self.at, value, self.size, order(5)) };
    }

    fn log(self, kind: Kind, value: u64, expr: Expr) {
        gate::log_full(Event {
            kind: kind as u8,
            size: self.size as u8,
            object: self.at,
            value: value & super::mask(self.width()),
            aux: expr,
            pc: self.pc as u64,
            ..Event::default()
        });
    }

    /// Is it to be treated as one of shared memory, although nothing tells that it is? `Some(true)`: on
    /// suspicion only.
    #[inline]
    fn is_suspect(self) -> Option<bool> {
        let reads = matches!(self.kind, Kind::Read | Kind::AtomicRead);
        if gate::round_exposes() {
            return Some(false);
        }
        let falls_on = world().suspicion.falls_on(self.at, reads);
        falls_on.then_some(true)
    }

    /// Is it an access to shared memory? One that is so in part makes the rest shared too.
    fn is_shared(self) -> bool {
        if !vars::symbolic() {
            return false;
        }
        let known = world().cells.any_shared(self.at, self.len());
        let shared = if known {
            Some(false)
        } else {
            self.is_suspect()
        };
        if let Some(suspected) = shared {
            self.share(suspected);
        }
        shared.is_some()
    }

    /// Is it one of many to memory that this thread alone uses and that is concrete? Nothing is to
    /// be done for it then but the access.
    #[inline(always)]
    fn is_settled(self, write: bool) -> bool {
        let settled = world()
            .cells
            .is_settled(self.at, self.len(), gate::me(), write);
        if settled && let Some(suspected) = self.is_suspect() {
            self.share(suspected);
            return false;
        }
        settled
    }

    /// The bytes are shared from now on.
    fn share(self, suspected: bool) {
        let at = self.at;
        world().cells.parts(at, self.len(), |p| {
            let bits = p.bits();
            if p.cell.shared & bits == bits {
                return;
            }
            p.cell.shared |= bits;
            gate::log_full(Event {
                kind: Kind::Shared as u8,
                aux: suspected.into(),
                object: at + p.at as u64,
                value: p.len as u64,
                pc: self.pc as u64,
                ..Event::default()
            });
        });
    }

    /// Records what shared bytes hold that no record tells of yet.
    fn introduce(self, value: u64) {
        let bytes = value.to_le_bytes();
        let init = |offset: usize, size: usize| {
            let mut part = [0; 8];
            part[..size].copy_from_slice(&bytes[offset..offset + size]);
            gate::log_full(Event {
                kind: Kind::Init as u8,
                size: size as u8,
                object: self.at + offset as u64,
                value: u64::from_le_bytes(part),
                pc: self.pc as u64,
                ..Event::default()
            });
        };
        let (mut any, mut all) = (false, true);
        world().cells.parts(self.at, self.len(), |p| {
            let known = p.cell.known & p.bits();
            any |= known != 0;
            all &= known == p.bits();
        });
        if all {
            return;
        }
        if !any {
            init(0, self.size as usize);
        }
        world().cells.parts(self.at, self.len(), |p| {
            for i in 0..p.len {
                let bit = 1 << (p.from + i);
                if p.cell.known & bit == 0 {
                    p.cell.known |= bit;
                    p.cell.content[p.from + i] = bytes[p.at + i];
                    if any {
                        init(p.at + i, 1);
                    }
                }
            }
        });
    }

    /// Notes what shared bytes hold from now on.
    fn settle(self, value: u64, expr: Expr) {
        let bytes = value.to_le_bytes();
        let inputs = world().nodes.depends_on_inputs(expr);
        world().cells.parts(self.at, self.len(), |p| {
            let held = &mut p.cell.content[p.from..p.from + p.len];
            held.copy_from_slice(&bytes[p.at..p.at + p.len]);
            let bits = p.bits();
            match inputs {
                true => p.cell.inputs |= bits,
                false => p.cell.inputs &= !bits,
            }
        });
        // Where the memory turns out to be a function's own, it reads that without a record.
        world().cells.store(self.at, self.len(), expr, Some(value));
    }

    /// Does what the shared bytes hold depend on an input?
    pub fn depends_on_inputs(self) -> bool {
        let mut any = false;
        world().cells.parts(self.at, self.len(), |p| {
            any |= p.cell.inputs & p.bits() != 0;
        });
        any
    }

    /// Do the shared bytes hold what the records say?
    fn is_as_recorded(self, value: u64) -> bool {
        let bytes = value.to_le_bytes();
        let mut same = true;
        world().cells.parts(self.at, self.len(), |p| {
            same &= p.cell.content[p.from..p.from + p.len] == bytes[p.at..p.at + p.len];
        });
        same
    }

    /// Waits for the turn of an access to shared memory that depends on the content; returns the
    /// content. If that was changed by code that is not instrumented, a write of the present
    /// content is recorded as a step of its own, and the access waits for another turn.
    fn observe(self) -> u64 {
        loop {
            gate::simple(self.kind, self.at, self.pc);
            check(self.kind, self.at, self.len(), self.pc);
            let value = self.found();
            self.introduce(value);
            if self.is_as_recorded(value) {
                return value;
            }
            lost(Why::Memory, self.pc);
            self.log(Kind::Write, value, 0);
            self.settle(value, 0);
            gate::round_changed();
        }
    }

    /// Reads; the value and its expression.
    #[inline(always)]
    pub fn read(self) -> (u64, Expr) {
        if !self.is_settled(false) || self.is_of_kernel() {
            return self.read_unsettled();
        }
        check(self.kind, self.at, self.len(), self.pc);
        let value = self.fetch();
        gate::round_saw(self.at, self.size, value);
        (value, 0)
    }

    #[inline(never)]
    fn read_unsettled(self) -> (u64, Expr) {
        if self.is_shared() {
            if let Some(first) = self.torn() {
                return self.read_torn(first);
            }
            let value = self.observe();
            self.log_order(value);
            let expr = world()
                .nodes
                .read(self.width(), gate::events(), self.depends_on_inputs());
            let unsure = self.orders.usual & UNSURE != 0;
            self.log(self.kind, value, if unsure { Event::UNSURE } else { 0 });
            gate::round_saw(self.at, self.size, value);
            return (value, built(expr, self.pc));
        }
        check(self.kind, self.at, self.len(), self.pc);
        touch(self.at, self.len(), false, self.pc);
        let value = self.found();
        gate::round_saw(self.at, self.size, value);
        (value, self.shadow_of(value))
    }

    /// How many bytes of a plain access are one step, if the others are another one.
    fn torn(self) -> Option<u64> {
        let plain = matches!(self.kind, Kind::Read | Kind::Write);
        plain.then(|| torn(self.at, self.len())).flatten()
    }

    /// Performs the steps of an access of which the `first` bytes are one and the others another one:
    /// calls `each` for the accesses, which have as many bytes as accesses have, with the number of bytes
    /// before it.
    fn in_two(self, first: u64, mut each: impl FnMut(Access, u64)) {
        for (from, end) in [(0, first), (first, self.len())] {
            let whole = (end - from).is_power_of_two();
            if !whole {
                atomic::enter(self.pc);
            }
            let mut done = from;
            while done < end {
                let size = 1 << (end - done).ilog2();
                let part = Access::new(self.kind, self.at + done, size as u32, self.pc);
                each(part, done);
                done += size;
            }
            if !whole {
                atomic::leave(self.pc);
            }
        }
    }

    #[cold]
    fn read_torn(self, first: u64) -> (u64, Expr) {
        let (mut value, mut expr) = (0, 0);
        self.in_two(first, |part, before| {
            let (found, high) = part.read();
            let low = Operand { expr, value };
            value |= found << (8 * before);
            let nodes = &mut world().nodes;
            let mut whole = |operand: Operand, bytes: u64| match operand.expr {
                0 => nodes.constant(8 * bytes as u8, operand.value),
                expr => expr,
            };
            expr = match (high, low.expr) {
                (0, 0) => 0,
                _ if before == 0 => high,
                _ => {
                    let low = whole(low, before);
                    let found = Operand {
                        expr: high,
                        value: found,
                    };
                    let high = whole(found, part.len());
                    nodes.concat(high, low)
                }
            };
        });
        (value, built(expr, self.pc))
    }

    #[cold]
    fn write_torn(self, first: u64, value: u64, expr: Expr) {
        self.in_two(first, |part, before| {
            let nodes = &mut world().nodes;
            let expr = match expr {
                0 => 0,
                expr => nodes.extract(expr, 8 * before as u8, part.width()),
            };
            part.write(value >> (8 * before), expr);
        });
    }

    /// The expression of bytes that only the running function sees.
    #[inline]
    pub fn shadow(self) -> Expr {
        if world().cells.is_concrete(self.at, self.len()) {
            return 0;
        }
        self.shadow_of(self.fetch())
    }

    /// Gives bytes that only the running function sees an expression; the caller has stored its value.
    #[inline]
    pub fn set_shadow(self, expr: Expr) {
        if expr == 0 && world().cells.is_concrete(self.at, self.len()) {
            return;
        }
        let expr = fit(&mut world().nodes, expr, self.width());
        let expr = built(expr, self.pc);
        if vars::symbolic() && world().cells.any_shared(self.at, self.len()) {
            return self.record_own(expr);
        }
        world().cells.store(self.at, self.len(), expr, None);
    }

    /// The same where such bytes are taken to be shared, because of what lay there before or may lie there:
    /// a block operation or a model would find what the records say.
    #[cold]
    fn record_own(self, expr: Expr) {
        let known = self.is_shared();
        debug_assert!(known, "a byte of them is shared");
        gate::simple(self.kind, self.at, self.pc);
        let value = self.fetch();
        self.introduce(value);
        self.settle(value, expr);
        self.log(self.kind, value, expr);
    }

    /// The expression of local bytes that hold `value`.
    fn shadow_of(self, value: u64) -> Expr {
        let w = world();
        let (expr, stale) = w.cells.load(&mut w.nodes, self.at, self.len(), value);
        if stale {
            lost(Why::Memory, self.pc);
        }
        built(expr, self.pc)
    }

    /// Writes a value with its expression.
    #[inline(always)]
    pub fn write(self, value: u64, expr: Expr) {
        if expr != 0 || !self.is_settled(true) || self.is_of_kernel() {
            return self.write_unsettled(value, expr);
        }
        check(self.kind, self.at, self.len(), self.pc);
        if self.fetch() != value {
            gate::round_changed();
        }
        self.put(value);
    }

    #[inline(never)]
    fn write_unsettled(self, value: u64, expr: Expr) {
        let expr = fit(&mut world().nodes, expr, self.width());
        let expr = built(expr, self.pc);
        if self.is_shared() {
            gate::round_changed();
            if let Some(first) = self.torn() {
                return self.write_torn(first, value, expr);
            }
            gate::simple(self.kind, self.at, self.pc);
            check(self.kind, self.at, self.len(), self.pc);
            self.introduce(self.found());
            self.change(value);
            self.settle(value, expr);
            self.log_order(value);
            self.log(self.kind, value, expr);
            return;
        }
        check(self.kind, self.at, self.len(), self.pc);
        let old = self.fetch();
        let w = world();
        let found = w.cells.load(&mut w.nodes, self.at, self.len(), old);
        if old != value || expr != 0 || found != (0, false) {
            gate::round_changed();
        }
        touch(self.at, self.len(), true, self.pc);
        self.change(value);
        world().cells.store(self.at, self.len(), expr, Some(value));
    }

    /// Reads and writes in one step: `change` computes the new content and its expression from the
    /// old one. The old value and its expression.
    pub fn update(self, change: impl FnOnce(&mut Nodes, Operand) -> (u64, Expr)) -> (u64, Expr) {
        let shared = self.is_shared();
        let old = if shared {
            let value = self.observe();
            self.log_order(value);
            let expr = world()
                .nodes
                .read(self.width(), gate::events(), self.depends_on_inputs());
            Operand { expr, value }
        } else {
            check(self.kind, self.at, self.len(), self.pc);
            touch(self.at, self.len(), true, self.pc);
            let value = self.fetch();
            let expr = self.shadow_of(value);
            Operand { expr, value }
        };
        let (new, expr) = change(&mut world().nodes, old);
        self.put(new);
        // What is not shared is in no formula: there the value must be the same for all inputs.
        match new == old.value && (shared || expr == 0) {
            true => gate::round_saw(self.at, self.size, new),
            false => gate::round_changed(),
        }
        if shared {
            self.settle(new, expr);
            // A record between the node and this one would belie the index in the node.
            self.log(self.kind, new, expr);
            built(expr, self.pc);
        } else {
            let expr = built(expr, self.pc);
            world().cells.store(self.at, self.len(), expr, Some(new));
        }
        (old.value, built(old.expr, self.pc))
    }

    /// Before bytes are written without a hook: records what they hold, if they are shared.
    pub fn will_be_written(self) {
        if self.is_shared() {
            self.introduce(self.found());
        }
    }

    /// After bytes were written without a hook, of which nothing was told before: records that they
    /// were zero, if they are shared.
    pub fn was_zero(self) {
        if self.is_shared() {
            self.introduce(0);
        }
    }

    /// After they were written: the step and its record, if they are shared. `early`: what has begun
    /// meanwhile sees the new content, also before the step. `written`: what, if others do not find it
    /// there yet.
    pub fn was_written(self, early: bool, written: Option<u64>) {
        if !self.is_shared() {
            touch(self.at, self.len(), true, self.pc);
            world().cells.forget(self.at, self.len());
            return;
        }
        if early {
            gate::simple(self.kind, self.at, self.pc);
            let new = self.found();
            self.settle(new, 0);
            return self.log(self.kind, new, 0);
        }
        let new = written.unwrap_or_else(|| self.found());
        if written.is_none() {
            self.hold_back();
        }
        gate::simple(self.kind, self.at, self.pc);
        self.change(new);
        self.settle(new, 0);
        self.log(self.kind, new, 0);
    }

    /// Others see what was written only after the step: until then, what the records say.
    pub fn hold_back(self) {
        self.change(u64::from_le_bytes(self.recorded()));
    }

    /// Reads a value that is not followed any further: a decision.
    pub fn read_and_decide(self) -> u64 {
        let (value, expr) = self.read();
        decide(expr, value, Why::Memory, self.pc);
        value
    }
}

/// An address, a size or a count that is symbolic becomes concrete by a decision.
pub fn decide(expr: Expr, value: u64, why: Why, pc: usize) {
    if expr != 0 {
        branch(expr, value, why, pc);
    }
}

/// The expression with `width` bits: the low ones, or zero-extended. 0 for one that does not
/// exist.
pub fn fit(nodes: &mut Nodes, expr: Expr, width: u8) -> Expr {
    if !nodes.is_known(expr) {
        return 0;
    }
    if nodes.get(expr).width < width {
        nodes.extend(Op::ZExt, expr, width)
    } else {
        nodes.extract(expr, 0, width)
    }
}

/// What an atomic update computes, as an expression.
pub fn updated(nodes: &mut Nodes, op: Update, width: u8, old: Operand, new: Operand) -> Expr {
    let mut choose = |less: Op, swap: bool| {
        let (a, b) = if swap { (new, old) } else { (old, new) };
        let holds = match less {
            Op::Slt => signed(a.value, width) < signed(b.value, width),
            _ => a.value < b.value,
        };
        let condition = Operand {
            expr: nodes.binary(less, width, a, b),
            value: u64::from(holds),
        };
        nodes.ite(width, condition, new, old)
    };
    match op {
        Update::Exchange => new.expr,
        Update::Max => choose(Op::Slt, false),
        Update::Min => choose(Op::Slt, true),
        Update::UMax => choose(Op::Ult, false),
        Update::UMin => choose(Op::Ult, true),
        Update::Add => nodes.binary(Op::Add, width, old, new),
        Update::Sub => nodes.binary(Op::Sub, width, old, new),
        Update::And => nodes.binary(Op::And, width, old, new),
        Update::Or => nodes.binary(Op::Or, width, old, new),
        Update::Xor => nodes.binary(Op::Xor, width, old, new),
        Update::Nand => {
            let both = Operand {
                expr: nodes.binary(Op::And, width, old, new),
                value: old.value & new.value,
            };
            let ones = Operand {
                expr: 0,
                value: u64::MAX,
            };
            nodes.binary(Op::Xor, width, both, ones)
        }
    }
}

fn signed(value: u64, width: u8) -> i64 {
    let unused = 64 - u32::from(width);
    (value << unused) as i64 >> unused
}
