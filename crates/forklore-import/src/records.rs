//! Imports the records of one file into its sessions. Each record continues a session, begins a
//! branch, or repeats an event of another file or of an earlier revision.

mod finish;
mod pushed;

use std::ops::RangeInclusive;

use bytestring::ByteString;
use forklore_core::agent_format::{FileFacts, Parent, Record};
use forklore_core::{Data, Event, EventId, SessionKind};
use forklore_engine::{Error, Result};
use forklore_store::sources::{RecordKey, RecordLocation};
use jiff::Timestamp;

use crate::agent_file::AgentFile;
use crate::batch::Batch;
use crate::branch_start::{BranchParent, BranchStart};
use crate::copied_prefix::{CopiedPrefix, RecordLine, branch_name};
use crate::copy_links;
use crate::earlier_steps::StoredSteps;
use crate::event_location::{EventLocation, SHARED};
use crate::file_session::FileSession;
use crate::file_sessions::FileSessions;
use crate::header_state::HeaderState;
use crate::input::Input;
use crate::lookup::Lookup;
use crate::new_session::{self, Child};
use crate::options::ImportOptions;
use crate::output::Output;
use crate::pushed_state::PushedState;
use crate::record_keys::{key_of, native_key, record_key};
use crate::renewal::Renewed;
use crate::report::ProblemKind;
use crate::resume_state::ResumeState;
use crate::revision::Revision;
use crate::route::{Route, Router};
use crate::route_state::RouteState;
use crate::session_start::{Inside, SessionStart};

/// Imports the records of one file as events of one or more sessions.
pub(crate) struct Records<'a> {
    lookup: Lookup<'a>,
    options: &'a ImportOptions,
    file: AgentFile<'a>,
    sessions: FileSessions<'a>,
    header: HeaderState,
    route: RouteState,
    copied: CopiedPrefix,
    revision: Revision,
    /// The ids of the records that are the history of a session which forklore wrote.
    awaited: Option<RangeInclusive<String>>,
    /// The state of a file whose lines a program passes on; `None` for a file on a disk.
    pushed: Option<PushedState>,
    output: Output<'a>,
}

impl<'a> Records<'a> {
    /// Creates the importer of a file's records. It continues from `state`, which the file's last
    /// import stored.
    pub(crate) fn new(
        lookup: Lookup<'a>,
        options: &'a ImportOptions,
        file: AgentFile<'a>,
        sessions: FileSessions<'a>,
        state: ResumeState,
        output: Output<'a>,
    ) -> Self {
        let route = state.route();
        let ResumeState { header, copying, comparison, awaited, pushed, .. } = state;
        let (copied, revision) = (CopiedPrefix::new(copying), Revision::new(comparison));
        Self {
            lookup,
            options,
            file,
            sessions,
            header,
            route,
            copied,
            revision,
            awaited,
            pushed,
            output,
        }
    }

    pub(crate) fn file(&self) -> &AgentFile<'a> {
        &self.file
    }

    pub(crate) fn sessions(&self) -> &[FileSession] {
        self.sessions.list()
    }

    /// Returns the session that the agent would resume if it continued this file; `None` if that is
    /// not known.
    pub(crate) fn leaf(&self) -> Option<&FileSession> {
        self.sessions.get(self.route.leaf?)
    }

    /// Returns the steps of the file that the store contains.
    pub(crate) fn stored(&self) -> &StoredSteps {
        self.output.stored()
    }

    /// Returns the steps of the file that the store contains, without the last step of the file.
    pub(crate) fn before_last(&self) -> &StoredSteps {
        self.output.before_last()
    }

    pub(crate) fn output(&mut self) -> &mut Output<'a> {
        &mut self.output
    }

    /// Returns the import step that is being collected and was not written yet.
    pub(crate) fn batch(&mut self) -> &mut Batch {
        self.output.batch()
    }

    /// Checks whether the import has found nothing to store in the file. The file then has no
    /// session, and its last record does not repeat the earlier revision (the content before a
    /// rewrite).
    pub(crate) fn is_empty(&self) -> bool {
        self.sessions.is_empty() && self.revision.last_shared().is_none()
    }

    /// Adds what a line of the file states about the file's session. If the line is irregular,
    /// reports the problem.
    pub(crate) fn learn(&mut self, input: &mut Input, mut facts: FileFacts) {
        if let Some(what) = facts.irregular.take() {
            input.problem(ProblemKind::Irregular, &what);
        }
        self.file.learn(facts);
    }

    /// Resolves a parent of the kind [`Parent::IdOrPrevious`]. The parent is the record with this
    /// id if such a record precedes this record in the file, or else the previous record.
    pub(crate) fn settle_parent(&mut self, record: &mut Record) -> Result<()> {
        if let Parent::IdOrPrevious(id) = &record.parent {
            let found = self.output.locate(record_key(id.as_bytes()))?.is_some();
            record.parent = if found { Parent::Id(id.clone()) } else { Parent::Previous };
        }
        Ok(())
    }

    /// Returns the event that a record repeats from the file's earlier revision, or `None` if it
    /// repeats none. A record that repeats an event gets no event of its own.
    pub(crate) fn shared(
        &mut self,
        record: &Record,
        text: &ByteString,
    ) -> Result<Option<EventLocation>> {
        let Self { lookup, file, output, .. } = self;
        self.revision.unchanged(*lookup, file, output, record, text)
    }

    /// Records that a record repeats the event at `spot` in the file's earlier revision.
    pub(crate) fn add_shared(&mut self, record: &Record, spot: EventLocation) {
        let key = key_of(record);
        self.output.remember(key, SHARED);
        self.route.pass(record);
        if let Some(comparison) = self.revision.comparison_mut() {
            comparison.end_shared(key, spot);
        }
    }

    /// Checks whether the file's earlier revision (the content before a rewrite) already has the
    /// events for a record that the agent wrote again in another form. Such a record gets no event
    /// of its own. Its bytes are stored with the file.
    pub(crate) fn renews(&mut self, line: RecordLine<'_>) -> Result<bool> {
        let Self { lookup, file, revision, .. } = self;
        let is_first = self.sessions.is_empty();
        match revision.renewed(*lookup, file, line, is_first)? {
            Renewed::New => return Ok(false),
            Renewed::NoEvent => {}
            Renewed::Event(spot, location) => {
                self.output.remember(key_of(line.record), location);
                if let Some(comparison) = self.revision.comparison_mut() {
                    comparison.end_shared(None, spot);
                }
            }
        }
        self.output.batch().retain_line(line.text.as_bytes(), line.end);
        self.route.pass(line.record);
        Ok(true)
    }

    /// Checks whether a record repeats the next event of the session from which the file may be
    /// copied. Such a record gets no event of its own. Instead, the import step records how to
    /// restore it.
    pub(crate) fn repeats(&mut self, line: RecordLine<'_>) -> Result<bool> {
        if !self.sessions.is_empty() || self.revision.comparison().is_some() {
            return Ok(false);
        }
        let repeated = self.copied.repeats(self.lookup, &self.file, &mut self.output, line)?;
        if repeated {
            self.route.pass(line.record);
        }
        Ok(repeated)
    }

    /// Checks whether forklore wrote a record, so that it is a part of the inherited history in
    /// another form. Such a record gets no event of its own. Its bytes are stored with the file.
    pub(crate) fn was_written(&mut self, input: &mut Input, line: RecordLine<'_>) -> Result<bool> {
        let id = line.record.native_id.as_ref();
        let is_awaited =
            self.awaited.as_ref().zip(id).is_some_and(|(awaited, id)| awaited.contains(id));
        if self.options.written_from.is_none() && !is_awaited {
            return Ok(false);
        }
        if self.sessions.is_empty() {
            self.begin(input, line.record.ts)?;
        }
        self.output.remember(key_of(line.record), self.sessions.end_of_history());
        self.output.batch().retain_line(line.text.as_bytes(), line.end);
        self.route.pass(line.record);
        Ok(true)
    }

    /// Imports a record as a new event of a session, and returns its location. Returns `None` if
    /// the record is skipped because its session was deleted.
    pub(crate) fn add(
        &mut self,
        input: &mut Input,
        record: Record,
        text: ByteString,
    ) -> Result<Option<RecordLocation>> {
        let key = key_of(&record);
        let Self { lookup, file, output, .. } = self;
        let mut shared = self.revision.shared_parent(*lookup, file, output, &record)?;
        if shared.is_none() {
            shared = self.inherited_parent(&record)?;
        }
        if self.sessions.is_empty() {
            if let Some(comparison) = self.revision.comparison_mut() {
                comparison.begin_after(shared.clone());
            }
            let is_copy = self.copied.progress().is_some_and(|progress| progress.copied() > 0);
            if let Some(key) = native_key(&record).filter(|_| is_copy) {
                let name = branch_name(self.file.format(), key);
                self.output.batch().name(name);
            }
            self.begin(input, record.ts)?;
        }
        let number = match self.route(input, &record, shared)? {
            Route::Into(number) => number,
            Route::Fork(begin) => self.fork(input, &record, key, &begin)?,
            Route::Nowhere(location) => {
                input.problem(ProblemKind::Deleted, "the session of the record was deleted");
                self.output.remember(key, location);
                return Ok(None);
            }
        };
        self.route.enter(number, &record);
        let location = self.append(input, number, record, text);
        if let Some(comparison) = self.revision.comparison_mut() {
            comparison.end_own();
        }
        self.output.remember(key, location);
        Ok(Some(location))
    }

    /// Decides to which session a record belongs. `shared` is the event that this record continues,
    /// if the earlier revision has that event.
    fn route(
        &mut self,
        input: &mut Input,
        record: &Record,
        shared: Option<EventLocation>,
    ) -> Result<Route> {
        if let Some(spot) = shared {
            let header = self.lookup.engine.store().header(&spot.session)?;
            let begun = self.revision.comparison().and_then(|comparison| comparison.begun());
            let router = Router::new(&self.route, self.sessions.list());
            return Ok(router.after_shared(record, spot, &header, begun));
        }
        let parent = match &record.parent {
            Parent::Id(id) | Parent::IdOrPrevious(id) => {
                self.output.locate(record_key(id.as_bytes()))?
            }
            Parent::Previous | Parent::None => None,
        };
        let parent = parent.or(self.end_of_fork(record)?);
        let router = Router::new(&self.route, self.sessions.list());
        if router.lacks_parent(record, parent) {
            let message = "the parent of the record is nowhere before it";
            input.problem(ProblemKind::MissingParent, message);
        }
        Ok(router.route(record, parent))
    }

    /// Creates the file's first session. `ts` is the time of the session's first record, if the
    /// record has a time.
    fn begin(&mut self, input: &mut Input, ts: Option<Timestamp>) -> Result<()> {
        if let Some(original) = &self.file.facts().copied_from {
            let name = copy_links::copies_name(self.file.format(), original);
            self.output.batch().name(name);
        }
        let id = self.sessions.first_id(self.lookup.engine.store(), &self.file)?;
        let created = self.file.created(ts);
        self.header.create(&self.file);
        let own = self.output.source();
        let (revision, copied) = (&mut self.revision, &mut self.copied);
        let from = self.options.written_from.as_ref();
        let workspace = from.map(|from| from.workspace.clone()).or_else(|| self.file.workspace());
        match SessionStart::of(self.lookup, &self.file, own, revision, copied, from)? {
            SessionStart::Inside(inside) => {
                let Inside { kind, parent, cut, revision, leaf } = *inside;
                if leaf {
                    self.route.leaf = Some(0);
                }
                let workspace = workspace.unwrap_or_else(|| parent.workspace.clone());
                let title = self.file.title();
                let strategy = self.lookup.engine.strategy_within_depth(&parent, kind)?;
                let child =
                    Child { id, kind, parent, cut, strategy, title, workspace, created, revision };
                self.add_child(child)?;
                if let Some(last) = self.copied.last().filter(|_| from.is_some()) {
                    // The history may end later than its last record.
                    self.output.remember(Some(last), self.sessions.end_of_history());
                }
                return Ok(());
            }
            SessionStart::WithoutCaller => {
                let message = "the session that called this one as a sub-agent was not imported";
                input.problem(ProblemKind::MissingBase, message);
            }
            SessionStart::Root => {}
        }
        let workspace = workspace.unwrap_or_else(|| self.options.workspace.clone());
        let mut new = new_session::root(&self.file, id, workspace, created);
        new.title = self.file.title();
        self.sessions.add_root(&new);
        self.output.batch().create(new);
        Ok(())
    }

    /// Creates a session that begins with this record, at the position `begin` of another session.
    /// The new session is a branch, or a delegate (the session of a sub-agent). Returns its number
    /// in the file.
    fn fork(
        &mut self,
        input: &Input,
        record: &Record,
        key: Option<RecordKey>,
        begin: &BranchStart,
    ) -> Result<u32> {
        let parent = match &begin.parent {
            BranchParent::Own(number) => {
                let Some(parent) = self.sessions.get(*number).map(|parent| parent.id.clone())
                else {
                    let message = "the source names a session that it has not";
                    return Err(Error::invalid("source", message));
                };
                if self.output.batch().touches(*number, &parent) {
                    // The store can resolve the cut only in events that it already contains, so the
                    // events of the parent session are written first.
                    self.flush(input, false)?;
                }
                parent
            }
            BranchParent::Earlier(session) => session.clone(),
        };
        self.output.settle()?;
        let store = self.lookup.engine.store();
        let parent = store.header(&parent)?;
        let cut = self.lookup.cut(&parent, begin.after)?;
        let repeated = match key {
            Some(key) => self.output.locate(key)?.is_some(),
            None => false,
        };
        let offset = input.record_offset();
        let id = self.sessions.fork_id(store, &self.file, record, repeated, offset)?;
        let created = self.file.time_of(record, self.route.last_ts);
        if record.sidechain {
            self.route.sidechains.push(self.sessions.next_number());
        }
        let (kind, workspace) = (begin.kind, parent.workspace.clone());
        let (title, revision) = (None, None);
        let strategy = self.lookup.engine.strategy_within_depth(&parent, kind)?;
        let child = Child { id, kind, parent, cut, strategy, title, workspace, created, revision };
        self.add_child(child)
    }

    /// Creates a session that begins inside another session. Returns the new session's number in
    /// the file.
    fn add_child(&mut self, child: Child) -> Result<u32> {
        let number = self.sessions.next_number();
        if child.kind == SessionKind::Branch {
            for call in self.lookup.engine.open_calls(&child.parent, &child.cut)?.calls() {
                self.route.open_call(number, &call.id);
            }
        }
        let new = self.sessions.add_child(&self.file, child)?;
        self.output.batch().create(new);
        Ok(number)
    }

    /// Appends a record as an event to the session with this number in the file. Returns the
    /// event's location.
    fn append(
        &mut self,
        input: &Input,
        number: u32,
        record: Record,
        text: ByteString,
    ) -> RecordLocation {
        let ts = self.file.time_of(&record, self.route.last_ts);
        self.route.last_ts = Some(ts);
        self.route.follow_calls(number, &record.effect);
        let Some(session) = self.sessions.get_mut(number) else {
            return RecordLocation::own(number, 0);
        };
        let native = record.native_id.and_then(|id| id.parse::<EventId>().ok());
        let event = Event {
            id: native.unwrap_or_else(|| EventId::derived(&session.id, input.record_offset())),
            ts,
            kind: record.kind,
            class: record.class,
            dialect: Some(self.file.format_name().clone()),
            effect: record.effect,
            data: Data::from_checked(text),
        };
        let batch = self.output.batch();
        batch.append(number, &session.id, session.head(), event, record.usage);
        let location = session.add_event(number, ts);
        batch.not_before(number, session.updated);
        location
    }

    /// Writes the collected import step to the store. `whole` means that the file was read to its
    /// end.
    pub(crate) fn flush(&mut self, input: &Input, whole: bool) -> Result<()> {
        if let Some(title) = self.header.title_change(&self.file)
            && let Some(first) = self.sessions.living_first()
        {
            self.output.batch().change(first.clone(), title);
        }
        let mut state = ResumeState::of(self.route.clone());
        state.facts = self.file.facts().clone();
        (state.lines, state.in_long_line) = (input.lines(), input.in_long_line());
        state.unfinished = input.unfinished();
        state.copying = self.copied.progress().cloned();
        state.comparison = self.revision.comparison().cloned();
        state.awaited = self.awaited.clone();
        state.header = self.header.clone();
        state.reader = input.reader_state();
        state.pushed = self.pushed.as_ref().map(|pushed| pushed.with_hash(input.hash()));
        let appended = self.sessions.list().iter().map(|session| session.appended).collect();
        self.output.write(&self.file, input.progress(state.text()), whole, appended)
    }
}
