// One thread takes a width before another has made it valid: undefined behaviour.
#include <pthread.h>
#include <stdio.h>

static int width = 40;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *settle(void *unused) {
    pthread_mutex_lock(&lock);
    width = 4;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, settle, 0);
#ifdef FIXED
    pthread_join(thread, 0);
#endif
    pthread_mutex_lock(&lock);
    printf("%d\n", 1 << width);
    pthread_mutex_unlock(&lock);
#ifndef FIXED
    pthread_join(thread, 0);
#endif
    return 0;
}
