//! States that the C library and the kernel keep ([`raddle_protocol::effects::State`]): a word of ours
//! stands for each, which counts the changes. A call that changes a state adds to the word, and one
//! that depends on it decides on the number, so that threads come in any order.

use super::foreign::lose;
use crate::io;
use crate::serial::Serial;
use crate::shadow::access::Access;
use crate::shadow::one_body;
use crate::shadow::simplify::Operand;
use crate::shadow::world;
use crate::{access::Update, gate};
use raddle_protocol::effects::{Of, State, Use};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::expr::Op;

/// Places of states, at most.
pub const MOST: usize = 256;
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
    for (place, state, used) in used_by(name, values) {
        use_state(place, state, used, name, pc);
    }
}

/// The states that such a call uses: the place of each, what it is, and how.
pub fn used_by<'a>(
    name: &'a str,
    values: &'a [u64],
) -> impl Iterator<Item = (usize, &'static State, Use)> + 'a {
    State::used_by(name).filter_map(|(number, state, of, used)| {
        let key = key_of(of, values)?;
        Some((place(number, key), state, changes(used, values)))
    })
}

/// Which one it is; `None`: it is followed in another way, or nobody looks.
fn key_of(of: Of, values: &[u64]) -> Option<u64> {
    unsafe extern "C" {
        static stdin: *mut libc::FILE;
        static stdout: *mut libc::FILE;
        static stderr: *mut libc::FILE;
    }
    // SAFETY: variables of the C library.
    let [input, output, errors] = unsafe { [stdin as u64, stdout as u64, stderr as u64] };
    let argument = |index: u32| values.get(index as usize).copied();
    match of {
        Of::Process => Some(0),
        Of::Argument(index) => argument(index),
        Of::Stream(index) => argument(index).filter(|s| ![0, output, errors].contains(s)),
        Of::StandardInput => Some(input),
        Of::File(index) => {
            let descriptor = argument(index)? as i32;
            let passes = matches!(descriptor, 1 | 2) || io::is_followed(descriptor);
            (!passes).then_some(descriptor as u64)
        }
    }
}

/// What a call does that opens a file with these arguments.
fn changes(used: Use, values: &[u64]) -> Use {
    let argument = |index: u32| values.get(index as usize).copied().unwrap_or(0);
    let creates = match used {
        Use::Opens(flags) => argument(flags) & libc::O_CREAT as u64 != 0,
        Use::OpensAs(mode) => {
            let mode = argument(mode) as *const u8;
            // SAFETY: the function that is called reads it, too.
            !mode.is_null() && unsafe { *mode } != b'r'
        }
        other => return other,
    };
    if creates { Use::Changes } else { Use::Looks }
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
    // As long as one thread only has used it, nothing is decided.
    let shared = world().cells.any_shared(at, size_of::<u64>() as u64);
    if used == Use::Adds {
        let me = u32::from(gate::me()) + 1;
        let adder = &mut word().adder;
        *adder = if [0, me].contains(adder) { me } else { SEVERAL };
    } else if shared {
        word().decisions += 1;
        let too_many = word().decisions > DECISIONS;
        // In which order others have added is not known either.
        if too_many || word().adder == SEVERAL {
            lose(name.as_bytes(), pc);
        }
        if too_many {
            return;
        }
    }
    match used {
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
        _ => {
            one_body::read(Kind::AtomicRead, at, 8, pc);
        }
    }
}
