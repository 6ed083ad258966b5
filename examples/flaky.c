/* A test that "sometimes fails": two tellers pay out from one account.
 *
 *     gcc -g -pthread flaky.c -o flaky && ./flaky            # passes, as it always does here
 *     raddle run -n 1000 -- ./flaky                           # fails within a few executions
 *
 * The question whether there is enough money, and the payment, are two critical sections. With
 * -DFIXED they are one. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};

static struct account account = {PTHREAD_MUTEX_INITIALIZER, 100};

static int balance_of(struct account *a)
{
    pthread_mutex_lock(&a->lock);
    int balance = a->balance;
    pthread_mutex_unlock(&a->lock);
    return balance;
}

static void withdraw(struct account *a, int amount)
{
    pthread_mutex_lock(&a->lock);
    a->balance -= amount;
    pthread_mutex_unlock(&a->lock);
}

#ifdef FIXED
static void pay(struct account *a, int amount)
{
    pthread_mutex_lock(&a->lock);
    if (a->balance >= amount)
        a->balance -= amount;
    pthread_mutex_unlock(&a->lock);
}
#else
static void pay(struct account *a, int amount)
{
    if (balance_of(a) >= amount)
        withdraw(a, amount);
}
#endif

static void *teller(void *amount)
{
    pay(&account, (int)(long)amount);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    (void)withdraw;
    pthread_create(&first, NULL, teller, (void *)70L);
    pthread_create(&second, NULL, teller, (void *)60L);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    int balance = balance_of(&account);
    assert(balance >= 0);
    printf("balance: %d\n", balance);
    return 0;
}
