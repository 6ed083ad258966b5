//! The functions of the malloc family.

use super::arena::{Arena, Fault};
use super::classes::CHUNK;
use super::low;
use super::report::{Operation, report};
use super::world::{Guard, high, own, owner};
use crate::gate::{self, Pending};
use core::ffi::{c_int, c_void};
use raddle_protocol::Slot;
use raddle_protocol::event::Kind;

type Block = *mut c_void;
const PAGE: usize = 4096;

/// [`crate::export!`], where a sanitizer in the process may have a heap of its own: then its function
/// (of the name behind the comma) is called as if the program had.
macro_rules! exports {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)? = $imp:path, $other:literal;)*) => {$(
        const _: $crate::export_type!(($($ty),*) $(-> $ret)?) = $imp;

        #[cfg(not(test))]
        const _: () = {
            $(#[$doc])*
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C-unwind" fn $name($($arg: $ty),*) $(-> $ret)? {
                core::arch::naked_asm!(
                    concat!(".weak ", $other),
                    concat!("mov rax, [rip + ", $other, "@GOTPCREL]"),
                    "test rax, rax",
                    "jnz 2f",
                    concat!("mov ", $crate::register_behind!($($arg)*), ", [rsp]"),
                    "jmp {}",
                    "2: jmp rax",
                    sym $imp,
                )
            }
        };
    )*};
}

exports! {
    /// As in C.
    fn malloc(size: usize) -> Block = malloc_from, "__interceptor_malloc";
    /// As in C.
    fn calloc(count: usize, size: usize) -> Block = calloc_from, "__interceptor_calloc";
    /// As in C.
    fn realloc(block: Block, size: usize) -> Block = realloc_from, "__interceptor_realloc";
    /// As in C.
    fn reallocarray(block: Block, count: usize, size: usize) -> Block = reallocarray_from, "__interceptor_reallocarray";
    /// As in C.
    fn free(block: Block) = free_from, "__interceptor_free";
    /// As `free`.
    fn cfree(block: Block) = free_from, "__interceptor_free";
    /// As in POSIX.
    fn posix_memalign(out: *mut Block, align: usize, size: usize) -> c_int = posix_memalign_from, "__interceptor_posix_memalign";
    /// As in C.
    fn aligned_alloc(align: usize, size: usize) -> Block = memalign_from, "__interceptor_aligned_alloc";
    /// As in the C library.
    fn memalign(align: usize, size: usize) -> Block = memalign_from, "__interceptor_memalign";
    /// As in the C library.
    fn valloc(size: usize) -> Block = valloc_from, "__interceptor_valloc";
    /// As in the C library.
    fn pvalloc(size: usize) -> Block = pvalloc_from, "__interceptor_pvalloc";
    /// As in the C library; never more than was asked for.
    fn malloc_usable_size(block: Block) -> usize = usable_from, "__interceptor_malloc_usable_size";
    /// The C library's other name.
    fn __libc_malloc(size: usize) -> Block = malloc_from, "__interceptor_malloc";
    /// The C library's other name.
    fn __libc_calloc(count: usize, size: usize) -> Block = calloc_from, "__interceptor_calloc";
    /// The C library's other name.
    fn __libc_realloc(block: Block, size: usize) -> Block = realloc_from, "__interceptor_realloc";
    /// The C library's other name.
    fn __libc_free(block: Block) = free_from, "__interceptor_free";
    /// The C library's other name.
    fn __libc_memalign(align: usize, size: usize) -> Block = memalign_from, "__interceptor_memalign";
}

/// A heap that the program brings (jemalloc, mimalloc), behind ours: blocks that it got by other
/// names than those of C may still come to `free`.
mod brought {
    use super::Block;
    use core::ffi::{c_int, c_void};
    use core::sync::atomic::{AtomicU8, Ordering};

    crate::real! {
        fn free(block: Block);
        fn realloc(block: Block, size: usize) -> Block;
        fn malloc_usable_size(block: Block) -> usize;
    }

    /// Is there another heap than the C library's?
    #[cold]
    pub fn is_there() -> bool {
        // 0: not known yet.
        static KNOWN: AtomicU8 = AtomicU8::new(0);
        if KNOWN.load(Ordering::Relaxed) == 0 {
            let mut info = core::mem::MaybeUninit::<libc::Dl_info>::uninit();
            // SAFETY: a plain look-up; the structure is filled if the result is not 0.
            let other = unsafe {
                let next = libc::dlsym(libc::RTLD_NEXT, c"free".as_ptr());
                let known: c_int = libc::dladdr(next.cast_const(), info.as_mut_ptr());
                let c_library = libc::gnu_get_libc_version as *const c_void;
                let mut theirs = core::mem::MaybeUninit::<libc::Dl_info>::uninit();
                known != 0
                    && libc::dladdr(c_library, theirs.as_mut_ptr()) != 0
                    && info.assume_init().dli_fbase != theirs.assume_init().dli_fbase
            };
            KNOWN.store(1 + u8::from(other), Ordering::Relaxed);
        }
        KNOWN.load(Ordering::Relaxed) == 2
    }
}

fn set_errno(value: c_int) {
    // SAFETY: the calling thread's own errno.
    unsafe { *libc::__errno_location() = value };
}

fn call(name: &'static str, block: Block) -> Operation {
    let address = block as u64;
    Operation::Call { name, address }
}

/// Blocks are not given out again, so nobody meets one address twice: a verdict says so where that might
/// matter. It might where a block was freed before another one is allocated, and there have been several
/// threads by then; and, since an execution stands for others, where several threads may have done so the
/// other way round.
mod reuse {
    use crate::gate;
    use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
    use raddle_protocol::shared::given;

    /// The program has freed a block; among several threads.
    static FREED: AtomicBool = AtomicBool::new(false);
    static FREED_AMONG_SEVERAL: AtomicBool = AtomicBool::new(false);
    /// The first block that it has got among several threads (0: none); has it got others?
    static FIRST: AtomicUsize = AtomicUsize::new(0);
    static OTHERS: AtomicBool = AtomicBool::new(false);

    /// The program has freed `block`.
    pub fn freed(block: usize) {
        if !gate::asking::explores() {
            return;
        }
        FREED.store(true, Relaxed);
        if !gate::several() {
            return;
        }
        FREED_AMONG_SEVERAL.store(true, Relaxed);
        let first = FIRST.load(Relaxed);
        if OTHERS.load(Relaxed) || first != 0 && first != block {
            gate::gives(given::MEMORY);
        }
    }

    /// It has got `block`.
    pub fn allocated(block: usize) {
        if !gate::asking::explores() {
            return;
        }
        let several = gate::several();
        if several && FIRST.load(Relaxed) == 0 {
            FIRST.store(block, Relaxed);
        } else if several {
            OTHERS.store(true, Relaxed);
        }
        let freed = if several {
            &FREED
        } else {
            &FREED_AMONG_SEVERAL
        };
        if freed.load(Relaxed) {
            gate::gives(given::MEMORY);
        }
    }
}

/// Allocates from the running thread's arena; null and ENOMEM when there is no memory.
fn allocate(size: usize, align: usize, zero: bool, pc: usize) -> Block {
    match take(size, align, pc) {
        Ok(Some((at, is_zero))) => {
            if zero && !is_zero {
                // SAFETY: a fresh block of `size` bytes.
                unsafe { core::ptr::write_bytes(at as *mut u8, 0, size) };
            }
            // SAFETY: a fresh block.
            unsafe { crate::shadow::renew(at as u64, size as u64) };
            if !super::is_c_library(pc) {
                gate::log_callers(pc);
                if gate::active() {
                    reuse::allocated(at);
                }
            }
            gate::log(Kind::Malloc, at as u64, size as u64, pc);
            at as Block
        }
        Ok(None) => {
            set_errno(libc::ENOMEM);
            core::ptr::null_mut()
        }
        Err(fault) => report(fault, Operation::Check, pc),
    }
}

fn take(size: usize, align: usize, pc: usize) -> Result<Option<(usize, bool)>, Fault> {
    let guard = Guard::enter();
    let Some((slot, arena)) = own() else {
        return Ok(None);
    };
    let block = take_from(arena, size, align, slot, pc)?;
    if block.is_some() || !arena.is_low() {
        return Ok(block);
    }
    let Some(arena) = high(slot) else {
        return Ok(None);
    };
    let block = take_from(arena, size, align, slot, pc)?;
    drop(guard);
    if block.is_some() {
        low::overflows();
    }
    Ok(block)
}

fn take_from(
    arena: Arena,
    size: usize,
    align: usize,
    slot: Slot,
    pc: usize,
) -> Result<Option<(usize, bool)>, Fault> {
    if align > CHUNK {
        let block = arena.allocate_aligned(size, align, slot, pc as u64);
        return Ok(block.map(|at| (at, false)));
    }
    arena.allocate(size, align, slot, pc as u64)
}

/// Lets other threads run before a block goes, unless the C library frees it for itself. Returns
/// whether that was a step of the schedule.
fn announce_free(address: u64, pc: usize) -> bool {
    let step = gate::active() && gate::frees_are_steps() && !super::is_c_library(pc);
    if step {
        if crate::vars::symbolic() {
            let known = super::block_of(address).and_then(Result::ok);
            gate::point(Pending {
                aux: known.map_or(0, |block| block.size as u64),
                ..Pending::always(Kind::Free, address, pc)
            });
        } else {
            gate::simple(Kind::Free, address, pc);
        }
    }
    step
}

/// Bytes of a block of another heap, of which at least the first is gone. (0: it is still there.)
const UNKNOWN_SIZE: u64 = 1;

/// Frees a block that the caller has announced.
fn release(block: Block, step: bool, operation: Operation, pc: usize) {
    let address = block as usize;
    let Some(arena) = owner(address) else {
        if super::is_c_library(pc) {
            return; // memory of the dynamic linker's own, from before it found us
        }
        if brought::is_there() {
            // SAFETY: the program's own block, from its own heap or wild there.
            unsafe { brought::free(block) };
            if step {
                gate::log(Kind::Free, address as u64, UNKNOWN_SIZE, pc);
            }
            return;
        }
        report(Fault::Wild, operation, pc)
    };
    let size = match give_back(arena, address, pc) {
        Ok(size) => size as u64,
        // What leaves quarantine for this block may be what is broken.
        Err(fault @ Fault::WrittenAfterFree { .. }) => report(fault, Operation::Check, pc),
        Err(fault) => report(fault, operation, pc),
    };
    if gate::active() {
        crate::objects::block_freed(address as u64, size);
        if !super::is_c_library(pc) {
            reuse::freed(address);
        }
    }
    if step {
        gate::log(Kind::Free, address as u64, size, pc);
    }
}

fn give_back(arena: Arena, address: usize, pc: usize) -> Result<usize, Fault> {
    let _guard = Guard::enter();
    arena.free(address, gate::me(), pc as u64)
}

extern "C-unwind" fn malloc_from(size: usize, pc: usize) -> Block {
    allocate(size, 16, false, pc)
}

extern "C-unwind" fn calloc_from(count: usize, size: usize, pc: usize) -> Block {
    let total = count.saturating_mul(size);
    allocate(total, 16, true, pc)
}

extern "C-unwind" fn free_from(block: Block, pc: usize) {
    if block.is_null() {
        return;
    }
    let step = announce_free(block as u64, pc);
    release(block, step, call("free", block), pc);
}

extern "C-unwind" fn realloc_from(block: Block, size: usize, pc: usize) -> Block {
    if block.is_null() {
        return allocate(size, 16, false, pc);
    }
    let step = announce_free(block as u64, pc);
    let operation = call("realloc", block);
    if owner(block as usize).is_none() && brought::is_there() {
        if step {
            gate::log(Kind::Free, block as u64, UNKNOWN_SIZE, pc);
        }
        // SAFETY: as in `release`.
        return unsafe { brought::realloc(block, size) };
    }
    if size == 0 {
        release(block, step, operation, pc);
        return core::ptr::null_mut();
    }
    let old = match resize(block, size) {
        Ok((old, true)) => {
            // The step was announced; what came of it is that the block is still there, or its beginning.
            let cut = old.saturating_sub(size);
            let at = if cut > 0 { size } else { 0 };
            if step {
                gate::log(Kind::Free, (block as usize + at) as u64, cut as u64, pc);
            }
            return block;
        }
        Ok((old, false)) => old,
        Err(fault) => report(fault, operation, pc),
    };
    let fresh = allocate(size, 16, false, pc);
    if fresh.is_null() {
        if step {
            gate::log(Kind::Free, block as u64, 0, pc);
        }
        return fresh;
    }
    let len = old.min(size);
    let (from, to) = (block as u64, fresh as u64);
    if step && crate::vars::symbolic() && crate::shadow::any_shared(from, to, len as u64) {
        // The block is still there; what it holds is read, and it is freed, in one step of its own.
        gate::log(Kind::Free, from, 0, pc);
        crate::shadow::copy_and(to, from, len as u64, pc, || {
            let step = announce_free(from, pc);
            release(block, step, operation, pc);
        });
        return fresh;
    }
    // SAFETY: two different blocks of at least `len` bytes.
    unsafe { core::ptr::copy_nonoverlapping(block as *const u8, fresh as *mut u8, len) };
    if crate::vars::symbolic() {
        crate::shadow::moved(from, to, len as u64);
    }
    release(block, step, operation, pc);
    fresh
}

/// Gives a block another size where it lies, if there is place (`true`). Also how large it was.
fn resize(block: Block, size: usize) -> Result<(usize, bool), Fault> {
    let arena = owner(block as usize).ok_or(Fault::Wild)?;
    let _guard = Guard::enter();
    let old = arena.live_block(block as usize)?.size;
    Ok((old, arena.resize(block as usize, size)?))
}

extern "C-unwind" fn reallocarray_from(
    block: Block,
    count: usize,
    size: usize,
    pc: usize,
) -> Block {
    match count.checked_mul(size) {
        Some(total) => realloc_from(block, total, pc),
        None => {
            set_errno(libc::ENOMEM);
            core::ptr::null_mut()
        }
    }
}

extern "C-unwind" fn posix_memalign_from(
    out: *mut Block,
    align: usize,
    size: usize,
    pc: usize,
) -> c_int {
    if !align.is_power_of_two() || !align.is_multiple_of(size_of::<usize>()) {
        return libc::EINVAL;
    }
    // SAFETY: the calling thread's own errno, which this function must not change.
    let errno = unsafe { *libc::__errno_location() };
    let block = allocate(size, align, false, pc);
    set_errno(errno);
    if block.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the caller passes a place for the result.
    unsafe { out.write(block) };
    0
}

extern "C-unwind" fn memalign_from(align: usize, size: usize, pc: usize) -> Block {
    match align.checked_next_power_of_two() {
        Some(align) => allocate(size, align, false, pc),
        None => {
            set_errno(libc::EINVAL);
            core::ptr::null_mut()
        }
    }
}

extern "C-unwind" fn valloc_from(size: usize, pc: usize) -> Block {
    allocate(size, PAGE, false, pc)
}

extern "C-unwind" fn pvalloc_from(size: usize, pc: usize) -> Block {
    let whole = size.checked_next_multiple_of(PAGE).unwrap_or(usize::MAX);
    allocate(whole, PAGE, false, pc)
}

extern "C-unwind" fn usable_from(block: Block, pc: usize) -> usize {
    if block.is_null() {
        return 0;
    }
    if owner(block as usize).is_none() && brought::is_there() {
        // SAFETY: as in `release`.
        return unsafe { brought::malloc_usable_size(block) };
    }
    let size = |arena: Arena| {
        let _guard = Guard::enter();
        arena.live_block(block as usize).map(|info| info.size)
    };
    match owner(block as usize).map_or(Err(Fault::Wild), size) {
        Ok(size) => size,
        Err(fault) => report(fault, call("malloc_usable_size", block), pc),
    }
}
