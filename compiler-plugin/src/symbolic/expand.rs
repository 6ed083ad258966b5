//! Takes apart what is wider than an expression's parts: accesses of wide integers and vectors
//! become accesses of scalars, and operations on vectors operations on their elements.

use super::atomics;
use super::leaf::{MAX_WIDTH, width};
use crate::hooks::Hooks;
use crate::ir::{Context, Emit, Kind, Layout, Module, Opcode, Ordering, Predicate, Type, Value};
use crate::schedule::blocks::is_whole;
use crate::wide::Wide;
use crate::{locations, sharing};

/// Elements of a vector that is taken apart at most.
const MAX_ELEMENTS: u32 = 64;

/// Does all of it in a function.
pub fn run(module: Module, hooks: &Hooks, function: Value) {
    let expand = Expand {
        context: module.context(),
        layout: module.layout(),
        hooks,
    };
    for instruction in function.instructions() {
        match instruction.opcode() {
            Opcode::LLVMLoad => expand.load(instruction),
            Opcode::LLVMStore => expand.store(instruction),
            Opcode::LLVMBitCast => expand.bitcast(instruction),
            Opcode::LLVMCall => expand.reduction(instruction),
            _ => {}
        }
    }
    if function.instructions().into_iter().any(has_vector) {
        function.scalarize();
        for instruction in function.instructions() {
            choose_defined(instruction);
        }
    }
}

/// The chain of choices that an index becomes begins with one between an element and nothing.
fn choose_defined(i: Value) {
    if i.opcode() == Opcode::LLVMSelect && i.operand(2).is_poison() {
        i.replace_uses(i.operand(1));
        i.erase();
    }
}

fn is_vector(ty: Type) -> bool {
    ty.kind() == Kind::LLVMVectorTypeKind
}

fn has_vector(i: Value) -> bool {
    is_vector(i.ty()) || i.operands().any(|operand| is_vector(operand.ty()))
}

/// How a type lies in memory.
enum Form {
    /// An integer of more than 64 bits.
    Wide,
    /// Elements of so many bytes each.
    Elements(u64),
    /// Elements of odd bits, as an integer of so many bits.
    Bits(u32),
}

struct Expand<'a> {
    context: Context,
    layout: Layout,
    hooks: &'a Hooks,
}

impl Expand<'_> {
    fn before(&self, i: Value) -> Emit {
        Emit::new(self.context, i, locations::of(self.context, i))
    }

    /// The form of a type that is taken apart.
    fn form(&self, ty: Type) -> Option<Form> {
        let bits = self.layout.bits(ty) as u32;
        if ty.kind() == Kind::LLVMIntegerTypeKind {
            return (bits > 64 && bits <= MAX_WIDTH).then_some(Form::Wide);
        }
        let element = self.element(ty)?;
        let (size, bits_of_one) = (self.layout.store_size(element), self.layout.bits(element));
        if bits_of_one == 8 * size {
            Some(Form::Elements(size))
        } else {
            (bits <= MAX_WIDTH && bits.is_multiple_of(8)).then_some(Form::Bits(bits))
        }
    }

    /// The type of the elements of a vector that can have expressions.
    fn element(&self, ty: Type) -> Option<Type> {
        let element =
            (is_vector(ty) && ty.vector_length() <= MAX_ELEMENTS).then(|| ty.element())?;
        width(self.layout, element).is_some().then_some(element)
    }

    fn load(&self, load: Value) {
        let ty = load.ty();
        let (Some(form), false) = (self.form(ty), is_atomic(load)) else {
            return;
        };
        let emit = self.before(load);
        let section = self.section(load, load.operand(0), ty);
        if let Some(section) = &section {
            section.begin(self.hooks, &emit, None);
        }
        let part = |ty: Type, offset: u64| {
            let at = emit.offset(load.operand(0), emit.c64(offset));
            let part = emit.load(ty, at);
            part.set_alignment(1);
            sharing::copy_note(self.context, load, part);
            part
        };
        let whole = match form {
            Form::Wide => {
                let size = self.layout.store_size(ty);
                let all = emit.int(8 * size as u32);
                let parts = pieces(size).map(|(offset, bytes)| {
                    let part = emit.zext(part(emit.int(8 * bytes), offset), all);
                    emit.shl(part, all.constant(8 * offset))
                });
                let whole = parts.reduce(|a, b| emit.or(a, b));
                emit.trunc(whole.unwrap_or_else(|| all.constant(0)), ty)
            }
            Form::Elements(size) => {
                let parts = (0..ty.vector_length())
                    .map(|index| part(ty.element(), u64::from(index) * size));
                self.vector(&emit, ty, parts)
            }
            Form::Bits(bits) => {
                let units = self.units(&emit, part(emit.int(bits), 0), 1);
                self.vector(&emit, ty, self.elements(&emit, &units, 1, ty.element()))
            }
        };
        if let Some(section) = &section {
            section.end(self.hooks, &emit);
        }
        load.replace_uses(whole);
        load.erase();
    }

    fn store(&self, store: Value) {
        let value = store.operand(0);
        let ty = value.ty();
        let (Some(form), false) = (self.form(ty), is_atomic(store)) else {
            return;
        };
        let emit = self.before(store);
        let section = self.section(store, store.operand(1), ty);
        if let Some(section) = &section {
            section.begin(self.hooks, &emit, None);
        }
        let put = |part: Value, offset: u64| {
            let at = emit.offset(store.operand(1), emit.c64(offset));
            let part = emit.store(part, at);
            part.set_alignment(1);
            sharing::copy_note(self.context, store, part);
            atomics::copy_mark(self.context, store, part);
        };
        match form {
            Form::Wide => {
                let size = self.layout.store_size(ty);
                let all = emit.int(8 * size as u32);
                let whole = emit.zext(value, all);
                for (offset, bytes) in pieces(size) {
                    let down = emit.lshr(whole, all.constant(8 * offset));
                    put(emit.trunc(down, emit.int(8 * bytes)), offset);
                }
            }
            Form::Elements(size) => {
                for index in 0..ty.vector_length() {
                    let part = emit.extract_element(value, emit.c32(index));
                    put(part, u64::from(index) * size);
                }
            }
            Form::Bits(bits) => {
                let units = self.units(&emit, value, 1);
                put(self.joined(&emit, &units, 1, emit.int(bits)), 0);
            }
        }
        if let Some(section) = &section {
            section.end(self.hooks, &emit);
        }
        store.erase();
    }

    /// What makes one step of the parts, where a processor accesses them at once and others see them.
    fn section(&self, access: Value, pointer: Value, ty: Type) -> Option<Wide> {
        let private = sharing::is_private(self.context, access, 0);
        let whole = !private && is_whole(self.layout, access, ty);
        whole.then(|| Wide::vector(pointer, self.layout.store_size(ty)))
    }

    /// A vector of these elements.
    fn vector(&self, emit: &Emit, ty: Type, parts: impl IntoIterator<Item = Value>) -> Value {
        (0..).zip(parts).fold(ty.poison(), |whole, (index, part)| {
            emit.insert_element(whole, part, emit.c32(index))
        })
    }

    /// The bits of a scalar or vector in integers of `bits` bits, the low ones first.
    fn units(&self, emit: &Emit, value: Value, bits: u32) -> Vec<Value> {
        let scalars: Vec<Value> = match self.element(value.ty()) {
            Some(_) => (0..value.ty().vector_length())
                .map(|index| emit.extract_element(value, emit.c32(index)))
                .collect(),
            None => vec![value],
        };
        let size = self.layout.bits(scalars[0].ty()) as u32;
        let int = emit.int(size);
        let mut units = Vec::new();
        for scalar in scalars {
            let scalar = emit.bitcast(scalar, int);
            units.extend((0..size / bits).map(|index| {
                let down = emit.lshr(scalar, int.constant(u64::from(index * bits)));
                emit.trunc(down, emit.int(bits))
            }));
        }
        units
    }

    /// A scalar of such integers.
    fn joined(&self, emit: &Emit, units: &[Value], bits: u32, ty: Type) -> Value {
        let int = emit.int(self.layout.bits(ty) as u32);
        let parts = (0..).zip(units).map(|(index, &unit)| {
            let part = emit.zext(unit, int);
            emit.shl(part, int.constant(index * u64::from(bits)))
        });
        let whole = parts.reduce(|a, b| emit.or(a, b));
        emit.bitcast(whole.unwrap_or_else(|| int.constant(0)), ty)
    }

    /// Elements of such integers.
    fn elements(&self, emit: &Emit, units: &[Value], bits: u32, element: Type) -> Vec<Value> {
        let each = self.layout.bits(element) as u32 / bits;
        units
            .chunks(each as usize)
            .map(|units| self.joined(emit, units, bits, element))
            .collect()
    }

    /// Between vectors of different elements, or a vector and a scalar.
    fn bitcast(&self, i: Value) {
        let scalar = |ty: Type| match is_vector(ty) {
            true => self.element(ty),
            false => width(self.layout, ty).map(|_| ty),
        };
        let (from, to) = (i.operand(0).ty(), i.ty());
        if !is_vector(from) && !is_vector(to) {
            return;
        }
        let (Some(one), Some(other)) = (scalar(from), scalar(to)) else {
            return;
        };
        let size = |ty| self.layout.bits(ty) as u32;
        let bits = common_divisor(size(one), size(other));
        let pointer = [one, other]
            .map(Type::kind)
            .contains(&Kind::LLVMPointerTypeKind);
        if pointer || size(from) / bits > 2 * MAX_WIDTH {
            return;
        }
        let emit = self.before(i);
        let units = self.units(&emit, i.operand(0), bits);
        let elements = self.elements(&emit, &units, bits, other);
        let whole = match is_vector(to) {
            true => self.vector(&emit, to, elements),
            false => elements[0],
        };
        i.replace_uses(whole);
        i.erase();
    }

    /// `vector.reduce` of integers.
    fn reduction(&self, i: Value) {
        let Some(name) = i.intrinsic_called() else {
            return;
        };
        let operation = name.strip_prefix("vector.reduce.");
        let operation = operation.and_then(|rest| rest.split('.').next());
        let (Some(operation), Kind::LLVMIntegerTypeKind) = (operation, i.ty().kind()) else {
            return;
        };
        let vector = i.operand(0);
        if self.element(vector.ty()).is_none() {
            return;
        }
        let emit = self.before(i);
        let choose = |predicate, a, b| emit.select(emit.compare(predicate, a, b), a, b);
        let combine = |a: Value, b: Value| match operation {
            "add" => emit.add(a, b),
            "mul" => emit.mul(a, b),
            "and" => emit.and(a, b),
            "or" => emit.or(a, b),
            "xor" => emit.xor(a, b),
            "smax" => choose(Predicate::LLVMIntSGT, a, b),
            "smin" => choose(Predicate::LLVMIntSLT, a, b),
            "umax" => choose(Predicate::LLVMIntUGT, a, b),
            _ => choose(Predicate::LLVMIntULT, a, b),
        };
        let elements = (0..vector.ty().vector_length())
            .map(|index| emit.extract_element(vector, emit.c32(index)));
        if let Some(whole) = elements.reduce(combine) {
            i.replace_uses(whole);
            i.erase();
        }
    }
}

fn is_atomic(access: Value) -> bool {
    access.ordering() != Ordering::LLVMAtomicOrderingNotAtomic
}

/// So many bytes in pieces of 8, 4, 2 and 1: offset and bytes of each.
pub fn pieces(size: u64) -> impl Iterator<Item = (u64, u32)> {
    let mut offset = 0;
    core::iter::from_fn(move || {
        let bytes = [8, 4, 2, 1].into_iter().find(|&b| b <= size - offset)?;
        offset += bytes;
        Some((offset - bytes, bytes as u32))
    })
}

fn common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}
