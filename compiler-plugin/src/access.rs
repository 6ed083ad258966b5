//! What an instruction does to memory, as far as hooks are concerned.

use crate::assembly::Assembly;
use crate::ir::{Context, Kind, Layout, Opcode, Ordering, RmwOp, Type, Value};
use crate::schedule::pointers_given;
use crate::sharing::{self, Sharing};
use crate::wide::Wide;
use raddle_protocol::hooks::{cas_order, rmw};

/// How a value of 1, 2, 4 or 8 bytes travels through a hook.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cell {
    /// Bytes in memory: 1, 2, 4 or 8.
    pub size: u32,
    /// Bits of the value, at most `8 * size`.
    pub bits: u32,
}

impl Cell {
    /// How a value of this type travels; `None` when it does not fit.
    pub fn of(layout: Layout, ty: Type) -> Option<Cell> {
        let scalar = match ty.kind() {
            Kind::LLVMIntegerTypeKind
            | Kind::LLVMHalfTypeKind
            | Kind::LLVMBFloatTypeKind
            | Kind::LLVMFloatTypeKind
            | Kind::LLVMDoubleTypeKind => true,
            Kind::LLVMPointerTypeKind => ty.address_space() == 0,
            Kind::LLVMVectorTypeKind => ty.element().kind() != Kind::LLVMPointerTypeKind,
            _ => false,
        };
        let size = if scalar { layout.store_size(ty) } else { 0 };
        let bits = if scalar { layout.bits(ty) } else { 0 };
        // A vector of odd bits is laid out in ways of its own.
        let whole = ty.kind() != Kind::LLVMVectorTypeKind || bits == 8 * size;
        (matches!(size, 1 | 2 | 4 | 8) && whole).then_some(Cell {
            size: size as u32,
            bits: bits as u32,
        })
    }
}

/// One thing that an instruction does to memory. Pointers come in the order in which
/// [`Access::is_private`] numbers them.
#[derive(Clone, Debug)]
pub enum Access {
    Load {
        pointer: Value,
        ty: Type,
    },
    Store {
        pointer: Value,
        value: Value,
    },
    AtomicLoad {
        pointer: Value,
        ty: Type,
        order: u32,
    },
    AtomicStore {
        pointer: Value,
        value: Value,
        order: u32,
    },
    Update {
        pointer: Value,
        value: Value,
        operation: u32,
        order: u32,
    },
    Exchange {
        pointer: Value,
        expected: Value,
        new: Value,
        order: u32,
    },
    Fence {
        order: u32,
    },
    /// Inline assembly, or an intrinsic that does what no other case says.
    Opaque(Assembly),
    /// memcpy and memmove. `limit`: the size of the target object, of a checked variant.
    Copy {
        to: Value,
        from: Value,
        length: Value,
        limit: Option<Value>,
    },
    /// memset.
    Set {
        to: Value,
        byte: Value,
        length: Value,
        limit: Option<Value>,
    },
    /// An atomic of any size, done by a library function.
    Wide(Wide),
    /// A call that copies these arguments: index and type.
    ByValue(Vec<(u32, Type)>),
}

/// A C11 memory order as a number.
fn order(ordering: Ordering) -> u32 {
    match ordering {
        Ordering::LLVMAtomicOrderingNotAtomic
        | Ordering::LLVMAtomicOrderingUnordered
        | Ordering::LLVMAtomicOrderingMonotonic => 0,
        Ordering::LLVMAtomicOrderingAcquire => 2,
        Ordering::LLVMAtomicOrderingRelease => 3,
        Ordering::LLVMAtomicOrderingAcquireRelease => 4,
        Ordering::LLVMAtomicOrderingSequentiallyConsistent => 5,
    }
}

/// The protocol's number of an update; `None` for one that has to be a loop.
pub fn update_code(operation: RmwOp) -> Option<u32> {
    use RmwOp::*;
    Some(match operation {
        LLVMAtomicRMWBinOpXchg => rmw::XCHG,
        LLVMAtomicRMWBinOpAdd => rmw::ADD,
        LLVMAtomicRMWBinOpSub => rmw::SUB,
        LLVMAtomicRMWBinOpAnd => rmw::AND,
        LLVMAtomicRMWBinOpNand => rmw::NAND,
        LLVMAtomicRMWBinOpOr => rmw::OR,
        LLVMAtomicRMWBinOpXor => rmw::XOR,
        LLVMAtomicRMWBinOpMax => rmw::MAX,
        LLVMAtomicRMWBinOpMin => rmw::MIN,
        LLVMAtomicRMWBinOpUMax => rmw::UMAX,
        LLVMAtomicRMWBinOpUMin => rmw::UMIN,
        LLVMAtomicRMWBinOpFAdd
        | LLVMAtomicRMWBinOpFSub
        | LLVMAtomicRMWBinOpFMax
        | LLVMAtomicRMWBinOpFMin
        | LLVMAtomicRMWBinOpUIncWrap
        | LLVMAtomicRMWBinOpUDecWrap => return None,
    })
}

impl Access {
    /// What the instruction does; `None` if it does not touch memory itself (a call of a function
    /// does not).
    pub fn of(instruction: Value) -> Option<Access> {
        let i = instruction;
        let first = |n| i.operand(n);
        Some(match i.opcode() {
            Opcode::LLVMLoad if is_atomic(i) => Access::AtomicLoad {
                pointer: first(0),
                ty: i.ty(),
                order: order(i.ordering()),
            },
            Opcode::LLVMLoad => Access::Load {
                pointer: first(0),
                ty: i.ty(),
            },
            Opcode::LLVMStore if is_atomic(i) => Access::AtomicStore {
                pointer: first(1),
                value: first(0),
                order: order(i.ordering()),
            },
            Opcode::LLVMStore => Access::Store {
                pointer: first(1),
                value: first(0),
            },
            Opcode::LLVMAtomicRMW => Access::Update {
                pointer: first(0),
                value: first(1),
                operation: update_code(i.rmw_operation())?,
                order: order(i.ordering()),
            },
            Opcode::LLVMAtomicCmpXchg => Access::Exchange {
                pointer: first(0),
                expected: first(1),
                new: first(2),
                order: cas_order(order(i.success_ordering()), order(i.failure_ordering())),
            },
            // A fence against signal handlers orders nothing between threads.
            Opcode::LLVMFence if !i.is_single_thread() => Access::Fence {
                order: order(i.ordering()),
            },
            Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr => return of_call(i),
            _ => return None,
        })
    }

    /// The pointers that it goes through.
    fn pointers(&self, instruction: Value) -> Vec<Value> {
        match self {
            Access::Load { pointer, .. }
            | Access::Store { pointer, .. }
            | Access::AtomicLoad { pointer, .. }
            | Access::AtomicStore { pointer, .. }
            | Access::Update { pointer, .. }
            | Access::Exchange { pointer, .. } => vec![*pointer],
            Access::Wide(wide) => vec![wide.pointer],
            Access::Copy { to, from, .. } => vec![*to, *from],
            Access::Set { to, .. } => vec![*to],
            Access::ByValue(arguments) => arguments
                .iter()
                .take(31)
                .map(|&(index, _)| instruction.operand(index))
                .collect(),
            Access::Fence { .. } | Access::Opaque(_) => vec![],
        }
    }

    /// Notes on every access of the function what it may share, and on every call of a function of the
    /// C library that is known to access memory, by the number of the argument.
    pub fn note_all(function: Value, sharing: &mut Sharing) {
        for instruction in function.instructions() {
            let pointers = match Access::of(instruction) {
                Some(access) => (0..).zip(access.pointers(instruction)).collect(),
                None => pointers_given(instruction),
            };
            sharing.note(instruction, &pointers);
        }
    }

    /// Is it memcpy or one of its kin?
    pub fn is_block(&self) -> bool {
        matches!(self, Access::Copy { .. } | Access::Set { .. })
    }

    /// Does pointer number `index` of the access lead to private memory only?
    pub fn is_private(context: Context, instruction: Value, index: u32) -> bool {
        sharing::is_private(context, instruction, index)
    }
}

fn is_atomic(access: Value) -> bool {
    access.ordering() != Ordering::LLVMAtomicOrderingNotAtomic
}

fn of_call(call: Value) -> Option<Access> {
    if call.callee().as_inline_asm().is_some() {
        return Assembly::of(call).map(Access::Opaque);
    }
    if let Some(name) = call.intrinsic_called() {
        return of_intrinsic(call, &name);
    }
    if let Some(access) = of_library(call).or_else(|| Wide::of_call(call).map(Access::Wide)) {
        return Some(access);
    }
    let copied: Vec<(u32, Type)> = (0..call.argument_count())
        .filter_map(|index| Some((index, call.call_type_attribute(index, "byval")?)))
        .collect();
    (!copied.is_empty()).then_some(Access::ByValue(copied))
}

fn of_library(call: Value) -> Option<Access> {
    let callee = call.callee().as_function()?;
    if !callee.is_declaration() || call.is_must_tail() {
        return None;
    }
    let name = callee.name();
    let (base, checked) = match name.strip_prefix("__").and_then(|n| n.strip_suffix("_chk")) {
        Some(base) => (base, true),
        None => (name.as_str(), false),
    };
    let is_set = base == "memset";
    if !(is_set || matches!(base, "memcpy" | "memmove")) {
        return None;
    }
    let shape: Vec<Kind> = call.arguments().map(|one| one.ty().kind()).collect();
    let second = if is_set {
        Kind::LLVMIntegerTypeKind
    } else {
        Kind::LLVMPointerTypeKind
    };
    let expected = [
        Kind::LLVMPointerTypeKind,
        second,
        Kind::LLVMIntegerTypeKind,
        Kind::LLVMIntegerTypeKind,
    ];
    if shape != expected[..if checked { 4 } else { 3 }] {
        return None;
    }
    let to = call.operand(0);
    let length = call.operand(2);
    let limit = checked.then(|| call.operand(3));
    Some(if is_set {
        Access::Set {
            to,
            byte: call.operand(1),
            length,
            limit,
        }
    } else {
        Access::Copy {
            to,
            from: call.operand(1),
            length,
            limit,
        }
    })
}

/// Intrinsics that LLVM declares as touching memory although no thread could see it.
const HARMLESS: &[&str] = &[
    "adjust.trampoline",
    "annotation",
    "coro.",
    "dbg.",
    "eh.",
    "experimental.noalias",
    "gcroot",
    "init.trampoline",
    "instrprof.",
    "invariant.",
    "launder.invariant",
    "lifetime.",
    "local",
    "objectsize",
    "prefetch",
    "ptr.annotation",
    "stack",
    "strip.invariant",
    "threadlocal.",
    "va_",
    "var.annotation",
];

/// May this intrinsic have floating point numbers rounded otherwise than to the nearest from now on?
pub fn sets_rounding(call: Value, name: &str) -> bool {
    /// To the nearest, in C's numbers (`FLT_ROUNDS`).
    const NEAREST: u64 = 1;
    let to_nearest = || {
        let way = call.operand(0).as_int_constant();
        way.is_some_and(|way| way.int_value() == NEAREST)
    };
    match name {
        "set.rounding" => !to_nearest(),
        _ => name.starts_with("set.fpenv") || name.starts_with("set.fpmode"),
    }
}

fn of_intrinsic(call: Value, name: &str) -> Option<Access> {
    let operand = |n| call.operand(n);
    if name.starts_with("memcpy.") || name.starts_with("memmove.") {
        return Some(Access::Copy {
            to: operand(0),
            from: operand(1),
            length: operand(2),
            limit: None,
        });
    }
    if name.starts_with("memset.") {
        return Some(Access::Set {
            to: operand(0),
            byte: operand(1),
            length: operand(2),
            limit: None,
        });
    }
    if name == "x86.sse2.mfence" {
        return Some(Access::Fence { order: 5 });
    }
    if let Some(instruction) = Assembly::of_intrinsic(call, name) {
        return Some(Access::Opaque(instruction));
    }
    let is_pointer = |ty: Type| ty.kind() == Kind::LLVMPointerTypeKind;
    let has_pointer = call.arguments().any(|one| match one.ty().kind() {
        Kind::LLVMVectorTypeKind => is_pointer(one.ty().element()),
        _ => is_pointer(one.ty()),
    });
    let harmless = HARMLESS.iter().any(|prefix| name.starts_with(prefix));
    (has_pointer && !harmless && call.callee().may_touch_memory())
        .then_some(Access::Opaque(Assembly::MEMORY))
}
