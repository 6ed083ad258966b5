// Two threads write records to one stream over a pipe, a third reads lines from it. The bug: a
// record is written with two calls, between which the other thread may write.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *out;

static void *writer(void *argument) {
#ifdef FIXED
    flockfile(out);
#endif
    fprintf(out, "%s", (const char *)argument);
    fflush(out);
    fprintf(out, "%s\n", (const char *)argument);
    fflush(out);
#ifdef FIXED
    funlockfile(out);
#endif
    return NULL;
}

static void *reader(void *argument) {
    FILE *in = fdopen(*(int *)argument, "r");
    char *line = NULL;
    size_t room = 0;
    for (int i = 0; i < 2; i++) {
        assert(getline(&line, &room, in) > 0);
        assert(strcmp(line, "aa\n") == 0 || strcmp(line, "bb\n") == 0);
    }
    assert(getline(&line, &room, in) < 0);
    free(line);
    fclose(in);
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    int ends[2];
    assert(pipe(ends) == 0);
    out = fdopen(ends[1], "w");
    pthread_create(&threads[0], NULL, reader, &ends[0]);
    pthread_create(&threads[1], NULL, writer, "a");
    pthread_create(&threads[2], NULL, writer, "b");
    pthread_join(threads[1], NULL);
    pthread_join(threads[2], NULL);
    fclose(out);
    pthread_join(threads[0], NULL);
    return 0;
}
