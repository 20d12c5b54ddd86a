//! Subscriptions: a client hears when a session changes that it reads as a resource.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use forklore_core::SessionId;
use forklore_engine::{Engine, Error};
use forklore_store::Store;
use forklore_store::port::{Mark, Since};
use rmcp::Peer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{RoleServer, SubscriptionContext};

use crate::refusal::Refusal;

/// How long one wait for the store's feed lasts. After that, a follower looks whether its client is
/// still there.
const WAIT: Duration = Duration::from_secs(2);

/// The sessions that one connection subscribed to, with their addresses.
#[derive(Default)]
pub(crate) struct Subscriptions {
    wanted: Mutex<HashMap<SessionId, String>>,
    follows: AtomicBool,
}

impl Subscriptions {
    /// Adds a subscription. The first one of a connection begins to follow the store's feed.
    pub(crate) async fn add(
        self: &Arc<Self>,
        session: SessionId,
        uri: String,
        engine: &Engine,
        peer: Peer<RoleServer>,
    ) -> Result<(), Refusal> {
        self.wanted().insert(session, uri);
        if self.follows.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let mut feed = Feed::now(engine).await?;
        let subscriptions = Arc::clone(self);
        tokio::spawn(async move {
            while !peer.is_transport_closed() {
                let Some(changed) = feed.next().await else { return };
                for session in changed {
                    let uri = subscriptions.wanted().get(&session).cloned();
                    if let Some(uri) = uri {
                        let updated = ResourceUpdatedNotificationParam::new(uri);
                        if peer.notify_resource_updated(updated).await.is_err() {
                            return;
                        }
                    }
                }
            }
        });
        Ok(())
    }

    pub(crate) fn remove(&self, uri: &str) {
        self.wanted().retain(|_, subscribed| subscribed != uri);
    }

    fn wanted(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, String>> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reports changes of the sessions in `wanted` until the client ends the subscription. Reports each
/// session once at the beginning.
pub(crate) async fn listen(
    engine: &Engine,
    wanted: HashMap<SessionId, String>,
    context: &SubscriptionContext,
) -> Result<(), Refusal> {
    let mut feed = Feed::now(engine).await?;
    // The client was promised updates before the feed was read, so it may have missed some.
    let mut changed: Option<Vec<_>> = Some(wanted.keys().cloned().collect());
    while let Some(sessions) = changed {
        for uri in sessions.iter().filter_map(|session| wanted.get(session)) {
            if context.sink().notify_resource_updated(uri.clone()).await.is_err() {
                return Ok(());
            }
        }
        changed = tokio::select! {
            () = context.cancelled() => None,
            changed = feed.next() => changed,
        };
    }
    Ok(())
}

/// A reader of the store's feed.
struct Feed {
    store: Arc<dyn Store>,
    mark: Mark,
}

impl Feed {
    /// Returns a reader of what happens from now on.
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
    async fn next(&mut self) -> Option<Vec<SessionId>> {
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
