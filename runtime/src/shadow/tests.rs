//! Expressions against their meaning: whatever is built simpler must evaluate to the same value,
//! and bytes in the shadow must evaluate to what a plain memory would hold.

use super::access::{fit, updated};
use super::cells::{Cells, Visit};
use super::nodes::{Expr, Nodes, mask};
use super::simplify::Operand;
use crate::access::Update;
use crate::rng::Rng;
use core::sync::atomic::AtomicU64;
use raddle_protocol::expr::{MAX_WIDTH, Node, Op, signed};
use raddle_protocol::{Slot, slot};

pub fn nodes(capacity: usize) -> Nodes {
    let room = vec![Node::default(); capacity].leak();
    let published = Box::leak(Box::new(AtomicU64::new(0)));
    // SAFETY: leaked, so it stays where it is, and nobody else writes it.
    unsafe { Nodes::new(room.as_mut_ptr(), capacity, published) }
}

fn input(nodes: &mut Nodes, width: u8, index: u32) -> Expr {
    nodes.add(Node {
        op: Op::Input as u8,
        width,
        a: index,
        c: u32::from(width / 8),
        ..Node::default()
    })
}

fn low_bits(width: u8) -> u128 {
    u128::MAX >> (128 - u32::from(width))
}

/// The value of an expression when input `i` is `inputs[i]`; checks the widths on the way.
pub fn evaluate(nodes: &Nodes, expr: Expr, inputs: &[u64]) -> u64 {
    meaning(nodes, expr, inputs) as u64
}

fn meaning(nodes: &Nodes, expr: Expr, inputs: &[u64]) -> u128 {
    let node = nodes.get(expr);
    let value = |e: Expr| {
        assert!(e < expr, "operands come first");
        meaning(nodes, e, inputs)
    };
    let width = |e: Expr| nodes.get(e).width;
    match node.op().unwrap() {
        Op::Const => node.constant_value().into(),
        Op::Input => u128::from(inputs[node.a as usize]) & low_bits(node.width),
        Op::Read => panic!("no reads here"),
        Op::Ite => {
            assert_eq!((width(node.a), width(node.b)), (1, node.width));
            assert_eq!(width(node.c), node.width);
            if value(node.a) != 0 {
                value(node.b)
            } else {
                value(node.c)
            }
        }
        Op::ZExt => {
            assert!(width(node.a) < node.width);
            value(node.a)
        }
        Op::SExt => {
            assert!(width(node.a) < node.width);
            signed(value(node.a), width(node.a)) as u128 & low_bits(node.width)
        }
        Op::Extract => {
            assert!(node.extra as u8 + node.width <= width(node.a));
            value(node.a) >> node.extra & low_bits(node.width)
        }
        Op::Concat => {
            assert_eq!(width(node.a) + width(node.b), node.width);
            value(node.a) << width(node.b) | value(node.b)
        }
        op => {
            let operands = width(node.a);
            assert_eq!(operands, width(node.b));
            let compare = matches!(op, Op::Eq | Op::Ne | Op::Ult | Op::Ule | Op::Slt | Op::Sle);
            assert_eq!(node.width, if compare { 1 } else { operands });
            let (a, b) = (value(node.a), value(node.b));
            op.compute(operands, a, b).expect("it is binary")
        }
    }
}

/// A value under two assignments of the inputs; the first is the concrete one.
#[derive(Clone, Copy, Debug)]
struct Value {
    expr: Expr,
    width: u8,
    means: [u128; 2],
}

impl Value {
    /// As instrumented code gives it: wide ones by their expressions only.
    fn operand(self, nodes: &mut Nodes) -> Operand {
        let (low, high) = (self.means[0] as u64, (self.means[0] >> 64) as u64);
        Operand {
            expr: match self.expr {
                0 if self.width > 64 => nodes.wide_constant(self.width, low, high),
                expr => expr,
            },
            value: low,
        }
    }

    fn check(self, nodes: &Nodes, inputs: &[Vec<u64>; 2]) {
        if self.expr == 0 {
            assert_eq!(
                self.means[0], self.means[1],
                "concrete, but not the same for all inputs"
            );
            return;
        }
        assert_eq!(nodes.get(self.expr).width, self.width);
        for (inputs, means) in inputs.iter().zip(self.means) {
            assert_eq!(meaning(nodes, self.expr, inputs), means, "{self:?}");
        }
    }
}

/// Few different numbers, so that the identities apply often.
fn number(random: &mut Rng, width: u8) -> u64 {
    let numbers = [
        0,
        1,
        2,
        u64::MAX,
        0x80,
        0xff,
        0x7fff_ffff,
        0x1234_5678_9abc_def0,
    ];
    numbers[random.below(numbers.len())] & mask(width)
}

#[test]
fn what_is_built_means_what_was_asked_for() {
    for seed in 0..60 {
        let mut random = Rng::new(seed);
        let mut nodes = nodes(20_000);
        let mut inputs = [Vec::new(), Vec::new()];
        let mut pool: Vec<Value> = Vec::new();
        for _ in 0..400 {
            let fresh = fresh(&mut random, &mut nodes, &mut inputs);
            pool.push(fresh);
            let (a, b) = (
                pool[random.below(pool.len())],
                pool[random.below(pool.len())],
            );
            let same_width: Vec<Value> = pool
                .iter()
                .copied()
                .filter(|v| v.width == a.width)
                .collect();
            let b_like_a = same_width[random.below(same_width.len())];
            let conditions: Vec<Value> = pool.iter().copied().filter(|v| v.width == 1).collect();
            let made = match random.below(5) {
                0 | 1 => binary(&mut random, &mut nodes, a, b_like_a),
                2 => cast(&mut random, &mut nodes, a),
                3 if a.width <= MAX_WIDTH - b.width && a.expr != 0 && b.expr != 0 => Value {
                    expr: nodes.concat(a.expr, b.expr),
                    width: a.width + b.width,
                    means: [0, 1].map(|i| a.means[i] << b.width | b.means[i]),
                },
                4 if !conditions.is_empty() => {
                    let c = conditions[random.below(conditions.len())];
                    let [c_, a_, b_] = [c, a, b_like_a].map(|v| v.operand(&mut nodes));
                    let expr = nodes.ite(a.width, c_, a_, b_);
                    let chosen = |i: usize| [b_like_a, a][c.means[i] as usize].means[i];
                    Value {
                        expr,
                        width: a.width,
                        means: [chosen(0), chosen(1)],
                    }
                }
                _ => continue,
            };
            made.check(&nodes, &inputs);
            // As `built` does.
            let constant = nodes.constant_of(made.expr).is_some();
            pool.push(Value {
                expr: if constant { 0 } else { made.expr },
                ..made
            });
        }
    }
}

fn fresh(random: &mut Rng, nodes: &mut Nodes, inputs: &mut [Vec<u64>; 2]) -> Value {
    let width = [8, 16, 32, 64][random.below(4)];
    let means = [number(random, width), number(random, width)].map(u128::from);
    if random.below(3) == 0 {
        return Value {
            expr: 0,
            width,
            means: [means[0]; 2],
        };
    }
    let index = inputs[0].len() as u32;
    inputs[0].push(means[0] as u64);
    inputs[1].push(means[1] as u64);
    Value {
        expr: input(nodes, width, index),
        width,
        means,
    }
}

fn binary(random: &mut Rng, nodes: &mut Nodes, a: Value, b: Value) -> Value {
    let op = Op::BINARY[random.below(Op::BINARY.len())];
    let compare = matches!(op, Op::Eq | Op::Ne | Op::Ult | Op::Ule | Op::Slt | Op::Sle);
    let (a_, b_) = (a.operand(nodes), b.operand(nodes));
    Value {
        expr: nodes.binary(op, a.width, a_, b_),
        width: if compare { 1 } else { a.width },
        means: [0, 1].map(|i| op.compute(a.width, a.means[i], b.means[i]).unwrap()),
    }
}

fn cast(random: &mut Rng, nodes: &mut Nodes, a: Value) -> Value {
    let to = [1, 8, 16, 32, 64, 65, 100, 128][random.below(8)];
    if a.expr == 0 {
        return Value {
            width: to,
            means: a.means.map(|m| m & low_bits(to)),
            ..a
        };
    }
    if to < a.width {
        let from = random.below(usize::from(a.width - to) + 1) as u8;
        return Value {
            expr: nodes.extract(a.expr, from, to),
            width: to,
            means: a.means.map(|m| m >> from & low_bits(to)),
        };
    }
    let op = [Op::ZExt, Op::SExt][random.below(2)];
    let extended = |m: u128| match op {
        Op::SExt => signed(m, a.width) as u128 & low_bits(to),
        _ => m,
    };
    Value {
        expr: nodes.extend(op, a.expr, to),
        width: to,
        means: a.means.map(extended),
    }
}

#[test]
fn simple_things_are_simple() {
    let mut n = nodes(1000);
    let x = input(&mut n, 32, 0);
    let of = |expr, value| Operand { expr, value };
    let (x_, zero) = (of(x, 7), of(0, 0));
    assert_eq!(n.binary(Op::Add, 32, x_, zero), x);
    assert_eq!(n.binary(Op::Sub, 32, x_, x_), 0);
    let less = n.binary(Op::Slt, 32, x_, of(0, 9));
    let wide = n.extend(Op::ZExt, less, 32);
    assert_eq!(
        n.truth(wide),
        Some(less),
        "a condition made an int and tested again"
    );
    let greater = n.binary(Op::Eq, 32, of(wide, 1), zero);
    assert_eq!(n.get(greater).op(), Some(Op::Sle));
    let same = n.binary(Op::Slt, 32, x_, of(0, 9));
    assert_eq!(same, less, "equal nodes are one node");
    let low = n.extract(x, 0, 8);
    let rest = n.extract(x, 8, 24);
    assert_eq!(n.concat(rest, low), x, "taken apart and put together again");
    let choice = n.ite(32, of(less, 1), of(0, 5), of(0, 6));
    assert_eq!(n.binary(Op::Eq, 32, of(choice, 5), of(0, 5)), less);
    assert_eq!(n.truth(choice), None);
    let (high, low) = (input(&mut n, 64, 1), input(&mut n, 64, 2));
    let [above, below] = [high, low].map(|half| n.extend(Op::ZExt, half, 128));
    let above = n.binary(Op::Shl, 128, of(above, 0), of(0, 64));
    let both = n.binary(Op::Or, 128, of(below, 0), of(above, 0));
    assert_eq!(n.get(both).op(), Some(Op::Concat));
    let down = n.binary(Op::LShr, 128, of(both, 0), of(0, 64));
    assert_eq!(n.extract(down, 0, 64), high, "the half of two halves");
}

#[test]
fn a_full_arena_gives_concrete_values_and_says_so() {
    let mut n = nodes(4);
    let all: Vec<Expr> = (0..6).map(|i| input(&mut n, 8, i)).collect();
    assert_eq!(all, [1, 2, 3, 0, 0, 0]);
    assert!(n.take_full() && !n.take_full());
}

/// Random loads, stores and copies of mixed sizes against plain memories, one per assignment.
#[test]
fn bytes_keep_their_expressions() {
    const BYTES: usize = 96;
    for seed in 0..40 {
        let mut random = Rng::new(1000 + seed);
        let mut n = nodes(60_000);
        let mut cells = Cells::new(&[]);
        let mut inputs = [Vec::new(), Vec::new()];
        let mut memory = [[0u8; BYTES]; 2];
        let base = 0x7fff_0000_0fc0; // so that a page ends in the middle
        for _ in 0..600 {
            let len = [1, 2, 4, 8, 3, 5][random.below(6)];
            let at = random.below(BYTES - len);
            match random.below(4) {
                0 | 1 => {
                    let width = 8 * len as u8;
                    let means = [number(&mut random, width), number(&mut random, width)];
                    let symbolic = random.below(4) > 0;
                    let means = if symbolic { means } else { [means[0]; 2] };
                    let expr = if symbolic {
                        inputs[0].push(means[0]);
                        inputs[1].push(means[1]);
                        input(&mut n, width, inputs[0].len() as u32 - 1)
                    } else {
                        0
                    };
                    for (memory, value) in memory.iter_mut().zip(means) {
                        memory[at..at + len].copy_from_slice(&value.to_le_bytes()[..len]);
                    }
                    cells.store(base + at as u64, len as u64, expr, Some(means[0]));
                }
                2 => {
                    let len = random.below(20);
                    let (from, to) = (random.below(BYTES - len), random.below(BYTES - len));
                    for memory in &mut memory {
                        memory.copy_within(from..from + len, to);
                    }
                    cells.copy(base + from as u64, base + to as u64, len as u64);
                }
                _ => {
                    let means = [0, 1].map(|i| {
                        let mut bytes = [0; 8];
                        bytes[..len].copy_from_slice(&memory[i][at..at + len]);
                        u64::from_le_bytes(bytes)
                    });
                    let (expr, stale) = cells.load(&mut n, base + at as u64, len as u64, means[0]);
                    assert!(!stale);
                    let width = 8 * len as u8;
                    let means = means.map(u128::from);
                    Value { expr, width, means }.check(&n, &inputs);
                }
            }
        }
    }
}

#[test]
fn a_change_behind_the_shadow_is_seen() {
    let mut n = nodes(100);
    let mut cells = Cells::new(&[]);
    let x = input(&mut n, 32, 0);
    cells.store(0x1000, 4, x, Some(5));
    assert_eq!(cells.load(&mut n, 0x1000, 4, 5), (x, false));
    let (expr, stale) = cells.load(&mut n, 0x1000, 4, 0x105);
    assert!(stale);
    assert_eq!(
        evaluate(&n, expr, &[0xaabbccdd]),
        0xaabb01dd,
        "only the changed byte"
    );
    assert_eq!(cells.load(&mut n, 0x1000, 4, 0x105), (expr, false));
    cells.forget(0x1000, 4);
    assert_eq!(cells.load(&mut n, 0x1000, 4, 0x105), (0, false));
}

/// Slot, address, length, write?, runs that are reported.
type Touch = (u16, u64, u64, bool, &'static [(u64, u64)]);

#[test]
fn the_second_thread_is_noticed_once() {
    let touches: &[Touch] = &[
        (0, 0x100, 8, true, &[]),
        (0, 0x100, 8, false, &[]),
        (1, 0x104, 8, false, &[(0, 4)]),
        (1, 0x104, 4, true, &[]),
        (2, 0x200, 4, false, &[]),
        (3, 0x200, 4, false, &[]),
        (4, 0x201, 2, true, &[(0, 2)]),
        (8191, 0xffe, 4, true, &[]),
        (0, 0xffe, 4, false, &[(0, 4)]),
        (0, 0x108, 1, true, &[(0, 1)]),
    ];
    let mut cells = Cells::new(&[]);
    for &(slot, at, len, write, expected) in touches {
        let mut found = Vec::new();
        cells.touch(at, len, slot, write, |offset, len| {
            found.push((offset, len))
        });
        assert_eq!(found, expected, "{slot} at {at:#x}");
    }
    // SAFETY: nothing is known of what these bytes hold, so they are not read.
    unsafe { cells.renew(0x100, 16) };
    cells.touch(0x100, 16, 5, true, |_, _| panic!("a new object"));
}

/// What `Cells` knows of who touched what.
fn touched(cells: &mut Cells) -> Vec<(u64, u64, Slot, bool)> {
    let mut found = Vec::new();
    cells.private(|first, len, slot, written| found.push((first, len, slot, written)));
    found
}

#[test]
fn what_is_settled_would_have_been_touched_in_silence() {
    static RANGES: [[u64; 2]; 1] = [[0x1010, 0x1012]];
    let mut rng = Rng::new(5);
    let (mut yes, mut no) = (0, 0);
    for _ in 0..400 {
        let mut asked = Cells::new(&RANGES);
        let mut plain = Cells::new(&RANGES);
        for _ in 0..30 {
            let (at, len) = (0xfa0 + rng.next() % 160, 1 + rng.next() % 24);
            let mut flag = || rng.next().is_multiple_of(2);
            let (local, always, write) = (flag(), flag(), flag());
            let slot = (rng.next() % 3) as Slot;
            let visit = Visit {
                slot,
                write,
                local,
                always,
                is_there: |_| true,
            };
            if rng.next().is_multiple_of(8) {
                for cells in [&mut asked, &mut plain] {
                    cells.store(at, 1, 9 * u32::from(write), None);
                }
            }
            let clean = !plain.any_shared(at, len) && !plain.any_symbolic(at, len);
            let before = touched(&mut asked);
            let settled = asked.settle(at, len, visit);
            if local {
                assert_eq!(settled, clean);
                assert_eq!(touched(&mut asked), before);
                continue;
            }
            let mut news = 0;
            plain.touch(at, len, slot, write, |_, len| news += len);
            let after = touched(&mut plain);
            let silent = clean && news == 0 && (always || after == before);
            // A byte that was reported before is none of one thread's, and not yet shared.
            assert!(silent || !settled, "{at:#x} {len}");
            match settled {
                true => assert_eq!(touched(&mut asked), after),
                false => asked.touch(at, len, slot, write, |_, _| ()),
            }
            assert_eq!(touched(&mut asked), after);
            (yes, no) = (yes + u32::from(settled), no + u32::from(silent && !settled));
        }
    }
    assert!(yes > 1_000, "only {yes} of them were settled");
    assert!(no < yes, "{no} of them could have been, besides {yes}");
}

#[test]
fn what_is_kept_private_is_known_at_the_end() {
    static RANGES: [[u64; 2]; 1] = [[0x1010, 0x1014]];
    let mut cells = Cells::new(&RANGES);
    let touches = [
        (0, 0x0ff8, 16, true),
        (1, 0x1008, 4, false),
        (1, 0x1010, 8, true),
        (2, 0x1008, 2, false),
        (2, 0x0ff8, 4, false),
        (8191, 0x5000, 1, true),
    ];
    for (slot, at, len, write) in touches {
        cells.touch(at, len, slot, write, |_, _| ());
    }
    let mut found = Vec::new();
    cells.private(|first, len, slot, written| found.push((first, len, slot, written)));
    found.sort_unstable();
    let expected = [
        (0x0ffc, 4, 0, true),
        (0x1000, 8, 0, true),
        (0x1008, 2, slot::NONE, false),
        (0x100a, 2, 1, false),
        (0x1014, 4, 1, true),
        (0x5000, 1, 8191, true),
    ];
    assert_eq!(found, expected);
}

#[test]
fn ranges_mark_their_bytes() {
    static RANGES: [[u64; 2]; 3] = [[0x0ffe, 0x1002], [0x1010, 0x1018], [0x5000, 0x7000]];
    let mut cells = Cells::new(&RANGES);
    for (at, len, shared) in [
        (0xff0, 8, false),
        (0xff8, 8, true),
        (0x1002, 8, false),
        (0x1001, 1, true),
        (0x1018, 8, false),
        (0x6fff, 1, true),
        (0x7000, 1, false),
    ] {
        assert_eq!(cells.any_shared(at, len), shared, "{at:#x}");
    }
    assert_eq!(cells.run(0xff0, 100), (false, 14));
    assert_eq!(cells.run(0xffe, 100), (true, 4));
    assert_eq!(cells.run(0x1002, 100), (false, 14));
    assert_eq!(cells.run(0x6000, 0x2000), (true, 0x1000));
}

#[test]
fn atomic_updates_as_expressions() {
    let all = [
        Update::Exchange,
        Update::Add,
        Update::Sub,
        Update::And,
        Update::Nand,
        Update::Or,
        Update::Xor,
        Update::Max,
        Update::Min,
        Update::UMax,
        Update::UMin,
    ];
    let mut random = Rng::new(5);
    for op in all {
        for width in [8, 16, 32, 64] {
            for concrete in [false, true] {
                let mut n = nodes(100);
                let means =
                    [0, 1].map(|_| (number(&mut random, width), number(&mut random, width)));
                let inputs = means.map(|(old, new)| vec![old, new]);
                let old = Operand {
                    expr: input(&mut n, width, 0),
                    value: means[0].0,
                };
                let symbolic = Operand {
                    expr: input(&mut n, width, 1),
                    value: means[0].1,
                };
                let new = if concrete {
                    Operand {
                        expr: 0,
                        ..symbolic
                    }
                } else {
                    symbolic
                };
                let expr = updated(&mut n, op, width, old, new);
                let size = u32::from(width / 8);
                let result = |i: usize| {
                    let new = if concrete { means[0].1 } else { means[i].1 };
                    op.apply(means[i].0, new, size)
                };
                let means = [result(0), result(1)].map(u128::from);
                Value { expr, width, means }.check(&n, &inputs);
            }
        }
    }
}

#[test]
fn expressions_are_made_to_fit() {
    let mut n = nodes(100);
    let x = input(&mut n, 32, 0);
    for (width, means) in [(8, 0xef), (32, 0xdead_beef), (64, 0xdead_beef)] {
        let fitted = fit(&mut n, x, width);
        assert_eq!(n.get(fitted).width, width);
        assert_eq!(evaluate(&n, fitted, &[0xdead_beef]), means);
    }
    assert_eq!(fit(&mut n, 4711, 8), 0);
    assert_eq!(fit(&mut n, 0, 8), 0);
}

#[test]
fn what_lies_in_whole_pages_is_forgotten() {
    let mut n = nodes(100);
    let mut cells = Cells::new(&[[0x2010, 0x2018], [0x2ffc, 0x4004], [0x9000, 0x9001]]);
    let x = input(&mut n, 32, 0);
    cells.store(0x1ffc, 4, x, Some(5));
    cells.store(0x2000, 4, x, Some(5));
    assert!(cells.forget_pages(0x2000, 0x1000));
    assert!(!cells.forget_pages(0x2000, u64::MAX));
    assert_eq!(cells.load(&mut n, 0x1ffc, 4, 5), (x, false));
    assert_eq!(cells.load(&mut n, 0x2000, 4, 5), (0, false));
    let shared = |at: u64, len: u64| cells.shared_ranges(at, len).collect::<Vec<_>>();
    assert_eq!(shared(0x2000, 0x1000), [(0x2010, 8), (0x2ffc, 4)]);
    assert_eq!(shared(0x3000, 0x1000), [(0x3000, 0x1000)]);
    assert!(shared(0x4004, 0x1000).is_empty());
    assert_eq!(shared(0x8000, u64::MAX), [(0x9000, 1)]);
}
