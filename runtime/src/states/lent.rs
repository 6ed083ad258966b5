//! Memory that the program has handed to the C library, which uses it in later calls
//! ([`raddle_protocol::effects::Lent`]).

use super::{Call, standard_streams, ways_of};
use crate::gate;
use crate::serial::Serial;
use core::cell::Cell;
use core::ffi::CStr;
use raddle_protocol::effects::{Bytes, Lent, Of, State, User};

/// So much is known of at the same time.
const MOST: usize = 16;
/// BUFSIZ.
const BUFFER: u64 = 8192;

/// What the library has.
#[derive(Clone, Copy)]
pub struct Region {
    /// Address of a stream, or the number of a state.
    user: u64,
    pub at: u64,
    pub len: u64,
    /// The library may write there.
    pub writes: bool,
    /// It has just been handed over.
    pub new: bool,
    /// It is given back by the call that uses it now.
    over: bool,
}

static LENT: Serial<[Option<Region>; MOST]> = Serial::new([None; MOST]);

fn lent() -> &'static mut [Option<Region>; MOST] {
    // SAFETY: the running thread; not kept over a switch.
    unsafe { LENT.get() }
}

/// What a call of the function with this name and these arguments may use of that, before it is made.
///
/// # Safety
/// The call is about to be made.
pub unsafe fn used_by(name: &str, values: &[u64]) -> [Option<Region>; MOST] {
    for region in lent() {
        *region = region.filter(|region| !region.over);
    }
    let call = Call {
        values,
        met: Cell::new(None),
    };
    if let Some(row) = Lent::of(name) {
        // SAFETY: the caller's promise.
        unsafe { hand_over(row, &call) };
    }
    let mut used = [None; MOST];
    if lent().iter().all(Option::is_none) {
        return used;
    }
    let ends = Lent::ends(name);
    for (region, used) in lent().iter_mut().zip(&mut used) {
        let Some(region) = region
            .as_mut()
            .filter(|region| uses(name, &call, region.user))
        else {
            continue;
        };
        *used = Some(*region);
        region.over |= ends;
        region.new = false;
    }
    used
}

/// Does a call use what this stream or state has?
fn uses(name: &str, call: &Call, user: u64) -> bool {
    let mut ways = ways_of(name).all.iter().flatten();
    ways.any(|way| match way.of {
        Of::Stream(index) => call.any_stream(index) == Some(user),
        _ => way.number as u64 == user,
    })
}

/// Is the call one on a stream that lies in memory of the program, or is made by functions of its own?
pub fn is_on_memory(name: &str, values: &[u64]) -> bool {
    let call = Call {
        values,
        met: Cell::new(None),
    };
    let is = |stream: u64| {
        // SAFETY: the program's stream; the number of an error is put back.
        unsafe {
            let errno = *libc::__errno_location();
            let number = libc::fileno(stream as *mut libc::FILE);
            *libc::__errno_location() = errno;
            number < 0
        }
    };
    let mut ways = ways_of(name).all.iter().flatten();
    ways.any(|way| match way.of {
        Of::Stream(index) => call.any_stream(index).is_some_and(is),
        _ => false,
    })
}

/// Are there streams of C++, which use those of C without anybody telling?
fn has_cpp_streams() -> bool {
    // SAFETY: a plain look-up.
    !unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_ZSt4cout".as_ptr()) }.is_null()
}

/// The call hands something over.
///
/// # Safety
/// It is about to be made.
unsafe fn hand_over(row: &Lent, call: &Call) {
    let user = match row.user {
        User::Stream => call.any_stream(0),
        User::State(name) => State::number(name).map(|number| number as u64),
    };
    let Some(user) = user.filter(|_| call.holds(row.when)) else {
        return;
    };
    if row.replaces {
        let former = lent().iter_mut().flatten();
        former
            .filter(|region| region.user == user)
            .for_each(|region| region.over = true);
    }
    let at = call.argument(row.argument).unwrap_or(0);
    if at == 0 {
        return;
    }
    let len = match row.bytes {
        Bytes::Given(argument) => call.argument(argument).unwrap_or(0),
        Bytes::OfStream => BUFFER,
        // SAFETY: the function reads the text, too.
        Bytes::Text => unsafe { CStr::from_ptr(at as *const _) }.count_bytes() as u64 + 1,
        Bytes::OfRandom => {
            const SIZES: [u64; 5] = [8, 32, 64, 128, 256];
            // SAFETY: the function reads this word, too.
            let word = unsafe { (at as *const u32).read_unaligned() };
            SIZES[word as usize % SIZES.len()]
        }
    };
    if standard_streams().contains(&user) && has_cpp_streams() {
        gate::uncontrolled("what libstdc++ does with a buffer of the program's");
    }
    let region = Region {
        user,
        at,
        len,
        writes: row.writes,
        new: true,
        over: false,
    };
    let same = |known: &Option<Region>| {
        known.is_some_and(|known| !known.over && (known.user, known.at) == (user, at))
    };
    let place = lent().iter().position(same);
    match place.or_else(|| lent().iter().position(Option::is_none)) {
        Some(place) => lent()[place] = Some(region),
        None => gate::uncontrolled("more than 16 places of memory that the C library keeps"),
    }
}
