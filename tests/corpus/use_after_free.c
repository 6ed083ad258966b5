/* Use after free: a thread takes a pointer to an object under the lock and follows it after the
 * owner has freed the object. */
#include <pthread.h>
#include <stdlib.h>

struct session {
    int id;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct session *current;
static int seen;

static void *user(void *unused)
{
    pthread_mutex_lock(&lock);
    struct session *s = current;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
#endif
    if (s)
        seen = s->id;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

static void *closer(void *unused)
{
    pthread_mutex_lock(&lock);
    free(current);
    current = 0;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t u, c;
    current = malloc(sizeof *current);
    current->id = 7;
    pthread_create(&u, 0, user, 0);
    pthread_create(&c, 0, closer, 0);
    pthread_join(u, 0);
    pthread_join(c, 0);
    return seen > 7;
}
