// Stands in for a test binary: LIST is the argument by which its framework is asked for the tests,
// and with it the program prints a list and returns 3 (0 if MARK, which it
// holds, begins with a space). Otherwise it runs the tests that
// --gtest_filter= chooses (all, if there is none); one of them fails if the threads meet.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int balance;
static const char *volatile mark = MARK;

static void *pay(void *unused)
{
    pthread_mutex_lock(&m);
    int had = balance;
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m);
    balance = had + 1;
    pthread_mutex_unlock(&m);
    return unused;
}

static int run(const char *name, const char *filter, int threads)
{
    if (filter && strcmp(filter, name))
        return 0;
    pthread_t all[2];
    balance = 0;
    printf("[ RUN      ] %s\n", name);
    for (int i = 0; i < threads; i++)
        pthread_create(&all[i], 0, pay, 0);
    for (int i = 0; i < threads; i++)
        pthread_join(all[i], 0);
    if (balance == threads)
        return 0;
    printf("stand_in.c:9: Failure\n[  FAILED  ] %s\n", name);
    return 1;
}

int main(int argc, char **argv)
{
    const char *filter = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], LIST)) {
            printf("Bank.\n  Pay\n  Rest  # GetParam() = 3\n  DISABLED_Old\nShop.\n  Sell\n");
            return 3 * (*mark != ' ');
        }
        if (!strncmp(argv[i], "--gtest_filter=", 15))
            filter = argv[i] + 15;
    }
    return run("Bank.Pay", filter, 2) | run("Bank.Rest", filter, 1) | run("Shop.Sell", filter, 1);
}
