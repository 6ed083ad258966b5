//! Vector clocks.

/// Times of all threads, as far as somebody knows them; what is not there is 0. Threads are
/// counted in the order in which they appear in the trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock(Vec<u32>);

impl Clock {
    /// The time of `thread`.
    #[inline]
    pub fn of(&self, thread: u32) -> u32 {
        self.0.get(thread as usize).copied().unwrap_or(0)
    }

    /// Sets the time of `thread`.
    pub fn set(&mut self, thread: u32, time: u32) {
        let at = thread as usize;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        self.0[at] = time;
    }

    /// The later time of both, for every thread.
    pub fn join(&mut self, other: &Clock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, &theirs) in self.0.iter_mut().zip(&other.0) {
            crate::stop::point();
            *mine = (*mine).max(theirs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_time_wins() {
        let (mut a, mut b) = (Clock::default(), Clock::default());
        a.set(0, 3);
        b.set(0, 1);
        b.set(4, 2);
        a.join(&b);
        assert_eq!([a.of(0), a.of(3), a.of(4), a.of(9)], [3, 0, 2, 0]);
        b.join(&a);
        assert_eq!(a, b);
    }
}
