//! The functions and variables that the compiler plugin refers to and `libraddle.so` exports: one
//! table for both. The runtime assigns each export to the declared type; the plugin declares LLVM
//! functions from [`TABLE`].
//!
//! # Two bodies per function
//! The plugin keeps each function's body once with scheduling hooks (guarded by [`MODE`] bit 0)
//! and once as a clone with hooks and symbolic shadow, entered when [`MODE`] has bit 1. So one
//! build serves `run` and `verify`.
//!
//! # Expressions across calls
//! Around every call in a symbolic body:
//! 1. The caller sets [`CALLEE`] to the callee's address and [`RETURNER`] to 0, and puts the
//!    expression of argument `i` into `ARGS[i]`: 0 directly, any other through
//!    `raddle_sym_call(callee, i, expr, value)`, which stores it when the callee can take it (the
//!    eight bytes before its entry are [`PREFIX`], or it is a function that the runtime models)
//!    and otherwise records that the argument was concretised (a Branch with `Why::Call`) and
//!    stores 0. An `i` of [`ARGS_LEN`] stands for an argument that no callee can take (a variadic
//!    one, or one too many): it is always recorded, nothing is stored. An argument of more than 64
//!    bits goes through `raddle_sym_call_wide` instead.
//!    Expressions of arguments have the width of the parameter: integers theirs, pointers 64,
//!    floating point numbers that of their bits, and so vectors of up to 128 bits, the first element
//!    lowest; others have none. Of an argument that is passed by value in memory
//!    (`byval`) [`COPIES`]`[i]` holds the address of memory with the same bytes; the callee copies
//!    their expressions from there.
//! 2. A symbolic callee reads [`CALLEE`] at its entry. If that is its own address it takes
//!    [`ARGS`]; otherwise its arguments are concrete. It sets [`CALLEE`] to 0.
//! 3. At its return, a callee that was entered with its own address stores the expression in
//!    [`RESULT`] and its address in [`RETURNER`]. One that was not (a call from code that is not
//!    instrumented, a canonical PLT entry) stores 0 in [`RETURNER`], and if its result is symbolic
//!    records that it was concretised (`raddle_sym_branch` with `Why::Call`).
//!    Functions of the runtime copy [`CALLEE`] to [`RETURNER`] instead of using their address.
//! 4. The caller takes [`RESULT`] if [`RETURNER`] is the callee's address, else the result is
//!    concrete. Of a result of several scalar parts (at most 16; structures and vectors in registers)
//!    [`RESULT`] holds the expression of the first and `ARGS[1]`, `ARGS[2]` … those of the others.
//!
//! # Functions with one body
//! A function that is variadic, whose blocks' addresses are taken (computed goto), or that will
//! become a coroutine has the scheduling body only and no [`PREFIX`], and so have those of large files
//! that were left out ([`LEFT_OUT`]). There [`MODE`]'s bit 1 has it
//! go through the scheduling hooks, too, so these have to treat what they read as decided upon
//! (`Why::Memory`) and what they write as concrete; block operations it does by `raddle_sym_copy`
//! and `raddle_sym_set`, and of its private variables it tells the shadow by the local hooks. Its
//! calls of the C library and of unknown functions go through the same hooks as those of symbolic
//! bodies, with concrete arguments; a symbolic result is decided upon. Arguments that are passed by
//! value in memory it takes as a symbolic callee does.
//!
//! # Shadow of memory
//! There is one shadow for all memory: what a frame stores with `raddle_sym_local_store` a callee
//! may read with `raddle_sym_read`. Expressions of cells have 8 × size bits. Each variable on the
//! stack is forgotten (`raddle_sym_forget`) when it comes into being.
//!
//! These are plain globals, not thread-local: no switch can happen between the store and the use.
//! Hooks that yield an expression besides a value leave it in [`RESULT`] (0: concrete).

/// Of `raddle_sym_will_store`, instead of a length.
pub const STORE_ANY: u64 = u64::MAX;
/// Of `raddle_sym_stored`: it is a text, the length is a limit.
pub const STORE_TEXT: u32 = 1;
/// Of `raddle_sym_stored`: what the call has begun sees it.
pub const STORE_EARLY: u32 = 2;
/// Of `raddle_sym_stored`: nobody has told of it before the call, and at first it was zero.
pub const STORE_ZEROED: u32 = 4;
/// Of `raddle_sym_stored`: the call has returned, and there is no more to tell of.
pub const STORE_LAST: u32 = 8;
/// Of `raddle_sym_stored`: the call has returned, the length is its result, the address leads to the
/// function's name (null: it is not known); what else it has stored ([`crate::library::rest`]) is looked
/// up. From the bit [`STORE_COUNT`] on stands how many arguments lie where `call` leads.
pub const STORE_REST: u32 = 16;
pub const STORE_COUNT: u32 = 8;

/// Most loops in each other that `raddle_sym_settled` is asked about.
pub const STRETCH_LEVELS: usize = 3;

/// Most [`Stretch`]es that it is asked about at once.
pub const STRETCHES: usize = 16;

/// All that one access in loops reaches: `size` bytes at `start + Σ step × i` for each level's `i` below
/// its count.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Stretch {
    pub start: u64,
    pub size: u64,
    /// The variable in which it has to stay, and its bytes; (0, 0): none is known.
    pub base: u64,
    pub room: u64,
    /// `STRETCH_…`.
    pub manner: u64,
    /// Step, in two's complement, and count, from the innermost loop outwards.
    pub levels: [[u64; 2]; STRETCH_LEVELS],
}

/// Bit of the manner of a [`Stretch`]: the access writes.
pub const STRETCH_WRITES: u64 = 1;
/// Bit of the same: only the running function sees the memory.
pub const STRETCH_LOCAL: u64 = 2;
/// Bit of the same: nobody ever writes the memory.
pub const STRETCH_CONSTANT: u64 = 4;
/// Bit of the same: each of these accesses happens.
pub const STRETCH_ALWAYS: u64 = 8;

/// What the name of a function's symbolic body has at its end.
pub const SYMBOLIC_BODY: &str = ".raddle";

/// The eight bytes before the entry of every function that has a symbolic body (LLVM prefix data).
pub const PREFIX: u64 = u64::from_le_bytes(*b"RaddleFn");

/// The same of every other function with hooks, and of symbolic bodies.
pub const HOOKED: u64 = u64::from_le_bytes(*b"RaddleHk");

/// With these four bytes begins what clang puts between that and the entry for
/// `-fsanitize=function`.
pub const SIGNATURE: u32 = 0xc105_cafe;

/// `u32`, bits: 1 accesses are scheduling points now; 2 symbolic. Read by instrumented code
/// before every hook.
pub const MODE: &str = "raddle_mode";
/// A module that may assign to one of the standard streams (`stdin = h`) refers to this.
pub const ASSIGNS_STREAMS: &str = "raddle_assigns_streams";
/// One whose `main` gets the environment refers to this variable of the C library.
pub const ENVIRONMENT: &str = "environ";
/// What the hooks around a call of the C library say of it.
pub mod call {
    /// The low bits: the number of its row and 1 (0: it has none).
    pub const ROW: u64 = 0xffff;
    /// It uses what the library keeps between calls ([`crate::effects::State`]).
    pub const STATE: u64 = 1 << 16;
    /// From this bit on, one for each of [`PRIVATE_LEN`] arguments: it leads to memory that nobody else
    /// knows of.
    pub const PRIVATE: u32 = 32;
    pub const PRIVATE_LEN: u32 = 31;
    /// Arguments that a frame has place for.
    pub const ARGUMENTS: usize = 32;
    /// Accesses that it has place for.
    pub const TOLD: usize = 24;

    /// What the two hooks of a call share, in a variable of the caller.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct Frame {
        /// How many arguments there are; the caller writes them.
        pub count: u64,
        pub arguments: [u64; ARGUMENTS],
        /// Where the text ends that strtok is given; for the runtime alone, as the others below.
        pub end: u64,
        /// How many accesses were told of before the call, and one; and which. 0: none was, the
        /// caller writes that.
        pub told: u64,
        pub list: [[u64; 2]; TOLD],
        /// What the hook before the call was told, or what that came to where the call is a system call by
        /// its number.
        pub what: u64,
    }

    /// Words of a frame.
    pub const WORDS: u64 = (size_of::<Frame>() / 8) as u64;
}

/// Bit of the shape of a call that `raddle_sym_foreign` announces: what it is given leaves the
/// program.
pub const FOREIGN_OUTPUT: u64 = 1 << 63;
/// Bit of the same shape: the callee is of this file and has no hooks, so what it reads besides its
/// arguments is not known either.
pub const FOREIGN_BLIND: u64 = 1 << 62;
/// Bit of the same shape: it is known what the callee reads ([`crate::library::reads`]).
pub const FOREIGN_READS: u64 = 1 << 61;
/// The same shape, from this bit on for each of [`FOREIGN_WRITTEN_LEN`] arguments: what it leads to may
/// be written.
pub const FOREIGN_WRITTEN: u32 = 40;
pub const FOREIGN_WRITTEN_LEN: u32 = 16;
/// Bit of the same shape: the callee accesses memory as nothing else tells ([`crate::library::rest`]), or
/// in ways that are not known.
pub const FOREIGN_MORE: u64 = 1 << 57;
/// Bit of the same shape: the caller tells of what the callee stores, if it knows the callee
/// ([`crate::library::stores`]), and that it has returned (`raddle_sym_stored`).
pub const FOREIGN_STORES: u64 = 1 << 58;
/// Bit of the same shape: it keeps something between calls ([`crate::effects::State`]).
pub const FOREIGN_STATE: u64 = 1 << 59;
/// Bit of the model that `raddle_sym_library` gets, for the same.
pub const LIBRARY_STATE: u32 = 1 << 15;
/// Bit of the same shape: the program uses the result.
pub const FOREIGN_USED: u64 = 1 << 60;
/// Bit of [`MODE`].
pub const MODE_ACCESSES: u32 = 1;
/// Bit of [`MODE`].
pub const MODE_SYMBOLIC: u32 = 2;
/// Bit of [`MODE`]: of calls is told that use only what few programs change
/// ([`crate::effects::State::only_with`]).
pub const MODE_STATES: u32 = 4;
/// Bit of [`MODE`]: of calls by which the C library gets or gives back memory that it keeps
/// ([`crate::effects::Lent`]), or shows where its own lies ([`crate::effects::Row::keeps_place`]), is told
/// also where nothing else is.
pub const MODE_LENT: u32 = 8;
/// `[u32; 64]`.
pub const ARGS: &str = "raddle_sym_args";
/// How many arguments [`ARGS`] holds.
pub const ARGS_LEN: usize = 64;
/// `[usize; 64]`: where the bytes of arguments that are passed by value lie. Used by instrumented
/// code only.
pub const COPIES: &str = "raddle_sym_copies";
/// `usize`.
pub const CALLEE: &str = "raddle_sym_callee";
/// `u32`.
pub const RESULT: &str = "raddle_sym_result";
/// `usize`.
pub const RETURNER: &str = "raddle_sym_returner";

/// Name of the section that marks an instrumented module; it holds one `u32` per object file,
/// the hook version [`crate::VERSION`].
pub const SECTION: &str = "raddle_hooks";

/// Section with the names, each before a NUL, of the functions that instrumented code refers to and
/// that lie elsewhere.
pub const CALLS: &str = "raddle_calls";
/// What a name in [`CALLS`] begins with that is there once more because what the function does to memory
/// that others see is not told of.
pub const UNKNOWN: &str = "*";
/// What an entry of [`CALLS`] begins with that is no name: how many functions of a file could have
/// symbolic bodies and have none, a blank, and the file.
pub const LEFT_OUT: &str = "-";

/// Types of parameters and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    Void,
    I8,
    I16,
    I32,
    I64,
    Ptr,
}

/// One hook.
#[derive(Clone, Copy, Debug)]
pub struct Hook {
    /// Exported name.
    pub name: &'static str,
    pub result: Ty,
    pub params: &'static [Ty],
}

use Ty::{I8, I16, I32, I64, Ptr, Void};

const fn hook(name: &'static str, result: Ty, params: &'static [Ty]) -> Hook {
    Hook {
        name,
        result,
        params,
    }
}

/// Goes on with a hash over the hooks.
pub(crate) const fn fingerprint(mut hash: u64) -> u64 {
    let mut n = 0;
    while n < TABLE.len() {
        hash = crate::hash(hash, TABLE[n].name.as_bytes());
        hash = crate::hash(hash, &[TABLE[n].result as u8]);
        let mut k = 0;
        while k < TABLE[n].params.len() {
            hash = crate::hash(hash, &[TABLE[n].params[k] as u8]);
            k += 1;
        }
        n += 1;
    }
    hash
}

/// Codes of atomic read-modify-write operations (`op` of the rmw hooks).
pub mod rmw {
    pub const XCHG: u32 = 0;
    pub const ADD: u32 = 1;
    pub const SUB: u32 = 2;
    pub const AND: u32 = 3;
    pub const NAND: u32 = 4;
    pub const OR: u32 = 5;
    pub const XOR: u32 = 6;
    pub const MAX: u32 = 7;
    pub const MIN: u32 = 8;
    pub const UMAX: u32 = 9;
    pub const UMIN: u32 = 10;
}

/// The `order` of a compare-exchange hook: the order of success and, above it, that of failure.
pub const fn cas_order(success: u32, failure: u32) -> u32 {
    success | (failure + 1) << 8
}

/// Inverse of [`cas_order`]: the orders of success and of failure. Without an order of failure it
/// follows from that of success, as C11 says (7.17.7.4, paragraph 2).
pub const fn cas_orders(order: u32) -> (u32, u32) {
    let success = order & 0xff;
    let failure = match (order >> 8, success) {
        (0, 3) => 0,
        (0, 4) => 2,
        (0, _) => success,
        (failure, _) => failure - 1,
    };
    (success, failure)
}

/// The "size and order" of a hook: bytes and, above them, the order, or what [`cas_order`] says.
pub const fn sized_order(size: u32, order: u32) -> u32 {
    size | order << 8
}

/// Inverse of [`sized_order`].
pub const fn size_and_order(both: u32) -> (u32, u32) {
    (both & 0xff, both >> 8)
}

/// What the hooks of wide atomics are told of them: a sum of these and, in [`wide::ORDERS`], the
/// order, or what [`cas_order`] says.
pub mod wide {
    /// A library function does it: the call of the second hook follows in all runs, and what the
    /// function calls in between are no steps.
    pub const CALL: u32 = 1 << 29;
    /// Only that it begins and ends: what it does to memory is done by other hooks in between.
    pub const PARTS: u32 = 1 << 28;
    /// With [`PARTS`], a plain access of a vector: a section only where the processor promises that
    /// nothing comes in between.
    pub const VECTOR: u32 = 1 << 27;
    pub const READS: u32 = 1 << 30;
    pub const WRITES: u32 = 1 << 31;
    pub const ORDERS: u32 = 0xffff;
}

/// What `raddle_asm` tells of.
pub mod assembly {
    /// It keeps accesses in order: a step.
    pub const FENCE: u32 = 0;
    /// It may access memory that others see: named, and a step.
    pub const MEMORY: u32 = 1;
    /// It may also do something else in another execution, or nobody knows what it does: named by its name,
    /// also while there is one thread only.
    pub const DIFFERS: u32 = 2;
    /// It asks what state the processor has to save (`xgetbv`).
    pub const STATE: u32 = 3;
    /// It asks about the processor (`cpuid`).
    pub const PROCESSOR: u32 = 4;

    /// May the answer differ from execution to execution? Those about one of several like processors do.
    pub const fn answer_differs(what: u32, which: u64) -> bool {
        const IN_USE: u64 = 1;
        match what {
            // In registers of 32 bits.
            STATE => which as u32 as u64 == IN_USE,
            PROCESSOR => matches!(
                which as u32,
                0x2 | 0x4 | 0x6 | 0xb | 0x1a | 0x1f | 0x8000_001d | 0x8000_001e | 0x8000_0026
            ),
            _ => false,
        }
    }
}

/// The last parameter of `raddle_copy`.
pub mod copy {
    /// Nobody else sees where it writes.
    pub const TO_PRIVATE: u32 = 1;
    /// Nobody else sees where it reads.
    pub const FROM_PRIVATE: u32 = 2;
    /// The access of a vector of 16 bytes that is aligned to as many, by one instruction.
    pub const VECTOR: u32 = 4;
    /// The largest piece has so many bytes, a power of two, times this: those of one element of a
    /// vector. 0: those of a word.
    pub const PIECE: u32 = 256;
}

/// Every hook. `order` parameters are C11 memory orders (0 relaxed … 5 seq_cst); of a
/// compare-exchange see [`cas_order`].
pub const TABLE: &[Hook] = &[
    // Scheduling bodies. Reads return the value, so that a memory model may choose it.
    hook("raddle_read1", I8, &[Ptr]),
    hook("raddle_read2", I16, &[Ptr]),
    hook("raddle_read4", I32, &[Ptr]),
    hook("raddle_read8", I64, &[Ptr]),
    hook("raddle_write1", Void, &[Ptr, I8]),
    hook("raddle_write2", Void, &[Ptr, I16]),
    hook("raddle_write4", Void, &[Ptr, I32]),
    hook("raddle_write8", Void, &[Ptr, I64]),
    // Announce an access of `len` bytes that the caller then performs itself.
    hook("raddle_range_read", Void, &[Ptr, I64]),
    hook("raddle_range_write", Void, &[Ptr, I64]),
    // Copy a block as memmove does, and fill one as memset does, in steps of a word at most. `how`:
    // [`copy`]. Values that no word holds (aggregates, vectors, wide numbers) go by a variable of the
    // caller's: `raddle_copy` from or to that; in a symbolic run what is read so is decided upon, and
    // what is written is concrete.
    hook("raddle_copy", Void, &[Ptr, Ptr, I64, I32 /* how */]),
    hook("raddle_fill", Void, &[Ptr, I8, I64]),
    // In the place of a call of a function whose accesses are
    // [steps](crate::library::Model::is_stepwise): not 0 if it was done, and its result, zero-extended,
    // is the first of the arguments now. `model`: its number | count << 16 | a bit << 24 for each
    // argument that leads to private memory.
    hook(
        "raddle_stepwise",
        I32,
        &[I32 /* model */, Ptr /* arguments, one u64 each */],
    ),
    // Before and after a call of a function of the C library ([`crate::effects`]); `what` is made of the
    // constants of [`call`]. The second one is left out where there is nothing to tell of behind the
    // call. A result that is no number or pointer is 0; a number is sign-extended.
    hook(
        "raddle_call",
        Void,
        &[
            I64, /* what */
            Ptr, /* name */
            Ptr, /* call::Frame */
        ],
    ),
    hook(
        "raddle_called",
        Void,
        &[I64 /* what */, Ptr, I64 /* result */],
    ),
    // Atomics of 1, 2, 4 or 8 bytes; values are zero-extended.
    hook(
        "raddle_atomic_load",
        I64,
        &[Ptr, I32 /* size */, I32 /* order */],
    ),
    hook(
        "raddle_atomic_store",
        Void,
        &[Ptr, I64, I32 /* size */, I32 /* order */],
    ),
    hook(
        "raddle_atomic_rmw",
        I64,
        &[
            Ptr, I64, I32, /* op */
            I32, /* size */
            I32, /* order */
        ],
    ),
    // Returns the old value; it was exchanged if that equals `expected`.
    hook(
        "raddle_atomic_cas",
        I64,
        &[
            Ptr, I64, /* expected */
            I64, /* new */
            I32, /* size */
            I32, /* order */
        ],
    ),
    // Announces an atomic of any size that the caller then performs itself; `expected` is the
    // address of what a compare-exchange expects, null where that is not in memory or where there is
    // none. The other one follows when it is done, of an instruction in symbolic runs only; nobody
    // else goes on in between.
    hook(
        "raddle_wide_begin",
        Void,
        &[
            Ptr, I64, /* bytes */
            I32, /* what */
            Ptr, /* expected */
        ],
    ),
    hook(
        "raddle_wide_end",
        Void,
        &[Ptr, I64 /* bytes */, I32 /* what */],
    ),
    hook("raddle_fence", Void, &[I32 /* order */]),
    // Inline assembly, and instructions by intrinsics, of which there is something to tell: what it is, what
    // it asks for, its name or null.
    hook("raddle_asm", Void, &[I32 /* of `assembly` */, I64, Ptr]),
    // Symbolic bodies: memory that others may see. `ptr_expr` is the expression of the address.
    // The result's expression is in RESULT.
    hook(
        "raddle_sym_read",
        I64,
        &[Ptr, I32 /* size */, I32 /* ptr_expr */],
    ),
    hook(
        "raddle_sym_write",
        Void,
        &[
            Ptr, I64, I32, /* size */
            I32, /* ptr_expr */
            I32, /* expr */
        ],
    ),
    hook(
        "raddle_sym_atomic_load",
        I64,
        &[
            Ptr, I32, /* size */
            I32, /* order */
            I32, /* ptr_expr */
        ],
    ),
    hook(
        "raddle_sym_atomic_store",
        Void,
        &[
            Ptr, I64, I32, /* size */
            I32, /* order */
            I32, /* expr */
        ],
    ),
    hook(
        "raddle_sym_atomic_rmw",
        I64,
        &[
            Ptr, I64, I32, /* op */
            I32, /* size and order */
            I32, /* expr */
        ],
    ),
    // Returns the old value, RESULT holds its expression; the caller compares it with `expected`
    // itself.
    hook(
        "raddle_sym_atomic_cas",
        I64,
        &[
            Ptr, I64, I64, I32, /* size and order */
            I64, /* expected_expr | new_expr << 32 */
        ],
    ),
    // Symbolic bodies: memory that only this frame sees (allocas that do not escape). The access
    // itself is done by the caller: the store right before the hook, the load next to it.
    // `raddle_sym_local_load` is also how a body asks for what wide values (vectors, 16 bytes)
    // hold of the shadow, in pieces, after it announced the access by a range hook.
    hook("raddle_sym_local_load", I32, &[Ptr, I32 /* size */]),
    hook(
        "raddle_sym_local_store",
        Void,
        &[Ptr, I32 /* size */, I32 /* expr */],
    ),
    // memcpy, memmove, memset: these perform the operation; areas may overlap. The expression of
    // the length has 64 bits, that of the value 8.
    hook(
        "raddle_sym_copy",
        Void,
        &[Ptr, Ptr, I64, I32 /* len_expr */],
    ),
    hook(
        "raddle_sym_set",
        Void,
        &[
            Ptr, I8, I64, I32, /* value_expr */
            I32, /* len_expr */
        ],
    ),
    // Memory was changed without the shadow: forget expressions. After `raddle_range_write` of the
    // same bytes it is a store, and if they are shared a step. Otherwise a new variable lies there
    // (or the memory is the frame's own): nothing is recorded, and who touched it before does not
    // matter any more.
    hook("raddle_sym_forget", Void, &[Ptr, I64]),
    // Before and after a call of a function of the C library (the first pointer; nothing happens if
    // it has a symbolic body) that stores so much where the second one leads (STORE_ANY: no limit is
    // known). `how`: STORE_TEXT, STORE_EARLY, STORE_LAST, STORE_REST, which comes first, STORE_ZEROED, where
    // only what is after the call is told of. `call` is an address in the frame of the caller that stands for the call: the arguments
    // of `raddle_sym_foreign`, if that was told of the call.
    hook(
        "raddle_sym_will_store",
        Void,
        &[Ptr, Ptr, I64, I32 /* how */, Ptr /* call */],
    ),
    hook(
        "raddle_sym_stored",
        Void,
        &[Ptr, Ptr, I64, I32 /* how */, Ptr /* call */],
    ),
    // Called only when an operand is symbolic. `op` is an expr::Op; `width` that of the operands.
    hook(
        "raddle_sym_binary",
        I32,
        &[
            I32, /* op | width << 8 */
            I32, /* a */
            I32, /* b */
            I64, /* av */
            I64, /* bv */
        ],
    ),
    // An operand of more than 64 bits, for the hooks above and below, which take such operands by
    // their expressions only: the expression, or that of the constant where it is 0.
    hook(
        "raddle_sym_wide",
        I32,
        &[
            I32, /* width */
            I32, /* expr */
            I64, /* value, low half */
            I64, /* high half */
        ],
    ),
    hook(
        "raddle_sym_cast",
        I32,
        &[I32 /* op | from << 8 | to << 16 */, I32 /* a */],
    ),
    hook(
        "raddle_sym_ite",
        I32,
        &[
            I32, /* width | cond << 8 */
            I32, /* cond_expr */
            I64, /* a_expr | b_expr << 32 */
            I64, /* av */
            I64, /* bv */
        ],
    ),
    // See "Around every call".
    hook(
        "raddle_sym_call",
        Void,
        &[
            Ptr, /* callee */
            I32, /* index */
            I32, /* expr */
            I64, /* value */
        ],
    ),
    hook(
        "raddle_sym_call_wide",
        Void,
        &[
            Ptr, /* callee */
            I32, /* index */
            I32, /* expr */
            I64, /* value, low half */
            I64, /* high half */
        ],
    ),
    // A decision on `expr` (at most 64 bits) came out as `value`. `why` is an expr::Why.
    hook(
        "raddle_sym_branch",
        Void,
        &[
            I32, /* expr */
            I64, /* value */
            I32, /* why */
        ],
    ),
    hook("raddle_sym_lost", Void, &[I32 /* why */]),
    // Before an operation on a floating point number that is not followed: decides whether it is
    // one of a few numbers, and if not, it is lost.
    hook(
        "raddle_sym_number",
        Void,
        &[
            I32, /* expr */
            I64, /* its bits */
            I32, /* how many: 32 or 64 */
        ],
    ),
    // Before loops that access no more than these [`Stretch`]es: may they run as compiled? 0: no.
    hook(
        "raddle_sym_settled",
        I32,
        &[Ptr /* stretches */, I32 /* how many */],
    ),
    // A round begins of a loop that hands nothing on from round to round and writes to memory by
    // atomic updates only. `again`: 1 if the thread comes from the round before.
    hook("raddle_sym_round", Void, &[I32 /* again */]),
    // A loop that polls a bounded number of times has come to where it may end; `round`: 1 if it has
    // polled in vain before. Not 0: its count is over.
    hook("raddle_sym_polled", I32, &[I32 /* round */]),
    // Before an access at an address that was computed from `base`, where the address or the
    // length is symbolic and `base` is not: decides whether it stays in the block, and ends the
    // execution if it does not.
    hook(
        "raddle_sym_bounds",
        Void,
        &[
            Ptr, /* base */
            I64, /* bytes of the variable at base; 0: perhaps a block of the heap */
            Ptr, /* address */
            I64, /* length */
            I64, /* address_expr | length_expr << 32 */
        ],
    ),
    // In place of a call of a function of the C library. `model` is the number of a
    // [`crate::library::Model`], `values` one `u64` and `exprs` one `u32` per argument (null: all
    // are concrete). The result is that of the function, zero-extended; RESULT holds its
    // expression.
    hook(
        "raddle_sym_library",
        I64,
        &[
            Ptr, /* the function */
            I32, /* model | LIBRARY_STATE | count << 16 */
            Ptr, /* values */
            Ptr, /* exprs */
        ],
    ),
    // Before a call of what may be code without a symbolic body. Of an
    // [`crate::library::Output`] whose result nobody takes the shape has FOREIGN_OUTPUT, and
    // `exprs` is given (null: all are concrete); of others it is null, and the scalar arguments
    // go through `raddle_sym_call`.
    hook(
        "raddle_sym_foreign",
        Void,
        &[
            Ptr, /* callee */
            Ptr, /* its name, if the caller knows it */
            I64, /* bit i: argument i is a pointer; count << 32, 8 bits; FOREIGN_* */
            Ptr, /* values */
            Ptr, /* exprs */
        ],
    ),
];

/// What a program calls itself (`include/raddle.h`, KLEE's and SV-COMP's names). Without a
/// controller they do what the harness's own stub would: inputs stay as they are or are 0. The
/// expression of a `bool` has one bit.
pub const HARNESS: &[Hook] = &[
    hook("raddle_symbolic", Void, &[Ptr, I64, Ptr]),
    hook("raddle_assume", Void, &[I32]),
    hook("klee_make_symbolic", Void, &[Ptr, I64, Ptr]),
    hook("klee_assume", Void, &[I64]),
    hook("__VERIFIER_assume", Void, &[I32]),
    hook("__VERIFIER_nondet_int", I32, &[]),
    hook("__VERIFIER_nondet_uint", I32, &[]),
    hook("__VERIFIER_nondet_long", I64, &[]),
    hook("__VERIFIER_nondet_ulong", I64, &[]),
    hook("__VERIFIER_nondet_short", I16, &[]),
    hook("__VERIFIER_nondet_ushort", I16, &[]),
    hook("__VERIFIER_nondet_char", I8, &[]),
    hook("__VERIFIER_nondet_uchar", I8, &[]),
    hook("__VERIFIER_nondet_bool", I8, &[]),
    hook("__VERIFIER_nondet_longlong", I64, &[]),
    hook("__VERIFIER_nondet_ulonglong", I64, &[]),
    hook("__VERIFIER_nondet_size_t", I64, &[]),
    hook("__VERIFIER_nondet_loff_t", I64, &[]),
    hook("__VERIFIER_nondet_sector_t", I64, &[]),
    hook("__VERIFIER_nondet_unsigned", I32, &[]),
    hook("__VERIFIER_nondet_u32", I32, &[]),
    hook("__VERIFIER_nondet_u16", I16, &[]),
    hook("__VERIFIER_nondet_u8", I8, &[]),
    hook("__VERIFIER_nondet_unsigned_char", I8, &[]),
    hook("__VERIFIER_nondet_unsigned_int", I32, &[]),
    hook("__VERIFIER_nondet_u64", I64, &[]),
    hook("__VERIFIER_nondet_pthread_t", I64, &[]),
    hook("__VERIFIER_nondet_pointer", Ptr, &[]),
    hook("__VERIFIER_nondet_pchar", Ptr, &[]),
    hook("__VERIFIER_nondet_memory", Void, &[Ptr, I64]),
    hook("klee_int", I32, &[Ptr]),
    hook("klee_range", I32, &[I32, I32, Ptr]),
    hook("klee_choose", I64, &[I64]),
    hook("klee_is_symbolic", I32, &[I64]),
    hook("klee_is_replay", I32, &[]),
    hook("klee_get_value_i32", I32, &[I32]),
    hook("klee_get_value_i64", I64, &[I64]),
    hook("klee_get_valuel", I64, &[I64]),
    hook("klee_get_valuell", I64, &[I64]),
    hook("klee_get_errno", I32, &[]),
    hook("klee_silent_exit", Void, &[I32]),
    hook("klee_report_error", Void, &[Ptr, I32, Ptr, Ptr]),
    hook("klee_assert_fail", Void, &[Ptr, Ptr, I32, Ptr]),
    hook("klee_abort", Void, &[]),
    hook("klee_check_memory_access", Void, &[Ptr, I64]),
    hook("klee_prefer_cex", Void, &[Ptr, I64]),
    hook("klee_posix_prefer_cex", Void, &[Ptr, I64]),
    hook("klee_mark_global", Void, &[Ptr]),
    hook("klee_open_merge", Void, &[]),
    hook("klee_close_merge", Void, &[]),
    hook("klee_set_forking", Void, &[I32]),
    hook("klee_warning", Void, &[Ptr]),
    hook("klee_warning_once", Void, &[Ptr]),
    hook("klee_stack_trace", Void, &[]),
    hook("klee_print_expr", Void, &[Ptr]),
    hook("klee_print_range", Void, &[Ptr, I32]),
    hook("reach_error", Void, &[]),
];
