//! The confirmation of a command that deletes, erases or changes files.

use forklore::core::ErrorKind;

use crate::failure::{Failure, Result};
use crate::output::Output;

/// Asks a person whether to go on. Asks nothing with `yes`, with `--json`, or without a terminal,
/// so that scripts are never stopped.
///
/// # Errors
/// `interrupted` if the answer is not yes.
pub(super) fn confirm(question: &str, yes: bool, output: &mut Output) -> Result<()> {
    or_end(question, yes, "nothing was deleted", output)
}

/// Asks a person whether to change files, as [`confirm`] does.
///
/// # Errors
/// `interrupted` if the answer is not yes.
pub(super) fn confirm_change(question: &str, yes: bool, output: &mut Output) -> Result<()> {
    or_end(question, yes, "nothing was changed", output)
}

fn or_end(question: &str, yes: bool, end: &str, output: &mut Output) -> Result<()> {
    if yes || !output.can_ask() || output.asks(question)? {
        return Ok(());
    }
    Err(Failure::refused(ErrorKind::Interrupted, end))
}
