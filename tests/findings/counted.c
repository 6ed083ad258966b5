/* A block that one thread allocates and another frees, in order by atomics alone. Compiled without
 * hooks, nothing of the order is seen. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct counted {
    atomic_int references;
};

static struct counted *_Atomic box;

static void *makes(void *unused)
{
    struct counted *made = malloc(sizeof *made);
    if (!made)
        abort();
    atomic_init(&made->references, 1);
    atomic_store(&box, made);
    return unused;
}

static void *drops(void *unused)
{
    struct counted *found = atomic_exchange(&box, 0);
    if (found && atomic_fetch_sub(&found->references, 1) == 1)
        free(found);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, makes, 0);
    pthread_create(&b, 0, drops, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    drops(0);
    return 0;
}
