/* Two threads replace their number by the mean of both, whose sum needs more than 64 bits, as often
 * as the argument says. With -DBUG the assertion excludes that both read before either writes. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define FIRST (1ul << 63)
#define LAST (FIRST + 16)
#ifdef BUG
#define HOLDS(x, y) ((x) != FIRST + 8 || (y) != FIRST + 8)
#else
#define HOLDS(x, y) ((x) > FIRST && (x) < LAST && (y) > FIRST && (y) < LAST)
#endif

typedef unsigned __int128 wide;

static int n = 1;
/* volatile: every access stays in the compiled program. */
static volatile unsigned long x = FIRST, y = LAST;

static void *move_x(void *unused)
{
    for (int i = 0; i < n; i++)
        x = (unsigned long)(((wide)x + y) / 2);
    return unused;
}

static void *move_y(void *unused)
{
    for (int i = 0; i < n; i++)
        y = (unsigned long)(((wide)y + x) / 2);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t s, t;
    if (argc > 1)
        n = atoi(argv[1]);
    pthread_create(&s, 0, move_x, 0);
    pthread_create(&t, 0, move_y, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    assert(HOLDS(x, y));
    return 0;
}
