//! Variables of the C library that show a state ([`raddle_protocol::effects::Variable`]): what a call that
//! uses the state reads and writes there.

use super::{Place, world};
use crate::gate::{self, hooked::asks_for};
use crate::serial::Serial;
use core::ffi::{CStr, c_char};
use raddle_protocol::effects::{State, Variable};

/// Variables of one state, at most.
const MOST: usize = 4;
/// Texts of the environment that do not lie side by side, at most.
const MOST_TEXTS: usize = 8;
/// Pointers to them.
const MOST_POINTERS: usize = 1 << 16;

/// What is known of the variables of a state.
#[derive(Clone, Copy)]
pub struct Known {
    /// Where they lie; 0: it is not known, 1: no module refers to it.
    at: [u64; MOST],
}

impl Known {
    /// Nothing is.
    pub const NONE: Known = Known { at: [0; MOST] };
}

const NOT_REFERRED: u64 = 1;

/// Part of what a call accesses.
#[derive(Clone, Copy)]
pub struct Shown {
    pub at: u64,
    pub len: u64,
    pub writes: bool,
    /// It is certain.
    pub sure: bool,
}

/// Where the variable lies, if a module with hooks refers to it.
fn place_of(place: Place, index: usize, variable: &Variable) -> Option<u64> {
    find(State::number(place.state.name)?, index, variable)
}

/// The same of a state with this number.
fn find(number: usize, index: usize, variable: &Variable) -> Option<u64> {
    let known = &mut world().variables[number].at[index];
    if *known == 0 {
        *known = match asks_for(variable.asked()) {
            true => look_up(variable.names).max(NOT_REFERRED),
            false => NOT_REFERRED,
        };
    }
    (*known != NOT_REFERRED).then_some(*known)
}

/// Looks for all of them: later somebody may be inside the dynamic linker, which is asked here.
fn find_all() {
    for (number, state) in State::all().iter().enumerate() {
        for (index, variable) in state.variables.iter().enumerate() {
            find(number, index, variable);
        }
    }
}

/// The address of the variable with the first of these names, which the library itself uses; 0: there is none.
fn look_up(names: &str) -> u64 {
    let mut name = [0u8; 64];
    let first = names.split_ascii_whitespace().next().unwrap_or_default();
    let Some(room) = name[..63].get_mut(..first.len()) else {
        return 0;
    };
    room.copy_from_slice(first.as_bytes());
    // SAFETY: a plain look-up of a text that ends with NUL.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr().cast()) as u64 }
}

/// May a call that uses this state access variables of it?
pub fn any_shown(place: Place) -> bool {
    let mut variables = place.state.variables.iter().enumerate();
    variables.any(|(n, variable)| place_of(place, n, variable).is_some())
}

/// Calls `each` for what a call accesses of the variables that show this state, as far as the program may
/// access it, too. Others may run in there: where a variable leads is looked up behind it.
pub fn each_shown(place: Place, mut each: impl FnMut(Shown)) {
    let writes = !place.used.is_look();
    for (n, variable) in place.state.variables.iter().enumerate() {
        let Some(at) = place_of(place, n, variable) else {
            continue;
        };
        each(Shown {
            at,
            len: variable.bytes,
            writes,
            sure: variable.sure,
        });
        if variable.texts {
            texts(place, at, &mut each);
        }
    }
}

/// The same of the array to which the variable at this place leads, and of its texts. (Those that `getenv`
/// returns are not for the program to write.)
fn texts(place: Place, variable: u64, each: &mut impl FnMut(Shown)) {
    // SAFETY: the library's variable; the function that is called reads what it leads to as well.
    let array = || unsafe { (variable as *const *const *const c_char).read_volatile() };
    // SAFETY: as above; behind a null pointer there are no more.
    let pointer = |n: usize| unsafe {
        let array = array();
        let is_there = !array.is_null() && n < MOST_POINTERS;
        is_there
            .then(|| array.add(n).read_volatile())
            .filter(|text| !text.is_null())
    };
    if array().is_null() {
        return;
    }
    let count = (0..).take_while(|&n| pointer(n).is_some()).count() as u64;
    each(Shown {
        at: array() as u64,
        len: 8 * (count + 1),
        writes: !place.used.is_look(),
        sure: false,
    });
    // Those that the process was started with lie side by side.
    let (mut regions, mut count) = ([(0, 0); MOST_TEXTS], 0);
    let mut n = 0;
    while let Some(text) = pointer(n) {
        // SAFETY: as above.
        let len = unsafe { CStr::from_ptr(text) }.count_bytes() as u64 + 1;
        let (at, end) = (text as u64, text as u64 + len);
        n += 1;
        let near = |&&mut (from, to): &&mut (u64, u64)| from <= at + GAP && at <= to + GAP;
        match regions[..count].iter_mut().find(near) {
            Some(region) => *region = (region.0.min(at), region.1.max(end)),
            None if count < MOST_TEXTS => {
                regions[count] = (at, end);
                count += 1;
            }
            None => {
                gate::uncontrolled("texts of the environment that lie in more than 8 places");
                break;
            }
        }
    }
    for (from, to) in &regions[..count] {
        each(Shown {
            at: *from,
            len: to - from,
            writes: false,
            sure: false,
        });
    }
}

/// Bytes between two texts that lie side by side, at most: those of texts that were left out.
const GAP: u64 = 256;

/// Does a module refer to a variable of which it is not known which functions use it?
static INSIDES: Serial<bool> = Serial::new(false);

/// Modules have come: asks them.
pub fn look_for_insides() {
    // SAFETY: the running thread; the reference is not kept.
    unsafe { *INSIDES.get() = asks_for(Variable::INSIDES) };
    find_all();
    if gate::active() {
        name_insides();
    }
}

/// An execution begins, or goes on with other modules.
pub fn name_insides() {
    // SAFETY: as above.
    if unsafe { *INSIDES.get() } && gate::asking::explores() {
        gate::uncontrolled("variables of the C library of which it is not known who uses them");
    }
}

/// What modules refer to that assign to standard streams ([`raddle_protocol::hooks::ASSIGNS_STREAMS`]).
#[allow(non_upper_case_globals)]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub static raddle_assigns_streams: u32 = 0;
