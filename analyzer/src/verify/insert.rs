//! Adds what one execution showed to the forest.

use super::channels::{self, is_channel};
use super::contents::Contents;
use super::footprint::{ANYONE, LIBRARY};
use super::forest::{Action, Forest, NodeId, Pattern, TreeId, What};
use super::kinds::{
    ETIMEDOUT, LEFT, NOT_JOINED, TIMED, UNKNOWN, fails_with, has_result, is_access,
    is_failed_attempt, is_modelled, is_wait,
};
use super::places::Place;
use super::terms::{Term, TermId, mask};
use crate::stop;
use raddle_protocol::Slot;
use raddle_protocol::conflict::Access;
use raddle_protocol::event::{Event, Kind, RW_TIMED};
use raddle_protocol::expr::{Op, Why};
use raddle_protocol::outcome::End;
use raddle_protocol::slot;
use raddle_protocol::trace::{Corrupt, Trace, validate};
use raddle_protocol::uses::Uses;
use std::collections::HashMap;

/// So many attempts at one place that fail one after the other are followed, with so many steps of the
/// same thread for each.
const ATTEMPTS: usize = 16;
const STEPS_BETWEEN: usize = 16;
const FAILED_OFTEN: &str = "attempts at one place that failed 16 times in a row";

/// Where one thread of the trace stands.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    tree: TreeId,
    /// `None`: what it does is no longer followed.
    at: Option<NodeId>,
    ended: Option<u64>,
}

/// The positions at which the threads of an execution stood at its end, by slot.
pub type Positions = HashMap<Slot, NodeId>;

struct Insertion<'a> {
    forest: &'a mut Forest,
    trace: &'a Trace,
    /// Decisions on one local path; 0: no limit.
    max_decisions: u32,
    cursors: HashMap<Slot, Cursor>,
    /// Place of each read event.
    reads: HashMap<u32, Place>,
    /// Terms of the trace's expressions.
    terms: Vec<Option<TermId>>,
    contents: Contents,
    /// Where the round of a loop began, by thread and loop.
    rounds: HashMap<(Slot, u64), NodeId>,
    /// Who has gone round a loop in vain and done nothing since: the end of that round.
    idle: HashMap<Slot, NodeId>,
}

/// Adds a trace. Nothing is lost on an error, but what came before the bad record stays.
pub fn insert(
    forest: &mut Forest,
    trace: &Trace,
    max_decisions: u32,
) -> Result<Positions, Corrupt> {
    validate(&trace.events, &trace.nodes, &trace.taken)?;
    let main = Cursor {
        tree: 0,
        at: Some(forest.tree(0).root),
        ended: None,
    };
    let mut insertion = Insertion {
        forest,
        trace,
        max_decisions,
        cursors: HashMap::from([(slot::MAIN, main)]),
        reads: HashMap::new(),
        terms: vec![None; trace.nodes.len()],
        contents: Contents::default(),
        rounds: HashMap::new(),
        idle: HashMap::new(),
    };
    for (i, event) in trace.events.iter().enumerate() {
        stop::point();
        let kind = event.kind().ok_or(Corrupt::Kind(i))?;
        insertion.record(i, event, kind)?;
    }
    insertion.end();
    let at = |(slot, c): (&Slot, &Cursor)| c.at.map(|at| (*slot, at));
    Ok(insertion.cursors.iter().filter_map(at).collect())
}

impl Insertion<'_> {
    fn record(&mut self, i: usize, event: &Event, kind: Kind) -> Result<(), Corrupt> {
        match kind {
            Kind::Init if event.size == 0 => {
                match event.aux {
                    0 => self.contents.initialised(self.forest, event),
                    _ => self.contents.renewed(self.forest, event),
                }
                if let Some(at) = self.cursor(i, event)?.at {
                    let begins = self.forest.begins.entry(event.object).or_default();
                    begins.insert(at);
                }
            }
            Kind::Init => {
                for (offset, byte) in (0u64..).zip(event.value.to_le_bytes()) {
                    if offset < u64::from(event.size) {
                        let address = event.object.wrapping_add(offset);
                        self.forest.init.entry(address).or_default().insert(byte);
                    }
                }
            }
            Kind::ClockRead => self.clock(event, true),
            Kind::Lost => {
                let name = Event::name_in(&self.trace.events[i + 1..]).unwrap_or_default();
                let key = (event.pc, event.size, name);
                *self.forest.lost.entry(key).or_default() += 1;
            }
            Kind::Private => {
                let tree = match event.thread {
                    slot::LIBRARY => LIBRARY,
                    thread => self.cursors.get(&thread).map_or(ANYONE, |c| c.tree),
                };
                let end = event.object.saturating_add(event.value);
                let access = Access::changing(event.size != 0);
                self.forest.touch(event.object, end, tree, access);
            }
            Kind::Section => self.forest.section = Some(event.object),
            Kind::Round if self.forest.folds => {
                if let Some(at) = self.cursor(i, event)?.at {
                    self.round(event, at);
                }
            }
            Kind::Branch | Kind::Assume | Kind::Input | Kind::Pending => {
                if let Some(at) = self.cursor(i, event)?.at {
                    self.local(i, event, kind, at)?;
                }
            }
            kind if kind.is_step() => match self.cursor(i, event)?.at {
                Some(at) => self.step(i, event, kind, at)?,
                None => {
                    self.contents.step(self.forest, event, kind);
                    self.unfollowed(event, kind);
                }
            },
            _ => {}
        }
        Ok(())
    }

    /// A record of a thread that is followed and that is not a step.
    fn local(&mut self, i: usize, event: &Event, kind: Kind, at: NodeId) -> Result<(), Corrupt> {
        match kind {
            Kind::Input => {
                let length = match self.trace.nodes.get(event.aux as usize) {
                    Some(n) if event.aux != 0 && n.op() == Some(Op::Input) => n.c,
                    _ => return Err(Corrupt::Expression(i)),
                };
                let what = What::Input(event.value as u32, length);
                self.move_on(event, at, what, 0);
            }
            Kind::Pending => {
                let kind = Kind::from_u8(event.size).filter(|k| k.is_step());
                self.announce(event, kind.ok_or(Corrupt::Kind(i))?, at);
            }
            kind if event.aux != 0 => {
                let term = self.term(i, event.aux)?;
                let why = Why::from_u8(event.size).unwrap_or(Why::Branch);
                let what = match kind {
                    Kind::Assume => What::Assume(term),
                    _ => What::Decide(term, why),
                };
                let value = event.value & mask(self.forest.terms.get(term).width());
                self.move_on(event, at, what, value);
            }
            _ => {}
        }
        Ok(())
    }

    /// A thread begins a round of a loop. If the one before was in vain, the thread is where it was,
    /// and goes on from there: see [`super::rounds`].
    fn round(&mut self, event: &Event, at: NodeId) {
        let round = self.rounds.entry((event.thread, event.pc)).or_insert(at);
        if event.value == 0 || *round == at {
            *round = at;
            return;
        }
        let begin = *round;
        let above = std::iter::successors(Some(at), |&id| {
            let parent = self.forest.node(id).parent.map(|parent| parent.0);
            parent.filter(|_| id != begin)
        });
        let slept = |id: NodeId| {
            let action = self.forest.node(id).action();
            action.is_some_and(|action| action.kind == Kind::Sleep)
        };
        let moved = above.skip(1).any(slept);
        self.forest.clock.moved_in_vain |= moved;
        self.forest.add_round(begin, at);
        self.idle.insert(event.thread, at);
        if let Some(cursor) = self.cursors.get_mut(&event.thread) {
            cursor.at = Some(begin);
        }
    }

    /// A thread has moved the clock, also by looking at it.
    fn clock(&mut self, event: &Event, looked: bool) {
        if let Some(cursor) = self.cursors.get(&event.thread)
            && cursor.tree != ANYONE
        {
            self.forest.clock.moved.insert(cursor.tree);
            if looked {
                self.forest.clock.looked.insert(cursor.tree);
            }
        }
    }

    /// A step of a thread that is not followed: its children are not followed either.
    fn unfollowed(&mut self, event: &Event, kind: Kind) {
        if let (Kind::ThreadCreate, Some(parent)) = (kind, self.cursors.get(&event.thread)) {
            let child = Cursor {
                tree: ANYONE,
                at: parent.at,
                ended: None,
            };
            self.cursors.insert(event.value as Slot, child);
        }
        if let (Kind::ThreadExit, Some(cursor)) = (kind, self.cursors.get_mut(&event.thread)) {
            cursor.ended = Some(event.value);
        }
    }

    fn cursor(&self, i: usize, event: &Event) -> Result<Cursor, Corrupt> {
        let cursor = self.cursors.get(&event.thread).copied();
        cursor.ok_or(Corrupt::Kind(i))
    }

    /// Stops following a thread whose local path has become too long.
    fn bounded(&mut self, at: NodeId) -> bool {
        let bounded =
            self.max_decisions != 0 && self.forest.node(at).decisions >= self.max_decisions;
        if bounded {
            self.forest.fill(at, What::Bound, 0);
            self.forest.bounds_hit.insert("decisions of one thread");
            if let Some((last, _)) = self.forest.node(at).parent {
                let pc = self.forest.node(last).pc;
                self.forest.bounded_at.insert(pc);
            }
        }
        bounded
    }

    /// The thread, which stands at `at`, does `what` with this outcome. `false`: something else is
    /// known to happen there, or that is out of bounds; the thread is not followed any more.
    fn move_on(&mut self, event: &Event, at: NodeId, what: What, outcome: u64) -> bool {
        // The first step has no statement of its own.
        let first = matches!(what, What::Step(a) if a.kind == Kind::ThreadStart);
        let pc = if first { 0 } else { event.pc };
        let mut next = None;
        if !self.bounded(at) {
            if self.forest.fill(at, what, pc) {
                next = Some(self.forest.advance(at, outcome));
            } else {
                self.forest.unstable.insert(event.pc);
            }
        }
        if let Some(cursor) = self.cursors.get_mut(&event.thread) {
            cursor.at = next;
        }
        next.is_some()
    }

    fn step(&mut self, i: usize, event: &Event, kind: Kind, at: NodeId) -> Result<(), Corrupt> {
        self.idle.remove(&event.thread);
        let failed = match kind {
            kind if kind.joins() => {
                let expected = event.aux == 0 || fails_with(kind) == Some(u64::from(event.aux));
                !expected || !self.cursors.contains_key(&(event.value as Slot))
            }
            Kind::ThreadCreate => event.value as Slot == slot::NONE,
            _ => false,
        };
        let moved = channels::moved(self.trace, i);
        let transfer = self.forest.transfer(event, moved, at);
        let known = transfer.is_some() || is_modelled(event, kind, self.outcome(event, kind));
        if failed || !known {
            self.forest.unmodelled.insert(kind);
        }
        if kind == Kind::ThreadExit && event.value == NOT_JOINED {
            self.forest
                .bounds_hit
                .insert("a value that a thread returns");
        }
        if kind == Kind::ExitNext {
            let tree = self.cursors.get(&event.thread).map_or(ANYONE, |c| c.tree);
            let exits = &mut self.forest.exits;
            exits.insert((event.object, tree));
            let others = |&(list, other): &(u64, TreeId)| (list != event.object) && other != tree;
            if exits.iter().any(others) {
                self.forest
                    .bounds_hit
                    .insert("exit in one thread, quick_exit in another");
            }
        }
        if kind == Kind::AtExit {
            // Their number says which comes next only if one thread alone adds to them.
            let tree = self.cursors.get(&event.thread).map_or(ANYONE, |c| c.tree);
            self.forest.registrants.insert(tree);
            if self.forest.registrants.len() > 1 {
                self.forest
                    .bounds_hit
                    .insert("handlers of exit that several threads register");
            }
        }
        self.forest.announces_end |= kind == Kind::ProcessEnd;
        self.contents.step(self.forest, event, kind);
        let timed_out = match kind.joins() {
            true => u64::from(event.aux) == ETIMEDOUT,
            false => is_wait(kind) && event.value == ETIMEDOUT,
        };
        if kind == Kind::Sleep || timed_out {
            self.clock(event, false);
        }
        if kind == Kind::ThreadCreate && !failed {
            self.create(event, at);
            return Ok(());
        }
        let tree = self.cursors.get(&event.thread).map_or(ANYONE, |c| c.tree);
        self.forest.operate(event, kind, tree);
        if is_access(kind) {
            let sized = matches!(event.size, 1 | 2 | 4 | 8);
            let fits = event.object.checked_add(u64::from(event.size)).is_some();
            if !sized || !fits {
                return Err(Corrupt::Kind(i));
            }
            if kind != Kind::Write && kind != Kind::AtomicWrite {
                self.reads.insert(i as u32, self.forest.place(at));
            }
        }
        let term = match kind {
            Kind::Write | Kind::AtomicWrite | Kind::Rmw => Some(self.written(i, event)?),
            _ => None,
        };
        if matches!(kind, Kind::Free | Kind::Remap) {
            // Whoever takes memory away must be in order with those who use it.
            let bytes = self.announced(event, kind, at).value;
            let end = event.object.saturating_add(bytes);
            self.forest.touch(event.object, end, tree, Access::Changes);
        }
        let mut action = self.announced(event, kind, at);
        action.term = term;
        if failed {
            action.value = UNKNOWN;
        }
        let mut outcome = self.outcome(event, kind);
        if let Some(transfer) = transfer {
            (action.value, outcome) = transfer;
        }
        let fails = is_failed_attempt(kind, outcome) || !known && !is_access(kind);
        let followed = self.move_on(event, at, What::Step(action), outcome)
            && !(fails && self.has_failed_often(event, at, &action, outcome));
        if self.forest.by_value && followed && is_access(kind) {
            self.decide_value(event, kind, at, term);
        }
        if kind == Kind::ThreadExit {
            if followed {
                self.finish(event.thread, What::Gone);
            }
            self.unfollowed(event, kind);
        }
        Ok(())
    }

    /// An attempt has failed that the thread, which stood at `at`, makes again and again: after a few of them
    /// it is not followed any more. There is a path for each number of them, and all of these are much alike.
    fn has_failed_often(
        &mut self,
        event: &Event,
        at: NodeId,
        attempt: &Action,
        outcome: u64,
    ) -> bool {
        let parents =
            std::iter::successors(Some((at, outcome)), |&(at, _)| self.forest.node(at).parent);
        let same = |&(at, _): &(NodeId, u64)| {
            let node = self.forest.node(at);
            let is = |a: &Action| (a.kind, a.object) == (attempt.kind, attempt.object);
            node.pc == event.pc && node.action().is_some_and(is)
        };
        let failed = parents
            .take(ATTEMPTS * STEPS_BETWEEN)
            .filter(same)
            .take_while(|one| one.1 == outcome)
            .take(ATTEMPTS)
            .count();
        if self.max_decisions == 0 || failed < ATTEMPTS {
            return false;
        }
        if let Some(cursor) = self.cursors.get_mut(&event.thread)
            && let Some(next) = cursor.at.take()
        {
            self.forest.fill(next, What::Bound, 0);
        }
        self.forest.bounds_hit.insert(FAILED_OFTEN);
        self.forest.bounded_at.insert(event.pc);
        true
    }

    /// What an access that reads has read decides what its thread does; of an atomic update, what it
    /// has written says that.
    fn decide_value(&mut self, event: &Event, kind: Kind, at: NodeId, written: Option<TermId>) {
        let width = 8 * event.size;
        let term = match kind {
            Kind::Write | Kind::AtomicWrite => return,
            Kind::Rmw => written,
            _ => {
                let place = self.forest.place(at);
                Some(self.forest.terms.id(Term::Read { place, width }))
            }
        };
        let next = self.cursors.get(&event.thread).and_then(|c| c.at);
        if let (Some(term), Some(next)) = (term, next) {
            let what = What::Decide(term, Why::Branch);
            self.move_on(event, next, what, event.value & mask(width));
        }
    }

    fn create(&mut self, event: &Event, at: NodeId) {
        let bounded = self.bounded(at);
        let tree = match self.forest.node(at).what {
            What::Step(action) if action.kind == Kind::ThreadCreate => action.value as TreeId,
            What::Open if !bounded => {
                let start = Action {
                    kind: Kind::ThreadStart,
                    size: 0,
                    object: 0,
                    value: 0,
                    term: None,
                };
                let slot = event.value as Slot;
                self.forest.plant(Some(at), slot, What::Step(start), 0)
            }
            _ => TreeId::MAX,
        };
        let action = Action {
            kind: Kind::ThreadCreate,
            size: 0,
            object: event.object,
            value: tree.into(),
            term: None,
        };
        if !self.move_on(event, at, What::Step(action), 0) {
            self.unfollowed(event, Kind::ThreadCreate);
            return;
        }
        let slot = event.value as Slot;
        self.forest.trees[tree as usize].slot = slot;
        let child = Cursor {
            tree,
            at: Some(self.forest.tree(tree).root),
            ended: None,
        };
        self.cursors.insert(slot, child);
    }

    /// What can be known of a step before it is executed.
    fn announced(&self, event: &Event, kind: Kind, at: NodeId) -> Action {
        if matches!(kind, Kind::CondWake | Kind::CondLeave) {
            return self.end_of_wait(at);
        }
        let value = match kind {
            Kind::ThreadJoin | Kind::ThreadTryJoin | Kind::ThreadTimedJoin | Kind::ThreadDetach => {
                let target = self.cursors.get(&(event.value as Slot));
                target.map_or(UNKNOWN, |c| c.tree.into())
            }
            Kind::Remap => Uses::of_pages(event.value).0,
            Kind::Free | Kind::ReadRange | Kind::WriteRange | Kind::CondWait | Kind::OnceDone => {
                event.value
            }
            _ => 0,
        };
        let size = match kind {
            Kind::RwRead | Kind::RwWrite => u8::from(event.aux & RW_TIMED != 0),
            kind if is_access(kind) => event.size,
            _ => 0,
        };
        let object = match kind {
            Kind::ThreadStart => 0,
            kind if kind.joins() => 0,
            _ => event.object,
        };
        Action {
            kind,
            size,
            object,
            value,
            term: None,
        }
    }

    /// The second half of a wait for a condition, by what its thread did before.
    fn end_of_wait(&self, at: NodeId) -> Action {
        let mut end = Action {
            kind: Kind::CondWake,
            size: 0,
            object: 0,
            value: 0,
            term: None,
        };
        if let Some((parent, outcome)) = self.forest.node(at).parent
            && let Some(before) = self.forest.node(parent).action()
        {
            let timed = before.kind == Kind::CondWait && outcome == TIMED;
            end.size = u8::from(timed);
            end.object = before.object;
            end.value = before.value;
        }
        end
    }

    fn written(&mut self, i: usize, event: &Event) -> Result<TermId, Corrupt> {
        let width = 8 * event.size;
        if event.aux == 0 {
            return Ok(self.forest.terms.constant(width, event.value));
        }
        let term = self.term(i, event.aux)?;
        match self.forest.terms.get(term).width() == width {
            true => Ok(term),
            false => Err(Corrupt::Expression(i)),
        }
    }

    /// What the thread could see of how the step came out.
    fn outcome(&self, event: &Event, kind: Kind) -> u64 {
        match kind {
            kind if kind.joins() && event.aux != 0 => NOT_JOINED,
            kind if kind.joins() => {
                let target = self.cursors.get(&(event.value as Slot));
                target.and_then(|c| c.ended).unwrap_or(0)
            }
            Kind::ThreadExit => event.value,
            Kind::CondWait if event.aux != 0 => TIMED,
            Kind::CondLeave => LEFT,
            Kind::ThreadCreate => u64::from(event.value as Slot == slot::NONE),
            kind if has_result(kind) => event.value,
            _ => 0,
        }
    }

    /// A step that a thread announced and did not take.
    fn announce(&mut self, event: &Event, kind: Kind, at: NodeId) {
        // A creation is not known before it happens: its tree is made with it. The size of an
        // access is not in the record, nor what is written to a pipe. They stay open, and are always
        // enabled.
        let channel = channels::transfers(kind) && is_channel(event.object);
        if kind == Kind::ThreadCreate
            || is_access(kind)
            || channel && kind == Kind::DescriptorWrite
            || self.forest.node(at).what != What::Open
            || self.bounded(at)
        {
            return;
        }
        // The size of this record is the kind of the step.
        let step = Event { size: 0, ..*event };
        if !is_modelled(&step, kind, 0) && kind != Kind::CondLeave && !channel {
            self.forest.unmodelled.insert(kind);
        }
        let action = self.announced(event, kind, at);
        self.forest.fill(at, What::Step(action), event.pc);
    }

    fn finish(&mut self, slot: Slot, what: What) {
        let Some(Cursor { at: Some(at), .. }) = self.cursors.get(&slot).copied() else {
            return;
        };
        if !self.forest.fill(at, what, 0) {
            let pc = self.forest.node(at).pc;
            self.forest.unstable.insert(pc);
        }
    }

    /// Marks how the execution ended.
    fn end(&mut self) {
        let outcome = &self.trace.outcome;
        let ender = outcome.thread;
        match outcome.end {
            End::Signal if ends_in_a_step(self.trace) => self.fatal_step(ender),
            End::Signal => {
                self.finish(ender, What::End);
                self.forest.bounds_hit.insert(AN_ERROR);
            }
            End::Exit | End::Assertion | End::Abort | End::Assumed => {
                self.finish(ender, What::End);
            }
            End::Unsupported => {
                self.finish(ender, What::Bound);
                self.forest.refused.insert(outcome.message.clone());
            }
            End::StepLimit => {
                self.stop(ender);
                let what = match outcome.detail[1] {
                    0 => "steps of one execution",
                    _ => "decisions and inputs without a step",
                };
                self.forest.bounds_hit.insert(what);
            }
            End::None | End::ToolFault => {
                self.stop(ender);
                let why = match outcome.timed_out {
                    true => "wall-clock time of one execution",
                    false => "an execution that ended without a word",
                };
                self.forest.bounds_hit.insert(why);
            }
            End::Livelock if !self.forest.folds => {
                self.stop(ender);
                self.forest.bounds_hit.insert("a loop that waits for ever");
            }
            End::Deadlock | End::Livelock => self.deadlock(),
            End::HeapOverflow if ends_announced(self.trace) => self.finish(ender, What::End),
            // What others did before may be the reason.
            End::Misuse | End::UseAfterFree | End::DoubleFree | End::HeapOverflow => {
                self.fatal_step(ender);
                self.forest.bounds_hit.insert(AN_ERROR);
            }
            End::Divergence | End::Redundant => {}
        }
    }

    /// The thread is not explored beyond where it stands, if that is not known yet.
    fn stop(&mut self, slot: Slot) {
        if let Some(Cursor { at: Some(at), .. }) = self.cursors.get(&slot).copied()
            && self.forest.node(at).next.is_empty()
        {
            self.forest.nodes[at as usize].what = What::Bound;
        }
    }

    /// The step at which a thread stands ended the process. It is not explored beyond; what others
    /// do before it is.
    fn fatal_step(&mut self, slot: Slot) {
        if let Some(Cursor { at: Some(at), .. }) = self.cursors.get(&slot).copied() {
            let node = &mut self.forest.nodes[at as usize];
            if node.next.is_empty() && !node.fatal {
                node.fatal = true;
                self.forest.facts += 1;
            }
        }
    }

    fn deadlock(&mut self) {
        let waits = &self.trace.outcome.waits;
        let cycle = waits.iter().any(|w| w.in_cycle != 0);
        let mut stuck = Vec::new();
        for wait in waits.iter().filter(|w| !cycle || w.in_cycle != 0) {
            let Some(Cursor { at: Some(at), .. }) = self.cursors.get(&wait.thread).copied() else {
                return;
            };
            stuck.push(self.idle.get(&wait.thread).copied().unwrap_or(at));
            if wait.holder == wait.thread {
                // It waits for itself: the announcement alone ends the process.
                self.forest.nodes[at as usize].what = What::End;
            }
        }
        if !stuck.is_empty() {
            self.forest.add_deadlock(Pattern { stuck, cycle });
        }
    }

    /// The term of an expression of the trace.
    fn term(&mut self, i: usize, wanted: u32) -> Result<TermId, Corrupt> {
        let mut stack = vec![wanted];
        while let Some(&top) = stack.last() {
            let index = top as usize;
            if self.terms[index].is_some() {
                stack.pop();
                continue;
            }
            let node = self.trace.nodes[index];
            let bad = Corrupt::Node(index);
            let op = node.op().ok_or(bad)?;
            let operands = [node.a, node.b, node.c];
            let missing = operands[..op.arity()]
                .iter()
                .find(|&&o| self.terms[o as usize].is_none());
            if let Some(&operand) = missing {
                stack.push(operand);
                continue;
            }
            let term = match op {
                Op::Const => self
                    .forest
                    .terms
                    .constant(node.width, node.constant_value()),
                Op::Input => {
                    self.input_term(node.extra, node.a, node.b, node.c, node.width, bad)?
                }
                Op::Read => self.read_term(i, node.a, node.width, bad)?,
                op => {
                    let arg = |k: usize| match k < op.arity() {
                        true => self.terms[operands[k] as usize].unwrap_or(0),
                        false => 0,
                    };
                    let args = [arg(0), arg(1), arg(2)];
                    let extra = if op == Op::Extract { node.extra } else { 0 };
                    let applied = self.forest.terms.apply(op, node.width, extra, args);
                    applied.ok_or(bad)?
                }
            };
            self.terms[index] = Some(term);
            stack.pop();
        }
        self.terms[wanted as usize].ok_or(Corrupt::Expression(i))
    }

    fn input_term(
        &mut self,
        thread: Slot,
        index: u32,
        offset: u32,
        length: u32,
        width: u8,
        bad: Corrupt,
    ) -> Result<TermId, Corrupt> {
        let tree = self.cursors.get(&thread).ok_or(bad)?.tree;
        let bytes = u32::from(width / 8);
        let end = offset.checked_add(bytes).ok_or(bad)?;
        if !width.is_multiple_of(8) || end > length {
            return Err(bad);
        }
        Ok(self.forest.terms.id(Term::Input {
            tree,
            index,
            offset,
            width,
        }))
    }

    fn read_term(
        &mut self,
        i: usize,
        event: u32,
        width: u8,
        bad: Corrupt,
    ) -> Result<TermId, Corrupt> {
        let read = &self.trace.events[event as usize];
        if event as usize > i || u32::from(width) != 8 * u32::from(read.size) {
            return Err(bad);
        }
        match self.reads.get(&event) {
            Some(&place) => Ok(self.forest.terms.id(Term::Read { place, width })),
            None => Err(bad),
        }
    }
}

/// A bound: the execution ended by an error, which may have come too early for others, or only
/// because of what others had done before.
const AN_ERROR: &str = "an error that ended an execution";

/// Did the execution end in the middle of a step, of which there is no record?
pub fn ends_in_a_step(trace: &Trace) -> bool {
    let taken = trace.taken.iter().filter(|s| !s.is_choice());
    let taken: u64 = taken.map(|s| u64::from(s.count)).sum();
    let steps = trace
        .events
        .iter()
        .filter(|e| e.kind().is_some_and(Kind::is_step));
    taken > steps.count() as u64
}

/// Was the end of the process a step of its own?
pub fn ends_announced(trace: &Trace) -> bool {
    let kinds = trace.events.iter().rev().filter_map(Event::kind);
    kinds.into_iter().find(|kind| kind.is_step()) == Some(Kind::ProcessEnd)
}
