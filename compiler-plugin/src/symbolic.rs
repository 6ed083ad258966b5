//! The symbolic body: a clone of the function that computes expressions beside its values.
//!
//! Every value that can be symbolic ([`taint`]) has one `i32` beside it per scalar part, the index
//! of its expression, 0 while it is concrete. Hooks that build expressions are called only where
//! an operand's index is not 0, so that concrete stretches run at nearly full speed.

mod arith;
mod atomics;
mod bounds;
mod calls;
mod control;
mod expand;
mod floats;
mod intrinsics;
mod leaf;
mod library;
mod memory;
mod polls;
mod prepare;
mod rounds;
mod settled;
mod taint;
mod terms;

use crate::hooks::Hooks;
use crate::ir::{Block, Context, Emit, Layout, Module, Opcode, Value};
use crate::locations;
use leaf::{leaves, width};
use raddle_protocol::expr::Why;
pub use rounds::{is_sleep, loops_of, only_waits, writes_constants};
pub use settled::forget;
use std::collections::{HashMap, HashSet};
use terms::{Term, Terms};

/// A symbolic body in the making.
struct Body<'a> {
    module: Module,
    context: Context,
    layout: Layout,
    hooks: &'a Hooks,
    terms: Terms<'a>,
    /// The function as callers know it.
    original: Value,
    function: Value,
    /// Values that can have an expression.
    tainted: HashSet<Value>,
    /// Expressions of the parts of values; of values not listed all are 0.
    shadows: HashMap<Value, Vec<Value>>,
    /// `None`: the function calls nothing.
    scratch: Option<library::Scratch>,
    /// Was the function called by a caller that hands expressions over? An `i1`.
    own: Value,
}

/// Makes `function`, a clone of `original`, its symbolic body.
pub fn instrument(module: Module, hooks: &Hooks, original: Value, function: Value) {
    let layout = module.layout();
    let context = module.context();
    function.simplify();
    prepare::run(module, hooks, function);
    rounds::test_at_the_end(function);
    settled::copy(module, hooks, function, &rounds::waiting(function));
    let order = reverse_postorder(function);
    let mut body = Body {
        module,
        context,
        layout,
        hooks,
        terms: Terms { hooks },
        original,
        function,
        tainted: taint::find(layout, function),
        shadows: HashMap::new(),
        scratch: None,
        own: context.int(1).constant(0),
    };
    let (loops, polls) = (rounds::find(&order), polls::find(&order));
    let mut instructions: Vec<Value> = order.into_iter().flat_map(Block::instructions).collect();
    instructions.retain(|&i| !settled::is_marked(i));
    body.enter();
    body.scratch = library::Scratch::new(&body, &instructions);
    let phis: Vec<Value> = instructions
        .iter()
        .copied()
        .filter(|i| i.opcode() == Opcode::LLVMPHI && body.tainted.contains(i))
        .collect();
    for &phi in &phis {
        body.open_phi(phi);
    }
    for instruction in instructions {
        body.visit(instruction);
    }
    for phi in phis {
        body.close_phi(phi);
    }
    rounds::mark(&body, &loops);
    polls::mark(&body, &polls);
}

fn reverse_postorder(function: Value) -> Vec<Block> {
    let mut order = Vec::new();
    let mut seen = HashSet::new();
    let mut stack: Vec<(Block, Vec<Block>)> = Vec::new();
    if let Some(entry) = function.first_block() {
        seen.insert(entry);
        stack.push((entry, entry.successors()));
    }
    while let Some((block, rest)) = stack.last_mut() {
        match rest.pop() {
            Some(next) if seen.insert(next) => stack.push((next, next.successors())),
            Some(_) => {}
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

impl Body<'_> {
    /// Emits before the instruction.
    fn before(&self, i: Value) -> Emit {
        Emit::new(self.context, i, locations::of(self.context, i))
    }

    /// Emits after the instruction, where its value can be used.
    fn after(&self, i: Value) -> Emit {
        let location = locations::of(self.context, i);
        let at = match i.opcode() {
            // `prepare` gave the edge a block of its own.
            Opcode::LLVMInvoke => i.normal_destination().first_non_phi(),
            _ => i.next(),
        };
        let at = at.expect("a value is used after it was made");
        Emit::new(self.context, at, location)
    }

    /// The expressions of the parts of a value.
    fn shadow(&self, value: Value) -> Vec<Value> {
        match self.shadows.get(&value) {
            Some(shadow) => shadow.clone(),
            None => vec![self.context.int(32).constant(0); leaves(self.layout, value.ty()).len()],
        }
    }

    /// The expression of a scalar.
    fn expr(&self, value: Value) -> Value {
        match self.shadows.get(&value).map(Vec::as_slice) {
            Some([expr]) => *expr,
            _ => self.context.int(32).constant(0),
        }
    }

    /// A scalar with its expression. Scalars with a width only.
    fn term(&self, value: Value) -> Term {
        Term {
            expr: self.expr(value),
            value,
            width: width(self.layout, value.ty()).unwrap_or(0),
        }
    }

    fn set_expr(&mut self, value: Value, expr: Value) {
        self.set_shadow(value, vec![expr]);
    }

    fn set_shadow(&mut self, value: Value, shadow: Vec<Value>) {
        debug_assert_eq!(shadow.len(), leaves(self.layout, value.ty()).len());
        if !shadow.iter().all(|&expr| terms::is_zero(expr)) {
            self.shadows.insert(value, shadow);
        }
    }

    /// Puts another value in the place of an instruction, which is erased.
    fn replace(&mut self, i: Value, by: Value) {
        i.replace_uses(by);
        if self.tainted.remove(&i) {
            self.tainted.insert(by);
        }
        self.erase(i);
    }

    /// Erases an instruction that nobody uses.
    fn erase(&mut self, i: Value) {
        self.tainted.remove(&i);
        self.shadows.remove(&i);
        i.erase();
    }

    fn open_phi(&mut self, phi: Value) {
        let emit = Emit::new(self.context, phi, locations::of(self.context, phi));
        let zero = emit.c32(0);
        let shadow = leaves(self.layout, phi.ty())
            .iter()
            .map(|leaf| match leaf.width {
                Some(_) => emit.phi(emit.int(32)),
                None => zero,
            })
            .collect();
        self.set_shadow(phi, shadow);
    }

    fn close_phi(&mut self, phi: Value) {
        let shadow = self.shadow(phi);
        for index in 0..phi.incoming_count() {
            let (value, block) = (phi.incoming_value(index), phi.incoming_block(index));
            let incoming = self.shadow(value);
            for (&part, &expr) in shadow.iter().zip(&incoming) {
                if !terms::is_zero(part) {
                    part.add_incoming(expr, block);
                }
            }
        }
    }

    fn visit(&mut self, i: Value) {
        use Opcode::*;
        match i.opcode() {
            LLVMPHI | LLVMLandingPad | LLVMUnreachable | LLVMResume => {}
            LLVMRet => self.ret(i),
            LLVMBr if self.guards(i) => self.guard(i),
            LLVMBr => self.branch(i),
            LLVMSwitch => self.switch(i),
            LLVMIndirectBr => {
                let term = self.term(i.operand(0));
                self.terms.decide(&mut self.before(i), term, Why::Address);
            }
            LLVMCall | LLVMInvoke | LLVMCallBr => self.call(i),
            LLVMAlloca => self.alloca(i),
            LLVMLoad | LLVMStore | LLVMFence | LLVMAtomicCmpXchg | LLVMAtomicRMW => self.access(i),
            LLVMExtractValue | LLVMInsertValue => self.part(i),
            LLVMExtractElement | LLVMInsertElement => self.element(i),
            LLVMSelect => self.select(i),
            LLVMFreeze => {
                let shadow = self.shadow(i.operand(0));
                if shadow.len() == leaves(self.layout, i.ty()).len() {
                    self.set_shadow(i, shadow);
                }
            }
            LLVMGetElementPtr if self.tainted.contains(&i) => self.address(i),
            opcode if arith::follows(opcode) && self.tainted.contains(&i) => self.arithmetic(i),
            _ if floats::follows(i) => self.floating(i),
            _ => self.not_followed(i),
        }
    }

    /// Records the loss where an operand is symbolic.
    fn not_followed(&mut self, i: Value) {
        let operands: Vec<Value> = i.operands().collect();
        self.lose_all(i, &operands, arith::why_not(i));
    }

    fn lose_all(&mut self, i: Value, operands: &[Value], why: Why) {
        let mut emit = self.before(i);
        let (numbers, others): (Vec<Value>, Vec<Value>) =
            operands.iter().partition(|&&one| arith::is_number(one));
        for number in numbers {
            self.terms.try_number(&mut emit, self.term(number));
        }
        let exprs: Vec<Value> = others.iter().flat_map(|&one| self.shadow(one)).collect();
        self.terms.lose(&mut emit, exprs, why);
    }

    /// `extractvalue` and `insertvalue`.
    fn part(&mut self, i: Value) {
        let whole = i.operand(0);
        let mut shadow = self.shadow(whole);
        if shadow.is_empty() {
            // Too many parts to follow.
            return self.not_followed(i);
        }
        let (first, ty) = leaf::position(self.layout, whole.ty(), &i.indices());
        let count = leaves(self.layout, ty).len();
        if i.opcode() == Opcode::LLVMExtractValue {
            self.set_shadow(i, shadow[first..first + count].to_vec());
        } else {
            let inserted = self.shadow(i.operand(1));
            shadow.splice(first..first + count, inserted);
            self.set_shadow(i, shadow);
        }
    }

    /// `extractelement` and `insertelement`.
    fn element(&mut self, i: Value) {
        let extracts = i.opcode() == Opcode::LLVMExtractElement;
        let mut shadow = self.shadow(i.operand(0));
        let index = i.operand(if extracts { 1 } else { 2 }).as_int_constant();
        let index = index.map_or(usize::MAX, |index| index.int_value() as usize);
        if index >= shadow.len() {
            return self.not_followed(i);
        }
        if extracts {
            self.set_expr(i, shadow[index]);
        } else {
            shadow[index] = self.expr(i.operand(1));
            self.set_shadow(i, shadow);
        }
    }

    fn select(&mut self, i: Value) {
        let (condition, a, b) = (i.operand(0), i.operand(1), i.operand(2));
        let leaves = leaves(self.layout, i.ty());
        let mut emit = self.after(i);
        match leaves.as_slice() {
            [leaf::Leaf { width: Some(_), .. }]
                if self.tainted.contains(&i) && width(self.layout, i.ty()).is_some() =>
            {
                let (a, b) = (self.term(a), self.term(b));
                let expr = self.terms.ite_expr(&mut emit, self.term(condition), a, b);
                self.set_expr(i, expr);
            }
            _ if width(self.layout, condition.ty()).is_some() => {
                // The choice is a decision, the parts come from one side.
                let term = self.term(condition);
                self.terms.decide(&mut emit, term, Why::Type);
                let (a, b) = (self.shadow(a), self.shadow(b));
                let chosen = |(&a, &b): (&Value, &Value)| {
                    if terms::is_zero(a) && terms::is_zero(b) {
                        a
                    } else {
                        emit.select(condition, a, b)
                    }
                };
                let shadow = a.iter().zip(&b).map(chosen).collect();
                self.set_shadow(i, shadow);
            }
            _ => self.not_followed(i),
        }
    }
}
