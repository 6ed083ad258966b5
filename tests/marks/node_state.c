/* Order (nodestate): the handler of a stream uses the node that its creator assigns after it has
 * started the stream. */
#include <assert.h>
#include <pthread.h>

struct node { int state; };
static struct node node = {1};
static struct node *_Atomic current;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int requests;

static void *handle(void *unused)
{
    pthread_mutex_lock(&lock);
    requests++;
    pthread_mutex_unlock(&lock);
    assert(current && current->state == 1);
    return unused;
}

int main(void)
{
    pthread_t t;
#ifdef FIXED
    current = &node;
#endif
    pthread_create(&t, 0, handle, 0);
    pthread_mutex_lock(&lock);
    requests++;
    pthread_mutex_unlock(&lock);
#ifndef FIXED
    current = &node;
#endif
    pthread_join(t, 0);
    return 0;
}
