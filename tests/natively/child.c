// A loop that waits for what a child writes, after so many milliseconds: it ends.
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments) {
  volatile int *word = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  useconds_t milliseconds = count > 1 ? atoi(arguments[1]) : 1;
  pid_t child = fork();
  if (!child) {
    usleep(milliseconds * 1000);
    *word = 1;
    pause();
  }
  while (!*word) {
  }
  kill(child, 9);
  waitpid(child, 0, 0);
  return 0;
}
