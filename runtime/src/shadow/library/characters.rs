//! `<ctype.h>`: functions and tables of a character, for -128 to 255. They are expressions that
//! compare with the places where the result changes, so the locale is the program's own.

use super::machine::{Machine, Val};
use raddle_protocol::expr::{Op, Why};

const FIRST: i64 = -128;
const COUNT: usize = 384;

/// What is known of each character from -128 on.
type Results = [u64; COUNT];

fn results(of: impl Fn(i64) -> u64) -> Results {
    core::array::from_fn(|i| of(FIRST + i as i64))
}

/// The result for `c`, which lies between -128 and 255: a choice among the runs of characters
/// that have the same result, or the same distance from their result.
fn by_runs(m: &mut impl Machine, c: Val, results: &Results) -> Val {
    let distances: Results =
        core::array::from_fn(|i| results[i].wrapping_sub((FIRST + i as i64) as u64) & 0xffff_ffff);
    let changes = |of: &Results| of.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let shifted = changes(&distances) < changes(results);
    let marks = if shifted { &distances } else { results };
    let mut chosen = Val::of(32, 0);
    for i in (0..COUNT).rev() {
        let last = i + 1 == COUNT;
        if !last && marks[i] == marks[i + 1] {
            continue;
        }
        let here = if shifted {
            m.with(Op::Add, c, marks[i])
        } else {
            Val::of(32, marks[i])
        };
        if last {
            chosen = here;
            continue;
        }
        let before = m.with(Op::Slt, c, (FIRST + i as i64 + 1) as u64);
        chosen = m.choose(before, here, chosen);
    }
    chosen
}

/// A function of `<ctype.h>`; `real` is the C library's.
pub fn function(m: &mut impl Machine, c: Val, real: impl Fn(i32) -> i32) -> Val {
    if c.expr != 0 {
        let from = m.with(Op::Sub, c, FIRST as u64);
        let inside = m.with(Op::Ult, from, COUNT as u64);
        if m.holds(inside) {
            return by_runs(m, c, &results(|at| u64::from(real(at as i32) as u32)));
        }
    }
    let c = m.concrete(c, Why::Call) as u32 as i32;
    Val::of(32, u64::from(real(c) as u32))
}

/// Does tolower know of no letters but the 26 in the locale of the thread?
pub fn folds_ascii_only() -> bool {
    // SAFETY: it is defined for all these.
    let lower = |c: i32| unsafe { libc::tolower(c) };
    let small = |c: i32| match u8::try_from(c) {
        Ok(byte) => byte.to_ascii_lowercase().into(),
        Err(_) => c,
    };
    (0..256).all(|c| lower(c) == small(c))
}

/// A table for the characters from -128, as the C library's macros read it.
#[derive(Clone, Copy)]
pub struct Table {
    /// Where the entry for -128 lies.
    start: u64,
    /// Bytes of an entry: 2 or 4.
    size: u64,
}

/// The table that an access of `size` bytes at `address` reads.
pub fn table_at(address: u64, size: u32) -> Option<Table> {
    // SAFETY: these give the address of the running thread's own pointers to tables of the locale,
    // which are live as long as it is in use.
    let entries = unsafe {
        [
            (*__ctype_b_loc() as u64, 2),
            (*__ctype_tolower_loc() as u64, 4),
            (*__ctype_toupper_loc() as u64, 4),
        ]
    };
    entries
        .into_iter()
        .map(|(zero, size)| Table {
            start: zero.wrapping_add_signed(FIRST * size as i64),
            size,
        })
        .find(|table| {
            let from = address.wrapping_sub(table.start);
            table.size == u64::from(size)
                && from < table.size * COUNT as u64
                && from.is_multiple_of(table.size)
        })
}

unsafe extern "C" {
    fn __ctype_b_loc() -> *const *const u16;
    fn __ctype_tolower_loc() -> *const *const i32;
    fn __ctype_toupper_loc() -> *const *const i32;
}

/// The entry at the symbolic `address`, which lies in the table for the concrete input.
pub fn entry(m: &mut impl Machine, address: Val, table: Table) -> Val {
    let offset = m.with(Op::Sub, address, table.start);
    let inside = m.with(Op::Ult, offset, table.size * COUNT as u64);
    let odd = m.with(Op::And, offset, table.size - 1);
    let whole = m.with(Op::Eq, odd, 0);
    // It does for this input.
    m.holds(inside);
    m.holds(whole);
    let shift = table.size.trailing_zeros();
    let index = m.with(Op::LShr, offset, shift.into());
    let index = m.low(index, 32);
    let c = m.with(Op::Add, index, FIRST as u64);
    let held = |at: i64| {
        let entry = table.start + (at - FIRST) as u64 * table.size;
        // SAFETY: within the table.
        unsafe {
            match table.size {
                2 => u64::from(*(entry as *const u16)),
                _ => u64::from(*(entry as *const u32)),
            }
        }
    };
    let value = by_runs(m, c, &results(held));
    m.low(value, 8 * table.size as u8)
}
