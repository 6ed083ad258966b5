//! Makes the inputs of a failing execution small.

/// Most candidates that are tried for the inputs of one finding.
pub const MOST_CANDIDATES: usize = 300;

/// Smaller values to try in the place of this one, the most promising first: none, fewer bits, half
/// as much, a little less.
pub fn smaller(value: u64) -> Vec<u64> {
    let bits = (0..64).rev().filter(|bit| value >> bit & 1 != 0);
    let cleared = bits.map(|bit| value & !(1 << bit));
    let less = (0..64).rev().filter_map(|bit| value.checked_sub(1 << bit));
    let mut all: Vec<u64> = Vec::new();
    for candidate in std::iter::once(0)
        .chain(cleared)
        .chain([value >> 1])
        .chain(less)
    {
        if candidate < value && !all.contains(&candidate) {
            all.push(candidate);
        }
    }
    all
}

/// The smallest value that `fails`, as far as [`smaller`] leads, with at most `tries` tries.
pub fn minimise<E>(
    mut value: u64,
    tries: &mut usize,
    mut fails: impl FnMut(u64) -> Result<bool, E>,
) -> Result<u64, E> {
    'again: loop {
        for candidate in smaller(value) {
            if *tries == 0 {
                return Ok(value);
            }
            *tries -= 1;
            if fails(candidate)? {
                value = candidate;
                continue 'again;
            }
        }
        return Ok(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_minima() {
        type Row = (u64, fn(u64) -> bool, u64);
        let table: [Row; 6] = [
            (134_283_522, |v| v & 2 != 0, 2),
            (1_073_758_308, |v| v >= 100, 100),
            (0x4000_0000, |v| v > 99, 100),
            (u64::MAX, |_| true, 0),
            (77, |v| v == 77, 77),
            (u64::MAX, |v| v > 1 << 40, (1 << 40) + 1),
        ];
        for (value, fails, expected) in table {
            let mut tries = 2 * MOST_CANDIDATES;
            let found = minimise(value, &mut tries, |v| Ok::<bool, ()>(fails(v)));
            assert_eq!(found, Ok(expected), "{value}");
        }
        let mut none = 0;
        assert_eq!(minimise(9, &mut none, |_| Ok::<bool, ()>(true)), Ok(9));
    }
}
