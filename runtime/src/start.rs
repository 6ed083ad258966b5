//! From `__libc_start_main` to the program's `main`: attach, zygote, job.
