//! The timers themselves: when each expires next, apart from who waits for that.

/// How many timers of all kinds there can be at a time.
pub const MOST: usize = 256;

/// When a timer expires, in virtual nanoseconds since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// The next time; 0: disarmed.
    pub next: u64,
    /// From one time to the next; 0: once.
    pub interval: u64,
}

impl Schedule {
    /// How often it has expired by `now`, which it is not to do again.
    pub fn expire(&mut self, now: u64) -> u64 {
        if self.next == 0 || self.next > now {
            return 0;
        }
        if self.interval == 0 {
            self.next = 0;
            return 1;
        }
        let times = 1 + (now - self.next) / self.interval;
        self.next = self
            .next
            .saturating_add(times.saturating_mul(self.interval));
        times
    }

    /// How long until it expires next; 0: disarmed.
    pub fn remaining(&self, now: u64) -> u64 {
        match self.next {
            0 => 0,
            next => next.saturating_sub(now).max(1),
        }
    }
}

/// The place of the schedule that expires first; the lowest place among equals.
pub fn first(schedules: impl Iterator<Item = (usize, Schedule)>) -> Option<(usize, u64)> {
    schedules
        .filter(|(_, schedule)| schedule.next != 0)
        .map(|(place, schedule)| (place, schedule.next))
        .min_by_key(|&(place, next)| (next, place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expiries_are_counted() {
        for (next, interval, now, times, then) in [
            (0, 0, 100, 0, 0),
            (50, 0, 49, 0, 50),
            (50, 0, 50, 1, 0),
            (50, 0, 500, 1, 0),
            (50, 10, 50, 1, 60),
            (50, 10, 59, 1, 60),
            (50, 10, 75, 3, 80),
            (50, u64::MAX, 60, 1, u64::MAX),
        ] {
            let mut schedule = Schedule { next, interval };
            assert_eq!(schedule.expire(now), times, "{next} {interval} {now}");
            assert_eq!(schedule.next, then, "{next} {interval} {now}");
        }
    }

    #[test]
    fn the_first_is_first() {
        let at = |next| Schedule { next, interval: 0 };
        let all = [at(0), at(9), at(5), at(5)];
        assert_eq!(first(all.into_iter().enumerate()), Some((2, 5)));
        assert_eq!(first([at(0)].into_iter().enumerate()), None);
        assert_eq!(
            (at(9).remaining(4), at(9).remaining(9), at(0).remaining(9)),
            (5, 1, 0)
        );
    }
}
