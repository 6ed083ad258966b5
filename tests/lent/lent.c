// Memory that the program hands to a function of the C library, which keeps it: later calls of one thread
// use it, while another thread accesses it (-DHSEARCH: also of hsearch, of which more is not known). First
// argument: the function. Second: "used": the threads
// access the same, "left": nobody but the library accesses it, "ended": it was given back before.
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

static const char *function, *how;
static char buffer[BUFSIZ], other[BUFSIZ];
static char text[] = "LENT=a";
static FILE *stream;
static int before;

static int is(const char *name) { return !strcmp(function, name); }
static int is_used(void) { return strcmp(how, "left"); }

static int sum(void) {
  int all = 0;
  for (int i = 4; i < 64; i++)
    all = 31 * all + buffer[i];
  return all;
}

// Calls what uses the memory.
static void *calls(void *unused) {
  if (is("initstate") || is("setstate"))
    random();
  else if (is("putenv"))
    assert(getenv("LENT"));
#ifdef HSEARCH
  else if (is("hsearch"))
    assert(hsearch((ENTRY){"LENT=a", 0}, FIND));
#endif
  else if (is("openlog"))
    syslog(LOG_INFO, "text");
  else
    fputs("a", stream);
  return unused;
}

static void *accesses(void *unused) {
  if (!is_used())
    return calls(unused);
  if (is("initstate") || is("setstate"))
    assert(sum() == before);
  else if (is("putenv") || is("hsearch") || is("openlog"))
    text[0] = 'X';
  else
    assert(buffer[0] != 'a');
  return unused;
}

int main(int count, char **arguments) {
  function = arguments[1];
  how = arguments[2];
  int ended = !strcmp(how, "ended"), file = -1;
  stream = stdout;
  if (is("setbuf"))
    setbuf(stream, buffer);
  else if (is("setbuffer"))
    setbuffer(stream, buffer, sizeof buffer);
  else if (is("setvbuf"))
    setvbuf(stream, buffer, _IOFBF, sizeof buffer);
  else if (is("initstate"))
    initstate(1, buffer, 64);
  else if (is("setstate")) {
    initstate(1, buffer, 64);
    initstate(2, other, 64);
    setstate(buffer);
  } else if (is("putenv"))
    putenv(text);
#ifdef HSEARCH
  else if (is("hsearch")) {
    hcreate(8);
    hsearch((ENTRY){text, 0}, ENTER);
  }
#endif
  else if (is("openlog")) {
    file = open("/tmp", O_TMPFILE | O_RDWR, 0600);
    dup2(file, 2);
    openlog(text, LOG_PERROR, LOG_USER);
  } else
    return 2;
  if (ended) {
    if (is("initstate") || is("setstate"))
      initstate(3, other, 64);
    else
      setvbuf(stream, other, _IOFBF, sizeof other);
  }
  if (is_used())
    before = sum();
  pthread_t one, two;
  pthread_create(&one, 0, calls, 0);
  pthread_create(&two, 0, accesses, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  char first = 0;
  if (is("openlog") && pread(file, &first, 1, 0) == 1)
    assert(first == 'L');
  return 0;
}
