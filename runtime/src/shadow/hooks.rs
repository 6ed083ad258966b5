//! The exports that instrumented code calls in its symbolic bodies.

use super::access::{Access, decide, fit, updated};
use super::blocks::UnderWay;
use super::calls::has_symbolic_body;
use super::library::foreign;
use super::nodes::Expr;
use super::simplify::Operand;
use super::{blocks, branch, built, calls, library, lost, mask, world};
use crate::access::{Byte, Update};
use crate::gate;
use crate::io::stream_locks;
use crate::states;
use crate::vars;
use core::ffi::c_void;
use raddle_protocol::event::Kind;
use raddle_protocol::expr::{Op, Why};
use raddle_protocol::hooks::{STORE_COUNT, STORE_EARLY, STORE_LAST, STORE_REST, size_and_order};

type Address = *mut c_void;

crate::hooks! { ROWS:
    fn raddle_sym_read(at: Address, size: u32, at_expr: u32) -> u64 = read;
    fn raddle_sym_write(at: Address, value: u64, size: u32, at_expr: u32, expr: u32) = write;
    fn raddle_sym_atomic_load(at: Address, size: u32, order: u32, at_expr: u32) -> u64 = atomic_load;
    fn raddle_sym_atomic_store(at: Address, value: u64, size: u32, order: u32, expr: u32)
        = atomic_store;
    fn raddle_sym_atomic_rmw(at: Address, value: u64, op: u32, manner: u32, expr: u32) -> u64
        = atomic_rmw;
    fn raddle_sym_atomic_cas(at: Address, expected: u64, new: u64, manner: u32, exprs: u64) -> u64
        = atomic_cas;
    fn raddle_sym_local_load(at: Address, size: u32) -> u32 = local_load;
    fn raddle_sym_local_store(at: Address, size: u32, expr: u32) = local_store;
    fn raddle_sym_copy(to: Address, from: Address, len: u64, len_expr: u32) = copy;
    fn raddle_sym_set(to: Address, byte: Byte, len: u64, expr: u32, len_expr: u32) = set;
    fn raddle_sym_forget(at: Address, len: u64) = forget;
    fn raddle_sym_will_store(callee: Address, at: Address, len: u64, how: u32, call: Address)
        = will_store;
    fn raddle_sym_stored(callee: Address, at: Address, len: u64, how: u32, call: Address) = stored;
    fn raddle_sym_binary(op: u32, a: u32, b: u32, av: u64, bv: u64) -> u32 = binary;
    fn raddle_sym_cast(op: u32, a: u32) -> u32 = cast;
    fn raddle_sym_wide(width: u32, expr: u32, low: u64, high: u64) -> u32 = wide;
    fn raddle_sym_ite(width: u32, condition: u32, exprs: u64, av: u64, bv: u64) -> u32 = ite;
    fn raddle_sym_call(callee: Address, index: u32, expr: u32, value: u64) = call;
    fn raddle_sym_call_wide(callee: Address, index: u32, expr: u32, low: u64, high: u64) = call_wide;
    fn raddle_sym_branch(expr: u32, value: u64, why: u32) = branch_from;
    fn raddle_sym_lost(why: u32) = lost_from;
    fn raddle_sym_number(expr: u32, value: u64, width: u32) = number;
    fn raddle_sym_round(again: u32) = round;
    fn raddle_sym_polled(round: u32) -> u32 = polled;
    fn raddle_sym_settled(stretches: Address, count: u32) -> u32 = settled;
    fn raddle_sym_bounds(base: Address, size: u64, at: Address, len: u64, exprs: u64) = bounds;
}

#[inline(always)]
fn access(kind: Kind, at: Address, size: u32, pc: usize) -> Access {
    Access::new(kind, at as u64, size, pc)
}

/// An operand of `width` bits; an expression that does not fit it is made to.
fn operand(expr: Expr, value: u64, width: u8) -> Operand {
    Operand {
        expr: fit(&mut world().nodes, expr, width),
        value: value & mask(width),
    }
}

/// The two halves of a packed pair.
fn pair(exprs: u64) -> (Expr, Expr) {
    (exprs as u32, (exprs >> 32) as u32)
}

unsafe extern "C-unwind" fn read(at: Address, size: u32, at_expr: u32, pc: usize) -> u64 {
    if at_expr != 0
        && let Some((value, expr)) = library::character_class(at as u64, at_expr, size, pc)
    {
        vars::set_result(expr);
        return value;
    }
    decide(at_expr, at as u64, Why::Address, pc);
    let (value, expr) = access(Kind::Read, at, size, pc).read();
    vars::set_result(expr);
    value
}

unsafe extern "C-unwind" fn write(
    at: Address,
    value: u64,
    size: u32,
    at_expr: u32,
    expr: u32,
    pc: usize,
) {
    decide(at_expr, at as u64, Why::Address, pc);
    access(Kind::Write, at, size, pc).write(value, expr);
}

unsafe extern "C-unwind" fn atomic_load(
    at: Address,
    size: u32,
    order: u32,
    at_expr: u32,
    pc: usize,
) -> u64 {
    decide(at_expr, at as u64, Why::Address, pc);
    let access = access(Kind::AtomicRead, at, size, pc).ordered(order);
    let (value, expr) = access.read();
    vars::set_result(expr);
    value
}

unsafe extern "C-unwind" fn atomic_store(
    at: Address,
    value: u64,
    size: u32,
    order: u32,
    expr: u32,
    pc: usize,
) {
    let access = access(Kind::AtomicWrite, at, size, pc).ordered(order);
    access.write(value, expr);
}

unsafe extern "C-unwind" fn atomic_rmw(
    at: Address,
    value: u64,
    op: u32,
    manner: u32,
    expr: u32,
    pc: usize,
) -> u64 {
    let (size, order) = size_and_order(manner);
    let width = (8 * size) as u8;
    let new = operand(expr, value, width);
    let op = Update::from_code(op);
    let access = access(Kind::Rmw, at, size, pc).ordered(order);
    let (old, expr) = access.update(|nodes, old| {
        let expr = updated(nodes, op, width, old, new);
        (op.apply(old.value, new.value, size), expr)
    });
    vars::set_result(expr);
    old
}

unsafe extern "C-unwind" fn atomic_cas(
    at: Address,
    expected: u64,
    new: u64,
    manner: u32,
    exprs: u64,
    pc: usize,
) -> u64 {
    let (size, orders) = size_and_order(manner);
    let width = (8 * size) as u8;
    let (expected_expr, new_expr) = pair(exprs);
    let expected = operand(expected_expr, expected, width);
    let new = operand(new_expr, new, width);
    let access = access(Kind::Rmw, at, size, pc).exchanging(expected.value, orders);
    let (old, expr) = access.update(|nodes, old| {
        let equal = Operand {
            expr: nodes.binary(Op::Eq, width, old, expected),
            value: u64::from(old.value == expected.value),
        };
        let written = if equal.value != 0 { new } else { old };
        (written.value, nodes.ite(width, equal, new, old))
    });
    vars::set_result(expr);
    old
}

unsafe extern "C-unwind" fn local_load(at: Address, size: u32, pc: usize) -> u32 {
    access(Kind::Read, at, size, pc).shadow()
}

unsafe extern "C-unwind" fn local_store(at: Address, size: u32, expr: u32, pc: usize) {
    access(Kind::Write, at, size, pc).set_shadow(expr);
}

unsafe extern "C-unwind" fn copy(to: Address, from: Address, len: u64, len_expr: u32, pc: usize) {
    decide(len_expr, len, Why::Size, pc);
    blocks::copy(to as u64, from as u64, len, pc);
}

unsafe extern "C-unwind" fn set(
    to: Address,
    byte: Byte,
    len: u64,
    expr: u32,
    len_expr: u32,
    pc: usize,
) {
    decide(len_expr, len, Why::Size, pc);
    blocks::set(to as u64, byte.get(), len, expr, pc);
}

unsafe extern "C-unwind" fn forget(at: Address, len: u64, pc: usize) {
    blocks::forget(at as u64, len, pc);
}

unsafe extern "C-unwind" fn will_store(
    callee: Address,
    at: Address,
    len: u64,
    how: u32,
    call: Address,
    pc: usize,
) {
    if !has_symbolic_body(callee as usize) {
        let early = how & STORE_EARLY != 0;
        under_way(callee, call).will_store(at as u64, len, early, pc);
    }
}

/// A call of this function, for which an address in the caller's frame stands.
fn under_way(callee: Address, call: Address) -> UnderWay {
    let named = states::pages_may_go().then(|| foreign::name_of(callee as usize));
    match named.flatten().and_then(|name| name.to_str().ok()) {
        Some(name) => UnderWay::of(name, call as usize),
        None => UnderWay::with(call as usize),
    }
}

unsafe extern "C-unwind" fn stored(
    callee: Address,
    at: Address,
    len: u64,
    how: u32,
    call: Address,
    pc: usize,
) {
    if !has_symbolic_body(callee as usize) {
        if how & STORE_REST != 0 {
            // It returns again.
            if call.is_null() {
                return;
            }
            let arguments = (call, (how >> STORE_COUNT) as usize);
            // SAFETY: by the contract of the hook; the arguments are in the caller's frame.
            return unsafe { library::stored(callee, at, arguments, len as i64, pc) };
        }
        let (key, call) = (call as usize, under_way(callee, call));
        if how & STORE_LAST != 0 {
            call.has_changed(pc);
            call.returned();
            stream_locks::leave(key, pc);
        } else {
            // SAFETY: what the function stored, as the compiler plugin knows it.
            unsafe { call.stored(at as u64, len, how, pc) };
        }
    }
}

unsafe extern "C-unwind" fn binary(op: u32, a: u32, b: u32, av: u64, bv: u64, pc: usize) -> u32 {
    let width = (op >> 8) as u8;
    let Some(op) = Op::from_u8(op as u8).filter(|op| op.arity() == 2) else {
        lost(Why::Type, pc);
        return 0;
    };
    let (a, b) = (operand(a, av, width), operand(b, bv, width));
    let nodes = &mut world().nodes;
    let expr = match op {
        Op::Concat => 0,
        op => nodes.binary(op, width, a, b),
    };
    built(expr, pc)
}

unsafe extern "C-unwind" fn cast(op: u32, a: u32, pc: usize) -> u32 {
    let (from, to) = ((op >> 8) as u8, (op >> 16) as u8);
    let nodes = &mut world().nodes;
    let a = fit(nodes, a, from);
    let expr = match Op::from_u8(op as u8) {
        Some(op @ (Op::ZExt | Op::SExt)) => nodes.extend(op, a, to),
        Some(Op::Extract) => nodes.extract(a, 0, to),
        _ => {
            lost(Why::Type, pc);
            0
        }
    };
    built(expr, pc)
}

unsafe extern "C-unwind" fn wide(width: u32, expr: u32, low: u64, high: u64, pc: usize) -> u32 {
    let nodes = &mut world().nodes;
    let made = match expr {
        0 => nodes.wide_constant(width as u8, low, high),
        expr => fit(nodes, expr, width as u8),
    };
    built(made, pc)
}

unsafe extern "C-unwind" fn ite(
    width: u32,
    condition: u32,
    exprs: u64,
    av: u64,
    bv: u64,
    pc: usize,
) -> u32 {
    let (a, b) = pair(exprs);
    let condition = operand(condition, u64::from(width >> 8), 1);
    let width = width as u8;
    let (a, b) = (operand(a, av, width), operand(b, bv, width));
    built(world().nodes.ite(width, condition, a, b), pc)
}

unsafe extern "C-unwind" fn call(callee: Address, index: u32, expr: u32, value: u64, pc: usize) {
    calls::pass(callee as usize, index, expr, value, pc);
}

unsafe extern "C-unwind" fn call_wide(
    callee: Address,
    index: u32,
    expr: u32,
    low: u64,
    high: u64,
    pc: usize,
) {
    calls::pass_wide(callee as usize, index, expr, [low, high], pc);
}

unsafe extern "C-unwind" fn branch_from(expr: u32, value: u64, why: u32, pc: usize) {
    let why = Why::from_u8(why as u8).unwrap_or(Why::Branch);
    branch(expr, value, why, pc);
}

unsafe extern "C-unwind" fn number(expr: u32, value: u64, width: u32, pc: usize) {
    super::floating::decide(expr, value, width as u8, pc);
}

unsafe extern "C-unwind" fn round(again: u32, pc: usize) {
    if gate::active() {
        gate::round(again != 0, pc, |at| world().cells.any_shared(at, 1));
    }
}

unsafe extern "C-unwind" fn polled(round: u32, _: usize) -> u32 {
    (round != 0 && gate::active() && gate::follows_rounds()).into()
}

unsafe extern "C-unwind" fn settled(stretches: Address, count: u32, _: usize) -> u32 {
    // SAFETY: instrumented code has written so many of them there.
    let stretches = unsafe { core::slice::from_raw_parts(stretches.cast(), count as usize) };
    super::settled::may_run(stretches).into()
}

unsafe extern "C-unwind" fn bounds(
    base: Address,
    size: u64,
    at: Address,
    len: u64,
    exprs: u64,
    pc: usize,
) {
    let (at_expr, len_expr) = pair(exprs);
    let operand = |expr, value| operand(expr, value, 64);
    let block = (base as u64, size);
    super::bounds::check(
        block,
        operand(at_expr, at as u64),
        operand(len_expr, len),
        pc,
    );
}

unsafe extern "C-unwind" fn lost_from(why: u32, pc: usize) {
    lost(Why::from_u8(why as u8).unwrap_or(Why::Type), pc);
}
