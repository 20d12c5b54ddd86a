//! The verbs that read.

use std::ops::Range;
use std::time::Duration;

use forklore_core::header::Usage;
use forklore_core::{Cut, Header, Message, Selector, SessionId};
use forklore_engine::{
    Branches, Difference, Engine, Inspection, Lineage, ListRequest, Listing, Loaded, LogRange,
    NamedAttachment, Pace, Record, Result, Scope, Stats, TreeRequest, Trees, UsageReport,
    UsageScope,
};
use forklore_store::port::{At, Changes, LogEntry, Since, Verification};

use super::{Forklore, Rows};

impl Forklore {
    /// The header of a session that exists and was not deleted (SPEC 1).
    ///
    /// # Errors
    /// `not_found`.
    pub async fn show(&self, session: &SessionId) -> Result<Header> {
        let session = session.clone();
        self.step(move |engine| engine.show(&session)).await
    }

    /// The session that a person means: an exact id, `last`, `@label`, `REF@label`, or a unique
    /// beginning or end of an id (SPEC 2).
    ///
    /// # Errors
    /// `not_found`; `invalid_args` when it fits several, with the first 10, or when it could not
    /// be a name at all.
    pub async fn resolve(&self, reference: &str, scope: &Scope) -> Result<Header> {
        let (reference, scope) = (reference.to_owned(), scope.clone());
        self.step(move |engine| engine.resolve(&reference, &scope)).await
    }

    /// Which sessions were written to since, by whatever process; where there is nothing yet, it
    /// waits for the next commit, at most so long (SPEC 18). The mark of the answer is where the
    /// next call goes on.
    ///
    /// # Errors
    /// `invalid_args` when the mark is of another store, `conflict` when it is ahead of the store.
    pub async fn changes(&self, since: Since, limit: usize, wait: Duration) -> Result<Changes> {
        self.step(move |engine| Ok(engine.store().changes(&since, limit, wait)?)).await
    }

    /// Lists sessions, the last updated first.
    ///
    /// # Errors
    /// `invalid_args` when `after` is no cursor.
    pub async fn list(&self, request: ListRequest) -> Result<Listing> {
        self.step(move |engine| engine.list(&request)).await
    }

    /// Reads a session whole (SPEC 7). For histories that may not fit in memory see
    /// [`Forklore::events`].
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`: never a silently shorter history.
    pub async fn load(&self, session: &SessionId) -> Result<Loaded> {
        let session = session.clone();
        self.step(move |engine| engine.load(&session)).await
    }

    /// The events of a session from `at` on, those appended while it is read included.
    ///
    /// # Errors
    /// Of each row: `not_found`, `corrupt`, `missing_ancestor`.
    pub fn events(&self, session: &SessionId, at: At) -> Rows<LogEntry> {
        Rows::of(self.pool.clone(), self.engine.events(session, at))
    }

    /// The events of a range of a session's log (SPEC 7), `header` being that of the session.
    ///
    /// # Errors
    /// Of each row: `corrupt`, `missing_ancestor`.
    pub fn log_events(&self, header: &Header, range: LogRange) -> Rows<LogEntry> {
        Rows::of(self.pool.clone(), self.engine.log_events(header, range))
    }

    /// The conversation of a session up to a cut, or all of it, as plain records (SPEC 7). It ends
    /// where the session ended when this was called.
    ///
    /// # Errors
    /// `not_found`, `invalid_args` (the cut); of each row `corrupt`, `missing_ancestor`.
    pub async fn replay(
        &self,
        session: &SessionId,
        up_to: Option<&Selector>,
    ) -> Result<Rows<Record>> {
        let (session, up_to) = (session.clone(), up_to.cloned());
        let replay = self.step(move |engine| engine.replay(&session, up_to.as_ref())).await?;
        Ok(Rows::of(self.pool.clone(), replay))
    }

    /// The records of a part of a session, by their indexes.
    ///
    /// # Errors
    /// `not_found`; of each row `corrupt`, `missing_ancestor`.
    pub async fn replay_part(&self, session: &SessionId, part: Range<u64>) -> Result<Rows<Record>> {
        let session = session.clone();
        let replay = self.step(move |engine| engine.replay_part(&session, &part)).await?;
        Ok(Rows::of(self.pool.clone(), replay))
    }

    /// What the person said first in a session itself; where that is nothing yet, in the history
    /// that it inherited.
    ///
    /// # Errors
    /// `corrupt`, `missing_ancestor`.
    pub async fn first_words(&self, header: &Header) -> Result<Option<String>> {
        let header = header.clone();
        self.step(move |engine| engine.first_words(&header)).await
    }

    /// A replay at the pace at which it happened: each record with the pause to make before it,
    /// which is for your executor's timer (SPEC 7).
    ///
    /// # Errors
    /// Those of [`Forklore::replay`].
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

    /// What the model of a session would receive now (SPEC 7). For sessions that may not fit in
    /// memory see [`Forklore::inspect_lazily`].
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`.
    pub async fn inspect(&self, session: &SessionId) -> Result<Inspection> {
        let session = session.clone();
        self.step(move |engine| engine.inspect(&session)).await
    }

    /// The same, without holding the messages: each is read when it is taken.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`; of each row the last two.
    pub async fn inspect_lazily(&self, session: &SessionId) -> Result<Inspection<Rows<Message>>> {
        let session = session.clone();
        let Inspection { messages, balanced, open_results, synthetic_results, excluded } =
            self.step(move |engine| engine.inspect_lazily(&session)).await?;
        let messages = Rows::of(self.pool.clone(), messages);
        Ok(Inspection { messages, balanced, open_results, synthetic_results, excluded })
    }

    /// The cut that `selector` names in the session of `header` (SPEC 5).
    ///
    /// # Errors
    /// `invalid_args` when it is out of range or keeps nothing without saying so.
    pub async fn cut(&self, header: &Header, selector: &Selector) -> Result<Cut> {
        let (header, selector) = (header.clone(), selector.clone());
        self.step(move |engine| engine.cut(&header, &selector)).await
    }

    /// The branches of the family of a session (SPEC 7).
    ///
    /// # Errors
    /// `not_found`.
    pub async fn branches(&self, session: &SessionId) -> Result<Branches> {
        let session = session.clone();
        self.step(move |engine| engine.branches(&session)).await
    }

    /// The trees asked for (SPEC 7).
    ///
    /// # Errors
    /// `not_found`.
    pub async fn tree(&self, request: TreeRequest) -> Result<Trees> {
        self.step(move |engine| engine.tree(&request)).await
    }

    /// The trees with what each session was told of others by [`Forklore::bring`], and whether that
    /// is so: sessions that wrote more than 20,000 events together are not looked through.
    ///
    /// # Errors
    /// Only when the work was broken off; what cannot be read is left out.
    pub async fn mark_brought(&self, mut trees: Trees) -> Result<(Trees, bool)> {
        self.step(move |engine| {
            let told = engine.mark_brought(&mut trees);
            Ok((trees, told))
        })
        .await
    }

    /// The attachments that the messages of a session name, inherited ones too, in order
    /// (SPEC 12). A missing one is told, and fails nothing.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`.
    pub async fn attachments(&self, session: &SessionId) -> Result<Vec<NamedAttachment>> {
        let session = session.clone();
        self.step(move |engine| engine.attachments(&session)).await
    }

    /// The ancestors and children of a session (SPEC 7).
    ///
    /// # Errors
    /// `not_found`; `lineage_cycle` when parent links run in a circle.
    pub async fn lineage(&self, session: &SessionId) -> Result<Lineage> {
        let session = session.clone();
        self.step(move |engine| engine.lineage(&session)).await
    }

    /// Compares two sessions, of one family or of two (SPEC 7). For histories that have so much
    /// alone that it may not fit in memory see [`Forklore::compare`].
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`.
    pub async fn diff(&self, a: &SessionId, b: &SessionId) -> Result<Difference> {
        let (a, b) = (a.clone(), b.clone());
        self.step(move |engine| engine.diff(&a, &b)).await
    }

    /// The same, in constant memory: what each has alone is read as it is taken. What they share
    /// is not read, however long it is.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`; of each row the last two.
    pub async fn compare(&self, a: &SessionId, b: &SessionId) -> Result<Difference<Rows<Record>>> {
        let (a, b) = (a.clone(), b.clone());
        let compared = self.step(move |engine| engine.compare(&a, &b)).await?;
        let rows = |alone| Rows::of(self.pool.clone(), alone);
        let Difference { ancestor, common, only_a, only_b } = compared;
        Ok(Difference { ancestor, common, only_a: rows(only_a), only_b: rows(only_b) })
    }

    /// Sums over one session, or over the whole store (SPEC 3).
    ///
    /// # Errors
    /// `not_found`.
    pub async fn stats(&self, session: Option<&SessionId>) -> Result<Stats> {
        let session = session.cloned();
        self.step(move |engine| engine.stats(session.as_ref())).await
    }

    /// Sums over the family of a session, deleted sessions' usage included (SPEC 3).
    ///
    /// # Errors
    /// `not_found`.
    pub async fn family_stats(&self, session: &SessionId) -> Result<Stats> {
        let session = session.clone();
        self.step(move |engine| engine.family_stats(&session)).await
    }

    /// What the calls of models cost that led up to the place where a session begins: it is no
    /// part of what the session cost.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`.
    pub async fn inherited_usage(&self, session: &SessionId) -> Result<Usage> {
        let session = session.clone();
        self.step(move |engine| engine.inherited_usage(&session)).await
    }

    /// What calls of models cost, read from the events that sessions wrote themselves.
    ///
    /// # Errors
    /// `not_found`. What cannot be read is under `problems`.
    pub async fn usage_report(&self, scope: UsageScope) -> Result<UsageReport> {
        self.step(move |engine| engine.usage_report(&scope)).await
    }

    /// Checks one session, or the whole store: bytes, counts, spans, and the links to parents.
    ///
    /// # Errors
    /// `not_found`, or when the store cannot be read at all. Damage is a problem, no error.
    pub async fn verify(&self, session: Option<&SessionId>) -> Result<Verification> {
        let session = session.cloned();
        self.step(move |engine: &Engine| engine.verify(session.as_ref())).await
    }
}
