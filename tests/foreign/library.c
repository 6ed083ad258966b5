// With LIBRARY the part that counts, without it the program; with LATER that loads the library which
// is its argument.
#ifdef LIBRARY
static long counter;
void add(void) { counter = counter + 1; }
long sum(void) { return counter; }
#else
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>

#ifdef LATER
static void (*add)(void);
static long (*sum)(void);
#else
void add(void);
long sum(void);
#endif

static void *work(void *unused) {
    add();
    return unused;
}

int main(int number, char **words) {
#ifdef LATER
    void *library = dlopen(words[number - 1], RTLD_NOW);
    add = dlsym(library, "add");
    sum = dlsym(library, "sum");
#endif
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(sum() == 2);
    return 0;
}
#endif
