// One thread writes 90 to a byte by its address; another one makes a CALL that gives this memory another
// content; both under a mutex. main then looks, and fails on one of both outcomes: FORM "writer" if the
// write came last, "caller" if the call did; "neither" if it finds another value; "ordered" if the call
// came last, which waits for the write, and its value is not found. A third argument: by the number of the
// system call.
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096
#define BOTH (PROT_READ | PROT_WRITE)
#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS)

static int by_number;

static void *map(void *at, size_t len, int flags, int fd)
{
    return by_number ? (void *)syscall(SYS_mmap, at, len, BOTH, flags, fd, 0L) : mmap(at, len, BOTH, flags, fd, 0);
}

static int unmap(void *at, size_t len)
{
    return by_number ? (int)syscall(SYS_munmap, at, len) : munmap(at, len);
}

static void *move(void *at, size_t len, size_t new, int flags, void *to)
{
    return by_number ? (void *)syscall(SYS_mremap, at, len, new, flags, to) : mremap(at, len, new, flags, to);
}

static int advise(void *at, int advice)
{
    return by_number ? (int)syscall(SYS_madvise, at, PAGE, advice) : madvise(at, PAGE, advice);
}

static ssize_t put(int fd, const void *from, size_t len, off_t at)
{
    return by_number ? syscall(SYS_pwrite64, fd, from, len, at) : pwrite(fd, from, len, at);
}

static ssize_t get(int fd, void *to, size_t len, off_t at)
{
    return by_number ? syscall(SYS_pread64, fd, to, len, at) : pread(fd, to, len, at);
}

/// Where the bytes lie, where the writer writes, and where main looks.
static unsigned char *page, *target, *look;
/// Other pages.
static unsigned char *other;
static int file, from, segment;
static unsigned char byte = 5;

static int new_file(unsigned char first)
{
    int fd = memfd_create("file", 0);
    assert(fd >= 0 && ftruncate(fd, 4 * PAGE) == 0 && pwrite(fd, &first, 1, 0) == 1);
    return fd;
}

static unsigned char *new_pages(int n) { return mmap(NULL, n * PAGE, BOTH, ANONYMOUS, -1, 0); }

// Before there are threads.

static void anonymous(void)
{
    page = new_pages(16) + PAGE;
    page[0] = 7;
}

static void shared_anonymous(void)
{
    page = mmap(NULL, 4 * PAGE, BOTH, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    page[0] = 7;
}

static void anonymous_and_file(void)
{
    anonymous();
    file = new_file(5);
}

static void anonymous_and_other(void)
{
    anonymous();
    other = new_pages(4);
    other[0] = 5;
}

static void anonymous_and_segment(void)
{
    anonymous();
    segment = shmget(IPC_PRIVATE, PAGE, IPC_CREAT | 0600);
    unsigned char *there = shmat(segment, NULL, 0);
    there[0] = 5;
    shmdt(there);
}

static void attached(void)
{
    segment = shmget(IPC_PRIVATE, PAGE, IPC_CREAT | 0600);
    page = shmat(segment, NULL, 0);
    page[0] = 7;
    other = shmat(segment, NULL, 0);
}

static void shared_file(void)
{
    file = new_file(7);
    from = new_file(5);
    page = mmap(NULL, 4 * PAGE, BOTH, MAP_SHARED, file, 0);
}

static void private_file(void)
{
    file = new_file(7);
    page = mmap(NULL, PAGE, BOTH, MAP_PRIVATE, file, 0);
    target = mmap(NULL, PAGE, BOTH, MAP_SHARED, file, 0);
}

static void twice(void)
{
    file = new_file(7);
    page = mmap(NULL, PAGE, BOTH, MAP_SHARED, file, 0);
    other = mmap(NULL, PAGE, BOTH, MAP_SHARED, file, 0);
}

static void end_of_data(void)
{
    long end = (long)sbrk(0);
    page = (unsigned char *)((end + PAGE - 1) / PAGE * PAGE);
    assert(brk(page + 2 * PAGE) == 0);
    page[0] = 7;
}

static unsigned char global[3 * PAGE];

static void in_global(void)
{
    page = (unsigned char *)(((size_t)global + PAGE - 1) / PAGE * PAGE);
    page[0] = 7;
}

// What the caller does.

static void dontneed(void) { assert(advise(page, MADV_DONTNEED) == 0); }
static void dontneed_locked(void) { assert(advise(page, 24) == 0); }
static void removes(void) { assert(advise(page, MADV_REMOVE) == 0); }
static void frees(void) { assert(advise(page, MADV_FREE) == 0); }
static void guards(void)
{
    if (advise(page, 102) != 0 || advise(page, 103) != 0)
        advise(page, MADV_DONTNEED);
}
static void fixed(void) { assert(map(page, PAGE, ANONYMOUS | MAP_FIXED, -1) == page); }
static void fixed_shared(void)
{
    assert(map(page, PAGE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1) == page);
}
static void fixed_file(void) { assert(map(page, PAGE, MAP_PRIVATE | MAP_FIXED, file) == page); }
static void fixed_shared_file(void) { assert(map(page, PAGE, MAP_SHARED | MAP_FIXED, file) == page); }
static void maps_again(void)
{
    unmap(page, PAGE);
    assert(map(page, PAGE, ANONYMOUS | MAP_FIXED_NOREPLACE, -1) == page);
}
static void maps_by_hint(void)
{
    unmap(page, PAGE);
    assert(map(page, PAGE, ANONYMOUS, -1) == page);
}
static void shrinks_and_grows(void)
{
    assert(move(page - PAGE, 2 * PAGE, PAGE, 0, 0) == page - PAGE);
    unmap(page, 14 * PAGE);
    assert(move(page - PAGE, PAGE, 2 * PAGE, 0, 0) == page - PAGE);
}
static void moves_over(void)
{
    assert(move(other, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, page) == page);
}
static void moves_away(void)
{
    assert(move(page, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0) != MAP_FAILED);
}
static void swaps(void)
{
    // The page at `page` goes to `other`, and the writer's byte with it.
    assert(move(page, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, other) == other);
    look = other;
}
static void goes_elsewhere(void)
{
    unsigned char *new = move(page, PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, other);
    new[0] = 5;
    target = look = new;
}
static void attaches_over(void)
{
    if (by_number)
        assert(syscall(SYS_shmat, segment, page, SHM_REMAP) == (long)page);
    else
        assert(shmat(segment, page, SHM_REMAP) == page);
}
static void attaches_again(void)
{
    if (by_number)
        assert(syscall(SYS_shmdt, page) == 0 && syscall(SYS_shmat, segment, page, 0) == (long)page);
    else
        assert(shmdt(page) == 0 && shmat(segment, page, 0) == page);
    page[0] = 5;
}
static void lowers_and_raises(void)
{
    if (by_number)
        syscall(SYS_brk, page), syscall(SYS_brk, page + 2 * PAGE);
    else
        assert(brk(page) == 0 && brk(page + 2 * PAGE) == 0);
}
static void lowers_and_raises_by(void)
{
    long more = (unsigned char *)sbrk(0) - page;
    assert(sbrk(-more) != (void *)-1 && sbrk(more) != (void *)-1);
}
static void punches(void)
{
    int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    assert((by_number ? (int)syscall(SYS_fallocate, file, mode, 0, PAGE) : fallocate(file, mode, 0, PAGE)) == 0);
}
static void truncates(void)
{
    if (by_number)
        syscall(SYS_ftruncate, file, 0), syscall(SYS_ftruncate, file, 4 * PAGE);
    else
        assert(ftruncate(file, 0) == 0 && ftruncate(file, 4 * PAGE) == 0);
}
static void writes_elsewhere(void) { other[0] = 5; }
static void writes_by_number(void) { assert(put(file, &byte, 1, 0) == 1); }
static void writes_at_offset(void)
{
    if (by_number)
        syscall(SYS_lseek, file, 0, SEEK_SET), syscall(SYS_write, file, &byte, 1);
    else
        assert(lseek(file, 0, SEEK_SET) == 0 && write(file, &byte, 1) == 1);
}
static void writes_parts(void)
{
    struct iovec part = {&byte, 1};
    if (by_number)
        syscall(SYS_pwritev, file, &part, 1, 0, 0);
    else
        assert(pwritev(file, &part, 1, 0) == 1);
}
static void sends(void)
{
    lseek(file, 0, SEEK_SET);
    off_t at = 0;
    assert((by_number ? syscall(SYS_sendfile, file, from, &at, 1) : sendfile(file, from, &at, 1)) == 1);
}
static void copies(void)
{
    loff_t in = 0, out = 0;
    ssize_t n = by_number ? syscall(SYS_copy_file_range, from, &in, file, &out, 1L, 0L)
                          : copy_file_range(from, &in, file, &out, 1, 0);
    assert(n == 1);
}
static void prints(void)
{
    FILE *stream = fdopen(dup(file), "r+");
    fputc(5, stream);
    fclose(stream);
}
static void opens(void)
{
    char path[40];
    sprintf(path, "/proc/self/fd/%d", file);
    close(open(path, O_RDWR | O_TRUNC));
    assert(ftruncate(file, 4 * PAGE) == 0);
}
static void reads_into(void) { assert(get(file, page, 1, 0) == 1); }
static void reads_out(void)
{
    // What the writer has written is found by a descriptor; another page says what.
    assert(get(file, &byte, 1, 0) == 1);
    look = &byte;
}
static void rearranges(void)
{
    page[PAGE] = 5;
    if (by_number)
        syscall(SYS_remap_file_pages, page, PAGE, 0, 1, 0);
    else
        assert(remap_file_pages(page, PAGE, 0, 1, 0) == 0);
}
#ifdef BY_PROCESS
static void writes_to_oneself(void)
{
    struct iovec here = {&byte, 1}, there = {page, 1};
    if (by_number)
        syscall(SYS_process_vm_writev, getpid(), &here, 1L, &there, 1L, 0L);
    else
        assert(process_vm_writev(getpid(), &here, 1, &there, 1, 0) == 1);
}
static void reads_from_oneself(void)
{
    struct iovec here = {&byte, 1}, there = {page, 1};
    if (by_number)
        syscall(SYS_process_vm_readv, getpid(), &here, 1L, &there, 1L, 0L);
    else
        assert(process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1);
    look = &byte;
}
#endif
static void writes_own_memory(void)
{
    int memory = open("/proc/self/mem", O_RDWR);
    assert(put(memory, &byte, 1, (off_t)page) == 1);
    close(memory);
}
static void maps_descriptor(void)
{
    // A private page that nobody has written shows what is in the file.
    assert(map(page, PAGE, MAP_PRIVATE | MAP_FIXED, file) == page);
    assert(put(file, &byte, 1, 0) == 1);
}
static void advises_by_descriptor(void)
{
    struct iovec there = {page, PAGE};
    int self = syscall(SYS_pidfd_open, getpid(), 0);
    if (syscall(SYS_process_madvise, self, &there, 1L, (long)MADV_DONTNEED, 0L) < 0)
        madvise(page, PAGE, MADV_DONTNEED);
}

static const struct {
    const char *call;
    void (*prepare)(void), (*change)(void);
    /// What main finds if the write comes last, and if the call does.
    int writer, caller;
} CASES[] = {
    {"dontneed", anonymous, dontneed, 90, 0},
    {"dontneed of a global", in_global, dontneed, 90, 0},
    {"dontneed, shared", shared_anonymous, dontneed, 90, 90},
    {"dontneed, locked", anonymous, dontneed_locked, 90, 0},
    {"remove", shared_anonymous, removes, 90, 0},
    {"free", anonymous, frees, 90, 90},
    {"guard", anonymous, guards, 90, 0},
    {"fixed", anonymous, fixed, 90, 0},
    {"fixed in a global", in_global, fixed, 90, 0},
    {"fixed, shared", anonymous, fixed_shared, 90, 0},
    {"fixed, of a file", anonymous_and_file, fixed_file, 90, 5},
    {"fixed, of a shared file", anonymous_and_file, fixed_shared_file, 90, 5},
    {"unmapped and mapped", anonymous, maps_again, 90, 0},
    {"unmapped and mapped by hint", anonymous, maps_by_hint, 90, 0},
    {"shrinks and grows", anonymous, shrinks_and_grows, 90, 0},
    {"moved over", anonymous_and_other, moves_over, 90, 5},
    {"moved away", anonymous, moves_away, 90, 0},
    {"moved to elsewhere", anonymous_and_other, swaps, 7, 90},
    {"moved with its users", anonymous_and_other, goes_elsewhere, 90, 5},
    {"attached over", anonymous_and_segment, attaches_over, 90, 5},
    {"attached again", attached, attaches_again, 90, 5},
    {"brk", end_of_data, lowers_and_raises, 90, 0},
    {"sbrk", end_of_data, lowers_and_raises_by, 90, 0},
    {"punched", shared_file, punches, 90, 0},
    {"truncated", shared_file, truncates, 90, 0},
    {"twice", twice, writes_elsewhere, 90, 5},
    {"attached twice", attached, writes_elsewhere, 90, 5},
    {"pwrite", shared_file, writes_by_number, 90, 5},
    {"write", shared_file, writes_at_offset, 90, 5},
    {"pwritev", shared_file, writes_parts, 90, 5},
    {"sendfile", shared_file, sends, 90, 5},
    {"copy_file_range", shared_file, copies, 90, 5},
    {"stream", shared_file, prints, 90, 5},
    {"open", shared_file, opens, 90, 0},
    {"pread", anonymous_and_file, reads_into, 90, 5},
    {"pread of what is mapped", shared_file, reads_out, 7, 90},
    {"remap_file_pages", shared_file, rearranges, 90, 5},
#ifdef BY_PROCESS
    {"process_vm_writev", anonymous, writes_to_oneself, 90, 5},
    {"process_vm_readv", anonymous, reads_from_oneself, 7, 90},
#endif
    {"/proc/self/mem", anonymous, writes_own_memory, 90, 5},
    {"private file", private_file, writes_by_number, 90, 5},
    {"private file over", anonymous_and_file, maps_descriptor, 90, 5},
    {"process_madvise", anonymous, advises_by_descriptor, 90, 0},
};
enum { COUNT = sizeof CASES / sizeof *CASES };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t written;
static int number, ordered;

static void *writer(void *unused)
{
    pthread_mutex_lock(&mutex);
    *target = 90;
    pthread_mutex_unlock(&mutex);
    if (ordered)
        sem_post(&written);
    return unused;
}

static void *caller(void *unused)
{
    if (ordered)
        sem_wait(&written);
    pthread_mutex_lock(&mutex);
    CASES[number].change();
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        for (int i = 0; i < COUNT; i++)
            puts(CASES[i].call);
        return 0;
    }
    const char *form = argv[2];
    by_number = argc > 3;
    while (number < COUNT && strcmp(CASES[number].call, argv[1]))
        number++;
    assert(number < COUNT);
    ordered = !strcmp(form, "ordered");
    CASES[number].prepare();
    if (!target)
        target = page;
    if (!look)
        look = page;
    sem_init(&written, 0, 0);
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, caller, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    int found = *look, last = CASES[number].caller, first = CASES[number].writer;
    if (!strcmp(form, "writer"))
        assert(found != first);
    else if (!strcmp(form, "caller"))
        assert(found != last);
    else if (!strcmp(form, "neither"))
        assert(found == first || found == last);
    else
        assert(found == last);
    return 0;
}
