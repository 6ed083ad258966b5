#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/stat.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <asm/sockios.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
/* One line for each function or system call that takes the number of a process or thread: what comes of it in main (m) and in a created thread (t), by 0 and by its own number, and of one that has ended (e). */
struct attr { uint32_t size, policy; uint64_t flags; int32_t nice; uint32_t priority; uint64_t runtime, deadline, period; uint32_t umin, umax; };
static const char *who;
static pid_t ended;
static void say(const char *what, long r) { printf("%s %s %ld%s%s\n", who, what, r < 0 ? -1 : r, r < 0 ? " " : "", r < 0 ? strerrorname_np(errno) : ""); }
#define S(what, call) do { errno = 0; long r_ = (call); say(what, r_); } while (0)
#define Z(what, call) do { long r_ = (call); printf("%s %s %s\n", who, what, r_ ? strerrorname_np(r_) : "0"); } while (0)
static int is_process(pid_t p) { return p == getpid(); }
static volatile int got;
static void on(int s, siginfo_t *i, void *c) { got += i->si_pid == getpid() ? 1 : 100; }
static void all(pid_t id)
{
  struct sched_param p = { 0 };
  struct attr a;
  struct timespec ts;
  cpu_set_t set;
  struct rlimit lim;
  char b[200], path[64];
  S("sched_getscheduler", sched_getscheduler(id));
  S("sched_getparam", sched_getparam(id, &p));
  S("sched_setparam", sched_setparam(id, &p));
  S("sched_setscheduler", sched_setscheduler(id, SCHED_BATCH, &p));
  S("sched_getscheduler", sched_getscheduler(id));
  S("sched_setscheduler", sched_setscheduler(id, SCHED_OTHER, &p));
  S("sched_rr", sched_rr_get_interval(id, &ts));
  memset(&a, 0, sizeof a);
  S("sched_getattr", syscall(SYS_sched_getattr, id, &a, sizeof a, 0));
  printf("%s attr %u %u %d %u\n", who, a.size, a.policy, a.nice, a.priority);
  S("sched_setattr", syscall(SYS_sched_setattr, id, &a, 0));
  S("sys sched_getscheduler", syscall(SYS_sched_getscheduler, id));
  S("sched_getaffinity", sched_getaffinity(id, sizeof set, &set));
  int n = CPU_COUNT(&set);
  S("sched_setaffinity", sched_setaffinity(id, sizeof set, &set));
  CPU_ZERO(&set); CPU_SET(0, &set);
  S("sched_setaffinity", sched_setaffinity(id, sizeof set, &set));
  S("sched_getaffinity", sched_getaffinity(id, sizeof set, &set));
  printf("%s cpus %d\n", who, CPU_COUNT(&set)); (void)n;
  S("setpriority", setpriority(PRIO_PROCESS, id, 5));
  S("getpriority", getpriority(PRIO_PROCESS, id));
  S("sys getpriority", syscall(SYS_getpriority, PRIO_PROCESS, id));
  S("getpriority pgrp", getpriority(PRIO_PGRP, 0) >= 0);
  S("ioprio_set", syscall(SYS_ioprio_set, 1, id, 2 << 13 | 3));
  S("ioprio_get", syscall(SYS_ioprio_get, 1, id));
  S("prlimit", prlimit(id, RLIMIT_NOFILE, 0, &lim));
  S("sys prlimit64", syscall(SYS_prlimit64, id, RLIMIT_NOFILE, 0, &lim));
  void *head = 0; size_t len = 0;
  S("get_robust_list", syscall(SYS_get_robust_list, id, &head, &len));
  printf("%s robust %d %zu\n", who, head != 0, len);
  struct __user_cap_header_struct cap = { _LINUX_CAPABILITY_VERSION_3, id };
  struct __user_cap_data_struct sets[2];
  S("capget", syscall(SYS_capget, &cap, sets)); S("capget keeps", cap.pid == id);
  S("capset", *who == 'm' || *who == 't' ? syscall(SYS_capset, &cap, sets) : 0);
  cap.version = 1; S("capget version", syscall(SYS_capget, &cap, sets)); S("capget told", cap.version == _LINUX_CAPABILITY_VERSION_3);
  S("kcmp", syscall(SYS_kcmp, id ? id : getpid(), getpid(), 1 /* VM */, 0, 0));
  S("kill 0", id ? kill(id, 0) : 0);
  S("tgkill 0", id ? tgkill(getpid(), id, 0) : 0);
  S("tkill 0", id ? syscall(SYS_tkill, id, 0) : 0);
  S("tgkill wrong group", id ? tgkill(1, id, 0) : 0);
  S("tgkill own number as group", id ? tgkill(id, id, 0) : 0);
  S("sys tgkill own number as group", id ? syscall(SYS_tgkill, id, id, 0) : 0);
  S("tgkill no group", tgkill(0, id, 0)); S("tgkill no signal", tgkill(id, id, 99));
  siginfo_t info = { .si_code = SI_QUEUE };
  S("rt_tgsigqueueinfo", id ? syscall(SYS_rt_tgsigqueueinfo, getpid(), id, 0, &info) : 0);
  S("rt_tgsigqueueinfo own number as group", id ? syscall(SYS_rt_tgsigqueueinfo, id, id, 0, &info) : 0);
  S("rt_sigqueueinfo", id ? syscall(SYS_rt_sigqueueinfo, id, 0, &info) : 0);
  S("sigqueue", id ? sigqueue(id, 0, (union sigval){ 0 }) : 0);
  if (id) {
    if (*who != 'm') { S("kill group", kill(-id, 0)); S("killpg", killpg(id, 0)); }
    S("pidfd_open", ({ int d = syscall(SYS_pidfd_open, id, 0); if (d >= 0) close(d); d < 0 ? -1 : 0; }));
    S("setpgid", setpgid(id, 0)); S("setpgid to", setpgid(0, id)); S("setpgid to itself", setpgid(id, id));
    S("getpriority pgrp", getpriority(PRIO_PGRP, id) >= 0 ? 0 : -1);
    S("waitpid", waitpid(id, 0, WNOHANG)); S("waitid", waitid(P_PID, id, &info, WEXITED | WNOHANG));
  }
  S("getpgid", id ? getpgid(id) > 0 ? 1 : -1 : 1);
  S("getsid", id ? getsid(id) > 0 ? 1 : -1 : 1);
  if (id) {
    int x = 5, y = 0; struct iovec l = { &y, 4 }, r = { &x, 4 };
    S("process_vm_readv", process_vm_readv(id, &l, 1, &r, 1, 0));
    S("process_vm_writev", process_vm_writev(id, &r, 1, &l, 1, 0));
    snprintf(path, sizeof path, "/proc/%d/comm", id); S("proc", access(path, R_OK));
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", id); int d = open(path, O_RDONLY); S("task", d >= 0 ? read(d, b, 3) : -1); if (d >= 0) close(d);
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", getpid(), id); FILE *f = fopen(path, "r"); S("task fopen", f ? fgets(b, 100, f) != 0 : -1); if (f) fclose(f);
    snprintf(path, sizeof path, "/proc/self/task/%d", id); DIR *dir = opendir(path); S("task dir", dir ? 0 : -1); if (dir) closedir(dir);
    clockid_t c; Z("clock_getcpuclockid", clock_getcpuclockid(id, &c) ? ESRCH : 0);
    c = ~id << 3 | 6; S("clock_gettime of", clock_gettime(c, &ts));
    int s = socket(AF_INET, SOCK_DGRAM, 0);
    struct f_owner_ex o = { F_OWNER_TID, id };
    if (*who != 'e') { S("F_SETOWN_EX", fcntl(s, F_SETOWN_EX, &o)); o.pid = 0; S("F_GETOWN_EX", fcntl(s, F_GETOWN_EX, &o)); printf("%s same %d\n", who, o.pid == id); }
    close(s);
    struct perf_event_attr pe = { .type = PERF_TYPE_SOFTWARE, .size = sizeof pe, .config = PERF_COUNT_SW_DUMMY };
    int pf = syscall(SYS_perf_event_open, &pe, id, -1, -1, 0); S("perf_event_open", pf >= 0 ? 0 : -1); if (pf >= 0) close(pf);
    struct sigevent ev = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 }; ev._sigev_un._tid = id; timer_t t;
    int tr = timer_create(CLOCK_MONOTONIC, &ev, &t); S("timer_create", tr); if (!tr) timer_delete(t);
  }
}
static void own(void)
{
  S("gettid", gettid() == syscall(SYS_gettid));
  S("gettid is getpid", gettid() == getpid());
  S("set_tid_address", 1);
  got = 0; S("tgkill", tgkill(getpid(), gettid(), SIGUSR1)); S("got", got);
  if (*who == 'm') { got = 0; S("kill", kill(getpid(), SIGUSR1)); S("got", got); }
  union sigval v = { 1 };
  if (*who == 'm') { got = 0; S("sigqueue", sigqueue(getpid(), SIGUSR1, v)); S("got", got); }
  got = 0; S("raise", raise(SIGUSR1)); S("got", got);
  got = 0; S("pthread_kill", pthread_kill(pthread_self(), SIGUSR1)); S("got", got);
  S("nice", nice(1)); S("getpriority", getpriority(PRIO_PROCESS, 0));
  cpu_set_t set; CPU_ZERO(&set); CPU_SET(0, &set);
  Z("pthread_setaffinity_np", pthread_setaffinity_np(pthread_self(), sizeof set, &set));
  Z("pthread_getaffinity_np", pthread_getaffinity_np(pthread_self(), sizeof set, &set));
  printf("%s cpus %d\n", who, CPU_COUNT(&set));
  clockid_t c; struct timespec ts; Z("pthread_getcpuclockid", pthread_getcpuclockid(pthread_self(), &c));
  S("clock_gettime", clock_gettime(c, &ts)); S("clock of own", c == (~gettid() << 3 | 6));
  int policy; struct sched_param p; Z("pthread_getschedparam", pthread_getschedparam(pthread_self(), &policy, &p)); printf("%s %d %d\n", who, policy, p.sched_priority);
  S("readlink", ({ char b[32] = { 0 }; readlink("/proc/self", b, 31); atoi(b) == getpid(); }));
  S("readlinkat", ({ char b[32] = { 0 }; int d = open("/proc", O_RDONLY | O_DIRECTORY); readlinkat(d, "self", b, 31); close(d); atoi(b) == getpid(); }));
  S("readlink call", ({ char b[32] = { 0 }; syscall(SYS_readlink, "/proc/../proc/self", b, 31L); atoi(b) == getpid(); }));
  S("cut off", ({ char b[8] = { 0 }, x[16]; readlink("/proc/./self", b, 3); sprintf(x, "%d", getpid()); !strncmp(b, x, 3); }));
  S("thread-self", ({ char b[64] = { 0 }, x[64]; readlink("/proc/thread-self", b, 63); sprintf(x, "%d/task/%d", getpid(), gettid()); !strcmp(b, x); }));
}
static void *thread(void *x) { who = "t0"; all(0); who = "t"; own(); all(gettid()); ended = gettid(); return 0; }
static void process(void)
{
  who = "p";
  S("pidfd_open", ({ int d = syscall(SYS_pidfd_open, getpid(), 0); if (d >= 0) close(d); d < 0 ? -1 : 0; }));
  S("pgrp", getpgrp() == getpgid(0)); S("pgrp", getpgid(getpid()) == getpgrp());
  S("sid", getsid(0) == getsid(getpid())); S("ppid", getppid() == syscall(SYS_getppid)); S("ppid", getppid() > 0);
  S("kill group 0", kill(0, 0)); S("killpg", killpg(getpgrp(), 0)); S("kill -pgrp", kill(-getpgrp(), 0));
  S("kill parent 0", kill(getppid(), 0));
  int sp[2]; socketpair(AF_UNIX, SOCK_STREAM, 0, sp); struct ucred u; socklen_t l = sizeof u;
  S("SO_PEERCRED", getsockopt(sp[0], SOL_SOCKET, SO_PEERCRED, &u, &l)); S("is", is_process(u.pid));
  int one = 1; setsockopt(sp[1], SOL_SOCKET, SO_PASSCRED, &one, sizeof one);
  char ctl[CMSG_SPACE(sizeof u)] = { 0 }, b = 1; struct iovec io = { &b, 1 }; struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = ctl, .msg_controllen = sizeof ctl };
  struct cmsghdr *h = CMSG_FIRSTHDR(&m); h->cmsg_level = SOL_SOCKET; h->cmsg_type = SCM_CREDENTIALS; h->cmsg_len = CMSG_LEN(sizeof u);
  u.pid = getpid(); u.uid = getuid(); u.gid = getgid(); memcpy(CMSG_DATA(h), &u, sizeof u);
  S("SCM send", sendmsg(sp[0], &m, 0)); memset(ctl, 0, sizeof ctl); m.msg_controllen = sizeof ctl; S("SCM recv", recvmsg(sp[1], &m, 0));
  h = CMSG_FIRSTHDR(&m); memcpy(&u, CMSG_DATA(h), sizeof u); S("is", is_process(u.pid));
  fcntl(sp[0], F_SETOWN, getpid()); S("F_GETOWN", is_process(fcntl(sp[0], F_GETOWN)));
  pid_t parent = getpid(); int p[2]; pipe(p);
  pid_t c = fork();
  if (!c) { char r = (getppid() == parent) + 2 * (getpid() != parent) + 4 * (kill(parent, 0) == 0) + 8 * (syscall(SYS_getpid) == getpid()) + 16 * (getpgrp() == getpgid(parent)); write(p[1], &r, 1); kill(parent, SIGUSR2); _exit(3); }
  char r = 0; read(p[0], &r, 1); S("child", r);
  int st = 0; S("waitpid", ({ int r; while ((r = waitpid(c, &st, 0)) < 0 && errno == EINTR); r; }) == c); S("status", WEXITSTATUS(st));
  S("waitpid own", waitpid(getpid(), &st, 0));
  int sem = semget(IPC_PRIVATE, 1, 0600); struct sembuf up = { 0, 1, 0 }; semop(sem, &up, 1); S("GETPID", is_process(semctl(sem, 0, GETPID))); semctl(sem, 0, IPC_RMID);
  struct shmid_ds ms; int shm = shmget(IPC_PRIVATE, 4096, 0600); shmdt(shmat(shm, 0, 0)); shmctl(shm, IPC_STAT, &ms); S("shm", is_process(ms.shm_cpid) + is_process(ms.shm_lpid)); shmctl(shm, IPC_RMID, 0);
  struct msqid_ds qs; int msg = msgget(IPC_PRIVATE, 0600); long mb[2] = { 1 }; msgsnd(msg, mb, 8, 0); msgrcv(msg, mb, 8, 0, 0); msgctl(msg, IPC_STAT, &qs); S("msg", is_process(qs.msg_lspid) + is_process(qs.msg_lrpid)); msgctl(msg, IPC_RMID, 0);
  pid_t own_id = getpid(), was = 0; S("FIOSETOWN", ioctl(sp[0], FIOSETOWN, &own_id)); S("FIOGETOWN", ioctl(sp[0], FIOGETOWN, &was)); S("is", is_process(was));
  S("SIOCSPGRP", ioctl(sp[0], SIOCSPGRP, &own_id)); was = 0; S("SIOCGPGRP", ioctl(sp[0], SIOCGPGRP, &was)); S("is", is_process(was)); S("kept", is_process(own_id));
  S("PR_SET_PTRACER", prctl(PR_SET_PTRACER, getpid())); S("ptracer", prctl(PR_SET_PTRACER, 99999999));
  siginfo_t si; S("waitid own", waitid(P_PID, getpid(), &si, WEXITED));
  S("setpgid", setpgid(0, 0)); S("setpgid", setpgid(getpid(), getpid()));
}
static volatile int from_child;
static void on2(int s, siginfo_t *i, void *c) { from_child++; }
int main(int argc, char **argv)
{
  if (argc > 1 && !freopen(argv[1], "w", stdout)) return 9;
  setvbuf(stdout, 0, _IOFBF, 1 << 16);
  struct sigaction sa = { .sa_sigaction = on, .sa_flags = SA_SIGINFO }; sigaction(SIGUSR1, &sa, 0);
  sa.sa_sigaction = on2; sigaction(SIGUSR2, &sa, 0);
  who = "m0"; all(0); who = "m"; own(); all(getpid());
  pthread_t t; pthread_create(&t, 0, thread, 0); pthread_join(t, 0);
  who = "e"; all(ended);
  who = "n"; all(99999999);
  process();
  while (!from_child) usleep(1000);
  return 0;
}
