//! `compact` and `gauge`: compact the history on request, and measure how full the context window
//! is.

use super::AgentSession;
use crate::cache_key::cache_key;
use crate::gauge::Gauge;
use crate::notify::event::CompactionReason;
use crate::turn::{Compacted, Log, compact};
use crate::{Error, Result};
use futures_util::future::{BoxFuture, FutureExt};

impl AgentSession {
    /// Returns how full the context window is. Computes the number of tokens from the log alone. It
    /// is the usage of the last model call, in this session or in the inherited history, plus an
    /// estimate for the later messages.
    ///
    /// # Errors
    /// - `not_found`: the session does not exist or was deleted.
    /// - `corrupt`: the session's data is damaged.
    pub async fn gauge(&self) -> Result<Gauge> {
        let id = self.id();
        let pressure = self.context().kernel.run(move |engine| engine.context_usage(&id)).await?;
        Ok(Gauge::of(pressure, self.equipment().model.context_window()))
    }

    /// Compacts the history now. Returns `None` if there is nothing to compact, a hook denies the
    /// compaction, or the work is interrupted.
    ///
    /// # Errors
    /// `busy`: this runtime is running a turn, or another runtime has leased the session. In the
    /// second case the error names the other runtime.
    pub fn compact(&self) -> BoxFuture<'_, Result<Option<Compacted>>> {
        async move {
            let inner = &self.inner;
            let mut view = inner.turn.try_lock().map_err(|_| Error::Running(self.id()))?;
            inner.make_ready().await?;
            let running = inner.context.begin();
            let (mut log, header) = Log::open(&inner.context, &mut view).await?;
            let key = cache_key(&header.root_id);
            let compacted = compact(
                &mut log,
                &self.equipment(),
                key,
                CompactionReason::Requested,
                &running.cancel,
            )
            .await;
            log.close().await;
            compacted
        }
        .boxed()
    }
}
