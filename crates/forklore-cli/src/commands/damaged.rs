//! Reports the sessions that an answer omits because their headers cannot be read.

use forklore::core::ErrorKind;
use forklore::store::port::Problem;

use crate::failure::{Failure, Result};
use crate::output::{Output, count};

/// Reports how many sessions the command's answer omits because they cannot be read. Reports
/// nothing if it omits none. `problems` is the list of these sessions in the JSON answer.
///
/// # Errors
/// An error with the exit code for corruption, if `problems` is not empty.
pub(super) fn tell(problems: &[Problem], output: &mut Output) -> Result<()> {
    let Some(first) = problems.first() else {
        return Ok(());
    };
    let left_out = count(problems.len() as u64, "session");
    output.remark(&format!("{left_out} cannot be read and is left out: {}", first.message));
    output.hint("forklore verify", "everything that is damaged");
    Err(Failure::Answered(ErrorKind::Corrupt))
}
