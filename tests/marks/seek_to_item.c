/* Atomicity (seektoitem): the iterator's row is looked up and used in two steps; another thread that
 * moves the iterator between them makes it point outside. */
#include <assert.h>
#include <pthread.h>

enum { ROWS = 3 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int row, values[ROWS] = {10, 11, 12};

static void move_to(int r)
{
    pthread_mutex_lock(&lock);
    row = r;
    pthread_mutex_unlock(&lock);
}

static int is_inside(void)
{
    pthread_mutex_lock(&lock);
    int inside = row < ROWS;
    pthread_mutex_unlock(&lock);
    return inside;
}

static int value(void)
{
    pthread_mutex_lock(&lock);
    assert(row < ROWS);
    int v = values[row];
    pthread_mutex_unlock(&lock);
    return v;
}

static void *seek(void *unused)
{
    for (int i = 0; i < 2; i++)
        move_to(i);
    move_to(ROWS);
    return unused;
}

static void *read_all(void *unused)
{
    for (int i = 0; i < 2; i++) {
#ifdef FIXED
        (void)is_inside, (void)value;
        pthread_mutex_lock(&lock);
        if (row < ROWS)
            assert(values[row] >= 10);
        pthread_mutex_unlock(&lock);
#else
        if (is_inside())
            assert(value() >= 10);
#endif
    }
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, seek, 0);
    pthread_create(&b, 0, read_all, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
