// The program's own strlen and bcmp count their calls: nobody else calls them.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static int calls;

size_t strlen(const char *text)
{
    size_t length = 0;
    calls++;
    while (((volatile const char *)text)[length])
        length++;
    return length;
}

int bcmp(const void *left, const void *right, size_t size)
{
    const volatile char *a = left, *b = right;
    calls++;
    while (size--)
        if (*a++ != *b++)
            return 1;
    return 0;
}

static char text[8] = "abc", other[8] = "abd";

static void *use(void *unused)
{
    assert(strlen(text) == 3);
    assert(bcmp(text, other, 3) == 1);
    return unused;
}

int main(void)
{
    pthread_t one;
    int before = calls;
    use(0);
    pthread_create(&one, 0, use, 0);
    pthread_join(one, 0);
    assert(calls - before == 4);
    return 0;
}
