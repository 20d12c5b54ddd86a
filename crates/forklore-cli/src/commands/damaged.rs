//! Reports the sessions that an answer omits because their headers cannot be read.

use forklore::core::ErrorKind;
use forklore::store::port::Problem;

use crate::failure::{Failure, Result};
use crate::output::{Output, count};

/// Returns the failure that belongs next to an answer that omits unreadable sessions. Returns `None`
/// if `problems` is empty.
pub(super) fn failure(problems: &[Problem]) -> Option<Failure> {
    let first = problems.first()?;
    let failure = Failure::refused(ErrorKind::Corrupt, left_out(problems, first));
    Some(failure.or_try("forklore verify"))
}

fn left_out(problems: &[Problem], first: &Problem) -> String {
    let left_out = count(problems.len() as u64, "session");
    format!("{left_out} cannot be read and is left out: {}", first.message)
}

/// Reports how many unreadable sessions the command's answer omits, if any. The JSON answer lists
/// these sessions in `problems`.
///
/// # Errors
/// An error with the exit code for corruption, if `problems` is not empty.
pub(super) fn tell(problems: &[Problem], output: &mut Output) -> Result<()> {
    let Some(first) = problems.first() else {
        return Ok(());
    };
    output.remark(&left_out(problems, first));
    output.hint("forklore verify", "everything that is damaged");
    Err(Failure::Answered(ErrorKind::Corrupt))
}
