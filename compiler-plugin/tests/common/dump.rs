//! The expressions that one execution built, and what they say about another input.

use raddle_protocol::expr::{Node, Op};
use std::path::Path;

/// What `support/hooks.c` wrote.
#[derive(Default, Debug)]
pub struct Dump {
    /// By index; the first is a stand-in. Inputs name the byte in `a`.
    nodes: Vec<Node>,
    /// The decisions: expression and outcome.
    pub decisions: Vec<(u32, u64)>,
    /// The outputs: expression (0: concrete) and value.
    pub outputs: Vec<(u32, u64)>,
    /// How many operations were not followed.
    pub losses: u64,
    /// How many scheduling hooks were called.
    pub plain: u64,
    /// How many loops ran as compiled, of those that were asked about.
    pub loops: (u64, u64),
}

impl Dump {
    pub fn read(file: &Path) -> Dump {
        let text = std::fs::read_to_string(file).expect("the program wrote its dump");
        let mut dump = Dump {
            nodes: vec![Node::default()],
            ..Dump::default()
        };
        for line in text.lines() {
            let (kind, rest) = line.split_once(' ').expect("a line has a kind");
            let numbers: Vec<u64> = rest
                .split(' ')
                .map(|word| word.parse().expect("a number"))
                .collect();
            match (kind, numbers.as_slice()) {
                ("n", &[op, width, extra, a, b, c, value]) => {
                    let (op, width) = (op as u8, width as u8);
                    dump.nodes.push(match Op::from_u8(op) {
                        Some(Op::Const) => Node::constant(width, value),
                        _ => Node {
                            op,
                            width,
                            extra: extra as u16,
                            a: a as u32,
                            b: b as u32,
                            c: c as u32,
                        },
                    });
                }
                ("b", &[expr, value]) => dump.decisions.push((expr as u32, value)),
                ("o", &[expr, value]) => dump.outputs.push((expr as u32, value)),
                ("l", _) => dump.losses += 1,
                ("e", &[plain, _, as_compiled, questions]) => {
                    dump.plain = plain;
                    dump.loops = (as_compiled, questions);
                }
                _ => panic!("not understood: {line}"),
            }
        }
        dump
    }

    /// How many expressions there are.
    pub fn len(&self) -> usize {
        self.nodes.len() - 1
    }

    /// The outputs for another input, if all decisions fall as they did.
    pub fn predict(&self, input: &[u8]) -> Option<Vec<u64>> {
        let values = self.evaluate(input);
        let same = |&(expr, value): &(u32, u64)| values[expr as usize] == u128::from(value);
        self.decisions.iter().all(same).then(|| {
            self.outputs
                .iter()
                .map(|&(expr, value)| {
                    if expr == 0 {
                        value
                    } else {
                        values[expr as usize] as u64
                    }
                })
                .collect()
        })
    }

    fn evaluate(&self, input: &[u8]) -> Vec<u128> {
        let mut values: Vec<u128> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let value = self.value(node, &values, input);
            values.push(value & mask(node.width.max(1)));
        }
        values
    }

    fn value(&self, node: &Node, values: &[u128], input: &[u8]) -> u128 {
        let Some(op) = node.op() else { return 0 };
        let operand = |index: u32| values.get(index as usize).copied().unwrap_or(0);
        let (a, b) = (operand(node.a), operand(node.b));
        let width = self.nodes[node.a as usize % self.nodes.len()].width;
        let (sa, sb) = (signed(a, width), signed(b, width));
        let bits = u128::from(width);
        match op {
            Op::Const => node.constant_value().into(),
            Op::Input => u128::from(input.get(node.a as usize).copied().unwrap_or(0)),
            Op::Read => panic!("these programs have one thread"),
            Op::Add => a.wrapping_add(b),
            Op::Sub => a.wrapping_sub(b),
            Op::Mul => a.wrapping_mul(b),
            Op::UDiv => a.checked_div(b).unwrap_or(u128::MAX),
            Op::URem => a.checked_rem(b).unwrap_or(a),
            Op::SDiv if b == 0 => {
                if sa < 0 {
                    1
                } else {
                    u128::MAX
                }
            }
            Op::SDiv => sa.wrapping_div(sb) as u128,
            Op::SRem if b == 0 => a,
            Op::SRem => sa.wrapping_rem(sb) as u128,
            Op::Shl => {
                if b >= bits {
                    0
                } else {
                    a << b
                }
            }
            Op::LShr => {
                if b >= bits {
                    0
                } else {
                    a >> b
                }
            }
            Op::AShr => (sa >> b.min(bits - 1)) as u128,
            Op::And => a & b,
            Op::Or => a | b,
            Op::Xor => a ^ b,
            Op::Eq => u128::from(a == b),
            Op::Ne => u128::from(a != b),
            Op::Ult => u128::from(a < b),
            Op::Ule => u128::from(a <= b),
            Op::Slt => u128::from(sa < sb),
            Op::Sle => u128::from(sa <= sb),
            Op::Ite => {
                if a != 0 {
                    b
                } else {
                    operand(node.c)
                }
            }
            Op::ZExt => a,
            Op::SExt => sa as u128,
            Op::Extract => a >> node.extra,
            Op::Concat => a << self.nodes[node.b as usize].width | b,
        }
    }
}

fn mask(width: u8) -> u128 {
    u128::MAX >> (128 - u32::from(width))
}

fn signed(value: u128, width: u8) -> i128 {
    let shift = 128 - u32::from(width.max(1));
    (value << shift) as i128 >> shift
}
