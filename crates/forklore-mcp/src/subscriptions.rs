//! Subscriptions: a client hears when a session changes that it reads as a resource.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use forklore_core::SessionId;
use forklore_engine::Engine;
use rmcp::Peer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{RoleServer, SubscriptionContext};

use crate::feed::{Feed, Reader};
use crate::refusal::Refusal;

/// How often a connection without changes is checked for whether its client is still there.
const CHECK: Duration = Duration::from_secs(2);

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
        (feed, engine): (&Arc<Feed>, &Engine),
        peer: Peer<RoleServer>,
    ) -> Result<(), Refusal> {
        self.wanted().insert(session.clone(), uri);
        if self.follows.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let reader = match feed.read(engine).await {
            Ok(reader) => reader,
            Err(refusal) => {
                self.follows.store(false, Ordering::Release);
                self.wanted().remove(&session);
                return Err(refusal);
            }
        };
        let subscriptions = Arc::clone(self);
        tokio::spawn(async move {
            subscriptions.follow(reader, &peer).await;
            // Another subscription begins anew.
            subscriptions.follows.store(false, Ordering::Release);
        });
        Ok(())
    }

    /// Reports changes until the client is gone or the feed cannot be read.
    async fn follow(&self, mut reader: Reader, peer: &Peer<RoleServer>) {
        while !peer.is_transport_closed() {
            let Ok(next) = tokio::time::timeout(CHECK, reader.next()).await else { continue };
            let Some(changed) = next else { return };
            let uris = changed.of(&self.wanted());
            for uri in uris {
                let updated = ResourceUpdatedNotificationParam::new(uri);
                if peer.notify_resource_updated(updated).await.is_err() {
                    return;
                }
            }
        }
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
    (feed, engine): (&Arc<Feed>, &Engine),
    wanted: HashMap<SessionId, String>,
    context: &SubscriptionContext,
) -> Result<(), Refusal> {
    let mut reader = feed.read(engine).await?;
    // The client was promised updates before the feed was read, so it may have missed some.
    let mut uris: Vec<_> = wanted.values().cloned().collect();
    loop {
        for uri in uris {
            if context.sink().notify_resource_updated(uri).await.is_err() {
                return Ok(());
            }
        }
        let changed = tokio::select! {
            () = context.cancelled() => None,
            changed = reader.next() => changed,
        };
        let Some(changed) = changed else { return Ok(()) };
        uris = changed.of(&wanted);
    }
}
