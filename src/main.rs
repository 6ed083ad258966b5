//! The raddle command.

use raddle_cli::cli::{self, Stop};
use raddle_cli::commands;
use raddle_cli::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match cli::parse(std::env::args_os()) {
        Ok(cli) => cli,
        Err(Stop::Help(text, exit)) => {
            // Where nobody reads the help there is nothing to be done about it.
            let _ = text.print();
            return exit.into();
        }
        Err(Stop::Error(error)) => return fail(&error),
    };
    match commands::run(cli) {
        Ok(exit) => exit.into(),
        Err(error) => fail(&error),
    }
}

fn fail(error: &Error) -> ExitCode {
    eprintln!("raddle: error: {error}");
    error.exit.into()
}
