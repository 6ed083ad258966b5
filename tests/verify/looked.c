/* What a function of the C library reads another thread changes before it or after: a set of signals
 * (HOW 0), a text for a format, as an argument and in a list of them (1, 2), a number (3), a time (4), a
 * file's name (5), a text that is compiled (6); or such a function writes for others (7). SEEN says in which
 * order; with -DFIXED it is the thread's end that is waited for. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static sigset_t set;
static time_t when;
static char text[] = "/8";
static wchar_t wide[2];

static void *change(void *unused)
{
    sigaddset(&set, SIGUSR1);
    when = 86400 * 31;
    text[1] = '.';
    if (HOW == 7)
        mbstowcs(wide, "y", 2);
    return unused;
}

static void format(char *to, const char *how, ...)
{
    va_list list;
    va_start(list, how);
    vsnprintf(to, 8, how, list);
    va_end(list);
}

static int seen(void)
{
    char to[8];
    struct tm split;
    regex_t expression;
    switch (HOW) {
    case 0:
        return sigismember(&set, SIGUSR1);
    case 1:
        snprintf(to, sizeof to, "%d%s", 1, text);
        return to[2] == '.';
    case 2:
        format(to, "%.1f%d%s", 1.0, 1, text);
        return to[5] == '.';
    case 3:
        return strtod(text + 1, NULL) != 8;
    case 4:
        return gmtime_r(&when, &split)->tm_mon == 1;
    case 5:
        return access(text, F_OK) == 0;
    case 7:
        return wide[0] == L'y';
    default:
        assert(regcomp(&expression, text, REG_NOSUB) == 0);
        return regexec(&expression, "/7", 0, NULL, 0) == 0;
    }
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, change, NULL);
#ifdef FIXED
    pthread_join(thread, NULL);
    assert(seen());
    return 0;
#else
    int before = seen();
    pthread_join(thread, NULL);
    assert(before == !SEEN);
    return 0;
#endif
}
