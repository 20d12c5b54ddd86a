//! A store with a clock, and the steps of a test in a few words.

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
    Append, Appended, At, Beginning, Change, Changed, Children, Direction, LogEntry, NewSession,
    Page, Query, Removed, Store,
};

/// One store under test, and short words for what a case does with it.
///
/// # Panics
/// Where a word gives no `Result`, a refusal of the store ends the case.
pub struct Scene<'f> {
    /// What made the store.
    pub factory: &'f dyn Factory,
    /// What time it is, and how events are called.
    pub clock: Clock,
    /// Which process this is, in cases that use several.
    pub(super) role: Role,
    test_store: Option<Box<dyn TestStore>>,
    handle: Option<Handle>,
}

/// The id that `text` is.
///
/// # Panics
/// When it is none.
#[must_use]
pub fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

/// The label that `text` is.
///
/// # Panics
/// When it is none.
#[must_use]
pub fn label(text: &str) -> Label {
    text.parse().unwrap()
}

/// Asserts that a call was refused with this very error.
///
/// # Panics
/// When it succeeded or failed in another way.
#[track_caller]
pub fn refused<T: std::fmt::Debug>(result: Result<T>, error: &forklore_store::Error) {
    let told = result.expect_err("the call should have been refused");
    assert_eq!(format!("{told:?}"), format!("{error:?}"));
}

impl<'f> Scene<'f> {
    /// A scene on a fresh store.
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

    /// A scene on a second handle of the same store. Its clock names other events.
    ///
    /// # Panics
    /// In another process than the one that made the store.
    pub fn sharing(first: &Self) -> Self {
        let clock = Clock::beginning_at(1 << 20);
        let handle = Some(first.test_store().open());
        Self { factory: first.factory, clock, role: Role::First, handle, test_store: None }
    }

    /// A scene on the store that another process told of.
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

    /// The store.
    pub fn store(&self) -> &dyn Store {
        &*self.handle().store
    }

    /// The store's attachments; asked for by cases of that capability only.
    pub fn attachments(&self) -> Arc<dyn Attachments> {
        self.store().attachments().expect("a store that keeps attachments")
    }

    /// Collects what nobody needs, where the store can.
    pub(super) fn collect(&self) {
        if self.store().capabilities().maintenance {
            self.store().gc().unwrap();
        }
    }

    /// Packs everything, where the store can.
    pub fn pack(&self) {
        if self.store().capabilities().maintenance {
            self.store().pack(self.clock.now() + jiff::SignedDuration::from_hours(1)).unwrap();
        }
    }

    /// Where the store lives.
    pub fn test_store(&self) -> &dyn TestStore {
        &**self.test_store.as_ref().expect("the process that made the store")
    }

    /// Gives away where the store lives; dropping it deletes the store under the open handle.
    pub(super) fn take_test_store(&mut self) -> Box<dyn TestStore> {
        self.test_store.take().expect("the process that made the store")
    }

    /// Closes the store and opens it again.
    pub fn reopen(&mut self) {
        self.handle = None;
        self.handle = Some(self.test_store().open());
    }

    /// A session about to be made: a root.
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

    /// A session about to be made: a child of `parent` that keeps `kept` inheritable events. Its
    /// label is its id.
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

    /// The events that the drafts become.
    pub fn build(&self, drafts: Vec<Draft>) -> Vec<Event> {
        drafts.into_iter().map(|draft| draft.build(&self.clock)).collect()
    }

    /// The cut behind the inheritable event number `kept`; where there is none, a cut that says so.
    pub fn cut(&self, session: &str, kept: u64) -> Cut {
        let nowhere = Cut { inheritable: kept, ..Cut::default() };
        let Ok(page) = self.store().read(&id(session), &forward(At::Inheritable(kept), 1, true))
        else {
            return nowhere;
        };
        let Some(last) = page.events.into_iter().next() else {
            return nowhere;
        };
        let next = self.page(session, At::Inheritable(kept + 1), 1).events.into_iter().next();
        let conversation = last.event.class.is_conversation();
        let next_is_turn = next.is_none_or(|next| next.event.effect.starts_turn);
        Cut::behind(last.counts, last.seq, last.event.id, conversation, next_is_turn)
    }

    /// Makes a root.
    #[track_caller]
    pub fn root(&self, session: &str, events: Vec<Draft>) -> Header {
        self.store().create(self.draft(session, events)).unwrap()
    }

    /// Makes a child that shares its parent's events.
    #[track_caller]
    pub fn fork(&self, parent: &str, child: &str, kept: u64, tail: Vec<Draft>) -> Header {
        let new = self.child_draft(parent, child, kept, Strategy::ShareV1, tail);
        self.store().create(new).unwrap()
    }

    /// Makes a child that copies its parent's events.
    #[track_caller]
    pub fn copy(&self, parent: &str, child: &str, kept: u64, tail: Vec<Draft>) -> Header {
        let new = self.child_draft(parent, child, kept, Strategy::ReplayV1, tail);
        self.store().create(new).unwrap()
    }

    /// Makes a delegate called at `kept`.
    #[track_caller]
    pub fn delegate(&self, parent: &str, child: &str, kept: u64, tail: Vec<Draft>) -> Header {
        let new = self.child_draft(parent, child, kept, Strategy::ShareV1, tail);
        let new = NewSession { kind: SessionKind::Delegate, ..new };
        self.store().create(new).unwrap()
    }

    /// An append of the drafts, at whatever head.
    pub fn appending(&self, drafts: Vec<Draft>) -> Append {
        let events = self.build(drafts);
        let usage = usage_of(&events);
        Append { events, expect: None, owner: None, usage, now: self.clock.now() }
    }

    /// Appends at whatever head.
    #[track_caller]
    pub fn append(&self, session: &str, drafts: Vec<Draft>) -> Appended {
        self.store().append(&id(session), self.appending(drafts)).unwrap()
    }

    /// The session's header.
    #[track_caller]
    pub fn header(&self, session: &str) -> Header {
        self.store().header(&id(session)).unwrap()
    }

    /// One page, forward.
    #[track_caller]
    pub fn page(&self, session: &str, at: At, limit: usize) -> Page {
        self.store().read(&id(session), &forward(at, limit, false)).unwrap()
    }

    /// All pages of a query put together, each checked against its limit.
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

    /// The whole assembled history.
    #[track_caller]
    pub fn log(&self, session: &str) -> Vec<LogEntry> {
        self.pages(session, &forward(At::Seq(0), 1000, false))
    }

    /// What the events of the history say, in short: the text of `content`, else the type.
    #[track_caller]
    pub fn texts(&self, session: &str) -> Vec<String> {
        self.log(session).iter().map(|stored| text(&stored.event)).collect()
    }

    /// Changes something.
    #[track_caller]
    pub fn change(&self, session: &str, change: &Change) -> Changed {
        self.store().change(&id(session), change).unwrap()
    }

    /// Copies the prefix of a session into a segment of its own.
    #[track_caller]
    pub fn detach(&self, session: &str) -> Changed {
        self.change(session, &Change::Detach)
    }

    /// Takes the lease for `owner`, for so long.
    ///
    /// # Errors
    /// Those of [`Store::change`].
    pub fn hold(&self, session: &str, owner: &str, lasts: SignedDuration) -> Result<Changed> {
        let owner = owner.to_owned();
        self.store().change(&id(session), &Change::Hold { owner, lasts })
    }

    /// Deletes sessions.
    ///
    /// # Errors
    /// Those of [`Store::remove`].
    pub fn remove(&self, sessions: &[&str], children: Children) -> Result<Removed> {
        let ids: Vec<_> = sessions.iter().map(|session| id(session)).collect();
        self.store().remove(&ids, children, self.clock.now())
    }

    /// Deletes sessions, as a caller does who thinks that it is `now`.
    ///
    /// # Errors
    /// Those of [`Store::remove`].
    pub fn remove_at(&self, sessions: &[&str], now: Timestamp) -> Result<Removed> {
        let ids: Vec<_> = sessions.iter().map(|session| id(session)).collect();
        self.store().remove(&ids, Children::Refuse, now)
    }

    /// Deletes one session; its children keep what they need.
    #[track_caller]
    pub fn delete(&self, session: &str) -> Removed {
        self.remove(&[session], Children::Retain).unwrap()
    }

    /// Asserts that verification finds nothing wrong.
    #[track_caller]
    pub fn assert_sound(&self) {
        assert_eq!(self.store().verify(None).unwrap().problems, []);
    }
}

/// A lease that outlasts any test.
pub const LONG: SignedDuration = SignedDuration::from_hours(1);

/// A query forward from `at`.
#[must_use]
pub fn forward(at: At, limit: usize, bare: bool) -> Query {
    Query { at, direction: Direction::Forward, limit, bare }
}

/// A query backward from `at`.
#[must_use]
pub fn backward(at: At, limit: usize, bare: bool) -> Query {
    Query { at, direction: Direction::Backward, limit, bare }
}

/// The text of an event's `content`, else its type.
#[must_use]
pub fn text(event: &Event) -> String {
    let data: serde_json::Value = event.data.read().unwrap_or_default();
    data["content"].as_str().map_or_else(|| event.kind.to_string(), str::to_owned)
}

/// The counts that a history of these events has behind its last.
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
