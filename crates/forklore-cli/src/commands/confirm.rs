//! The confirmation of a command that deletes or erases.

use forklore::core::ErrorKind;

use crate::failure::{Failure, Result};
use crate::output::Output;

/// Asks a person whether to go on. Asks nothing with `yes`, with `--json`, or without a terminal,
/// so that scripts are never stopped.
///
/// # Errors
/// `interrupted` if the answer is not yes.
pub(super) fn confirm(question: &str, yes: bool, output: &mut Output) -> Result<()> {
    if yes || !output.can_ask() || output.asks(question)? {
        return Ok(());
    }
    Err(Failure::refused(ErrorKind::Interrupted, "nothing was deleted"))
}
