//! OpenMP as gcc's libgomp and LLVM's libomp implement it.
//!
//! Waits inside these libraries reach the models by the futex calls that [`crate::raw`] traps and
//! by the intercepted functions. What the libraries do without waiting would be invisible: here
//! locks and critical sections become modelled mutexes ([`lock`]), and the calls by which threads
//! share out work become scheduling points.

mod lock;

pub use lock::forget;

use crate::gate;
use crate::real::Entry;
use crate::serial::Serial;
use raddle_protocol::event::Kind;

/// What the exports below call first: a step; the result is the address of the library's function.
extern "C-unwind" fn on_call(real: &Entry, pc: usize) -> usize {
    if gate::active() {
        gate::simple(Kind::OpenMpCall, 0, pc);
        gate::log(Kind::OpenMpCall, 0, 0, pc);
        if real.is("__kmpc_fork_call") {
            // SAFETY: a plain flag of the running thread.
            unsafe { *TEAM.get() = true };
        }
    }
    real.address_in(&LIBRARIES)
}

/// Has a team of LLVM's library been at work?
static TEAM: Serial<bool> = Serial::new(false);
/// So often at most others go first before the process ends.
const PATIENCE: u32 = 10_000;

/// The program is about to exit. LLVM's library then waits in a busy loop for threads that have
/// not yet gone to sleep after the last parallel region; they have to do so before.
pub fn before_exit(pc: usize) {
    // SAFETY: a plain flag of the running thread.
    if gate::active() && unsafe { *TEAM.get() } {
        for _ in 0..PATIENCE {
            if !gate::others_ready() {
                return;
            }
            crate::time::yield_now(pc);
        }
    }
}

/// Where functions are looked for that the program's global scope lacks.
static LIBRARIES: [&core::ffi::CStr; 2] = [c"libgomp.so.1", c"libomp.so.5"];

/// Exports of functions of any signature that are scheduling points and then go on in the
/// library's function, with the caller's registers and stack.
macro_rules! points {
    ($($name:ident)*) => {
        #[cfg(not(test))]
        mod exports {
            use super::Entry;
            $(
                /// A scheduling point before the library's function.
                #[unsafe(no_mangle)]
                #[unsafe(naked)]
                unsafe extern "C-unwind" fn $name() {
                    static ENTRY: Entry = Entry::named(concat!(stringify!($name), "\0"));
                    core::arch::naked_asm!(
                        ".cfi_startproc",
                        "push rdi; push rsi; push rdx; push rcx; push r8; push r9; push rax",
                        ".cfi_adjust_cfa_offset 56",
                        "lea rdi, [rip + {entry}]",
                        "mov rsi, [rsp + 56]",
                        "call {on_call}",
                        "mov r11, rax",
                        "pop rax; pop r9; pop r8; pop rcx; pop rdx; pop rsi; pop rdi",
                        ".cfi_adjust_cfa_offset -56",
                        "jmp r11",
                        ".cfi_endproc",
                        entry = sym ENTRY,
                        on_call = sym super::on_call,
                    )
                }
            )*
        }
    };
}

points! {
    GOMP_parallel GOMP_parallel_reductions GOMP_parallel_sections GOMP_barrier GOMP_barrier_cancel
    GOMP_loop_start GOMP_loop_ull_start GOMP_loop_ordered_start
    GOMP_loop_static_start GOMP_loop_dynamic_start GOMP_loop_guided_start GOMP_loop_runtime_start
    GOMP_loop_static_next GOMP_loop_dynamic_next GOMP_loop_guided_next GOMP_loop_runtime_next
    GOMP_loop_ull_dynamic_next GOMP_loop_ull_guided_next GOMP_loop_ull_runtime_next
    GOMP_loop_nonmonotonic_dynamic_start GOMP_loop_nonmonotonic_guided_start
    GOMP_loop_nonmonotonic_runtime_start GOMP_loop_maybe_nonmonotonic_runtime_start
    GOMP_loop_nonmonotonic_dynamic_next GOMP_loop_nonmonotonic_guided_next
    GOMP_loop_nonmonotonic_runtime_next GOMP_loop_maybe_nonmonotonic_runtime_next
    GOMP_loop_ull_nonmonotonic_dynamic_next GOMP_loop_ull_nonmonotonic_guided_next
    GOMP_loop_ordered_static_next GOMP_loop_ordered_dynamic_next GOMP_loop_ordered_guided_next
    GOMP_loop_end GOMP_loop_end_nowait GOMP_ordered_start GOMP_ordered_end
    GOMP_parallel_loop_static GOMP_parallel_loop_dynamic GOMP_parallel_loop_guided
    GOMP_parallel_loop_runtime GOMP_parallel_loop_nonmonotonic_dynamic
    GOMP_parallel_loop_nonmonotonic_guided GOMP_parallel_loop_nonmonotonic_runtime
    GOMP_parallel_loop_maybe_nonmonotonic_runtime
    GOMP_sections_start GOMP_sections2_start GOMP_sections_next GOMP_sections_end
    GOMP_sections_end_nowait GOMP_single_start GOMP_single_copy_start GOMP_single_copy_end
    GOMP_task GOMP_taskwait GOMP_taskwait_depend GOMP_taskyield GOMP_taskloop GOMP_taskloop_ull
    GOMP_taskgroup_start GOMP_taskgroup_end GOMP_doacross_post GOMP_doacross_wait GOMP_cancel
    __kmpc_fork_call __kmpc_barrier __kmpc_cancel_barrier __kmpc_for_static_fini __kmpc_ordered
    __kmpc_end_ordered __kmpc_dispatch_init_4 __kmpc_dispatch_init_4u __kmpc_dispatch_init_8
    __kmpc_dispatch_init_8u __kmpc_dispatch_next_4 __kmpc_dispatch_next_4u __kmpc_dispatch_next_8
    __kmpc_dispatch_next_8u __kmpc_single __kmpc_end_single __kmpc_omp_task
    __kmpc_omp_task_with_deps __kmpc_omp_taskwait __kmpc_omp_taskyield __kmpc_taskloop
    __kmpc_taskgroup __kmpc_end_taskgroup __kmpc_reduce __kmpc_reduce_nowait __kmpc_end_reduce
    __kmpc_end_reduce_nowait __kmpc_doacross_post __kmpc_doacross_wait
}
