/* The last one who has to do with an object destroys what it begins with; then main frees it. HOW: what
 * that is. With -DBUGGY the one who is not the last uses it once more. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

struct object {
#if HOW == 1
    pthread_cond_t condition;
#elif HOW == 2
    sem_t count;
#endif
    pthread_mutex_t mutex;
    int users;
};

static struct object *object;
#if HOW == 0
#define DESTROY() pthread_mutex_destroy(&object->mutex)
#define USE() (pthread_mutex_lock(&object->mutex), pthread_mutex_unlock(&object->mutex))
#elif HOW == 1
#define DESTROY() pthread_cond_destroy(&object->condition)
#define USE() pthread_cond_signal(&object->condition)
#else
#define DESTROY() sem_destroy(&object->count)
#define USE() sem_post(&object->count)
#endif

static void *thread(void *unused)
{
    pthread_mutex_lock(&object->mutex);
    int last = --object->users == 0;
    pthread_mutex_unlock(&object->mutex);
    if (last)
        DESTROY();
#ifdef BUGGY
    else
        USE();
#endif
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    object = malloc(sizeof *object);
    pthread_mutex_init(&object->mutex, 0);
#if HOW == 1
    pthread_cond_init(&object->condition, 0);
#elif HOW == 2
    sem_init(&object->count, 0, 0);
#endif
    object->users = 2;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, thread, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    free(object);
    return 0;
}
