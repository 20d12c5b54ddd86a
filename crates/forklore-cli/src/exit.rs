//! Determines the exit code of the program (docs/semantics.md, Errors).

use std::process::ExitCode;

use crate::failure::Failure;
use crate::output::Output;

/// Reports the error in `done`, if any, and returns the exit code of the program. A closed output
/// pipe is no error.
pub(crate) fn code(done: Result<(), Failure>, output: &mut Output) -> ExitCode {
    let Err(failure) = done else {
        return ExitCode::SUCCESS;
    };
    // It is no error that the reader of the output closed the pipe.
    if failure.is_closed_pipe() {
        return ExitCode::SUCCESS;
    }
    match output.failure(&failure) {
        // The report of the failure could not be written. After a stop signal that is expected,
        // because the terminal may be closed.
        Err(error) if !error.is_closed_pipe() && !failure.is_stop() => {
            let _ = output.failure(&error);
            ExitCode::from(error.exit_code())
        }
        _ => ExitCode::from(failure.exit_code()),
    }
}
