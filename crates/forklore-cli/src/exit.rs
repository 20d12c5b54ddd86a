//! How the program ends: exit codes of SPEC 16.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use forklore::model::ErrorKind;

use crate::failure::Failure;
use crate::output::Output;

/// Ends the program with 130 on Ctrl-C, whatever it is doing: what it has not committed is as if
/// it never began.
pub(crate) fn on_interrupt() {
    let at_once = Arc::new(AtomicBool::new(true));
    let code = i32::from(ErrorKind::Interrupted.exit_code());
    // Without a handler Ctrl-C still ends the program, only with the system's own status.
    let _ = signal_hook::flag::register_conditional_shutdown(
        signal_hook::consts::SIGINT,
        code,
        at_once,
    );
}

/// Lets a write beyond the system's limit for files fail like one to a full disk, instead of ending
/// the program.
pub(crate) fn on_file_limit() {
    let ignored = Arc::new(AtomicBool::new(false));
    // Without a handler the program ends; what it had not committed is as if it never began.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, ignored);
}

/// Reports a failure, if there was one, and gives the exit code.
pub(crate) fn code(done: Result<(), Failure>, output: &mut Output) -> ExitCode {
    let Err(failure) = done else {
        return ExitCode::SUCCESS;
    };
    // Who closed the pipe has seen enough.
    if failure.is_closed_pipe() {
        return ExitCode::SUCCESS;
    }
    match output.failure(&failure) {
        Err(error) if !error.is_closed_pipe() => ExitCode::FAILURE,
        _ => ExitCode::from(failure.kind().exit_code()),
    }
}
