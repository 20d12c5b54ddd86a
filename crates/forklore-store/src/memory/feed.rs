//! The feed of the memory store: the sequence of changed sessions, in the order of their last
//! writes. Each write counts as a commit of its own.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use forklore_core::SessionId;

use super::state::State;
use crate::error::{Error, Result};
use crate::feed::{At, Bell, Position, Stamp, What, commit_page, list_page, listed};
use crate::port::{Changes, Since};

/// The state of the feed: the number of the last write, and a stamp for each session by its
/// case-folded id. A stamp contains the numbers of the last writes that changed the session.
#[derive(Debug)]
pub(super) struct Feed {
    store: String,
    last: u64,
    stamps: BTreeMap<String, Stamp>,
    pub(super) bell: Arc<Bell>,
}

impl Default for Feed {
    fn default() -> Self {
        // Each store gets a random feed identity, so that marks of other stores are refused.
        let store = format!("{:016x}", RandomState::new().hash_one(0));
        Self { store, last: 0, stamps: BTreeMap::new(), bell: Arc::default() }
    }
}

impl Feed {
    /// Records a write to a session in the feed and wakes the feed's readers. The readers see the
    /// write after the caller unlocks the store's state.
    pub(super) fn record(&mut self, session: &SessionId, what: What) {
        self.last += 1;
        self.stamps.entry(session.fold()).or_default().note(what, self.last);
        self.bell.ring();
    }
}

impl State {
    /// Returns the changes after the position `since`, without waiting.
    pub(super) fn changes(&self, since: &Since, limit: usize) -> Result<Changes> {
        let feed = &self.feed;
        let position = match since {
            Since::Now => Position::behind(&feed.store, 0, feed.last),
            Since::Beginning => Position {
                at: At::Listed(String::new()),
                ..Position::behind(&feed.store, 0, feed.last)
            },
            Since::Mark(mark) => {
                let position = Position::of(mark, &feed.store)?;
                if position.base > feed.last {
                    let message = "the store was put back to an earlier state".into();
                    return Err(Error::MarkExpired { mark: mark.clone(), message });
                }
                position
            }
        };
        Ok(match &position.at {
            At::Listed(behind) => {
                let all = self
                    .sessions
                    .iter()
                    .filter(|(key, session)| *key > behind && session.header.deleted.is_none());
                let list = all.map(|(key, session)| (key.clone(), listed(&session.header)));
                list_page(&position, list.collect(), limit, feed.last)
            }
            At::Commit(number, session) => {
                let behind = feed.stamps.iter().filter_map(|(key, stamp)| {
                    // The second number is always 0, because each write has a commit number of its
                    // own.
                    let at = (stamp.last(), 0);
                    let header = &self.sessions.get(key)?.header;
                    let (head, removed) = (header.head_seq(), header.deleted.is_some());
                    let change = stamp.behind(position.base, header.id.clone(), head, removed);
                    (at > (*number, *session)).then_some((at, change))
                });
                commit_page(&position, behind.collect(), limit, feed.last)
            }
        })
    }
}
