//! A conversation: its current session, and the sessions it was in before.

mod branch;
mod state;
mod turn;
mod work;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use forklore_agent::approve::{Approve, Nobody};
use forklore_agent::notify::Subscription;
use forklore_agent::{AgentSession, SessionConfig};
use forklore_core::workspace::Workspace;
use forklore_core::{ErrorKind, Header, SessionId};
use forklore_engine::Scope;

pub use branch::BranchOptions;
pub use state::{Condition, NumberedMessage};
pub use work::{SummarizeBy, SummarizedFork};

use crate::{Error, Host, PendingAttachment, Result, Start};

/// A conversation. It is in one session at a time; forking, rewinding and switching move it to
/// another one.
///
/// Clones share the same conversation, so that one task can run a turn while another displays it.
#[derive(Clone)]
pub struct Conversation {
    host: Arc<Host>,
    approve: Arc<dyn Approve>,
    workspace: Workspace,
    lease_wait: Duration,
    state: Arc<Mutex<State>>,
}

struct State {
    session: AgentSession,
    model: String,
    /// The sessions that the conversation was in before, the latest last.
    trail: Vec<SessionId>,
    /// The files to send with the next prompt.
    attachments: Vec<PendingAttachment>,
}

impl Host {
    /// Opens a conversation. `approve` decides about the calls for which the policy requires
    /// approval.
    ///
    /// # Errors
    /// Returns an error if no model is configured, or if the session does not exist.
    pub async fn open(
        self: &Arc<Self>,
        start: Start,
        approve: Arc<dyn Approve>,
    ) -> Result<Conversation> {
        let (session, model) = self.session(&start, approve.clone()).await?;
        let state = State { session, model, trail: Vec::new(), attachments: Vec::new() };
        Ok(Conversation {
            host: self.clone(),
            approve,
            workspace: start.workspace,
            lease_wait: start.lease_wait,
            state: Arc::new(Mutex::new(state)),
        })
    }

    /// Opens a conversation in which every call that needs approval is denied.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub async fn open_unattended(self: &Arc<Self>, start: Start) -> Result<Conversation> {
        self.open(start, Arc::new(Nobody)).await
    }
}

impl Conversation {
    /// Returns the host of the conversation.
    #[must_use]
    pub fn host(&self) -> &Arc<Host> {
        &self.host
    }

    /// Returns the session that the conversation is in.
    #[must_use]
    pub fn session(&self) -> AgentSession {
        self.state().session.clone()
    }

    /// Returns the id of that session. A turn that lost its session to another program continues in
    /// a fork, so the id can change during a turn.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.session().id()
    }

    /// Returns the workspace of new sessions.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Returns the model that answers, by its name in the configuration.
    #[must_use]
    pub fn model(&self) -> String {
        self.state().model.clone()
    }

    /// Returns the header of the session. A new session is stored with its first turn.
    ///
    /// # Errors
    /// `invalid_args` before the first turn, or the errors of the store.
    pub async fn header(&self) -> Result<Header> {
        let id = self.id();
        self.host.run(move |engine| engine.show(&id)).await.map_err(|error| match error.kind() {
            ErrorKind::NotFound => Error::invalid("nothing was said yet"),
            _ => error,
        })
    }

    /// Finds a session. `word` is a label of this family; or an id, a part of an id, `@label` or
    /// `last`, which are looked up in the conversation's workspace.
    ///
    /// # Errors
    /// `not_found` if no session matches; `invalid_args` if several do.
    pub async fn find(&self, word: &str) -> Result<Header> {
        let here = self.header().await.ok();
        let (word, workspace) = (word.to_owned(), self.workspace.clone());
        let find = move |engine: &forklore_engine::Engine| {
            if let Some(here) = here {
                let branches = engine.branches(&here.id)?.branches;
                let label = word.strip_prefix('@').unwrap_or(&word);
                let found = branches.iter().find(|branch| branch.label.as_str() == label);
                if let Some(branch) = found {
                    return engine.show(&branch.session_id);
                }
            }
            engine.resolve(&word, &Scope { workspace: Some(workspace) })
        };
        self.host.run(find).await
    }

    /// Subscribes to the notifications of the current session. Buffers at most `capacity` of them.
    #[must_use]
    pub fn subscribe(&self, capacity: usize) -> Subscription {
        self.session().subscribe(capacity)
    }

    /// Closes the session in this program: a running turn is interrupted, and live sub-agents end
    /// before their parent. Everything stored stays.
    pub async fn close(&self) {
        self.session().cleanup(true).await;
    }

    /// Switches to another model, from the next turn on.
    ///
    /// # Errors
    /// Returns an error if no such model is configured.
    pub fn use_model(&self, name: &str) -> Result<()> {
        let mut other = self.host.equipment(name, self.approve.clone())?;
        other.settings.lease_wait = self.lease_wait;
        let session = self.session();
        session.equip(|equipment: &mut SessionConfig| *equipment = other);
        name.clone_into(&mut self.state().model);
        Ok(())
    }

    /// Stores a file, to be sent with the next prompt.
    ///
    /// # Errors
    /// The errors of [`PendingAttachment::store`].
    pub async fn attach(&self, path: &Path) -> Result<PendingAttachment> {
        let (engine, path) = (self.host.engine().clone(), path.to_owned());
        let stored = tokio::task::spawn_blocking(move || PendingAttachment::store(&engine, &path));
        let attachment = stored.await.map_err(|_| Error::Interrupted)??;
        self.state().attachments.push(attachment.clone());
        Ok(attachment)
    }

    /// Returns the files to be sent with the next prompt.
    #[must_use]
    pub fn attachments(&self) -> Vec<PendingAttachment> {
        self.state().attachments.clone()
    }

    /// Removes these files from the next prompt.
    pub fn drop_attachments(&self) {
        self.state().attachments.clear();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
