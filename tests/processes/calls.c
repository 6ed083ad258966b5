/* Calls that make processes or concern the whole one: calls MODE. 0 if all is as POSIX has it;
 * another thread goes on meanwhile. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ticks, prepared, in_parent, in_child;

static void *tick(void *unused)
{
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&lock);
        ticks++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void prepare(void) { pthread_mutex_lock(&lock); prepared++; }
static void parent(void) { in_parent++; pthread_mutex_unlock(&lock); }
static void child(void) { in_child++; pthread_mutex_unlock(&lock); }

static void by_fork(void)
{
    int status;
    pthread_atfork(prepare, parent, child);
    pid_t made = fork();
    if (made == 0) {
        pthread_t own;
        pthread_create(&own, 0, tick, 0);
        pthread_join(own, 0);
        _exit(prepared == 1 && in_child == 1 ? 7 : 8);
    }
    assert(prepared == 1 && in_parent == 1 && in_child == 0);
    assert(waitpid(made, &status, 0) == made && WEXITSTATUS(status) == 7);
    assert(waitpid(made, &status, 0) == -1 && errno == ECHILD);
    siginfo_t info;
    made = fork();
    if (made == 0) {
        usleep(2000);
        _exit(3);
    }
    assert(waitid(P_PID, made, &info, WEXITED) == 0 && info.si_status == 3);
    made = syscall(SYS_fork);
    if (made == 0)
        _exit(4);
    assert(wait4(made, &status, 0, 0) == made && WEXITSTATUS(status) == 4);
}

static void by_vfork(void)
{
    volatile int error = 0;
    int status;
    pid_t made = vfork();
    if (made == 0) {
        execl("/nonexistent/program", "x", (char *)0);
        error = errno;
        _exit(9);
    }
    assert(made > 0 && error == ENOENT);
    assert(waitpid(made, &status, 0) == made && WEXITSTATUS(status) == 9);
}

static void by_spawn(void)
{
    char *arguments[] = {"sh", "-c", "exit 6", 0};
    int status;
    pid_t made;
    assert(posix_spawnp(&made, "sh", 0, 0, arguments, environ) == 0);
    assert(wait(&status) == made && WEXITSTATUS(status) == 6);
    assert(posix_spawn(&made, "/nonexistent/program", 0, 0, arguments, environ) == ENOENT);
}

static void by_shell(void)
{
    char line[16];
    assert(WEXITSTATUS(system("exit 3")) == 3 && system(0) != 0);
    FILE *stream = popen("echo hello", "r");
    assert(stream && fgets(line, sizeof line, stream) && strcmp(line, "hello\n") == 0);
    assert(pclose(stream) == 0);
    stream = popen("exec cat >/dev/null; exit 2", "w");
    assert(stream && fputs("x", stream) >= 0 && pclose(stream) == 0);
    assert(popen("true", "x") == 0 && errno == EINVAL);
}

static int in_clone(void *value)
{
    return *(int *)value;
}

static void by_clone(int flags)
{
    static char stack[65536] __attribute__((aligned(16)));
    int value = 5, status;
    pid_t made = clone(in_clone, stack + sizeof stack, flags | SIGCHLD, &value);
    assert(made > 0 && waitpid(made, &status, 0) == made && WEXITSTATUS(status) == 5);
}

static void identity(void)
{
    assert(setuid(getuid()) == 0 && setgid(getgid()) == 0);
    assert(seteuid(geteuid()) == 0 && setegid(getegid()) == 0);
    if (geteuid() == 0)
        assert(initgroups("root", 0) == 0);
    assert(setreuid(-1, -1) == 0 && setresgid(-1, -1, -1) == 0);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    pthread_t other;
    pthread_create(&other, 0, tick, 0);
    if (strcmp(mode, "fork") == 0)
        by_fork();
    else if (strcmp(mode, "vfork") == 0)
        by_vfork();
    else if (strcmp(mode, "posix_spawn") == 0)
        by_spawn();
    else if (strcmp(mode, "system") == 0)
        by_shell();
    else if (strcmp(mode, "clone") == 0)
        by_clone(0);
    else if (strcmp(mode, "clone-vfork") == 0)
        by_clone(CLONE_VM | CLONE_VFORK);
    else if (strcmp(mode, "clone-shared") == 0)
        by_clone(CLONE_VM);
    else if (strcmp(mode, "setuid") == 0)
        identity();
    else if (strcmp(mode, "daemon") == 0)
        assert(daemon(1, 1) == 0);
    else if (strcmp(mode, "exec") == 0)
        return execlp("sh", "sh", "-c", "exit 0", (char *)0);
    else
        return 99;
    pthread_join(other, 0);
    assert(ticks == 5);
    return 0;
}
