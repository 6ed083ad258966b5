// A thread uses a page while another one makes a call that acts on it: CALL USE, and "after" if the
// call comes after the use. What the use finds shows which came first.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096

static char *page;
static const char *call, *use;
static int ordered;
static sem_t used;
static char found[PAGE];

static int is(const char *what, const char *name) { return !strcmp(what, name); }

static void *user(void *unused)
{
    int seen = 0;
    if (is(use, "read"))
        seen = *(volatile char *)page;
    else if (is(use, "write"))
        *(volatile char *)page = 7, seen = *(volatile char *)page;
    else if (is(use, "atomic"))
        seen = atomic_fetch_add((_Atomic int *)page, 0) & 255;
    else if (is(use, "memcpy"))
        memcpy(found, page, 300), seen = found[299];
    else if (is(use, "strlen"))
        seen = strlen(page) == 20 ? 7 : 0;
    else
        abort();
    if (seen != 7)
        exit(3);
    if (ordered)
        sem_post(&used);
    return unused;
}

static void *caller(void *unused)
{
    if (ordered)
        sem_wait(&used);
    if (is(call, "munmap"))
        munmap(page, PAGE);
    else if (is(call, "mprotect"))
        mprotect(page, PAGE, PROT_NONE);
    else if (is(call, "pkey_mprotect"))
        pkey_mprotect(page, PAGE, PROT_NONE, -1);
    else if (is(call, "mremap"))
        mremap(page, PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, page + 16 * PAGE);
    else if (is(call, "shrink"))
        mremap(page - PAGE, 2 * PAGE, PAGE, 0);
    else if (is(call, "shmdt"))
        shmdt(page);
    else if (is(call, "fixed"))
        mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    else if (is(call, "dontneed"))
        madvise(page, PAGE, MADV_DONTNEED);
    else if (is(call, "remove"))
        madvise(page, PAGE, MADV_REMOVE);
    else if (is(call, "brk"))
        brk(page);
    else if (is(call, "sbrk"))
        sbrk(-2 * PAGE);
    else if (is(call, "munmap by number"))
        syscall(SYS_munmap, page, PAGE);
    else if (is(call, "mprotect by number"))
        syscall(SYS_mprotect, page, PAGE, PROT_NONE);
    else if (is(call, "mremap by number"))
        syscall(SYS_mremap, page, PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, page + 16 * PAGE);
    else if (is(call, "fixed by number"))
        syscall(SYS_mmap, page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    else if (is(call, "dontneed by number"))
        syscall(SYS_madvise, page, PAGE, MADV_DONTNEED);
    else if (is(call, "shmdt by number"))
        syscall(SYS_shmdt, page);
    else if (is(call, "brk by number"))
        syscall(SYS_brk, page);
    else
        abort();
    return unused;
}

int main(int argc, char **argv)
{
    call = argv[1];
    use = argv[2];
    ordered = argc > 3;
    sem_init(&used, 0, 0);
    if (strstr(call, "brk")) {
        long end = (long)sbrk(0);
        page = (char *)((end + PAGE - 1) / PAGE * PAGE);
        brk(page + 2 * PAGE);
    } else if (strstr(call, "shmdt")) {
        int id = shmget(IPC_PRIVATE, PAGE, IPC_CREAT | 0600);
        page = shmat(id, NULL, 0);
        shmctl(id, IPC_RMID, NULL);
    } else {
        int shared = is(call, "remove") ? MAP_SHARED : MAP_PRIVATE;
        page = mmap(NULL, 20 * PAGE, PROT_READ | PROT_WRITE, shared | MAP_ANONYMOUS, -1, 0);
        page += PAGE;
    }
    memset(page, 7, 400);
    if (is(use, "strlen"))
        page[20] = 0;
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, user, NULL);
    pthread_create(&threads[1], NULL, caller, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
