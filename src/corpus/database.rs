//! The file behind a corpus directory: opening it, its format, and what can be wrong with it.

use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::store;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The database's name in the directory.
pub const FILE: &str = "corpus.db";
/// `PRAGMA application_id`: "RDLC".
const APPLICATION: i32 = i32::from_be_bytes(*b"RDLC");
/// `PRAGMA user_version`: the format that this program reads and writes.
const FORMAT: i32 = 1;
const SCHEMA: &str = include_str!("schema.sql");
/// So long another process may keep the database to itself.
const BUSY: Duration = Duration::from_secs(60);
/// Files up to this size are checked wholly when they are opened.
const CHECKED_BYTES: u64 = 64 << 20;

/// An open database, and its path for messages.
pub struct Database {
    connection: Connection,
    path: PathBuf,
}

impl Database {
    /// Opens the database of `dir`; makes both if they are not there.
    ///
    /// Every transaction is on the disk when it returns (write-ahead log, synchronous), so that
    /// whatever ends this process, or the machine, leaves either all of it or nothing.
    pub fn open(dir: &Path) -> Result<Database> {
        store::folder(dir, "make the corpus in")?;
        let path = dir.join(FILE);
        // SQLite gives the files beside it the same mode.
        store::open_own(&path).map_err(|e| {
            let cause = format!("cannot open {}: {e}", path.display());
            Error::new(
                Exit::InputOutput,
                cause,
                "choose another directory for the corpus",
            )
        })?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let mut database = Database::connect(path, flags, false)?;
        database.prepare()?;
        Ok(database)
    }

    /// Opens an existing database for reading, also on a disk that is read-only.
    pub fn view(dir: &Path) -> Result<Database> {
        let path = dir.join(FILE);
        if !path.is_file() {
            let cause = format!("{} holds no corpus (no file {FILE})", dir.display());
            let remedy = "name a directory that `raddle run --corpus` has written";
            return Err(Error::new(Exit::InputOutput, cause, remedy));
        }
        // Where nothing can be written, nobody does; elsewhere the files beside the database that
        // coordinate readers with writers go away again.
        let frozen = !is_writable(dir);
        if frozen {
            is_whole(&path)?;
        }
        let flags = match frozen {
            true => OpenFlags::SQLITE_OPEN_READ_ONLY,
            false => OpenFlags::SQLITE_OPEN_READ_WRITE,
        };
        let database = Database::connect(path, flags, frozen)?;
        match database.format()? {
            Some(FORMAT) => Ok(database),
            _ => Err(database.no_corpus("it is empty")),
        }
    }

    /// `frozen`: nobody writes to the file, so that no locks and no other files are needed.
    fn connect(path: PathBuf, flags: OpenFlags, frozen: bool) -> Result<Database> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(uri(&path, frozen), flags)
            .map_err(|e| trouble(&path, "open", &e))?;
        let database = Database { connection, path };
        database.ask(|c| c.busy_timeout(BUSY))?;
        Ok(database)
    }

    /// Checks what is there, and makes the tables where nothing is.
    fn prepare(&mut self) -> Result<()> {
        let known = self.format()?;
        self.ask(|c| {
            use_log(c)?;
            c.pragma_update(None, "synchronous", "FULL")?;
            c.pragma_update(None, "foreign_keys", "ON")
        })?;
        if known.is_none() {
            self.change(|t| {
                // Another process may have been quicker.
                let version: i32 = t.pragma_query_value(None, "user_version", |r| r.get(0))?;
                if version == 0 {
                    t.execute_batch(SCHEMA)?;
                    t.pragma_update(None, "application_id", APPLICATION)?;
                    t.pragma_update(None, "user_version", FORMAT)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The format of the file; `None` for an empty one. Refuses what this program cannot use.
    fn format(&self) -> Result<Option<i32>> {
        // One statement: another process may be making the tables.
        let sql = "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
             FROM pragma_application_id, pragma_user_version";
        let (application, version, tables): (i32, i32, i64) =
            self.ask(|c| c.query_row(sql, [], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?))))?;
        match (application, version, tables) {
            (0, 0, 0) => return Ok(None),
            (APPLICATION, FORMAT, _) => {}
            (APPLICATION, newer, _) if newer > FORMAT => {
                return Err(Error::new(
                    Exit::InputOutput,
                    format!(
                        "{} is of format {newer}, this raddle knows formats up to {FORMAT}",
                        self.path.display()
                    ),
                    "use the newer raddle that wrote it, or name another directory",
                ));
            }
            _ => return Err(self.no_corpus("another program has written it")),
        }
        self.check()?;
        Ok(Some(version))
    }

    /// Are the pages of the file sound?
    fn check(&self) -> Result<()> {
        let size = std::fs::metadata(&self.path).map_or(0, |m| m.len());
        if size > CHECKED_BYTES {
            return Ok(());
        }
        let answer: String =
            self.ask(|c| c.query_row("PRAGMA quick_check(1)", [], |r| r.get(0)))?;
        match answer.as_str() {
            "ok" => Ok(()),
            what => Err(damaged(&self.path, what)),
        }
    }

    fn no_corpus(&self, why: &str) -> Error {
        Error::new(
            Exit::InputOutput,
            format!("{} is no corpus of raddle: {why}", self.path.display()),
            "name another directory",
        )
    }

    /// Reads.
    pub fn ask<T>(&self, f: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        f(&self.connection).map_err(|e| trouble(&self.path, "read", &e))
    }

    /// Writes: all that `f` does or nothing.
    pub fn change<T>(
        &mut self,
        f: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let all = || {
            let behavior = TransactionBehavior::Immediate;
            let transaction = self.connection.transaction_with_behavior(behavior)?;
            let result = f(&transaction)?;
            transaction.commit()?;
            Ok(result)
        };
        all().map_err(|e| trouble(&self.path, "write", &e))
    }
}

/// Switches to a write-ahead log. While several processes do so at once SQLite says that the database
/// is busy without waiting.
fn use_log(c: &Connection) -> rusqlite::Result<()> {
    let started = Instant::now();
    loop {
        let mode = c.pragma_query_value(None, "journal_mode", |r| r.get::<_, String>(0));
        let switched = match mode {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(_) => c.pragma_update(None, "journal_mode", "WAL"),
            Err(error) => Err(error),
        };
        let busy = |e: &rusqlite::Error| {
            let code = e.sqlite_error_code();
            matches!(
                code,
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
            )
        };
        match switched {
            Err(error) if busy(&error) && started.elapsed() < BUSY => {
                std::thread::sleep(Duration::from_millis(5));
            }
            result => return result,
        }
    }
}

/// An error if part of what was stored is still in the write-ahead log, without which the database
/// is stale or broken, and whose use writes.
pub fn is_whole(path: &Path) -> Result<()> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if std::fs::metadata(log).map_or(true, |log| log.len() == 0) {
        return Ok(());
    }
    let shown = path.display();
    let cause = format!("{shown} cannot be read: the log of a run that was ended lies beside it");
    let remedy = "copy the directory to where it can be written";
    Err(Error::new(Exit::InputOutput, cause, remedy))
}

/// Can files be made in this directory?
fn is_writable(dir: &Path) -> bool {
    use std::os::unix::ffi::OsStrExt;
    let Ok(path) = std::ffi::CString::new(dir.as_os_str().as_bytes()) else {
        return false;
    };
    // SAFETY: the path ends with a NUL and outlives the call, which only reads it.
    unsafe { libc::access(path.as_ptr(), libc::W_OK) == 0 }
}

/// The name by which SQLite opens a file, whatever characters the path has.
fn uri(path: &Path, frozen: bool) -> String {
    use std::os::unix::ffi::OsStrExt;
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut uri = String::from("file:");
    for &byte in absolute.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => {
                uri.push(char::from(byte))
            }
            _ => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    if frozen {
        uri.push_str("?immutable=1");
    }
    uri
}

/// What an error of SQLite means for the user. What was stored before stays as it is in each case.
fn trouble(path: &Path, action: &str, error: &rusqlite::Error) -> Error {
    let shown = path.display();
    let io = |cause: String, remedy: &str| Error::new(Exit::InputOutput, cause, remedy);
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            damaged(path, &error.to_string())
        }
        Some(ErrorCode::DiskFull) => io(
            format!("cannot {action} {shown}: the disk is full"),
            "free some space; what was stored before is safe",
        ),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => io(
            format!("cannot {action} {shown}: {error}"),
            "name a directory that can be written, on a disk that is not read-only",
        ),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => io(
            format!("cannot {action} {shown}: another process kept it for {BUSY:?}"),
            "wait until that process has ended",
        ),
        Some(ErrorCode::SystemIoFailure) => io(
            format!("cannot {action} {shown}: {error}"),
            "check the disk; what was stored before is safe",
        ),
        // A value of another type than the schema says, a table that is not there.
        _ => damaged(path, &error.to_string()),
    }
}

/// Damage is never repaired silently, and nothing is thrown away.
fn damaged(path: &Path, what: &str) -> Error {
    Error::new(
        Exit::InputOutput,
        format!("{} is damaged: {what}", path.display()),
        format!(
            "move it away and run again to begin anew; `sqlite3 {FILE} .recover` gets back what can be read"
        ),
    )
}
