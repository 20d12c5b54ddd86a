//! How the program ends: exit codes of SPEC 16.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use forklore::core::ErrorKind;
use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::low_level::pipe;

use crate::failure::{Failure, Result};
use crate::output::Output;

/// Whether a signal ends the program at once.
static AT_ONCE: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| Arc::new(AtomicBool::new(true)));

/// Ends the program with 130 on Ctrl-C, whatever it is doing: what it has not committed is as if
/// it never began.
pub(crate) fn on_interrupt() {
    let at_once = AT_ONCE.clone();
    let code = i32::from(ErrorKind::Interrupted.exit_code());
    // Without a handler Ctrl-C still ends the program, only with the system's own status.
    let _ = flag::register_conditional_shutdown(SIGINT, code, at_once);
}

/// How a verb that goes on until it is stopped was ended.
pub(crate) struct Ended(Arc<AtomicBool>);

impl Ended {
    /// Whether by Ctrl-C, and not by being told to.
    pub(crate) fn by_interrupt(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// From now on the first Ctrl-C or SIGTERM sets `stop` and calls `wake`, so that the verb can end
/// by itself; a second one ends the program at once.
///
/// # Errors
/// When signals cannot be waited for.
pub(crate) fn gently(
    stop: &Arc<AtomicBool>,
    wake: impl FnOnce() + Send + 'static,
) -> Result<Ended> {
    let failed = |source| Failure::File { doing: "waiting for signals".to_owned(), source };
    let interrupted = Arc::new(AtomicBool::new(false));
    let (mut told, tell) = UnixStream::pair().map_err(failed)?;
    let terminated = 128 + SIGTERM;
    flag::register_conditional_shutdown(SIGTERM, terminated, AT_ONCE.clone()).map_err(failed)?;
    AT_ONCE.store(false, Ordering::Relaxed);
    flag::register(SIGINT, interrupted.clone()).map_err(failed)?;
    for signal in [SIGINT, SIGTERM] {
        flag::register(signal, AT_ONCE.clone()).map_err(failed)?;
        flag::register(signal, stop.clone()).map_err(failed)?;
        pipe::register(signal, tell.try_clone().map_err(failed)?).map_err(failed)?;
    }
    std::thread::spawn(move || {
        // Whatever comes, or that nothing can come any more, ends the waiting.
        let _ = told.read(&mut [0]);
        wake();
    });
    Ok(Ended(interrupted))
}

/// From now on signals are somebody else's affair: a conversation interrupts a turn with them.
pub(crate) fn leave_interrupts() {
    AT_ONCE.store(false, Ordering::Relaxed);
}

/// From now on Ctrl-C ends the program at once again.
pub(crate) fn heed_interrupts() {
    AT_ONCE.store(true, Ordering::Relaxed);
}

/// Lets a write beyond the system's limit for files fail like one to a full disk, instead of ending
/// the program.
pub(crate) fn on_file_limit() {
    let ignored = Arc::new(AtomicBool::new(false));
    // Without a handler the program ends; what it had not committed is as if it never began.
    let _ = flag::register(SIGXFSZ, ignored);
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
        // The error itself found no way out as an answer. A terminal that is gone is why it was
        // stopped.
        Err(error) if !error.is_closed_pipe() && !failure.is_stop() => {
            let _ = output.failure(&error);
            ExitCode::from(error.exit_code())
        }
        _ => ExitCode::from(failure.exit_code()),
    }
}
