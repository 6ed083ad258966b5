//! What is known of functions of the C library that symbolic bodies call.
//!
//! Three kinds. A function in the table of [`Model`] is computed by the runtime, with expressions.
//! [`Output`] leaves the program, and what is written there decides nothing. The others are
//! performed as they are: if they can read symbolic bytes, that is recorded with their name
//! (`raddle_sym_foreign`), except for those that are [silent](is_silent).

mod memory;

use crate::hooks::Ty;
pub use memory::{OWN, Read, Stored, reads, rest, stores, stores_early};

macro_rules! models {
    ($($name:ident = [$($c:literal),*], $result:ident ($($param:ident),*) $($variadic:ident)?;)*) => {
        /// A function that the runtime computes in symbolic bodies. Its number is part of the
        /// format.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u16)]
        pub enum Model { $(#[doc = concat!($("`", $c, "` ",)*)] $name,)* }

        impl Model {
            /// Every model.
            pub const ALL: &'static [Model] = &[$(Model::$name,)*];

            /// Names in the C library.
            pub const fn names(self) -> &'static [&'static str] {
                match self { $(Model::$name => &[$($c),*],)* }
            }

            /// The type of its result.
            pub const fn result(self) -> Ty {
                match self { $(Model::$name => Ty::$result,)* }
            }

            /// The types of its named parameters.
            pub const fn params(self) -> &'static [Ty] {
                match self { $(Model::$name => &[$(Ty::$param),*],)* }
            }

            /// Does it take more arguments than it names?
            pub const fn is_variadic(self) -> bool {
                match self { $(Model::$name => models!(@is $($variadic)?),)* }
            }
        }
    };
    (@is) => { false };
    (@is variadic) => { true };
}

models! {
    Memcmp = ["memcmp", "bcmp"], I32 (Ptr, Ptr, I64);
    Memchr = ["memchr"], Ptr (Ptr, I32, I64);
    Memrchr = ["memrchr"], Ptr (Ptr, I32, I64);
    Rawmemchr = ["rawmemchr"], Ptr (Ptr, I32);
    Mempcpy = ["mempcpy"], Ptr (Ptr, Ptr, I64);
    Bzero = ["bzero", "explicit_bzero"], Void (Ptr, I64);
    Strlen = ["strlen"], I64 (Ptr);
    Strnlen = ["strnlen"], I64 (Ptr, I64);
    Strcmp = ["strcmp"], I32 (Ptr, Ptr);
    Strncmp = ["strncmp"], I32 (Ptr, Ptr, I64);
    Strcasecmp = ["strcasecmp"], I32 (Ptr, Ptr);
    Strncasecmp = ["strncasecmp"], I32 (Ptr, Ptr, I64);
    Strcpy = ["strcpy"], Ptr (Ptr, Ptr);
    Stpcpy = ["stpcpy"], Ptr (Ptr, Ptr);
    Strncpy = ["strncpy"], Ptr (Ptr, Ptr, I64);
    Strcat = ["strcat"], Ptr (Ptr, Ptr);
    Strncat = ["strncat"], Ptr (Ptr, Ptr, I64);
    Strchr = ["strchr", "index"], Ptr (Ptr, I32);
    Strrchr = ["strrchr", "rindex"], Ptr (Ptr, I32);
    Strchrnul = ["strchrnul"], Ptr (Ptr, I32);
    Strstr = ["strstr"], Ptr (Ptr, Ptr);
    Strspn = ["strspn"], I64 (Ptr, Ptr);
    Strcspn = ["strcspn"], I64 (Ptr, Ptr);
    Strpbrk = ["strpbrk"], Ptr (Ptr, Ptr);
    StrtokR = ["strtok_r", "__strtok_r"], Ptr (Ptr, Ptr, Ptr);
    Strtok = ["strtok"], Ptr (Ptr, Ptr);
    Sscanf = ["sscanf", "__isoc99_sscanf", "__isoc23_sscanf"], I32 (Ptr, Ptr) variadic;
    Strsep = ["strsep"], Ptr (Ptr, Ptr);
    Strdup = ["strdup", "__strdup"], Ptr (Ptr);
    Strndup = ["strndup", "__strndup"], Ptr (Ptr, I64);
    Character = [
        "isalnum", "isalpha", "isascii", "isblank", "iscntrl", "isdigit", "isgraph", "islower",
        "isprint", "ispunct", "isspace", "isupper", "isxdigit", "toascii", "tolower", "toupper"
    ], I32 (I32);
    SwapFour = ["htonl", "ntohl"], I32 (I32);
    SwapTwo = ["htons", "ntohs"], I16 (I16);
    Atoi = ["atoi"], I32 (Ptr);
    Atol = ["atol", "atoll"], I64 (Ptr);
    Strtol = ["strtol", "strtoll", "strtoimax", "__isoc23_strtol", "__isoc23_strtoll"],
        I64 (Ptr, Ptr, I32);
    Strtoul = ["strtoul", "strtoull", "strtoumax", "__isoc23_strtoul", "__isoc23_strtoull"],
        I64 (Ptr, Ptr, I32);
    Qsort = ["qsort"], Void (Ptr, I64, I64, Ptr);
    Bsearch = ["bsearch"], Ptr (Ptr, Ptr, I64, I64, Ptr);
    Getc = ["getc", "fgetc", "_IO_getc", "getc_unlocked", "fgetc_unlocked"], I32 (Ptr);
    Getchar = ["getchar", "getchar_unlocked"], I32 ();
    Fgets = ["fgets", "fgets_unlocked"], Ptr (Ptr, I32, Ptr);
    Fread = ["fread", "fread_unlocked"], I64 (Ptr, I64, I64, Ptr);
    Read = ["read"], I64 (I32, Ptr, I64);
    Getline = ["getline"], I64 (Ptr, Ptr, Ptr);
    Getdelim = ["getdelim", "__getdelim"], I64 (Ptr, Ptr, I32, Ptr);
    Fopen = ["fopen", "fopen64"], Ptr (Ptr, Ptr);
    Open = ["open", "open64"], I32 (Ptr, I32) variadic;
    Getopt = ["getopt"], I32 (I32, Ptr, Ptr);
    PosixGetopt = ["__posix_getopt"], I32 (I32, Ptr, Ptr);
    GetoptLong = ["getopt_long"], I32 (I32, Ptr, Ptr, Ptr, Ptr);
    GetoptLongOnly = ["getopt_long_only"], I32 (I32, Ptr, Ptr, Ptr, Ptr);
    Scanf = ["scanf", "__isoc99_scanf", "__isoc23_scanf"], I32 (Ptr) variadic;
    Fscanf = ["fscanf", "__isoc99_fscanf", "__isoc23_fscanf"], I32 (Ptr, Ptr) variadic;
    Ungetc = ["ungetc"], I32 (I32, Ptr);
    Memmem = ["memmem"], Ptr (Ptr, I64, Ptr, I64);
    Memccpy = ["memccpy"], Ptr (Ptr, Ptr, I32, I64);
    Strcasestr = ["strcasestr"], Ptr (Ptr, Ptr);
    Stpncpy = ["stpncpy"], Ptr (Ptr, Ptr, I64);
    StrcpyChk = ["__strcpy_chk"], Ptr (Ptr, Ptr, I64);
    StpcpyChk = ["__stpcpy_chk"], Ptr (Ptr, Ptr, I64);
    StrcatChk = ["__strcat_chk"], Ptr (Ptr, Ptr, I64);
    StrncpyChk = ["__strncpy_chk"], Ptr (Ptr, Ptr, I64, I64);
    StpncpyChk = ["__stpncpy_chk"], Ptr (Ptr, Ptr, I64, I64);
    StrncatChk = ["__strncat_chk"], Ptr (Ptr, Ptr, I64, I64);
    MempcpyChk = ["__mempcpy_chk"], Ptr (Ptr, Ptr, I64, I64);
    FgetsChk = ["__fgets_chk", "__fgets_unlocked_chk"], Ptr (Ptr, I64, I32, Ptr);
    FreadChk = ["__fread_chk", "__fread_unlocked_chk"], I64 (Ptr, I64, I64, I64, Ptr);
    ReadChk = ["__read_chk"], I64 (I32, Ptr, I64, I64);
}

impl Model {
    /// The model of the function with this name.
    pub fn find(name: &str) -> Option<Model> {
        let is_called = |model: &&Model| model.names().contains(&name);
        Model::ALL.iter().find(is_called).copied()
    }

    /// Does it read and write memory that its arguments lead to, and nothing else? Outside symbolic
    /// runs, too, each access that its model does is a step then.
    pub const fn is_stepwise(self) -> bool {
        use Model::*;
        match self {
            Memcmp | Memchr | Memrchr | Rawmemchr | Mempcpy | Bzero | Strlen | Strnlen | Strcmp
            | Strncmp | Strcasecmp | Strncasecmp | Strcpy | Stpcpy | Strncpy | Stpncpy | Strcat
            | Strncat | Strchr | Strrchr | Strchrnul | Strstr | Strcasestr | Strspn | Strcspn
            | Strpbrk | Strdup | Strndup | Atoi | Atol | Strtol | Strtoul | Memmem | Memccpy
            | StrcpyChk | StpcpyChk | StrcatChk | StrncpyChk | StpncpyChk | StrncatChk
            | MempcpyChk => true,
            StrtokR | Strtok | Sscanf | Strsep | Character | SwapFour | SwapTwo | Qsort
            | Bsearch | Getc | Getchar | Fgets | Fread | Read | Getline | Getdelim | Fopen
            | Open | Getopt | PosixGetopt | GetoptLong | GetoptLongOnly | Scanf | Fscanf
            | Ungetc | FgetsChk | FreadChk | ReadChk => false,
        }
    }

    /// Decodes a number.
    pub fn from_number(number: u32) -> Option<Model> {
        Model::ALL.get(number as usize).copied()
    }
}

/// A function that writes text for others to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Name in the C library.
    pub name: &'static str,
    /// The argument that names the stream; standard output or error where there is none.
    pub stream: Option<u8>,
    /// The argument that is a format.
    pub format: Option<u8>,
}

const fn output(name: &'static str, stream: Option<u8>, format: Option<u8>) -> Output {
    Output {
        name,
        stream,
        format,
    }
}

const OUTPUTS: &[Output] = &[
    output("printf", None, Some(0)),
    output("vprintf", None, Some(0)),
    output("__printf_chk", None, Some(1)),
    output("fprintf", Some(0), Some(1)),
    output("vfprintf", Some(0), Some(1)),
    output("__fprintf_chk", Some(0), Some(2)),
    output("puts", None, None),
    output("putchar", None, None),
    output("putchar_unlocked", None, None),
    output("putc", Some(1), None),
    output("fputc", Some(1), None),
    output("fputs", Some(1), None),
    output("fwrite", Some(3), None),
    output("perror", None, None),
    output("klee_print_expr", None, None),
];

impl Output {
    /// The function with this name.
    pub fn find(name: &str) -> Option<Output> {
        OUTPUTS.iter().find(|row| row.name == name).copied()
    }
}

/// Does the function with this name read streams or files in a way that no [`Model`] follows?
pub fn reads_files(name: &str) -> bool {
    // What is in the table is named by this where it is called in another way, such as inside a
    // `try` block.
    const NAMES: &[&str] = &[
        "scanf",
        "fscanf",
        "vscanf",
        "vfscanf",
        "__isoc99_scanf",
        "__isoc99_fscanf",
        "__isoc99_vscanf",
        "__isoc99_vfscanf",
        "__isoc23_scanf",
        "__isoc23_fscanf",
        "__isoc23_vscanf",
        "__isoc23_vfscanf",
        "wscanf",
        "fwscanf",
        "getc",
        "fgetc",
        "getchar",
        "fgets",
        "fread",
        "read",
        "getline",
        "getdelim",
        "fopen",
        "fopen64",
        "open",
        "open64",
        "__fgets_chk",
        "__fgets_unlocked_chk",
        "__fread_chk",
        "__fread_unlocked_chk",
        "__read_chk",
        "__pread_chk",
        "__pread64_chk",
        "__open_2",
        "__open64_2",
        "__openat_2",
        "__openat64_2",
        "_IO_getc",
        "__uflow",
        "__underflow",
        "freopen",
        "freopen64",
        "openat",
        "openat64",
        "pread",
        "pread64",
        "readv",
        "preadv",
        "preadv64",
        "preadv2",
        "preadv64v2",
        "aio_read",
        "aio_read64",
        "lio_listio",
        "lio_listio64",
        "mmap",
        "mmap64",
        "stat",
        "stat64",
        "fstat",
        "fstat64",
        "lstat",
        "lstat64",
        "fstatat",
        "fstatat64",
        "statx",
        "fgetwc",
        "getwc",
        "getwchar",
        "fgetws",
        "getw",
        "gets",
        "sendfile",
        "sendfile64",
        "splice",
        "copy_file_range",
        "syscall",
        "dup",
        "dup2",
        "dup3",
        "fork",
        "vfork",
        "popen",
        "posix_spawn",
        "posix_spawnp",
        "execl",
        "execlp",
        "execle",
        "execv",
        "execve",
        "execvp",
        "execvpe",
        "fexecve",
        "system",
        "ungetc",
    ];
    // Members of `std::istream`, `std::getline`, `operator>>`, files and buffers.
    const CPP: &[&str] = &[
        "_ZNSi",
        "_ZSt7getline",
        "_ZStrs",
        "_ZSt2ws",
        "_ZNSt14basic_ifstream",
        "_ZNSt13basic_fstream",
        "_ZNSt13basic_filebuf",
        "_ZNSt15basic_streambuf",
        "_ZNSt13basic_istream",
    ];
    NAMES.contains(&name) || CPP.iter().any(|start| name.starts_with(start))
}

/// Does the function with this name only change how memory is mapped? What it leaves there the runtime tells.
pub fn maps(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "munmap",
        "mprotect",
        "pkey_mprotect",
        "mlock",
        "mlock2",
        "munlock",
        "msync",
        "mmap",
        "mmap64",
        "mremap",
        "madvise",
        "shmat",
        "shmdt",
        "brk",
        "sbrk",
    ];
    NAMES.contains(&name)
}

/// The argument of the function with this name that is an array of texts, up to a null pointer.
pub fn texts(name: &str) -> Option<usize> {
    const SECOND: &[&str] = &[
        "getsubopt",
        "getopt",
        "__posix_getopt",
        "getopt_long",
        "getopt_long_only",
        "execv",
        "execve",
        "execvp",
        "execvpe",
    ];
    match name {
        "argp_parse" => Some(2),
        "posix_spawn" | "posix_spawnp" => Some(4),
        _ => SECOND.contains(&name).then_some(1),
    }
}

/// Does a call of the function with this name take nothing from memory that could be symbolic, or
/// is it followed in another way?
pub fn is_silent(name: &str) -> bool {
    const FAMILIES: &[&str] = &[
        "pthread_",
        "thrd_",
        "mtx_",
        "cnd_",
        "tss_",
        "sem_",
        "raddle_",
        "klee_",
        "__VERIFIER_",
        "__cxa_",
        "_Unwind_",
        "__gxx_",
        "__ctype_",
        "__sanitizer_",
        "__ubsan_",
        "_Zn",
        "_Zd",
    ];
    const NAMES: &[&str] = &[
        "malloc",
        "calloc",
        "realloc",
        "reallocarray",
        "free",
        "aligned_alloc",
        "posix_memalign",
        "memalign",
        "valloc",
        "malloc_usable_size",
        "exit",
        "_exit",
        "_Exit",
        "quick_exit",
        "abort",
        "atexit",
        "at_quick_exit",
        "__assert_fail",
        "__stack_chk_fail",
        "reach_error",
        "setjmp",
        "_setjmp",
        "__sigsetjmp",
        "longjmp",
        "_longjmp",
        "siglongjmp",
        "__longjmp_chk",
        "__errno_location",
        "getenv",
        "secure_getenv",
        "time",
        "clock",
        "clock_gettime",
        "gettimeofday",
        "nanosleep",
        "clock_nanosleep",
        "usleep",
        "sleep",
        "sched_yield",
        "call_once",
        "getpid",
        "signal",
        "sigaction",
        "sigemptyset",
        "sigaddset",
        "sigfillset",
        "fflush",
        "fclose",
        "close",
        "rewind",
        "feof",
        "ferror",
        "clearerr",
        "fileno",
        "setvbuf",
        "setbuf",
        "setbuffer",
        "initstate",
        "setstate",
        "isatty",
        "setlocale",
        "flockfile",
        "ftrylockfile",
        "funlockfile",
    ];
    let silent = FAMILIES.iter().any(|family| name.starts_with(family)) || NAMES.contains(&name);
    silent && Output::find(name).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_one_thing() {
        let mut names: std::vec::Vec<&str> = std::vec::Vec::new();
        for (number, model) in (0..).zip(Model::ALL) {
            assert_eq!(*model as u32, number);
            assert_eq!(Model::from_number(number), Some(*model));
            names.extend(model.names());
        }
        names.extend(OUTPUTS.iter().map(|row| row.name));
        for (i, name) in names.iter().enumerate() {
            assert!(!names[..i].contains(name), "{name} is there twice");
            assert!(!is_silent(name), "{name} is said to be silent");
        }
    }
}
