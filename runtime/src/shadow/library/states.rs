//! States that the C library and the kernel keep ([`raddle_protocol::effects::State`]): a word of ours
//! stands for each, which counts the changes. A call that changes a state adds to the word, and one
//! that depends on it decides on the number, so that threads come in any order.

use super::foreign::lose;
use crate::serial::Serial;
use crate::shadow::access::Access;
use crate::shadow::atomic;
use crate::shadow::one_body;
use crate::shadow::simplify::Operand;
use crate::shadow::{blocks, touch, touch_by, world};
use crate::states::{self, Place};
use crate::{access::Update, gate, maps, threads};
use raddle_protocol::conflict;
use raddle_protocol::effects::{DIRECT, Direct, direct, is_known, through};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::expr::Op;
use raddle_protocol::slot;

/// After so many decisions on one state its changes are no more told of but by name: there would be
/// too many orders.
const CHANGES: u32 = 16;
/// Of those that only look, whose orders are fewer.
const LOOKS: u32 = 64;

/// What stands for a state.
#[derive(Clone, Copy)]
#[repr(C)]
struct Word {
    changes: u64,
    /// Decisions of those that change it, and that look.
    decisions: [u32; 2],
    named: bool,
}

static WORDS: Serial<[Word; states::MOST]> = Serial::new(
    [Word {
        changes: 0,
        decisions: [0; 2],
        named: false,
    }; states::MOST],
);

/// The function of this name is about to be called with these arguments.
pub fn call(name: &str, values: &[u64], pc: usize) {
    // A child shares its states with nobody who is controlled.
    if !gate::obeys() {
        return;
    }
    if name == DIRECT
        && let [number, arguments @ ..] = values
        && !is_known(*number, arguments)
        && (direct(*number) == Direct::Unknown || threads::any_unjoined())
    {
        lose(name.as_bytes(), pc);
    }
    let Some((name, values)) = through(name, values) else {
        return;
    };
    use_lent(name, values, pc);
    if states::looks_between_calls(name, values) && threads::any_unjoined() {
        gate::uncontrolled(states::BETWEEN_CALLS);
    }
    let used = states::used_by(name, values);
    // The call comes with the last step, so nobody may come between these.
    let steps = used.iter().count() + usize::from(maps::acts_on_pages(name, values));
    let shows = used.iter().any(states::variables::any_shown);
    let several = (steps > 1 || shows) && gate::threads_created() > 1;
    if several {
        atomic::enter(pc);
    }
    for place in used.iter() {
        use_state(place, name, pc);
    }
    maps::announce(name, values, pc);
    if several {
        atomic::leave(pc);
    }
}

/// The call uses what the program has handed to the library. What the library writes there is not
/// followed: it counts as a thread of its own, so that it shares with whatever thread looks.
fn use_lent(name: &str, values: &[u64], pc: usize) {
    let several = threads::any_unjoined();
    // SAFETY: the call is about to be made.
    let used = unsafe { states::lent::used_by(name, values) };
    for region in used.iter().flatten() {
        let (at, len) = (region.at, region.len);
        if !region.writes {
            blocks::will_read(at, len, pc);
            continue;
        }
        if region.new && !world().cells.any_shared(at, len) {
            // SAFETY: memory of the program.
            unsafe { world().cells.renew(at, len) };
        }
        touch_by(slot::LIBRARY, at, len, true, pc);
        if several && world().cells.any_shared(at, len) {
            lose(name.as_bytes(), pc);
        }
    }
    if several && states::lent::is_on_memory(name, values) {
        lose(name.as_bytes(), pc);
    }
}

fn use_state(place: Place, name: &str, pc: usize) {
    // SAFETY: the running thread; not kept over a switch.
    let word = || unsafe { &mut WORDS.get()[place.number] };
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
        Event::names(gate::me(), place.state.name.as_bytes()).for_each(gate::log_full);
    }
    // As long as one thread only has used it, nothing is decided.
    let shared = world().cells.any_shared(at, size_of::<u64>() as u64);
    let is_unknown = states::is_unknown(place, gate::me());
    if shared && place.used != conflict::Access::Adds {
        let looks = usize::from(place.used == conflict::Access::Looks);
        let decisions = &mut word().decisions[looks];
        *decisions += 1;
        let too_many = *decisions > [CHANGES, LOOKS][looks];
        if too_many || is_unknown {
            lose(name.as_bytes(), pc);
        }
        if too_many {
            return;
        }
    }
    states::variables::each_shown(place, |shown| {
        if !shown.writes {
            return blocks::will_read(shown.at, shown.len, pc);
        }
        // What the library writes there is not followed.
        touch(shown.at, shown.len, true, pc);
        if world().cells.any_shared(shown.at, shown.len) {
            lose(name.as_bytes(), pc);
        }
    });
    match place.used {
        conflict::Access::Changes => {
            one_body::update(at, 8, Update::Add, 1, pc);
        }
        conflict::Access::Adds => {
            Access::new(Kind::Rmw, at, 8, pc).update(|nodes, old| {
                let one = Operand { expr: 0, value: 1 };
                (
                    old.value.wrapping_add(1),
                    nodes.binary(Op::Add, 64, old, one),
                )
            });
        }
        conflict::Access::Looks => {
            one_body::read(Kind::AtomicRead, at, 8, pc);
        }
    }
}
