//! One reader of the store's feed for all followers. It wakes those of a session that changed.
//!
//! A follower reads the store from its own position. So the feed only says that there is something to
//! read, and a follower that misses a call loses nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use forklore::Engine;
use forklore::store::port::{Changes, Since};
use forklore_core::SessionId;
use tokio::sync::watch;

use super::shared::Shared;

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
    store: Topic,
    sessions: Mutex<HashMap<SessionId, Topic>>,
}

/// Something that is followed: the number of its changes, and what its followers read.
#[derive(Default)]
struct Topic {
    version: watch::Sender<u64>,
    shared: Arc<Shared>,
}

/// What one follower has of a topic.
pub(crate) struct Followed {
    /// Changes when the topic does.
    pub(crate) version: watch::Receiver<u64>,
    pub(crate) shared: Arc<Shared>,
}

impl Topic {
    fn follow(&self) -> Followed {
        Followed { version: self.version.subscribe(), shared: Arc::clone(&self.shared) }
    }

    fn wake(&self) {
        self.version.send_modify(|version| *version += 1);
    }

    fn is_followed(&self) -> bool {
        self.version.receiver_count() > 0
    }
}

impl Feed {
    /// Begins to read the feed, on a thread that ends when nobody has the feed any more.
    pub(crate) fn follow(engine: Engine) -> Self {
        let followers =
            Arc::new(Followers { store: Topic::default(), sessions: Mutex::new(HashMap::new()) });
        let weak = Arc::downgrade(&followers);
        let reader = std::thread::Builder::new().name("feed".into());
        // Without the thread, followers still look at intervals.
        let _ = reader.spawn(move || read(&engine, &weak));
        Self(followers)
    }

    /// Follows all sessions of the store.
    pub(crate) fn store(&self) -> Followed {
        self.0.store.follow()
    }

    /// Follows a session.
    pub(crate) fn session(&self, id: &SessionId) -> Followed {
        let mut sessions = self.0.sessions();
        // Nobody follows these any more.
        if sessions.len() > 64 && sessions.len().is_power_of_two() {
            sessions.retain(|_, topic| topic.is_followed());
        }
        sessions.entry(id.clone()).or_default().follow()
    }
}

impl Followers {
    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, Topic>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self, changes: &Changes) {
        if changes.sessions.is_empty() {
            return;
        }
        let mut sessions = self.sessions();
        for change in &changes.sessions {
            if let Some(topic) = sessions.get(&change.session) {
                topic.wake();
                if !topic.is_followed() {
                    sessions.remove(&change.session);
                }
            }
        }
        drop(sessions);
        self.store.wake();
    }

    /// Wakes everybody, because what happened meanwhile is unknown.
    fn wake_all(&self) {
        self.sessions().values().for_each(Topic::wake);
        self.store.wake();
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
