//! Condition variables in the formula: which signal ends which wait.
//!
//! A wait is two steps: [`Kind::CondWait`] gives the mutex up and begins to wait, [`Kind::CondWake`]
//! has the mutex back. Per signal and wait there is a truth, "this signal wakes that waiter". Each
//! waiter is woken once at most; a signal wakes one of those that wait, if there are any, a broadcast
//! all of them. A waiter with a deadline that nobody has woken can leave at any time.
//!
//! Where waits may end although nobody signalled, there is a truth per wait, "it ends alone". Such a
//! waiter has left the queue as soon as it waits, and goes on at any time when it can have the mutex:
//! as the runtime does it, and no less than if it stayed in the queue until then, since a signal that
//! comes in between either wakes somebody else or is no reason to wake.

use super::circuit::{Bool, all, any};
use super::forest::{Forest, NodeId};
use super::formula::Formula;
use super::places::Place;
use raddle_protocol::event::Kind;
use raddle_protocol::shared::SPURIOUS_WAKE_UPS;
use std::collections::BTreeMap;

/// Steps by place: at most one of each place is executed.
type Steps = BTreeMap<Place, Vec<NodeId>>;

/// The operations on one condition variable that some execution has shown.
#[derive(Default)]
pub struct Condition {
    waits: Steps,
    /// By place, and whether it is a broadcast.
    signals: BTreeMap<(Place, bool), Vec<NodeId>>,
}

/// All condition variables, by address.
pub type Conditions = BTreeMap<u64, Condition>;

/// The operations on condition variables in the forest.
pub fn collect(forest: &Forest) -> Conditions {
    let mut conditions = Conditions::new();
    for (id, node) in (0..).zip(&forest.nodes) {
        let Some(action) = node.action().filter(|_| !node.is_stub()) else {
            continue;
        };
        let place = forest.place(id);
        let kind = action.kind;
        if !matches!(
            kind,
            Kind::CondWait | Kind::CondSignal | Kind::CondBroadcast
        ) {
            continue;
        }
        let condition = conditions.entry(action.object).or_default();
        let steps = match kind {
            Kind::CondWait => condition.waits.entry(place).or_default(),
            _ => {
                let key = (place, kind == Kind::CondBroadcast);
                condition.signals.entry(key).or_default()
            }
        };
        steps.push(id);
    }
    conditions
}

/// The wait that a [`Kind::CondWake`] ends; `None` if its time has run out before: it only waits
/// for the mutex.
fn wait_of(forest: &Forest, wake: NodeId) -> Option<NodeId> {
    let above = forest.step_above(wake)?;
    let kind = forest.node(above).action()?.kind;
    (kind == Kind::CondWait).then_some(above)
}

/// One signal or broadcast and the waits that it can end.
struct Signal {
    place: Place,
    broadcast: bool,
    executed: Bool,
}

/// One wait.
struct Wait {
    place: Place,
    executed: Bool,
    /// The next step of the thread has the mutex back or has left.
    ended: Bool,
    /// The time of the wait ran out.
    expired: Bool,
}

impl Wait {
    fn end(&self) -> Place {
        Place {
            step: self.place.step + 1,
            ..self.place
        }
    }
}

impl Formula<'_> {
    /// This signal wakes that waiter.
    pub fn wakes(&self, object: u64, signal: Place, broadcast: bool, wait: Place) -> Bool {
        let (s, w) = (signal, wait);
        let kind = if broadcast { "b" } else { "k" };
        let name = format!("{kind}{}_{}_{}_{}_{object}", s.tree, s.step, w.tree, w.step);
        Bool::new_const(name)
    }

    /// The wait ends although nobody signals.
    pub fn ends_alone(&self, wait: Place) -> Bool {
        match self.forest.spurious {
            true => Bool::new_const(format!("alone{}_{}", wait.tree, wait.step)),
            false => Bool::from_bool(false),
        }
    }

    /// All waits by their places, whatever they wait for.
    fn waits(&self) -> Steps {
        let mut all = Steps::new();
        for (&place, nodes) in self.conditions.values().flat_map(|c| &c.waits) {
            all.entry(place).or_default().extend(nodes);
        }
        all
    }

    /// At least so many waits end alone: for none, one and so on, up to one more than are allowed.
    fn alone(&self, waits: &Steps) -> Vec<Bool> {
        let mut counts = vec![Bool::from_bool(false); SPURIOUS_WAKE_UPS as usize + 2];
        counts[0] = Bool::from_bool(true);
        for &place in waits.keys() {
            let alone = self.ends_alone(place);
            for n in (1..counts.len()).rev() {
                let one_more = all(&[counts[n - 1].clone(), alone.clone()]);
                counts[n] = any(&[counts[n].clone(), one_more]);
            }
        }
        counts
    }

    /// Only waits that are executed end alone, and not too many.
    fn few_end_alone(&self) {
        let waits = self.waits();
        for (&place, nodes) in &waits {
            let fact = self.ends_alone(place).implies(self.any_executed(nodes));
            self.solver.assert(&fact);
        }
        if let Some(too_many) = self.alone(&waits).last() {
            self.solver.assert(&too_many.not());
        }
    }

    /// As many waits end alone as are allowed, and one more could.
    pub fn more_could_end_alone(&self) -> Bool {
        let waits = self.waits();
        let counts = self.alone(&waits);
        let others = waits.iter().map(|(&place, nodes)| {
            let alone = self.ends_alone(place);
            all(&[self.any_executed(nodes), alone.not()])
        });
        let others: Vec<Bool> = others.collect();
        all(&[counts[SPURIOUS_WAKE_UPS as usize].clone(), any(&others)])
    }

    fn can_wake(&self, signal: Place, wait: Place) -> bool {
        signal.tree != wait.tree
            && self.coexist(signal.tree, wait.tree)
            && !self.before(signal, wait)
    }

    fn woken(&self, object: u64, wait: Place) -> Bool {
        let signals = self.conditions.get(&object).map(|c| c.signals.keys());
        let possible = signals.into_iter().flatten();
        let wakes = possible
            .filter(|s| self.can_wake(s.0, wait))
            .map(|&(s, broadcast)| self.wakes(object, s, broadcast, wait));
        let wakes = wakes.chain([self.ends_alone(wait)]);
        any(&wakes.collect::<Vec<_>>())
    }

    /// The thread that stands there has left the queue: only the mutex is missing.
    pub fn wants_mutex(&self, wake: NodeId) -> Bool {
        match wait_of(self.forest, wake) {
            Some(_) => self.is_woken(wake),
            None => Bool::from_bool(true),
        }
    }

    /// Somebody has woken the waiter, or it woke alone: it has its mutex back or waits for it.
    pub fn is_woken(&self, wake: NodeId) -> Bool {
        let wait = wait_of(self.forest, wake);
        match (wait, self.forest.node(wake).action()) {
            (Some(wait), Some(action)) => self.woken(action.object, self.forest.place(wait)),
            _ => Bool::from_bool(false),
        }
    }

    /// Nothing but a signal ends the wait at which the thread stands, and there was none.
    pub fn needs_signal(&self, wake: NodeId) -> Bool {
        let timed = self.forest.node(wake).action().is_some_and(|a| a.timed());
        match wait_of(self.forest, wake) {
            Some(_) if !timed => self.is_woken(wake).not(),
            _ => Bool::from_bool(false),
        }
    }

    /// The constraints of all condition variables.
    pub fn condition_variables(&self) {
        for id in 0..self.forest.nodes.len() as NodeId {
            let action = self.forest.node(id).action();
            if action.is_some_and(|a| a.kind == Kind::CondWake) {
                let goes_on = self.executed(id).implies(self.needs_signal(id).not());
                self.solver.assert(&goes_on);
            }
        }
        if self.forest.spurious {
            self.few_end_alone();
        }
        for (&object, condition) in &self.conditions {
            let waits: Vec<Wait> = condition.waits.iter().map(|w| self.wait(w)).collect();
            let signals: Vec<Signal> = condition
                .signals
                .iter()
                .map(|(&(place, broadcast), nodes)| Signal {
                    place,
                    broadcast,
                    executed: self.any_executed(nodes),
                })
                .collect();
            for wait in &waits {
                self.woken_once(object, wait, &signals);
            }
            for signal in &signals {
                self.wakes_somebody(object, signal, &waits, &signals);
            }
        }
    }

    fn wait(&self, (&place, nodes): (&Place, &Vec<NodeId>)) -> Wait {
        let mut ended = Vec::new();
        let mut expired = Vec::new();
        for &node in nodes {
            for &(_, wake) in &self.forest.node(node).next {
                ended.push(self.executed(wake));
                if self.forest.node(wake).action().is_some_and(|a| a.timed()) {
                    let own = self.executed(wake);
                    expired.push(all(&[own, self.is_woken(wake).not()]));
                }
            }
        }
        Wait {
            place,
            executed: self.any_executed(nodes),
            ended: any(&ended),
            expired: any(&expired),
        }
    }

    /// What it means that a signal wakes this waiter, and that only one does.
    fn woken_once(&self, object: u64, wait: &Wait, signals: &[Signal]) {
        let possible: Vec<(&Signal, Bool)> = signals
            .iter()
            .filter(|s| self.can_wake(s.place, wait.place))
            .map(|s| (s, self.wakes(object, s.place, s.broadcast, wait.place)))
            .collect();
        for (i, (signal, wakes)) in possible.iter().enumerate() {
            let before_end = self.precedes(signal.place, wait.end());
            let parts = [
                signal.executed.clone(),
                wait.executed.clone(),
                self.precedes(wait.place, signal.place),
                any(&[wait.ended.not(), before_end]),
            ];
            self.solver.assert(&wakes.implies(all(&parts)));
            let alone = self.ends_alone(wait.place);
            self.solver.assert(&any(&[wakes.not(), alone.not()]));
            for (_, other) in &possible[i + 1..] {
                self.solver.assert(&any(&[wakes.not(), other.not()]));
            }
        }
    }

    fn wakes_somebody(&self, object: u64, signal: &Signal, waits: &[Wait], signals: &[Signal]) {
        let possible: Vec<(&Wait, Bool)> = waits
            .iter()
            .filter(|w| self.can_wake(signal.place, w.place))
            .map(|w| {
                let wakes = self.wakes(object, signal.place, signal.broadcast, w.place);
                (w, wakes)
            })
            .collect();
        let all_woken: Vec<Bool> = possible.iter().map(|p| p.1.clone()).collect();
        for (i, (wait, wakes)) in possible.iter().enumerate() {
            let mut options = vec![signal.executed.not(), wait.executed.not()];
            options.push(self.precedes(signal.place, wait.place));
            let expired = self.precedes(wait.end(), signal.place);
            options.push(all(&[wait.expired.clone(), expired]));
            options.push(self.ends_alone(wait.place));
            for other in signals {
                let differs = (other.place, other.broadcast) != (signal.place, signal.broadcast);
                if differs && self.can_wake(other.place, wait.place) {
                    let first = self.precedes(other.place, signal.place);
                    let woken = self.wakes(object, other.place, other.broadcast, wait.place);
                    options.push(all(&[woken, first]));
                }
            }
            match signal.broadcast {
                true => options.push(wakes.clone()),
                false => {
                    options.extend(all_woken.iter().cloned());
                    for other in &all_woken[i + 1..] {
                        self.solver.assert(&any(&[wakes.not(), other.not()]));
                    }
                }
            }
            self.solver.assert(&any(&options));
        }
    }
}
