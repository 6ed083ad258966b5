/* Two threads write to a file by what nobody can read by; main reads it by another descriptor, or not
 * (-DUNREAD). It fails if the second one has come first. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[] = "/tmp/order-of-writes-XXXXXX";
static FILE *stream;
static int file;

static void *writer(void *text)
{
#ifdef STREAM
    fputs(text, stream);
#else
    (void)!write(file, text, 1);
#endif
    return NULL;
}

int main(void)
{
    char first = 'a';
    pthread_t threads[2];
    close(mkstemp(path));
    file = open(path, O_WRONLY);
    stream = fdopen(file, "w");
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, writer, i ? "b" : "a");
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    fclose(stream);
#ifndef UNREAD
    int reader = open(path, O_RDONLY);
    (void)!read(reader, &first, 1);
#endif
    unlink(path);
    return first != 'a';
}
