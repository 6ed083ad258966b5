/* Inline assembly in programs built by `raddle cc`; WHAT says which, main runs it, and so does a thread unless
 * ALONE. Where the order of the threads decides, one of the ends is exit status 3. */
#define _GNU_SOURCE
#include <cpuid.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    PIPE, TWO_PIPES, IDS, ERRORS, MEMORY, FORKS, BARRIERS, REGISTERS, KNOWN_CPU, WHICH_CPU, UNKNOWN, CALLS, LOCK
};

#ifdef FORGETFUL
#define CLOBBERED "rcx", "r11"
#else
#define CLOBBERED "rcx", "r11", "memory"
#endif

static long sys(long number, long a, const volatile void *b, long c)
{
    long result;
    asm volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : CLOBBERED);
    return result;
}

static long sys6(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 asm("r10") = d, r8 asm("r8") = e, r9 asm("r9") = f;
    asm volatile("syscall"
                 : "=a"(result)
                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                 : "rcx", "r11", "memory");
    return result;
}

static int ends[2][2];
static volatile int shared;
static volatile char letter;

/* The result of main's part, or of the thread's. */
static long part(long thread)
{
    long n = thread + 1, m = 5;
    unsigned a, b, c, d;
    switch (WHAT) {
    case PIPE:
    case TWO_PIPES: {
        volatile char byte = 'a' + thread;
        if (sys(SYS_write, ends[WHAT == PIPE ? 0 : thread][1], &byte, 1) != 1)
            abort();
        break;
    }
    case IDS:
        return sys(SYS_getpid, 0, 0, 0) != getpid() || sys(SYS_gettid, 0, 0, 0) != gettid();
    case ERRORS:
        errno = 77;
        if (sys(SYS_lseek, -1, 0, 0) != -EBADF || sys(SYS_close, -1, 0, 0) != -EBADF || errno != 77)
            return 1;
        n = sys6(SYS_mmap, 0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return n < 0 && n > -4096;
    case MEMORY:
        /* The call reads what the other part writes. */
        if (thread)
            letter = 'b';
        else if (sys(SYS_write, ends[0][1], &letter, 1) != 1)
            abort();
        break;
    case FORKS:
        n = sys(SYS_fork, 0, 0, 0);
        if (n == 0)
            _exit(0);
        return n < 0;
    case BARRIERS:
        asm volatile("pause" ::: "memory");
        asm volatile("mfence" ::: "memory");
        asm volatile("lock; addl $0,0(%%rsp)" ::: "memory", "cc");
        asm volatile("rep; nop");
        asm volatile("sfence; lfence" ::: "memory");
        break;
    case REGISTERS:
        asm("bswap %0; bswap %0" : "+r"(n));
        asm("bsrq %1, %0" : "=r"(m) : "r"(n));
        asm("mulq %2" : "+a"(n), "+d"(m) : "r"(3L));
        return n != 3 * (thread + 1);
    case KNOWN_CPU:
        __cpuid(0, a, b, c, d);
        __cpuid_count(7, 0, a, b, c, d);
        break;
    case WHICH_CPU:
        __cpuid_count(0xb, 0, a, b, c, d);
        break;
    case UNKNOWN:
        asm volatile(".byte 0x90");
        break;
    case CALLS:
        asm volatile("mov %1, %%eax\n\tsyscall" : "=a"(n) : "i"(SYS_getppid) : "rcx", "r11", "memory");
        break;
    case LOCK:
        asm volatile("lock; incl %0" : "+m"(shared));
        break;
    }
    return 0;
}

static void *work(void *unused)
{
    return (void *)part(1);
}

int main(void)
{
    pthread_t thread;
    void *result = 0;
    letter = 'a';
    if (pipe(ends[0]) || pipe(ends[1]))
        abort();
#ifndef ALONE
    pthread_create(&thread, 0, work, 0);
#endif
    long own = part(0);
#ifndef ALONE
    pthread_join(thread, &result);
#endif
    if (own || result)
        return 4;
    char first = 'a';
    if (WHAT == PIPE || WHAT == TWO_PIPES || WHAT == MEMORY)
        if (sys(SYS_read, ends[0][0], &first, 1) != 1)
            abort();
    return first == 'a' ? 0 : 3;
}
