//! The verbs that write.

use std::io::Read;
use std::time::Duration;

use forklore_core::{Header, Label, SessionId};
use forklore_engine::{
    AppendRequest, Attach, Attached, Bring, Brought, Create, Delete, Deleted, Detached, Fork,
    Forked, Result,
};
use forklore_store::attachments::Pin;
use forklore_store::port::{Appended, Collected, Packed};

use super::Forklore;

impl Forklore {
    /// Makes a session (SPEC 1).
    ///
    /// # Errors
    /// `already_exists` (the id, also of a deleted session), `invalid_args`, `not_found` (the
    /// parent).
    pub async fn create(&self, request: Create) -> Result<Header> {
        self.step(move |engine| engine.create(&request)).await
    }

    /// Adds events behind the head of a session, all or none, durable when it is ready (SPEC 9).
    ///
    /// # Errors
    /// `invalid_args` naming the event, `conflict` with the real head, `busy`, `not_found`.
    pub async fn append(
        &self,
        session: &SessionId,
        request: impl Into<AppendRequest>,
    ) -> Result<Appended> {
        let (session, request) = (session.clone(), request.into());
        self.step(move |engine| engine.append(&session, &request)).await
    }

    /// Adds a message of the person that names these bytes, which are kept first, once whoever
    /// names them (SPEC 12). They are read on the pool, to their end, in constant memory.
    ///
    /// # Errors
    /// `unsupported` when the store keeps no attachments, `invalid_args` for too many bytes or a
    /// bad name, and those of [`append`](Self::append).
    pub async fn attach<R: Read + Send + 'static>(
        &self,
        session: &SessionId,
        mut bytes: R,
        request: Attach,
    ) -> Result<Attached> {
        let session = session.clone();
        self.step(move |engine| engine.attach(&session, &mut bytes, &request)).await
    }

    /// Keeps bytes for a message of the program's own, at most `limit` of them: a part
    /// `{type:"attachment",ref,media_type,name?}` names them (SPEC 4). Until the answer is
    /// dropped no gc takes them, so drop it when the message is written.
    ///
    /// # Errors
    /// `unsupported` when the store keeps no attachments, `invalid_args` for too many bytes.
    pub async fn put_attachment<R: Read + Send + 'static>(
        &self,
        mut bytes: R,
        limit: u64,
    ) -> Result<Pin> {
        self.step(move |engine| engine.put_attachment(&mut bytes, limit)).await
    }

    /// Makes a child of a session, or only plans it (SPEC 6).
    ///
    /// # Errors
    /// `not_found`, `invalid_args` (the cut), `conflict` (open calls under
    /// [`ToolCallPolicy::Error`](forklore_core::ToolCallPolicy::Error), or too deep),
    /// `permission_denied`, `already_exists`.
    pub async fn fork(&self, request: Fork) -> Result<Forked> {
        self.step(move |engine| engine.fork(&request)).await
    }

    /// Tells a session what a branch did since they parted, with its last answer (SPEC 8).
    ///
    /// # Errors
    /// `not_found`, `invalid_args` (one session, or a branch that says nothing new), `busy`,
    /// `conflict` when others keep writing.
    pub async fn bring(&self, request: Bring) -> Result<Brought> {
        self.step(move |engine| engine.bring(&request)).await
    }

    /// Gives a session another label (SPEC 6).
    ///
    /// # Errors
    /// `already_exists` when another session of the family has it, `invalid_args` for a root.
    pub async fn label(&self, session: &SessionId, label: &Label) -> Result<Header> {
        let (session, label) = (session.clone(), label.clone());
        self.step(move |engine| engine.label(&session, &label)).await
    }

    /// Takes a session's lease for a turn, or renews it (SPEC 9). It holds for
    /// [`LEASE`](forklore_engine::LEASE); appends then name the owner.
    ///
    /// # Errors
    /// `busy` naming the owner while somebody else holds it.
    pub async fn take_lease(&self, session: &SessionId, owner: &str) -> Result<Header> {
        let (session, owner) = (session.clone(), owner.to_owned());
        self.step(move |engine| engine.take_lease(&session, &owner)).await
    }

    /// Gives the lease back at the end of a turn (SPEC 9).
    ///
    /// # Errors
    /// `conflict` when the lease is no longer the owner's.
    pub async fn release(&self, session: &SessionId, owner: &str) -> Result<Header> {
        let (session, owner) = (session.clone(), owner.to_owned());
        self.step(move |engine| engine.release(&session, &owner)).await
    }

    /// Copies the assembled prefix of a session into a segment of its own; its ancestors may then
    /// be deleted (SPEC 10).
    ///
    /// # Errors
    /// `not_found`, `missing_ancestor`.
    pub async fn detach(&self, session: &SessionId) -> Result<Detached> {
        let session = session.clone();
        self.step(move |engine| engine.detach(&session)).await
    }

    /// Deletes a session, with its delegates unless they have branch children (SPEC 10).
    ///
    /// # Errors
    /// `has_children`, `busy`, `not_found`. A cascade that was cut short can be repeated.
    pub async fn delete(&self, request: Delete) -> Result<Deleted> {
        self.step(move |engine| engine.delete(&request)).await
    }

    /// Removes what no session needs, and the attachments that no event names and nobody is about
    /// to name; afterwards no file of the store contains deleted bytes (SPEC 10, 12).
    ///
    /// # Errors
    /// `unsupported` for a store that keeps everything, `busy`; `corrupt` when nobody can say
    /// which attachments a damaged session names: then none is removed.
    pub async fn gc(&self) -> Result<Collected> {
        self.step(forklore_engine::Engine::gc).await
    }

    /// Writes the families in less space of which no session was updated for `idle`, and joins
    /// histories that are made of very many small pieces. No answer changes.
    ///
    /// # Errors
    /// `unsupported` for a store that cannot, `busy`.
    pub async fn pack(&self, idle: Duration) -> Result<Packed> {
        self.step(move |engine| engine.pack(idle)).await
    }
}
