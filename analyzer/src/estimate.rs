//! How much is left to see, from how often each thing was seen.

/// How often the members of one kind (predecessor pairs, interleavings) were seen in a number of
/// executions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sightings {
    /// Executions that were looked at.
    pub samples: u64,
    /// Different members seen.
    pub seen: u64,
    /// Of those, seen in exactly one execution.
    pub once: u64,
    /// Of those, seen in exactly two executions.
    pub twice: u64,
}

impl Sightings {
    /// Counts members by the number of executions that each was seen in.
    pub fn count(samples: u64, times: impl IntoIterator<Item = u64>) -> Sightings {
        let mut sightings = Sightings {
            samples,
            ..Sightings::default()
        };
        for times in times {
            sightings.seen += u64::from(times > 0);
            sightings.once += u64::from(times == 1);
            sightings.twice += u64::from(times == 2);
        }
        sightings
    }

    /// About how probable it is, at most, that the next execution shows a member not seen yet: the
    /// Good-Turing estimate (Good, Biometrika 1953; for executions of a program: Böhme, STADS, ACM
    /// TOSEM 2018, §4). Where one execution shows several members, this is the expected number of
    /// new ones, and so an upper bound of the probability. `None` before the first execution.
    pub fn unseen_mass(&self) -> Option<f64> {
        (self.samples > 0).then(|| (self.once as f64 / self.samples as f64).min(1.0))
    }

    /// About how many members there are, at least: the Chao1 estimate in its bias-corrected form
    /// (Chao, Scandinavian Journal of Statistics 1984; for several members in a sample, Biometrics
    /// 1987). It supposes that executions are drawn independently from one distribution.
    pub fn richness(&self) -> f64 {
        if self.samples == 0 {
            return self.seen as f64;
        }
        let n = self.samples as f64;
        let (once, twice) = (self.once as f64, self.twice as f64);
        self.seen as f64 + (n - 1.0) / n * once * (once - 1.0).max(0.0) / (2.0 * (twice + 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_cases_by_hand() {
        // samples, times of each member; unseen mass, richness
        type Row<'a> = (u64, &'a [u64], Option<f64>, f64);
        let table: &[Row] = &[
            (0, &[], None, 0.0),
            (1, &[1], Some(1.0), 1.0),
            (1, &[1, 1, 1], Some(1.0), 3.0),
            (10, &[10, 10], Some(0.0), 2.0),
            (10, &[10, 1], Some(0.1), 2.0),
            // 4 + 9/10 * 2*1 / (2*2)
            (10, &[5, 2, 1, 1], Some(0.2), 4.45),
            (4, &[0, 4], Some(0.0), 1.0),
        ];
        for (samples, times, mass, richness) in table {
            let s = Sightings::count(*samples, times.iter().copied());
            assert_eq!(s.unseen_mass(), *mass, "{samples} {times:?}");
            assert!(
                (s.richness() - richness).abs() < 1e-9,
                "{samples} {times:?}"
            );
        }
    }

    /// Draws from a known distribution: the real unseen mass and the real number of members are
    /// near the estimates.
    #[test]
    fn draws_from_a_known_distribution() {
        const MEMBERS: u64 = 400;
        let mut state = 7u64;
        let mut random = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1u64 << 31) as f64
        };
        // Member k is drawn with probability proportional to MEMBERS - k.
        let total = MEMBERS * (MEMBERS + 1) / 2;
        let weight = |k: u64| (MEMBERS - k) as f64 / total as f64;
        let mut times = vec![0u64; MEMBERS as usize];
        for n in 1..=1000u64 {
            let mut x = random();
            let member = (0..MEMBERS).find(|&k| {
                x -= weight(k);
                x < 0.0
            });
            times[member.unwrap_or(MEMBERS - 1) as usize] += 1;
            if n < 100 {
                continue;
            }
            let s = Sightings::count(n, times.iter().copied());
            let unseen: f64 = (0..MEMBERS)
                .filter(|&k| times[k as usize] == 0)
                .map(weight)
                .sum();
            let mass = s.unseen_mass().unwrap();
            assert!((mass - unseen).abs() < 0.12, "{n}: {mass} {unseen}");
            assert!(s.richness() < 1.3 * MEMBERS as f64, "{n}: {}", s.richness());
            if n >= 600 {
                assert!(s.richness() > 0.7 * MEMBERS as f64, "{n}: {}", s.richness());
            }
        }
    }
}
