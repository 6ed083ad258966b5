//! The symbolic shadow (DESIGN §7): expressions beside values, inputs, harness functions.
//!
//! Memory is of two kinds. What the job lists as shared is accessed by recorded steps, and what is
//! read there is a fresh unknown. Everything else is taken to be local: expressions flow through
//! it unrecorded, and the first sign that a second thread touches it is reported, so that the next
//! job lists it.

mod access;
mod atomic;
mod blocks;
mod bounds;
mod calls;
mod cells;
pub mod changes;
mod endless;
mod floating;
mod harness;
mod hooks;
mod inputs;
mod klee;
mod library;
mod nodes;
mod outside;
mod settled;
mod simplify;
mod suspicion;
#[cfg(test)]
mod tests;

pub use calls::find as find_modelled;
pub use library::states::call as use_states;
pub use library::{forget_names, formats};
pub use outside::{begin as begin_outside, want as want_outside};
pub mod one_body;
pub use atomic::inside as in_atomic_section;
pub use calls::{argument, concretise_result, is_followed, is_mapped};

use crate::gate;
use crate::serial::Serial;
use cells::Cells;
use nodes::{Expr, Nodes, mask};
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::expr::{Node, Why};
use raddle_protocol::shared::{Control, NODES};
use suspicion::Suspicion;

/// What the shadow knows.
struct World {
    nodes: Nodes,
    cells: Cells,
    suspicion: Suspicion,
}

static WORLD: Serial<World> = Serial::new(World {
    nodes: Nodes::none(),
    cells: Cells::new(&[]),
    suspicion: Suspicion::NONE,
});

/// The shadow's state. Not to be kept over a switch.
fn world() -> &'static mut World {
    // SAFETY: callers are the running thread and drop the reference before they may switch.
    unsafe { WORLD.get() }
}

/// Called in the process that obeys a job, before the program's first code.
pub fn begin() {
    inputs::begin();
    if !crate::vars::symbolic() {
        return;
    }
    let pages = gate::pages();
    let ranges = pages.ranges(pages.job().ranges_len as usize);
    let control: *const Control = pages.control();
    // SAFETY: the regions of the pages are mapped for ever, and the nodes are ours to write.
    unsafe {
        let region = control
            .cast::<u8>()
            .cast_mut()
            .add(NODES.offset)
            .cast::<Node>();
        let nodes = Nodes::new(
            region,
            NODES.capacity::<Node>(),
            &raw const (*control).nodes_len,
        );
        *WORLD.get() = World {
            nodes,
            cells: Cells::new(ranges),
            suspicion: Suspicion::new(pages.job().flags),
        };
    }
}

/// The bytes belong to a new object: forget what was known of the old one.
///
/// # Safety
/// They are readable.
pub unsafe fn renew(address: u64, len: u64) {
    if crate::vars::symbolic() {
        // SAFETY: by the contract above.
        unsafe { world().cells.renew(address, len) };
    }
}

/// Is anything known to be shared of so many bytes at one place or the other?
pub fn any_shared(one: u64, other: u64, len: u64) -> bool {
    let cells = &mut world().cells;
    [one, other]
        .iter()
        .any(|&at| cells.any_shared_of_many(at, len))
}

/// Copies where that is so, reads and writes as steps; what `then` does belongs to the same section.
pub fn copy_and(to: u64, from: u64, len: u64, pc: usize, then: impl FnOnce()) {
    atomic::enter(pc);
    blocks::copy(to, from, len, pc);
    then();
    atomic::leave(pc);
}

/// The bytes were copied to fresh memory.
pub fn moved(from: u64, to: u64, len: u64) {
    world().cells.copy(from, to, len);
}

/// The program exits with a status that has this expression.
pub fn exit_status(expr: Expr, status: u32, pc: usize) {
    branch(expr, u64::from(status), Why::Exit, pc);
}

/// This process is a child of the one whose run is symbolic: whatever symbolic bodies are still under
/// way here compute as they would natively.
pub fn leave() {
    world().nodes = Nodes::none();
}

/// Records that a decision on `expr` came out as `value`; nothing if it is concrete.
fn branch(expr: Expr, value: u64, why: Why, pc: usize) {
    let nodes = &world().nodes;
    if !nodes.is_known(expr) || nodes.constant_of(expr).is_some() {
        return;
    }
    if nodes.get(expr).width > 64 {
        return lost(Why::Type, pc);
    }
    if !endless::decides(pc) {
        return;
    }
    gate::log_full(Event {
        kind: Kind::Branch as u8,
        size: why as u8,
        aux: expr,
        value: value & mask(nodes.get(expr).width),
        pc: pc as u64,
        ..Event::default()
    });
}

/// Records that something cannot be followed.
fn lost(why: Why, pc: usize) {
    gate::log_full(Event {
        kind: Kind::Lost as u8,
        size: why as u8,
        pc: pc as u64,
        ..Event::default()
    });
}

/// What an operation built: 0 instead of a constant; says if there was no room for it.
fn built(expr: Expr, pc: usize) -> Expr {
    let nodes = &mut world().nodes;
    if nodes.take_full() {
        lost(Why::Full, pc);
    }
    match nodes.constant_of(expr) {
        Some(_) => 0,
        None => expr,
    }
}

/// Notes a touch of local bytes; reports those that turn out to be shared.
fn touch(address: u64, len: u64, write: bool, pc: usize) {
    touch_by(gate::me(), address, len, write, pc);
}

/// The same by another one than the running thread.
fn touch_by(slot: Slot, address: u64, len: u64, write: bool, pc: usize) {
    world()
        .cells
        .touch(address, len, slot, write, |offset, len| {
            gate::log_full(Event {
                kind: Kind::Shared as u8,
                object: address + offset,
                value: len,
                pc: pc as u64,
                ..Event::default()
            });
        });
}

/// At the end of a symbolic run: records who touched what is not shared.
pub fn log_private() {
    world().cells.private(|first, len, slot, written| {
        gate::pages().log(Event {
            kind: Kind::Private as u8,
            size: u8::from(written),
            thread: slot,
            object: first,
            value: len,
            ..Event::default()
        });
    });
}

/// The hooks of this module, for the comparison with the protocol's table.
#[cfg(test)]
pub fn rows() -> Vec<crate::access::Row> {
    [
        hooks::ROWS,
        harness::ROWS,
        klee::ROWS,
        library::ROWS,
        library::stepwise::ROWS,
    ]
    .concat()
}
