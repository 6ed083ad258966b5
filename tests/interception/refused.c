/* Calls the function whose name is given, in a way that changes nothing should it come through. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    struct timespec now;
    struct timeval zero = {0, 0}, today;
    struct timex change;
    memset(&change, 0, sizeof change);
    clock_gettime(CLOCK_REALTIME, &now);
    gettimeofday(&today, 0);
    if (strcmp(name, "clock_settime") == 0)
        return clock_settime(-1, &now) + 100;
    if (strcmp(name, "settimeofday") == 0)
        return settimeofday(0, 0) + 100;
    if (strcmp(name, "adjtime") == 0)
        return adjtime(&zero, 0) + 100;
    if (strcmp(name, "clock_adjtime") == 0)
        return clock_adjtime(CLOCK_REALTIME, &change) + 100;
    return 99;
}
