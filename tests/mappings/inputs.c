// An input lies in a page that a CALL empties, moves, or maps another one over; main fails on what it finds
// there: FORM "changed" if it is not what the call leaves, "kept" if it is not the input.
#define _GNU_SOURCE
#include <assert.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096

void raddle_symbolic(void *at, unsigned long size, const char *name);

int main(int argc, char **argv)
{
    int anonymous = MAP_PRIVATE | MAP_ANONYMOUS, both = PROT_READ | PROT_WRITE;
    int *page = mmap(0, 8 * PAGE, both, anonymous, -1, 0), *left = page, x = 0;
    raddle_symbolic(&x, sizeof x, "x");
    page[0] = x;
    if (!strcmp(argv[1], "dontneed"))
        madvise(page, PAGE, MADV_DONTNEED);
    else if (!strcmp(argv[1], "fixed"))
        mmap(page, PAGE, both, anonymous | MAP_FIXED, -1, 0);
    else
        left = mremap(page, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, page + 4 * PAGE / sizeof *page);
    if (!strcmp(argv[2], "kept"))
        assert(left[0] == x);
    else
        assert(left[0] == (left == page ? 0 : x));
    return 0;
}
