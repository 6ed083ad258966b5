//! C11 threads: thrd_*, mtx_*, cnd_*, tss_*, call_once.
