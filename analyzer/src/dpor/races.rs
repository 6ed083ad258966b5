//! Reversible races of one execution, and the sequences that reverse them.
//!
//! Source: Abdulla, Aronis, Jonsson, Sagonas: Source Sets: A Foundation for Optimal Dynamic
//! Partial Order Reduction, JACM 64(4), 2017, sections 4 to 7. Blocking operations go beyond what
//! the paper assumes: a race counts where the later operation could have been taken before the
//! earlier one, which [`Locks`] decides.

use super::awaited::has_changed;
use super::elsewhere::Context;
use super::enabled::{Content, Locks};
use super::execution::{Execution, Step, join, of_content};
use super::touched::Touched;
use crate::stop;
use raddle_protocol::Slot;
use raddle_protocol::conflict::{Footprint, Unrecorded, marks};
use raddle_protocol::event::Kind;

/// A step as exploration trees know it: by its thread and, where it has any, its choices.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Item {
    pub thread: Slot,
    /// What it chose, as far as that is prescribed.
    pub picks: Vec<u16>,
    /// How many outcomes it has, where that is known; with several choices in one step, more than
    /// are ever counted.
    pub outcomes: u16,
    pub foot: Footprint,
    /// An execution took it where it stands here, with this footprint. Otherwise the footprint is
    /// that of another place, and what the step reads there may make another one of it.
    pub seen: bool,
}

impl Item {
    /// A step that was taken.
    pub fn of(step: &Step) -> Item {
        Item {
            thread: step.thread,
            picks: step.picks.iter().map(|p| p.value).collect(),
            outcomes: match step.picks[..] {
                [] => 1,
                [pick] => pick.of,
                _ => u16::MAX,
            },
            // What may come next, or has to have come before, no footprint says.
            foot: match step.gives_way || step.last_resort {
                true => Footprint::everything(step.thread),
                false => step.foot,
            },
            seen: true,
        }
    }

    /// The same step where no two are known to commute.
    pub fn opaque(self) -> Item {
        Item {
            foot: Footprint::everything(self.thread),
            ..self
        }
    }

    /// Can both be the same step? (The shorter list of choices leaves the rest open.)
    pub fn agrees(&self, other: &Item) -> bool {
        self.thread == other.thread && self.picks.iter().zip(&other.picks).all(|(a, b)| a == b)
    }
}

/// Is `item` a weak initial of `sequence` (JACM 2017, section 4.2): could it come first
/// without changing what the sequence does? Its place if it is in there.
pub fn weak_initial(item: &Item, sequence: &[Item]) -> Option<Option<usize>> {
    for (k, other) in sequence.iter().enumerate() {
        stop::point();
        if other.thread == item.thread {
            return item.agrees(other).then_some(Some(k));
        }
        if other.foot.conflicts(&item.foot) {
            return None;
        }
    }
    Some(None)
}

/// What is known of the last step of a sequence, where it is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Last {
    /// It can be taken.
    Possible,
    /// Perhaps it can.
    Tentative,
    /// It ends the process because of what it finds, as it does where it was seen.
    Ends,
}

/// What to explore from the state before step `at`.
#[derive(Debug, PartialEq, Eq)]
pub struct Reversal {
    pub at: usize,
    pub sequence: Vec<Item>,
    pub last: Last,
}

impl Reversal {
    /// Is it another choice within the step, rather than another step?
    pub fn is_choice(&self) -> bool {
        self.sequence
            .last()
            .is_some_and(|last| !last.picks.is_empty())
    }
}

/// A race that can be turned round: the numbers of its steps. Numbers from that of the last step on
/// are of operations that were announced and did not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    pub earlier: usize,
    pub later: usize,
}

/// What a sequence holds besides the later step of the race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// All that does not happen after the earlier step: for wakeup trees.
    All,
    /// Of that, what happened until the later step: for source sets.
    Before,
    Nothing,
}

/// Looks for races in one execution.
struct Races<'a> {
    execution: &'a Execution,
    locks: Locks,
    rest: Rest,
    /// Is this race to be turned round?
    wanted: &'a mut dyn FnMut(Race) -> bool,
    found: Vec<Reversal>,
}

/// The reversals of those races that are `wanted` and whose later step has at least the number
/// `from`, and of all choices from there on.
pub fn reversals(
    execution: &Execution,
    from: usize,
    rest: Rest,
    wanted: &mut dyn FnMut(Race) -> bool,
) -> Vec<Reversal> {
    let mut races = Races {
        execution,
        locks: Locks::new(execution),
        rest,
        wanted,
        found: Vec::new(),
    };
    let mut touched = Touched::default();
    for (j, step) in execution.steps.iter().enumerate() {
        stop::point();
        if j >= from {
            races.of(step, j, &touched);
            races.choices(step, j);
        }
        touched.add(j, &step.foot);
    }
    for (k, step) in execution.announced.iter().enumerate() {
        let mut step = step.clone();
        let at_the_end = Context {
            execution,
            locks: &races.locks,
            near: &[],
            lacking: None,
            holds: &|_| true,
        };
        if !ends(&step.foot) {
            let seen = at_the_end.seen(&step);
            step.foot = step.foot_if(&seen, execution.clock);
            (step.plain, step.event, step.beside) = (step.foot, seen.0, seen.1);
        }
        races.of(&step, execution.steps.len() + k, &touched);
    }
    races.found
}

impl Races<'_> {
    /// Races of `later`, which has the number `j` ([`Race::later`]).
    fn of(&mut self, later: &Step, j: usize, touched: &Touched) {
        // Where no record tells when it was possible, there is nothing but these chances.
        let only_chances = j >= self.execution.steps.len()
            && later.blocked
            && !of_content(&later.event, later.event.kind());
        if !only_chances {
            self.until(later, j, touched, j);
        }
        for chance in &later.chances {
            let taken = Step {
                enabler: chance.enabler,
                chances: Vec::new(),
                ..later.clone()
            };
            self.until(&taken, j, touched, chance.until);
        }
    }

    /// Those with steps of no higher number than `end`.
    fn until(&mut self, later: &Step, j: usize, touched: &Touched, end: usize) {
        if later.last_resort {
            return;
        }
        let execution = self.execution;
        // What happens before it for another reason than that it conflicts with it.
        let mut clock = match later.previous {
            Some(previous) => execution.clock(previous).to_vec(),
            None => execution.no_clock(),
        };
        let has_other_way = later.timed || later.cancel.is_some() || later.uncancelled.is_some();
        if let Some(enabler) = later.enabler
            && !has_other_way
        {
            join(&mut clock, execution.clock(enabler));
        }
        let mut candidates = touched.candidates(&later.foot);
        // What ends a wait that could have ended by itself is a race too.
        let enabler = later.enabler.filter(|_| has_other_way);
        if let Some(enabler) = enabler
            && !candidates.contains(&enabler)
        {
            candidates.push(enabler);
            candidates.sort_unstable_by(|a, b| b.cmp(a));
        }
        let mut guessed = false;
        for &i in candidates.iter().filter(|&&i| i <= end) {
            stop::point();
            let earlier = &execution.steps[i];
            let races = enabler == Some(i) || earlier.foot.conflicts(&later.foot);
            if earlier.thread == later.thread || !races || execution.reached(i, &clock) {
                continue;
            }
            if self.reverse(later, i, j, &candidates, &mut guessed) {
                join(&mut clock, execution.clock(i));
            }
        }
    }

    /// Adds the reversal of the race of step `i` with `later`; false if `later` could not be taken
    /// before it. `near`: steps that may touch what it touches; `guessed`: it was taken before another
    /// one where it would have to wait if it waits at all.
    fn reverse(
        &mut self,
        later: &Step,
        i: usize,
        j: usize,
        near: &[usize],
        guessed: &mut bool,
    ) -> bool {
        let execution = self.execution;
        // Where there is no request to cancel its thread, it is another operation.
        let uncancelled = later.uncancelled.as_deref().filter(|_| {
            let request = later.enabler;
            request.is_some_and(|request| execution.before(i, request))
        });
        let uncertain = uncancelled.is_some_and(|other| other.uncertain);
        let later = uncancelled.map_or(later, |other| &other.step);
        let mut gone = vec![i];
        let allowed = |gone: &[usize]| {
            let in_context = |k: usize| kept(execution, gone, k, j);
            self.locks.allow(execution, later, &in_context)
        };
        if !allowed(&gone) {
            // Readers that came beside the one at `i` have to come later as well.
            if later.event.kind() != Some(Kind::RwWrite) {
                return false;
            }
            let in_context = |k: usize| kept(execution, &gone, k, j);
            let readers = self
                .locks
                .readers(execution, later.event.object, &in_context);
            let after = readers.into_iter().filter(|&k| k > i);
            gone.extend(after);
            let past = |&g: &usize| later.previous.is_some_and(|p| execution.before(g, p));
            if gone.iter().any(past) || !allowed(&gone) {
                return false;
            }
        }
        let by_content = of_content(&later.event, later.event.kind()) && !later.timed;
        let content = by_content.then(|| {
            let in_context = |k: usize| kept(execution, &gone, k, j);
            self.locks.content(later.event.object, &in_context)
        });
        let lacking = content == Some(Content::Lacking);
        if lacking && (later.blocked || std::mem::replace(guessed, true)) {
            return false;
        }
        let uncertain = uncertain || lacking || content == Some(Content::Unknown);
        let race = Race {
            earlier: i,
            later: j,
        };
        if !(self.wanted)(race) {
            return !uncertain;
        }
        let in_context = |k: usize| kept(execution, &gone, k, j);
        let goes_on = later.awaited.is_empty()
            || later.event.kind() == Some(Kind::Cancelled)
            || has_changed(later.thread, &later.awaited, &execution.steps, &in_context).is_some();
        let context = Context {
            execution,
            locks: &self.locks,
            near,
            lacking: Some(i),
            holds: &in_context,
        };
        let (foot, plain) = foot_there(later, i..j.min(execution.steps.len()), &context);
        let item = Item {
            thread: later.thread,
            picks: Vec::new(),
            outcomes: 1,
            foot,
            seen: false,
        };
        let last = match goes_on && certain(later) {
            _ if ends(&foot) && !ends(&plain) => Last::Ends,
            true if !uncertain => Last::Possible,
            _ => Last::Tentative,
        };
        self.push(i, j, &gone, item, last);
        !uncertain
    }

    /// A choice within step `j` that could have been another one.
    fn choices(&mut self, step: &Step, j: usize) {
        for (place, pick) in step.picks.iter().enumerate() {
            let before: Vec<u16> = step.picks[..place].iter().map(|p| p.value).collect();
            for other in (0..pick.of).filter(|&n| n != pick.value) {
                let mut picks = before.clone();
                picks.push(other);
                let item = Item {
                    thread: step.thread,
                    picks,
                    outcomes: pick.of,
                    foot: step.plain,
                    seen: false,
                };
                self.push(j, j, &[j], item, Last::Possible);
            }
        }
    }

    /// Adds the sequence of all that is kept from step `i` on, and then `item`.
    fn push(&mut self, i: usize, j: usize, gone: &[usize], item: Item, last: Last) {
        let execution = self.execution;
        let end = match self.rest {
            Rest::All => execution.steps.len(),
            Rest::Before => j.min(execution.steps.len()),
            Rest::Nothing => i,
        };
        let mut sequence: Vec<Item> = (i + 1..end)
            .filter(|&k| kept(execution, gone, k, j))
            .map(|k| Item::of(&execution.steps[k]))
            .collect();
        sequence.push(item);
        self.found.push(Reversal {
            at: i,
            sequence,
            last,
        });
    }
}

/// The footprint of `later` in a context that lacks some of the steps `between`, and that but for its
/// ending the process. A wait whose signal has not come yet is taken by letting its time run out; and
/// what ended the process may not do so if it depends on what is lacking.
fn foot_there(
    later: &Step,
    mut between: std::ops::Range<usize>,
    context: &Context,
) -> (Footprint, Footprint) {
    let signalled = later.enabler.is_none_or(context.holds);
    let steps = &context.execution.steps;
    let same = (later.event, later.beside);
    let seen = match later.event.kind() {
        Some(Kind::CondWake) if !signalled => {
            let beside = Unrecorded {
                released: false,
                ..later.beside
            };
            (later.event, beside)
        }
        // What is lacking is the end of the thread: the wait for it is cancelled.
        _ if later.cancel.is_some() && !signalled => {
            let all = Footprint::everything(later.thread);
            return (all, all);
        }
        _ => context.seen(later),
    };
    let mut plain = match seen == same {
        true => later.plain,
        false => later.foot_if(&seen, context.execution.clock),
    };
    if later.looked_later && context.execution.clock {
        plain.marks |= marks::CLOCK;
    }
    let depends = |k: usize| !(context.holds)(k) && steps[k].plain.conflicts(&later.plain);
    let may_end = signalled || later.event.kind() != Some(Kind::CondWake);
    if ends(&later.foot) && !ends(&later.plain) && may_end && !(signalled && between.any(depends)) {
        return (later.foot, plain);
    }
    (plain, plain)
}

/// Does step `k` stay when the steps `gone` (and all that happens after them) come later?
fn kept(execution: &Execution, gone: &[usize], k: usize, j: usize) -> bool {
    k != j && !gone.iter().any(|&g| execution.before(g, k))
}

/// Is it known when an operation of this kind can be taken?
fn certain(step: &Step) -> bool {
    let kind = step.event.kind();
    !ends(&step.plain) && !kind.is_some_and(Kind::is_descriptor) || kind == Some(Kind::ProcessEnd)
}

/// Does it conflict with everything, as what ends the process does?
pub fn ends(foot: &Footprint) -> bool {
    foot.marks & marks::EVERYTHING != 0
}
