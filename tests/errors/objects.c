/* Objects that are used after they were destroyed, or given up twice: in some interleavings only.
 * With -DFIXED they are not. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>

#ifdef FIXED
#define FIX 1
#else
#define FIX 0
#endif

static pthread_mutex_t mutex;
static pthread_cond_t condition;
static pthread_rwlock_t lock;
static pthread_barrier_t barrier;
static pthread_spinlock_t spin;
static sem_t semaphore;
static pthread_t third;

enum what { INIT, USE, DESTROY };

/* One operation on the object of the scenario. */
static void operation(enum what what)
{
    switch (3 * SCENARIO + what) {
    case 0: pthread_mutex_init(&mutex, NULL); break;
    case 1: pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex); break;
    case 2: pthread_mutex_destroy(&mutex); break;
    case 3: pthread_cond_init(&condition, NULL); break;
    case 4: pthread_cond_signal(&condition); break;
    case 5: pthread_cond_destroy(&condition); break;
    case 6: pthread_rwlock_init(&lock, NULL); break;
    case 7: pthread_rwlock_rdlock(&lock), pthread_rwlock_unlock(&lock); break;
    case 8: pthread_rwlock_destroy(&lock); break;
    case 9: pthread_barrier_init(&barrier, NULL, 1); break;
    case 10: pthread_barrier_wait(&barrier); break;
    case 11: pthread_barrier_destroy(&barrier); break;
    case 12: pthread_spin_init(&spin, 0); break;
    case 13: pthread_spin_lock(&spin), pthread_spin_unlock(&spin); break;
    case 14: pthread_spin_destroy(&spin); break;
    case 15: sem_init(&semaphore, 0, 0); break;
    case 16: sem_post(&semaphore); break;
    case 17: sem_destroy(&semaphore); break;
    }
}

static atomic_int ready;

/* Says that it is done with the object: too early. */
static void *user(void *unused)
{
    if (FIX)
        operation(USE);
    atomic_store(&ready, 1);
    if (!FIX)
        operation(USE);
    return unused;
}

static int used_late(void)
{
    pthread_t other;
    /* What holds a count is said to be out of bounds where it begins again. */
    const int counts = SCENARIO == 3 || SCENARIO == 5;
    for (int round = counts; round < 2; round++) {
        operation(INIT);
        operation(USE);
        if (round == 0)
            operation(DESTROY);
    }
    pthread_create(&other, NULL, user, NULL);
    if (atomic_load(&ready))
        operation(DESTROY);
    pthread_join(other, NULL);
    return 0;
}

static atomic_int taken;

/* Is the caller the only one who gives up what there is to give up? */
static int mine(void)
{
    if (FIX)
        return !atomic_exchange(&taken, 1);
    if (atomic_load(&taken))
        return 0;
    atomic_store(&taken, 1);
    return 1;
}

static void *nothing(void *unused)
{
    return unused;
}

static void give_up(int main)
{
    if (SCENARIO == 6)
        pthread_mutex_destroy(&mutex);
    else if (SCENARIO == 7 || main)
        pthread_join(third, NULL);
    else
        pthread_detach(third);
}

static void *owner(void *unused)
{
    if (mine())
        give_up(0);
    return unused;
}

static int given_up_twice(void)
{
    pthread_t other;
    pthread_mutex_init(&mutex, NULL);
    if (SCENARIO > 6)
        pthread_create(&third, NULL, nothing, NULL);
    pthread_create(&other, NULL, owner, NULL);
    if (mine())
        give_up(1);
    pthread_join(other, NULL);
    return 0;
}

int main(void)
{
    return SCENARIO < 6 ? used_late() : given_up_twice();
}
