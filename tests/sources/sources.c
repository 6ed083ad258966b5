/* One source of what may differ from execution to execution, by name: prints a hash of what it says; with a
   second argument, the exit status is made of it. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <time.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sched.h>
#include <dirent.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/mman.h>
#include <sys/auxv.h>
#include <sys/times.h>
#include <sys/time.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/uio.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <x86intrin.h>
static uint64_t h=14695981039346656037ull;
static void add(const void*p,size_t n){const unsigned char*c=p;while(n--)h=(h^*c++)*1099511628211ull;}
#define V(x) do{__typeof__(x) v_=(x);add(&v_,sizeof v_);}while(0)
static void file(const char*path,int lines){int d=open(path,O_RDONLY);char b[4096];ssize_t n;size_t all=0;while(d>=0&&(n=read(d,b,sizeof b))>0&&all<65536){add(b,n);all+=n;}V(d>=0);if(d>=0)close(d);}
static void rd(int d){unsigned char b[16]={0};ssize_t n=read(d,b,16);V(n);add(b,16);}
static void stream(FILE*f){unsigned char b[16]={0};V(fread(b,1,16,f));add(b,16);fclose(f);}
static void *thr(void*a){V(gettid());return 0;}
static const char*of_descriptor(int d){static char n[64];sprintf(n,"/proc/self/fd/%d",d);return n;}
typedef int (*vg)(clockid_t,struct timespec*);
#include <elf.h>
#include <link.h>
static void*vdso(const char*name){char*b=(char*)getauxval(AT_SYSINFO_EHDR);if(!b)return 0;ElfW(Ehdr)*e=(void*)b;ElfW(Phdr)*p=(void*)(b+e->e_phoff);ElfW(Dyn)*dy=0;char*base=0;for(int i=0;i<e->e_phnum;i++){if(p[i].p_type==PT_LOAD&&!base)base=b+p[i].p_offset-p[i].p_vaddr;if(p[i].p_type==PT_DYNAMIC)dy=(void*)(b+p[i].p_offset);}
 ElfW(Sym)*sy=0;char*st=0;ElfW(Word)*ha=0;for(;dy->d_tag;dy++){if(dy->d_tag==DT_SYMTAB)sy=(void*)(base+dy->d_un.d_ptr);if(dy->d_tag==DT_STRTAB)st=base+dy->d_un.d_ptr;if(dy->d_tag==DT_HASH)ha=(void*)(base+dy->d_un.d_ptr);}
 for(unsigned i=0;ha&&i<ha[1];i++)if(!strcmp(st+sy[i].st_name,name))return base+sy[i].st_value;return 0;}
int main(int c,char**v){ const char*k=v[1];
#define K(n) else if(!strcmp(k,#n))
 if(0);
 K(urandom_open){int d=open("/dev/urandom",O_RDONLY);rd(d);}
 K(random_open){int d=open("/dev/random",O_RDONLY);rd(d);}
 K(urandom_openat){int d=openat(AT_FDCWD,"/dev/urandom",O_RDONLY);rd(d);}
 K(urandom_open64){int d=open64("/dev/urandom",O_RDONLY);rd(d);}
 K(urandom_syscall){int d=syscall(SYS_openat,AT_FDCWD,"/dev/urandom",O_RDONLY,0);unsigned char b[16];V(syscall(SYS_read,d,b,16));add(b,16);}
 K(urandom_pread){int d=open("/dev/urandom",O_RDONLY);unsigned char b[16];V(pread(d,b,16,0));add(b,16);}
 K(urandom_readv){int d=open("/dev/urandom",O_RDONLY);unsigned char b[16];struct iovec i[2]={{b,5},{b+5,11}};V(readv(d,i,2));add(b,16);}
 K(urandom_dup){int d=dup(open("/dev/urandom",O_RDONLY));rd(d);}
 K(urandom_relative){chdir("/dev");int d=open("urandom",O_RDONLY);rd(d);}
 K(urandom_fopen){stream(fopen("/dev/urandom","r"));}
 K(urandom_fopen64){stream(fopen64("/dev/urandom","rb"));}
 K(urandom_fdopen){stream(fdopen(open("/dev/urandom",O_RDONLY),"r"));}
 K(urandom_freopen){stream(freopen("/dev/urandom","r",stdin));}
 K(urandom_fgetc){FILE*f=fopen("/dev/urandom","r");setvbuf(f,0,_IONBF,0);for(int i=0;i<8;i++)V(fgetc(f));}
 K(random_fopen){stream(fopen("/dev/random","r"));}
 K(getrandom){unsigned y;getrandom(&y,4,0);V(y);}
 K(getrandom_syscall){unsigned y;syscall(SYS_getrandom,&y,4,0);V(y);}
 K(getentropy){unsigned y;getentropy(&y,4);V(y);}
 K(arc4random){V(arc4random());}
 K(at_random){add((void*)getauxval(AT_RANDOM),16);}
 K(auxv_proc){file("/proc/self/auxv",0);}
 K(auxv_vdso){V(getauxval(AT_SYSINFO_EHDR));}
 K(auxv_execfn){V(getauxval(AT_EXECFN));}
 K(canary){uint64_t x;__asm__("mov %%fs:0x28,%0":"=r"(x));V(x);}
 K(getpid){V(getpid());}
 K(getpid_syscall){V(syscall(SYS_getpid));}
 K(getppid){V(getppid());}
 K(getppid_syscall){V(syscall(SYS_getppid));}
 K(gettid){V(gettid());}
 K(gettid_thread){pthread_t t;pthread_create(&t,0,thr,0);pthread_join(t,0);}
 K(getpgrp){V(getpgrp());}
 K(getpgid){V(getpgid(0));}
 K(getsid){V(getsid(0));}
 K(rdtsc){V(__rdtsc());}
 K(rdtscp){unsigned a;V(__rdtscp(&a));V(a);}
#ifdef DRAWS
 K(rdrand){unsigned x;__asm__ volatile("1: rdrand %0; jnc 1b":"=r"(x));V(x);}
 K(rdrand_once){unsigned long x;__asm__ volatile("rdrand %0":"=r"(x));V(x);}
 K(rdrand_short){unsigned short x;__asm__ volatile("rdrand %0":"=r"(x));V(x);}
 K(rdseed){unsigned x;__asm__ volatile("1: rdseed %0; jnc 1b":"=r"(x));V(x);}
#endif
 K(mmap_addr){V(mmap(0,123456,PROT_READ,MAP_PRIVATE|MAP_ANONYMOUS,-1,0));}
 K(brk){V(sbrk(0));V(sbrk(4096));}
 K(brk_syscall){V(syscall(SYS_brk,0));}
 K(stack){int x;V((uintptr_t)&x);}
 K(code){V((uintptr_t)&main);}
 K(lib){V((uintptr_t)&printf);}
 K(env){V((uintptr_t)getenv("PATH"));}
 K(malloc){V(malloc(10));V(malloc(1<<20));}
 K(errno_addr){V(&errno);}
 K(pthread_self){V(pthread_self());}
 K(vdso_clock){struct timespec t;vg g=(vg)vdso("__vdso_clock_gettime");if(g){g(CLOCK_REALTIME,&t);V(t.tv_sec);V(t.tv_nsec);g(CLOCK_MONOTONIC,&t);V(t.tv_nsec);}}
 K(vdso_time){time_t(*g)(time_t*)=vdso("__vdso_time");sleep(0);if(g)V(g(0));}
 K(vdso_getcpu){int(*g)(unsigned*,unsigned*,void*)=vdso("__vdso_getcpu");unsigned x=0;if(g){g(&x,0,0);V(x);}}
 K(clock_realtime){struct timespec t;clock_gettime(CLOCK_REALTIME,&t);V(t);}
 K(clock_monotonic){struct timespec t;clock_gettime(CLOCK_MONOTONIC,&t);V(t);}
 K(clock_boottime){struct timespec t;clock_gettime(CLOCK_BOOTTIME,&t);V(t);}
 K(clock_process){struct timespec t;clock_gettime(CLOCK_PROCESS_CPUTIME_ID,&t);V(t);}
 K(clock_thread){struct timespec t;clock_gettime(CLOCK_THREAD_CPUTIME_ID,&t);V(t);}
 K(clock_syscall){struct timespec t;syscall(SYS_clock_gettime,CLOCK_REALTIME,&t);V(t);}
 K(time){V(time(0));}
 K(time_syscall){V(syscall(SYS_time,0));}
 K(gettimeofday){struct timeval t;gettimeofday(&t,0);V(t);}
 K(timespec_get){struct timespec t;timespec_get(&t,TIME_UTC);V(t);}
 K(clock){V(clock());}
 K(times){struct tms t;V(times(&t));V(t);}
 K(times_syscall){struct tms t;V(syscall(SYS_times,&t));V(t);}
 K(getrusage){struct rusage r;for(volatile int i=0;i<3000000;i++);getrusage(RUSAGE_SELF,&r);V(r);}
 K(getrusage_thread){struct rusage r;for(volatile int i=0;i<3000000;i++);getrusage(RUSAGE_THREAD,&r);V(r);}
 K(getrusage_syscall){struct rusage r;for(volatile int i=0;i<3000000;i++);syscall(SYS_getrusage,RUSAGE_SELF,&r);V(r);}
 K(sysinfo){struct sysinfo s;sysinfo(&s);V(s);}
 K(sysinfo_syscall){struct sysinfo s;memset(&s,0,sizeof s);syscall(SYS_sysinfo,&s);V(s);}
 K(avphys){V(sysconf(_SC_AVPHYS_PAGES));V(get_avphys_pages());}
 K(nprocs){V(sysconf(_SC_NPROCESSORS_ONLN));V(get_nprocs());}
 K(getloadavg){double l[3];V(getloadavg(l,3));V(l[0]);V(l[1]);}
 K(sched_getcpu){for(int i=0;i<50;i++)V(sched_getcpu());}
 K(getcpu_syscall){unsigned a=0;for(int i=0;i<50;i++){syscall(SYS_getcpu,&a,0,0);V(a);}}
 K(affinity){cpu_set_t s;sched_getaffinity(0,sizeof s,&s);V(s);}
 K(hostname){char b[64]={0};gethostname(b,64);add(b,64);}
 K(hostid){V(gethostid());}
 K(uname){struct utsname u;memset(&u,0,sizeof u);uname(&u);V(u);}
 K(tmpnam){char b[L_tmpnam];tmpnam(b);add(b,strlen(b));}
 K(tempnam){char*b=tempnam("/tmp","x");add(b,strlen(b));}
 K(mktemp){char b[]="mktemp-XXXXXX";mktemp(b);add(b,strlen(b));}
 K(mkstemp){char b[]="mkstemp-XXXXXX";int d=mkstemp(b);add(b,strlen(b));unlink(b);V(d);}
 K(mkostemp){char b[]="mkostemp-XXXXXX";int d=mkostemp(b,0);add(b,strlen(b));unlink(b);V(d);}
 K(mkstemps){char b[]="mkstemps-XXXXXX.c";int d=mkstemps(b,2);add(b,strlen(b));unlink(b);V(d);}
 K(mkostemps){char b[]="mkostemps-XXXXXX.c";int d=mkostemps(b,2,0);add(b,strlen(b));unlink(b);V(d);}
 K(mkstemp64){char b[]="mkstemp64-XXXXXX";int d=mkstemp64(b);add(b,strlen(b));unlink(b);V(d);}
 K(mkdtemp){char b[]="mkdtemp-XXXXXX";mkdtemp(b);add(b,strlen(b));rmdir(b);}
 K(inode){char b[64];sprintf(b,"/tmp/src-%d",getpid());int d=open(b,O_CREAT|O_RDWR,0600);int e=open("/tmp/src2",O_CREAT|O_RDWR,0600);unlink(b);struct stat s;fstat(d,&s);V(s.st_ino);}
 K(inode_pipe){int p[2];pipe(p);struct stat s;fstat(p[0],&s);V(s.st_ino);}
 K(inode_memfd){int d=memfd_create("x",0);struct stat s;fstat(d,&s);V(s.st_ino);}
 K(mtime){FILE*f=tmpfile();fputc('x',f);fflush(f);struct stat s;fstat(fileno(f),&s);V(s.st_mtim);}
 K(atime_exe){struct stat s;stat("/proc/self/exe",&s);V(s.st_mtim);V(s.st_ino);}
 K(stat_dir){struct stat s;mkdir("own",0700);stat("own",&s);V(s.st_mtim);V(s.st_nlink);rmdir("own");}
 K(statx){FILE*f=tmpfile();fputc('x',f);fflush(f);struct statx s;memset(&s,0,sizeof s);statx(fileno(f),"",AT_EMPTY_PATH,STATX_BASIC_STATS,&s);V(s.stx_mtime.tv_nsec);}
 K(statfs){struct statfs s;statfs("/tmp",&s);V(s.f_bfree);}
 K(proc_stat){file("/proc/self/stat",0);}
 K(proc_status){file("/proc/self/status",0);}
 K(proc_maps){file("/proc/self/maps",0);}
 K(proc_cmdline){file("/proc/self/cmdline",0);}
 K(proc_uptime){file("/proc/uptime",0);}
 K(proc_loadavg){file("/proc/loadavg",0);}
 K(proc_meminfo){file("/proc/meminfo",0);}
 K(proc_interrupts){file("/proc/stat",0);}
 K(proc_uuid){file("/proc/sys/kernel/random/uuid",0);}
 K(proc_boot_id){file("/proc/sys/kernel/random/boot_id",0);}
 K(link_pipe){int p[2];char b[64]={0};pipe(p);V(readlink(of_descriptor(p[0]),b,63));add(b,64);}
 K(link_pipe_at){int p[2];char b[64]={0};pipe(p);V(readlinkat(AT_FDCWD,of_descriptor(p[0]),b,63));add(b,64);}
 K(link_pipe_syscall){int p[2];char b[64]={0};pipe(p);V(syscall(SYS_readlink,of_descriptor(p[0]),b,63));add(b,64);}
 K(link_socket){int p[2];char b[64]={0};socketpair(AF_UNIX,SOCK_STREAM,0,p);V(readlink(of_descriptor(p[0]),b,63));add(b,64);}
 K(proc_self_link){char b[64]={0};V(readlink("/proc/self",b,63));add(b,64);}
 K(proc_thread_self){char b[64]={0};V(readlink("/proc/thread-self",b,63));add(b,64);}
 K(proc_io){file("/proc/self/io",0);}
 K(proc_sched){file("/proc/self/schedstat",0);}
 K(proc_fopen){char b[200];FILE*f=fopen("/proc/self/stat","r");V(fgets(b,200,f)!=0);add(b,strlen(b));}
 K(proc_list){struct dirent**l;int n=scandir("/proc/",&l,0,0);for(int i=0;i<n;i++)add(l[i]->d_name,strlen(l[i]->d_name));}
 K(proc_list_fd){DIR*d=fdopendir(open("/proc",O_RDONLY|O_DIRECTORY));struct dirent*e;while((e=readdir(d)))add(e->d_name,strlen(e->d_name));closedir(d);}
 K(proc_task){DIR*d=opendir("/proc/self/task");struct dirent*e;while((e=readdir(d)))add(e->d_name,strlen(e->d_name));closedir(d);}
 K(open_fd){V(open("/dev/null",O_RDONLY));}
 K(mincore){unsigned char b[4];void*p=mmap(0,16384,3,MAP_PRIVATE|MAP_ANONYMOUS,-1,0);mincore(p,16384,b);add(b,4);}
 K(cputimes_clock){clockid_t id;pthread_getcpuclockid(pthread_self(),&id);struct timespec t;clock_gettime(id,&t);V(id);V(t);}
 K(clock_getcpuclockid){clockid_t id;clock_getcpuclockid(0,&id);struct timespec t;clock_gettime(id,&t);V(id);V(t);}
 K(clock_getcpuclockid_pid){clockid_t id;V(clock_getcpuclockid(getpid(),&id));struct timespec t;clock_gettime(id,&t);V(id);V(t);}
 K(adjtimex){struct timex;char b[512]={0};V(syscall(SYS_adjtimex,b));add(b,208);}
 else return 99;
 printf("%016llx\n", (unsigned long long)h); return c > 2 ? 1 + h % 100 : 0; }
