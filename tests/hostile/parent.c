/* Sends the parent a signal that nobody survives, in the way that the argument names. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **words) {
  pid_t parent = getppid();
  union sigval none = {0};
  siginfo_t info = {.si_signo = SIGKILL, .si_code = SI_QUEUE};
  switch (atoi(words[1])) {
    case 0: return kill(parent, SIGKILL);
    case 1: return sigqueue(parent, SIGKILL, none);
    case 2: return tgkill(parent, parent, SIGKILL);
    case 3: return syscall(SYS_kill, parent, SIGKILL);
    case 4: return syscall(SYS_tkill, syscall(SYS_getppid), SIGKILL);
    case 5: return syscall(SYS_tgkill, parent, parent, SIGKILL);
    case 6: return syscall(SYS_rt_sigqueueinfo, parent, SIGKILL, &info);
    default: return syscall(SYS_rt_tgsigqueueinfo, parent, parent, SIGKILL, &info);
  }
}
