//! Expression nodes of the symbolic shadow: fixed-size records in a shared arena, so that the
//! analyzer reads them where they lie (DESIGN §7).
//!
//! Index 0 means "concrete". A node's operands have smaller indices than the node itself; a
//! decoder must refuse anything else. All values are bit vectors of 1 to 128 bits; a truth value
//! has width 1. Constants, inputs and reads have at most 64 bits, and so has what is decided upon:
//! of anything wider the parts are.

/// Bits of the widest expression.
pub const MAX_WIDTH: u8 = 128;

/// One node, 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(C)]
pub struct Node {
    /// An [`Op`] as a number.
    pub op: u8,
    /// Bits of the result, 1 to 128.
    pub width: u8,
    /// Third operand's low half, or as the [`Op`] says.
    pub extra: u16,
    /// First operand, or as the [`Op`] says.
    pub a: u32,
    /// Second operand, or as the [`Op`] says.
    pub b: u32,
    /// Third operand, or as the [`Op`] says.
    pub c: u32,
}

const _: () = assert!(core::mem::size_of::<Node>() == 16);

macro_rules! ops {
    ($($(#[$doc:meta])* $name:ident = $n:literal, $arity:literal;)*) => {
        /// What a node computes. Numbers are part of the format.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Op { $($(#[$doc])* $name = $n,)* }

        impl Op {
            /// Every operation.
            pub const ALL: &'static [Op] = &[$(Op::$name,)*];

            /// Decodes a node's `op`.
            pub const fn from_u8(n: u8) -> Option<Op> {
                match n { $($n => Some(Op::$name),)* _ => None }
            }

            /// How many of `a`, `b`, `c` are operands.
            pub const fn arity(self) -> usize {
                match self { $(Op::$name => $arity,)* }
            }
        }
    };
}

ops! {
    /// A constant: `a` low and `b` high 32 bits.
    Const = 1, 0;
    /// An input variable. `a`: index of the input in its thread (see
    /// [`crate::event::Kind::Input`]); `extra`: slot of the thread; `b`: byte offset within the
    /// input; `c`: length of the whole input in bytes. Covers `width / 8` bytes, little-endian.
    Input = 2, 0;
    /// What a read event returned. `a`: index of the event in the trace (counted over all
    /// records).
    Read = 3, 0;
    Add = 10, 2;
    Sub = 11, 2;
    Mul = 12, 2;
    UDiv = 13, 2;
    SDiv = 14, 2;
    URem = 15, 2;
    SRem = 16, 2;
    Shl = 17, 2;
    LShr = 18, 2;
    AShr = 19, 2;
    And = 20, 2;
    Or = 21, 2;
    Xor = 22, 2;
    /// Comparisons: operands of equal width, result of width 1.
    Eq = 30, 2;
    Ne = 31, 2;
    Ult = 32, 2;
    Ule = 33, 2;
    Slt = 34, 2;
    Sle = 35, 2;
    /// `a` (width 1) ? `b` : `c`.
    Ite = 40, 3;
    ZExt = 41, 1;
    SExt = 42, 1;
    /// `width` bits of `a` from bit `extra` upwards.
    Extract = 43, 1;
    /// `a` above `b`.
    Concat = 44, 2;
}

/// The number that these bits stand for in two's complement.
pub const fn signed(value: u128, width: u8) -> i128 {
    let unused = 128 - width as u32;
    (value << unused) as i128 >> unused
}

impl Op {
    /// The operations that [`Op::compute`] defines.
    pub const BINARY: [Op; 19] = [
        Op::Add,
        Op::Sub,
        Op::Mul,
        Op::UDiv,
        Op::SDiv,
        Op::URem,
        Op::SRem,
        Op::Shl,
        Op::LShr,
        Op::AShr,
        Op::And,
        Op::Or,
        Op::Xor,
        Op::Eq,
        Op::Ne,
        Op::Ult,
        Op::Ule,
        Op::Slt,
        Op::Sle,
    ];

    /// Is the result a truth, of one bit?
    pub const fn is_comparison(self) -> bool {
        matches!(
            self,
            Op::Eq | Op::Ne | Op::Ult | Op::Ule | Op::Slt | Op::Sle
        )
    }

    /// What an operation means on two operands of `width` bits, 1 to 128: as in SMT-LIB's theory of
    /// bit vectors, so a division by zero has a result, too. `None`: it is not in [`Op::BINARY`].
    /// Whoever builds or solves expressions is tested against this.
    pub fn compute(self, width: u8, a: u128, b: u128) -> Option<u128> {
        let (x, y) = (signed(a, width), signed(b, width));
        let far = b >= width as u128;
        let result = match self {
            Op::Add => a.wrapping_add(b),
            Op::Sub => a.wrapping_sub(b),
            Op::Mul => a.wrapping_mul(b),
            Op::UDiv => a.checked_div(b).unwrap_or(u128::MAX),
            Op::URem => a.checked_rem(b).unwrap_or(a),
            Op::SDiv if y == 0 && x < 0 => 1,
            Op::SDiv if y == 0 => u128::MAX,
            Op::SDiv => x.wrapping_div(y) as u128,
            Op::SRem if y == 0 => a,
            Op::SRem => x.wrapping_rem(y) as u128,
            Op::Shl | Op::LShr if far => 0,
            Op::Shl => a << b,
            Op::LShr => a >> b,
            Op::AShr => (x >> if far { 127 } else { b }) as u128,
            Op::And => a & b,
            Op::Or => a | b,
            Op::Xor => a ^ b,
            Op::Eq => (a == b) as u128,
            Op::Ne => (a != b) as u128,
            Op::Ult => (a < b) as u128,
            Op::Ule => (a <= b) as u128,
            Op::Slt => (x < y) as u128,
            Op::Sle => (x <= y) as u128,
            _ => return None,
        };
        Some(result & u128::MAX >> (128 - width as u32))
    }
}

impl Node {
    /// The decoded operation.
    pub const fn op(&self) -> Option<Op> {
        Op::from_u8(self.op)
    }

    /// A constant of `width` bits.
    pub const fn constant(width: u8, value: u64) -> Node {
        Node {
            op: Op::Const as u8,
            width,
            extra: 0,
            a: value as u32,
            b: (value >> 32) as u32,
            c: 0,
        }
    }

    /// The value of an [`Op::Const`] node.
    pub const fn constant_value(&self) -> u64 {
        (self.b as u64) << 32 | self.a as u64
    }
}

/// Why a symbolic value was decided upon or lost; `size` of Branch and Lost events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Why {
    /// A conditional branch of the program.
    Branch = 0,
    /// One case of a switch.
    Switch = 1,
    /// The address of an access.
    Address = 2,
    /// An argument of a call into code that is not instrumented.
    Call = 3,
    /// A size, an index or a count of a library function.
    Size = 4,
    /// The exit status or a value that leaves the program.
    Exit = 5,
    /// Floating point.
    Float = 6,
    /// Vectors, wide integers and other types without a model.
    Type = 7,
    /// Inline assembly.
    Asm = 8,
    /// The expression arena is full.
    Full = 9,
    /// Divisor of a division (decides whether it traps).
    Divisor = 10,
    /// Memory written behind the shadow's back (code that is not instrumented).
    Memory = 11,
    /// Whether an access stays in the block that its address was computed from.
    Bounds = 12,
    /// A conditional branch that on one side can only end the program, as an assertion does.
    Check = 13,
}

impl Why {
    /// Decodes; unknown numbers are `None`.
    pub const fn from_u8(n: u8) -> Option<Why> {
        Some(match n {
            0 => Why::Branch,
            1 => Why::Switch,
            2 => Why::Address,
            3 => Why::Call,
            4 => Why::Size,
            5 => Why::Exit,
            6 => Why::Float,
            7 => Why::Type,
            8 => Why::Asm,
            9 => Why::Full,
            10 => Why::Divisor,
            11 => Why::Memory,
            12 => Why::Bounds,
            13 => Why::Check,
            _ => return None,
        })
    }

    /// Is one of the outcomes likely to be an error?
    pub const fn guards(self) -> bool {
        matches!(self, Why::Check | Why::Divisor | Why::Bounds)
    }

    /// What people read.
    pub const fn text(self) -> &'static str {
        match self {
            Why::Branch => "branch",
            Why::Switch => "switch",
            Why::Address => "symbolic address",
            Why::Call => "argument of a function that is not instrumented",
            Why::Size => "size or count",
            Why::Exit => "exit status",
            Why::Float => "floating point",
            Why::Type => "vector or wide type",
            Why::Asm => "inline assembly",
            Why::Full => "expression arena full",
            Why::Divisor => "divisor",
            Why::Bounds => "bounds of a block",
            Why::Check => "branch to the end of the program",
            Why::Memory => "memory written by code that is not instrumented",
        }
    }
}
