/* Order (httpconnect): the socket thread may report the end of a connection before the main thread
 * has installed the connection that is to hear of it. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct connection { int open; };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t started = PTHREAD_COND_INITIALIZER;
static struct connection *connection;
static int is_started;

static void *socket_thread(void *unused)
{
    pthread_mutex_lock(&lock);
    is_started = 1;
    pthread_cond_signal(&started);
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    assert(connection != 0);
    connection->open = 0;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void install(void)
{
    connection = malloc(sizeof *connection);
    connection->open = 1;
}

int main(void)
{
    pthread_t t;
#ifdef FIXED
    install();
#endif
    pthread_create(&t, 0, socket_thread, 0);
    pthread_mutex_lock(&lock);
    while (!is_started)
        pthread_cond_wait(&started, &lock);
#ifndef FIXED
    install();
#endif
    pthread_mutex_unlock(&lock);
    pthread_join(t, 0);
    free(connection);
    return 0;
}
