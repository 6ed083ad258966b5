/* One thread makes a file while another one walks through the folder, in the way that is given: the walk calls
 * the program back for each file that it meets. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char folder[] = "walked", file[] = "walked/file";
static volatile int met;

static void *make(void *unused)
{
    close(open(file, O_CREAT | O_WRONLY, 0600));
    return unused;
}

static int meet(const char *path)
{
    met += strstr(path, "file") != NULL;
    return 0;
}

static int on_entry(const char *path, const struct stat *of, int kind)
{
    (void)of, (void)kind;
    return meet(path);
}

static int on_place(const char *path, const struct stat *of, int kind, struct FTW *place)
{
    (void)of, (void)kind, (void)place;
    return meet(path);
}

static int filter(const struct dirent *entry)
{
    meet(entry->d_name);
    return 1;
}

int main(int count, char **way)
{
    pthread_t t;
    struct dirent **entries;
    if (count < 2)
        return 9;
    unlink(file);
    mkdir(folder, 0700);
    pthread_create(&t, NULL, make, NULL);
    if (!strcmp(way[1], "ftw"))
        ftw(folder, on_entry, 4);
    if (!strcmp(way[1], "nftw"))
        nftw(folder, on_place, 4, 0);
    if (!strcmp(way[1], "scandir"))
        scandir(folder, &entries, filter, NULL);
    pthread_join(t, NULL);
    return met;
}
