//! Says which server has not answered yet, so that nobody takes the program for stuck.

use std::io::{self, Write as _};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use forklore::StoreUrl;
use forklore_sanitize::terminal;

/// How long a server may take before the program says that it waits.
const PATIENCE: Duration = Duration::from_secs(2);

/// Opens the store at `url` with `open`. Prints one line to standard error if a server takes long.
pub(crate) fn for_server<T>(url: &StoreUrl, open: impl FnOnce() -> T) -> T {
    if url.path().is_some() {
        return open();
    }
    thread::scope(|scope| {
        let (running, done) = mpsc::channel::<()>();
        scope.spawn(move || {
            if done.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let server = url.location();
                // Nobody is told if standard error is closed.
                let _ = writeln!(
                    io::stderr(),
                    "waiting for {}; Ctrl-C ends this",
                    terminal::line(&server)
                );
            }
        });
        let opened = open();
        drop(running);
        opened
    })
}
