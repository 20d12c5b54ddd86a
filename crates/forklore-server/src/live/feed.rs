//! One reader of the store's feed for all followers. It wakes those of a session that changed.
//!
//! A follower reads the store itself, from its own position. So the feed only says that there is
//! something to read, and a follower that misses a call loses nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use forklore::Engine;
use forklore::store::port::{Changes, Since};
use forklore_core::SessionId;
use tokio::sync::watch;

/// How many changes are read at once.
const PAGE: usize = 1_000;
/// How long one call waits for a change.
const WAIT: Duration = Duration::from_secs(5);
/// How long the reader pauses after an error of the store.
const PAUSE: Duration = Duration::from_millis(500);

/// The followers of the store and of its sessions. Clones share them.
#[derive(Clone)]
pub(crate) struct Feed(Arc<Followers>);

struct Followers {
    store: watch::Sender<u64>,
    sessions: Mutex<HashMap<SessionId, watch::Sender<u64>>>,
}

impl Feed {
    /// Begins to read the feed, on a thread that ends when nobody has the feed any more.
    pub(crate) fn follow(engine: Engine) -> Self {
        let followers = Arc::new(Followers {
            store: watch::Sender::new(0),
            sessions: Mutex::new(HashMap::new()),
        });
        let weak = Arc::downgrade(&followers);
        let reader = std::thread::Builder::new().name("feed".into());
        // Without the thread, followers still look at intervals.
        let _ = reader.spawn(move || read(&engine, &weak));
        Self(followers)
    }

    /// Returns a receiver that changes when anything in the store does.
    pub(crate) fn store(&self) -> watch::Receiver<u64> {
        self.0.store.subscribe()
    }

    /// Returns a receiver that changes when a session does.
    pub(crate) fn session(&self, id: &SessionId) -> watch::Receiver<u64> {
        let mut sessions = self.0.sessions();
        // Nobody follows these any more.
        if sessions.len() > 64 && sessions.len().is_power_of_two() {
            sessions.retain(|_, sender| sender.receiver_count() > 0);
        }
        sessions.entry(id.clone()).or_insert_with(|| watch::Sender::new(0)).subscribe()
    }
}

impl Followers {
    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, watch::Sender<u64>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self, changes: &Changes) {
        if changes.sessions.is_empty() {
            return;
        }
        let mut sessions = self.sessions();
        for change in &changes.sessions {
            if let Some(sender) = sessions.get(&change.session) {
                sender.send_modify(|count| *count += 1);
                if sender.receiver_count() == 0 {
                    sessions.remove(&change.session);
                }
            }
        }
        drop(sessions);
        self.store.send_modify(|count| *count += 1);
    }

    /// Wakes everybody, because what happened meanwhile is unknown.
    fn wake_all(&self) {
        self.sessions().values().for_each(|sender| sender.send_modify(|count| *count += 1));
        self.store.send_modify(|count| *count += 1);
    }
}

fn read(engine: &Engine, followers: &Weak<Followers>) {
    let mut since = Since::Now;
    while followers.strong_count() > 0 {
        let changes = engine.store().changes(&since, PAGE, WAIT);
        let Some(followers) = followers.upgrade() else { return };
        match changes {
            Ok(changes) => {
                followers.wake(&changes);
                since = Since::Mark(changes.mark);
            }
            Err(_) => {
                followers.wake_all();
                since = Since::Now;
                drop(followers);
                std::thread::sleep(PAUSE);
            }
        }
    }
}
