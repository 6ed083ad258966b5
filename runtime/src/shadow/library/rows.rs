//! What calls of the C library access by the table of effects, as far as nothing else tells of it
//! ([`rest`]). How far it goes is looked up in memory as for other searches ([`access::Call`]): what is
//! shared is read before the call, in steps of their own, and decided upon; what it has written is
//! written behind it, in such steps. What may happen, or only in part, is read as well; behind the call,
//! what has changed is written.

use super::reads::Looked;
use crate::access::{self, Span};
use crate::gate;
use crate::shadow::blocks::UnderWay;
use crate::states;
use crate::threads;
use raddle_protocol::effects::{self, DIRECT, Effect, Extent, Place, through};
use raddle_protocol::library::rest;

/// Most effects of a row.
const MOST: usize = 24;
/// What they write, functions of the program's find while they are under way: that is not followed.
const CALL_BACK: &[&str] = &["qsort_r"];
/// Most places that a call writes to.
const MOST_WRITTEN: usize = 64;

/// A call of the function with this name.
pub struct Rows<'a> {
    name: &'a str,
    values: &'a [u64],
    /// So many arguments come before these.
    before: u32,
    /// Something else tells of what else it stores.
    told: bool,
    /// What it reads leaves the program.
    put_out: bool,
    pc: usize,
}

impl<'a> Rows<'a> {
    /// `told`: something else tells of what is known that the function of this name stores.
    pub fn new(name: &'a str, values: &'a [u64], told: bool, pc: usize) -> Rows<'a> {
        // What does a system call by its number?
        let (does, given) = through(name, values).unwrap_or(("", &[]));
        Rows {
            name: does,
            values: given,
            before: u32::from(name == DIRECT),
            told: told && name != DIRECT,
            put_out: false,
            pc,
        }
    }

    /// What it reads leaves the program (`is`), and decides nothing.
    pub fn put_out(mut self, is: bool) -> Rows<'a> {
        self.put_out = is;
        self
    }

    /// What nothing else tells of.
    fn rest(&self) -> impl Iterator<Item = &'static Effect> + use<'a> {
        let put_out = self.put_out;
        rest(self.name, self.told).filter(move |effect| effect.writes || !put_out)
    }

    /// The call in the caller's frame for which `key` stands.
    pub fn under_way(&self, key: usize) -> UnderWay {
        UnderWay::of(self.name, key)
    }

    fn call(&self, result: Option<i64>) -> access::Call<'a> {
        access::Call {
            arguments: self.values,
            private: 0,
            result,
            own: 0,
            date: 0,
            kept: 0,
            kernel: states::needs_pages(self.name),
        }
    }

    /// Does nobody know where that lies?
    fn is_unseen(&self, effect: &Effect) -> bool {
        match effect.place {
            Place::Own | Place::Date => true,
            Place::Kept(text) => self.values.get(usize::from(text)) == Some(&0),
            _ => false,
        }
    }

    fn all(&self) -> ([Option<&'static Effect>; MOST], usize) {
        let (mut all, mut count) = ([None; MOST], 0);
        let follows = !CALL_BACK.contains(&self.name);
        let seen = self
            .rest()
            .filter(|effect| follows && !self.is_unseen(effect));
        for effect in seen.take(MOST) {
            all[count] = Some(effect);
            count += 1;
        }
        (all, count)
    }

    /// The arguments that lead to what an effect is on, a bit for each.
    ///
    /// # Safety
    /// As of [`Rows::read`].
    unsafe fn arguments(&self, call: &access::Call, effect: &Effect) -> u64 {
        let bit = |n: u8| 1u64.checked_shl(n.into()).unwrap_or(0);
        let from = |n: u8| u64::MAX.checked_shl(n.into()).unwrap_or(0);
        let bits = match effect.extent {
            Extent::Counts(first) => {
                let mut bits = 0;
                // SAFETY: the caller's promise.
                unsafe {
                    call.spans(effect, |span| {
                        let given = (0..).zip(self.values).skip(first.into());
                        let there = given.filter(|&(_, &value)| value == span.at);
                        bits |= there.fold(0, |all, (n, _)| all | bit(n));
                    })
                };
                bits
            }
            // What else the list leads to, others tell.
            Extent::CountsList(_) => 0,
            Extent::Scanned(first) => from(first),
            Extent::ScannedList(list) => bit(list),
            _ => {
                let (pointers, _) = effect.arguments();
                let all = pointers.iter().fold(0, |all, &n| all | bit(n));
                let list = effect.list().map_or(0, bit);
                all | list | effect.variadic().map_or(0, from)
            }
        };
        bits << self.before
    }

    /// It is about to be made: reads what it reads.
    ///
    /// # Safety
    /// It is.
    pub unsafe fn read(&self, under_way: UnderWay) -> Looked {
        let call = self.call(None);
        let (all, count) = self.all();
        let mut looked = Looked::default();
        let unseen = self.rest().any(|effect| self.is_unseen(effect));
        looked.lost |= unseen && threads::any_unjoined();
        if CALL_BACK.contains(&self.name) {
            for effect in self.rest() {
                let each = |span: Span| {
                    let len = under_way.there(span.at, span.len, span.exact);
                    looked.lost |= under_way.is_unfollowed(span.at, len, span.writes, self.pc);
                };
                // SAFETY: the caller's promise.
                looked.lost |= !unsafe { call.spans(effect, each) };
            }
        }
        let is_read = |effect: &Effect| !effect.writes || effect.may;
        let effects = all[..count].iter().flatten();
        for effect in effects.clone() {
            // SAFETY: the caller's promise.
            looked.arguments |= unsafe { self.arguments(&call, effect) };
        }
        let mut before: [Option<Place>; MOST] = [None; MOST];
        let sure = all[..count].chunk_by(|one, next| {
            let is_compared = |effect: &Option<&Effect>| effect.is_some_and(Effect::is_compared);
            is_compared(one) && is_compared(next)
        });
        for (n, group) in sure.enumerate() {
            if let Some(effect) = group[0].filter(|effect| effect.clears()) {
                // SAFETY: the caller's promise.
                unsafe { call.spans(effect, |span| under_way.clear(span.at, span.len, self.pc)) };
            }
            let Some(first) = group[0].filter(|effect| is_read(effect)) else {
                continue;
            };
            if !before.contains(&Some(first.place)) {
                // SAFETY: the caller's promise.
                unsafe { self.read_twice(under_way, &call, first) };
            }
            before[n] = Some(first.place);
            // SAFETY: the caller's promise.
            looked.lost |= unsafe { self.read_all(under_way, &call, group) };
            for effect in group.iter().flatten() {
                // SAFETY: the caller's promise.
                unsafe { self.read_by_several(under_way, &call, effect) };
            }
        }
        looked
    }

    /// A call that reads by this effect what it has read by another one finds the same there both times,
    /// though others may write in between.
    ///
    /// # Safety
    /// As of [`Rows::read`].
    unsafe fn read_twice(&self, under_way: UnderWay, call: &access::Call, effect: &Effect) {
        let mut again = false;
        under_way.as_found(|| {
            // SAFETY: the caller's promise.
            unsafe {
                call.spans(effect, |span| {
                    again |= under_way.has_read(span.at, span.len)
                })
            };
        });
        if again {
            gate::uncontrolled(effects::TWICE);
        }
    }

    /// The same where one effect leads to the same memory several times.
    ///
    /// # Safety
    /// As of [`Rows::read`].
    unsafe fn read_by_several(&self, under_way: UnderWay, call: &access::Call, effect: &Effect) {
        let (mut all, mut count, mut again) = ([(0, 0); MOST_WRITTEN], 0, false);
        under_way.as_found(|| {
            let each = |span: Span| {
                let end = span.at + under_way.there(span.at, span.len, span.exact);
                again |= all[..count].iter().any(|&(from, to): &(u64, u64)| {
                    let (from, to) = (from.max(span.at), to.min(end));
                    from < to && under_way.has_read(from, to - from)
                });
                if let Some(free) = all.get_mut(count) {
                    *free = (span.at, end);
                    count += 1;
                }
            };
            // SAFETY: the caller's promise.
            unsafe { call.spans(effect, each) };
        });
        if again {
            gate::uncontrolled(effects::TWICE);
        }
    }

    /// Reads what these effects say, of several a unit of each in turn. Is there anything that is not
    /// followed?
    ///
    /// # Safety
    /// As of [`Rows::read`].
    unsafe fn read_all(
        &self,
        under_way: UnderWay,
        call: &access::Call,
        group: &[Option<&'static Effect>],
    ) -> bool {
        let (mut lost, mut turn) = (false, 0);
        loop {
            let (mut known, mut next) = (true, None);
            let in_turn = (turn..turn + group.len()).map(|n| n % group.len());
            for (n, effect) in in_turn.filter_map(|n| Some((n, group[n]?))) {
                let unit = match effect.reads_text() {
                    true => effect.unit.into(),
                    false => access::pieces::WORD,
                };
                under_way.as_found(|| {
                    // SAFETY: the caller's promise.
                    known &= unsafe {
                        call.spans(effect, |span| {
                            let len = under_way.there(span.at, span.len, span.exact);
                            next = next.or_else(|| {
                                let (at, len) = under_way.unread(span.at, len, unit)?;
                                Some((at, len, (n, !span.exact)))
                            });
                        })
                    };
                });
            }
            let Some((at, len, (n, unsure))) = next else {
                lost |= !known;
                break;
            };
            turn = n + 1;
            let found = under_way.look(at, len, unsure, self.pc);
            lost |= found.depends;
            if !found.is_kept {
                gate::uncontrolled(effects::LONG);
                break;
            }
        }
        for effect in group.iter().flatten() {
            under_way.as_found(|| {
                let alone = |span: Span| {
                    let len = under_way.there(span.at, span.len, span.exact);
                    lost |= under_way.look_alone(span.at, len, effect.writes, self.pc);
                };
                // SAFETY: the caller's promise.
                unsafe { call.spans(effect, alone) };
            });
        }
        lost
    }

    /// What it may write, as far as [`Rows::written`] will tell of that: others find it behind the call. Is
    /// there anything that is not followed?
    ///
    /// # Safety
    /// As of [`Rows::read`].
    pub unsafe fn will_write(&self, under_way: UnderWay, followed: bool) -> bool {
        let call = self.call(None);
        let (all, count) = self.all();
        let mut lost = false;
        let effects = all[..count].iter().flatten();
        for effect in effects.filter(|effect| effect.writes && !effect.clears()) {
            // SAFETY: the caller's promise.
            let known = unsafe {
                call.spans(effect, |span| {
                    let len = under_way.there(span.at, span.len, span.exact);
                    match followed {
                        true if span.exact => under_way.will_write_all(span.at, len, self.pc),
                        true => under_way.will_store(span.at, len, false, self.pc),
                        false => lost |= under_way.is_unfollowed(span.at, len, true, self.pc),
                    }
                })
            };
            lost |= !known;
        }
        lost
    }

    /// It has returned: writes what it has written.
    ///
    /// # Safety
    /// It has, with this result.
    pub unsafe fn written(&self, under_way: UnderWay, result: i64) {
        let call = self.call(Some(result));
        let (all, count) = self.all();
        let (mut places, mut written) = ([(0, 0); MOST_WRITTEN], 0);
        let effects = all[..count].iter().flatten();
        for effect in effects.filter(|effect| effect.writes && effect.is_after() && !effect.may) {
            // SAFETY: the caller's promise; as the call has left it.
            unsafe {
                call.spans(effect, |span| match places.get_mut(written) {
                    Some(place) => {
                        *place = (span.at, under_way.there(span.at, span.len, true));
                        written += 1;
                    }
                    None => gate::uncontrolled(effects::LONG),
                });
            }
        }
        for &(at, len) in &places[..written] {
            under_way.has_written(at, len, false, self.pc);
        }
        under_way.has_written_all(self.pc);
    }
}
