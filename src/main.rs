//! The raddle command.

use raddle_cli::cc;
use raddle_cli::cli::{self, Stop};
use raddle_cli::commands;
use raddle_cli::error::Error;
use raddle_cli::interrupt;
use raddle_cli::rust::cargo;
use raddle_cli::terminal;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    terminal::survive_full_files();
    let command_line: Vec<OsString> = std::env::args_os().collect();
    if let Some((language, args)) = cc::requested(&command_line) {
        return fail(&commands::compile(language, args));
    }
    if let Some(args) = cargo::requested(&command_line) {
        return match commands::cargo(args) {
            Ok(code) => code.into(),
            Err(error) => fail(&error),
        };
    }
    interrupt::end_at_signals();
    let cli = match cli::parse(command_line.into_iter()) {
        Ok(cli) => cli,
        Err(Stop::Help(text, exit)) => {
            // Where nobody reads the help there is nothing to be done about it.
            let _ = text.print();
            return exit.into();
        }
        Err(Stop::Error(error)) => return fail(&error),
    };
    let exit = match commands::run(cli) {
        Ok(exit) => exit,
        Err(error) => terminal::complain(&error),
    };
    match terminal::unwritten() {
        Some(error) if exit.is_good() => fail(&error),
        Some(error) => {
            terminal::complain(&error);
            exit.into()
        }
        None => exit.into(),
    }
}

fn fail(error: &Error) -> ExitCode {
    terminal::complain(error).into()
}
