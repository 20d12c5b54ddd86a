//! All output of the program: this is the only file that prints.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program talks to a person")]

use std::error::Error;
use std::process::ExitCode;

/// Prints to standard error that the measurement `what` begins.
pub(crate) fn progress(what: &str) {
    eprintln!("measuring {what}");
}

/// Prints to standard error a result, before the others are there.
pub(crate) fn result(row: &str) {
    eprintln!("{row}");
}

/// Prints the finished results.
pub(crate) fn page(text: &str) {
    println!("{text}");
}

/// Prints the error that ended the run, and returns the exit code.
pub(crate) fn failure(error: &dyn Error) -> ExitCode {
    eprintln!("forklore-bench: {error}");
    ExitCode::FAILURE
}
