//! The reader of the feed that the cases about the feed use.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use forklore_store::port::{Filter, Mark, SessionChange, Since};

use crate::scene::{Scene, id};

/// Timeout of a test that reads the feed without waiting for changes.
pub(super) const NO_TIME: Duration = Duration::ZERO;
/// Timeout of a test that waits a millisecond for changes in the feed.
pub(super) const SHORT: Duration = Duration::from_millis(1);
/// Timeout of a test that waits long enough for any commit to appear in the feed. The wait times
/// out only if the store does not wake its readers.
pub(super) const LONG: Duration = Duration::from_secs(60);

/// A test reader of the feed (the store's sequence of changed sessions). It reads page by page and
/// remembers what the pages contained.
pub(super) struct Follower {
    since: Since,
    /// The last head (the seq of the last event) that the feed reported for each session.
    pub(super) heads: BTreeMap<String, i64>,
    /// The ids of the sessions that the feed reported as removed.
    pub(super) removed: BTreeSet<String>,
    /// The changes on the page that this reader read last.
    pub(super) last: Vec<SessionChange>,
    /// Whether more pages follow the page that was read last.
    pub(super) more: bool,
}

impl Follower {
    pub(super) fn from(since: Since) -> Self {
        let (heads, removed, last) = <_>::default();
        Self { since, heads, removed, last, more: false }
    }

    /// Creates a reader of the feed that gets only later changes.
    #[track_caller]
    pub(super) fn now(scene: &Scene<'_>) -> Self {
        let mut reader = Self::from(Since::Now);
        reader.read(scene, 0, NO_TIME);
        assert_eq!((reader.last.len(), reader.more), (0, false));
        reader
    }

    /// Returns the position in the feed at which this reader continues.
    pub(super) fn position(&self) -> Since {
        self.since.clone()
    }

    /// Returns the mark after the page that was read last, as a string: the form in which a caller
    /// would store it.
    pub(super) fn stored(&self) -> String {
        let Since::Mark(mark) = &self.since else { panic!("nothing was read") };
        mark.to_string()
    }

    /// Creates a reader of the feed that continues after the position `stored`, a result of
    /// [`Follower::stored`].
    pub(super) fn at(stored: &str) -> Self {
        Self::from(Since::Mark(stored.parse::<Mark>().unwrap()))
    }

    /// Reads one page of the feed. Checks that the page contains no session twice. Checks that a
    /// session that was reported as removed appears again only as removed or created. Checks that
    /// no head is lower than the head that was reported before for the same session.
    #[track_caller]
    pub(super) fn read(&mut self, scene: &Scene<'_>, limit: usize, wait: Duration) {
        let page = scene.store().changes(&self.since, limit, wait).unwrap();
        let mut met = BTreeSet::new();
        for change in &page.sessions {
            let name = change.session.to_string();
            assert!(met.insert(name.clone()), "{name} is twice in one page");
            if change.removed {
                self.removed.insert(name);
                continue;
            }
            let was_removed = self.removed.remove(&name);
            assert!(!was_removed || change.created, "{name} was removed before");
            let before = self.heads.insert(name.clone(), change.head_seq);
            assert!(before.is_none_or(|head| head <= change.head_seq), "{name} went back");
        }
        self.since = Since::Mark(page.mark);
        (self.last, self.more) = (page.sessions, page.more);
    }

    /// Reads one page of the feed and returns the ids of the sessions on that page.
    #[track_caller]
    pub(super) fn ids(&mut self, scene: &Scene<'_>, limit: usize) -> Vec<String> {
        self.read(scene, limit, NO_TIME);
        self.last.iter().map(|change| change.session.to_string()).collect()
    }

    /// Reads pages of the feed until there are no more changes.
    #[track_caller]
    pub(super) fn drain(&mut self, scene: &Scene<'_>, limit: usize) {
        loop {
            self.read(scene, limit, NO_TIME);
            if self.last.is_empty() && !self.more {
                return;
            }
        }
    }

    /// Asserts that the feed reported the current state of each session that this reader has seen.
    /// The last report of a session, either its head or its removal, must match the store.
    #[track_caller]
    pub(super) fn assert_up_to_date(&self, scene: &Scene<'_>) {
        for (session, head) in &self.heads {
            let header = scene.store().header(&id(session)).unwrap();
            let gone = self.removed.contains(session);
            assert_eq!(header.deleted.is_some(), gone, "{session}");
            assert!(gone || header.head_seq() == *head, "{session}");
        }
    }

    /// Reads pages of the feed until there are no more changes. Asserts that they reported at least
    /// the head that every session had before, although others may still write.
    #[track_caller]
    pub(super) fn catch_up(&mut self, scene: &Scene<'_>, limit: usize) {
        let before = scene.store().sessions(&Filter::default(), None, 0).unwrap().all().unwrap();
        self.drain(scene, limit);
        for header in before {
            let reported = self.heads.get(header.id.as_str()).copied();
            assert!(reported >= Some(header.head_seq()), "{}: {reported:?}", header.id);
        }
    }

    /// Asserts that the feed reported the current head of every session that is not deleted.
    #[track_caller]
    pub(super) fn assert_complete(&self, scene: &Scene<'_>) {
        let all = scene.store().sessions(&Filter::default(), None, 0).unwrap().all().unwrap();
        for header in all {
            assert_eq!(
                self.heads.get(header.id.as_str()),
                Some(&header.head_seq()),
                "{}",
                header.id
            );
        }
    }
}
