//! The methods of [`Forklore`] that read.

use std::ops::Range;
use std::time::Duration;

use forklore_api::Session;
use forklore_core::Usage;
use forklore_core::operation::OperationId;
use forklore_core::{Cut, Header, Message, Selector, SessionId};
use forklore_engine::{
    Branches, Difference, DifferenceStats, Engine, Inspection, Lineage, ListRequest, Listing,
    Loaded, LogRange, NamedAttachment, OperationAnswer, OperationPage, OperationsRequest, Pace,
    Record, ReplayRange, Result, Scope, Stats, TreeRequest, Trees, UsageOptions, UsageReport,
    UsageScope, VerifiedSample, VerifySample,
};
use forklore_search::{Blame, BlameAnswer, Search, SearchAnswer, SearchIndex};
use forklore_store::port::{At, Changes, LogEntry, Since, Verification};

use super::{Forklore, Rows};

impl Forklore {
    /// Returns the header of a session that exists and is not deleted.
    ///
    /// # Errors
    /// `not_found`: the session does not exist or was deleted.
    pub async fn show(&self, session: &SessionId) -> Result<Header> {
        let session = session.clone();
        self.step(move |engine| engine.show(&session)).await
    }

    /// Lists what was done to sessions, the newest operation first (docs/semantics.md, Operations).
    ///
    /// # Errors
    /// `unsupported` if the store keeps no log of operations.
    pub async fn operations(&self, request: OperationsRequest) -> Result<OperationPage> {
        self.step(move |engine| engine.operations(&request)).await
    }

    /// Returns an operation with all that it did.
    ///
    /// # Errors
    /// `not_found` if the store has no operation with this number, `unsupported` if the store keeps
    /// no log of operations.
    pub async fn operation(&self, operation: OperationId) -> Result<OperationAnswer> {
        self.step(move |engine| engine.operation(operation)).await
    }

    /// Returns the header of the session that `reference` names. A reference is an id or a unique
    /// prefix or suffix of one, `last` (the most recently updated root or branch), a label,
    /// `REF@label` (the label in the family of the session `REF`), or a title or the beginning of
    /// one. `last` is looked up only in `scope`. Labels and titles are looked up in `scope` first
    /// (docs/semantics.md, Workspaces).
    ///
    /// # Errors
    /// - `not_found`: no session matches.
    /// - `invalid_args`: several sessions match (the error lists the first 10), or `reference` is
    ///   not a valid name.
    pub async fn resolve(&self, reference: &str, scope: &Scope) -> Result<Header> {
        let (reference, scope) = (reference.to_owned(), scope.clone());
        self.step(move |engine| engine.resolve(&reference, &scope)).await
    }

    /// Returns the session in the trash that `reference` names: an id, `@label`, or a unique prefix
    /// or suffix of an id. Also returns a session that is not in the trash, if `reference` is its
    /// id. Labels are looked up in `scope`.
    ///
    /// # Errors
    /// - `not_found`: no session in the trash matches.
    /// - `invalid_args`: several sessions match, or `reference` is not a valid name.
    pub async fn resolve_in_trash(&self, reference: &str, scope: &Scope) -> Result<Header> {
        let (reference, scope) = (reference.to_owned(), scope.clone());
        self.step(move |engine| engine.resolve_in_trash(&reference, &scope)).await
    }

    /// Returns the sessions that any process wrote to after the position `since`, at most `limit`
    /// sessions (0 means no limit). If nothing was written after that position, waits for the next
    /// commit, at most for the duration `wait`. The answer contains a mark: the position in the
    /// store's sequence of changes (docs/semantics.md, The feed) to pass to the next call.
    ///
    /// # Errors
    /// `invalid_args` if the mark belongs to another store; `conflict` if the mark is newer than
    /// the store's last change, because an older copy of the store was restored.
    pub async fn changes(&self, since: Since, limit: usize, wait: Duration) -> Result<Changes> {
        self.step(move |engine| Ok(engine.store().changes(&since, limit, wait)?)).await
    }

    /// Lists one page of sessions, the most recently updated first. Delegates (sessions of
    /// sub-agents) are listed only if the request's `kind` is delegate.
    ///
    /// # Errors
    /// `invalid_args` if the request's cursor `after` is not valid.
    pub async fn list(&self, request: ListRequest) -> Result<Listing> {
        self.step(move |engine| engine.list(&request)).await
    }

    /// Finds words in messages, tool calls, results, titles and labels. A message that several
    /// sessions share is one hit. The first search of a store reads all its sessions. Each later
    /// search reads what was written since the last one.
    ///
    /// # Errors
    /// `invalid_args` if the query has no word or an invalid regular expression.
    pub async fn search(&self, request: Search) -> Result<SearchAnswer> {
        self.step(move |engine| SearchIndex::of(engine).search(&request)).await
    }

    /// Finds the tool calls whose arguments name a file, the latest first.
    ///
    /// # Errors
    /// The store's error if the sessions cannot be read.
    pub async fn blame(&self, request: Blame) -> Result<BlameAnswer> {
        self.step(move |engine| SearchIndex::of(engine).blame(&request)).await
    }

    /// Reads a whole session into memory. If the history may not fit in memory, use
    /// [`Forklore::events`].
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if its stored data is
    /// damaged, `missing_ancestor` if an ancestor whose events it inherits is missing. Never
    /// returns a silently shorter history.
    pub async fn load(&self, session: &SessionId) -> Result<Loaded> {
        let session = session.clone();
        self.step(move |engine| engine.load(&session)).await
    }

    /// Returns the events of a session from the position `at` on. Includes events that are appended
    /// while the caller reads.
    ///
    /// # Errors
    /// Each row may fail with `not_found` if the session does not exist or was deleted, `corrupt`
    /// if its stored data is damaged, `missing_ancestor` if an ancestor whose events it inherits is
    /// missing.
    pub fn events(&self, session: &SessionId, at: At) -> Rows<LogEntry> {
        Rows::of(self.pool.clone(), self.engine.events(session, at))
    }

    /// Returns the events of a session's log that are in `range`. `header` is the session's
    /// header.
    ///
    /// # Errors
    /// Each row may fail with `corrupt` (damaged data) or `missing_ancestor` (an ancestor whose
    /// events are inherited is missing).
    pub fn log_events(&self, header: &Header, range: LogRange) -> Rows<LogEntry> {
        Rows::of(self.pool.clone(), self.engine.log_events(header, range))
    }

    /// Returns the conversation of a session as plain records, up to the cut `up_to`. If `up_to` is
    /// `None`, returns all records that the session has at the time of the call.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted; `invalid_args` if the session has
    /// no such cut. Each row may fail with `corrupt` (damaged data) or `missing_ancestor` (an
    /// ancestor whose events are inherited is missing).
    pub async fn replay(
        &self,
        session: &SessionId,
        up_to: Option<&Selector>,
    ) -> Result<Rows<Record>> {
        let (session, up_to) = (session.clone(), up_to.cloned());
        let replay = self.step(move |engine| engine.replay(&session, up_to.as_ref())).await?;
        Ok(Rows::of(self.pool.clone(), replay))
    }

    /// Returns the conversation of a session in `range`: from a turn, a message or another event
    /// on, up to a cut, or only the last turns.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted; `invalid_args` if the session has
    /// no such turn, message or cut. Each row may fail with `corrupt` (damaged data) or
    /// `missing_ancestor` (an ancestor whose events are inherited is missing).
    pub async fn replay_range(
        &self,
        session: &SessionId,
        range: &ReplayRange,
    ) -> Result<Rows<Record>> {
        let (session, range) = (session.clone(), range.clone());
        let replay = self.step(move |engine| engine.replay_range(&session, &range)).await?;
        Ok(Rows::of(self.pool.clone(), replay))
    }

    /// Returns the records of a session whose conversation indexes are in the range `part`.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted. Each row may fail with `corrupt`
    /// (damaged data) or `missing_ancestor` (an ancestor whose events are inherited is missing).
    pub async fn replay_part(&self, session: &SessionId, part: Range<u64>) -> Result<Rows<Record>> {
        let session = session.clone();
        let replay = self.step(move |engine| engine.replay_part(&session, &part)).await?;
        Ok(Rows::of(self.pool.clone(), replay))
    }

    /// Returns what a person typed first in the part of the log that the session wrote itself. If
    /// nothing was typed there, returns what was typed first in the inherited history. Text that an
    /// agent added is left out. A command for the agent (such as `/clear`) is returned only if
    /// nothing else was typed. Each of the two searches reads at most 200 events. Returns `None` if
    /// neither finds anything.
    ///
    /// # Errors
    /// `corrupt` if the session's stored data is damaged, `missing_ancestor` if an ancestor whose
    /// events the session inherits is missing.
    pub async fn first_words(&self, header: &Header) -> Result<Option<String>> {
        let header = header.clone();
        self.step(move |engine| engine.first_words(&header)).await
    }

    /// Replays a session at its original pace: returns each record with the pause that precedes it.
    /// `up_to` is the cut at which the replay ends; `None` replays all records. The stream itself
    /// never waits. The caller waits, with the timer of its executor.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted; `invalid_args` if the session has
    /// no such cut. Each row may fail with `corrupt` (damaged data) or `missing_ancestor` (an
    /// ancestor whose events are inherited is missing).
    pub async fn playback(
        &self,
        session: &SessionId,
        up_to: Option<&Selector>,
        mut pace: Pace,
    ) -> Result<Rows<(Duration, Record)>> {
        let (session, up_to) = (session.clone(), up_to.cloned());
        let replay = self.step(move |engine| engine.replay(&session, up_to.as_ref())).await?;
        let paced = replay.map(move |record| record.map(|record| (pace.before(record.ts), record)));
        Ok(Rows::of(self.pool.clone(), paced))
    }

    /// Returns the messages that the model would receive if the session continued now
    /// (docs/semantics.md, Reading). If the history may not fit in memory, use
    /// [`Forklore::inspect_lazily`].
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if its stored data is
    /// damaged, `missing_ancestor` if an ancestor whose events it inherits is missing.
    pub async fn inspect(&self, session: &SessionId) -> Result<Inspection> {
        let session = session.clone();
        self.step(move |engine| engine.inspect(&session)).await
    }

    /// Returns the messages that the model would receive if the session continued now
    /// (docs/semantics.md, Reading). The messages are a stream, which reads each one when it is
    /// requested. [`Forklore::inspect`] reads them all into memory.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if its stored data is
    /// damaged, `missing_ancestor` if an ancestor whose events it inherits is missing. Each message
    /// of the stream may fail with the last two errors.
    pub async fn inspect_lazily(&self, session: &SessionId) -> Result<Inspection<Rows<Message>>> {
        let session = session.clone();
        let Inspection {
            messages,
            balanced,
            open_results,
            synthetic_results,
            excluded,
            detached_subagents,
        } = self.step(move |engine| engine.inspect_lazily(&session)).await?;
        let messages = Rows::of(self.pool.clone(), messages);
        Ok(Inspection {
            messages,
            balanced,
            open_results,
            synthetic_results,
            excluded,
            detached_subagents,
        })
    }

    /// Returns the cut that `selector` names in the session of `header` (docs/semantics.md, Where
    /// to cut).
    ///
    /// # Errors
    /// `invalid_args` if the selector is out of range. Also `invalid_args` if the cut would retain
    /// no event, except for the selectors `start` and `index:0`, which request an empty history.
    pub async fn cut(&self, header: &Header, selector: &Selector) -> Result<Cut> {
        let (header, selector) = (header.clone(), selector.clone());
        self.step(move |engine| engine.cut(&header, &selector)).await
    }

    /// Returns the branches of the family of `session` (all sessions with the same root). Delegates
    /// (sessions of sub-agents) and deleted sessions are left out.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted.
    pub async fn branches(&self, session: &SessionId) -> Result<Branches> {
        let session = session.clone();
        self.step(move |engine| engine.branches(&session)).await
    }

    /// Returns trees of sessions, one per family (a root session with all its descendants). If the
    /// request names a session, returns the tree of its family; otherwise up to 50 trees.
    ///
    /// # Errors
    /// `not_found` if the named session does not exist or was deleted; `invalid_args` if the
    /// request's cursor `after` is not valid.
    pub async fn tree(&self, request: TreeRequest) -> Result<Trees> {
        self.step(move |engine| engine.tree(&request)).await
    }

    /// Adds to each session in the trees a mark for each branch that [`Forklore::bring`] summarized
    /// in it. Returns the trees, and `true` if the marks were added. Returns `false` and adds no
    /// mark if the sessions in the trees wrote more than 20,000 events in total. For a damaged
    /// session, adds the marks that can be read.
    ///
    /// # Errors
    /// Returns no error for damage. [`Forklore::verify`] reports the events that cannot be read.
    pub async fn mark_brought(&self, mut trees: Trees) -> Result<(Trees, bool)> {
        self.step(move |engine| {
            let reported = engine.mark_brought(&mut trees);
            Ok((trees, reported))
        })
        .await
    }

    /// Adds first words to each session in the trees that has no title: the beginning of what a
    /// person typed first in this session. Does so for up to 500 sessions. Returns the trees.
    ///
    /// # Errors
    /// Returns no error for damage: a session whose events cannot be read gets no words.
    pub async fn add_first_words(&self, mut trees: Trees) -> Result<Trees> {
        self.step(move |engine| {
            engine.add_first_words(&mut trees);
            Ok(trees)
        })
        .await
    }

    /// Returns the public form of a header. If the session has no title, adds its first words: the
    /// beginning of what a person typed first.
    ///
    /// # Errors
    /// Returns no error for damage: a session whose events cannot be read gets no words.
    pub async fn described(&self, header: &Header) -> Result<Session> {
        let header = header.clone();
        self.step(move |engine| Ok(engine.described(&header))).await
    }

    /// Returns the attachments that the messages of a session name, in log order. Includes
    /// inherited messages. An attachment that the store does not have is marked `missing` and is
    /// not an error.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if its stored data is
    /// damaged, `missing_ancestor` if an ancestor whose events it inherits is missing.
    pub async fn attachments(&self, session: &SessionId) -> Result<Vec<NamedAttachment>> {
        let session = session.clone();
        self.step(move |engine| engine.attachments(&session)).await
    }

    /// Returns the ancestors and children of a session. The ancestors begin with the parent and end
    /// with the root. The children are ordered by the position in the session's log where they
    /// begin, then by creation time.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted; `lineage_cycle` if the parent
    /// links form a cycle.
    pub async fn lineage(&self, session: &SessionId) -> Result<Lineage> {
        let session = session.clone();
        self.step(move |engine| engine.lineage(&session)).await
    }

    /// Compares the histories of two sessions, which need not be related. If the parts that differ
    /// may not fit in memory, use [`Forklore::compare`].
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if its stored data is
    /// damaged, `missing_ancestor` if an ancestor whose events it inherits is missing.
    pub async fn diff(&self, a: &SessionId, b: &SessionId) -> Result<Difference> {
        let (a, b) = (a.clone(), b.clone());
        self.step(move |engine| engine.diff(&a, &b)).await
    }

    /// Compares the histories of two sessions in constant memory. The records that only `a` or only
    /// `b` has are two streams, which read them as they advance. The common part is not read,
    /// whatever its length. [`Forklore::diff`] returns the same comparison in memory.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if its stored data is
    /// damaged, `missing_ancestor` if an ancestor whose events it inherits is missing. Each row of
    /// a stream may fail with the last two errors.
    pub async fn compare(&self, a: &SessionId, b: &SessionId) -> Result<Difference<Rows<Record>>> {
        let (a, b) = (a.clone(), b.clone());
        let compared = self.step(move |engine| engine.compare(&a, &b)).await?;
        let rows = |alone| Rows::of(self.pool.clone(), alone);
        let Difference { ancestor, common, only_a, only_b } = compared;
        Ok(Difference { ancestor, common, only_a: rows(only_a), only_b: rows(only_b) })
    }

    /// Counts what each of two sessions has alone: messages, turns, tool calls, model usage and
    /// changed files.
    ///
    /// # Errors
    /// `not_found` if a session does not exist or was deleted, `corrupt` if its stored data is
    /// damaged, `missing_ancestor` if an ancestor whose events it inherits is missing.
    pub async fn diff_stats(&self, a: &SessionId, b: &SessionId) -> Result<DifferenceStats> {
        let (a, b) = (a.clone(), b.clone());
        self.step(move |engine| engine.diff_stats(&a, &b)).await
    }

    /// Sums events, bytes and model usage over one session, or over the whole store if `session` is
    /// `None`.
    ///
    /// # Errors
    /// `not_found`: the session does not exist or was deleted.
    pub async fn stats(&self, session: Option<&SessionId>) -> Result<Stats> {
        let session = session.cloned();
        self.step(move |engine| engine.stats(session.as_ref())).await
    }

    /// Sums events, bytes and model usage over the family of `session` (all sessions with the same
    /// root). Includes the usage of the family's deleted sessions.
    ///
    /// # Errors
    /// `not_found`: `session` does not exist or was deleted.
    pub async fn family_stats(&self, session: &SessionId) -> Result<Stats> {
        let session = session.clone();
        self.step(move |engine| engine.family_stats(&session)).await
    }

    /// Returns the usage of the model calls in the history that a session inherits. This usage is
    /// not part of the session's own usage.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if its stored data is
    /// damaged, `missing_ancestor` if an ancestor whose events it inherits is missing.
    pub async fn inherited_usage(&self, session: &SessionId) -> Result<Usage> {
        let session = session.clone();
        self.step(move |engine| engine.inherited_usage(&session)).await
    }

    /// Computes the model usage of the sessions in `scope`. Counts the events that these sessions
    /// wrote themselves, not inherited ones.
    ///
    /// # Errors
    /// `not_found` if a session that the scope names does not exist. Sessions that cannot be read
    /// are listed in the field `problems` of the report.
    pub async fn usage_report(&self, scope: UsageScope) -> Result<UsageReport> {
        self.step(move |engine| engine.usage_report(&scope)).await
    }

    /// Computes the model usage as [`usage_report`](Self::usage_report) does. Applies the prices in
    /// `options`. If `options` names a grouping, such as days, also sums the usage of each group.
    ///
    /// # Errors
    /// See [`usage_report`](Self::usage_report).
    pub async fn usage_report_with(
        &self,
        scope: UsageScope,
        options: UsageOptions,
    ) -> Result<UsageReport> {
        self.step(move |engine| engine.usage_report_with(&scope, &options)).await
    }

    /// Checks one session, or the whole store if `session` is `None`. Checks bytes, counts, parent
    /// links, attachments, the ranges of ancestors' events to which sessions refer (spans), and the
    /// files that agents stored next to imported session files (sidecar files). Damage is reported
    /// in the field `problems`, not as an error.
    ///
    /// # Errors
    /// `not_found` if the session does not exist, or the error of a store that cannot be read at
    /// all.
    pub async fn verify(&self, session: Option<&SessionId>) -> Result<Verification> {
        let session = session.cloned();
        self.step(move |engine: &Engine| engine.verify(session.as_ref())).await
    }

    /// Checks a sample of the sessions, which a seed selects, as [`verify`](Self::verify) checks
    /// one.
    ///
    /// # Errors
    /// The error of a store that cannot be read at all. Damage is reported in `problems`.
    pub async fn verify_sample(&self, request: VerifySample) -> Result<VerifiedSample> {
        self.step(move |engine: &Engine| engine.verify_sample(&request)).await
    }
}
