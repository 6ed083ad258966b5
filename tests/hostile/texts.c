// Says what a terminal would obey: on both streams, in an assertion, in a name of a function.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static void *say(void *unused)
{
    printf("\033[2J\033]0;title\007 \xe2\x80\xae \xef\xbf\xbe out\n");
    fflush(stdout);
    fprintf(stderr, "\033[31merror: \033[1;1H\xe2\x80\xae evil \xef\xbf\xbe \x9b" "2J\r\n");
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t one;
    pthread_create(&one, 0, say, 0);
    pthread_join(one, 0);
    if (argc > 2)
        __assert_fail("\033[2J\xe2\x80\xae \xef\xbf\xbe", "a\033[2J\nb.c", 1, "\xe2\x80\xae");
    return 1;
}
