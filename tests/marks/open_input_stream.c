/* Deadlock (openinputstr): opening a stream waits for the transport to be ready and holds the cache's
 * lock meanwhile, which the transport needs once, if the entry is not yet known. */
#include <pthread.h>

static pthread_mutex_t cache = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t transport = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_ready = PTHREAD_COND_INITIALIZER;
static int ready, known;

static void await_transport(void)
{
    pthread_mutex_lock(&transport);
    while (!ready)
        pthread_cond_wait(&is_ready, &transport);
    pthread_mutex_unlock(&transport);
}

static void *open_stream(void *unused)
{
#ifdef FIXED
    await_transport();
#endif
    pthread_mutex_lock(&cache);
    known = 1;
#ifndef FIXED
    await_transport();
#endif
    pthread_mutex_unlock(&cache);
    return unused;
}

static void *serve(void *unused)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&cache);
        known++;
        pthread_mutex_unlock(&cache);
    }
    pthread_mutex_lock(&transport);
    ready = 1;
    pthread_cond_signal(&is_ready);
    pthread_mutex_unlock(&transport);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&b, 0, serve, 0);
    pthread_create(&a, 0, open_stream, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
