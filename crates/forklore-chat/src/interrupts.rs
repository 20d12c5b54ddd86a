//! Ctrl-C while something runs.

use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The times that Ctrl-C is pressed from now on; none is missed.
pub(crate) struct Interrupts(Option<Signal>);

impl Interrupts {
    /// Listens from now on. Where a system cannot be listened to, nothing is ever heard.
    pub(crate) fn listen(runtime: &Runtime) -> Self {
        let _inside = runtime.enter();
        Self(signal(SignalKind::interrupt()).ok())
    }

    /// The next time.
    pub(crate) async fn next(&mut self) {
        let heard = match &mut self.0 {
            Some(signal) => signal.recv().await,
            None => None,
        };
        if heard.is_none() {
            std::future::pending::<()>().await;
        }
    }
}
