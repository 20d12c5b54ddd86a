//! Sessions that an answer had to leave out because their header cannot be read.

use forklore::core::ErrorKind;
use forklore::store::port::Problem;

use crate::failure::{Failure, Result};
use crate::output::{Output, count};

/// Says behind an answer what is not in it; the answer itself names it under `problems`.
///
/// # Errors
/// The exit code, where something is left out.
pub(super) fn tell(problems: &[Problem], output: &mut Output) -> Result<()> {
    let Some(first) = problems.first() else {
        return Ok(());
    };
    let left_out = count(problems.len() as u64, "session");
    output.remark(&format!("{left_out} cannot be read and is left out: {}", first.message));
    output.hint("forklore verify", "everything that is damaged");
    Err(Failure::Answered(ErrorKind::Corrupt))
}
