//! `compact` and `gauge`: measure how full the context is, and compact it on request.

use super::AgentSession;
use crate::cache_key::cache_key;
use crate::gauge::Gauge;
use crate::notify::event::CompactionReason;
use crate::turn::{Compacted, Log, compact};
use crate::{Error, Result};
use futures_util::future::{BoxFuture, FutureExt};

impl AgentSession {
    /// Returns how full the context is, computed from the log alone: the usage of the last model
    /// call, in this session or in the inherited history, and an estimate of what was written
    /// since.
    ///
    /// # Errors
    /// `not_found`, `corrupt`.
    pub async fn gauge(&self) -> Result<Gauge> {
        let id = self.id();
        let pressure = self.context().kernel.run(move |engine| engine.context_usage(&id)).await?;
        Ok(Gauge::of(pressure, self.equipment().model.context_window()))
    }

    /// Compacts the history now. Returns `None` if there is nothing to compact, a hook denies it,
    /// or it is interrupted.
    ///
    /// # Errors
    /// `busy` naming the runtime that holds the lease.
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
