//! Who called the operations of an execution, from its `Stack` records.

use crate::symbols::Symbols;
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};
use std::collections::HashMap;

/// Return addresses behind those of the events, innermost first; empty where none were recorded.
#[derive(Default)]
pub struct Callers {
    /// Of what each thread announced last and has not done.
    announced: HashMap<Slot, Vec<u64>>,
    /// Of the last step of this thread, at this address, on this object.
    steps: HashMap<(Slot, u64, u64), Vec<u64>>,
}

impl Callers {
    /// Takes in a `Stack` record.
    pub fn announced(&mut self, record: &Event) {
        let callers = self.announced.entry(record.thread).or_default();
        if record.aux == 0 {
            callers.clear();
        }
        callers.extend(record.callers());
    }

    /// Takes in any record.
    pub fn learn(&mut self, record: &Event) {
        match record.kind() {
            Some(Kind::Stack) => self.announced(record),
            Some(kind) if kind.is_told_with_callers() => {
                self.allocated(record.thread);
            }
            Some(kind) if kind.is_step() => {
                self.stepped(record);
            }
            _ => {}
        }
    }

    /// The thread allocates, or does something else that is told of and no step: who called that.
    pub fn allocated(&mut self, thread: Slot) -> Vec<u64> {
        self.announced.remove(&thread).unwrap_or_default()
    }

    /// The thread did what it had announced: this step.
    ///
    /// A free that frees nothing does not stand for the one that did: where a block is freed again, that
    /// is how the execution ends, and only some runs record the step.
    pub fn stepped(&mut self, step: &Event) -> &[u64] {
        let callers = self.announced.remove(&step.thread).unwrap_or_default();
        let object = match step.kind() {
            Some(Kind::Free) if step.value == 0 => 0,
            _ => step.object,
        };
        let kept = self.steps.entry((step.thread, step.pc, object));
        kept.insert_entry(callers).into_mut()
    }

    /// Of the operation in which this thread still waits.
    pub fn of_waiting(&self, thread: Slot) -> &[u64] {
        self.announced.get(&thread).map_or(&[], Vec::as_slice)
    }

    /// Of the last step of this thread, at this address, on this object.
    pub fn of_step(&self, thread: Slot, pc: u64, object: u64) -> &[u64] {
        let step = self.steps.get(&(thread, pc, object));
        step.map_or(&[], Vec::as_slice)
    }
}

/// Callers of some events of a trace.
#[derive(Default)]
pub struct At(HashMap<usize, Vec<u64>>);

impl At {
    /// Of the event with this index; empty where none were recorded.
    pub fn of(&self, index: usize) -> &[u64] {
        self.0.get(&index).map_or(&[], Vec::as_slice)
    }
}

/// The callers of the events with these indices.
pub fn at(events: &[Event], wanted: &[usize]) -> At {
    let mut callers = Callers::default();
    let mut at = At(wanted.iter().map(|&index| (index, Vec::new())).collect());
    for (index, event) in events.iter().enumerate() {
        if let Some(slot) = at.0.get_mut(&index) {
            *slot = callers.of_waiting(event.thread).to_vec();
        }
        match event.kind() {
            Some(Kind::Stack) => callers.announced(event),
            Some(kind) if kind.is_told_with_callers() || kind.is_step() => {
                callers.allocated(event.thread);
            }
            _ => {}
        }
    }
    at
}

/// Sites of a stack, innermost first, without frames of the runtime among the callers, and without
/// those in which a function does nothing but call its own symbolic body.
pub fn stack(pc: u64, callers: &[u64], symbols: &mut Symbols) -> Vec<u32> {
    let mut stack = vec![symbols.site(pc)];
    let mut callee = pc;
    for &caller in callers {
        if symbols.is_in_runtime(caller) {
            continue;
        }
        if !symbols.enters_symbolic_body(caller, callee) {
            stack.push(symbols.site(caller));
        }
        callee = caller;
    }
    stack
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_takes_what_its_thread_announced() {
        let step = |thread, pc, object| Event {
            kind: Kind::MutexLock as u8,
            thread,
            pc,
            object,
            ..Event::default()
        };
        let mut callers = Callers::default();
        let announce = |callers: &mut Callers, thread, addresses: &[usize]| {
            Event::stack(thread, addresses).for_each(|record| callers.announced(&record));
        };
        announce(&mut callers, 1, &[10, 11, 12, 13]);
        announce(&mut callers, 2, &[20]);
        assert_eq!(callers.of_waiting(1), [10, 11, 12, 13]);
        assert_eq!(callers.stepped(&step(1, 7, 8)), [10, 11, 12, 13]);
        assert!(callers.of_waiting(1).is_empty());
        assert_eq!(callers.of_waiting(2), [20]);
        // A second announcement before any step replaces the first, also by nothing.
        announce(&mut callers, 2, &[21, 22]);
        assert_eq!(callers.of_waiting(2), [21, 22]);
        announce(&mut callers, 2, &[]);
        assert!(callers.stepped(&step(2, 7, 8)).is_empty());
        assert_eq!(callers.of_step(1, 7, 8), [10, 11, 12, 13]);
        assert!(callers.of_step(1, 7, 9).is_empty());
        assert!(callers.stepped(&step(1, 7, 8)).is_empty());
        assert!(callers.of_step(1, 7, 8).is_empty(), "the last one counts");
        // But of frees the one that freed something.
        for (caller, value) in [(30, 16), (31, 0)] {
            announce(&mut callers, 1, &[caller]);
            let free = Event {
                kind: Kind::Free as u8,
                value,
                ..step(1, 9, 8)
            };
            assert_eq!(callers.stepped(&free), [caller as u64]);
        }
        assert_eq!(callers.of_step(1, 9, 8), [30]);
    }
}
