//! Reports the sessions that an answer omits, or counts only in part, because they are damaged.

use std::collections::HashSet;

use forklore::core::ErrorKind;
use forklore::store::port::Problem;

use crate::failure::{Failure, Result};
use crate::output::{Output, count};

/// Adds problems that another part of the answer found. Leaves out those that `problems` has.
pub(super) fn add_new(problems: &mut Vec<Problem>, more: &[Problem]) {
    for problem in more {
        if !problems.contains(problem) {
            problems.push(problem.clone());
        }
    }
}

/// Returns the failure to report with an answer that omits damaged sessions, or contains only parts
/// of them. With `--json` it becomes the field `error` of the answer. Returns `None` if `problems`
/// is empty.
pub(super) fn failure(problems: &[Problem]) -> Option<Failure> {
    let first = problems.first()?;
    let failure = Failure::refused(ErrorKind::Corrupt, left_out(problems, first));
    Some(failure.or_try("forklore verify"))
}

fn left_out(problems: &[Problem], first: &Problem) -> String {
    // A session may have several problems. A problem without an id is about a session of its own.
    let named: HashSet<_> = problems.iter().filter_map(|one| one.session_id.as_ref()).collect();
    let nameless = problems.iter().filter(|one| one.session_id.is_none()).count();
    let sessions = named.len() + nameless;
    let are = if sessions == 1 { "is" } else { "are" };
    let sessions = count(sessions as u64, "session");
    format!(
        "{sessions} {are} damaged, and the answer leaves out what cannot be read: {}",
        first.message
    )
}

/// Reports how many damaged sessions the command's answer omits or has only in part, if any. The
/// JSON answer lists what is wrong with them in `problems`.
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
