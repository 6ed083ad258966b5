/* Hangs where nothing is under control. The argument says how: `compute` or `block`. */
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>

static volatile unsigned long wheel;

__attribute__((noinline)) void turn_the_wheel(void)
{
    for (;;)
        wheel++;
}

__attribute__((noinline)) void sleep_for_ever(void)
{
    long result;
    asm volatile("syscall" : "=a"(result) : "a"((long)SYS_pause) : "rcx", "r11", "memory");
    (void)result;
}

static void *hang(void *how)
{
    if (strcmp(how, "compute") == 0)
        turn_the_wheel();
    else
        sleep_for_ever();
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_create(&thread, 0, hang, argc > 1 ? argv[1] : "block");
    pthread_join(thread, 0);
    return 0;
}
