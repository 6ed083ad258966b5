//! What a witness may bring about. It comes with a bug report, from whoever wrote that: so it does
//! not choose which program is started, nor what loaders, shells and interpreters obey.

use crate::cli::ReplayOptions;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::report::{origin, shell_word};
use crate::symbols::file_identity;
use raddle_protocol::shared::env;
use raddle_protocol::witness::{Bytes, Witness};
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, IsTerminal};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Variables that change how a program computes, and nothing that others would mind or that
/// others should not know: only these are stored in witnesses and taken from them.
const ALLOWED: [&str; 36] = [
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "OMP_NUM_THREADS",
    "OMP_SCHEDULE",
    "OMP_DYNAMIC",
    "OMP_NESTED",
    "OMP_MAX_ACTIVE_LEVELS",
    "OMP_THREAD_LIMIT",
    "OMP_PROC_BIND",
    "OMP_PLACES",
    "OMP_STACKSIZE",
    "OMP_WAIT_POLICY",
    "OMP_CANCELLATION",
    "OMP_DEFAULT_DEVICE",
    "OMP_MAX_TASK_PRIORITY",
    "OMP_NUM_TEAMS",
    "OMP_TEAMS_THREAD_LIMIT",
    "GOMP_CPU_AFFINITY",
    "GOMP_STACKSIZE",
    "GOMP_SPINCOUNT",
    "KMP_BLOCKTIME",
    "KMP_AFFINITY",
    "GTEST_FILTER",
    "GTEST_SHARD_INDEX",
    "GTEST_TOTAL_SHARDS",
    "GTEST_REPEAT",
    "GTEST_SHUFFLE",
    "GTEST_RANDOM_SEED",
    "GTEST_BREAK_ON_FAILURE",
    "GTEST_ALSO_RUN_DISABLED_TESTS",
    "RUST_BACKTRACE",
    "RUST_LIB_BACKTRACE",
    "RUST_TEST_*",
    "RUST_MIN_STACK",
];

/// Variables by which other code or other files get into a program, or into those that it starts.
/// They never come from a witness.
const OBEYED: [&str; 43] = [
    "LD_*",
    "GLIBC_*",
    "GCONV_PATH",
    "GETCONF_DIR",
    "HOSTALIASES",
    "LIBC_*",
    "LOCALDOMAIN",
    "LOCPATH",
    "MALLOC_*",
    "NIS_PATH",
    "NLSPATH",
    "RESOLV_*",
    "RES_OPTIONS",
    "TMPDIR",
    "TZDIR",
    "OMP_TOOL*",
    "RADDLE_CONTROL_FD",
    "RADDLE_FILL",
    "RADDLE_NETWORK",
    "RADDLE_NOTIFY_FD",
    "RADDLE_SESSION",
    "RADDLE_SHARED_FD",
    "RADDLE_SYMBOLIC",
    "RADDLE_TARGET",
    "PATH",
    "HOME",
    "SHELL",
    "SHELLOPTS",
    "BASH*",
    "ENV",
    "IFS",
    "PS4",
    "CDPATH",
    "PYTHON*",
    "PERL*",
    "RUBY*",
    "NODE_*",
    "JAVA*",
    "GIT_*",
    "SSH_*",
    "DEBUGINFOD_*",
    "EDITOR",
    "PAGER",
];
/// The same by the ends of their names.
const OBEYED_ENDS: [&str; 6] = [
    "_PATH",
    "_PRELOAD",
    "_OPTIONS",
    "_LIBRARY",
    "_LIBRARIES",
    "_PLUGIN",
];

fn is_among(name: &str, list: &[&str]) -> bool {
    list.iter().any(|known| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *known,
    })
}

/// Does this variable go into witnesses, and come from them, unasked?
pub fn is_allowed(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| is_among(name, &ALLOWED))
}

/// Does a loader, a shell or an interpreter obey this variable?
pub fn is_obeyed(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return true;
    };
    let name = name.to_ascii_uppercase();
    is_among(&name, &OBEYED) || OBEYED_ENDS.iter().any(|end| name.ends_with(end))
}

/// What a replay takes of a witness's environment.
pub struct Taken {
    pub variables: Vec<(OsString, OsString)>,
    /// Names of those that it leaves.
    pub left: Vec<String>,
}

/// Chooses. `trusted`: variables beyond the known ones are taken, too, though never those that
/// loaders and interpreters obey.
pub fn environment(witness: &Witness, trusted: bool) -> Taken {
    let split = |line: &Bytes| {
        let at = line.0.iter().position(|&b| b == b'=')?;
        let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        Some((text(&line.0[..at]), text(&line.0[at + 1..])))
    };
    let all: Vec<(OsString, OsString)> = witness.command.env.iter().filter_map(split).collect();
    let inputs = symbolic(&all);
    let mut taken = Taken {
        variables: Vec::new(),
        left: Vec::new(),
    };
    for (name, value) in all {
        let known = is_allowed(&name) || inputs.contains(&name) || trusted;
        // The time zone may be a file, which may be a device.
        let harmless = name != "TZ" || !value.as_bytes().contains(&b'/');
        if name == env::SYMBOLIC || (known && harmless && !is_obeyed(&name)) {
            taken.variables.push((name, value));
        } else {
            taken
                .left
                .push(crate::terminal::visible(&name.to_string_lossy()));
        }
    }
    taken
}

/// Variables whose content is an input (`--symbolic-env`).
fn symbolic(all: &[(OsString, OsString)]) -> Vec<OsString> {
    let asked = all.iter().find(|(name, _)| name == env::SYMBOLIC);
    let lines = asked.map_or(&[][..], |(_, value)| value.as_bytes());
    let name = |line: &[u8]| {
        let rest = line.strip_prefix(b"env:")?;
        let at = rest.iter().position(|&b| b == b':')?;
        Some(OsStr::from_bytes(&rest[at + 1..]).to_owned())
    };
    lines.split(|&b| b == b'\n').filter_map(name).collect()
}

/// Whether a replay may start the program of this witness: the user named it (`--program`), or
/// trusts the witness (`--trust`, or when asked); or it is the very build that the witness is of,
/// and lies, with the directory that it starts in, in the tree that the user is in.
///
/// # Errors
/// It may not: what speaks against it.
pub fn check(file: &Path, witness: &Witness, options: &ReplayOptions) -> Result<()> {
    if options.trust || options.program.is_some() {
        return Ok(());
    }
    let Err(why) = is_own(witness) else {
        return Ok(());
    };
    if std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && asked(witness, &why) {
        return Ok(());
    }
    Err(Error::new(
        Exit::BadWitness,
        format!("{}: not replayed: {why}", file.display()),
        format!(
            "look at it with `raddle show {}`, then name your build with --program PATH, or say \
             --trust",
            shell_word(file.as_os_str())
        ),
    ))
}

/// Asks the user, who sees what would be started.
fn asked(witness: &Witness, why: &str) -> bool {
    crate::terminal::tell(&format!(
        "{}raddle: {why}. Start it all the same? [y/N] ",
        origin(witness)
    ));
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

/// Is it the user's own program, unchanged? If not, why.
fn is_own(witness: &Witness) -> std::result::Result<(), String> {
    let path = |bytes: &Bytes| PathBuf::from(OsStr::from_bytes(&bytes.0));
    let (named, cwd) = (path(&witness.command.program), path(&witness.command.cwd));
    let here = std::env::current_dir().and_then(std::fs::canonicalize);
    let here = here.map_err(|e| format!("the working directory cannot be found: {e}"))?;
    if !named.as_os_str().as_bytes().contains(&b'/') {
        return Err(format!("it starts `{}`, which PATH finds", named.display()));
    }
    let cwd = std::fs::canonicalize(&cwd)
        .map_err(|e| format!("its directory {} is not there ({e})", cwd.display()))?;
    let program = std::fs::canonicalize(cwd.join(&named))
        .map_err(|e| format!("its program {} is not there ({e})", named.display()))?;
    let shown = program.display();
    if here.parent().is_none() || !program.starts_with(&here) {
        return Err(format!(
            "its program {shown} is not below {}",
            here.display()
        ));
    }
    if !cwd.starts_with(&here) && !here.starts_with(&cwd) {
        return Err(format!("it starts in {}", cwd.display()));
    }
    if is_tool(&program) {
        return Err(format!(
            "its program {shown} is no test, but a tool that is installed"
        ));
    }
    match file_identity(&program) {
        Ok(identity) if identity == witness.modules[0].identity => Ok(()),
        Ok(_) => Err(format!("{shown} is not the build that it is of")),
        Err(error) => Err(error.cause),
    }
}

/// Does this file lie where commands are found, or is it the system's?
fn is_tool(program: &Path) -> bool {
    let system = [
        "/bin",
        "/sbin",
        "/lib",
        "/usr/bin",
        "/usr/sbin",
        "/usr/lib",
        "/usr/libexec",
    ];
    let folder = program.parent();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&path).filter(|dir| dir.is_absolute());
    system.iter().any(|dir| program.starts_with(dir))
        || found.any(|dir| std::fs::canonicalize(dir).is_ok_and(|dir| Some(&*dir) == folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_by_what_they_may_do() {
        for name in [
            "LANG",
            "LC_ALL",
            "OMP_NUM_THREADS",
            "RUST_TEST_THREADS",
            "TZ",
        ] {
            assert!(is_allowed(OsStr::new(name)), "{name}");
        }
        for name in [
            "DATABASE_URL",
            "GITHUB_TOKEN",
            "HOME",
            "PATH",
            "USER",
            "MODE",
        ] {
            assert!(!is_allowed(OsStr::new(name)), "{name}");
        }
        for name in [
            "LD_PRELOAD",
            "LD_AUDIT",
            "LD_LIBRARY_PATH",
            "GLIBC_TUNABLES",
            "GCONV_PATH",
            "OMP_TOOL_LIBRARIES",
            "ASAN_OPTIONS",
            "PYTHONSTARTUP",
            "BASH_ENV",
            "ld_preload",
            "FOO_PATH",
        ] {
            assert!(is_obeyed(OsStr::new(name)), "{name}");
        }
        for name in ALLOWED.into_iter().chain(["MODE", "DATABASE_URL"]) {
            assert!(!is_obeyed(OsStr::new(name)), "{name}");
        }
    }
}
