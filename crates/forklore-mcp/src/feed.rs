//! The store's feed, which one thread reads for all connections of a server.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use forklore_core::SessionId;
use forklore_engine::{Engine, Error};
use forklore_store::Store;
use forklore_store::port::{Mark, Since};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender, WeakSender, channel};

use crate::refusal::Refusal;

/// How long one wait for the store's feed lasts. After that, the feed looks whether anybody reads it.
const WAIT: Duration = Duration::from_secs(2);
/// The number of pages that a reader may be behind. After that, it takes everything as changed.
const BEHIND: usize = 64;

/// The sessions of one page of the feed.
type Page = Arc<[SessionId]>;

/// Reads the feed of a store while anybody wants to know what changes.
#[derive(Default)]
pub(crate) struct Feed(tokio::sync::Mutex<Option<WeakSender<Page>>>);

impl Feed {
    /// Returns a reader of what happens from now on.
    pub(crate) async fn read(self: &Arc<Self>, engine: &Engine) -> Result<Reader, Refusal> {
        let mut running = self.0.lock().await;
        if let Some(sender) = running.as_ref().and_then(WeakSender::upgrade) {
            return Ok(Reader(sender.subscribe()));
        }
        let mut pages = Pages::now(engine).await?;
        let (sender, receiver) = channel(BEHIND);
        *running = Some(sender.downgrade());
        let feed = Arc::clone(self);
        tokio::spawn(async move {
            while let Some(changed) = pages.next().await {
                let is_idle = match changed.is_empty() {
                    true => sender.receiver_count() == 0,
                    false => sender.send(changed).is_err(),
                };
                if is_idle && feed.ends(&sender).await {
                    return;
                }
            }
        });
        Ok(Reader(receiver))
    }

    /// Checks whether nobody reads any more. Then the next reader begins anew.
    async fn ends(&self, sender: &Sender<Page>) -> bool {
        let mut running = self.0.lock().await;
        let is_idle = sender.receiver_count() == 0;
        if is_idle {
            *running = None;
        }
        is_idle
    }
}

/// What changed.
pub(crate) enum Changed {
    /// These sessions.
    These(Page),
    /// Possibly all.
    All,
}

impl Changed {
    /// Returns the addresses of the changed sessions among those in `wanted`.
    pub(crate) fn of(&self, wanted: &HashMap<SessionId, String>) -> Vec<String> {
        match self {
            Self::These(sessions) => {
                sessions.iter().filter_map(|session| wanted.get(session)).cloned().collect()
            }
            Self::All => wanted.values().cloned().collect(),
        }
    }
}

/// One of the readers of a feed.
pub(crate) struct Reader(Receiver<Page>);

impl Reader {
    /// Waits for a change. `None` if the feed cannot be read.
    pub(crate) async fn next(&mut self) -> Option<Changed> {
        match self.0.recv().await {
            Ok(page) => Some(Changed::These(page)),
            Err(RecvError::Lagged(_)) => Some(Changed::All),
            Err(RecvError::Closed) => None,
        }
    }
}

/// The pages of a store's feed.
struct Pages {
    store: Arc<dyn Store>,
    mark: Mark,
}

impl Pages {
    async fn now(engine: &Engine) -> Result<Self, Refusal> {
        let store = engine.shared_store();
        let read = {
            let store = Arc::clone(&store);
            tokio::task::spawn_blocking(move || store.changes(&Since::Now, 0, Duration::ZERO)).await
        };
        let failed = |error| Error::io("reading the feed", std::io::Error::other(error));
        let mark = read.map_err(failed)?.map_err(Error::from)?.mark;
        Ok(Self { store, mark })
    }

    /// Waits for changes, and returns the sessions that changed: none after a while. `None` if the
    /// feed cannot be read.
    async fn next(&mut self) -> Option<Page> {
        let (store, since) = (Arc::clone(&self.store), Since::Mark(self.mark.clone()));
        let read = tokio::task::spawn_blocking(move || store.changes(&since, 0, WAIT)).await;
        match read {
            Ok(Ok(page)) => {
                self.mark = page.mark;
                Some(page.sessions.into_iter().map(|change| change.session).collect())
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "the feed cannot be read: subscriptions end");
                None
            }
            Err(_) => None,
        }
    }
}
