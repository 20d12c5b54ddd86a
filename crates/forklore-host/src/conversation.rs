//! A conversation: its current session, and the sessions that it was in before.

mod branch;
mod files;
mod messages;
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
pub use messages::{Exchange, NumberedMessage, Question};
pub use state::Condition;
pub use work::{SummarizeBy, SummarizedFork};

use crate::{Error, Host, PendingAttachment, Result, Start};

/// A conversation, which is in one session at a time. Forking, rewinding and switching move the
/// conversation to another session.
///
/// Clones share their state, so that one task can run a turn while another task displays it.
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
    /// The stored sessions that the conversation was in before the current one, oldest first.
    /// Moving back removes the last one.
    trail: Vec<SessionId>,
    /// The stored session that the conversation was in directly before the current one, whether it
    /// moved forward or back. `None` if there is no such session.
    previous: Option<SessionId>,
    /// The files to send with the next prompt.
    attachments: Vec<PendingAttachment>,
}

impl Host {
    /// Opens a conversation. `approve` allows or denies each tool call for which the policy
    /// requires approval.
    ///
    /// # Errors
    /// Returns an error if no model is configured, or if the session that `start` names does not
    /// exist.
    pub async fn open(
        self: &Arc<Self>,
        start: Start,
        approve: Arc<dyn Approve>,
    ) -> Result<Conversation> {
        let (session, model) = self.session(&start, approve.clone()).await?;
        let (trail, attachments) = (Vec::new(), Vec::new());
        let state = State { session, model, trail, previous: None, attachments };
        Ok(Conversation {
            host: self.clone(),
            approve,
            workspace: start.workspace,
            lease_wait: start.lease_wait,
            state: Arc::new(Mutex::new(state)),
        })
    }

    /// Opens a conversation in which every tool call that needs approval is denied.
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

    /// Returns the current session of the conversation.
    #[must_use]
    pub fn session(&self) -> AgentSession {
        self.state().session.clone()
    }

    /// Returns the id of the current session. The id can change during a turn: if another program
    /// takes over the session, the turn continues in a fork.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.session().id()
    }

    /// Returns the workspace in which the conversation creates new sessions.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Returns the configured name of the model that answers.
    #[must_use]
    pub fn model(&self) -> String {
        self.state().model.clone()
    }

    /// Returns the stored header of the current session. A new session has no header before its
    /// first turn, which stores the session.
    ///
    /// # Errors
    /// `invalid_args` before the first turn of a new session, or the errors of the store.
    pub async fn header(&self) -> Result<Header> {
        let id = self.id();
        self.host.run(move |engine| engine.show(&id)).await.map_err(|error| match error.kind() {
            ErrorKind::NotFound => Error::invalid("nothing was said yet"),
            _ => error,
        })
    }

    /// Finds a session. `word` is either a label of the current session's family (all sessions with
    /// one root), or a reference in the conversation's workspace (docs/semantics.md, Workspaces).
    ///
    /// # Errors
    /// `not_found` if no session matches; `invalid_args` if several sessions match.
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

    /// Subscribes to the notifications of the current session. If `capacity` notifications wait in
    /// the subscription, new notifications of mere progress (such as pieces of an answer) are
    /// dropped. If 16 times as many wait, all new notifications are dropped.
    #[must_use]
    pub fn subscribe(&self, capacity: usize) -> Subscription {
        self.session().subscribe(capacity)
    }

    /// Closes the current session in this program: interrupts a running turn, and ends running
    /// sub-agents before their parent. All stored events stay.
    pub async fn close(&self) {
        self.session().cleanup(true).await;
    }

    /// Switches to the model with this configured name, from the next turn on.
    ///
    /// # Errors
    /// Returns an error if no model with this name is configured, if the model's configuration is
    /// invalid, or if a budget in money is set and the model has no price.
    pub fn use_model(&self, name: &str) -> Result<()> {
        self.host.check_budget(name)?;
        let mut other = self.host.equipment(name, self.approve.clone())?;
        other.settings.lease_wait = self.lease_wait;
        let session = self.session();
        session.equip(|equipment: &mut SessionConfig| *equipment = other);
        name.clone_into(&mut self.state().model);
        Ok(())
    }

    /// Stores a file that the next prompt sends.
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

    /// Returns the files that the next prompt sends.
    #[must_use]
    pub fn attachments(&self) -> Vec<PendingAttachment> {
        self.state().attachments.clone()
    }

    /// Removes all files from the next prompt.
    pub fn drop_attachments(&self) {
        self.state().attachments.clear();
    }

    /// Reads what was used so far, and counts the next requests of the current session against the
    /// budgets.
    async fn count_budgets(&self) -> Result<()> {
        if !self.host.has_budgets() {
            return Ok(());
        }
        let (session, name) = (self.session(), self.model());
        let equipment =
            self.host.budgeted(&name, self.approve.clone(), Some(&session.id())).await?;
        session.set_model(equipment.model);
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
