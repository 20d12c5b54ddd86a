//! Decides to which session of a file a record is appended: to an existing session, to a new
//! session, or to none (docs/semantics.md, Sources).

use forklore_core::agent_format::{Parent, Record};
use forklore_core::call::CallStep;
use forklore_core::{Header, SessionKind};
use forklore_store::sources::RecordLocation;

use crate::branch_start::{BranchParent, BranchStart, Follows};
use crate::event_location::{EventLocation, SHARED};
use crate::file_session::{FileSession, Following};
use crate::route_state::RouteState;

/// The session to which the import appends a record.
#[derive(Debug, PartialEq)]
pub(crate) enum Route {
    /// A session that an earlier record of the file began. The record is appended after the last
    /// event of that session. The value is the session's index among the file's sessions, counted
    /// from 0.
    Into(u32),
    /// A new session, which begins with the record. The value has the parent of the new session and
    /// the position in the parent at which the new session begins.
    Fork(BranchStart),
    /// No session, because the record continues a deleted session. The import stores this location
    /// for the record, so that it also skips the records that continue this record.
    Nowhere(RecordLocation),
}

/// Decides to which session of the file a record is appended. `state` describes the records before
/// it.
#[derive(Clone, Copy)]
pub(crate) struct Router<'r> {
    state: &'r RouteState,
    sessions: &'r [FileSession],
}

impl<'r> Router<'r> {
    pub(crate) fn new(state: &'r RouteState, sessions: &'r [FileSession]) -> Self {
        Self { state, sessions }
    }

    /// Checks whether the record names a parent record that does not precede it in the file.
    /// Returns `false` for a record with only tool results if a session waits for one of them.
    pub(crate) fn lacks_parent(self, record: &Record, parent: Option<RecordLocation>) -> bool {
        let joins = || record.only_results && self.holder(record, None).is_some();
        matches!(record.parent, Parent::Id(_)) && parent.is_none() && !joins()
    }

    /// Decides to which session a record is appended. `parent` is the location of its parent
    /// record, if the record names one and it was found.
    pub(crate) fn route(self, record: &Record, parent: Option<RecordLocation>) -> Route {
        if record.parent == Parent::Previous {
            let last = if record.sidechain { self.state.last } else { self.state.last_main };
            return self.go_on(last.unwrap_or(0));
        }
        if record.only_results
            && let Some(session) = self.holder(record, parent)
        {
            return self.go_on(session);
        }
        let Some(location) = parent else {
            return self.root(record);
        };
        let number = location.session;
        let enters = record.sidechain && !self.state.sidechains.contains(&number);
        if !enters && self.session(number).is_some_and(|session| session.ends_at(location)) {
            return self.go_on(number);
        }
        if self.following(number) == Following::Deleted {
            return Route::Nowhere(location);
        }
        let kind = if enters { SessionKind::Delegate } else { SessionKind::Branch };
        let after = Follows::of(location);
        Route::Fork(BranchStart { parent: BranchParent::Own(number), after, kind })
    }

    /// Decides to which session the import appends a record whose parent record is shared. A shared
    /// record is one that the file's content before a rewrite also has. `spot` is the event of the
    /// parent record, and `header` belongs to the session of that event. `begun` is the shared
    /// event after which the file's first session begins.
    pub(crate) fn after_shared(
        self,
        record: &Record,
        spot: EventLocation,
        header: &Header,
        begun: Option<&EventLocation>,
    ) -> Route {
        if header.deleted.is_some() {
            return Route::Nowhere(SHARED);
        }
        if begun == Some(&spot)
            && self.session(0).is_some_and(|first| {
                first.has_only_inherited() && first.following == Following::Follows
            })
        {
            return Route::Into(0);
        }
        let enters = record.sidechain && header.kind != SessionKind::Delegate;
        let kind = if enters { SessionKind::Delegate } else { SessionKind::Branch };
        let parent = BranchParent::Earlier(spot.session);
        Route::Fork(BranchStart { parent, after: Follows::Seq(spot.seq), kind })
    }

    /// Decides to which session the import appends a record whose parent record is not known. Such
    /// a record is the first of the file, the root of another conversation in it, the first record
    /// of a sub-agent, or a record whose parent is missing.
    fn root(self, record: &Record) -> Route {
        if record.sidechain {
            let number = self.state.last_main.unwrap_or(0);
            let after = Follows::tip(self.session(number));
            let (parent, kind) = (BranchParent::Own(number), SessionKind::Delegate);
            return Route::Fork(BranchStart { parent, after, kind });
        }
        if self.session(0).is_some_and(FileSession::is_empty) {
            return self.go_on(0);
        }
        let (parent, kind) = (BranchParent::Own(0), SessionKind::Branch);
        Route::Fork(BranchStart { parent, after: Follows::Nothing, kind })
    }

    /// Returns the route to the session with this number. If somebody continued that session in
    /// forklore, the record goes into a new branch after the session's last event from the file. If
    /// the session was deleted, the record is skipped.
    fn go_on(self, number: u32) -> Route {
        let session = self.session(number);
        match self.following(number) {
            Following::Follows => Route::Into(number),
            Following::Continued => {
                let (parent, kind) = (BranchParent::Own(number), SessionKind::Branch);
                Route::Fork(BranchStart { parent, after: Follows::tip(session), kind })
            }
            Following::Deleted => {
                let last = session.and_then(FileSession::tip).unwrap_or(0);
                Route::Nowhere(RecordLocation::own(number, last))
            }
        }
    }

    fn session(self, number: u32) -> Option<&'r FileSession> {
        self.sessions.get(usize::try_from(number).ok()?)
    }

    fn following(self, number: u32) -> Following {
        self.session(number).map_or(Following::Deleted, |session| session.following)
    }

    /// Returns the number of the session that waits for one of the record's tool results. Prefers
    /// the session of the parent record. If several other sessions wait for the same result,
    /// returns the one that made the call last. Returns `None` if no session waits for any of the
    /// results.
    fn holder(self, record: &Record, parent: Option<RecordLocation>) -> Option<u32> {
        let results = || {
            record.effect.calls.iter().filter_map(|step| match step {
                CallStep::Close(id) => Some(id.as_str()),
                CallStep::Open(_) => None,
            })
        };
        let at_parent = parent.map(|location| location.session);
        let at_parent = at_parent.filter(|s| results().any(|id| self.state.is_open(*s, id)));
        at_parent.or_else(|| results().find_map(|id| self.state.holder_of(id)))
    }
}

#[cfg(test)]
mod tests {
    use forklore_core::EventType;
    use jiff::Timestamp;

    use super::*;

    fn session(events: u64, following: Following) -> FileSession {
        FileSession {
            id: "s".parse().unwrap(),
            events,
            inherited: 0,
            forked: false,
            following,
            appended: 0,
            updated: Timestamp::UNIX_EPOCH,
        }
    }

    fn record(parent: Parent) -> Record {
        Record { parent, ..Record::of(EventType::USER_MESSAGE) }
    }

    fn child_of(id: &str) -> Record {
        record(Parent::Id(id.to_owned()))
    }

    fn own(session: u32, position: u64) -> Option<RecordLocation> {
        Some(RecordLocation::own(session, position))
    }

    fn fork(parent: u32, after: Follows, kind: SessionKind) -> Route {
        Route::Fork(BranchStart { parent: BranchParent::Own(parent), after, kind })
    }

    #[test]
    fn a_record_goes_on_after_its_parent_or_branches_there() {
        let state = RouteState { last: Some(1), last_main: Some(0), ..RouteState::default() };
        let sessions = [session(3, Following::Follows), session(2, Following::Follows)];
        let router = Router::new(&state, &sessions);
        let side = |parent| Record { sidechain: true, ..record(parent) };
        assert_eq!(router.route(&record(Parent::Previous), None), Route::Into(0));
        assert_eq!(router.route(&side(Parent::Previous), None), Route::Into(1));
        assert_eq!(router.route(&child_of("a"), own(1, 1)), Route::Into(1));
        let branch = fork(0, Follows::Own(1), SessionKind::Branch);
        assert_eq!(router.route(&child_of("a"), own(0, 1)), branch);
        let second_root = fork(0, Follows::Nothing, SessionKind::Branch);
        assert_eq!(router.route(&record(Parent::None), None), second_root);
        let delegate = fork(0, Follows::Own(2), SessionKind::Delegate);
        assert_eq!(router.route(&side(Parent::Id("a".to_owned())), own(0, 2)), delegate);
        assert_eq!(router.route(&side(Parent::None), None), delegate);
    }

    #[test]
    fn a_record_leaves_sessions_that_no_longer_follow_their_file() {
        let state = RouteState::default();
        let sessions = [session(3, Following::Continued), session(2, Following::Deleted)];
        let router = Router::new(&state, &sessions);
        let branch = fork(0, Follows::Own(2), SessionKind::Branch);
        assert_eq!(router.route(&record(Parent::Previous), None), branch);
        assert_eq!(router.route(&child_of("a"), own(0, 2)), branch);
        let nowhere = |position| Route::Nowhere(RecordLocation::own(1, position));
        assert_eq!(router.route(&child_of("a"), own(1, 1)), nowhere(1));
        assert_eq!(router.route(&child_of("a"), own(1, 0)), nowhere(0));
    }

    #[test]
    fn results_join_the_session_that_waits_for_them() {
        let mut state = RouteState::default();
        state.open_call(1, "call");
        let sessions = [session(3, Following::Follows), session(2, Following::Follows)];
        let router = Router::new(&state, &sessions);
        let mut result = Record { only_results: true, ..child_of("a") };
        result.effect.calls = vec![CallStep::Close("call".into())];
        assert_eq!(router.route(&result, own(0, 1)), Route::Into(1));
        assert_eq!(router.route(&result, None), Route::Into(1));
        assert!(!router.lacks_parent(&result, None));
        assert!(router.lacks_parent(&child_of("a"), None));
        assert!(!router.lacks_parent(&record(Parent::None), None));
    }
}
