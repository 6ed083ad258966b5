//! Functions of ThreadSanitizer that have no meaning here: its own start, its call stack, its
//! reports, fibers of its own, hints on what to leave out. Accesses that a program wants ignored
//! stay places to switch: the interleaving is real, whatever it is good for.
//!
//! Not among them are the functions that a *program* may define for ThreadSanitizer to call
//! (`__tsan_default_options` and its kin): nobody calls those.

macro_rules! nothing {
    ($($name:ident),* $(,)?) => {
        $(
            #[cfg(not(test))]
            const _: () = {
                /// Does nothing and returns 0, whatever the arguments.
                #[unsafe(no_mangle)]
                #[unsafe(naked)]
                unsafe extern "C" fn $name() {
                    core::arch::naked_asm!("xor eax, eax", "ret")
                }
            };
        )*
    };
}

nothing! {
    AnnotateBenignRace,
    AnnotateBenignRaceSized,
    AnnotateCondVarSignal,
    AnnotateCondVarSignalAll,
    AnnotateCondVarWait,
    AnnotateEnableRaceDetection,
    AnnotateExpectRace,
    AnnotateFlushExpectedRaces,
    AnnotateFlushState,
    AnnotateIgnoreReadsBegin,
    AnnotateIgnoreReadsEnd,
    AnnotateIgnoreSyncBegin,
    AnnotateIgnoreSyncEnd,
    AnnotateIgnoreWritesBegin,
    AnnotateIgnoreWritesEnd,
    AnnotateMemoryIsInitialized,
    AnnotateMemoryIsUninitialized,
    AnnotateMutexIsNotPHB,
    AnnotateMutexIsUsedAsCondVar,
    AnnotateNewMemory,
    AnnotateNoOp,
    AnnotatePCQCreate,
    AnnotatePCQDestroy,
    AnnotatePCQGet,
    AnnotatePCQPut,
    AnnotatePublishMemoryRange,
    AnnotateRWLockCreate,
    AnnotateRWLockCreateStatic,
    AnnotateRWLockDestroy,
    AnnotateThreadName,
    AnnotateTraceMemory,
    AnnotateUnpublishMemoryRange,
    __tsan_check_no_mutexes_held,
    __tsan_create_fiber,
    __tsan_destroy_fiber,
    __tsan_external_assign_tag,
    __tsan_external_register_header,
    __tsan_external_register_tag,
    __tsan_flush_memory,
    __tsan_func_entry,
    __tsan_func_exit,
    __tsan_get_alloc_stack,
    __tsan_get_current_fiber,
    __tsan_get_current_report,
    __tsan_get_report_data,
    __tsan_get_report_loc,
    __tsan_get_report_loc_object_type,
    __tsan_get_report_mop,
    __tsan_get_report_mutex,
    __tsan_get_report_stack,
    __tsan_get_report_tag,
    __tsan_get_report_thread,
    __tsan_get_report_unique_tid,
    __tsan_ignore_thread_begin,
    __tsan_ignore_thread_end,
    __tsan_java_alloc,
    __tsan_java_finalize,
    __tsan_java_find,
    __tsan_java_fini,
    __tsan_java_free,
    __tsan_java_init,
    __tsan_java_move,
    __tsan_locate_address,
    __tsan_on_thread_idle,
    __tsan_set_fiber_name,
    __tsan_switch_to_fiber,
    __tsan_testonly_barrier_init,
    __tsan_testonly_barrier_wait,
    __tsan_testonly_shadow_stack_current_size,
}
