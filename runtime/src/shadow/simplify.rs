//! Building operations: what is cheap to see as simpler is built simpler. The result 0 means that
//! the value is the same for all inputs, so that the caller's concrete value says it all.

use super::nodes::{Expr, Nodes, mask};
use raddle_protocol::expr::{MAX_WIDTH, Node, Op};

/// An operand: its expression and its concrete value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    pub expr: Expr,
    pub value: u64,
}

impl Operand {
    /// The constant that it always is, if it is one.
    fn constant(self, nodes: &Nodes, width: u8) -> Option<u64> {
        match self.expr {
            0 => Some(self.value & mask(width)),
            expr => nodes.constant_of(expr),
        }
    }
}

/// Comparisons have a result of one bit.
fn is_comparison(op: Op) -> bool {
    matches!(op, Op::Eq | Op::Ne | Op::Ult | Op::Ule | Op::Slt | Op::Sle)
}

fn node(op: Op, width: u8, a: Expr, b: Expr, c: Expr) -> Node {
    Node {
        op: op as u8,
        width,
        extra: 0,
        a,
        b,
        c,
    }
}

impl Nodes {
    /// The expression of an operand of `width` bits, a constant if need be.
    pub fn operand(&mut self, width: u8, operand: Operand) -> Expr {
        match operand.expr {
            0 => self.constant(width, operand.value),
            expr => expr,
        }
    }

    /// `a op b` on operands of `width` bits.
    pub fn binary(&mut self, op: Op, width: u8, a: Operand, b: Operand) -> Expr {
        if width > 64 {
            return self.wide_binary(op, width, a, b);
        }
        let constants = (a.constant(self, width), b.constant(self, width));
        match constants {
            (Some(_), Some(_)) => return 0,
            (None, Some(b)) => {
                if let Some(result) = self.with_constant(op, width, a.expr, b) {
                    return result;
                }
            }
            (Some(a), None) => {
                if let Some(result) = self.constant_with(op, width, a, b.expr) {
                    return result;
                }
            }
            (None, None) => {
                if a.expr == b.expr
                    && let Some(result) = same(op, a.expr)
                {
                    return result;
                }
            }
        }
        self.operation(op, width, a, b)
    }

    fn operation(&mut self, op: Op, width: u8, a: Operand, b: Operand) -> Expr {
        let (a, b) = (self.operand(width, a), self.operand(width, b));
        if a == 0 || b == 0 {
            return 0;
        }
        let result = if is_comparison(op) { 1 } else { width };
        self.add(node(op, result, a, b, 0))
    }

    /// The same on more than 64 bits, where an operand without an expression is its value
    /// zero-extended.
    fn wide_binary(&mut self, op: Op, width: u8, a: Operand, b: Operand) -> Expr {
        if a.expr != 0
            && a.expr == b.expr
            && let Some(result) = same(op, a.expr)
        {
            return result;
        }
        if op == Op::Or
            && let Some(whole) = self.side_by_side(width, a.expr, b.expr)
        {
            return whole;
        }
        self.operation(op, width, a, b)
    }

    /// `a | b << n`, where the first ends below where the second begins, both in either order.
    fn side_by_side(&mut self, width: u8, a: Expr, b: Expr) -> Option<Expr> {
        let is_shift = |nodes: &Nodes, e| nodes.get(e).op() == Some(Op::Shl);
        let (low, shifted) = if is_shift(self, b) { (a, b) } else { (b, a) };
        let (low, shift) = (self.get(low), self.get(shifted));
        if low.op()? != Op::ZExt || shift.op()? != Op::Shl {
            return None;
        }
        let by = self.small_constant(shift.b)?;
        let below = self.get(low.a).width;
        if by < u64::from(below) || by >= u64::from(width) {
            return None;
        }
        let low = self.extend(Op::ZExt, low.a, by as u8);
        let high = self.extract(shift.a, 0, width - by as u8);
        Some(self.concat(high, low)).filter(|&whole| whole != 0)
    }

    /// The value of a constant, zero-extended to more than 64 bits or not.
    fn small_constant(&self, expr: Expr) -> Option<u64> {
        let node = self.get(expr);
        match node.op()? {
            Op::ZExt => self.constant_of(node.a),
            _ => self.constant_of(expr),
        }
    }

    /// `a op constant`, if that is simpler than the operation.
    fn with_constant(&mut self, op: Op, width: u8, a: Expr, b: u64) -> Option<Expr> {
        let ones = mask(width);
        match op {
            Op::Add | Op::Sub | Op::Or | Op::Xor | Op::Shl | Op::LShr | Op::AShr if b == 0 => {
                Some(a)
            }
            Op::And if b == ones => Some(a),
            Op::And | Op::Mul if b == 0 => Some(0),
            Op::Or if b == ones => Some(0),
            Op::Mul | Op::UDiv | Op::SDiv if b == 1 && width > 1 => Some(a),
            Op::URem if b == 1 && width > 1 => Some(0),
            Op::Ult if b == 0 => Some(0),
            Op::Ule if b == ones => Some(0),
            Op::Eq => self.equals_constant(width, a, b),
            Op::Ne => {
                let equal = self.equals_constant(width, a, b)?;
                Some(self.not(equal))
            }
            _ => None,
        }
    }

    /// `constant op b`, likewise.
    fn constant_with(&mut self, op: Op, width: u8, a: u64, b: Expr) -> Option<Expr> {
        match op {
            Op::Add | Op::Or | Op::Xor | Op::And | Op::Mul | Op::Eq | Op::Ne => {
                self.with_constant(op, width, b, a)
            }
            Op::Shl | Op::LShr | Op::AShr if a == 0 => Some(0),
            Op::Ule if a == 0 => Some(0),
            Op::Ult if a == mask(width) => Some(0),
            _ => None,
        }
    }

    /// `a == constant`, where `a` is a truth value in disguise or a choice between constants.
    fn equals_constant(&mut self, width: u8, a: Expr, constant: u64) -> Option<Expr> {
        let whole = self.get(a);
        match whole.op()? {
            Op::ZExt => {
                let inner = self.get(whole.a).width;
                if constant & !mask(inner) != 0 {
                    return Some(0);
                }
                match (inner, constant) {
                    (1, 0) => Some(self.not(whole.a)),
                    (1, _) => Some(whole.a),
                    _ => None,
                }
            }
            Op::Ite => {
                let then = self.constant_of(whole.b)?;
                let other = self.constant_of(whole.c)?;
                match (then == constant, other == constant) {
                    (true, false) => Some(whole.a),
                    (false, true) => Some(self.not(whole.a)),
                    _ => Some(0),
                }
            }
            _ if width == 1 && constant == 1 => Some(a),
            _ if width == 1 => Some(self.not(a)),
            _ => None,
        }
    }

    /// The opposite of a truth value.
    pub fn not(&mut self, a: Expr) -> Expr {
        if a == 0 {
            return 0;
        }
        let inner = self.get(a);
        let opposite = |op| node(op, 1, inner.a, inner.b, 0);
        match inner.op() {
            Some(Op::Eq) => self.add(opposite(Op::Ne)),
            Some(Op::Ne) => self.add(opposite(Op::Eq)),
            Some(Op::Ult) => self.add(node(Op::Ule, 1, inner.b, inner.a, 0)),
            Some(Op::Ule) => self.add(node(Op::Ult, 1, inner.b, inner.a, 0)),
            Some(Op::Slt) => self.add(node(Op::Sle, 1, inner.b, inner.a, 0)),
            Some(Op::Sle) => self.add(node(Op::Slt, 1, inner.b, inner.a, 0)),
            Some(Op::Xor) if self.constant_of(inner.b) == Some(1) => inner.a,
            _ => {
                let one = self.constant(1, 1);
                if one == 0 {
                    0
                } else {
                    self.add(node(Op::Xor, 1, a, one, 0))
                }
            }
        }
    }

    /// Zero- or sign-extends `a` to `to` bits.
    pub fn extend(&mut self, op: Op, a: Expr, to: u8) -> Expr {
        let inner = self.get(a);
        if a == 0 || inner.width == to {
            return a;
        }
        match (inner.op(), op) {
            // The sign of something zero-extended is 0.
            (Some(Op::ZExt), _) => self.add(node(Op::ZExt, to, inner.a, 0, 0)),
            (Some(Op::SExt), Op::SExt) => self.add(node(Op::SExt, to, inner.a, 0, 0)),
            _ => self.add(node(op, to, a, 0, 0)),
        }
    }

    /// `width` bits of `a` from bit `from` upwards.
    pub fn extract(&mut self, a: Expr, from: u8, width: u8) -> Expr {
        let inner = self.get(a);
        if a == 0 || (from == 0 && width == inner.width) {
            return a;
        }
        match inner.op() {
            Some(Op::Const) => self.constant(width, inner.constant_value() >> from),
            Some(Op::Extract) => self.extract(inner.a, from + inner.extra as u8, width),
            Some(Op::Concat) => {
                let low = self.get(inner.b).width;
                if from >= low {
                    self.extract(inner.a, from - low, width)
                } else if from + width <= low {
                    self.extract(inner.b, from, width)
                } else {
                    self.raw_extract(a, from, width)
                }
            }
            Some(Op::ZExt) => {
                let low = self.get(inner.a).width;
                if from >= low {
                    self.constant(width, 0)
                } else if from + width <= low {
                    self.extract(inner.a, from, width)
                } else if from == 0 {
                    self.extend(Op::ZExt, inner.a, width)
                } else {
                    self.raw_extract(a, from, width)
                }
            }
            Some(Op::SExt) if from + width <= self.get(inner.a).width => {
                self.extract(inner.a, from, width)
            }
            Some(Op::SExt) if from == 0 => self.extend(Op::SExt, inner.a, width),
            Some(Op::LShr | Op::Shl) if inner.width > 64 => {
                let shifted = self.extract_shifted(inner, from, width);
                shifted.unwrap_or_else(|| self.raw_extract(a, from, width))
            }
            _ => self.raw_extract(a, from, width),
        }
    }

    /// Bits of something shifted by a constant, where they come from within its operand.
    fn extract_shifted(&mut self, shift: Node, from: u8, width: u8) -> Option<Expr> {
        let by = self.small_constant(shift.b)?;
        let end = u64::from(from) + u64::from(width);
        if shift.op() == Some(Op::LShr) {
            (end + by <= u64::from(shift.width))
                .then(|| self.extract(shift.a, from + by as u8, width))
        } else if end <= by {
            Some(self.constant(width, 0))
        } else {
            (u64::from(from) >= by).then(|| self.extract(shift.a, from - by as u8, width))
        }
    }

    fn raw_extract(&mut self, a: Expr, from: u8, width: u8) -> Expr {
        self.add(Node {
            extra: u16::from(from),
            ..node(Op::Extract, width, a, 0, 0)
        })
    }

    /// `high` above `low`; both are expressions.
    pub fn concat(&mut self, high: Expr, low: Expr) -> Expr {
        let (h, l) = (self.get(high), self.get(low));
        if high == 0 || low == 0 {
            return 0;
        }
        let width = h.width.saturating_add(l.width);
        if width > MAX_WIDTH {
            return 0;
        }
        let (hc, lc) = (self.constant_of(high), self.constant_of(low));
        if width <= 64
            && let (Some(hv), Some(lv)) = (hc, lc)
        {
            return self.constant(width, hv << l.width | lv);
        }
        if hc == Some(0) {
            return self.extend(Op::ZExt, low, width);
        }
        let extracts = h.op() == Some(Op::Extract) && l.op() == Some(Op::Extract);
        if extracts && h.a == l.a && h.extra == l.extra + u16::from(l.width) {
            return self.extract(h.a, l.extra as u8, width);
        }
        self.add(node(Op::Concat, width, high, low, 0))
    }

    /// `condition ? then : other`, of `width` bits.
    pub fn ite(&mut self, width: u8, condition: Operand, then: Operand, other: Operand) -> Expr {
        if let Some(condition) = condition.constant(self, 1) {
            return if condition != 0 {
                then.expr
            } else {
                other.expr
            };
        }
        let constants = (then.constant(self, width), other.constant(self, width));
        match constants {
            _ if width > 64 => {}
            (Some(a), Some(b)) if a == b => return 0,
            (Some(1), Some(0)) => return self.extend(Op::ZExt, condition.expr, width),
            (Some(0), Some(1)) => {
                let not = self.not(condition.expr);
                return self.extend(Op::ZExt, not, width);
            }
            (None, None) if then.expr == other.expr => return then.expr,
            _ => {}
        }
        let (a, b) = (self.operand(width, then), self.operand(width, other));
        if a == 0 || b == 0 {
            return 0;
        }
        self.add(node(Op::Ite, width, condition.expr, a, b))
    }

    /// Is the value other than 0? `None` when that is the same for all inputs.
    pub fn truth(&mut self, a: Expr) -> Option<Expr> {
        let width = self.get(a).width;
        let operand = Operand { expr: a, value: 0 };
        let zero = Operand { expr: 0, value: 0 };
        Some(self.binary(Op::Ne, width, operand, zero)).filter(|&e| e != 0)
    }
}

/// `a op a`.
fn same(op: Op, a: Expr) -> Option<Expr> {
    match op {
        Op::Sub | Op::Xor | Op::Eq | Op::Ne | Op::Ult | Op::Ule | Op::Slt | Op::Sle => Some(0),
        Op::And | Op::Or => Some(a),
        _ => None,
    }
}
