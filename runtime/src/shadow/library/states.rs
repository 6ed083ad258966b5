//! States that the C library and the kernel keep ([`raddle_protocol::library::State`]): a word of ours
//! stands for each, which counts the changes. A call that changes a state adds to the word, and one
//! that depends on it decides on the number, so that threads come in any order.

use super::foreign::lose;
use crate::io;
use crate::serial::Serial;
use crate::shadow::access::Access;
use crate::shadow::one_body;
use crate::shadow::simplify::Operand;
use crate::{access::Update, gate};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::expr::Op;
use raddle_protocol::library::{Of, State, Use, opens_files};

/// Words, at most.
const MOST: usize = 256;
/// After so many decisions on one state its changes are no more told of but by name: there would be
/// too many orders.
const DECISIONS: u32 = 16;

/// What stands for a state.
#[derive(Clone, Copy)]
#[repr(C)]
struct Word {
    changes: u64,
    decisions: u32,
    named: bool,
    /// Who added to the state: the slot plus one, [`SEVERAL`]; 0: nobody.
    adder: u32,
}

const SEVERAL: u32 = u32::MAX;

static WORDS: Serial<[Word; MOST]> = Serial::new(
    [Word {
        changes: 0,
        decisions: 0,
        named: false,
        adder: 0,
    }; MOST],
);

/// The function of this name is about to be called with these arguments.
pub fn call(name: &str, values: &[u64], pc: usize) {
    for (number, state, used) in State::used_by(name) {
        if let Some(key) = key_of(state.of, values) {
            use_state(place(number, key), state, used, name, pc);
        }
    }
    if let Some(used) = opens(name, values)
        && let Some((number, state, _)) = State::used_by("access").next()
    {
        use_state(place(number, 0), state, used, name, pc);
    }
}

/// Which one it is; `None`: it is followed in another way, or nobody looks.
fn key_of(of: Of, values: &[u64]) -> Option<u64> {
    unsafe extern "C" {
        static stdout: *mut libc::FILE;
        static stderr: *mut libc::FILE;
    }
    let argument = |index: u32| values.get(index as usize).copied();
    match of {
        Of::Process => Some(0),
        Of::Argument(index) => argument(index),
        Of::Stream(index) => {
            // SAFETY: variables of the C library.
            let usual = unsafe { [stdout as u64, stderr as u64] };
            argument(index).filter(|stream| *stream != 0 && !usual.contains(stream))
        }
        Of::File(index) => {
            let descriptor = argument(index)? as i32;
            let passes = matches!(descriptor, 1 | 2) || io::is_followed(descriptor);
            (!passes).then_some(descriptor as u64)
        }
    }
}

/// What a call that opens a file does to the names of files.
fn opens(name: &str, values: &[u64]) -> Option<Use> {
    if !opens_files(name) {
        return None;
    }
    let changes = match name {
        "open" | "open64" => values
            .get(1)
            .is_some_and(|&flags| flags & libc::O_CREAT as u64 != 0),
        "openat" | "openat64" => values
            .get(2)
            .is_some_and(|&flags| flags & libc::O_CREAT as u64 != 0),
        "fopen" | "fopen64" => {
            let mode = values.get(1).copied().filter(|&mode| mode != 0)? as *const u8;
            // SAFETY: the function that is called reads it, too.
            unsafe { *mode != b'r' }
        }
        _ => true,
    };
    Some(if changes { Use::Changes } else { Use::Looks })
}

/// The place of a state is the same in all executions.
fn place(number: usize, key: u64) -> usize {
    let mixed = (key ^ (number as u64) << 56).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 56) as usize & (MOST - 1)
}

fn use_state(place: usize, state: &State, used: Use, name: &str, pc: usize) {
    // SAFETY: the running thread; not kept over a switch.
    let word = || unsafe { &mut WORDS.get()[place] };
    let at = &raw const word().changes as u64;
    if !word().named {
        word().named = true;
        gate::log_full(Event {
            kind: Kind::State as u8,
            object: at,
            aux: size_of::<u64>() as u32,
            pc: pc as u64,
            ..Event::default()
        });
        Event::names(gate::me(), state.name.as_bytes()).for_each(gate::log_full);
    }
    if used == Use::Adds {
        let me = u32::from(gate::me()) + 1;
        let adder = &mut word().adder;
        *adder = if matches!(*adder, 0) || *adder == me {
            me
        } else {
            SEVERAL
        };
    } else {
        word().decisions += 1;
        // In which order others have added is not known either.
        if word().decisions > DECISIONS || word().adder == SEVERAL {
            lose(name.as_bytes(), pc);
        }
        if word().decisions > DECISIONS {
            return;
        }
    }
    match used {
        Use::Looks => {
            one_body::read(Kind::AtomicRead, at, 8, pc);
        }
        Use::Changes => {
            one_body::update(at, 8, Update::Add, 1, pc);
        }
        Use::Adds => {
            Access::new(Kind::Rmw, at, 8, pc).update(|nodes, old| {
                let one = Operand { expr: 0, value: 1 };
                (
                    old.value.wrapping_add(1),
                    nodes.binary(Op::Add, 64, old, one),
                )
            });
        }
    }
}
