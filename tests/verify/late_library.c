/* One of the two paths of main hands a text that only main touches to a function that is not
 * instrumented and that no library of the system has: the one on which main sees what -DWHEN says. */
#include <pthread.h>

int first_of(const char *text);

__asm__(".text\n"
        ".globl first_of\n"
        "first_of:\n"
        "movzbl (%rdi), %eax\n"
        "ret\n");

/* volatile: every access stays in the compiled program. What the function reads without a model is
 * not known: far from the text lies what it cannot mean. */
static volatile char mine[4] = "1";
static volatile int flag __attribute__((aligned(4096)));

static void *writer(void *unused)
{
    flag = 1;
    return unused;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    int seen = flag;
    mine[0] = '2';
    if (seen == WHEN && first_of((char *)mine) == 0)
        return 1;
    pthread_join(t, 0);
    return 0;
}
