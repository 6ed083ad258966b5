//! A program with a case for each access of the table of effects, made of the headers' declarations: one
//! thread calls the function, another one accesses a byte of what the row says that it reads or writes.

use raddle_protocol::effects::{Effect, Extent, NONE, Place, Row};
use raddle_protocol::library::{Model, is_silent};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A function of the headers: the type of its result, and of its parameters.
pub struct Declared {
    pub result: String,
    pub parameters: Vec<String>,
}

/// What is not called: it ends or replaces the process, waits for what never comes, changes the machine,
/// or calls functions that the program gives it.
const NOT_CALLED: &str = "execl execv system popen fork vfork wait waitpid waitid wait3 wait4 pause sigsuspend \
    sigwait sigwaitinfo sigtimedwait nanosleep clock_nanosleep thrd_sleep select pselect poll ppoll \
    epoll_wait epoll_pwait mq_receive mq_timedreceive mq_send mq_timedsend msgrcv msgsnd semop semtimedop \
    accept accept4 connect bind chroot acct sethostname setdomainname setlogin settimeofday clock_settime adjtime \
    setrlimit setrlimit64 prlimit prlimit64 setgroups initgroups revoke getpass setjmp _setjmp longjmp _longjmp siglongjmp \
    pthread_create thrd_create pthread_join pthread_tryjoin_np pthread_timedjoin_np pthread_clockjoin_np \
    thrd_join sigaction sigaltstack sigstack setitimer timer_create timer_settime timerfd_settime \
    openlog dlopen dlmopen dlsym dlvsym dladdr1 ftw ftw64 nftw nftw64 gets syslog vsyslog regexec regfree \
    regerror globfree globfree64 wordfree shutdown rename unlink remove rmdir tsearch tdelete tfind lfind \
    mincore iconv pthread_mutex_setprioceiling pthread_mutex_getprioceiling setlocale scandir scandir64 \
    scandirat scandirat64 alphasort alphasort64 versionsort versionsort64 open_by_handle_at \
    pthread_cond_timedwait pthread_cond_clockwait cnd_timedwait";

/// What makes functions do something: names, number of an argument, what lies there (a text) or what it is.
const GIVEN: &[(&str, u8, &str)] = &[
    (
        "stat stat64 lstat lstat64 statvfs statvfs64 realpath access eaccess fopen fopen64 open open64 opendir",
        0,
        "\"version\"",
    ),
    ("fopen fopen64 fdopen", 1, "\"r\""),
    ("open open64", 1, "O_RDONLY"),
    ("readlink", 0, "\"self\""),
    ("readlinkat", 1, "\"self\""),
    (
        "fstatat fstatat64 statx faccessat openat openat64",
        1,
        "\"version\"",
    ),
    (
        "readlinkat fstatat fstatat64 statx faccessat openat openat64",
        0,
        "AT_FDCWD",
    ),
    ("getenv", 0, "\"PATH\""),
    ("strptime", 0, "\"2001\""),
    ("strptime", 1, "\"%Y\""),
    ("strftime", 2, "\"%Y\""),
    ("timespec_get", 1, "TIME_UTC"),
    ("inet_pton", 1, "\"1.2.3.4\""),
    ("inet_aton", 0, "\"1.2.3.4\""),
    ("inet_ntop", 3, "40"),
    ("getpwnam_r getgrnam_r getgrouplist", 0, "\"root\""),
    ("getpwnam_r getgrnam_r getpwuid_r getgrgid_r", 3, "400"),
    ("getpwuid_r getgrgid_r", 0, "0"),
    ("sscanf fscanf", 1, "\"%9s\""),
    ("scanf", 0, "\"%9s\""),
];

/// A case of the program.
pub struct Case {
    pub name: &'static str,
    /// The argument that leads to what is accessed.
    pub argument: u8,
}

/// The program, whose cases have these numbers: see `rows.h`. `every`: with all names of a row, not the
/// first one that can be called.
pub fn program(declared: &BTreeMap<String, Declared>, every: bool) -> (String, Vec<Case>) {
    let mut text = String::from("#include \"rows.h\"\n");
    let mut cases = Vec::new();
    let mut list = String::new();
    for row in Row::all() {
        let mut met = false;
        for name in row.names() {
            // The compiler does not know these, or they are not there to link to.
            if name.contains("f128") || name.starts_with("__") {
                continue;
            }
            // Those that `verify` knows by their names are not like the others.
            let special = Model::find(name).is_some() || is_silent(name);
            if met && !every && !special {
                continue;
            }
            let Some(function) = declared.get(name) else {
                continue;
            };
            let Some(call) = call(name, row, function) else {
                continue;
            };
            let _ = writeln!(text, "{}", call.text);
            for (argument, writes) in call.accesses {
                let writes = u8::from(writes);
                let _ = writeln!(
                    list,
                    "  {{prepare_{name}, call_{name}, {argument}, {writes}}},"
                );
                cases.push(Case { name, argument });
            }
            met |= !special;
        }
    }
    let _ = writeln!(text, "const struct row rows[] = {{\n{list}  {{0}}}};");
    (text, cases)
}

struct Call {
    text: String,
    /// The arguments that lead to what is accessed, and whether it is written there.
    accesses: BTreeMap<u8, bool>,
}

/// `None`: it cannot be called with what there is.
fn call(name: &str, row: &Row, function: &Declared) -> Option<Call> {
    if NOT_CALLED.split_whitespace().any(|other| other == name) {
        return None;
    }
    let (mut accesses, mut behind) = (BTreeMap::new(), Vec::new());
    let (mut prepare, mut arguments) = (String::new(), Vec::new());
    for effect in row.effects {
        match effect.place {
            // What the targets of a format are, follows.
            Place::Argument(argument) => {
                let writes = effect.writes && !effect.is_elsewhere();
                *accesses.entry(argument).or_insert(false) |= writes;
            }
            Place::Behind(argument) => behind.push(argument),
            _ => {}
        }
        if effect.list().is_some() {
            return None;
        }
    }
    let variadic = row.effects.iter().find_map(Effect::variadic);
    for (index, parameter) in (0u8..).zip(&function.parameters) {
        if parameter == "void" {
            break;
        }
        let is_pointer = parameter.contains(['*', '[']);
        let given = GIVEN.iter().find(|(names, argument, _)| {
            *argument == index && names.split(' ').any(|one| one == name)
        });
        let argument = if parameter == "..." {
            let first = variadic?;
            accesses.insert(
                first,
                row.effects
                    .iter()
                    .any(|effect| matches!(effect.extent, Extent::Scanned(_))),
            );
            let _ = write!(prepare, "text({first}); ");
            format!("areas[{first}]")
        } else if ["(*", "_fn_t", "_func", "va_list", "DIR", "timer_t"]
            .iter()
            .any(|part| parameter.contains(part))
        {
            return None;
        } else if parameter.contains("FILE") {
            "stream".into()
        } else if parameter.contains("locale_t") {
            "newlocale(LC_ALL_MASK, \"C\", 0)".into()
        } else if behind.contains(&index) {
            let _ = write!(prepare, "text({index}); places[{index}] = areas[{index}]; ");
            format!("(void *)&places[{index}]")
        } else if let Some((_, _, what)) = given
            && !(is_pointer && accesses.contains_key(&index))
        {
            what.to_string()
        } else if let Some((_, _, what)) = given {
            let _ = write!(prepare, "strcpy(areas[{index}], {what}); ");
            format!("(void *)areas[{index}]")
        } else if accesses.contains_key(&index) {
            let _ = write!(prepare, "{}({index}); ", filling(row, index));
            format!("(void *)areas[{index}]")
        } else if is_pointer {
            format!("(void *)spare[{index}]")
        } else if ["double", "float", "_Float"]
            .iter()
            .any(|real| parameter.contains(real))
        {
            "1.5".into()
        } else if parameter.contains("struct") || parameter.contains("union") {
            return None;
        } else {
            number(parameter).into()
        };
        arguments.push(argument);
    }
    let call = format!("{name}({})", arguments.join(", "));
    let result = match function.result.as_str() {
        result if result.contains('*') => format!("return pointer((const void *){call});"),
        "void" => format!("{call}; return 0;"),
        result
            if ["double", "float", "_Float"]
                .iter()
                .any(|real| result.contains(real)) =>
        {
            format!("return (long)(1000 * {call});")
        }
        result if result.contains("struct") || result.contains("div_t") => return None,
        _ => format!("return (long){call};"),
    };
    Some(Call {
        text: format!(
            "static void prepare_{name}(void) {{ {prepare}}}\nstatic long call_{name}(void) {{ {result} }}"
        ),
        accesses,
    })
}

/// What is in an area before.
fn filling(row: &Row, argument: u8) -> &'static str {
    let on_it = || {
        row.effects
            .iter()
            .filter(move |effect| effect.place == Place::Argument(argument))
    };
    let is = |extent: fn(&Extent) -> bool| {
        on_it().any(|effect| !effect.writes && extent(&effect.extent))
    };
    let asks = |effect: &Effect| matches!(effect.extent, Extent::Format(_) | Extent::Scanned(_));
    let wide = on_it().any(|effect| effect.unit == 4);
    if on_it().any(asks) {
        return if wide { "wide_format" } else { "format" };
    }
    if is(|extent| matches!(extent, Extent::Size(_) | Extent::Bytes(NONE))) {
        return "zeros";
    }
    match (on_it().all(|effect| effect.writes), wide) {
        (true, _) => "pattern",
        (_, true) => "wide_text",
        _ => "text",
    }
}

/// A number for a parameter, by its type and name.
fn number(parameter: &str) -> &'static str {
    let name = parameter
        .rsplit(|c: char| !c.is_alphanumeric() && c != '_')
        .next();
    let name = name.unwrap_or_default().trim_start_matches('_');
    match name {
        "fd" | "fildes" | "fdin" | "fd_in" | "in_fd" => "file",
        "base" => "10",
        "c" | "ch" | "wc" | "stop_char" | "delimiter" => "'2'",
        "af" => "2",
        "clock_id" | "clock" | "flags" | "flag" | "options" | "which" | "who" | "pid" => "0",
        _ if parameter.contains("pthread_t") || parameter.contains("thrd_t") => "pthread_self()",
        _ if parameter.contains("size_t") || parameter.contains("socklen_t") => "8",
        _ => "1",
    }
}
