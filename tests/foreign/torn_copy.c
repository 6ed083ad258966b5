// A writer copies a pair over another while a reader copies it out: memcpy must be a point.
#include <assert.h>
#include <pthread.h>
#include <string.h>

struct pair {
    long a[24], b;
};
static struct pair shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile size_t size = sizeof(struct pair);
static long version;

static void *writer(void *unused) {
    struct pair mine;
    memset(&mine, 1, size);
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    version = 1;
    memcpy(&shared, &mine, size);
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    pthread_mutex_lock(&lock);
    long seen = version;
    struct pair mine;
    memmove(&mine, &shared, size);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    // Whoever sees the version sees the content that belongs to it.
    assert((seen == 0) == (mine.b == 0));
    return 0;
}
