// Two threads open two named pipes, each of which waits for its other side. The bug: they open them
// in different orders.
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64] = "fifo-", first[80], second[80];

static void *other(void *argument) {
#ifdef FIXED
    int out = open(first, O_WRONLY), in = open(second, O_RDONLY);
#else
    int in = open(second, O_RDONLY), out = open(first, O_WRONLY);
#endif
    char c;
    assert(write(out, "q", 1) == 1);
    assert(read(in, &c, 1) == 1 && c == 'a');
    close(in);
    close(out);
    return argument;
}

static void clean(void) {
    unlink(first);
    unlink(second);
    rmdir(folder);
}

int main(void) {
    pthread_t thread;
    char c;
    memset(folder + strlen(folder), 'X', 6);
    assert(mkdtemp(folder));
    snprintf(first, sizeof first, "%s/first", folder);
    snprintf(second, sizeof second, "%s/second", folder);
    assert(mkfifo(first, 0600) == 0 && mkfifo(second, 0600) == 0);
    pthread_create(&thread, NULL, other, NULL);
    int in = open(first, O_RDONLY);
    int out = open(second, O_WRONLY);
    assert(read(in, &c, 1) == 1 && c == 'q');
    assert(write(out, "a", 1) == 1);
    pthread_join(thread, NULL);
    clean();
    return 0;
}
