//! The one file that prints.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program talks to a person")]

use std::error::Error;
use std::process::ExitCode;

/// Says on standard error what is measured now.
pub(crate) fn progress(what: &str) {
    eprintln!("measuring {what}");
}

/// Shows the finished figures.
pub(crate) fn page(text: &str) {
    println!("{text}");
}

/// Says why the run ended early.
pub(crate) fn failure(error: &dyn Error) -> ExitCode {
    eprintln!("forklore-bench: {error}");
    ExitCode::FAILURE
}
