//! The methods of [`Forklore`] that read.

use std::ops::Range;
use std::time::Duration;

use forklore_core::Usage;
use forklore_core::{Cut, Header, Message, Selector, SessionId};
use forklore_engine::{
    Branches, Difference, Engine, Inspection, Lineage, ListRequest, Listing, Loaded, LogRange,
    NamedAttachment, Pace, Record, Result, Scope, Stats, TreeRequest, Trees, UsageReport,
    UsageScope,
};
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

    /// Returns the session that `reference` names: an exact id, `last`, `@label`, `REF@label`, or a
    /// unique prefix or suffix of an id.
    ///
    /// # Errors
    /// - `not_found`: no session matches.
    /// - `invalid_args`: several sessions match (the error lists the first 10), or `reference` is
    ///   not a valid name.
    pub async fn resolve(&self, reference: &str, scope: &Scope) -> Result<Header> {
        let (reference, scope) = (reference.to_owned(), scope.clone());
        self.step(move |engine| engine.resolve(&reference, &scope)).await
    }

    /// Returns the sessions that any process wrote to after the mark `since` (docs/semantics.md,
    /// The feed). If there are none yet, waits for the next commit, at most for `wait`. Pass the
    /// mark of the answer to the next call.
    ///
    /// # Errors
    /// `invalid_args` if the mark belongs to another store; `conflict` if the mark is newer than
    /// the store.
    pub async fn changes(&self, since: Since, limit: usize, wait: Duration) -> Result<Changes> {
        self.step(move |engine| Ok(engine.store().changes(&since, limit, wait)?)).await
    }

    /// Lists one page of sessions, the most recently updated first. Delegates are listed only if
    /// the request names their kind.
    ///
    /// # Errors
    /// `invalid_args` if `after` is not a valid cursor.
    pub async fn list(&self, request: ListRequest) -> Result<Listing> {
        self.step(move |engine| engine.list(&request)).await
    }

    /// Reads a whole session. For histories that may not fit in memory see [`Forklore::events`].
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`. Never returns a silently shorter history.
    pub async fn load(&self, session: &SessionId) -> Result<Loaded> {
        let session = session.clone();
        self.step(move |engine| engine.load(&session)).await
    }

    /// Returns the events of a session from `at` on, including those that are appended during the
    /// read.
    ///
    /// # Errors
    /// Each row may fail with `not_found`, `corrupt` or `missing_ancestor`.
    pub fn events(&self, session: &SessionId, at: At) -> Rows<LogEntry> {
        Rows::of(self.pool.clone(), self.engine.events(session, at))
    }

    /// Returns the events of a range of a session's log. `header` is the session's header.
    ///
    /// # Errors
    /// Each row may fail with `corrupt` or `missing_ancestor`.
    pub fn log_events(&self, header: &Header, range: LogRange) -> Rows<LogEntry> {
        Rows::of(self.pool.clone(), self.engine.log_events(header, range))
    }

    /// Returns the conversation of a session as plain records: up to the cut `up_to`, or all of it.
    /// Without a cut, the records end where the session ended at the time of the call.
    ///
    /// # Errors
    /// `not_found`, `invalid_args` (the cut); each row may fail with `corrupt` or
    /// `missing_ancestor`.
    pub async fn replay(
        &self,
        session: &SessionId,
        up_to: Option<&Selector>,
    ) -> Result<Rows<Record>> {
        let (session, up_to) = (session.clone(), up_to.cloned());
        let replay = self.step(move |engine| engine.replay(&session, up_to.as_ref())).await?;
        Ok(Rows::of(self.pool.clone(), replay))
    }

    /// Returns the records whose conversation indexes are in the range `part`.
    ///
    /// # Errors
    /// `not_found`; each row may fail with `corrupt` or `missing_ancestor`.
    pub async fn replay_part(&self, session: &SessionId, part: Range<u64>) -> Result<Rows<Record>> {
        let session = session.clone();
        let replay = self.step(move |engine| engine.replay_part(&session, &part)).await?;
        Ok(Rows::of(self.pool.clone(), replay))
    }

    /// Returns the text of the session's first user message. Messages that the session wrote itself
    /// come first; if there are none, searches the inherited history. Each of the two searches
    /// looks at no more than 200 events.
    ///
    /// # Errors
    /// `corrupt`, `missing_ancestor`.
    pub async fn first_words(&self, header: &Header) -> Result<Option<String>> {
        let header = header.clone();
        self.step(move |engine| engine.first_words(&header)).await
    }

    /// Replays a session at its original pace: returns each record with the pause that precedes it.
    /// The stream does not wait itself: the caller waits, with the timer of its executor.
    ///
    /// # Errors
    /// The errors of [`Forklore::replay`].
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

    /// Returns what the model of a session would receive now (docs/semantics.md, Reading). If the
    /// history may not fit in memory, use [`Forklore::inspect_lazily`].
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`.
    pub async fn inspect(&self, session: &SessionId) -> Result<Inspection> {
        let session = session.clone();
        self.step(move |engine| engine.inspect(&session)).await
    }

    /// Like [`Forklore::inspect`], but reads the messages as the stream advances.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`; each row may fail with the last two.
    pub async fn inspect_lazily(&self, session: &SessionId) -> Result<Inspection<Rows<Message>>> {
        let session = session.clone();
        let Inspection { messages, balanced, open_results, synthetic_results, excluded } =
            self.step(move |engine| engine.inspect_lazily(&session)).await?;
        let messages = Rows::of(self.pool.clone(), messages);
        Ok(Inspection { messages, balanced, open_results, synthetic_results, excluded })
    }

    /// Returns the cut that `selector` names in the session of `header` (docs/semantics.md, Where
    /// to cut).
    ///
    /// # Errors
    /// `invalid_args` if the selector is out of range, or if it selects nothing and is not `start`
    /// or `index:0`.
    pub async fn cut(&self, header: &Header, selector: &Selector) -> Result<Cut> {
        let (header, selector) = (header.clone(), selector.clone());
        self.step(move |engine| engine.cut(&header, &selector)).await
    }

    /// Returns the branches of the family of a session. Delegates and deleted sessions are left
    /// out.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn branches(&self, session: &SessionId) -> Result<Branches> {
        let session = session.clone();
        self.step(move |engine| engine.branches(&session)).await
    }

    /// Returns the requested trees. If the request names a session, this is the tree of its family;
    /// otherwise up to 50 trees.
    ///
    /// # Errors
    /// `not_found`; `invalid_args` if `after` is not a valid cursor.
    pub async fn tree(&self, request: TreeRequest) -> Result<Trees> {
        self.step(move |engine| engine.tree(&request)).await
    }

    /// Adds to each session of the trees the branches that [`Forklore::bring`] brought into it.
    /// Returns the trees, and `false` if nothing was added because the sessions of the trees wrote
    /// more than 20,000 events together. For a damaged session, adds what can be read.
    ///
    /// # Errors
    /// Returns no error of the store: data that cannot be read is left out.
    pub async fn mark_brought(&self, mut trees: Trees) -> Result<(Trees, bool)> {
        self.step(move |engine| {
            let reported = engine.mark_brought(&mut trees);
            Ok((trees, reported))
        })
        .await
    }

    /// Returns the attachments that the messages of a session name, inherited messages included, in
    /// log order. A missing attachment is marked `missing` and is not an error.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`.
    pub async fn attachments(&self, session: &SessionId) -> Result<Vec<NamedAttachment>> {
        let session = session.clone();
        self.step(move |engine| engine.attachments(&session)).await
    }

    /// Returns the ancestors and children of a session. Ancestors are ordered nearest first.
    /// Children are ordered by their cut, then by creation time.
    ///
    /// # Errors
    /// `not_found`; `lineage_cycle` if the parent links form a cycle.
    pub async fn lineage(&self, session: &SessionId) -> Result<Lineage> {
        let session = session.clone();
        self.step(move |engine| engine.lineage(&session)).await
    }

    /// Compares two sessions, of one family or of two. If their differing parts may not fit in
    /// memory, see [`Forklore::compare`].
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`.
    pub async fn diff(&self, a: &SessionId, b: &SessionId) -> Result<Difference> {
        let (a, b) = (a.clone(), b.clone());
        self.step(move |engine| engine.diff(&a, &b)).await
    }

    /// Like [`Forklore::diff`], in constant memory: the records that only one side has are read as
    /// its stream advances. The common part is not read, whatever its length.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`; each row may fail with the last two.
    pub async fn compare(&self, a: &SessionId, b: &SessionId) -> Result<Difference<Rows<Record>>> {
        let (a, b) = (a.clone(), b.clone());
        let compared = self.step(move |engine| engine.compare(&a, &b)).await?;
        let rows = |alone| Rows::of(self.pool.clone(), alone);
        let Difference { ancestor, common, only_a, only_b } = compared;
        Ok(Difference { ancestor, common, only_a: rows(only_a), only_b: rows(only_b) })
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

    /// Sums events, bytes and model usage over the family of `session`, including the usage of its
    /// deleted sessions.
    ///
    /// # Errors
    /// `not_found`: the session does not exist or was deleted.
    pub async fn family_stats(&self, session: &SessionId) -> Result<Stats> {
        let session = session.clone();
        self.step(move |engine| engine.family_stats(&session)).await
    }

    /// Returns the usage of the model calls in the history that a session inherits. This usage is
    /// not part of the session's own usage.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`.
    pub async fn inherited_usage(&self, session: &SessionId) -> Result<Usage> {
        let session = session.clone();
        self.step(move |engine| engine.inherited_usage(&session)).await
    }

    /// Computes the model usage in `scope` from the events that sessions wrote themselves.
    ///
    /// # Errors
    /// `not_found`. Sessions that cannot be read are listed in `problems`.
    pub async fn usage_report(&self, scope: UsageScope) -> Result<UsageReport> {
        self.step(move |engine| engine.usage_report(&scope)).await
    }

    /// Checks one session, or the whole store: bytes, counts, spans, parent links, sidecar files
    /// and attachments. Damage is reported in `problems`, not as an error.
    ///
    /// # Errors
    /// `not_found`, or the error of a store that cannot be read at all.
    pub async fn verify(&self, session: Option<&SessionId>) -> Result<Verification> {
        let session = session.cloned();
        self.step(move |engine: &Engine| engine.verify(session.as_ref())).await
    }
}
