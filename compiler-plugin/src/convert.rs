//! Between values of the program and the integers that hooks take and give.

use crate::access::Cell;
use crate::ir::{Emit, Kind, Type, Value};

/// The value as an integer of as many bits as it has.
pub fn to_int(emit: &Emit, value: Value, bits: u32) -> Value {
    match value.ty().kind() {
        Kind::LLVMIntegerTypeKind => value,
        Kind::LLVMPointerTypeKind => emit.ptr_to_int(value, emit.int(bits)),
        _ => emit.bitcast(value, emit.int(bits)),
    }
}

/// The value as the integer that lies in memory.
pub fn to_cell(emit: &Emit, value: Value, cell: Cell) -> Value {
    let int = to_int(emit, value, cell.bits);
    if cell.bits == 8 * cell.size {
        int
    } else {
        emit.zext(int, emit.int(8 * cell.size))
    }
}

/// The value of type `ty` that the low bits of a (perhaps wider) integer hold.
pub fn from_cell(emit: &Emit, int: Value, cell: Cell, ty: Type) -> Value {
    let bits = if int.ty().int_width() > cell.bits {
        emit.trunc(int, emit.int(cell.bits))
    } else {
        int
    };
    match ty.kind() {
        Kind::LLVMIntegerTypeKind => bits,
        Kind::LLVMPointerTypeKind => emit.int_to_ptr(bits, ty),
        _ => emit.bitcast(bits, ty),
    }
}

/// An integer as one of 64 bits, zero-extended.
pub fn widened(emit: &Emit, int: Value) -> Value {
    let width = int.ty().int_width();
    if width < 64 {
        emit.zext(int, emit.int(64))
    } else if width > 64 {
        emit.trunc(int, emit.int(64))
    } else {
        int
    }
}

/// A number or a pointer as a word, of other things 0.
pub fn word(emit: &Emit, value: Value, signed: bool) -> Value {
    match value.ty().kind() {
        Kind::LLVMPointerTypeKind if value.ty().address_space() == 0 => {
            emit.ptr_to_int(value, emit.int(64))
        }
        Kind::LLVMIntegerTypeKind if signed && value.ty().int_width() < 64 => {
            emit.sext(value, emit.int(64))
        }
        Kind::LLVMIntegerTypeKind => widened(emit, value),
        _ => emit.c64(0),
    }
}
