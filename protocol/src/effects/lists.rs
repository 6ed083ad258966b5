//! Functions without a row.

use crate::library::Output;

/// What is known of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// It has a row.
    Row,
    /// It does nothing to memory of the program: what its arguments lead to is the library's own.
    Nothing,
    /// What it does is told of in another way.
    Otherwise,
    /// It does more than a row can say.
    Unknown,
}

const NOTHING: &str = "
    fclose fflush fflush_unlocked feof feof_unlocked ferror ferror_unlocked clearerr clearerr_unlocked
    fgetc fgetc_unlocked getc getc_unlocked _IO_getc getchar getchar_unlocked fgetwc fgetwc_unlocked
    getwc getwc_unlocked getwchar getw fputc fputc_unlocked putc putc_unlocked _IO_putc fputwc
    fputwc_unlocked putwc putwc_unlocked putw ungetc ungetwc fileno fileno_unlocked fseek fseeko
    fseeko64 ftell ftello ftello64 rewind flockfile ftrylockfile funlockfile fwide pclose setlinebuf
    __overflow __uflow __underflow closedir dirfd rewinddir seekdir telldir dlclose iconv_close
    catclose duplocale freelocale uselocale nl_langinfo_l strerror_l
    isalnum_l isalpha_l isblank_l iscntrl_l isdigit_l isgraph_l islower_l isprint_l ispunct_l isspace_l
    isupper_l isxdigit_l iswalnum_l iswalpha_l iswblank_l iswcntrl_l iswctype_l iswdigit_l iswgraph_l
    iswlower_l iswprint_l iswpunct_l iswspace_l iswupper_l iswxdigit_l tolower_l toupper_l __tolower_l
    __toupper_l towctrans towctrans_l towlower_l towupper_l timer_delete
    timer_getoverrun bsearch catgets strerror __ctype_b_loc __ctype_tolower_loc
    __ctype_toupper_loc __errno_location __h_errno_location __sched_cpualloc __sched_cpufree
    __assert __assert_fail __assert_perror_fail pthread_exit thrd_exit pthread_setspecific tss_set
    pthread_getspecific tss_get _dl_find_object _dl_mcount_wrapper_check dlerror gai_strerror
    hstrerror sigabbrev_np sigdescr_np strerrordesc_np strerrorname_np towlower towupper
    mlock mlock2 munlock madvise posix_madvise mprotect pkey_mprotect msync signal sigset ssignal
    sysv_signal __sysv_signal bsd_signal
    setbuf setbuffer setvbuf initstate setstate";

const OTHERWISE: &str = "
    memcpy memmove memset __memcpy_chk __memmove_chk __memset_chk malloc calloc free realloc
    reallocarray aligned_alloc memalign valloc pvalloc malloc_usable_size cfree freeaddrinfo
    if_freenameindex mmap mmap64 munmap mremap brk sbrk shmat shmdt remap_file_pages
    atexit at_quick_exit on_exit call_once pthread_once pthread_atfork exit _exit _Exit quick_exit abort
    pthread_mutex_lock pthread_mutex_trylock pthread_mutex_unlock pthread_mutex_destroy
    pthread_mutex_consistent pthread_mutex_consistent_np pthread_cond_wait pthread_cond_signal
    pthread_cond_broadcast pthread_cond_destroy pthread_rwlock_rdlock pthread_rwlock_tryrdlock
    pthread_rwlock_wrlock pthread_rwlock_trywrlock pthread_rwlock_unlock pthread_rwlock_destroy
    pthread_barrier_wait pthread_barrier_destroy pthread_spin_init pthread_spin_destroy
    pthread_spin_lock pthread_spin_trylock pthread_spin_unlock sem_init sem_destroy sem_wait
    sem_trywait sem_post sem_close mtx_init mtx_lock mtx_trylock mtx_unlock mtx_destroy cnd_init
    cnd_wait cnd_signal cnd_broadcast cnd_destroy
    __pthread_register_cancel __pthread_register_cancel_defer __pthread_unregister_cancel
    __pthread_unregister_cancel_restore __pthread_unwind_next
    atomic_flag_clear atomic_flag_clear_explicit atomic_flag_test_and_set
    atomic_flag_test_and_set_explicit
    clone execl execle execlp execv execve execveat execvp execvpe fexecve posix_spawn posix_spawnp
    fork vfork syscall fcntl fcntl64 ioctl msgctl semctl shmctl";

const UNKNOWN: &str = "
    fmemopen fopencookie open_memstream open_wmemstream
    aio_cancel aio_cancel64 aio_error aio_error64 aio_fsync aio_fsync64 aio_init aio_read aio_read64
    aio_return aio_return64 aio_suspend aio_suspend64 aio_write aio_write64 lio_listio lio_listio64
    initstate_r setstate_r srandom_r random_r
    hcreate_r hdestroy_r hsearch hsearch_r lsearch insque remque tdestroy twalk twalk_r
    getdate getdate_r dlinfo profil sigreturn clock_adjtime
    fgetgrent fgetgrent_r fgetpwent fgetpwent_r getgrnam getgrgid getgrent getpwnam getpwuid getpwent
    getpw putgrent putpwent getutmp getutmpx getutxent getutxid getutxline pututxline updwtmpx
    gethostbyaddr gethostbyaddr_r gethostbyname gethostbyname2 gethostbyname2_r gethostbyname_r
    gethostent gethostent_r getnetbyaddr getnetbyaddr_r getnetbyname getnetbyname_r getnetent
    getnetent_r getnetgrent getnetgrent_r getprotobyname getprotobyname_r getprotobynumber
    getprotobynumber_r getprotoent getprotoent_r getrpcbyname getrpcbyname_r getrpcbynumber
    getrpcbynumber_r getrpcent getrpcent_r getservbyname getservbyname_r getservbyport
    getservbyport_r getservent getservent_r if_nameindex innetgr
    gai_cancel gai_error gai_suspend getaddrinfo_a bindresvport bindresvport6
    getipv4sourcefilter getsourcefilter setipv4sourcefilter setsourcefilter
    inet6_opt_append inet6_opt_find inet6_opt_finish inet6_opt_get_val inet6_opt_init inet6_opt_next
    inet6_opt_set_val inet6_option_alloc inet6_option_append inet6_option_find inet6_option_init
    inet6_option_next inet6_rth_add inet6_rth_getaddr inet6_rth_init inet6_rth_reverse
    inet6_rth_segments inet_net_ntop inet_net_pton inet_neta inet_nsap_addr inet_nsap_ntoa
    iruserok iruserok_af rcmd rcmd_af rexec rexec_af rresvport rresvport_af ruserok ruserok_af
    process_madvise getdirentries getdirentries64
    obstack_printf obstack_vprintf re_compile_fastmap re_compile_pattern re_match re_match_2 re_search
    re_search_2 re_set_registers crypt localeconv
    canonicalizef64x modff64x sincosf64x getpayloadf64x setpayloadf64x setpayloadsigf64x
    totalorderf64x totalordermagf64x";

impl Known {
    /// What is known of the function with this name; `None`: it is in no list, and has no row.
    pub fn of(name: &str) -> Option<Known> {
        let is_in = |list: &str| list.split_ascii_whitespace().any(|one| one == name);
        if super::find(name).is_some() {
            return Some(Known::Row);
        }
        if is_in(NOTHING) || Output::find(name).is_some() {
            return Some(Known::Nothing);
        }
        if is_in(OTHERWISE) {
            return Some(Known::Otherwise);
        }
        is_in(UNKNOWN).then_some(Known::Unknown)
    }

    /// All the lists.
    #[cfg(test)]
    pub(super) const fn lists() -> [&'static str; 3] {
        [NOTHING, OTHERWISE, UNKNOWN]
    }
}
