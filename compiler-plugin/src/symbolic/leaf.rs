//! Which parts of a value can have an expression.

use crate::ir::{Kind, Layout, Type};

/// Parts that are followed of one aggregate value at most.
const MAX_LEAVES: usize = 16;

/// A scalar part of a value.
#[derive(Clone, Copy, Debug)]
pub struct Leaf {
    pub ty: Type,
    /// Bytes from the start of the whole, in memory.
    pub offset: u64,
    /// Bits of its expression; `None`: it never has one.
    pub width: Option<u32>,
}

/// Bits of the widest expression.
pub const MAX_WIDTH: u32 = raddle_protocol::expr::MAX_WIDTH as u32;

/// Bits of the expression of a scalar: that of an integer of up to 128 bits, a pointer, or the
/// bits of a floating point number. `None` for every other type.
pub fn width(layout: Layout, ty: Type) -> Option<u32> {
    match ty.kind() {
        Kind::LLVMIntegerTypeKind if ty.int_width() <= MAX_WIDTH => Some(ty.int_width()),
        Kind::LLVMPointerTypeKind if ty.address_space() == 0 => Some(64),
        Kind::LLVMHalfTypeKind
        | Kind::LLVMBFloatTypeKind
        | Kind::LLVMFloatTypeKind
        | Kind::LLVMDoubleTypeKind => Some(layout.bits(ty) as u32),
        _ => None,
    }
}

/// Bits of the expression by which an argument of the type is handed over: that of a scalar, or all
/// elements of a vector side by side. `None` when there is none.
pub fn packed_width(layout: Layout, ty: Type) -> Option<u32> {
    if ty.kind() != Kind::LLVMVectorTypeKind {
        return width(layout, ty);
    }
    let pointers = ty.element().kind() == Kind::LLVMPointerTypeKind;
    let bits = layout.bits(ty) as u32;
    let followed = leaves(layout, ty).iter().any(|leaf| leaf.width.is_some());
    (followed && !pointers && bits <= MAX_WIDTH).then_some(bits)
}

/// The parts of a type in order; one for a scalar. Empty when there is none to follow, or too
/// many.
pub fn leaves(layout: Layout, ty: Type) -> Vec<Leaf> {
    let mut found = Vec::new();
    if collect(layout, ty, 0, &mut found) {
        found
    } else {
        Vec::new()
    }
}

fn collect(layout: Layout, ty: Type, offset: u64, found: &mut Vec<Leaf>) -> bool {
    match ty.kind() {
        Kind::LLVMStructTypeKind => (0..ty.field_count()).all(|index| {
            let at = offset + layout.field_offset(ty, index);
            collect(layout, ty.field(index), at, found)
        }),
        Kind::LLVMArrayTypeKind => {
            let step = layout.alloc_size(ty.element());
            ty.array_length() <= MAX_LEAVES as u64
                && (0..ty.array_length())
                    .all(|index| collect(layout, ty.element(), offset + index * step, found))
        }
        Kind::LLVMVectorTypeKind => {
            let step = layout.store_size(ty.element());
            ty.vector_length() as usize <= MAX_LEAVES
                && (0..ty.vector_length().into())
                    .all(|index| collect(layout, ty.element(), offset + index * step, found))
        }
        Kind::LLVMVoidTypeKind
        | Kind::LLVMLabelTypeKind
        | Kind::LLVMMetadataTypeKind
        | Kind::LLVMTokenTypeKind => true,
        _ => {
            found.push(Leaf {
                ty,
                offset,
                width: width(layout, ty),
            });
            found.len() <= MAX_LEAVES
        }
    }
}

/// How many parts a type has, and which of them is the first below `path`.
pub fn position(layout: Layout, ty: Type, path: &[u32]) -> (usize, Type) {
    let mut first = 0;
    let mut inner = ty;
    for &index in path {
        let count = |ty| leaves(layout, ty).len();
        if inner.kind() == Kind::LLVMStructTypeKind {
            first += (0..index)
                .map(|before| count(inner.field(before)))
                .sum::<usize>();
            inner = inner.field(index);
        } else {
            first += index as usize * count(inner.element());
            inner = inner.element();
        }
    }
    (first, inner)
}
