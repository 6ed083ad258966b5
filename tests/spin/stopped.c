/* Two threads work until a third one, which sleeps meanwhile, tells them to stop. */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int done, stop;

static void *works(void *unused)
{
    for (int goes_on = 1; goes_on;) {
        pthread_mutex_lock(&mutex);
        done++;
        goes_on = !stop;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, works, 0);
    pthread_create(&b, 0, works, 0);
    sleep(1);
    pthread_mutex_lock(&mutex);
    stop = 1;
    pthread_mutex_unlock(&mutex);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
