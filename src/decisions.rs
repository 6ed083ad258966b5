//! Path conditions for people: by what the threads of a symbolic execution decided.

use raddle_protocol::event::{Event, Kind};
use raddle_protocol::expr::{Node, Op, Why, signed};

/// Of so many decisions, the last ones, the text is made.
pub const MOST: usize = 16;
/// How deep an expression is written out.
const DEPTH: u32 = 8;
/// Characters of a condition, at most.
const LENGTH: usize = 120;

/// The records of decisions that the program itself makes: at branches and switches, and of what its
/// errors depend on.
pub fn decisions(events: &[Event]) -> Vec<&Event> {
    let decides = |event: &&Event| {
        let kind = event.kind();
        let why = Why::from_u8(event.size);
        let by_itself = why.is_some_and(|w| w.guards() || matches!(w, Why::Branch | Why::Switch));
        event.aux != 0 && (kind == Some(Kind::Assume) || kind == Some(Kind::Branch) && by_itself)
    };
    events.iter().filter(decides).collect()
}

/// What held at a decision. `leaf` names what an input or a read returned.
pub fn condition(
    nodes: &[Node],
    decision: &Event,
    leaf: &mut dyn FnMut(&Node) -> String,
) -> Option<String> {
    let mut text = Text { nodes, leaf };
    let node = nodes.get(decision.aux as usize)?;
    let condition = match (node.width, decision.value) {
        (1, value) => text.truth(decision.aux, value & 1 != 0, 0),
        (width, value) => {
            let operand = text.operand(decision.aux, 1);
            format!("{operand} == {}", number(value.into(), width))
        }
    };
    Some(match condition.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}…", &condition[..end]),
        None => condition,
    })
}

fn number(value: u128, width: u8) -> String {
    signed(value, width.max(1)).to_string()
}

/// The sign of an operation between its operands.
fn sign(op: Op) -> &'static str {
    match op {
        Op::Add => "+",
        Op::Sub => "-",
        Op::Mul => "*",
        Op::UDiv | Op::SDiv => "/",
        Op::URem | Op::SRem => "%",
        Op::Shl => "<<",
        Op::LShr | Op::AShr => ">>",
        Op::And => "&",
        Op::Or => "|",
        Op::Xor => "^",
        Op::Eq => "==",
        Op::Ne => "!=",
        Op::Ult | Op::Slt => "<",
        Op::Ule | Op::Sle => "<=",
        _ => "?",
    }
}

/// The sign of a comparison that fails.
fn opposite(op: Op) -> &'static str {
    match op {
        Op::Eq => "!=",
        Op::Ne => "==",
        Op::Ult | Op::Slt => ">=",
        _ => ">",
    }
}

/// The sign of a comparison with its operands exchanged.
fn turned(sign: &'static str) -> &'static str {
    match sign {
        "<" => ">",
        "<=" => ">=",
        ">" => "<",
        ">=" => "<=",
        equal => equal,
    }
}

/// The sign of an operation on truths.
fn logical(op: Op) -> &'static str {
    match op {
        Op::And => "&&",
        Op::Or => "||",
        Op::Xor => "!=",
        op => sign(op),
    }
}

fn is_unsigned(op: Op) -> bool {
    matches!(op, Op::Ult | Op::Ule | Op::UDiv | Op::URem)
}

struct Text<'t> {
    nodes: &'t [Node],
    leaf: &'t mut dyn FnMut(&Node) -> String,
}

impl Text<'_> {
    fn node(&self, id: u32) -> Node {
        self.nodes.get(id as usize).copied().unwrap_or_default()
    }

    /// A truth that holds, or does not.
    fn truth(&mut self, id: u32, holds: bool, depth: u32) -> String {
        let node = self.node(id);
        let op = node.op();
        match op {
            _ if depth >= DEPTH => "…".to_string(),
            // A truth compared with a constant.
            Some(Op::Eq | Op::Ne) if self.node(node.a).width == 1 && self.is_constant(node.b) => {
                let same = (self.node(node.b).a & 1 != 0) == (op == Some(Op::Eq));
                self.truth(node.a, holds == same, depth + 1)
            }
            Some(op) if op.is_comparison() => self.comparison(node, holds, depth),
            _ if holds => self.expression(id, depth).0,
            _ => format!("!{}", self.operand(id, depth)),
        }
    }

    fn comparison(&mut self, node: Node, holds: bool, depth: u32) -> String {
        let op = node.op().unwrap_or(Op::Eq);
        let (mut a, mut b) = (self.operand(node.a, depth), self.operand(node.b, depth));
        let mut sign = if holds { sign(op) } else { opposite(op) };
        if self.is_constant(node.a) {
            (a, b, sign) = (b, a, turned(sign));
        }
        let how = if is_unsigned(op) { " (unsigned)" } else { "" };
        format!("{a} {sign} {b}{how}")
    }

    fn is_constant(&self, id: u32) -> bool {
        self.node(id).op() == Some(Op::Const)
    }

    /// In parentheses, where it has parts.
    fn operand(&mut self, id: u32, depth: u32) -> String {
        match self.expression(id, depth + 1) {
            (text, true) => format!("({text})"),
            (text, false) => text,
        }
    }

    /// The expression, and whether it has parts.
    fn expression(&mut self, id: u32, depth: u32) -> (String, bool) {
        let mut node = self.node(id);
        while matches!(node.op(), Some(Op::ZExt | Op::SExt)) {
            node = self.node(node.a);
        }
        if depth >= DEPTH {
            return ("…".to_string(), false);
        }
        match node.op() {
            Some(Op::Const) => {
                let value = u128::from(node.a) | u128::from(node.b) << 32;
                (number(value, node.width), false)
            }
            Some(Op::Input | Op::Read) => ((self.leaf)(&node), false),
            Some(Op::Extract) => {
                let (first, inner) = (node.extra, self.operand(node.a, depth));
                let end = first + u16::from(node.width);
                (format!("{inner}[{first}..{end}]"), false)
            }
            Some(Op::Ite) => {
                let is = |id: u32, value: u32| {
                    let node = self.node(id);
                    node.width == 1 && node.op() == Some(Op::Const) && node.a & 1 == value
                };
                let (both, either) = (is(node.c, 0), is(node.b, 1));
                let condition = self.operand(node.a, depth);
                let (b, c) = (self.operand(node.b, depth), self.operand(node.c, depth));
                let text = match (both, either) {
                    (true, _) => format!("{condition} && {b}"),
                    (_, true) => format!("{condition} || {c}"),
                    _ => format!("{condition} ? {b} : {c}"),
                };
                (text, true)
            }
            Some(Op::Concat) => {
                let (a, b) = (self.operand(node.a, depth), self.operand(node.b, depth));
                (format!("{a}:{b}"), true)
            }
            Some(op) if op.is_comparison() => (self.comparison(node, true, depth), true),
            Some(op) => {
                let (a, b) = (self.operand(node.a, depth), self.operand(node.b, depth));
                let sign = if node.width == 1 {
                    logical(op)
                } else {
                    sign(op)
                };
                (format!("{a} {sign} {b}"), true)
            }
            None => ("?".to_string(), false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(op: Op, width: u8, a: u32, b: u32) -> Node {
        Node {
            op: op as u8,
            width,
            a,
            b,
            ..Node::default()
        }
    }

    #[test]
    fn conditions_are_as_in_the_source() {
        let nodes = [
            Node::default(),
            node(Op::Input, 32, 0, 0),
            node(Op::Const, 32, 5, 0),
            node(Op::Slt, 1, 2, 1),
            node(Op::Read, 32, 7, 0),
            node(Op::Mul, 32, 1, 2),
            node(Op::Eq, 1, 4, 5),
            node(Op::Const, 1, 0, 0),
            node(Op::Eq, 1, 6, 7),
            node(Op::ZExt, 64, 5, 0),
            node(Op::Ult, 1, 9, 9),
            node(Op::Extract, 8, 1, 0),
            node(Op::Const, 32, u32::MAX, 0),
            node(Op::Add, 32, 1, 12),
            node(Op::And, 1, 3, 6),
            Node {
                c: 7,
                ..node(Op::Ite, 1, 3, 6)
            },
        ];
        let table = [
            (3, 1, "n > 5"),
            (3, 0, "n <= 5"),
            (6, 1, "x == (n * 5)"),
            (6, 0, "x != (n * 5)"),
            (8, 1, "x != (n * 5)"),
            (8, 0, "x == (n * 5)"),
            (10, 1, "(n * 5) < (n * 5) (unsigned)"),
            (11, 7, "n[0..8] == 7"),
            (13, 0xffff_fffe, "(n + -1) == -2"),
            (14, 1, "(n > 5) && (x == (n * 5))"),
            (15, 1, "(n > 5) && (x == (n * 5))"),
            (15, 0, "!((n > 5) && (x == (n * 5)))"),
        ];
        for (aux, value, expected) in table {
            let decision = Event {
                kind: Kind::Branch as u8,
                aux,
                value,
                ..Event::default()
            };
            let mut leaf = |node: &Node| match node.op() {
                Some(Op::Input) => "n".to_string(),
                _ => "x".to_string(),
            };
            let text = condition(&nodes, &decision, &mut leaf);
            assert_eq!(text.as_deref(), Some(expected));
        }
    }

    #[test]
    fn deep_conditions_end() {
        for op in [Op::Eq, Op::And, Op::Slt, Op::ZExt] {
            let mut nodes = vec![Node::default(), node(Op::Input, 1, 0, 0)];
            nodes.extend((1..50).map(|last| node(op, 1, last, 1)));
            for value in [0, 1] {
                let decision = Event {
                    aux: 50,
                    value,
                    ..Event::default()
                };
                let text = condition(&nodes, &decision, &mut |_| "n".to_string());
                assert!(text.is_some_and(|text| !text.is_empty()), "{op:?}");
            }
        }
    }

    #[test]
    fn long_conditions_end() {
        let mut nodes = vec![Node::default(), node(Op::Input, 32, 0, 0)];
        for last in 1..40 {
            nodes.push(node(Op::Add, 32, last, last));
        }
        let decision = Event {
            aux: 40,
            ..Event::default()
        };
        let text = condition(&nodes, &decision, &mut |_| "n".to_string());
        assert!(text.is_some_and(|text| text.chars().count() == LENGTH + 1));
    }
}
