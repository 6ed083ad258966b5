/* Order (readwriteproc): the writer says that the page is there before it has waited for the flush;
 * the reader that comes in between reads the page of before. Both hold the lock whenever they touch
 * the state. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int page, valid, filler;

static void other_work(void)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        filler++;
        pthread_mutex_unlock(&lock);
    }
}

static void set(int *where)
{
    pthread_mutex_lock(&lock);
    *where = 1;
    pthread_mutex_unlock(&lock);
}

static void *write_page(void *unused)
{
    other_work();
#ifdef FIXED
    set(&page);
    set(&valid);
#else
    set(&valid);
    set(&page);
#endif
    return unused;
}

static void *read_page(void *unused)
{
    other_work();
    pthread_mutex_lock(&lock);
    assert(!valid || page);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, write_page, 0);
    pthread_create(&b, 0, read_page, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
