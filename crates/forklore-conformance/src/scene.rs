//! A store under test with a clock, and helper methods that make the steps of a test short.

use std::sync::Arc;

use forklore_core::header::{Strategy, ToolCallPolicy};
use forklore_core::workspace::Workspace;
use forklore_core::{Counts, Cut, Event, Header, Label, SessionId, SessionKind};
use jiff::{SignedDuration, Timestamp};

use super::events::{Clock, Draft, session_fork, usage_of};
use super::factory::{Factory, Handle, TestStore};
use super::process::Role;
use forklore_store::attachments::Attachments;
use forklore_store::error::Result;
use forklore_store::port::{
    Append, Appended, At, Beginning, Change, Changed, Children, Deletion, Direction, LogEntry,
    NewSession, Page, Query, Removed, Store,
};

/// A store under test, with helper methods for the operations of a conformance test.
///
/// # Panics
/// Methods that return no `Result` panic if the store returns an error, except [`Scene::cut`].
pub struct Scene<'f> {
    /// The factory that created the store under test.
    pub factory: &'f dyn Factory,
    /// A deterministic clock, which supplies the timestamps and event ids of a test.
    pub clock: Clock,
    /// The role of this process, if the test uses several processes.
    pub(super) role: Role,
    test_store: Option<Box<dyn TestStore>>,
    handle: Option<Handle>,
}

/// Parses a session id.
///
/// # Panics
/// If `text` is not a valid id.
#[must_use]
pub fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

/// Parses a label.
///
/// # Panics
/// If `text` is not a valid label.
#[must_use]
pub fn label(text: &str) -> Label {
    text.parse().unwrap()
}

/// Asserts that `result` is exactly this error.
///
/// # Panics
/// If the call succeeded, or failed with another error.
#[track_caller]
pub fn refused<T: std::fmt::Debug>(result: Result<T>, error: &forklore_store::Error) {
    let refusal = result.expect_err("the call should have been refused");
    assert_eq!(format!("{refusal:?}"), format!("{error:?}"));
}

impl<'f> Scene<'f> {
    /// Creates an empty store for a test.
    pub fn new(factory: &'f dyn Factory) -> Self {
        let test_store = factory.fresh();
        Self {
            factory,
            clock: Clock::default(),
            role: Role::First,
            handle: Some(test_store.open()),
            test_store: Some(test_store),
        }
    }

    /// Opens a second handle on the store of `first`. The handle has its own clock, which generates
    /// event ids that differ from those of `first`.
    ///
    /// # Panics
    /// If this is not the process that created the store.
    pub fn sharing(first: &Self) -> Self {
        let clock = Clock::beginning_at(1 << 20);
        let handle = Some(first.test_store().open());
        Self { factory: first.factory, clock, role: Role::First, handle, test_store: None }
    }

    /// Opens the store at `address`, which another process created.
    pub(super) fn joined(factory: &'f dyn Factory, role: Role, address: &str) -> Self {
        Self {
            factory,
            clock: Clock::default(),
            role,
            handle: Some(factory.join(address)),
            test_store: None,
        }
    }

    fn handle(&self) -> &Handle {
        self.handle.as_ref().expect("an open store")
    }

    /// Returns the open store under test.
    pub fn store(&self) -> &dyn Store {
        &*self.handle().store
    }

    /// Returns the store's attachments. Panics if the store has none, so only tests that need
    /// attachments may call it.
    pub fn attachments(&self) -> Arc<dyn Attachments> {
        self.store().attachments().expect("a store that keeps attachments")
    }

    /// Runs garbage collection on the store, if it supports maintenance.
    pub(super) fn collect(&self) {
        if self.store().capabilities().maintenance {
            self.store().gc().unwrap();
        }
    }

    /// Packs all sessions of the store, if it supports maintenance.
    pub fn pack(&self) {
        if self.store().capabilities().maintenance {
            self.store().pack(self.clock.now() + jiff::SignedDuration::from_hours(1)).unwrap();
        }
    }

    /// Returns the location of the store under test.
    pub fn test_store(&self) -> &dyn TestStore {
        &**self.test_store.as_ref().expect("the process that made the store")
    }

    /// Takes the [`TestStore`] out of `self`. A case drops the returned value to delete the store
    /// while the handle in `self` is still open.
    pub(super) fn take_test_store(&mut self) -> Box<dyn TestStore> {
        self.test_store.take().expect("the process that made the store")
    }

    /// Closes the store under test and opens it again.
    pub fn reopen(&mut self) {
        self.handle = None;
        self.handle = Some(self.test_store().open());
    }

    /// Describes a root session without storing it.
    pub fn draft(&self, session: &str, events: Vec<Draft>) -> NewSession {
        let events = self.build(events);
        NewSession {
            id: id(session),
            kind: SessionKind::Root,
            label: Label::main(),
            title: None,
            workspace: Workspace::new("/home/me/demo"),
            principal: None,
            permissions: None,
            metadata: None,
            config: None,
            dialect: None,
            source: None,
            copy_of: None,
            created: self.clock.now(),
            from: None,
            usage: usage_of(&events),
            events,
        }
    }

    /// Describes a child of `parent` without storing it. `inheritable` is the number of events that
    /// the child inherits, and the child's label is its id.
    pub fn child_draft(
        &self,
        parent: &str,
        child: &str,
        inheritable: u64,
        strategy: Strategy,
        tail: Vec<Draft>,
    ) -> NewSession {
        let mut events = vec![session_fork()];
        events.extend(tail);
        NewSession {
            kind: SessionKind::Branch,
            label: label(child),
            from: Some(Beginning {
                parent: id(parent),
                cut: self.cut(parent, inheritable),
                strategy,
                tool_calls: ToolCallPolicy::Verbatim,
            }),
            ..self.draft(child, events)
        }
    }

    /// Builds test events from their descriptions, with timestamps and ids from the clock.
    pub fn build(&self, drafts: Vec<Draft>) -> Vec<Event> {
        drafts.into_iter().map(|draft| draft.build(&self.clock)).collect()
    }

    /// Returns a cut of `session`. `inheritable` is the number of inheritable events before the
    /// cut. If the session has fewer of them, or the store refuses the read, returns a cut in which
    /// only the field `inheritable` is set.
    pub fn cut(&self, session: &str, inheritable: u64) -> Cut {
        let nowhere = Cut { inheritable, ..Cut::default() };
        let Ok(page) =
            self.store().read(&id(session), &forward(At::Inheritable(inheritable), 1, true))
        else {
            return nowhere;
        };
        let Some(last) = page.events.into_iter().next() else {
            return nowhere;
        };
        let next =
            self.page(session, At::Inheritable(inheritable + 1), 1).events.into_iter().next();
        let conversation = last.event.class.is_conversation();
        let next_is_turn = next.is_none_or(|next| next.event.effect.starts_turn);
        Cut::behind(last.counts, last.seq, last.event.id, conversation, next_is_turn)
    }

    /// Creates a root session with these events in the store.
    #[track_caller]
    pub fn root(&self, session: &str, events: Vec<Draft>) -> Header {
        self.store().create(self.draft(session, events)).unwrap()
    }

    /// Creates a child in the store that shares its parent's events. `tail` are the child's own
    /// events.
    #[track_caller]
    pub fn fork(&self, parent: &str, child: &str, inheritable: u64, tail: Vec<Draft>) -> Header {
        let new = self.child_draft(parent, child, inheritable, Strategy::ShareV1, tail);
        self.store().create(new).unwrap()
    }

    /// Creates a child in the store that copies its parent's events. `tail` are the child's own
    /// events.
    #[track_caller]
    pub fn copy(&self, parent: &str, child: &str, inheritable: u64, tail: Vec<Draft>) -> Header {
        let new = self.child_draft(parent, child, inheritable, Strategy::ReplayV1, tail);
        self.store().create(new).unwrap()
    }

    /// Creates a delegate (a sub-agent without inherited history) in the store. `inheritable` is
    /// its cut, the position in the parent at which it was called.
    #[track_caller]
    pub fn delegate(
        &self,
        parent: &str,
        child: &str,
        inheritable: u64,
        tail: Vec<Draft>,
    ) -> Header {
        let new = self.child_draft(parent, child, inheritable, Strategy::ShareV1, tail);
        let new = NewSession { kind: SessionKind::Delegate, ..new };
        self.store().create(new).unwrap()
    }

    /// Describes an append of these events that does not depend on the session's head.
    pub fn appending(&self, drafts: Vec<Draft>) -> Append {
        let events = self.build(drafts);
        let usage = usage_of(&events);
        Append { events, expect: None, owner: None, usage, now: self.clock.now() }
    }

    /// Appends these events to a session, whatever its head is.
    #[track_caller]
    pub fn append(&self, session: &str, drafts: Vec<Draft>) -> Appended {
        self.store().append(&id(session), self.appending(drafts)).unwrap()
    }

    /// Returns the header of a session in the store.
    #[track_caller]
    pub fn header(&self, session: &str) -> Header {
        self.store().header(&id(session)).unwrap()
    }

    /// Reads one page of a session's history, going forward from the position `at`.
    #[track_caller]
    pub fn page(&self, session: &str, at: At, limit: usize) -> Page {
        self.store().read(&id(session), &forward(at, limit, false)).unwrap()
    }

    /// Reads all pages of a query, and returns their events. Checks that no page has more events
    /// than the limit.
    #[track_caller]
    pub fn pages(&self, session: &str, query: &Query) -> Vec<LogEntry> {
        let mut query = query.clone();
        let mut all = Vec::new();
        loop {
            let page = self.store().read(&id(session), &query).unwrap();
            assert!(page.events.len() <= query.limit, "a page holds at most its limit");
            let Some(last) = page.events.last().map(|last| last.seq) else {
                assert!(!page.more, "an empty page says that more follow");
                return all;
            };
            all.extend(page.events);
            if !page.more {
                return all;
            }
            let next = match query.direction {
                Direction::Forward => Some(last + 1),
                Direction::Backward => last.checked_sub(1),
            };
            query.at = At::Seq(next.expect("more follow, so there is a next place"));
        }
    }

    /// Reads the whole assembled history of a session: inherited events and its own.
    #[track_caller]
    pub fn log(&self, session: &str) -> Vec<LogEntry> {
        self.pages(session, &forward(At::Seq(0), 1000, false))
    }

    /// Returns a short text for each event of a session's history. It is the field `content` if
    /// that is a string, otherwise the event type.
    #[track_caller]
    pub fn texts(&self, session: &str) -> Vec<String> {
        self.log(session).iter().map(|stored| text(&stored.event)).collect()
    }

    /// Performs a change of a session, e.g. of its header's fields, in the store.
    #[track_caller]
    pub fn change(&self, session: &str, change: &Change) -> Changed {
        self.store().change(&id(session), change).unwrap()
    }

    /// Detaches a session in the store: gives it its own copy of its prefix.
    #[track_caller]
    pub fn detach(&self, session: &str) -> Changed {
        self.change(session, &Change::Detach)
    }

    /// Takes or renews the lease of a session for `owner`. `lasts` is the duration of the lease.
    ///
    /// # Errors
    /// Those of [`Store::change`].
    pub fn hold(&self, session: &str, owner: &str, lasts: SignedDuration) -> Result<Changed> {
        let owner = owner.to_owned();
        self.store().change(&id(session), &Change::Hold { owner, lasts })
    }

    /// Deletes sessions from the store. `children` says what happens to living children that
    /// inherit from them.
    ///
    /// # Errors
    /// Those of [`Store::remove`].
    pub fn remove(&self, sessions: &[&str], children: Children) -> Result<Removed> {
        let ids: Vec<_> = sessions.iter().map(|session| id(session)).collect();
        self.store().remove(&ids, children, self.clock.now())
    }

    /// Deletes sessions from the store, as a caller whose clock shows `now`.
    ///
    /// # Errors
    /// Those of [`Store::remove`].
    pub fn remove_at(&self, sessions: &[&str], now: Timestamp) -> Result<Removed> {
        let ids: Vec<_> = sessions.iter().map(|session| id(session)).collect();
        self.store().remove(&ids, Children::Refuse, now)
    }

    /// Puts sessions into the trash.
    ///
    /// # Errors
    /// Those of [`Store::delete`].
    pub fn trash(&self, sessions: &[&str], children: Children) -> Result<Removed> {
        let ids: Vec<_> = sessions.iter().map(|session| id(session)).collect();
        self.store().delete(&ids, children, Deletion::Trash, self.clock.now())
    }

    /// Brings a session back from the trash, with this label.
    ///
    /// # Errors
    /// Those of [`Store::change`].
    pub fn undelete(&self, session: &str, with: &str) -> Result<Changed> {
        self.store().change(&id(session), &Change::Undelete(label(with)))
    }

    /// Deletes one session from the store. Its children retain the events that they inherit from
    /// it.
    #[track_caller]
    pub fn delete(&self, session: &str) -> Removed {
        self.remove(&[session], Children::Retain).unwrap()
    }

    /// Asserts that a verification of the store finds no problems.
    #[track_caller]
    pub fn assert_sound(&self) {
        assert_eq!(self.store().verify(None).unwrap().problems, []);
    }
}

/// The duration of a lease that outlasts any test.
pub const LONG: SignedDuration = SignedDuration::from_hours(1);

/// Creates a query for at most `limit` events of a history, forward from `at`. With `bare`, it
/// requests no payloads.
#[must_use]
pub fn forward(at: At, limit: usize, bare: bool) -> Query {
    Query { at, direction: Direction::Forward, limit, bare }
}

/// Creates a query for at most `limit` events of a history, backward from `at`. With `bare`, it
/// requests no payloads.
#[must_use]
pub fn backward(at: At, limit: usize, bare: bool) -> Query {
    Query { at, direction: Direction::Backward, limit, bare }
}

/// Returns a short text for an event. It is the field `content` of its payload if that is a string,
/// otherwise the event type.
#[must_use]
pub fn text(event: &Event) -> String {
    let data: serde_json::Value = event.data.read().unwrap_or_default();
    data["content"].as_str().map_or_else(|| event.kind.to_string(), str::to_owned)
}

/// Computes the counts of a history up to and including the last of its events. `log` contains all
/// events from the history's first one on.
#[must_use]
pub fn counts_of(log: &[LogEntry]) -> Counts {
    let mut open = forklore_core::OpenCalls::default();
    log.iter().filter(|stored| stored.event.class.is_inherited()).fold(
        Counts::default(),
        |counts, stored| {
            open.step(&stored.event.effect);
            counts.after(&stored.event, &open)
        },
    )
}
