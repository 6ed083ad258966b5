//! What functions of the C library do where their arguments lead, and with what the library keeps, told
//! by the caller ([`raddle_protocol::effects`]).
//!
//! What a call reads and writes are steps of a word at most ([`staged`]): the reads before the call, the
//! writes behind it. How far a read goes is found out anew after each: whoever changes that meanwhile
//! writes there as well, which is a conflict.
//!
//! Of what has no steps of its own (what the library keeps, what is too long, what may come or not) a call
//! is one step that does all of it, but a step tells of one access. So all these are told of before the
//! call, each as a step, and the call comes in the last of them; all others are told of once more behind
//! it. Of what the library keeps a search that is to miss nothing is told in one ([`Uses`]), the last of
//! these steps, in which the call comes unless it has steps of its own. Whoever is in conflict with one of these comes before both, and so before the call, or behind both,
//! or between them, where it may find either: so both orders are tried. Where only the call will tell
//! how far an access goes, all that it may access is taken before it, which is no access that races with
//! others, and what it did access behind it.

use super::noted::{AFTER, BEFORE, WHOLE, WRITES, is_covered, note, noted, tell_noted};
use super::pieces::WORD;
use super::spans::{Call, Span};
use super::staged::{self, Call as Staged};
use super::{Address, check, most_steps, range, scheduled, shadowed, tell_long, write};
use crate::gate;
use crate::io::stream_locks;
use crate::maps;
use crate::os;
use crate::serial::Serial;
use crate::states;
use crate::threads;
use core::ffi::{CStr, c_char};
use raddle_protocol::conflict::Access;
use raddle_protocol::effects::{self, DIRECT, Direct, Effect, Place, Row, direct, keeps_state};
use raddle_protocol::event::Kind;
use raddle_protocol::hooks::call::{ARGUMENTS, Frame, PRIVATE, ROW, STATE, TOLD};
use raddle_protocol::library::stores_early;
use raddle_protocol::shared::{WRITE_ORDER, flags};
use raddle_protocol::uses::{self, Uses};

crate::hooks! { ROWS:
    fn raddle_call(what: u64, name: Address, frame: Address) = before;
    fn raddle_called(what: u64, frame: Address, result: u64) = after;
}

/// Most places that a call writes to.
const MOST_WRITTEN: usize = 32;

/// Most rows of which it is known where their results led.
const RESULTS: usize = 32;

/// What is known of the library's own memory.
struct Own {
    /// Number of a row, where the results of its functions led.
    results: [(u64, u64); RESULTS],
    /// Where strtok goes on.
    kept: u64,
}

static OWN: Serial<Own> = Serial::new(Own {
    results: [(0, 0); RESULTS],
    kept: 0,
});

/// Bytes that stand for one thing that the library keeps: who looks or changes takes all of them, who
/// adds to it one that is its own.
const PLACE: usize = 64;

/// Instead of how many accesses were told of before a call and 1: there is no other thread, and it is
/// asked where its result leads.
const ALONE: u64 = u64::MAX;

/// See [`attributes_given`].
static ATTRIBUTES: Serial<u64> = Serial::new(0);

/// Where the attributes lie of the thread that the running one is about to make, if others may write there.
pub fn attributes_given() -> u64 {
    // SAFETY: the running thread.
    core::mem::take(unsafe { ATTRIBUTES.get() })
}

/// Addresses only.
static PLACES: Serial<[[u8; PLACE]; states::MOST + RESULTS]> =
    Serial::new([[0; PLACE]; states::MOST + RESULTS]);

/// Behind these come objects that have descriptors.
const _: () = assert!(states::MOST + RESULTS <= uses::OBJECTS);

/// Tells of an access: one step.
pub(super) fn tell(span: Span, pc: usize) {
    let kind = kind(span);
    if span.exact {
        return range(kind, span.at as Address, span.len, pc);
    }
    if scheduled() {
        let kind = match Uses::is_object(span.at) {
            true => Kind::StateUse,
            false => kind,
        };
        gate::access_unseen(kind, span.at, span.len, pc);
    }
}

/// The same of what has no steps of its own for its length alone: others may come in between.
pub(super) fn tell_whole(span: Span, pc: usize) {
    match span.exact && span.len > WORD && gate::several() && scheduled() {
        true => tell_long(kind(span), span.at, span.len, pc),
        false => tell(span, pc),
    }
}

fn kind(span: Span) -> Kind {
    match span.writes {
        true => Kind::WriteRange,
        false => Kind::ReadRange,
    }
}

/// All that a call uses of what the library and the kernel keep.
fn used(uses: Uses) -> Span {
    let (at, len) = uses.record();
    Span {
        at,
        len,
        writes: uses.changes(),
        exact: false,
    }
}

/// The bytes that stand for what the library keeps; where that is told of in one, the same in its way.
fn kept(place: usize, used: Access) -> Span {
    if gate::exhaustive() {
        return self::used(Uses::one(place, used));
    }
    // SAFETY: the address alone is used.
    let at = unsafe { PLACES.get() }[place].as_ptr() as u64;
    let (offset, len) = match used {
        Access::Adds => (1 + u64::from(gate::me()) % (PLACE as u64 - 1), 1),
        _ => (0, PLACE as u64),
    };
    Span {
        at: at + offset,
        len,
        writes: !used.is_look(),
        exact: false,
    }
}

fn row_of(what: u64) -> Option<(u64, &'static Row)> {
    let number = (what & ROW).checked_sub(1)?;
    Some((number, Row::numbered(number as u32)?))
}

/// The place of what functions of this row return, if they return memory of the library's own.
fn own_place(number: u64) -> usize {
    states::MOST + Row::with_results_of(number) as usize % RESULTS
}

fn led_to(number: u64) -> u64 {
    let number = Row::with_results_of(number);
    // SAFETY: the running thread; the reference is not kept.
    let own = unsafe { OWN.get() };
    let found = own.results.iter().find(|one| one.0 == number + 1);
    found.map_or(0, |one| one.1)
}

fn call_of<'a>(what: u64, frame: &'a Frame, row: u64, result: Option<i64>) -> Call<'a> {
    let count = (frame.count as usize).min(ARGUMENTS);
    // SAFETY: the running thread; plain data.
    let kept = unsafe { OWN.get() }.kept;
    let writes_date = |row: &Row| row.effects.iter().any(|one| one.place == Place::Date);
    let date = Row::numbered(row as u32)
        .filter(|row| writes_date(row))
        .and_then(|_| effects::find(Place::DATES));
    Call {
        arguments: &frame.arguments[..count],
        private: what >> PRIVATE,
        result,
        own: led_to(row),
        date: date.map_or(0, |(number, _)| led_to(number.into())),
        kept,
        kernel: false,
    }
}

/// Steps of what one call reads and writes, at most: those of a page would be many in each execution.
const STEPS: u64 = 64;

/// Bytes of a piece that a call reads or writes at most: where it looks how far a text goes, a character,
/// as in a plain loop (where schedules are sampled, a word).
fn piece(effect: &Effect) -> u64 {
    let sampled = gate::flags() & flags::EXHAUSTIVE == 0;
    match effect.reads_text() && !sampled {
        true => effect.unit.into(),
        false => WORD,
    }
}

/// Is an access of more than a word several steps?
fn has_steps(effect: &Effect) -> bool {
    !effect.opaque
}

/// Reads what the call is sure or likely to read because of these effects (if there are several, a unit of
/// each in turn); what is left over is told of as a whole, by `whole`. Is all of it known?
///
/// How far a text goes is looked up again whenever others have run, and only in what was read: so the next
/// step depends on nothing but what the call has found.
///
/// # Safety
/// As of [`begin`].
unsafe fn read(
    staged: Staged,
    call: &Call,
    effects: &[Effect],
    pc: usize,
    mut whole: impl FnMut(Span),
) -> bool {
    let (mut known, mut goes_on) = (true, true);
    while goes_on {
        (known, goes_on) = (true, false);
        for effect in effects {
            let mut next = None;
            staged.as_found(|| {
                // SAFETY: the caller's promise.
                known &= unsafe {
                    call.spans(effect, |span| {
                        next = next.or_else(|| Some((staged.unread(span.at, span.len)?, span)));
                    })
                };
            });
            let Some(((at, len), span)) = next else {
                continue;
            };
            goes_on = true;
            check(Kind::ReadRange, at, len, pc);
            let piece = piece(effect);
            let len = if effects.len() > 1 {
                len.min(piece)
            } else {
                len
            };
            if !staged.read(at, len, piece, span.exact, effect.reads_text(), pc) {
                // There is no more place.
                let mut rest = effects.iter();
                // SAFETY: the caller's promise.
                return rest.all(|effect| unsafe {
                    call.spans(effect, |span| {
                        if let Some((at, len)) = staged.unread(span.at, span.len) {
                            whole(Span { at, len, ..span });
                        }
                    })
                });
            }
        }
    }
    known
}

/// Writes the 0 that the call writes, too, before it goes on to read: a step. Is it known where?
///
/// # Safety
/// As of [`begin`].
unsafe fn clear(call: &Call, effect: &Effect, pc: usize) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        call.spans(effect, |span| {
            if gate::several() {
                check(Kind::WriteRange, span.at, span.len, pc);
                write(span.at, span.len, 0, pc);
            }
        })
    }
}

/// Most places that a call reads of which it is asked whether it reads one twice.
const MOST_READ: usize = 16;

/// Reads once more what the call reads by two of its arguments. Others may write in between, and then it
/// would find something else, which is not followed.
///
/// # Safety
/// As of [`begin`].
unsafe fn read_again(staged: Staged, call: &Call, row: &Row, pc: usize) {
    let (mut all, mut count) = ([(0, 0, Place::Options); MOST_READ], 0);
    let reads = |effect: &&Effect| !effect.writes && has_steps(effect) && !effect.is_large();
    for effect in row.effects.iter().filter(reads) {
        let before = count;
        staged.as_found(|| {
            // SAFETY: the caller's promise.
            unsafe {
                call.spans(effect, |span| {
                    if let Some(free) = all.get_mut(count).filter(|_| span.exact) {
                        *free = (span.at, span.at + span.len, effect.place);
                        count += 1;
                    }
                })
            };
        });
        for n in before..count {
            let (at, end, _) = all[n];
            // What one effect says of a place and another says of it as well is one read.
            let others = all[..n].iter().enumerate();
            let others =
                others.filter(|(other, (.., place))| *other >= before || *place != effect.place);
            let mut both = others.map(|(_, &(its, its_end, _))| (at.max(its), end.min(its_end)));
            if let Some((from, to)) = both.find(|(from, to)| from < to)
                && !staged.read_again(from, to - from, piece(effect), pc)
                && gate::exhaustive()
            {
                gate::uncontrolled(effects::TWICE);
            }
        }
    }
}

/// What is called, and its name: of a system call by its number, the function that does the same, whose
/// arguments the frame has then. `None`: there is nothing to tell.
fn meant<'a>(what: u64, name: &'a str, frame: &mut Frame) -> Option<(u64, &'a str)> {
    if name != DIRECT {
        return Some((what, name));
    }
    let given = (frame.count as usize).min(ARGUMENTS);
    let arguments = &frame.arguments[1..given.max(1)];
    let meant = direct(frame.arguments[0]);
    let matters = gate::exhaustive() && (meant == Direct::Unknown || gate::several());
    if matters && !effects::is_known(frame.arguments[0], arguments) {
        gate::uncontrolled("a system call by a number of which it is not known what it does");
    }
    let function = match meant {
        Direct::As(function) => function,
        Direct::Nothing | Direct::Unknown => return None,
    };
    // A system call has six.
    const MOST: usize = 6;
    frame.arguments[given..].fill(0);
    frame.arguments.copy_within(1.., 0);
    frame.count = MOST as u64;
    let row = effects::find(function).map_or(0, |(number, _)| u64::from(number) + 1);
    let state = keeps_state(function).map_or(0, |_| STATE);
    let private = what >> PRIVATE >> 1 << PRIVATE;
    Some((row | state | private, function))
}

/// A call is about to be made.
///
/// # Safety
/// It is one of the function with this name and row, with these arguments. `key` is an address in the
/// frame of the caller, which is given to [`end`], too.
pub unsafe fn begin(what: u64, name: &CStr, frame: &mut Frame, key: usize, pc: usize) {
    let Some((what, name)) = meant(what, name.to_str().unwrap_or_default(), frame) else {
        return;
    };
    frame.what = what;
    if what & STATE != 0 {
        let count = (frame.count as usize).min(ARGUMENTS);
        stream_locks::enter(name, &frame.arguments[..count], key, pc);
    }
    if stores_early(name) {
        // SAFETY: the running thread, which makes the call next.
        return unsafe { *ATTRIBUTES.get() = frame.arguments[1] };
    }
    // SAFETY: the running thread; plain data.
    let goes_on_at = || unsafe { OWN.get() }.kept;
    let staged = loop {
        let before = goes_on_at();
        // SAFETY: the caller's promise.
        let staged = unsafe { announce(what, name, frame, key, pc) };
        // If others have moved on meanwhile, the call will begin elsewhere.
        let moved = goes_on_at() != before && frame.arguments[0] == 0;
        if !moved || !row_of(what).is_some_and(|(_, row)| goes_on(row)) {
            break staged;
        }
    };
    if let Some(staged) = staged {
        staged.make();
    }
    if row_of(what).is_none() {
        // There is nothing to tell behind it.
        frame.told = 0;
    }
}

/// Does it go on where strtok stood?
fn goes_on(row: &Row) -> bool {
    let mut effects = row.effects.iter();
    effects.any(|effect| matches!(effect.place, Place::Kept(_)))
}

/// Tells of all that a call does before it is made, up to the step in which it is.
///
/// # Safety
/// As of [`begin`].
unsafe fn announce(
    what: u64,
    name: &str,
    frame: &mut Frame,
    key: usize,
    pc: usize,
) -> Option<Staged> {
    let (mut told, mut known) = (0, true);
    let mut all_used = Uses::NONE;
    let mut staged = None;
    if let Some((number, row)) = row_of(what) {
        let is = |place: fn(&Place) -> bool| row.effects.iter().any(|effect| place(&effect.place));
        if is(|place| matches!(place, Place::Own)) {
            // Only then is it certain where that is, or that nobody knows.
            tell(kept(own_place(number), Access::Changes), pc);
        }
        let whole = *frame;
        let kernel = what & STATE != 0 && states::needs_pages(name);
        let call = Call {
            kernel,
            ..call_of(what, &whole, number, None)
        };
        if gate::several() && row.effects.iter().any(has_steps) {
            staged = staged::open(key, most_steps().min(STEPS), kernel);
        }
        // It will fail, and access nothing.
        let kernel_fails = |effect: &Effect| {
            let at = effect
                .argument()
                .and_then(|n| whole.arguments.get(usize::from(n)));
            kernel && at.is_some_and(|&at| at != 0 && !os::try_read(at as usize, &mut [0]))
        };
        let reads = row
            .effects
            .chunk_by(|one, next| one.is_compared() && next.is_compared());
        let is_before = |effect: &Effect| !effect.writes || effect.clears();
        let reads = reads.filter(|effects| is_before(&effects[0]) && !kernel_fails(&effects[0]));
        for effects in reads {
            if effects[0].clears() {
                // SAFETY: the caller's promise.
                known &= unsafe { clear(&call, &effects[0], pc) };
                continue;
            }
            let steps = has_steps(&effects[0]);
            let how = if steps { WHOLE } else { 0 };
            let mut tell = |span: Span| known &= note(frame, &mut told, span, how);
            let found = match staged {
                // SAFETY: the caller's promise.
                Some(staged) if steps && !effects[0].is_large() => unsafe {
                    read(staged, &call, effects, pc, tell)
                },
                // SAFETY: as above.
                _ => effects
                    .iter()
                    .all(|effect| unsafe { call.spans(effect, &mut tell) }),
            };
            known &= found;
        }
        if let Some(staged) = staged {
            // SAFETY: the caller's promise.
            unsafe { read_again(staged, &call, row, pc) };
        }
        let writes = row.effects.iter().enumerate();
        let is_behind = |effect: &Effect| effect.writes && !effect.clears();
        for (index, effect) in
            writes.filter(|(_, effect)| is_behind(effect) && !kernel_fails(effect))
        {
            let after = effect.is_after() && !effect.may;
            let may_fail = effect.may || !after && !Row::is_of_memory(number);
            // SAFETY: the caller's promise.
            known &= unsafe {
                call.spans(effect, |span| {
                    if staged.is_some() && span.exact {
                        check(Kind::WriteRange, span.at, span.len, pc);
                    }
                    let sure = span.exact && !may_fail;
                    let staged = staged.filter(|_| has_steps(effect));
                    // If it has not failed, what it has written is told of behind it.
                    let told_behind = staged.is_some() && effect.depends_on_result();
                    let taken = staged.map_or(0, |staged| {
                        staged.will_write(span.at, span.len, index as u8, sure)
                    });
                    let rest = Span {
                        at: span.at + taken,
                        len: span.len - taken,
                        ..span
                    };
                    let all = taken == span.len;
                    let how = match has_steps(effect) {
                        _ if all || after => AFTER,
                        true => WHOLE,
                        false => 0,
                    };
                    if may_fail {
                        let exact = span.exact && !told_behind;
                        known &= note(frame, &mut told, Span { exact, ..span }, how);
                    } else if !all {
                        known &= note(frame, &mut told, rest, how);
                    }
                })
            };
        }
        if goes_on(row) {
            frame.end = call.text_end();
            if gate::exhaustive() {
                all_used.add(own_place(number), Access::Changes);
            } else {
                known &= note(
                    frame,
                    &mut told,
                    kept(own_place(number), Access::Changes),
                    0,
                );
            }
        }
    }
    if what & STATE != 0 {
        let count = (frame.count as usize).min(ARGUMENTS);
        let arguments = frame.arguments;
        let places = states::used_by(name, &arguments[..count]);
        let again = states::looks_between_calls(name, &arguments[..count]);
        if again && gate::exhaustive() && threads::any_unjoined() {
            gate::uncontrolled(states::BETWEEN_CALLS);
        }
        // SAFETY: the caller's promise.
        let lent = unsafe { states::lent::used_by(name, &arguments[..count]) };
        for region in lent.iter().flatten() {
            let span = Span {
                at: region.at,
                len: region.len,
                writes: region.writes,
                exact: false,
            };
            known &= note(frame, &mut told, span, 0);
        }
        let alone = maps::whole_step(name, &arguments[..count], places.uses());
        if gate::exhaustive() && alone.is_none() {
            all_used.join(places.uses());
        }
        for place in places.iter() {
            if states::is_unknown(place, gate::me()) && gate::exhaustive() {
                gate::uncontrolled(WRITE_ORDER);
            }
            if !gate::exhaustive() {
                known &= note(frame, &mut told, kept(place.number, place.used), 0);
            }
            states::variables::each_shown(place, |shown| {
                let span = Span {
                    at: shown.at,
                    len: shown.len,
                    writes: shown.writes,
                    exact: shown.sure,
                };
                known &= note(frame, &mut told, span, BEFORE);
                tell(span, pc);
            });
        }
    }
    if !all_used.is_empty() {
        known &= note(frame, &mut told, used(all_used), 0);
    }
    if !known {
        gate::uncontrolled("what a format asks for");
    }
    let mut left = 0;
    for n in 0..told {
        if !is_covered(frame, told, n) {
            frame.list[left] = frame.list[n];
            left += 1;
        }
    }
    frame.told = left as u64 + 1;
    for n in (0..left).filter(|&n| frame.list[n][1] & BEFORE == 0) {
        tell_noted(frame, n, pc);
    }
    staged
}

/// What a call has written, of which others do not know yet.
#[derive(Clone, Copy, Default)]
struct Written {
    at: u64,
    len: u64,
    effect: usize,
    /// Only what has changed here and was not told of is: the call was not said to write so far.
    besides: bool,
}

/// The call has been made, with this result.
///
/// # Safety
/// As of [`begin`], which was told of it.
pub unsafe fn end(frame: &mut Frame, key: usize, result: i64, pc: usize) {
    // SAFETY: the caller's promise.
    unsafe { tell_behind(frame, key, result, pc) };
    stream_locks::leave(key, pc);
}

/// Tells of what the call has written.
///
/// # Safety
/// As of [`end`].
unsafe fn tell_behind(frame: &mut Frame, key: usize, result: i64, pc: usize) {
    let Some(told) = frame.told.checked_sub(1) else {
        return;
    };
    frame.told = 0;
    let what = frame.what;
    let told = (told as usize).min(TOLD);
    let row = row_of(what);
    let staged = staged::find(key);
    let mut written = [Written::default(); MOST_WRITTEN];
    let mut count = 0;
    if let Some((number, row)) = row {
        let call = call_of(what, frame, number, Some(result));
        for (index, effect) in row.effects.iter().enumerate() {
            let mut add = |at: u64, len: u64, besides: bool| {
                if let Some(free) = written.get_mut(count) {
                    *free = Written {
                        at,
                        len,
                        effect: index,
                        besides,
                    };
                    count += 1;
                }
            };
            let after = effect.is_after() && !effect.may;
            if after {
                // SAFETY: the caller's promise. What a format asks for is known or was told of
                // before.
                unsafe { call.spans(effect, |span| add(span.at, span.len, false)) };
            }
            if let Some(staged) = staged {
                staged.writes_of(index as u8, |at, len| add(at, len, after));
            }
        }
        remember(number, row, &call, frame.end);
    }
    if let Some(staged) = staged {
        if let Some((number, row)) = row {
            let call = call_of(what, frame, number, Some(result));
            let at_once = row.effects.iter().filter(|e| e.writes && !has_steps(e));
            for effect in at_once {
                // SAFETY: the caller's promise.
                unsafe { call.spans(effect, |span| staged.shows(span.at, span.len)) };
            }
        }
        for n in (0..told).filter(|&n| frame.list[n][1] & (WRITES | AFTER | WHOLE) == WRITES) {
            let span = noted(frame, n);
            staged.shows(span.at, span.len);
        }
        staged.returned();
    }
    let steps = row.is_some_and(|(_, row)| row.steps);
    for n in 0..told {
        let in_call = n + 1 == told && !steps && frame.list[n][1] & BEFORE == 0;
        let span = noted(frame, n);
        // Samples need not tell both orders of what is no access.
        let needed = span.exact || gate::flags() & flags::EXHAUSTIVE != 0;
        if !in_call && needed && frame.list[n][1] & AFTER == 0 {
            tell_noted(frame, n, pc);
        }
    }
    let Some((number, row)) = row else { return };
    for Written {
        at,
        len,
        effect,
        besides,
    } in &written[..count]
    {
        let effect = &row.effects[*effect];
        let sure = !besides && row.has_written(number, effect, result);
        let rest = match staged {
            Some(staged) => staged.write(*at, *len, effect.is_large(), sure, pc),
            None => Some((*at, *len)),
        };
        // Those steps are not all that others may find, which is a bound if they access it.
        if effect.restless && gate::exhaustive() && gate::several() {
            tell_long(Kind::WriteRange, *at, *len, pc);
        }
        if let Some((at, len)) = rest {
            let (writes, exact) = (effect.writes, true);
            let span = Span {
                at,
                len,
                writes,
                exact,
            };
            // Where the library's own memory lies nobody knows before the first call has returned.
            match has_steps(effect) && effect.place != Place::Own {
                true => tell_whole(span, pc),
                false => tell(span, pc),
            }
        }
    }
    if let Some(staged) = staged {
        staged.close();
    }
}

/// Keeps where the results of this row led, and where strtok goes on.
fn remember(number: u64, row: &Row, call: &Call, end: u64) {
    // SAFETY: the running thread; nothing in here switches.
    let own = unsafe { OWN.get() };
    let number = Row::with_results_of(number);
    for effect in row.effects {
        match effect.place {
            Place::Own => {
                let mut places = own.results.iter_mut();
                let place = places.find(|one| one.0 == number + 1 || one.0 == 0);
                if let Some(place) = place {
                    *place = (number + 1, call.result.unwrap_or(0) as u64);
                }
            }
            Place::Kept(_) => own.kept = call.goes_on(end),
            _ => {}
        }
    }
}

unsafe extern "C-unwind" fn before(what: u64, name: Address, frame: Address, pc: usize) {
    // SAFETY: by the contract of the hook.
    let frame = unsafe { &mut *frame.cast::<Frame>() };
    frame.told = 0;
    if shadowed() {
        return;
    }
    // SAFETY: as above.
    let name = unsafe { CStr::from_ptr(name.cast::<c_char>()) };
    if scheduled() {
        let key = frame as *mut Frame as usize;
        // SAFETY: as above.
        unsafe { begin(what, name, frame, key, pc) };
    } else if gate::active() {
        let count = (frame.count as usize).min(ARGUMENTS);
        let name = name.to_str().unwrap_or_default();
        // SAFETY: as above.
        unsafe { states::lent::used_by(name, &frame.arguments[..count]) };
        let keeps = row_of(what).filter(|(_, row)| row.keeps_place());
        if let Some((number, row)) = keeps {
            (frame.what, frame.told, frame.end) = (what, ALONE, 0);
            if goes_on(row) {
                frame.end = call_of(what, frame, number, None).text_end();
            }
        }
    }
}

unsafe extern "C-unwind" fn after(_: u64, frame: Address, result: u64, pc: usize) {
    if shadowed() {
        return;
    }
    // SAFETY: by the contract of the hook.
    let frame = unsafe { &mut *frame.cast::<Frame>() };
    if frame.told == ALONE {
        frame.told = 0;
        if let Some((number, row)) = row_of(frame.what) {
            let call = call_of(frame.what, frame, number, Some(result as i64));
            remember(number, row, &call, frame.end);
        }
    } else if scheduled() {
        let key = frame as *mut Frame as usize;
        // SAFETY: as above.
        unsafe { end(frame, key, result as i64, pc) };
    }
}
