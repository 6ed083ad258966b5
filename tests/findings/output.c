// Two threads print a line each. Fixed: one after the other.
#include <pthread.h>
#include <stdio.h>

static void *say(void *text) {
    printf("begin\n%s\n", (const char *)text);
    return 0;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, say, "one");
#ifdef FIXED
    pthread_join(first, 0);
    pthread_create(&second, 0, say, "two");
#else
    pthread_create(&second, 0, say, "two");
    pthread_join(first, 0);
#endif
    pthread_join(second, 0);
    return 0;
}
