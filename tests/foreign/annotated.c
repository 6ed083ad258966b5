// Names that a program may call on ThreadSanitizer by itself.
#include <assert.h>
#include <pthread.h>

void AnnotateHappensBefore(const char *file, int line, const volatile void *object);
void AnnotateHappensAfter(const char *file, int line, const volatile void *object);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void __tsan_acquire(void *object);
void __tsan_release(void *object);
void *__tsan_get_current_fiber(void);

static int cell;

static void *work(void *unused) {
    AnnotateHappensBefore(__FILE__, __LINE__, &cell);
    __tsan_release(&cell);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    __tsan_acquire(&cell);
    AnnotateHappensAfter(__FILE__, __LINE__, &cell);
    pthread_join(thread, 0);
    assert(__tsan_get_current_fiber() == 0);
    return 0;
}
