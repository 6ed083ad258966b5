// One thread fills a text (or numbers) by a function of the C library while the other looks at it by
// another one. CASE says by which. Fixed: after the join.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#ifndef CASE
#define CASE 0
#endif

char text[64] = "abc", other[64] = "abcx";
int numbers[4] = {4, 3, 2, 1}, sorted[4] = {1, 2, 3, 4};
int ends[2];
FILE *file;

static int compare(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

static void *fill(void *from) {
    switch (CASE) {
    case 0: strcpy(text, from); break;
    case 1: strcat(text, from); break;
    case 2: strncpy(text, from, 8); break;
    case 3: snprintf(text, sizeof text, "%s", (char *)from); break;
    case 4: sprintf(text, "%d %s", 1, (char *)from); break;
    case 5: qsort(numbers, 4, sizeof *numbers, compare); break;
    case 6: if (read(ends[0], text, 4) != 4) abort(); break;
    case 7: stpcpy(text, from); break;
    case 8: bzero(text, 8); break;
    case 9: mempcpy(text, from, 8); break;
    case 10: if (fread(text, 2, 2, file) != 2) abort(); break;
    case 11: strncat(text, from, 1); break;
    }
    return 0;
}

static int look(void) {
    switch (CASE) {
    case 0: return strlen(text) > 60;
    case 1: return strcmp(text, other) > 2;
    case 2: return strncmp(text, other, 4) > 2;
    case 3: return strchr(text, 'z') != 0;
    case 4: return memchr(text, 'z', 8) != 0;
    case 5: return memcmp(numbers, sorted, sizeof sorted) > 2;
    case 6: return write(ends[1], text, 3) != 3;
    case 7: free(strdup(text)); return 0;
    case 8: return strnlen(text, 4) > 4;
    case 9: return fwrite(text, 1, 2, stdout) != 2;
    case 10: return fputs(text, stdout) < 0;
    default: return strrchr(text, 'z') != 0;
    }
}

int main(int count, char **words) {
    (void)words;
    strcpy(other + 8, count > 8 ? "x" : "abcdefg");
    if (pipe(ends) || write(ends[1], "wxyz", 4) != 4 || !(file = fopen("/dev/zero", "r")))
        return 2;
    pthread_t worker;
    pthread_create(&worker, 0, fill, other + 8);
#ifdef FIXED
    pthread_join(worker, 0);
    return look();
#else
    int result = look();
    pthread_join(worker, 0);
    return result;
#endif
}
