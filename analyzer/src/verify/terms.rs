//! Expressions with names that do not depend on the trace: reads are named by their place,
//! inputs by the tree of their thread.

use super::forest::TreeId;
use super::places::Place;
use raddle_protocol::expr::Op;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Index of a [`Term`]; operands have smaller ones.
pub type TermId = u32;

/// A bit-vector expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    Const {
        width: u8,
        value: u64,
    },
    /// Bytes of an input, little-endian.
    Input {
        tree: TreeId,
        index: u32,
        offset: u32,
        width: u8,
    },
    /// What a read returned.
    Read {
        place: Place,
        width: u8,
    },
    Op {
        op: Op,
        width: u8,
        extra: u16,
        args: [TermId; 3],
    },
}

impl Term {
    /// Bits.
    pub fn width(self) -> u8 {
        match self {
            Term::Const { width, .. }
            | Term::Input { width, .. }
            | Term::Read { width, .. }
            | Term::Op { width, .. } => width,
        }
    }
}

/// All terms, each once.
#[derive(Debug, Default)]
pub struct Terms {
    all: Vec<Term>,
    ids: HashMap<Term, TermId>,
}

impl Terms {
    /// The id of a term.
    pub fn id(&mut self, term: Term) -> TermId {
        *self.ids.entry(term).or_insert_with(|| {
            self.all.push(term);
            (self.all.len() - 1) as TermId
        })
    }

    /// A constant.
    pub fn constant(&mut self, width: u8, value: u64) -> TermId {
        let value = value & mask(width);
        self.id(Term::Const { width, value })
    }

    /// The operation applied to terms; `None` when the widths do not fit together.
    pub fn apply(&mut self, op: Op, width: u8, extra: u16, args: [TermId; 3]) -> Option<TermId> {
        let w = |i: usize| self.all[args[i] as usize].width();
        let fits = match op {
            Op::Const | Op::Input | Op::Read => false,
            Op::Eq | Op::Ne | Op::Ult | Op::Ule | Op::Slt | Op::Sle => w(0) == w(1) && width == 1,
            Op::Ite => w(0) == 1 && w(1) == w(2) && w(1) == width,
            Op::ZExt | Op::SExt => w(0) <= width,
            Op::Extract => u32::from(extra) + u32::from(width) <= u32::from(w(0)),
            Op::Concat => w(0) + w(1) == width,
            Op::Add | Op::Sub | Op::Mul | Op::UDiv | Op::SDiv | Op::URem | Op::SRem => {
                w(0) == w(1) && w(0) == width
            }
            Op::Shl | Op::LShr | Op::AShr | Op::And | Op::Or | Op::Xor => {
                w(0) == w(1) && w(0) == width
            }
        };
        fits.then(|| {
            self.id(Term::Op {
                op,
                width,
                extra,
                args,
            })
        })
    }

    /// The bytes that terms are about, of each input: its thread's tree and its index there.
    pub fn inputs(&self) -> BTreeMap<(TreeId, u32), BTreeSet<u32>> {
        let mut inputs: BTreeMap<_, BTreeSet<u32>> = BTreeMap::new();
        for term in &self.all {
            if let &Term::Input {
                tree,
                index,
                offset,
                width,
            } = term
            {
                let bytes = offset..offset + u32::from(width / 8);
                inputs.entry((tree, index)).or_default().extend(bytes);
            }
        }
        inputs
    }

    /// How many terms there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The term with this id.
    pub fn get(&self, id: TermId) -> Term {
        self.all[id as usize]
    }
}

/// The lowest `width` bits.
pub fn mask(width: u8) -> u64 {
    match width {
        64.. => u64::MAX,
        w => (1 << w) - 1,
    }
}
