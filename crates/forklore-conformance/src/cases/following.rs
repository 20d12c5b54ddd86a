//! A reader of the feed, as the cases of the feed use it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use forklore_store::port::{Filter, Mark, SessionChange, Since};

use crate::scene::{Scene, id};

/// A wait that ends as soon as it begins.
pub(super) const NO_TIME: Duration = Duration::ZERO;
/// A wait that is over soon.
pub(super) const SHORT: Duration = Duration::from_millis(1);
/// A wait that only a store that does not wake its readers needs to the end.
pub(super) const LONG: Duration = Duration::from_secs(60);

/// Reads the feed page by page, and knows what it has seen.
pub(super) struct Follower {
    since: Since,
    /// The heads seen last, by session.
    pub(super) heads: BTreeMap<String, i64>,
    /// Sessions seen to be gone.
    pub(super) removed: BTreeSet<String>,
    /// The last page.
    pub(super) last: Vec<SessionChange>,
    /// Whether more followed it.
    pub(super) more: bool,
}

impl Follower {
    pub(super) fn from(since: Since) -> Self {
        let (heads, removed, last) = <_>::default();
        Self { since, heads, removed, last, more: false }
    }

    /// One that stands behind everything that is there.
    #[track_caller]
    pub(super) fn now(scene: &Scene<'_>) -> Self {
        let mut reader = Self::from(Since::Now);
        reader.read(scene, 0, NO_TIME);
        assert_eq!((reader.last.len(), reader.more), (0, false));
        reader
    }

    /// Where it stands.
    pub(super) fn position(&self) -> Since {
        self.since.clone()
    }

    /// The mark behind what was read, as it is stored.
    pub(super) fn stored(&self) -> String {
        let Since::Mark(mark) = &self.since else { panic!("nothing was read") };
        mark.to_string()
    }

    /// One that begins at a stored mark.
    pub(super) fn at(stored: &str) -> Self {
        Self::from(Since::Mark(stored.parse::<Mark>().unwrap()))
    }

    /// Reads a page.
    #[track_caller]
    pub(super) fn read(&mut self, scene: &Scene<'_>, limit: usize, wait: Duration) {
        let page = scene.store().changes(&self.since, limit, wait).unwrap();
        let mut met = BTreeSet::new();
        for change in &page.sessions {
            let name = change.session.to_string();
            assert!(met.insert(name.clone()), "{name} is twice in one page");
            assert!(!self.removed.contains(&name), "{name} was removed before");
            if change.removed {
                self.removed.insert(name);
                continue;
            }
            let before = self.heads.insert(name.clone(), change.head_seq);
            assert!(before.is_none_or(|head| head <= change.head_seq), "{name} went back");
        }
        self.since = Since::Mark(page.mark);
        (self.last, self.more) = (page.sessions, page.more);
    }

    /// Reads a page, and which sessions it names.
    #[track_caller]
    pub(super) fn ids(&mut self, scene: &Scene<'_>, limit: usize) -> Vec<String> {
        self.read(scene, limit, NO_TIME);
        self.last.iter().map(|change| change.session.to_string()).collect()
    }

    /// Reads everything that is there.
    #[track_caller]
    pub(super) fn drain(&mut self, scene: &Scene<'_>, limit: usize) {
        loop {
            self.read(scene, limit, NO_TIME);
            if self.last.is_empty() && !self.more {
                return;
            }
        }
    }

    /// Asserts that what it has seen last of each session is so now.
    #[track_caller]
    pub(super) fn assert_up_to_date(&self, scene: &Scene<'_>) {
        for (session, head) in &self.heads {
            let header = scene.store().header(&id(session)).unwrap();
            let gone = self.removed.contains(session);
            assert_eq!(header.deleted.is_some(), gone, "{session}");
            assert!(gone || header.head_seq() == *head, "{session}");
        }
    }

    /// Asserts that it has seen every session there is.
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
