//! Inline assembly: what it does, and system calls by it.

mod text;

use crate::convert::widened;
use crate::hooks::Hooks;
use crate::ir::{Emit, Kind, Module, Opcode, Predicate, Value};
use crate::locations;
use raddle_protocol::hooks::assembly;
use text::Does;

/// Inline assembly, or an instruction by an intrinsic, of which there is something to tell.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// One of [`assembly`]'s.
    what: u32,
    /// What the processor is asked for.
    which: Option<Value>,
    /// How it is named, where it is not plain.
    name: Option<String>,
}

impl Assembly {
    /// What accesses memory in ways that nobody knows.
    pub const MEMORY: Assembly = Assembly::of_kind(assembly::MEMORY);

    const fn of_kind(what: u32) -> Assembly {
        Assembly {
            what,
            which: None,
            name: None,
        }
    }

    fn differs(name: String) -> Assembly {
        Assembly {
            name: Some(name),
            ..Assembly::of_kind(assembly::DIFFERS)
        }
    }

    /// What there is to tell of a call of inline assembly.
    pub fn of(call: Value) -> Option<Assembly> {
        let code = call.callee().as_inline_asm()?;
        let constraints = Constraint::all(call);
        let memory: Vec<bool> = constraints.iter().map(|one| one.is_memory).collect();
        let asks = |what: u32, register: &str, name: &str| {
            let given = constraints.iter().find(|one| one.goes_in(register));
            let which = given.and_then(|one| one.value);
            let number = which.filter(|value| value.ty().kind() == Kind::LLVMIntegerTypeKind);
            match number {
                Some(number) => Assembly {
                    which: Some(number),
                    name: Some(named(name)),
                    ..Assembly::of_kind(what)
                },
                None => Assembly::differs(named(name)),
            }
        };
        match text::does(&code.asm_text(), code.is_intel(), &memory) {
            Does::Nothing => None,
            Does::Fence => Some(Assembly::of_kind(assembly::FENCE)),
            Does::Accesses => Some(Assembly::MEMORY),
            Does::AsksState => Some(asks(assembly::STATE, "cx", "xgetbv")),
            Does::AsksProcessor => Some(asks(assembly::PROCESSOR, "ax", "cpuid")),
            Does::Differs(name) => {
                let calls = ["syscall", "sysenter", "int"].contains(&name.as_str());
                Some(Assembly::differs(match calls {
                    true => "a system call by inline assembly".into(),
                    false => named(&name),
                }))
            }
        }
    }

    /// Is this inline assembly that does nothing but to pause, or to keep accesses in order?
    pub fn only_pauses(call: Value) -> bool {
        let is_one =
            call.callee().as_inline_asm().is_some() && call.ty().kind() == Kind::LLVMVoidTypeKind;
        is_one && Assembly::of(call).is_none_or(|one| one.what == assembly::FENCE)
    }

    /// What there is to tell of an intrinsic that is an instruction of the processor.
    pub fn of_intrinsic(call: Value, name: &str) -> Option<Assembly> {
        /// Their results differ from processor to processor, or from moment to moment.
        const DIFFERING: &str = "rdpid rdpmc xbegin umwait tpause testui";
        let instruction = name.strip_prefix("x86.")?;
        if instruction == "xgetbv" {
            return Some(Assembly {
                which: Some(call.operand(0)),
                name: Some(instruction.into()),
                ..Assembly::of_kind(assembly::STATE)
            });
        }
        let is_one = DIFFERING.split(' ').any(|one| one == instruction);
        is_one.then(|| Assembly::differs(instruction.into()))
    }

    /// May it do something else in another execution? That is told of also while there is one thread only,
    /// and of no access.
    pub fn may_differ(&self) -> bool {
        self.name.is_some()
    }

    /// Tells of it.
    pub fn tell(&self, hooks: &Hooks, module: Module, emit: &Emit) {
        let null = module.context().pointer().null();
        let name = self.name.as_deref();
        let name = name.map_or(null, |name| module.text(name));
        let which = self.which.map_or(emit.c64(0), |which| widened(emit, which));
        hooks.call(emit, "raddle_asm", &[emit.c32(self.what), which, name]);
    }
}

fn named(instruction: &str) -> String {
    format!("inline assembly: {instruction}")
}

/// An operand of inline assembly.
struct Constraint {
    /// The register that it has to be in, such as `ax`; empty: any.
    register: String,
    is_output: bool,
    is_memory: bool,
    /// What goes in.
    value: Option<Value>,
}

impl Constraint {
    /// Those of a call, in the order in which the text numbers them.
    fn all(call: Value) -> Vec<Constraint> {
        let constraints = call.callee().as_inline_asm().map(Value::asm_constraints);
        let constraints = constraints.unwrap_or_default();
        let mut arguments = call.arguments();
        let mut all: Vec<Constraint> = Vec::new();
        for text in constraints.split(',') {
            // Clobbers, and labels.
            if text.is_empty() || text.starts_with(['~', '!']) {
                continue;
            }
            let (is_output, is_memory) = (text.starts_with('='), text.contains('*'));
            let own = text
                .split_once('{')
                .and_then(|(_, rest)| rest.split_once('}'));
            let tied = text
                .parse::<usize>()
                .ok()
                .and_then(|number| all.get(number));
            let register = match (own, tied) {
                (Some((register, _)), _) => register.trim_start_matches('r').to_owned(),
                (None, Some(output)) => output.register.clone(),
                (None, None) => String::new(),
            };
            let value = match is_output && !is_memory {
                true => None,
                false => arguments.next(),
            };
            all.push(Constraint {
                register,
                is_output,
                is_memory,
                value,
            });
        }
        all
    }

    fn goes_in(&self, register: &str) -> bool {
        !self.is_output && self.register == register
    }
}

/// The registers of a system call's arguments, without the letter before numbers.
const ARGUMENTS: [&str; 6] = ["di", "si", "dx", "10", "8", "9"];

/// System calls that return in another frame than they were made in, or twice in one.
const IN_OTHER_FRAMES: [u64; 4] = [
    15,  // rt_sigreturn
    56,  // clone
    58,  // vfork
    435, // clone3
];

/// Makes system calls by inline assembly calls of the C library's `syscall`, of which all that has to be
/// known is known.
pub fn call_library(module: Module, function: Value) {
    for instruction in function.instructions() {
        if let Some(call) = SystemCall::of(instruction) {
            call.replace(module);
        }
    }
}

struct SystemCall {
    call: Value,
    number: Value,
    arguments: Vec<Option<Value>>,
}

impl SystemCall {
    /// A call with the kernel's registers and one result.
    fn of(call: Value) -> Option<SystemCall> {
        let is_call = call.opcode() == Opcode::LLVMCall && !call.is_must_tail();
        let code = is_call.then(|| call.callee().as_inline_asm()).flatten()?;
        if code.asm_text().trim() != "syscall" {
            return None;
        }
        let constraints = Constraint::all(call);
        let known = |one: &Constraint| {
            !one.is_memory && (one.register == "ax" || ARGUMENTS.contains(&one.register.as_str()))
        };
        let (outputs, inputs): (Vec<&Constraint>, Vec<&Constraint>) =
            constraints.iter().partition(|one| one.is_output);
        let simple = |value: Value| {
            let kind = value.ty().kind();
            kind == Kind::LLVMPointerTypeKind
                || kind == Kind::LLVMIntegerTypeKind && value.ty().int_width() <= 64
        };
        let result = match outputs.as_slice() {
            [] => true,
            [one] => one.register == "ax" && !one.is_memory && simple(call),
            _ => false,
        };
        if !result
            || !inputs
                .iter()
                .all(|one| known(one) && one.value.is_some_and(simple))
        {
            return None;
        }
        let given = |register: &str| {
            let one = inputs.iter().find(|one| one.goes_in(register));
            one.and_then(|one| one.value)
        };
        Some(SystemCall {
            call,
            number: given("ax")?,
            arguments: ARGUMENTS.iter().map(|register| given(register)).collect(),
        })
    }

    fn replace(&self, module: Module) {
        let (i, context) = (self.call, module.context());
        let word = context.int(64);
        let syscall_type = word.variadic_function(&[word]);
        let defined = module.function("syscall");
        if defined.is_some_and(|function| !function.is_declaration()) {
            return;
        }
        let syscall = defined.unwrap_or_else(|| module.declare_function("syscall", syscall_type));
        let place = context.pointer().function(&[]);
        let errno = module.function("__errno_location");
        let errno = errno.unwrap_or_else(|| module.declare_function("__errno_location", place));

        let location = locations::of(context, i);
        let mut emit = Emit::new(context, i, location);
        let as_given = |emit: &Emit, value: Value| match value.ty().kind() {
            Kind::LLVMPointerTypeKind => value,
            _ => widened(emit, value),
        };
        let number = match self.number.ty().kind() {
            Kind::LLVMPointerTypeKind => emit.ptr_to_int(self.number, word),
            _ => widened(&emit, self.number),
        };
        let is =
            |emit: &Emit, other: u64| emit.compare(Predicate::LLVMIntEQ, number, emit.c64(other));
        let first = is(&emit, IN_OTHER_FRAMES[0]);
        let stays = IN_OTHER_FRAMES[1..].iter().fold(first, |any, &other| {
            let is_other = is(&emit, other);
            emit.or(any, is_other)
        });
        let after = i.next().expect("it does not end a block");
        emit.move_to(after, location);
        let (rare, usual) = emit.fork(stays);
        i.move_before(rare);
        let result = emit.inside(usual, |emit| {
            let none = emit.c64(0);
            let mut arguments = vec![number];
            for argument in &self.arguments {
                arguments.push(argument.map_or(none, |argument| as_given(emit, argument)));
            }
            let at = emit.call(place, errno, &[]);
            let before = emit.load(emit.int(32), at);
            let result = emit.call(syscall_type, syscall, &arguments);
            let failed = emit.compare(Predicate::LLVMIntEQ, result, emit.c64(u64::MAX));
            let error = emit.sext(emit.load(emit.int(32), at), emit.int(64));
            let negative = emit.sub(none, error);
            emit.store(before, at);
            let result = emit.select(failed, negative, result);
            match i.ty().kind() {
                Kind::LLVMPointerTypeKind => emit.int_to_ptr(result, i.ty()),
                Kind::LLVMIntegerTypeKind if i.ty().int_width() < 64 => emit.trunc(result, i.ty()),
                _ => result,
            }
        });
        if i.first_use().is_some() {
            let phi = emit.phi(i.ty());
            i.replace_uses(phi);
            phi.add_incoming(i, rare.block());
            phi.add_incoming(result, usual.block());
        }
    }
}
