//! Interrupting what runs in a session.

use std::time::Duration;

use forklore_agent::AgentSession;
use tokio_util::sync::CancellationToken;

/// How soon the host tries again to interrupt a turn that is about to begin.
const RETRY: Duration = Duration::from_millis(5);

/// Runs `work` of a session to its end. When `cancel` is cancelled, the session is interrupted:
/// `work` then ends by itself and keeps what it has.
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
