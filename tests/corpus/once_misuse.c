/* A hand-made "once": the flag is set before the initialisation is complete, and whoever comes
 * second goes on at once. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int started, table;
#ifdef FIXED
static pthread_once_t control = PTHREAD_ONCE_INIT;
#endif

static void fill(void)
{
    pthread_mutex_lock(&lock);
    table = 1;
    pthread_mutex_unlock(&lock);
}

static void once(void)
{
#ifdef FIXED
    (void)started;
    pthread_once(&control, fill);
#else
    pthread_mutex_lock(&lock);
    int first = !started;
    started = 1;
    pthread_mutex_unlock(&lock);
    if (first)
        fill();
#endif
}

static void *use(void *unused)
{
    once();
    pthread_mutex_lock(&lock);
    assert(table == 1);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, use, 0);
    pthread_create(&b, 0, use, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
