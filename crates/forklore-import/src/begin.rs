//! Creates the sessions of a file: its first one, and its branches as forks (docs/semantics.md,
//! Fork and Sources).

use forklore_core::Usage;
use forklore_core::agent_format::Record;
use forklore_core::workspace::Workspace;
use forklore_core::{Cut, Header, Label, SessionId, SessionKind};
use forklore_engine::{Error, Result};
use forklore_store::port::NewSession;
use forklore_store::sources::{RecordKey, RecordLocation};
use jiff::Timestamp;

use crate::child::Child;
use crate::file_session::{FileSession, Following};
use crate::reading::Reading;
use crate::report::ProblemKind;

/// Where a branch of the file begins.
pub(crate) struct Begin {
    /// The session from which it branches.
    pub(crate) parent: BranchParent,
    pub(crate) after: Follows,
    pub(crate) kind: SessionKind,
}

/// The session from which a branch of the file begins.
pub(crate) enum BranchParent {
    /// A session of this file, by its number.
    Own(u32),
    /// A session of an earlier revision of the file.
    Earlier(SessionId),
}

/// The last event before a branch.
#[derive(Clone, Copy)]
pub(crate) enum Follows {
    /// No event: the branch begins at the start.
    Nothing,
    /// The session's own event at this position.
    Own(u64),
    /// The inherited event with this seq.
    Inherited(u64),
    /// The event with this seq in the session's history.
    Seq(u64),
}

impl Follows {
    pub(crate) fn of(location: RecordLocation) -> Self {
        if location.inherited {
            Self::Inherited(location.position)
        } else {
            Self::Own(location.position)
        }
    }

    /// Returns the last event of a session that came from the file.
    pub(crate) fn tip(session: Option<&FileSession>) -> Self {
        session.and_then(FileSession::tip).map_or(Self::Nothing, Self::Own)
    }
}

impl Reading<'_> {
    pub(crate) fn session(&self, at: u32) -> Option<&FileSession> {
        self.sessions.get(usize::try_from(at).ok()?)
    }

    /// Creates the file's first session, without events yet.
    pub(crate) fn begin_file(&mut self, record: &Record) -> Result<()> {
        self.begin_first(record.ts)
    }

    /// Creates the file's first session. `ts` is the time of its first event, if it has one.
    pub(crate) fn begin_first(&mut self, ts: Option<Timestamp>) -> Result<()> {
        self.name_original();
        let native = self.native_id();
        let id = self.conflicts.file_id(self.engine.store(), self.file.format.name(), &native)?;
        let created = self.state.facts.created.or(ts).unwrap_or(self.file.time);
        let cwd = self.state.facts.cwd.as_deref().filter(|cwd| !cwd.is_empty());
        let workspace = cwd.map(Workspace::new);
        self.state.header.title_key = self.title_key();
        let revision = self.revision();
        let beginning = match self.revision_beginning()? {
            Some(earlier) => Some(earlier),
            None => match self.copied_beginning()? {
                Some(copied) => Some(copied),
                None => {
                    let base = self.state.facts.base.as_ref();
                    self.lookup().continued_from(base, &self.native_id())?
                }
            },
        };
        if let Some((parent, cut)) = beginning {
            let workspace = workspace.unwrap_or_else(|| parent.workspace.clone());
            let (kind, title) = (SessionKind::Branch, self.title());
            let child = Child { id, kind, parent, cut, title, workspace, created, revision };
            self.begin_child(child)?;
            return Ok(());
        }
        if let Some((parent, cut)) = self.subagent_parent()? {
            let workspace = workspace.unwrap_or_else(|| parent.workspace.clone());
            let (kind, title) = (SessionKind::Delegate, self.title());
            let revision = None;
            let child = Child { id, kind, parent, cut, title, workspace, created, revision };
            self.begin_child(child)?;
            return Ok(());
        }
        let workspace = workspace.unwrap_or_else(|| self.options.workspace.clone());
        let new = NewSession {
            kind: SessionKind::Root,
            label: Label::main(),
            title: self.title(),
            ..self.new_session(id, workspace, created)
        };
        self.add(new, 0, 0);
        Ok(())
    }

    /// Returns the session that called the file's session, and the cut of the call. If that session
    /// was not imported, reports a problem and returns `None`, and the file's session becomes a
    /// root.
    fn subagent_parent(&mut self) -> Result<Option<(Header, Cut)>> {
        let Some(caller) = &self.state.facts.caller else { return Ok(None) };
        let begun = self.state.facts.created;
        let found = self.lookup().subagent_parent(caller, begun, self.source)?;
        if found.is_none() {
            let message = "the session that called this one as a sub-agent was not imported";
            self.problem(ProblemKind::MissingBase, message);
        }
        Ok(found)
    }

    /// Creates a session that branches off from another of the file, and returns its number.
    pub(crate) fn begin_fork(
        &mut self,
        record: &Record,
        key: Option<RecordKey>,
        begin: &Begin,
    ) -> Result<u32> {
        let own = match begin.parent {
            BranchParent::Own(number) => Some(number),
            BranchParent::Earlier(_) => None,
        };
        let parent = match &begin.parent {
            BranchParent::Own(number) => self.session(*number).map(|parent| parent.id.clone()),
            BranchParent::Earlier(session) => Some(session.clone()),
        };
        let Some(parent) = parent else {
            return Err(Error::invalid("source", "the source names a session that it has not"));
        };
        if own.is_some_and(|own| self.batch.touches(own, &parent)) {
            // The store resolves the cut in what it already contains.
            self.flush(false)?;
        }
        self.settle()?;
        let parent = self.engine.store().header(&parent)?;
        let cut = self.lookup().cut(&parent, begin.after)?;
        let id = self.fork_id(record, key)?;
        let created = record.ts.or(self.state.last_ts).unwrap_or(self.file.time);
        if record.sidechain {
            self.state.sidechains.push(u32::try_from(self.sessions.len()).unwrap_or(u32::MAX));
        }
        let (kind, workspace) = (begin.kind, parent.workspace.clone());
        let (title, revision) = (None, None);
        self.begin_child(Child { id, kind, parent, cut, title, workspace, created, revision })
    }

    fn fork_id(&mut self, record: &Record, key: Option<RecordKey>) -> Result<SessionId> {
        let repeated = key.map(|key| self.locate(key)).transpose()?.flatten().is_some();
        let first = match &record.native_id {
            Some(id) if !repeated => id.clone(),
            _ => self.position.of_record().to_string(),
        };
        let Some(file) = self.sessions.first() else {
            return Err(Error::invalid("source", "the source has no session"));
        };
        self.conflicts.fork_id(self.engine.store(), self.file.format.name(), &file.id, &first)
    }

    pub(crate) fn new_session(
        &self,
        id: SessionId,
        workspace: Workspace,
        created: Timestamp,
    ) -> NewSession {
        NewSession {
            id,
            kind: SessionKind::Root,
            label: Label::main(),
            title: None,
            workspace,
            principal: None,
            permissions: None,
            metadata: None,
            config: None,
            dialect: Some(self.file.format.name().to_owned()),
            source: Some(self.file.seen.path.clone()),
            copy_of: None,
            created,
            from: None,
            events: Vec::new(),
            usage: Usage::default(),
        }
    }

    pub(crate) fn add(&mut self, new: NewSession, inherited: u64, events: u64) {
        self.sessions.push(FileSession {
            id: new.id.clone(),
            events,
            inherited,
            forked: new.from.is_some(),
            following: Following::Follows,
            appended: 0,
            updated: new.created,
        });
        self.conflicts.made.insert(new.id.clone());
        self.batch.create(new);
    }
}
