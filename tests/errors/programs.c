/* Programs that fail for one value of an input, or in one interleaving, only. With -DFIXED they do
 * not. */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

void raddle_symbolic(void *at, size_t len, const char *name);

#ifdef FIXED
#define FIX 1
#else
#define FIX 0
#endif

int table[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
int single[1] = {7};
static int *volatile shared;
char to[8];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned place;
/* What is computed is used. */
static volatile int sink;

static unsigned char input(void)
{
    unsigned char x;
    raddle_symbolic(&x, 1, "x");
    return x;
}

/* A division by zero, for one input. */
static int division(void)
{
    int x = input();
    if (!FIX || x != 77)
        sink = 1000 / (3 * x - 231);
    return 0;
}

/* The least number divided by -1. */
static int least(void)
{
    int x = input() == 9 ? INT_MIN : 5, y = input() == 3 ? -1 : 1;
    if (!FIX || y != -1)
        sink = x / y;
    return 0;
}

/* A variable of the file. */
static int of_file(void)
{
    unsigned x = input();
    if (x <= (FIX ? 11 : 12))
        sink = table[x];
    return 0;
}

/* A variable of the function. */
static int of_function(void)
{
    char text[6] = "seven";
    unsigned x = input();
    if (x >= 6 && (FIX || x != 201))
        return 0;
    sink = text[x];
    return 0;
}

/* A block of the heap, far outside of which another one lies. */
static int of_heap(void)
{
    char *a = calloc(8, 1), *b = calloc(8, 1);
    unsigned x = input();
    if (x < 8 || (!FIX && x == 100))
        a[x] = 1;
    sink = a[3] + b[0];
    free(a);
    free(b);
    return 0;
}

/* A length. */
static int of_length(void)
{
    char from[16] = "0123456789";
    unsigned x = input();
    if (x <= (FIX ? 8 : 9)) {
        memcpy(to, from, x);
        sink = to[1];
    }
    return 0;
}

static void *let_go(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    shared = NULL;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

/* A null pointer, between a look and a use. */
static int null(void)
{
    pthread_t other;
    shared = &table[3];
    pthread_create(&other, NULL, let_go, NULL);
    pthread_mutex_lock(&mutex);
    if (shared) {
        if (!FIX) {
            pthread_mutex_unlock(&mutex);
            pthread_mutex_lock(&mutex);
        }
        sink = *shared;
    }
    pthread_mutex_unlock(&mutex);
    pthread_join(other, NULL);
    return 0;
}

static void *give_back(void *block)
{
    pthread_mutex_lock(&mutex);
    shared = NULL;
    pthread_mutex_unlock(&mutex);
    free(block);
    return NULL;
}

/* A use after free: for one input, in one interleaving. */
static int after_free(void)
{
    pthread_t other;
    int *block = shared = calloc(1, sizeof *shared);
    unsigned char x = input();
    pthread_create(&other, NULL, give_back, block);
    pthread_mutex_lock(&mutex);
    int *mine = shared;
    if (!FIX && x == 42)
        pthread_mutex_unlock(&mutex);
    if (mine)
        sink = *mine;
    if (FIX || x != 42)
        pthread_mutex_unlock(&mutex);
    pthread_join(other, NULL);
    return 0;
}

static void *move(void *unused)
{
    (void)unused;
    place = 12;
    return NULL;
}

/* An index that another thread changes between a look and a use. */
static int moving(void)
{
    pthread_t other;
    pthread_create(&other, NULL, move, NULL);
    unsigned mine = place;
    if (mine < 12)
        sink = table[FIX ? mine : place];
    pthread_join(other, NULL);
    return 0;
}

/* A signed overflow, for a few inputs. */
static int overflow(void)
{
    int x = input();
    if (!FIX || x <= 250)
        sink = x + (INT_MAX - 250);
    return 0;
}

/* A loop that goes round once too often, in every execution. */
static int round_too_many(void)
{
    int sum = 0;
    for (volatile int i = 0; i < (FIX ? 12 : 13); i++)
        sum += table[i];
    sink = sum;
    return 0;
}

/* An index that the compiler knows. */
static int known_index(void)
{
    sink = FIX ? single[0] : single[1];
    return 0;
}

/* A length, and where it begins. */
static int known_length(void)
{
    volatile unsigned length = FIX ? 6 : 7;
    memset(to + 2, 1, length);
    sink = to[3];
    return 0;
}

/* A thread without a start routine. */
static int no_routine(void)
{
    pthread_t other;
    unsigned x = input();
    if (FIX || x != 50)
        pthread_create(&other, NULL, move, NULL);
    else
        pthread_create(&other, NULL, NULL, NULL);
    pthread_join(other, NULL);
    return 0;
}

int main(void)
{
    static int (*const all[])(void) = {division, least, of_file, of_function, of_heap,
                                       of_length, null, after_free, moving, overflow,
                                       round_too_many, known_index, known_length, no_routine};
    return all[SCENARIO]();
}
