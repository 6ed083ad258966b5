//! qsort and bsearch: the program's own function compares, and what it says is decided upon.

use super::machine::{Machine, Val};
use raddle_protocol::expr::Op;

/// The elements of an array.
#[derive(Clone, Copy)]
pub struct Elements {
    pub first: u64,
    pub count: u64,
    /// Bytes of one.
    pub size: u64,
    /// The function that compares two.
    pub order: u64,
}

impl Elements {
    fn at(self, index: u64) -> u64 {
        self.first + index * self.size
    }

    fn part(self, from: u64, count: u64) -> Elements {
        Elements {
            first: self.at(from),
            count,
            ..self
        }
    }
}

fn not_greater(m: &mut impl Machine, order: u64, a: u64, b: u64) -> bool {
    let result = m.compare(order, a, b);
    let sorted = m.binary(Op::Sle, result, Val::of(32, 0));
    m.holds(sorted)
}

/// qsort. By merging, which asks in the order in which the GNU C library asks, and keeps equal
/// elements in their order.
pub fn sort(m: &mut impl Machine, all: Elements) {
    if all.count < 2 || all.size == 0 {
        return;
    }
    let room = all.count * all.size;
    let aside = m.borrow(room);
    merge_sort(m, all, aside);
    m.give_back(aside, room);
}

fn merge_sort(m: &mut impl Machine, all: Elements, aside: u64) {
    if all.count < 2 {
        return;
    }
    let half = all.count / 2;
    let (low, high) = (all.part(0, half), all.part(half, all.count - half));
    merge_sort(m, low, aside);
    merge_sort(m, high, aside);
    let (mut a, mut b, mut done) = (0, 0, 0);
    while a < low.count && b < high.count {
        let from = if not_greater(m, all.order, low.at(a), high.at(b)) {
            a += 1;
            low.at(a - 1)
        } else {
            b += 1;
            high.at(b - 1)
        };
        m.copy(aside + done * all.size, from, all.size);
        done += 1;
    }
    // What is left of the upper half lies where it belongs.
    m.copy(
        aside + done * all.size,
        low.at(a),
        (low.count - a) * all.size,
    );
    done += low.count - a;
    m.copy(all.first, aside, done * all.size);
}

/// bsearch: the address of an element that equals the one at `key`, or 0.
pub fn search(m: &mut impl Machine, key: u64, all: Elements) -> u64 {
    let (mut from, mut to) = (0, all.count);
    while from < to {
        let middle = from + (to - from) / 2;
        let result = m.compare(all.order, key, all.at(middle));
        let zero = Val::of(32, 0);
        let before = m.binary(Op::Slt, result, zero);
        if m.holds(before) {
            to = middle;
        } else if m.is(result, 0) {
            return all.at(middle);
        } else {
            from = middle + 1;
        }
    }
    0
}
