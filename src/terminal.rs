//! Standard output and standard error.

use crate::error::Error;
use crate::exit::Exit;
use std::io::Write;

/// Prints. Where nobody reads any more (`raddle run … | head`) the result is still the exit code
/// and the files, so that is no reason to stop.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Prints an error in its one form; how the command ends with it.
pub fn complain(error: &Error) -> Exit {
    eprintln!("raddle: error: {error}");
    error.exit
}
