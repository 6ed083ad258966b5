// Pages that are protected against a kind of access, whose handler makes them accessible: the barriers of
// garbage collectors and checkpoints. The argument is the kind: 0 none, 1 reading is possible.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };
static char *page;
static int faults;

static void on_fault(int number, siginfo_t *info, void *context) {
  (void)number, (void)context;
  assert((char *)info->si_addr >= page && (char *)info->si_addr < page + PAGE);
  faults++;
  mprotect(page, PAGE, PROT_READ | PROT_WRITE);
}

static void *touch(void *argument) {
  (void)argument;
  page[10] = 1;
  return 0;
}

int main(int count, char **arguments) {
  int reads = count > 1 && atoi(arguments[1]);
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, 0);
  page = mmap(0, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int round = 1; round <= 3; round++) {
    pthread_t thread;
    mprotect(page, PAGE, reads ? PROT_READ : PROT_NONE);
    pthread_create(&thread, 0, touch, 0);
    pthread_join(thread, 0);
    assert(page[10] == 1 && faults == round);
  }
  mprotect(page, PAGE, PROT_NONE);
  memcpy(page + 20, "word", 5);
  assert(!strcmp(page + 20, "word") && faults == 4);
  return 0;
}
