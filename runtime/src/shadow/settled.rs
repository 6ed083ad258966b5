//! Loops that run as compiled, because nothing is to be followed in them: all that they access is
//! concrete, and no other thread is known to use it.

use super::cells::{Cells, SPAN, Visit};
use super::{is_mapped, world};
use crate::foreign::sanitizers;
use crate::gate;
use crate::heap;
use raddle_protocol::Slot;
use raddle_protocol::hooks::{
    STRETCH_ALWAYS, STRETCH_CONSTANT, STRETCH_LEVELS, STRETCH_LOCAL, STRETCH_WRITES, STRETCHES,
    Stretch,
};

/// Farther apart no two bytes of a stretch may lie.
const MOST: u64 = 1 << 40;
/// To look at so many cells is not too much for any loops; for others it is, if they have half as many
/// accesses.
const FEW: u64 = 16;

/// The bytes of a stretch: blocks of `len` at `start + Σ step × i`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Shape {
    start: u64,
    len: u64,
    /// Step, which is positive, and count.
    levels: [[u64; 2]; STRETCH_LEVELS],
    depth: usize,
    /// From the first byte to the last.
    extent: u64,
}

impl Shape {
    /// Of a stretch that is not empty; `None`: it goes round the address space, or nearly.
    fn of(stretch: &Stretch) -> Option<Shape> {
        let mut shape = Shape {
            start: stretch.start,
            len: stretch.size,
            ..Shape::default()
        };
        for &[step, count] in &stretch.levels {
            let (step, last) = (step as i64, i64::try_from(count.checked_sub(1)?).ok()?);
            let way = step.checked_mul(last)?;
            if way == 0 {
                continue;
            }
            if way < 0 {
                shape.start = shape.start.checked_sub(way.unsigned_abs())?;
            }
            shape.levels[shape.depth] = [step.unsigned_abs(), count];
            shape.depth += 1;
        }
        let levels = &mut shape.levels[..shape.depth];
        levels.sort_unstable();
        let mut joined = 0;
        while let Some([step, count]) = levels.get(joined)
            && *step <= shape.len
        {
            shape.len = shape.len.checked_add(step.checked_mul(count - 1)?)?;
            joined += 1;
        }
        levels.rotate_left(joined);
        shape.depth -= joined;
        shape.extent = shape.len;
        for [step, count] in &shape.levels[..shape.depth] {
            shape.extent = shape.extent.checked_add(step.checked_mul(count - 1)?)?;
        }
        let end = shape.start.checked_add(shape.extent)?;
        (shape.extent <= MOST && end < 1 << 63).then_some(shape)
    }

    /// The cells that [`Shape::each`] leads to, about.
    fn cells(&self) -> u64 {
        let levels = &self.levels[..self.depth];
        let cells = self.len.div_ceil(SPAN);
        levels
            .iter()
            .fold(cells, |n, &[_, count]| n.saturating_mul(count))
    }

    /// Are all blocks as `is` says? Looks at no more after one that is not.
    fn each(&self, mut is: impl FnMut(u64, u64) -> bool) -> bool {
        let [a, b, c] = [0, 1, 2].map(|n| match n < self.depth {
            true => self.levels[n],
            false => [0, 1],
        });
        (0..c[1]).all(|k| {
            (0..b[1]).all(|j| {
                let row = self.start + c[0] * k + b[0] * j;
                (0..a[1]).all(|i| is(row + a[0] * i, self.len))
            })
        })
    }

    /// Does it stay in the variable or block that it has to stay in?
    fn is_inside(&self, stretch: &Stretch) -> bool {
        if stretch.room == 0 {
            return heap::check_access(self.start, self.extent).is_ok();
        }
        let from = self.start.wrapping_sub(stretch.base);
        from <= stretch.room && self.extent <= stretch.room - from
    }

    /// Is there nothing to be done for these accesses but themselves? What always happens and tells
    /// nobody anything new is noted.
    fn is_settled(&self, cells: &mut Cells, manner: u64, slot: Slot) -> bool {
        if manner & STRETCH_CONSTANT != 0 {
            return true;
        }
        let visit = Visit {
            slot,
            write: manner & STRETCH_WRITES != 0,
            local: manner & STRETCH_LOCAL != 0,
            always: manner & STRETCH_ALWAYS != 0,
            // What leads nowhere is left to the hooks, before there are cells for all of it.
            is_there: |page| is_mapped(page as usize),
        };
        self.each(|at, len| cells.settle(at, len, visit))
    }
}

/// May loops whose accesses are these run as compiled? Wrong answers are never "yes".
pub fn may_run(stretches: &[Stretch]) -> bool {
    if gate::round_exposes() || sanitizers::watch() {
        return false;
    }
    let mut shapes = [(Shape::default(), 0); STRETCHES];
    let mut taken = 0;
    let (mut accesses, mut cells) = (0u64, 0u64);
    for stretch in stretches {
        let levels = stretch.levels.iter();
        let times = levels.fold(1, |n: u64, level| n.saturating_mul(level[1]));
        if times == 0 {
            continue;
        }
        let shape = Shape::of(stretch).filter(|shape| shape.is_inside(stretch));
        let (Some(shape), Some(place)) = (shape, shapes.get_mut(taken)) else {
            return false;
        };
        *place = (shape, stretch.manner);
        taken += 1;
        accesses = accesses.saturating_add(times);
        cells = cells.saturating_add(shape.cells());
    }
    if cells > accesses.saturating_mul(2).max(FEW) {
        return false;
    }
    let me = gate::me();
    let mut shapes = shapes[..taken].iter();
    let settled = shapes.all(|(shape, manner)| shape.is_settled(&mut world().cells, *manner, me));
    if !settled || world().suspicion.would_fall(accesses) {
        return false;
    }
    // No loop that only waits has such loops in it.
    gate::round_changed();
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use std::collections::BTreeSet;

    fn stretch(start: u64, size: u64, levels: [[u64; 2]; STRETCH_LEVELS]) -> Stretch {
        Stretch {
            start,
            size,
            base: 0,
            room: 0,
            manner: 0,
            levels,
        }
    }

    #[test]
    fn shapes_are_the_bytes_of_their_stretches() {
        let mut rng = Rng::new(7);
        for _ in 0..20_000 {
            let mut below = |bound: u64| rng.next() % bound;
            let start = 0x10_0000 + below(16);
            let levels = [(); 3].map(|()| [below(80).wrapping_sub(40), 1 + below(6)]);
            let stretch = stretch(start, 1 + below(9), levels);
            let mut bytes = BTreeSet::new();
            for (i, j, k) in (0..6 * 6 * 6).map(|n| (n % 6, n / 6 % 6, n / 36)) {
                let [a, b, c] = levels;
                if i < a[1] && j < b[1] && k < c[1] {
                    let way = [a[0] * i, b[0] * j, c[0] * k];
                    let at = way.into_iter().fold(start, u64::wrapping_add);
                    bytes.extend(at..at + stretch.size);
                }
            }
            let shape = Shape::of(&stretch).unwrap();
            let mut found = BTreeSet::new();
            assert!(shape.each(|at, len| {
                found.extend(at..at + len);
                true
            }));
            assert_eq!(found, bytes, "{stretch:?} is not {shape:?}");
            let (first, last) = (*bytes.first().unwrap(), *bytes.last().unwrap());
            assert_eq!((shape.start, shape.extent), (first, last - first + 1));
        }
    }

    #[test]
    fn stretches_round_the_address_space_have_no_shape() {
        let down = |by: u64| by.wrapping_neg();
        let table: &[(u64, u64, [[u64; 2]; 3], bool)] = &[
            (0x1000, 4, [[4, 8], [0, 1], [0, u64::MAX >> 1]], true),
            (0x1000, 4, [[down(4), 0x401], [0, 1], [0, 1]], true),
            (0x1000, 4, [[down(4), 0x402], [0, 1], [0, 1]], false),
            (0x1000, 4, [[4, 1 << 63], [0, 1], [0, 1]], false),
            (0x1000, 4, [[1 << 62, 3], [0, 1], [0, 1]], false),
            (0x1000, 4, [[4, 8], [1 << 41, 2], [0, 1]], false),
            (0x1000, u64::MAX, [[4, 8], [0, 1], [0, 1]], false),
            ((1 << 63) - 3, 4, [[4, 1], [0, 1], [0, 1]], false),
            (0x1000, 4, [[4, 8], [0, 1], [0, 0]], false),
        ];
        for &(start, size, levels, has) in table {
            let stretch = stretch(start, size, levels);
            assert_eq!(Shape::of(&stretch).is_some(), has, "{stretch:?}");
        }
    }

    #[test]
    fn a_stretch_must_stay_in_its_variable() {
        for (start, inside) in [
            (0xfff, false),
            (0x1000, true),
            (0x1030, true),
            (0x1031, false),
        ] {
            let stretch = Stretch {
                base: 0x1000,
                room: 0x40,
                ..stretch(start, 4, [[4, 4], [0, 1], [0, 1]])
            };
            let shape = Shape::of(&stretch).unwrap();
            assert_eq!(shape.is_inside(&stretch), inside, "{start:#x}");
        }
    }
}
