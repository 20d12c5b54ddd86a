//! The methods of [`Forklore`] that write.

use std::io::Read;
use std::time::Duration;

use forklore_core::{Header, Label, SessionId};
use forklore_engine::{
    AppliedRetention, ApplyRetention, Attach, Attached, Batch, Bring, Brought, Create, Delete,
    Deleted, Detached, Fork, Forked, Gc, Redact, Redacted, Result, Undelete, Undeleted, Undo,
    Undone,
};
use forklore_store::attachments::Pin;
use forklore_store::port::{Appended, Collected, Packed};

use super::Forklore;

impl Forklore {
    /// Creates a root session. If the request names a parent, creates a delegate instead: the
    /// session of a sub-agent, which inherits no history.
    ///
    /// # Errors
    /// `already_exists` if the id is in use or belonged to a deleted session, `invalid_args` if the
    /// request is not valid, `not_found` if the parent does not exist.
    pub async fn create(&self, request: Create) -> Result<Header> {
        self.step(move |engine| engine.create(&request)).await
    }

    /// Appends events after the head of a session: all of them or none. The events are durable when
    /// the future completes.
    ///
    /// # Errors
    /// `invalid_args` with the number of an event that is not valid, `conflict` with the actual
    /// head if it is not the expected one, `busy` if another owner has the session's lease or
    /// another process has locked the store, `not_found` if the session does not exist.
    pub async fn append(&self, session: &SessionId, batch: impl Into<Batch>) -> Result<Appended> {
        let (session, batch) = (session.clone(), batch.into());
        self.step(move |engine| engine.append(&session, &batch)).await
    }

    /// Stores the bytes as an attachment and appends a user message that refers to the attachment.
    /// Equal bytes are stored only once. Reads `bytes` to the end on a blocking thread, in constant
    /// memory.
    ///
    /// # Errors
    /// `unsupported` if the store has no attachments, `invalid_args` for too many bytes or an
    /// invalid name or media type, and the errors of [`append`](Self::append).
    pub async fn attach<R: Read + Send + 'static>(
        &self,
        session: &SessionId,
        mut bytes: R,
        request: Attach,
    ) -> Result<Attached> {
        let session = session.clone();
        self.step(move |engine| engine.attach(&session, &mut bytes, &request)).await
    }

    /// Stores the bytes as an attachment, at most `limit` bytes, for a message that the caller
    /// appends later. That message must refer to the attachment with a part
    /// `{type:"attachment",ref,media_type,name?}`. The returned pin protects the bytes from the
    /// garbage collection ([`gc`](Self::gc)): do not drop the pin before the append.
    ///
    /// # Errors
    /// `unsupported` if the store has no attachments, `invalid_args` for too many bytes.
    pub async fn put_attachment<R: Read + Send + 'static>(
        &self,
        mut bytes: R,
        limit: u64,
    ) -> Result<Pin> {
        self.step(move |engine| engine.put_attachment(&mut bytes, limit)).await
    }

    /// Creates a child of a session at a cut (docs/semantics.md, Fork). If `dry_run` is set, only
    /// returns the plan of the fork and writes nothing.
    ///
    /// # Errors
    /// - `not_found`: the parent does not exist.
    /// - `invalid_args`: the parent has no such cut.
    /// - `conflict`: the cut leaves tool calls without a result under
    ///   [`ToolCallPolicy::Error`](forklore_core::ToolCallPolicy::Error), or the chain of ancestors
    ///   would be too long.
    /// - `permission_denied`: the child would have permissions that its parent lacks.
    /// - `already_exists`: the label is in use, or the id belongs to a session that differs from
    ///   the requested child.
    pub async fn fork(&self, request: Fork) -> Result<Forked> {
        self.step(move |engine| engine.fork(&request)).await
    }

    /// Forks like [`Forklore::fork`]. If the branch would exceed the maximum fork depth of the
    /// store, it gets its own copy of the history instead. A copy is not subject to that maximum.
    ///
    /// # Errors
    /// The errors of [`Forklore::fork`], except the one for the depth.
    pub async fn fork_or_copy(&self, request: Fork) -> Result<Forked> {
        self.step(move |engine| engine.fork_or_copy(&request)).await
    }

    /// Records in one session a summary of what a branch did since the two sessions diverged. The
    /// summary includes the branch's last answer (docs/semantics.md, Summary at the fork).
    ///
    /// # Errors
    /// - `not_found`: one of the sessions does not exist.
    /// - `invalid_args`: the request names one session twice, or the branch has nothing new.
    /// - `busy`: a runtime has leased the session that would receive the summary.
    /// - `conflict`: other writers appended to that session in every attempt.
    pub async fn bring(&self, request: Bring) -> Result<Brought> {
        self.step(move |engine| engine.bring(&request)).await
    }

    /// Gives a session another label. Labels are unique in a family (all sessions with the same
    /// root).
    ///
    /// # Errors
    /// `already_exists` if another session of the family has the label.
    pub async fn label(&self, session: &SessionId, label: &Label) -> Result<Header> {
        let (session, label) = (session.clone(), label.clone());
        self.step(move |engine| engine.label(&session, &label)).await
    }

    /// Gives a session another title, or none. A title is only for display and for finding the
    /// session. Several sessions may have the same title.
    ///
    /// # Errors
    /// `invalid_args` if the title is longer than 500 bytes, `not_found` if the session does not
    /// exist.
    pub async fn rename(&self, session: &SessionId, title: Option<&str>) -> Result<Header> {
        let (session, title) = (session.clone(), title.map(str::to_owned));
        self.step(move |engine| engine.rename(&session, title.as_deref())).await
    }

    /// Acquires or renews the lease of `session`: the exclusive right of `owner` to append, for one
    /// turn (docs/semantics.md, Writing). The lease expires after
    /// [`LEASE`](forklore_engine::LEASE). Until then, each append must name the owner.
    ///
    /// # Errors
    /// `busy` with the owner's name if another owner has the lease.
    pub async fn take_lease(&self, session: &SessionId, owner: &str) -> Result<Header> {
        let (session, owner) = (session.clone(), owner.to_owned());
        self.step(move |engine| engine.take_lease(&session, &owner)).await
    }

    /// Releases the lease of `session`, the exclusive right of `owner` to append, at the end of a
    /// turn.
    ///
    /// # Errors
    /// `conflict` if `owner` no longer has the lease.
    pub async fn release(&self, session: &SessionId, owner: &str) -> Result<Header> {
        let (session, owner) = (session.clone(), owner.to_owned());
        self.step(move |engine| engine.release(&session, &owner)).await
    }

    /// Copies the events that a session inherits into the session itself. The session then no
    /// longer needs its ancestors, which may be deleted (docs/semantics.md, Delete, detach).
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `missing_ancestor` if inherited
    /// events are missing.
    pub async fn detach(&self, session: &SessionId) -> Result<Detached> {
        let session = session.clone();
        self.step(move |engine| engine.detach(&session)).await
    }

    /// Deletes a session: puts it into the trash, or erases it if the request sets `erase`. Also
    /// deletes those of its delegates (sessions of sub-agents) that have no branch children. A
    /// branch child inherits the history of its parent (docs/semantics.md, Delete, detach).
    ///
    /// # Errors
    /// `has_children` if the session has branch children and the request's mode is
    /// [`DeleteMode::Refuse`](forklore_engine::DeleteMode::Refuse), `busy` if a runtime has leased
    /// a session that would be deleted, `not_found` if the session does not exist. In each case
    /// nothing was deleted.
    pub async fn delete(&self, request: Delete) -> Result<Deleted> {
        self.step(move |engine| engine.delete(&request)).await
    }

    /// Brings a session back from the trash. Also brings back its delegates that the same delete
    /// removed or, with `cascade`, all sessions that the same delete removed (docs/semantics.md,
    /// Delete, detach).
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was erased. After an error, no session came
    /// back.
    pub async fn undelete(&self, request: Undelete) -> Result<Undeleted> {
        self.step(move |engine| engine.undelete(&request)).await
    }

    /// Takes the content of events away, wherever the store has them (docs/semantics.md,
    /// Redaction).
    ///
    /// # Errors
    /// `invalid_args` if the request names no event or is not valid, `not_found` if a session does
    /// not exist, `busy` if a runtime has leased a session with such an event. After an error,
    /// nothing was redacted.
    pub async fn redact(&self, request: Redact) -> Result<Redacted> {
        self.step(move |engine| engine.redact(&request)).await
    }

    /// Takes an operation back, in one transaction (docs/semantics.md, Operations).
    ///
    /// # Errors
    /// `not_found` if the store has no such operation or none that can be undone, `conflict` if it
    /// was undone already or its sessions changed since, `unsupported` if nothing of it can be taken
    /// back or the store keeps no log of operations.
    pub async fn undo(&self, request: Undo) -> Result<Undone> {
        self.step(move |engine| engine.undo(&request)).await
    }

    /// Applies a retention policy, or plans it if the request is a dry run.
    ///
    /// # Errors
    /// Those of [`collect`](Self::collect). A session that cannot be deleted is listed in `spared`.
    pub async fn apply_retention(&self, request: ApplyRetention) -> Result<AppliedRetention> {
        self.step(move |engine| engine.apply_retention(&request)).await
    }

    /// Returns the sessions that [`collect`](Self::collect) would erase from the trash.
    ///
    /// # Errors
    /// `corrupt` or `internal` if the store cannot be read.
    pub async fn expired(&self, request: Gc) -> Result<Vec<SessionId>> {
        self.step(move |engine| engine.expired(&request)).await
    }

    /// Erases the sessions that have been in the trash for at least the time that the request
    /// states. Then collects garbage as [`gc`](Self::gc) does.
    ///
    /// # Errors
    /// Those of [`gc`](Self::gc).
    pub async fn collect(&self, request: Gc) -> Result<Collected> {
        self.step(move |engine| engine.collect(&request)).await
    }

    /// Erases the sessions that have been in the trash for 30 days or longer. Removes events that
    /// no session needs, and attachments that no event refers to and no writer has pinned.
    /// Afterwards no file of the store contains deleted bytes.
    ///
    /// # Errors
    /// `unsupported` if the store has neither maintenance operations nor attachments; `busy` if
    /// another process has locked the store; `corrupt` if a session is so damaged that the
    /// attachments it refers to cannot be determined. In the last case no attachment is removed.
    pub async fn gc(&self) -> Result<Collected> {
        self.step(forklore_engine::Engine::gc).await
    }

    /// Compresses the families (a root session with all its descendants) in which no session was
    /// updated for the duration `idle`. Also joins histories that are stored in very many small
    /// pieces. Reads return the same answers as before.
    ///
    /// # Errors
    /// `unsupported` if the store has no maintenance operations; `busy` if another process has
    /// locked the store.
    pub async fn pack(&self, idle: Duration) -> Result<Packed> {
        self.step(move |engine| engine.pack(idle)).await
    }
}
