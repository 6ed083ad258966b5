/* Atomicity: append() asks another buffer for its length and then copies that many bytes; both
 * methods are synchronised, the pair of them is not, and the other buffer may shrink between. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

struct buffer {
    pthread_mutex_t lock;
    int length;
    char text[32];
};

static struct buffer source = {PTHREAD_MUTEX_INITIALIZER, 5, "abcde"};
static struct buffer target = {PTHREAD_MUTEX_INITIALIZER, 0, ""};

static int length_of(struct buffer *b)
{
    pthread_mutex_lock(&b->lock);
    int n = b->length;
    pthread_mutex_unlock(&b->lock);
    return n;
}

static void copy_out(struct buffer *b, int n, char *to)
{
    pthread_mutex_lock(&b->lock);
    assert(n <= b->length);
    memcpy(to, b->text, (size_t)n);
    pthread_mutex_unlock(&b->lock);
}

static void *append(void *unused)
{
#ifdef FIXED
    (void)length_of, (void)copy_out;
    pthread_mutex_lock(&source.lock);
    int n = source.length;
    memcpy(target.text, source.text, (size_t)n);
    pthread_mutex_unlock(&source.lock);
#else
    int n = length_of(&source);
    copy_out(&source, n, target.text);
#endif
    target.length = n;
    return unused;
}

static void *erase(void *unused)
{
    pthread_mutex_lock(&source.lock);
    source.length = 0;
    pthread_mutex_unlock(&source.lock);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, append, 0);
    pthread_create(&b, 0, erase, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
