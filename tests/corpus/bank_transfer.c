/* Atomicity: each access to a balance is locked, but the transfer as a whole is not: the balance
 * is read in one critical section and written in another. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int checking = 100, savings = 100;

static int get(int *account)
{
    pthread_mutex_lock(&lock);
    int balance = *account;
    pthread_mutex_unlock(&lock);
    return balance;
}

static void put(int *account, int balance)
{
    pthread_mutex_lock(&lock);
    *account = balance;
    pthread_mutex_unlock(&lock);
}

static void transfer(int *from, int *to, int amount)
{
#ifdef FIXED
    (void)get, (void)put;
    pthread_mutex_lock(&lock);
    *from -= amount;
    *to += amount;
    pthread_mutex_unlock(&lock);
#else
    put(from, get(from) - amount);
    put(to, get(to) + amount);
#endif
}

static void *forth(void *unused)
{
    transfer(&checking, &savings, 30);
    return unused;
}

static void *back(void *unused)
{
    transfer(&savings, &checking, 10);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, forth, 0);
    pthread_create(&b, 0, back, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(checking + savings == 200);
    return 0;
}
