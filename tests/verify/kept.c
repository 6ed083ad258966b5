/* What the C library and the kernel keep between calls one thread changes, and another one looks at it,
 * before or after: random numbers (HOW 0), the environment (1), names of files (2), where a file is read (3),
 * the working directory (4), the library's own memory (5), a stream (6), who has a signal (7), whether a
 * descriptor is open (8), which keys are taken (9), random numbers by a pointer to the function (11), a
 * stream to which both write (12). A file that is mapped twice (10) is named. SEEN says in which order; with -DFIXED it is the thread's end that is waited for. What one thread has of its own
 * limits nothing. */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const char name[] = "kept-between-calls";
static int file;
static FILE *stream, *own;
static int (*volatile random_number)(void) = rand;
static const struct tm *split;
static int expected;
static pthread_key_t key, other, last;
static volatile char *mapped[2];

static void *change(void *unused)
{
    time_t february = 86400 * 31;
    switch (HOW) {
    case 0:
        rand();
        break;
    case 1:
        setenv("KEPT", "yes", 1);
        break;
    case 2:
        unlink(name);
        break;
    case 3:
        lseek(file, 1, SEEK_SET);
        break;
    case 4:
        (void)!chdir("/");
        break;
    case 5:
        gmtime(&february);
        break;
    case 6:
        fgetc(stream);
        break;
    case 7:
        signal(SIGUSR1, SIG_IGN);
        break;
    case 8:
        close(file);
        break;
    case 9:
        pthread_key_create(&key, NULL);
        break;
    case 11:
        random_number();
        break;
    case 12:
        fputc('!', stream);
        break;
    default:
        *mapped[0] = '!';
    }
    return unused;
}

static int seen(void)
{
    char folder[4096];
    switch (HOW) {
    case 0:
        return rand() != expected;
    case 1:
        return getenv("KEPT") != NULL;
    case 2:
        return access(name, F_OK) != 0;
    case 3:
        return lseek(file, 0, SEEK_CUR) == 1;
    case 4:
        return strcmp(getcwd(folder, sizeof folder), "/") == 0;
    case 5:
        return split->tm_mon == 1;
    case 6:
        return strcmp(fgets(folder, 2, stream), "1") != 0;
    case 7:
        return signal(SIGUSR1, SIG_DFL) == SIG_IGN;
    case 8:
        return fcntl(file, F_GETFD) < 0;
    case 9:
        pthread_key_create(&other, NULL);
        return other == last + 2;
    case 11:
        return random_number() != expected;
    case 12:
        fputs("!", stream);
        return ftell(stream) == 2;
    default:
        return *mapped[1] == '!';
    }
}

int main(void)
{
    pthread_t thread;
    time_t january = 0;
    file = open(name, O_CREAT | O_TRUNC | O_RDWR, 0600);
    if (write(file, "12", 2) != 2 || lseek(file, 0, SEEK_SET) != 0)
        return 1;
    stream = fopen(name, HOW == 12 ? "r+" : "r");
    own = fopen("/dev/zero", "r");
    if (HOW != 2)
        unlink(name);
    for (int i = 0; HOW == 10 && i < 2; i++)
        mapped[i] = mmap(NULL, 2, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    split = gmtime(&january);
    pthread_key_create(&last, NULL);
    srand(1);
    expected = rand();
    srand(1);
    for (int i = 0; i < 40; i++)
        fgetc(own);
    pthread_create(&thread, NULL, change, NULL);
#ifdef FIXED
    pthread_join(thread, NULL);
    assert(seen());
#else
    int before = seen();
    pthread_join(thread, NULL);
    assert(before == !SEEN);
#endif
}
