//! Runs an operation of a session, and interrupts it when a cancellation token is cancelled.

use std::time::Duration;

use forklore_agent::AgentSession;
use tokio_util::sync::CancellationToken;

/// The interval between attempts to interrupt a turn that has not started yet.
const RETRY: Duration = Duration::from_millis(5);

/// Runs `work`, an operation of `session`, to its end. If the token `cancel` is cancelled,
/// interrupts the session, so that `work` ends by itself with its result so far.
pub(crate) async fn interruptible<T>(
    session: &AgentSession,
    cancel: &CancellationToken,
    work: impl Future<Output = T>,
) -> T {
    let mut work = std::pin::pin!(work);
    let interrupt = async {
        cancel.cancelled().await;
        while !session.interrupt() {
            tokio::time::sleep(RETRY).await;
        }
    };
    tokio::select! {
        biased;
        done = &mut work => return done,
        () = interrupt => {}
    }
    work.await
}
