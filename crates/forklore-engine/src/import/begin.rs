//! New sessions: the file's own, and its branches as forks (SPEC 6, 11).

use forklore_model::dialect::Record;
use forklore_model::header::Usage;
use forklore_model::workspace::Workspace;
use forklore_model::{
    Cut, CutError, Header, Label, Selector, SessionId, SessionKind, Strategy, ToolCallPolicy,
};
use forklore_store::port::{Beginning, NewSession};
use forklore_store::sources::RecordKey;
use jiff::Timestamp;

use super::reading::Reading;
use super::session::{FileSession, Standing};
use crate::fork::{ForkRecord, limitations};
use crate::{Error, Result};

/// Where a branch of the file begins.
pub(super) struct Begin {
    /// The session it begins in.
    pub(super) parent: u32,
    /// The position of the last event before it; none begins at the start.
    pub(super) behind: Option<u64>,
    pub(super) kind: SessionKind,
}

impl Reading<'_> {
    pub(super) fn session(&self, at: u32) -> Option<&FileSession> {
        self.sessions.get(usize::try_from(at).ok()?)
    }

    /// Makes the session that the file is known by, still without an event.
    pub(super) fn begin_file(&mut self, record: &Record) -> Result<()> {
        let native = self.native_id();
        let id = self.taken.file_id(self.engine.store(), self.dialect.name(), &native)?;
        let created = self.state.facts.created.or(record.ts).unwrap_or(self.file_time);
        let workspace = match &self.state.facts.cwd {
            Some(cwd) if !cwd.is_empty() => Workspace::new(cwd),
            _ => self.options.workspace.clone(),
        };
        self.state.told.title_key = self.title_key();
        let new = NewSession {
            kind: SessionKind::Root,
            label: Label::main(),
            title: self.title(),
            ..self.new_session(id, workspace, created)
        };
        self.add(new, 0, 0);
        Ok(())
    }

    /// Makes a session that branches off from another of the file, and returns its number.
    pub(super) fn begin_fork(
        &mut self,
        record: &Record,
        key: Option<RecordKey>,
        begin: &Begin,
    ) -> Result<u32> {
        let Some(parent) = self.session(begin.parent).map(|parent| parent.id.clone()) else {
            return Err(Error::invalid("source", "the source names a session that it has not"));
        };
        if self.batch.touches(begin.parent, &parent) {
            // The cut is resolved by the store, in what it holds.
            self.flush(false)?;
        }
        self.settle()?;
        let parent = self.engine.store().header(&parent)?;
        let cut = self.cut(&parent, begin.behind)?;
        let id = self.fork_id(record, key)?;
        let created = record.ts.or(self.state.last_ts).unwrap_or(self.file_time);
        let branch = begin.kind == SessionKind::Branch;
        let inherited = if branch { cut.kept } else { 0 };
        let at = u32::try_from(self.sessions.len()).unwrap_or(u32::MAX);
        if branch {
            for call in self.engine.open_calls(&parent, &cut)?.calls() {
                self.state.open_call(at, &call.id);
            }
        }
        if record.sidechain {
            self.state.sidechains.push(at);
        }
        let new = NewSession {
            kind: begin.kind,
            label: self.taken.label(&id),
            principal: parent.principal.clone(),
            permissions: parent.permissions.clone(),
            events: vec![self.fork_record(&parent, &cut, begin.kind).event(&id, created)?],
            from: Some(Beginning {
                parent: parent.id.clone(),
                cut,
                strategy: Strategy::ShareV1,
                tool_calls: ToolCallPolicy::Verbatim,
            }),
            ..self.new_session(id, parent.workspace.clone(), created)
        };
        self.add(new, inherited, 1);
        Ok(at)
    }

    fn cut(&self, parent: &Header, behind: Option<u64>) -> Result<Cut> {
        let Some(position) = behind else {
            return Ok(Cut::default());
        };
        let seq = i64::try_from(parent.seq_of_own(position)).unwrap_or(i64::MAX);
        match self.engine.cut(parent, &Selector::Seq(seq)) {
            // Nothing before the record is inherited.
            Err(Error::Cut { source: CutError::NothingToFork { .. }, .. }) => Ok(Cut::default()),
            cut => cut,
        }
    }

    fn fork_id(&mut self, record: &Record, key: Option<RecordKey>) -> Result<SessionId> {
        let repeated = key.map(|key| self.place(key)).transpose()?.flatten().is_some();
        let first = match &record.native_id {
            Some(id) if !repeated => id.clone(),
            _ => self.position().to_string(),
        };
        let Some(file) = self.sessions.first() else {
            return Err(Error::invalid("source", "the source has no session"));
        };
        self.taken.fork_id(self.engine.store(), self.dialect.name(), &file.id, &first)
    }

    fn fork_record<'r>(
        &self,
        parent: &'r Header,
        cut: &'r Cut,
        kind: SessionKind,
    ) -> ForkRecord<'r> {
        ForkRecord {
            kind,
            parent_session_id: &parent.id,
            root_session_id: &parent.root_id,
            cut,
            cut_asked: None,
            event_count: if kind == SessionKind::Branch { cut.kept } else { 0 },
            strategy: Strategy::ShareV1,
            tool_calls: ToolCallPolicy::Verbatim,
            workspace: &parent.workspace,
            parent_workspace: &parent.workspace,
            principal: parent.principal.as_deref(),
            parent_principal: parent.principal.as_deref(),
            limitations: limitations(kind),
        }
    }

    fn new_session(&self, id: SessionId, workspace: Workspace, created: Timestamp) -> NewSession {
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
            dialect: Some(self.dialect.name().to_owned()),
            source: Some(self.seen.path.clone()),
            copy_of: None,
            created,
            from: None,
            events: Vec::new(),
            usage: Usage::default(),
        }
    }

    fn add(&mut self, new: NewSession, inherited: u64, events: u64) {
        self.sessions.push(FileSession {
            id: new.id.clone(),
            events,
            inherited,
            standing: Standing::Follows,
            appended: 0,
            updated: new.created,
        });
        self.batch.create(new);
    }
}
