/* Calls that look at what the C library or the kernel keeps, or change it: what each needs (letters of
 * `prepare` in calls.c), and what it does. R is its result. */
#define NUMBERS(X) \
  X("f", R = close(f)) X("f", R = close(dir)) X("f", R = close(fc)) X("f", R = close(g)) X("f", R = dup(f)) \
  X("f", R = dup(g)) X("f", R = dup2(g, f)) X("f", R = dup2(f, g)) X("f", R = dup3(g, f2, O_CLOEXEC)) \
  X("f", R = dup2(f, 30)) X("f", R = fcntl(f, F_DUPFD, 0)) X("f", R = fcntl(g, F_DUPFD_CLOEXEC, 0)) \
  X("f", R = open("g", O_RDONLY)) X("f", R = open("f", O_RDWR | O_TRUNC)) X("f", R = open("f", O_WRONLY | O_APPEND)) \
  X("f", R = openat(AT_FDCWD, "h", O_CREAT | O_WRONLY, 0600)) X("f", R = open("h", O_CREAT | O_EXCL | O_RDWR, 0640)) \
  X("f", R = openat(dir, "g", O_PATH)) X("f", R = creat("g", 0600)) X("f", R = creat("h", 0600)) \
  X("f", R = open(".", O_TMPFILE | O_RDWR, 0600)) X("", R = open("/dev/null", O_RDWR)) \
  X("", R = pipe(two); R = R ? R : two[0] * 100 + two[1]) X("", R = pipe2(two, O_CLOEXEC); R = R ? R : two[0] * 100 + two[1]) \
  X("", R = socket(AF_UNIX, SOCK_DGRAM, 0)) X("", R = socketpair(AF_UNIX, SOCK_STREAM, 0, two); R = R ? R : two[0]) \
  X("", R = eventfd(0, EFD_NONBLOCK)) X("", R = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK)) \
  X("", sigemptyset(&set); R = signalfd(-1, &set, SFD_NONBLOCK)) X("", R = inotify_init()) X("", R = inotify_init1(IN_NONBLOCK)) \
  X("", R = epoll_create(1)) X("", R = epoll_create1(0)) X("", R = memfd_create("m", 0)) \
  X("f", DIR *d = opendir("d"); R = d ? dirfd(d) : -1) X("f", FILE *x = fopen("g", "r"); R = x ? fileno(x) : -1) \
  X("f", FILE *x = fopen("h", "w"); R = x ? fileno(x) : -1) X("f", FILE *x = fopen("g", "a"); R = x ? fileno(x) : -1) \
  X("", FILE *x = tmpfile(); R = x ? fileno(x) : -1) X("f", strcpy(b, "tXXXXXX"); R = mkstemp(b)) \
  X("f", strcpy(b, "tXXXXXX"); R = mkostemp(b, O_APPEND)) X("", R = posix_openpt(O_RDWR | O_NOCTTY)) \
  X("f", FILE *x = fdopen(g, "r"); R = x ? fileno(x) : -1) X("f", DIR *d = fdopendir(dir); R = d ? dirfd(d) : -1) \
  X("f", R = close_range(f2, f2, 0)) X("", R = close_range(30, 40, 0)) X("f", R = fcntl(f, F_GETFD)) \
  X("f", R = fcntl(f2, F_GETFD)) X("f", R = fcntl(f, F_SETFD, FD_CLOEXEC)) X("f", R = ioctl(f, FIOCLEX)) \
  X("f", R = ioctl(f2, FIOCLEX)) X("", R = fcntl(3, F_GETFD)) X("", R = fcntl(4, F_GETFD)) X("f", R = fcntl(f, F_GETFL)) \
  X("f", R = fcntl(fc, F_GETFL)) X("f", R = fcntl(f2, F_GETFL)) X("f", R = fcntl(f, F_SETFL, O_APPEND)) \
  X("f", R = fcntl(fc, F_SETFL, O_NONBLOCK)) X("f", R = ioctl(f, FIONBIO, (one = 1, &one))) \
  X("f", R = fcntl(f, F_GETOWN) != 0) X("f", R = fcntl(f, F_SETOWN, getpid())) X("f", R = fcntl(f, F_GETSIG)) \
  X("f", R = fcntl(fc, F_SETSIG, SIGUSR1)) X("f", R = fcntl(f, F_GETLEASE)) X("f", R = fcntl(f, F_SETLEASE, F_WRLCK)) \
  X("f", struct f_owner_ex o = {F_OWNER_PID, getpid()}; R = fcntl(f, F_SETOWN_EX, &o)) \
  X("f", struct f_owner_ex o = {-1, 0}; R = fcntl(fc, F_GETOWN_EX, &o); R = R ? R : o.pid != 0) \
  X("p", R = fcntl(p[0], F_GETPIPE_SZ)) X("p", R = fcntl(p[1], F_SETPIPE_SZ, 8192)) X("m", R = fcntl(m, F_GET_SEALS)) \
  X("m", R = fcntl(m, F_ADD_SEALS, F_SEAL_GROW)) X("m", R = fcntl(m, F_ADD_SEALS, F_SEAL_SEAL)) \
  X("m", R = ftruncate(m, 9000)) X("m", R = ftruncate(m, 0)) X("m", R = pwrite(m, "z", 1, 8000)) \
  X("f", struct flock l = {F_WRLCK}; R = fcntl(f, F_OFD_SETLK, &l)) X("f", struct flock l = {F_WRLCK}; R = fcntl(f2, F_OFD_SETLK, &l)) \
  X("f", struct flock l = {F_UNLCK}; R = fcntl(fc, F_OFD_SETLK, &l)) X("f", struct flock l = {F_RDLCK}; R = fcntl(f, F_OFD_GETLK, &l); R = R ? R : l.l_type) \
  X("f", struct flock l = {F_WRLCK}; R = fcntl(f, F_SETLK, &l)) X("f", struct flock l = {F_WRLCK}; R = fcntl(f2, F_OFD_GETLK, &l); R = R ? R : l.l_type) \
  X("f", R = flock(f, LOCK_EX | LOCK_NB)) X("f", R = flock(f2, LOCK_EX | LOCK_NB)) X("f", R = flock(fc, LOCK_UN)) \
  X("f", R = flock(f2, LOCK_SH | LOCK_NB)) X("f", R = lockf(f, F_TLOCK, 5)) X("f", R = isatty(f)) X("t", R = isatty(slave))

#define FILES(X) \
  X("f", R = read(f, b, 2); R = H(b, 2)) X("f", R = read(fc, b, 3); R = H(b, 3)) X("f", R = read(f2, b, 4); R = H(b, 4)) \
  X("f", R = write(f, "12", 2)) X("f", R = write(f2, "345", 3)) X("f", R = lseek(f, 0, SEEK_CUR)) \
  X("f", R = lseek(fc, 5, SEEK_SET)) X("f", R = lseek(fc, 2, SEEK_CUR)) X("f", R = lseek(f, 0, SEEK_END)) X("f", R = lseek(f2, 0, SEEK_CUR)) \
  X("f", R = lseek(f, 0, SEEK_HOLE)) X("f", R = lseek(f, 1, SEEK_DATA)) X("f", R = pread(f, b, 4, 0); R = H(b, 4)) \
  X("f", R = pread(f2, b, 30, 0); R = H(b, 30)) X("f", R = pwrite(f2, "678", 3, 1)) X("f", R = pwrite(f, "9", 1, 40)) \
  X("f", struct iovec v[] = {{b, 2}, {b + 9, 2}}; R = readv(f, v, 2); R = H(b, 12)) \
  X("f", struct iovec v[] = {{"ab", 2}, {"cd", 2}}; R = writev(f, v, 2)) \
  X("f", struct iovec v = {b, 4}; R = preadv(f, &v, 1, 1); R = H(b, 4)) X("f", struct iovec v = {"xyz", 3}; R = pwritev(f2, &v, 1, 2)) \
  X("f", struct iovec v = {b, 4}; R = preadv2(f, &v, 1, -1, 0); R = H(b, 4)) X("f", struct iovec v = {"uv", 2}; R = pwritev2(fc, &v, 1, -1, 0)) \
  X("f", struct iovec v = {"uv", 2}; R = pwritev2(f2, &v, 1, 0, RWF_APPEND)) X("f", R = sendfile(g, f, 0, 5)) \
  X("f", off_t o = 3; R = sendfile(g, f2, &o, 5)) X("f", R = copy_file_range(f, 0, g, 0, 5, 0)) \
  X("f", off_t o = 0; R = copy_file_range(g, &o, f2, 0, 5, 0)) X("pf", R = splice(f, 0, p[1], 0, 3, SPLICE_F_NONBLOCK)) \
  X("pf", R = splice(p[0], 0, g, 0, 2, SPLICE_F_NONBLOCK)) X("f", R = read(g, b, 3); R = H(b, 3)) X("f", R = write(g, "!", 1)) \
  X("f", R = lseek(g, 0, SEEK_CUR)) X("f", R = pread(g, b, 20, 0); R = H(b, 20)) X("f", R = ftruncate(f2, 3)) \
  X("f", R = truncate("f", 7)) X("f", R = truncate("g", 0)) X("f", R = fallocate(f, 0, 0, 50)) X("f", R = fallocate(f, FALLOC_FL_KEEP_SIZE, 0, 9999)) \
  X("f", R = posix_fallocate(f2, 0, 60)) X("f", R = fallocate(f, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4)) \
  X("f", R = fsync(f)) X("f", R = fdatasync(g)) X("f", fstat(f, &st); R = st.st_size) X("f", R = fstat(fc, &st); R = R ? R : st.st_mode) \
  X("f", stat("f", &st); R = st.st_size * 100000 + st.st_mode) X("f", lstat("f", &st); R = st.st_mtime) X("f", R = stat("g", &st); R = R ? R : st.st_size) \
  X("f", R = stat("f", &st); R = R ? R : st.st_uid) X("f", R = fstat(f, &st); R = R ? R : st.st_atime == 7) X("f", R = stat("f", &st); R = R ? R : st.st_nlink) \
  X("f", R = fstatat(AT_FDCWD, "f", &st, 0); R = R ? R : st.st_size) X("f", R = statx(AT_FDCWD, "f", 0, STATX_SIZE, &sx); R = R ? R : sx.stx_size) \
  X("f", R = statx(f, "", AT_EMPTY_PATH, STATX_MODE, &sx); R = R ? R : sx.stx_mode) X("f", R = fstat(dir, &st); R = R ? R : st.st_nlink) \
  X("f", R = fchmod(f, 0640)) X("f", R = chmod("f", 0604)) X("f", R = fchmodat(AT_FDCWD, "g", 0644, 0)) X("f", R = fchown(f2, 1, 1)) \
  X("f", R = chown("f", 2, 2)) X("f", R = lchown("l", 3, 3)) X("f", R = fchownat(AT_FDCWD, "f", 4, -1, 0)) \
  X("f", struct timespec t[] = {{7, 0}, {8, 0}}; R = futimens(f, t)) X("f", struct timespec t[] = {{9, 0}, {10, 0}}; R = utimensat(AT_FDCWD, "f", t, 0)) \
  X("f", struct utimbuf t = {11, 12}; R = utime("f", &t)) X("f", struct timeval t[] = {{7, 0}, {14, 0}}; R = utimes("f", t)) \
  X("f", struct timeval t[] = {{7, 0}, {16, 0}}; R = futimes(f2, t)) X("f", struct timeval t[] = {{7, 0}, {18, 0}}; R = lutimes("f", t)) \
  X("f", struct timeval t[] = {{7, 0}, {20, 0}}; R = futimesat(AT_FDCWD, "f", t)) \
  X("f", R = fsetxattr(f, "user.a", "1", 1, 0)) X("f", R = setxattr("f", "user.a", "22", 2, XATTR_CREATE)) X("f", R = lsetxattr("g", "user.a", "22", 2, 0)) \
  X("f", R = fgetxattr(f, "user.a", b, 9)) X("f", R = getxattr("f", "user.a", b, 9)) X("f", R = lgetxattr("g", "user.a", b, 9)) \
  X("f", R = listxattr("f", b, 99)) X("f", R = flistxattr(f, b, 99)) X("f", R = llistxattr("f", b, 99)) \
  X("f", R = removexattr("f", "user.a")) X("f", R = fremovexattr(f2, "user.a")) X("f", R = lremovexattr("g", "user.a")) \
  X("f", R = posix_fadvise(f, 0, 0, POSIX_FADV_DONTNEED)) X("f", R = readahead(f, 0, 10)) X("f", R = sync_file_range(f, 0, 5, 0)) \
  X("fa", R = pm[0]) X("fa", pm[1] = '*') X("fa", R = msync((void *)pm, 4096, MS_SYNC)) X("f", one = -1; R = ioctl(f, FIONREAD, &one); R = one)

#define NAMES(X) \
  X("f", R = access("h", F_OK)) X("f", R = access("f", F_OK)) X("f", R = faccessat(dir, "h", F_OK, 0)) X("f", R = euidaccess("f", R_OK)) X("f", R = eaccess("d", X_OK)) \
  X("f", R = unlink("f")) X("f", R = unlink("h")) X("f", R = unlinkat(dir, "g", 0)) X("f", R = unlinkat(dir, "d", AT_REMOVEDIR)) \
  X("f", R = remove("g")) X("f", R = remove("d")) X("f", R = rmdir("d")) X("f", R = rename("f", "h")) X("f", R = rename("g", "f")) \
  X("f", R = renameat(dir, "g", dir, "h")) X("f", R = renameat2(dir, "f", dir, "g", RENAME_EXCHANGE)) X("f", R = renameat2(dir, "g", dir, "h", RENAME_NOREPLACE)) \
  X("f", R = link("f", "h")) X("f", R = linkat(dir, "g", dir, "k", 0)) X("f", R = symlink("g", "h")) X("f", R = symlinkat("d", dir, "k")) \
  X("f", R = mkdir("h", 0700)) X("f", R = mkdirat(dir, "k", 0755)) X("f", R = mkdir("d/e", 0777)) X("f", R = mknod("h", S_IFREG | 0600, 0)) \
  X("f", R = mknodat(dir, "k", S_IFREG | 0666, 0)) X("f", R = mkfifo("h", 0600)) X("f", R = mkfifoat(dir, "k", 0666)) \
  X("f", strcpy(b, "tXXXXXX"); R = Z(mkdtemp(b))) X("f", R = stat("h", &st); R = R ? R : st.st_mode) X("f", R = lstat("h", &st); R = R ? R : st.st_mode) \
  X("f", R = stat("l", &st); R = R ? R : st.st_size) X("f", R = readlink("l", b, 99)) X("f", R = readlink("h", b, 99)) X("f", R = readlinkat(dir, "k", b, 99)) \
  X("f", char *r = realpath("l", 0); R = r ? strlen(r) - place : -1) X("f", char *r = realpath("h", 0); R = r ? strlen(r) - place : -1) X("f", char *r = canonicalize_file_name("k"); R = r ? strlen(r) - place : -1) \
  X("f", DIR *d = opendir("h"); R = Z(d)) X("f", DIR *d = opendir("."); for (R = 0; d && readdir(d); R++); closedir(d)) \
  X("f", struct dirent **n; R = scandir(".", &n, 0, alphasort)) X("f", struct dirent **n; R = scandirat(dir, "d", &n, 0, 0)) \
  X("f", glob_t x; R = glob("[f-k]", 0, 0, &x); R = R ? -R : x.gl_pathc) X("f", wordexp_t x; R = wordexp("[f-k]", &x, 0); R = R ? -R : H(x.we_wordv[0], strlen(x.we_wordv[0])) + x.we_wordc) \
  X("f", ftw_count = 0; R = nftw(".", count_file, 4, 0); R = ftw_count) X("f", R = ftw("h", count_name, 4)) \
  X("f", char *a[] = {".", 0}; FTS *t = fts_open(a, FTS_PHYSICAL, 0); for (R = 0; fts_read(t); R++); fts_close(t)) \
  X("f", R = chdir("d")) X("f", R = chdir("..")) X("f", R = fchdir(dir)) X("f", R = chdir("h")) X("f", R = chroot("d")) \
  X("f", char *r = getcwd(b, 999); R = r ? strlen(r) - place : -1) X("f", char *r = get_current_dir_name(); R = r ? strlen(r) - place : -1) X("f", char *r = getwd(b); R = r ? strlen(r) - place : -1) \
  X("f", R = access("../f", F_OK)) X("f", R = access("d", F_OK)) X("f", R = access("/etc/passwd", R_OK)) X("f", R = pathconf("d", _PC_NAME_MAX)) X("f", R = fpathconf(f, _PC_NAME_MAX)) \
  X("f", struct statfs x; R = statfs("d", &x)) X("f", struct statvfs x; R = statvfs("h", &x)) X("f", struct statfs x; R = fstatfs(f2, &x)) \
  X("", R = umask(027)) X("", R = umask(077)) \
  X("d", errno = 0; struct dirent *e = readdir(rd); R = e ? e->d_name[0] * 1000 + strlen(e->d_name) : -7) X("d", rewinddir(rd)) X("d", R = telldir(rd) != 0) X("d", seekdir(rd, 0)) \
  X("d", errno = 0; struct dirent *e = readdir64(rd); R = e ? strlen(e->d_name) : -7) X("d", R = dirfd(rd)) X("d", R = lseek(dirfd(rd), 0, SEEK_SET)) \
  X("y", R = closedir(rd2)) X("y", R = fcntl(rd2fd, F_GETFD)) X("x", R = shm_open(name, O_CREAT | O_RDWR, 0600)) X("x", R = shm_open(name, O_RDWR, 0600)) \
  X("x", R = shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600)) X("x", R = shm_unlink(name)) X("x", R = Z(sem_open(name, O_CREAT, 0600, 1) != SEM_FAILED)) \
  X("x", R = Z(sem_open(name, 0) != SEM_FAILED)) X("x", R = Z(sem_open(name, O_CREAT | O_EXCL, 0600, 1) != SEM_FAILED)) X("x", R = sem_unlink(name)) \
  X("x", R = mq_open(name, O_CREAT | O_RDWR | O_NONBLOCK, 0600, 0) < 0 ? -1 : 0) X("x", R = mq_open(name, O_RDWR) < 0 ? -1 : 0) X("x", R = mq_unlink(name)) \
  X("x", R = semget(key, 1, IPC_CREAT | 0600) < 0 ? -1 : 0) X("x", R = semget(key, 1, IPC_CREAT | IPC_EXCL | 0600) < 0 ? -1 : 0) X("x", R = semget(key, 1, 0) < 0 ? -1 : 0) \
  X("x", R = msgget(key, IPC_CREAT | 0600) < 0 ? -1 : 0) X("x", R = msgget(key, 0) < 0 ? -1 : 0) X("x", R = msgctl(msgget(key, 0), IPC_RMID, 0)) \
  X("x", R = shmget(key, 4096, IPC_CREAT | 0600) < 0 ? -1 : 0) X("x", R = shmget(key, 4096, 0) < 0 ? -1 : 0) X("x", R = shmctl(shmget(key, 4096, 0), IPC_RMID, 0)) \
  X("x", R = semctl(semget(key, 1, 0), 0, IPC_RMID)) X("x", R = Z(ftok(".", 1) != -1))

#define STREAMS(X) \
  X("s", R = fgetc(s)) X("s", R = getc(s)) X("s", R = getc_unlocked(s)) X("s", R = fgetc_unlocked(s)) X("s", R = Z(fgets(b, 9, s)); R = R ? R : H(b, strlen(b))) \
  X("s", R = Z(fgets_unlocked(b, 9, s)); R = R ? R : b[0]) X("s", R = fread(b, 1, 3, s); R = H(b, 3)) X("s", R = fread_unlocked(b, 1, 2, s); R = H(b, 2)) X("s", R = fscanf(s, "%2s", b); R = R < 0 ? R : H(b, 2)) \
  X("s", char *l = 0; size_t n = 0; R = getline(&l, &n, s); R = R < 0 ? R : l[0]) X("s", char *l = 0; size_t n = 0; R = getdelim(&l, &n, 'c', s)) X("s", R = getw(s)) X("s", R = putw(5, s)) \
  X("s", R = fwide(s, -1) < 0 ? ungetc('+', s) : -1) X("s", R = fputc('A', s)) X("s", R = putc('B', s)) X("s", R = putc_unlocked('C', s)) X("s", R = fputc_unlocked('D', s)) X("s", R = fputs("EF", s)) X("s", R = fputs_unlocked("GH", s)) \
  X("s", R = fprintf(s, "%d", 77)) X("s", R = print(s, "%s", "I")) X("s", R = fwrite("JK", 1, 2, s)) X("s", R = fwrite_unlocked("LM", 1, 2, s)) X("s", R = fflush(s)) X("s", R = fflush(0)) X("s", R = fflush_unlocked(s)) \
  X("s", R = fseek(s, 3, SEEK_SET)) X("s", R = fseeko(s, 1, SEEK_CUR)) X("s", R = fseek(s, 0, SEEK_END)) X("s", R = ftell(s)) X("s", R = ftello(s)) X("s", rewind(s)) X("s", R = feof(s) != 0) X("s", R = ferror(s) != 0) \
  X("s", R = feof_unlocked(s) != 0) X("s", R = ferror_unlocked(s) != 0) X("s", clearerr(s)) X("s", clearerr_unlocked(s)) X("s", R = fwide(s, 0)) X("s", R = fwide(s, 1)) X("s", R = fwide(s, -1)) X("s", R = fgetwc(s)) X("s", R = getwc(s)) \
  X("s", R = fputwc(L'w', s)) X("s", R = putwc(L'v', s)) X("s", R = fwide(s, 1) > 0 ? ungetwc(L'-', s) : -1) X("s", wchar_t w[9]; R = Z(fgetws(w, 9, s))) X("s", R = fputws(L"xy", s)) X("s", R = fwprintf(s, L"%d", 6)) X("s", wchar_t w[9]; R = fwscanf(s, L"%2ls", w)) \
  X("s", R = setvbuf(s, 0, _IONBF, 0)) X("s", R = setvbuf(s, 0, _IOLBF, 0)) X("s", setlinebuf(s)) X("s", setbuf(s, 0)) X("s", setbuffer(s, 0, 0)) X("s", R = fileno(s)) X("s", R = fileno_unlocked(s)) \
  X("s", R = Z(freopen("g0", "r", s))) X("s", R = Z(freopen("/dev/null", "r+", s))) X("s", fpos_t o; R = fgetpos(s, &o)) X("s", R = fsetpos(s, &start)) X("s", R = ftrylockfile(s); if (!R) funlockfile(s)) X("s", R = __fbufsize(s)) X("s", R = __fpending(s)) \
  X("s", R = __freading(s) != 0) X("s", R = __fwriting(s) != 0) X("s", R = __flbf(s) != 0) X("s", __fpurge(s)) X("s", R = __fsetlocking(s, FSETLOCKING_QUERY)) X("s", R = __fsetlocking(s, FSETLOCKING_BYCALLER)) X("s", _flushlbf()) X("s", R = fcloseall()) \
  X("s", R = fgetc(t)) X("s", R = fputs("NO", t)) X("s", R = fflush(t)) X("s", R = fseek(t, 2, SEEK_SET)) X("s", R = ftell(t)) X("s", rewind(t)) X("s", R = fprintf(t, "p")) X("s", R = Z(fgets(b, 5, t)); R = R ? R : H(b, 4)) \
  X("s", R = read(fileno(s), b, 2); R = H(b, 2)) X("s", R = lseek(sfd, 0, SEEK_CUR)) X("s", R = lseek(sfd, 4, SEEK_SET)) X("s", R = write(sfd, "[]", 2)) X("s", R = close(sfd)) X("s", R = ftruncate(sfd, 2)) X("s", R = stat("s", &st); R = R ? R : st.st_size) \
  X("s", int o = open("s", O_RDONLY); R = read(o, b, 40); R = H(b, 40); close(o)) X("s", int o = open("s", O_WRONLY); R = write(o, "??", 2); close(o)) \
  X("z", R = fclose(z)) X("z", R = fcntl(zfd, F_GETFD)) X("z", R = read(zfd, b, 3); R = H(b, 3)) X("z", R = lseek(zfd, 0, SEEK_CUR)) X("z", R = stat("z", &st); R = R ? R : st.st_size) X("z", int o = open("z", O_RDONLY); R = read(o, b, 9); R = H(b, 9)) \
  X("e", R = fputs("st", ms)) X("e", R = fflush(ms)) X("e", R = ml) X("e", R = mp ? mp[0] : -1) X("e", R = ftell(ms)) X("e", R = fseek(ms, 0, SEEK_SET)) X("e", R = fputc('q', fm)) X("e", R = fgetc(fm)) X("e", rewind(fm)) X("e", R = fflush(fm)) X("e", R = fmbuf[0]) \
  X("e", R = fputc('k', ck)) X("e", R = fflush(ck)) X("e", R = cooked) \
  X("i", R = getchar()) X("i", R = getchar_unlocked()) X("i", R = scanf("%1s", b); R = R < 0 ? R : b[0]) X("i", R = ungetc('=', stdin)) X("i", R = Z(fgets(b, 4, stdin)); R = R ? R : b[0]) X("i", R = read(0, b, 2); R = H(b, 2)) X("i", R = feof(stdin) != 0) X("i", R = getwchar()) \
  X("i", R = fread(b, 1, 50, stdin)) X("i", wchar_t w[9]; R = wscanf(L"%1ls", w)) X("i", R = lseek(0, 0, SEEK_CUR)) X("i", R = Z(freopen("g0", "r", stdin))) X("i", R = fgetc(stdin)) X("i", R = fseek(stdin, 2, SEEK_SET)) X("i", R = ftell(stdin)) X("i", clearerr(stdin)) \
  X("o", R = puts("1")) X("o", R = putchar('2')) X("o", R = putchar_unlocked('3')) X("o", R = printf("4")) X("o", R = fputs("5", stdout)) X("o", R = fwrite("6", 1, 1, stdout)) X("o", R = fflush(stdout)) X("o", R = write(1, "7", 1)) X("o", R = lseek(1, 0, SEEK_CUR)) \
  X("o", R = stat("o", &st); R = R ? R : st.st_size) X("o", R = setvbuf(stdout, 0, _IONBF, 0)) X("o", R = ftell(stdout)) X("o", R = fwide(stdout, 0)) X("o", R = wprintf(L"8")) X("o", R = putwchar(L'9')) X("o", R = ferror(stdout) != 0) X("o", R = dprintf(1, "d")) \
  X("o", R = close(1)) X("o", R = __fpending(stdout)) X("o", R = fputs("e", stderr)) X("o", errno = EPERM; perror("p")) X("o", R = write(2, "w", 1)) X("o", R = fprintf(stderr, "f")) X("o", R = fwide(stderr, 0)) X("o", psignal(SIGUSR1, "s")) X("o", warnx("a")) X("o", error(0, 0, "b")) \
  X("o", R = error_message_count) X("o", R = Z(freopen("o2", "w", stdout))) X("o", R = lseek(2, 0, SEEK_END))
