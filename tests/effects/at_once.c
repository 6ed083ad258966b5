/* Two threads call functions that are not safe for threads. -DCALL=N chooses them; -DORDER=0: at once,
 * 1: each with a mutex, 2: one after the other has been joined, 3: one of them is main, before the other
 * is there, 4: each with a read-write lock, 5: each with a spinlock. */
#include <locale.h>
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <unistd.h>
#include <wchar.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock;

static void lock(void)
{
    if (ORDER == 1) pthread_mutex_lock(&mutex);
    if (ORDER == 4) pthread_rwlock_wrlock(&rwlock);
    if (ORDER == 5) pthread_spin_lock(&spinlock);
}

static void unlock(void)
{
    if (ORDER == 1) pthread_mutex_unlock(&mutex);
    if (ORDER == 4) pthread_rwlock_unlock(&rwlock);
    if (ORDER == 5) pthread_spin_unlock(&spinlock);
}

static void call(int first)
{
    char *words[] = {"program", "argument", 0};
    switch (CALL) {
    case 0: getopt(2, words, "a"); break;
    case 1: drand48(); break;
    case 2: first ? (void)setenv("NAME", "value", 1) : (void)getenv("HOME"); break;
    case 3: first ? (void)setlocale(LC_ALL, "C") : (void)btowc(97); break;
    case 4: mblen("a", 1); break;
    case 5: first ? (void)hcreate(10) : hdestroy(); break;
    }
}

static void *second(void *unused)
{
    lock();
    call(0);
    unlock();
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_spin_init(&spinlock, 0);
    if (ORDER == 3) call(1);
    pthread_create(&thread, 0, second, 0);
    if (ORDER == 2) pthread_join(thread, 0);
    lock();
    if (ORDER != 3) call(1);
    unlock();
    if (ORDER != 2) pthread_join(thread, 0);
    return 0;
}
