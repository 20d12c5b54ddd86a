//! Handles signals (docs/semantics.md, Errors).

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use forklore::core::ErrorKind;
use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::low_level::pipe;

use crate::failure::{Failure, Result};

/// Whether SIGINT or SIGTERM ends the program immediately. Applies only to a signal whose handler
/// is registered.
static AT_ONCE: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| Arc::new(AtomicBool::new(true)));

/// Makes Ctrl-C end the program immediately with exit code 130. The store rolls back uncommitted
/// writes.
pub(crate) fn on_interrupt() {
    let at_once = AT_ONCE.clone();
    let code = i32::from(ErrorKind::Interrupted.exit_code());
    // If the handler cannot be registered, Ctrl-C still ends the program, but with the system's own
    // status.
    let _ = flag::register_conditional_shutdown(SIGINT, code, at_once);
}

/// Runs work during which Ctrl-C does not end the program, because another program handles it.
pub(crate) fn ignored<T>(work: impl FnOnce() -> T) -> T {
    AT_ONCE.store(false, Ordering::Relaxed);
    let done = work();
    AT_ONCE.store(true, Ordering::Relaxed);
    done
}

/// Records which signal ended a command that runs until it is stopped.
pub(crate) struct Ended(Arc<AtomicBool>);

impl Ended {
    /// Checks whether Ctrl-C ended the command. If not, SIGTERM did.
    pub(crate) fn by_interrupt(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Registers handlers with which the first Ctrl-C or SIGTERM sets `stop` and calls `wake`, so that
/// the command can end by itself. A second Ctrl-C or SIGTERM ends the program immediately.
///
/// # Errors
/// When signal handlers cannot be registered.
pub(crate) fn gently(
    stop: &Arc<AtomicBool>,
    wake: impl FnOnce() + Send + 'static,
) -> Result<Ended> {
    let failed = |source| Failure::File { doing: "waiting for signals".to_owned(), source };
    let interrupted = Arc::new(AtomicBool::new(false));
    let (mut reported, tell) = UnixStream::pair().map_err(failed)?;
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
        // The read ends when a signal arrives, or with an error if no signal can arrive any more.
        let _ = reported.read(&mut [0]);
        wake();
    });
    Ok(Ended(interrupted))
}

/// Disables the immediate exit on Ctrl-C, because a conversation or a pager handles Ctrl-C itself.
pub(crate) fn leave() {
    AT_ONCE.store(false, Ordering::Relaxed);
}

/// Runs `work` without the immediate exit on Ctrl-C. Afterwards Ctrl-C does what it did before.
pub(crate) fn suspended<T>(work: impl FnOnce() -> T) -> T {
    let before = AT_ONCE.swap(false, Ordering::Relaxed);
    let done = work();
    AT_ONCE.store(before, Ordering::Relaxed);
    done
}

/// Enables the immediate exit on Ctrl-C again.
pub(crate) fn heed() {
    AT_ONCE.store(true, Ordering::Relaxed);
}

/// Makes a write beyond the system's file size limit fail with an error, like a write to a full
/// disk. By default, the signal SIGXFSZ would end the program.
pub(crate) fn on_file_limit() {
    let ignored = Arc::new(AtomicBool::new(false));
    // If the handler cannot be registered, such a write ends the program, and the store rolls back
    // uncommitted writes.
    let _ = flag::register(SIGXFSZ, ignored);
}
