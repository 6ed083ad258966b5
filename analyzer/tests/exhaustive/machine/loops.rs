//! Loops that wait: rounds, and threads that are parked after them.

use super::{MUTEX, Machine, NOBODY, Phase, object, variable};
use raddle_protocol::event::Kind;

/// What a round of a loop reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    Variable(usize),
    /// Is it held?
    Mutex(usize),
}

impl Word {
    pub(super) fn address(self) -> u64 {
        match self {
            Word::Variable(v) => variable(v),
            Word::Mutex(m) => object(MUTEX, m),
        }
    }
}

impl Machine<'_> {
    /// The step read this.
    pub(super) fn saw(&mut self, t: usize, word: Word, value: u64) {
        let thread = &mut self.threads[t];
        if thread.looping {
            thread.round.push((word, value));
        }
    }

    pub(super) fn new_round(&mut self, t: usize) {
        let thread = &mut self.threads[t];
        thread.round.clear();
        thread.taken.clear();
        thread.noticed = false;
    }

    /// At the end of a round.
    pub(super) fn retry(&mut self, t: usize, back: usize, enough: u64) {
        let thread = &mut self.threads[t];
        if thread.acc >= enough {
            (thread.line, thread.looping, thread.vain) = (thread.line + 1, false, 0);
            return self.new_round(t);
        }
        (thread.line, thread.vain) = (thread.line - back, thread.vain + 1);
        match self.program.rounds {
            Some(most) if thread.vain >= most => thread.phase = Phase::Cut,
            Some(_) => self.new_round(t),
            None if thread.noticed => self.new_round(t),
            None => {
                self.park(t);
                self.threads[t].taken.clear();
            }
        }
    }

    pub(super) fn park(&mut self, t: usize) {
        self.threads[t].parked = true;
        for (word, value) in self.threads[t].round.clone() {
            self.log(t, Kind::Parked, word.address(), value, 0);
        }
    }

    pub(super) fn value(&self, word: Word) -> u64 {
        match word {
            Word::Variable(v) => self.memory[v],
            Word::Mutex(m) => u64::from(self.mutexes[m] != NOBODY),
        }
    }
}
