/* C11 threads: a reader that was woken reads the message after it has given up the lock, when the
 * next message may have replaced it. */
#include <assert.h>
#include <threads.h>

static mtx_t lock;
static cnd_t changed;
static int message;

static int read_first(void *unused)
{
    (void)unused;
    mtx_lock(&lock);
    while (message == 0)
        cnd_wait(&changed, &lock);
#ifdef FIXED
    int seen = message;
    mtx_unlock(&lock);
#else
    mtx_unlock(&lock);
    mtx_lock(&lock);
    int seen = message;
    mtx_unlock(&lock);
#endif
    return seen;
}

static int write_two(void *unused)
{
    (void)unused;
    for (int i = 1; i <= 2; i++) {
        mtx_lock(&lock);
#ifdef FIXED
        if (message == 0)
#endif
            message = i;
        cnd_signal(&changed);
        mtx_unlock(&lock);
    }
    return 0;
}

int main(void)
{
    thrd_t r, w;
    int seen = 0;
    mtx_init(&lock, mtx_plain);
    cnd_init(&changed);
    thrd_create(&r, read_first, 0);
    thrd_create(&w, write_two, 0);
    thrd_join(r, &seen);
    thrd_join(w, 0);
    assert(seen == 1);
    return 0;
}
