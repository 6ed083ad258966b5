/* Pairs of calls that share what the C library or the kernel keeps, not memory.
 *
 * calls list                        the calls: number, text
 * calls pairs DIR TAG SEED COUNT    of COUNT pairs drawn by SEED those whose order matters, natively:
 *                                   A, B, what has to be looked at, the outcome of each order
 * calls these DIR TAG A B A B ...   the same of these pairs
 * calls all DIR TAG PART PARTS      the same of all pairs, those of one part
 * calls run DIR TAG A B VIEW FILE   A and B in two threads; adds to FILE what both return and the view shows
 *
 * The outcome is what both returned and what one view shows afterwards. All happens in DIR, which
 * is emptied first; TAG keeps names apart that the whole machine shares. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <err.h>
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <fmtmsg.h>
#include <fnmatch.h>
#include <fstab.h>
#include <ftw.h>
#include <fts.h>
#include <glob.h>
#include <grp.h>
#include <iconv.h>
#include <langinfo.h>
#include <libgen.h>
#include <libintl.h>
#include <link.h>
#include <locale.h>
#include <malloc.h>
#include <mntent.h>
#include <monetary.h>
#include <mqueue.h>
#include <net/ethernet.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <printf.h>
#include <pthread.h>
#include <pwd.h>
#include <regex.h>
#include <rpc/netdb.h>
#include <sched.h>
#include <search.h>
#include <semaphore.h>
#include <shadow.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/inotify.h>
#include <sys/io.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <syslog.h>
#include <termios.h>
#include <threads.h>
#include <time.h>
#include <uchar.h>
#include <ulimit.h>
#include <unistd.h>
#include <utime.h>
#include <utmpx.h>
#include <wchar.h>
#include <wctype.h>
#include <wordexp.h>

#include "snippets.h"
#include "library.h"
#include "kernel.h"

#define LIST(X) \
  NUMBERS(X) FILES(X) NAMES(X) STREAMS(X) LOCALES(X) CLOCKS(X) ENVIRONMENT(X) RANDOM(X) TABLES(X) THREADS(X) \
  SIGNALS(X) TIMERS(X) LIMITS(X) SOCKETS(X) OBJECTS(X) MAPPINGS(X) DIRECT(X)

#define ENTRY_OF(needs, ...) {needs, #__VA_ARGS__},
static const struct { const char *needs, *text; } calls[] = {LIST(ENTRY_OF)};
enum { COUNT = sizeof calls / sizeof *calls };

/* What is prepared. */
static int f = -1, f2 = -1, fc = -1, g = -1, dir = -1, m = -1, p[2] = {-1, -1}, p2[2] = {-1, -1}, k[2] = {-1, -1};
static int ks = -1, ks2 = -1, ki = -1, ev = -1, ev2 = -1, ep = -1, in = -1, sf = -1, tf = -1, master = -1, slave = -1;
static int sfd = -1, zfd = -1, rd2fd = -1, sid = -1, qid = -1, mid = -1;
static mqd_t mq = -1;
static FILE *s, *t, *z, *ms, *fm, *ck, *mnt;
static DIR *rd, *rd2;
static volatile char *pm;
static char *pm4, *mp, *top, *pa, *pi_, *pe, *pl, *pv, *pn, *ph, *slave_name, fmbuf[16], own[2][1 << 14], chaos[64], chaos2[64];
static size_t ml, place;
static struct tm *pt;
static struct passwd *pw;
static struct group *gr;
static fpos_t start;
static void *tree, *lib, *sp;
static pthread_key_t tkey;
static pthread_t first;
static timer_t timer;
static struct sockaddr_un at = {AF_UNIX, "sock"};
static struct sockaddr_in loop = {AF_INET, 0, {0x0100007f}};
static struct termios cooked_mode;
static wctype_t alpha;
static locale_t utf;
static char name[32];
static key_t key;
static char strtok_text[16];
static int (*order)(const void *, const void *);
static char *args[] = {"x", "-a", "-b", "c", 0};
static int cooked, visits, ftw_count, at_exit;

static long found[2];
static int chosen[2];
static sem_t turns[2], done;

static unsigned long hash(unsigned long h, const void *data, size_t size) {
  const unsigned char *bytes = data;
  while (size--) h = (h ^ *bytes++) * 1099511628211ul;
  return h;
}

/* A small number for some bytes. */
static long H(const void *data, size_t size) { return hash(14695981039346656037ul, data, size) & 0xfffffff; }

/* Success or failure of what returns a pointer, or truth. */
#define Z(x) ((x) ? 0 : -1)

static void visit(const void *node, VISIT which, int depth) { visits += depth + which; }
static int module(struct dl_phdr_info *info, size_t size, void *unused) { visits++; return 0; }
static int count_file(const char *path, const struct stat *st, int kind, struct FTW *w) { ftw_count++; return 0; }
static int count_name(const char *path, const struct stat *st, int kind) { return 5; }
static void handler(int number) {}
static void at_a(void) { at_exit = at_exit * 10 + 1; }
static void at_b(void) { at_exit = at_exit * 10 + 2; }
static void on_c(int status, void *unused) { at_exit = at_exit * 10 + 3; }
static int print_y(FILE *to, const struct printf_info *i, const void *const *a) { return fprintf(to, "yy"); }
static int print_y_info(const struct printf_info *i, size_t n, int *types, int *sizes) { return 0; }
static ssize_t cook(void *unused, const char *data, size_t size) { cooked += size; return size; }

static int print(FILE *to, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int result = vfprintf(to, format, list);
  va_end(list);
  return result;
}

static int record = -1;
static FILE *recorded;

/* Of an execution, what comes from where. The program's own accesses, and its calls, would be steps that come
 * in any order, so the kernel writes it here, and main writes all of it when the threads have ended. */
static long told[][2] = {{5}, {0}, {1}, {3}, {4}, {2}};

static void tell(long from, long what) {
  static const char places[] = {1, 2, 5, 3, 4};
  struct iovec here = {&what, sizeof what}, there = {&told[places[from]][1], sizeof what};
  if (record < 0)
    found[from] = what;
  else
    syscall(SYS_process_vm_writev, getpid(), &here, 1L, &there, 1L, 0L);
}

/* KEPT: 1 for each call that the program has, or 0. */
#ifdef KEPT
#define IS_KEPT(n) (KEPT[n] == '1')
#else
#define IS_KEPT(n) 1
#endif

static void perform(int which, int me) {
  long R = 0;
  char b[1024] = {0};
  int one = 0, two[2] = {0, 0};
  struct stat st = {0};
  struct statx sx = {0};
  sigset_t set;
  errno = 0;
  switch (which) {
#define CASE(needs, ...) CASE_OF(__COUNTER__ - FIRST, __VA_ARGS__)
#define CASE_OF(n, ...) \
  case n: \
    if (IS_KEPT(n)) { \
      __VA_ARGS__; \
    } \
    break;
    enum { FIRST = __COUNTER__ + 1 };
    LIST(CASE)
  }
  tell(me, R == -1 ? -1000 - errno : R);
}

/* The table of functions does not say of all of them what they do to memory, which bounds a search of any
 * program that has them. What prepares and looks does not count. */
#define HIDDEN(function) ((__typeof__(&function))dlsym(RTLD_DEFAULT, #function))

static int file(const char *path, const char *content) {
  int made = open(path, O_CREAT | O_RDWR, 0600);
  write(made, content, strlen(content));
  lseek(made, 0, SEEK_SET);
  return made;
}

/* What calls with this letter need. */
static void prepare(char what) {
  struct tm tm = {.tm_year = 70, .tm_mday = 1};
  struct sigevent none = {.sigev_notify = SIGEV_NONE};
  struct in_addr net = {0x05060708};
  struct ether_addr ether = {{9, 8, 7}};
  time_t now = 86400;
  sigset_t set;
  int i, j;
  switch (what) {
  case 'f':
    f = file("f", "abcdefghijklmnopqrst"), f2 = open("f", O_RDWR), fc = dup(f), g = file("g", "0123456789");
    mkdir("d", 0700);
    symlink("g", "l");
    dir = open(".", O_RDONLY | O_DIRECTORY);
    break;
  case 'a': pm = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0); break;
  case 'm': m = memfd_create("m", MFD_ALLOW_SEALING); ftruncate(m, 4096); break;
  case 'p':
    signal(SIGPIPE, SIG_IGN);
    pipe2(p, O_NONBLOCK);
    write(p[1], "PIPE", 4);
    break;
  case 'd': mkdir("e", 0700); rd = opendir("e"); break;
  case 'y': mkdir("e", 0700); rd2 = opendir("e"); rd2fd = dirfd(rd2); break;
  case 'x':
    shm_unlink(name);
    sem_unlink(name);
    mq_unlink(name);
    semctl(semget(key, 1, 0), 0, IPC_RMID);
    msgctl(msgget(key, 0), IPC_RMID, 0);
    shmctl(shmget(key, 4096, 0), IPC_RMID, 0);
    break;
  case 's':
    close(file("s", "abcdefghij\nklmnopq\nrst\n"));
    close(file("g0", "GHIJKL"));
    s = fopen("s", "r+"), t = fopen("s", "r+"), sfd = fileno(s);
    fgetpos(s, &start);
    break;
  case 'z': close(file("z", "zyxwv")); z = fopen("z", "r+"); zfd = fileno(z); fputs("ZZ", z); break;
  case 'e':
    ms = HIDDEN(open_memstream)(&mp, &ml);
    fm = HIDDEN(fmemopen)(fmbuf, sizeof fmbuf, "w+");
    ck = HIDDEN(fopencookie)(0, "w", (cookie_io_functions_t){.write = cook});
    break;
  case 'i': close(0); file("i", "12345\n678\n"); close(file("g0", "GHIJKL")); break;
  case 'o': dup2(i = file("o", ""), 1); close(i); dup2(i = file("o2", ""), 2); close(i); break;
  case 'A': alpha = wctype("alpha"); utf = newlocale(LC_ALL_MASK, "C.UTF-8", 0); break;
  case 'u': setlocale(LC_ALL, "C.UTF-8"); break;
  case 'w': setenv("TZ", "ABC5DEF", 1); break;
  case 'v': setenv("A", "1", 1); break;
  case 'r': srand(1); srand48(2); HIDDEN(initstate)(9, chaos2, 64); srandom(1); break;
  case 'h':
    order = (int (*)(const void *, const void *))HIDDEN(strcmp);
    hcreate(16);
    tsearch("n", &tree, order); break;
  case 'j': mnt = setmntent("/proc/self/mounts", "r"); break;
  case 'k':
    pa = asctime(&tm), pt = gmtime(&now), pi_ = inet_ntoa(net), pe = strerror(8888), pw = HIDDEN(getpwnam)("root"), gr = HIDDEN(getgrnam)("root");
    pl = l64a(77), pv = HIDDEN(ecvt)(1.25, 4, &i, &j), pn = tmpnam(0), ph = HIDDEN(ether_ntoa)(&ether);
    strcpy(strtok_text, "a,b,c,d");
    strtok(strtok_text, ",");
    break;
  case 'l': lib = dlopen("libanl.so.1", RTLD_NOW); break;
  case 'q': pthread_key_create(&tkey, 0); break;
  case 'g':
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigaddset(&set, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &set, 0);
    sf = HIDDEN(signalfd)(-1, &set, SFD_NONBLOCK);
    break;
  case 'N': signal(SIGALRM, SIG_IGN), signal(SIGVTALRM, SIG_IGN); break;
  case 'n': timer_create(CLOCK_MONOTONIC, &none, &timer); tf = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK); break;
  case 'c':
    signal(SIGPIPE, SIG_IGN);
    socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, k);
    pipe2(p2, O_NONBLOCK);
    break;
  case 'b':
    ks = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), ks2 = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    ki = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    break;
  case 'E':
    ev = eventfd(0, EFD_NONBLOCK), ev2 = eventfd(0, EFD_NONBLOCK), ep = epoll_create1(0), in = inotify_init1(IN_NONBLOCK);
    epoll_ctl(ep, EPOLL_CTL_ADD, ev2, &(struct epoll_event){EPOLLIN});
    break;
  case 't':
    master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    grantpt(master);
    unlockpt(master);
    slave_name = strdup(ptsname(master));
    slave = open(slave_name, O_RDWR | O_NOCTTY | O_NONBLOCK);
    tcgetattr(slave, &cooked_mode);
    break;
  case 'Q':
    mq_unlink(name);
    mq = mq_open(name, O_CREAT | O_RDWR | O_NONBLOCK, 0600, &(struct mq_attr){0, 2, 90});
    mq_unlink(name);
    sid = semget(IPC_PRIVATE, 1, 0600), qid = msgget(IPC_PRIVATE, 0600), mid = shmget(IPC_PRIVATE, 4096, 0600);
    sp = shmat(mid, 0, 0);
    break;
  case 'M': pm4 = mmap((void *)0x100000000000, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); break;
  }
}

#define MIX(...) (h = hash(h, (long[]){__VA_ARGS__}, sizeof((long[]){__VA_ARGS__})))

static unsigned long content(unsigned long h, const char *path) {
  char b[200] = {0};
  int file = open(path, O_RDONLY);
  if (file >= 0) read(file, b, sizeof b), close(file);
  MIX(file >= 0);
  return hash(h, b, sizeof b);
}

static unsigned long text(unsigned long h, const char *text) { return text ? hash(h, text, strlen(text)) : h; }

static char ready[128];

enum { NOTHING, AT_EXIT = 40, VIEWS };

/* What can be seen afterwards. */
static unsigned long look(int view) {
  unsigned long h = 14695981039346656037ul;
  char b[1024] = {0};
  struct stat st;
  struct sigaction action;
  struct rlimit limit;
  struct itimerval interval;
  struct itimerspec spec;
  struct sched_param param;
  struct termios mode;
  struct winsize size = {0};
  /* Who may not ask finds nothing. */
  struct mq_attr attr = {0};
  struct msqid_ds queue = {0};
  struct shmid_ds segment = {0};
  socklen_t n = sizeof(int);
  sigset_t set;
  int one = 0, other = 0, q[2];
  static const char *const names[] = {"f", "g", "h", "k", "d", "d/e", "l"};
  switch (view) {
  case 1: for (int i = 0; i < 14; i++) MIX(fcntl(i, F_GETFD)); break;
  case 2: if (ready['f']) MIX(lseek(f, 0, SEEK_CUR), lseek(f2, 0, SEEK_CUR), lseek(g, 0, SEEK_CUR)); break;
  case 3: if (ready['f']) MIX(fcntl(f, F_GETFL), fcntl(f2, F_GETFL), fcntl(fc, F_GETFL), fcntl(g, F_GETFL)); break;
  case 4: if (ready['f']) h = content(h, "f"); break;
  case 5: if (ready['f']) h = content(h, "g"); break;
  case 6: if (ready['f'] && !stat("f", &st)) MIX(st.st_mode, st.st_size, st.st_nlink, st.st_uid, st.st_mtime < 100 ? st.st_mtime : 0); break;
  case 7:
    for (int i = 0; ready['f'] && i < 7; i++)
      if (!lstat(names[i], &st)) MIX(i, st.st_mode, st.st_nlink);
    break;
  case 8: if (ready['f']) MIX(HIDDEN(getxattr)("f", "user.a", b, 9), HIDDEN(getxattr)("g", "user.a", b, 9)); break;
  case 9: h = getcwd(b, sizeof b) ? strlen(b) - place : 0; break;
  case 10: if (s) MIX(ftell(s), feof(s) != 0, ferror(s) != 0); break;
  case 11: if (s) MIX(fwide(s, 0), fwide(s, 0) > 0 ? fgetwc(s) : fgetc(s)); break;
  case 12: if (s) fflush(0), h = content(h, "s"); break;
  case 13: if (s) MIX(ftell(t), fgetc(t), lseek(sfd, 0, SEEK_CUR)); break;
  case 14: if (z) h = content(h, "z"); break;
  case 15: if (ready['o']) h = content(content(h, "o"), "o2"); break;
  case 16: if (ready['o']) fflush(stdout), h = content(h, "o"); break;
  case 17: if (ms) MIX(ml, mp ? mp[0] : -1, ftell(ms)); break;
  case 18: if (fm) MIX(ftell(fm), fmbuf[0], cooked); break;
  case 19: if (ready['i']) MIX(getchar(), lseek(0, 0, SEEK_CUR)); break;
  case 20: h = text(h, setlocale(LC_ALL, 0)); break;
  case 21: h = text(text(h, textdomain(0)), bindtextdomain("x", 0)); break;
  case 22: MIX(timezone, daylight); h = text(h, tzname[0]); break;
  case 23: h = text(text(text(text(h, getenv("A")), getenv("B")), getenv("TZ")), getenv("PATH")); break;
  case 24: MIX(rand(), lrand48()); break;
  case 25:
    sigaction(SIGUSR1, 0, &action);
    sigpending(&set);
    MIX(action.sa_flags & SA_RESTART, action.sa_handler == SIG_IGN, action.sa_handler == handler, sigismember(&set, SIGUSR2));
    break;
  case 26:
    for (int i = 0; i < 3; i++) getitimer(i, &interval), MIX(interval.it_value.tv_sec);
    if (ready['n']) MIX(timer_gettime(timer, &spec), spec.it_value.tv_sec), timerfd_gettime(tf, &spec), MIX(spec.it_value.tv_sec);
    break;
  case 27:
    for (int i = 0; i < 3; i++) getrlimit((int[]){RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_CORE}[i], &limit), MIX(limit.rlim_cur, limit.rlim_max);
    break;
  case 28: MIX(umask(0)); break;
  case 29:
    HIDDEN(prctl)(PR_GET_PDEATHSIG, &one);
    HIDDEN(prctl)(PR_GET_CHILD_SUBREAPER, &other);
    MIX(getpriority(PRIO_PROCESS, 0), HIDDEN(prctl)(PR_GET_DUMPABLE), one, other, HIDDEN(prctl)(PR_GET_THP_DISABLE, 0, 0, 0, 0), personality(-1) & SHORT_INODE);
    break;
  case 30: MIX(getuid(), geteuid(), getgid(), getegid(), getsid(0) == getpid(), getpgrp() == getpid()); break;
  case 31:
    if (ready['c']) getsockopt(k[0], SOL_SOCKET, SO_PASSCRED, &one, &n), MIX(one, recv(k[1], b, 99, 0), b[0]);
    if (ready['b']) getsockopt(ki, IPPROTO_TCP, TCP_NODELAY, &one, &n), MIX(one), n = sizeof b, MIX(getsockname(ks, (void *)b, &n), n);
    break;
  case 32: if (ready['p']) MIX(read(p[0], b, 99)), h = hash(h, b, 99); break;
  case 33: if (ready['h']) MIX(Z(HIDDEN(hsearch)((ENTRY){"j"}, FIND)), Z(HIDDEN(hsearch)((ENTRY){"k"}, FIND)), Z(tfind("m", &tree, order)), Z(tfind("n", &tree, order))); break;
  case 34: if (pa) h = text(h, pa), MIX(pt->tm_mday), h = text(text(text(h, pw->pw_name), gr->gr_name), pe); break;
  case 35: if (pa) h = text(text(text(text(h, pi_), pl), pv), ph), MIX(optind, setlogmask(0)); break;
  case 36:
    pthread_getname_np(first, b, 16);
    h = text(h, b);
    pthread_getschedparam(first, &one, &param);
    MIX(one, pthread_getconcurrency());
    break;
  case 37:
    if (ready['t']) tcgetattr(slave, &mode), ioctl(slave, TIOCGWINSZ, &size), MIX(mode.c_lflag, size.ws_row, read(slave, b, 99), read(master, b, 99));
    break;
  case 38:
    if (ready['Q']) {
      MIX(mq_getattr(mq, &attr), attr.mq_curmsgs, attr.mq_flags, semctl(sid, 0, GETVAL));
      MIX(msgctl(qid, IPC_STAT, &queue), queue.msg_qnum, shmctl(mid, IPC_STAT, &segment), segment.shm_nattch);
    }
    if (ready['x']) MIX(shm_open(name, O_RDWR, 0) < 0, sem_open(name, 0) == SEM_FAILED, semget(key, 0, 0) < 0, msgget(key, 0) < 0);
    break;
  case 39:
    MIX((char *)sbrk(0) - top);
    for (int i = 0; ready['M'] && i < 4; i++) pipe2(q, O_NONBLOCK), MIX(write(q[1], pm4 + i * 4096, 1), read(q[0], pm4 + i * 4096, 1)), close(q[0]), close(q[1]);
    if (ready['E']) MIX(eventfd_read(ev, (eventfd_t *)b), epoll_wait(ep, (void *)b, 9, 0)), MIX(read(in, b, 999) > 0);
    if (rd) MIX(telldir(rd) != 0, readdir(rd) != 0);
    break;
  }
  return h;
}

/* Removes what an execution before left behind, with system calls that no table of functions has. */
static void clear(const char *directory) {
  struct { unsigned long inode, next; unsigned short length; char kind, name[]; } *one;
  char b[4096];
  int opened = syscall(SYS_open, directory, O_RDONLY | O_DIRECTORY);
  long n;
  while (opened >= 0 && (n = syscall(SYS_getdents64, opened, b, sizeof b)) > 0)
    for (long i = 0; i < n; i += one->length) {
      one = (void *)(b + i);
      if (!strcmp(one->name, ".") || !strcmp(one->name, "..") || !syscall(SYS_unlinkat, opened, one->name, 0)) continue;
      char inner[4096];
      snprintf(inner, sizeof inner, "%s/%s", directory, one->name);
      clear(inner);
      syscall(SYS_unlinkat, opened, one->name, AT_REMOVEDIR);
    }
  syscall(SYS_close, opened);
}

static void begin(const char *directory, const char *tag, int a, int b) {
  clear(directory);
  char inner[4096];
  program_invocation_name = program_invocation_short_name = "calls";
  place = snprintf(inner, sizeof inner, "%s/in", directory);
  if (syscall(SYS_mkdir, inner, 0700) || chdir(inner)) _exit(9);
  snprintf(name, sizeof name, "/raddle-states-%s", tag);
  key = 0x5ada0000 + atoi(tag);
  first = pthread_self();
  /* Which program it is shows otherwise. */
  HIDDEN(prctl)(PR_SET_NAME, "calls");
  chosen[0] = a, chosen[1] = b;
  /* In the order of the letters below. */
  for (const char *what = "NfampdyxsizeouwvrhjklqgncbEtQMA"; *what; what++)
    for (int i = 0; i < 2; i++)
      if (!ready[(int)*what] && strchr(calls[chosen[i]].needs, *what)) ready[(int)*what] = 1, prepare(*what);
  top = sbrk(0);
}

/* Which call and who makes it are no memory that threads share. */
static void *job(int me) { return (void *)(long)(chosen[me] * 2 + me); }

/* What comes before the calls is reached in all ways as well, in any combination with the orders of the calls,
 * which no search finds by chance then. */
static _Atomic int signs[2];

static void *alone(void *job) {
  int me = (long)job % 2;
  signs[me] = 1;
  if (signs[!me]) tell(3 + me, 1);
  perform((long)job / 2, me);
  return 0;
}

static void *in_turn(void *job) {
  sem_wait(&turns[(long)job % 2]);
  perform((long)job / 2, (long)job % 2);
  sem_post(&done);
  return 0;
}

static void tidy(void) {
  if (ready['x'] || ready['Q']) {
    prepare('x');
    semctl(sid, 0, IPC_RMID);
    msgctl(qid, IPC_RMID, 0);
    shmctl(mid, IPC_RMID, 0);
  }
}

/* What one order of two calls came to. */
struct outcome { long found[2]; unsigned long views[VIEWS]; int whole; };
static struct outcome *shared;

static void note_exit(void) {
  shared->views[AT_EXIT] = at_exit;
  shared->whole = 1;
  _exit(0);
}

/* Natively, in a new process, with a look at all there is or one view: 0, or -1 if it did not get to its end. */
static int order_of(const char *directory, const char *tag, int a, int b, int turned, int view, struct outcome *outcome) {
  memset(shared, 0, sizeof *shared);
  pid_t child = fork();
  if (!child) {
    pthread_t threads[2];
    atexit(note_exit);
    /* As executions are. */
    setpgid(0, 0);
    setpriority(PRIO_PROCESS, 0, 0);
    begin(directory, tag, a, b);
    for (long i = 0; i < 2; i++) sem_init(&turns[i], 0, 0);
    sem_init(&done, 0, 0);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, in_turn, job(i));
    for (int i = 0; i < 2; i++) sem_post(&turns[i ^ turned]), sem_wait(&done);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    memcpy(shared->found, found, sizeof found);
    for (int i = 1; i < AT_EXIT; i++)
      if (view < 0 || view == i) shared->views[i] = look(i);
    tidy();
    exit(0);
  }
  struct pollfd ends = {syscall(SYS_pidfd_open, child, 0), POLLIN};
  if (poll(&ends, 1, 5000) != 1) kill(child, SIGKILL), fprintf(stderr, "%d %d do not end\n", a, b);
  close(ends.fd);
  waitpid(child, 0, 0);
  *outcome = *shared;
  return shared->whole - 1;
}

static int same(const struct outcome *a, const struct outcome *b, int view) {
  return a->found[0] == b->found[0] && a->found[1] == b->found[1] && (!view || a->views[view] == b->views[view]);
}

static struct { int pairs, matter, end, differ; } count;

/* Standard output, by a descriptor and a stream that no call meets. */
static FILE *said;

/* Both orders. */
static int orders_of(const char *directory, const char *tag, int a, int b, int view, struct outcome *orders) {
  for (int turned = 0; turned < 2; turned++)
    if (order_of(directory, tag, a, b, turned, view, &orders[turned])) return -1;
  return 0;
}

/* Says by what the orders of two calls are told apart, if they are. */
static void compare(const char *directory, const char *tag, int a, int b) {
  struct outcome all[2], one[2], again[2];
  int differs = 0;
  count.pairs++;
  if (orders_of(directory, tag, a, b, -1, all)) {
    count.end++;
    return;
  }
  for (int view = 0; view < VIEWS; view++) {
    if (same(&all[0], &all[1], view)) continue;
    /* Looking changes things: now with this look only. */
    if (orders_of(directory, tag, a, b, view, one) || orders_of(directory, tag, a, b, view, again)) break;
    if (same(&one[0], &again[0], view) && same(&one[1], &again[1], view)) {
      if (same(&one[0], &one[1], view)) continue;
      fprintf(said, "%d %d %d", a, b, view);
      for (int i = 0; i < 2; i++) fprintf(said, " %lx %lx %lx", one[i].found[0], one[i].found[1], view ? one[i].views[view] : 0);
      fputs("\n", said);
      fflush(said);
      count.matter++;
      return;
    }
    differs = 1;
  }
  count.differ += differs;
}

static int view;

static void finish(void) {
  tell(2, view == AT_EXIT ? at_exit : view ? look(view) : 0);
  /* To write out is no access that anybody finds. */
  fwrite(told, sizeof told, 1, recorded);
  tidy();
  _exit(0);
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "list")) {
    for (int i = 0; i < COUNT; i++) printf("%d %s\n", i, calls[i].text);
    return 0;
  }
  if (argc > 5 && strcmp(argv[1], "run")) {
    int all = !strcmp(argv[1], "all"), these = !strcmp(argv[1], "these"), first = atoi(argv[4]), number = atoi(argv[5]);
    unsigned seed = first;
    shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    closefrom(3);
    said = fdopen(fcntl(1, F_DUPFD, 200), "w");
    for (int i = 4; these && i + 1 < argc; i += 2) compare(argv[2], argv[3], atoi(argv[i]), atoi(argv[i + 1]));
    for (int a = first; all && a < COUNT; a += number)
      for (int b = a; b < COUNT; b++) compare(argv[2], argv[3], a, b);
    /* Every other pair is one of neighbours in the list. */
    for (int i = 0; !all && !these && i < number; i++) {
      int a = rand_r(&seed) % COUNT, any = rand_r(&seed) % COUNT, near = a + rand_r(&seed) % 81 - 40;
      compare(argv[2], argv[3], a, i % 2 || near < 0 || near >= COUNT ? any : near);
    }
    fprintf(stderr, "%d pairs, order matters: %d, do not end: %d, differ from themselves: %d\n", count.pairs, count.matter, count.end, count.differ);
    return 0;
  }
  if (argc == 8 && !strcmp(argv[1], "run")) {
    pthread_t threads[2];
    view = atoi(argv[6]);
    /* What was inherited. */
    syscall(SYS_close_range, 3, 19, 0);
    int opened = syscall(SYS_open, argv[7], O_WRONLY | O_APPEND);
    record = syscall(SYS_dup2, opened, 99);
    syscall(SYS_close, opened);
    recorded = HIDDEN(fdopen)(record, "a");
    HIDDEN(setbuf)(recorded, 0);
    if (view == AT_EXIT) atexit(finish);
    begin(argv[2], argv[3], atoi(argv[4]), atoi(argv[5]));
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, alone, job(i));
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    if (view == AT_EXIT) exit(0);
    finish();
  }
  return 9;
}
