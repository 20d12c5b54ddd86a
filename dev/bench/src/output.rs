//! The only file that prints.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program talks to a person")]

use std::error::Error;
use std::process::ExitCode;

/// Prints on standard error what is being measured.
pub(crate) fn progress(what: &str) {
    eprintln!("measuring {what}");
}

/// Prints the finished figures.
pub(crate) fn page(text: &str) {
    println!("{text}");
}

/// Prints why the run ended early.
pub(crate) fn failure(error: &dyn Error) -> ExitCode {
    eprintln!("forklore-bench: {error}");
    ExitCode::FAILURE
}
