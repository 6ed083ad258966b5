/* One thread locks a stream and waits for the other one, which calls a function of streams first: a deadlock where
 * the lock comes before the call, whichever function it is (-DCALL=N). Not with -DRIGHT, where the call comes last.
 * With -DCANCEL a thread that waits for a byte is cancelled, and leaves no lock behind.
 * With -DCOOKIE two threads call functions of one stream whose bytes functions of the program write and read, with the
 * stream's lock held. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
#include <wchar.h>

static FILE *stream;

#ifdef COOKIE
static int plain;
static atomic_int atomic;

static ssize_t writes(void *cookie, const char *bytes, size_t size)
{
    plain++;
    atomic++;
    return size;
}

static ssize_t reads(void *cookie, char *bytes, size_t size)
{
    bytes[0] = 'a' + plain++;
    atomic++;
    return 1;
}

static void *calls(void *unused)
{
    if (CALL == 0)
        fputc('a', stream);
    else if (CALL == 1)
        fprintf(stream, "%d", 1);
    else
        fgetc(stream);
    return unused;
}

int main(void)
{
    cookie_io_functions_t functions = { .write = writes, .read = reads };
    pthread_t thread;
    stream = fopencookie(NULL, CALL == 2 ? "r" : "w", functions);
    setvbuf(stream, NULL, _IONBF, 0);
    pthread_create(&thread, NULL, calls, NULL);
    calls(NULL);
    pthread_join(thread, NULL);
    assert(atomic == 2 && plain == 2);
    return 0;
}
#elif defined CANCEL
static void *reads_pipe(void *unused)
{
    fgetc(stream);
    return unused;
}

int main(void)
{
    pthread_t thread;
    int ends[2];
    assert(!pipe(ends));
    stream = fdopen(ends[0], "r");
    pthread_create(&thread, NULL, reads_pipe, NULL);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    if (CALL == 0)
        flockfile(stream), funlockfile(stream);
    else
        clearerr(stream);
    return 0;
}
#else
static sem_t ready;

static void *holds(void *unused)
{
    flockfile(stream);
    sem_wait(&ready);
    funlockfile(stream);
    return unused;
}

static void call(void)
{
    char bytes[10];
    int number;
    char *line = NULL;
    size_t size = 0;
    fpos_t position;
    switch (CALL) {
    case 0: fputc('a', stream); break;
    case 1: fgetc(stream); break;
    case 2: fprintf(stream, "%d", 1); break;
    case 3: fputs("a", stream); break;
    case 4: (void)!fgets(bytes, sizeof bytes, stream); break;
    case 5: (void)!fread(bytes, 1, 1, stream); break;
    case 6: fwrite("a", 1, 1, stream); break;
    case 7: (void)!fscanf(stream, "%d", &number); break;
    case 8: fflush(stream); break;
    case 9: ftell(stream); break;
    case 10: fseek(stream, 0, SEEK_SET); break;
    case 11: fgetpos(stream, &position); break;
    case 12: setvbuf(stream, NULL, _IONBF, 0); break;
    case 13: (void)feof(stream); break;
    case 14: clearerr(stream); break;
    case 15: ungetc('a', stream); break;
    case 16: flockfile(stream), funlockfile(stream); break;
    case 17: printf("a\n"); break;
    case 18: setlinebuf(stream); break;
    case 19: (void)!freopen("/dev/null", "r", stream); break;
    case 20: fputwc(L'a', stream); break;
    case 21: fgetwc(stream); break;
    case 22: ungetwc(L'a', stream); break;
    case 23: rewind(stream); break;
    case 24: (void)!getline(&line, &size, stream); break;
    case 25: putw(1, stream); break;
    case 26: setbuf(stream, NULL); break;
    case 27: fwide(stream, 0); break;
    }
}

int main(void)
{
    pthread_t thread;
    stream = CALL == 17 ? stdout : tmpfile();
    pthread_create(&thread, NULL, holds, NULL);
#ifndef RIGHT
    call();
#endif
    sem_post(&ready);
#ifdef RIGHT
    call();
#endif
    pthread_join(thread, NULL);
    return 0;
}
#endif
