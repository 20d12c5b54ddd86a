//! The methods of [`Forklore`] that write.

use std::io::Read;
use std::time::Duration;

use forklore_core::{Header, Label, SessionId};
use forklore_engine::{
    Attach, Attached, Batch, Bring, Brought, Create, Delete, Deleted, Detached, Fork, Forked,
    Result,
};
use forklore_store::attachments::Pin;
use forklore_store::port::{Appended, Collected, Packed};

use super::Forklore;

impl Forklore {
    /// Creates a root session, or a delegate if the request names a parent.
    ///
    /// # Errors
    /// `already_exists` (the id is in use, or belonged to a deleted session), `invalid_args`,
    /// `not_found` (the parent).
    pub async fn create(&self, request: Create) -> Result<Header> {
        self.step(move |engine| engine.create(&request)).await
    }

    /// Appends events after the head of a session: all of them or none. The events are durable when
    /// the future completes.
    ///
    /// # Errors
    /// `invalid_args` with the number of the event, `conflict` with the actual head, `busy`,
    /// `not_found`.
    pub async fn append(&self, session: &SessionId, batch: impl Into<Batch>) -> Result<Appended> {
        let (session, batch) = (session.clone(), batch.into());
        self.step(move |engine| engine.append(&session, &batch)).await
    }

    /// Stores the bytes as an attachment and appends a user message that refers to the attachment.
    /// Equal bytes are stored only once. Reads `bytes` to the end on the pool, in constant memory.
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

    /// Stores an attachment of at most `limit` bytes, for a message that the caller writes. The
    /// message refers to the attachment with a part `{type:"attachment",ref,media_type,name?}`. No
    /// `gc` removes the bytes before the returned pin is dropped: drop the pin after the message is
    /// written.
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

    /// Creates a child of a session, or only plans it if `dry_run` is set (docs/semantics.md,
    /// Fork).
    ///
    /// # Errors
    /// `not_found`, `invalid_args` (the cut), `conflict` (open calls under
    /// [`ToolCallPolicy::Error`](forklore_core::ToolCallPolicy::Error), or too deep),
    /// `permission_denied`, `already_exists`.
    pub async fn fork(&self, request: Fork) -> Result<Forked> {
        self.step(move |engine| engine.fork(&request)).await
    }

    /// Records in one session what a branch did since the two sessions diverged, with the branch's
    /// last answer (docs/semantics.md, Summary at the fork).
    ///
    /// # Errors
    /// `not_found`, `invalid_args` (the request names one session twice, or the branch has nothing
    /// new), `busy`, `conflict` if others append all the time.
    pub async fn bring(&self, request: Bring) -> Result<Brought> {
        self.step(move |engine| engine.bring(&request)).await
    }

    /// Gives a session another label.
    ///
    /// # Errors
    /// `already_exists` if another session of the family has the label; `invalid_args` for a root,
    /// whose label is always `main`.
    pub async fn label(&self, session: &SessionId, label: &Label) -> Result<Header> {
        let (session, label) = (session.clone(), label.clone());
        self.step(move |engine| engine.label(&session, &label)).await
    }

    /// Acquires or renews the session's lease for a turn (docs/semantics.md, Writing). The lease
    /// expires after [`LEASE`](forklore_engine::LEASE). Until then, appends must name the owner.
    ///
    /// # Errors
    /// `busy` with the owner's name if another owner has the lease.
    pub async fn take_lease(&self, session: &SessionId, owner: &str) -> Result<Header> {
        let (session, owner) = (session.clone(), owner.to_owned());
        self.step(move |engine| engine.take_lease(&session, &owner)).await
    }

    /// Releases the lease at the end of a turn.
    ///
    /// # Errors
    /// `conflict` if `owner` no longer has the lease.
    pub async fn release(&self, session: &SessionId, owner: &str) -> Result<Header> {
        let (session, owner) = (session.clone(), owner.to_owned());
        self.step(move |engine| engine.release(&session, &owner)).await
    }

    /// Copies the assembled prefix of a session into the session's own segment. Its ancestors may
    /// then be deleted (docs/semantics.md, Delete, detach).
    ///
    /// # Errors
    /// `not_found`, `missing_ancestor`.
    pub async fn detach(&self, session: &SessionId) -> Result<Detached> {
        let session = session.clone();
        self.step(move |engine| engine.detach(&session)).await
    }

    /// Deletes a session and those of its delegates that have no branch children
    /// (docs/semantics.md, Delete, detach).
    ///
    /// # Errors
    /// `has_children`, `busy`, `not_found`. In each case nothing was deleted.
    pub async fn delete(&self, request: Delete) -> Result<Deleted> {
        self.step(move |engine| engine.delete(&request)).await
    }

    /// Removes events that no session needs. Also removes attachments that no event refers to and
    /// no writer has pinned. Afterwards no file of the store contains deleted bytes.
    ///
    /// # Errors
    /// `unsupported` if the store has neither maintenance operations nor attachments; `busy`;
    /// `corrupt` if a damaged session may refer to attachments that cannot be determined. In the
    /// last case no attachment is removed.
    pub async fn gc(&self) -> Result<Collected> {
        self.step(forklore_engine::Engine::gc).await
    }

    /// Compresses the families in which no session was updated for `idle`, and joins histories that
    /// consist of very many small spans. No answer changes.
    ///
    /// # Errors
    /// `unsupported` if the store has no maintenance operations; `busy`.
    pub async fn pack(&self, idle: Duration) -> Result<Packed> {
        self.step(move |engine| engine.pack(idle)).await
    }
}
