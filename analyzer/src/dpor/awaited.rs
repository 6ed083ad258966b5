//! Could a thread that is parked in a loop go on in another context?

use super::enabled::{count, is_taken, rwlock_word};
use super::execution::{Awaited, Step};
use crate::stop;
use raddle_protocol::Slot;
use raddle_protocol::conflict::marks;
use raddle_protocol::event::Kind;

/// A word of memory, byte by byte.
#[derive(Clone, Copy)]
struct Word {
    at: u64,
    bytes: u64,
    content: [u8; 8],
}

impl Word {
    fn of(awaited: &Awaited) -> Word {
        Word {
            at: awaited.at,
            bytes: u64::from(awaited.bytes),
            content: awaited.value.to_le_bytes(),
        }
    }

    fn is(&self, awaited: &Awaited) -> bool {
        let bytes = self.bytes as usize;
        self.content[..bytes] == awaited.value.to_le_bytes()[..bytes]
    }

    /// What it is after `step`; `None` if the record does not say.
    fn after(mut self, step: &Step) -> Option<Word> {
        let touches = |part: &raddle_protocol::conflict::Part| {
            part.is_written_in(self.at, self.at + self.bytes)
        };
        if !step.foot.parts.iter().any(touches) {
            return Some(self);
        }
        let event = &step.event;
        let stores = matches!(
            event.kind(),
            Some(Kind::Write | Kind::AtomicWrite | Kind::Rmw)
        );
        if !stores || event.size > 8 {
            return None;
        }
        for (n, byte) in event.value.to_le_bytes().into_iter().enumerate() {
            let at = event.object + n as u64;
            if n < usize::from(event.size) && (self.at..self.at + self.bytes).contains(&at) {
                self.content[(at - self.at) as usize] = byte;
            }
        }
        Some(self)
    }
}

/// If the state of a lock, of a semaphore or of a thread was read: is that another one where exactly the
/// steps `in_context` have happened?
fn state_differs(
    awaited: &Awaited,
    steps: &[Step],
    in_context: &dyn Fn(usize) -> bool,
) -> Option<bool> {
    let event = &steps[awaited.read].event;
    match event.kind()? {
        Kind::MutexTryLock | Kind::SpinTryLock | Kind::SemTryWait => {
            let was_free = event.value == 0;
            Some(is_taken(awaited.at, steps, in_context) == was_free)
        }
        Kind::RwTryRead | Kind::RwTryWrite => {
            Some(rwlock_word(awaited.at, steps, in_context) != awaited.value)
        }
        Kind::SemGetValue => {
            let now = count(awaited.at, steps, in_context).map(u64::from);
            Some(now.is_some_and(|now| now != awaited.value))
        }
        Kind::ThreadTryJoin => {
            let mut later = steps.iter().enumerate().skip(awaited.read);
            Some(later.any(|(k, step)| {
                let ends = matches!(step.event.kind(), Some(Kind::ThreadExit));
                ends && u64::from(step.thread) == awaited.at && in_context(k)
            }))
        }
        _ => None,
    }
}

/// Is one of the words that `thread` awaits another one than it was read, where exactly the steps
/// `in_context` have happened (all until the reads among them)? `None` if the records do not tell.
pub fn has_changed(
    thread: Slot,
    awaited: &[Awaited],
    steps: &[Step],
    in_context: &dyn Fn(usize) -> bool,
) -> Option<bool> {
    let from = awaited.iter().map(|a| a.read).min().unwrap_or(0);
    let mut words: Vec<Option<Word>> = awaited.iter().map(|a| Some(Word::of(a))).collect();
    let mut known = true;
    for (k, step) in steps.iter().enumerate().skip(from) {
        stop::point();
        if step.thread == thread || !in_context(k) {
            continue;
        }
        // A signal or a cancellation lets it look again whatever it read.
        let cancels = step.foot.marks & marks::CANCELS != 0 && step.foot.about == thread;
        known &= !cancels && step.foot.marks & marks::EVERYTHING == 0;
        for (word, awaited) in words.iter_mut().zip(awaited) {
            if k > awaited.read {
                *word = word.and_then(|word| word.after(step));
            }
        }
    }
    let other = |(word, awaited): (&Option<Word>, &Awaited)| {
        state_differs(awaited, steps, in_context).or_else(|| word.map(|word| !word.is(awaited)))
    };
    let others: Vec<Option<bool>> = words.iter().zip(awaited).map(other).collect();
    match others.contains(&Some(true)) {
        true => Some(true),
        false if known && !others.contains(&None) => Some(false),
        false => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dpor::Execution;
    use raddle_protocol::event::Event;
    use raddle_protocol::outcome::End;
    use raddle_protocol::trace::{Outcome, Trace};

    /// Kind, object, size and value.
    type Done = (Kind, u64, u8, u64);

    /// Thread 1 reads four zero bytes at 0x100; what others do then, and whether that lets it go on.
    #[test]
    fn what_lets_it_go_on() {
        let table: &[(&[Done], Option<bool>)] = &[
            (&[], Some(false)),
            (&[(Kind::Write, 0x100, 4, 0)], Some(false)),
            (&[(Kind::AtomicWrite, 0x100, 4, 7)], Some(true)),
            (
                &[(Kind::Rmw, 0x100, 4, 1), (Kind::Write, 0x100, 4, 0)],
                Some(false),
            ),
            (&[(Kind::Write, 0x102, 1, 1)], Some(true)),
            (&[(Kind::Write, 0x104, 4, 1)], Some(false)),
            (&[(Kind::Write, 0xfc, 8, 1)], Some(false)),
            (&[(Kind::Write, 0xfc, 8, 1 << 32)], Some(true)),
            (&[(Kind::WriteRange, 0x0f0, 0, 64)], None),
            (
                &[(Kind::WriteRange, 0x0f0, 0, 64), (Kind::Write, 0x100, 4, 0)],
                None,
            ),
            (&[(Kind::MutexLock, 0x100, 0, 0)], None),
            (&[(Kind::SignalSend, 0, 0, 10)], None),
            (&[(Kind::ThreadCancel, 0, 0, 1)], None),
            (&[(Kind::ThreadCancel, 0, 0, 3)], Some(false)),
        ];
        for (others, expected) in table {
            let event = |thread, &(kind, object, size, value): &Done| Event {
                kind: kind as u8,
                size,
                thread,
                object,
                value,
                ..Event::default()
            };
            let mut events = vec![event(1, &(Kind::Read, 0x100, 4, 0))];
            events.extend(others.iter().map(|other| event(2, other)));
            let trace = Trace::new(events, Vec::new(), Outcome::new(End::Deadlock, 0));
            let execution = Execution::new(&trace, false);
            let awaited = Awaited {
                at: 0x100,
                bytes: 4,
                value: 0,
                read: 0,
            };
            let changed = has_changed(1, &[awaited], &execution.steps, &|_| true);
            assert_eq!(changed, *expected, "{others:?}");
            let without = has_changed(1, &[awaited], &execution.steps, &|k| k == 0);
            assert_eq!(without, Some(false), "{others:?}");
        }
    }
}
