//! Reports sessions that an answer leaves out because their header cannot be read.

use forklore::core::ErrorKind;
use forklore::store::port::Problem;

use crate::failure::{Failure, Result};
use crate::output::{Output, count};

/// Reports after an answer which sessions are missing in it; the answer lists them in `problems`.
///
/// # Errors
/// Returns the exit code for corruption if anything is left out.
pub(super) fn tell(problems: &[Problem], output: &mut Output) -> Result<()> {
    let Some(first) = problems.first() else {
        return Ok(());
    };
    let left_out = count(problems.len() as u64, "session");
    output.remark(&format!("{left_out} cannot be read and is left out: {}", first.message));
    output.hint("forklore verify", "everything that is damaged");
    Err(Failure::Answered(ErrorKind::Corrupt))
}
