//! Forking, and moving between sessions.

use forklore_agent::{AgentSession, NewSession};
use forklore_core::{Header, Label, Selector, SessionId};
use forklore_engine::{Fork, Forked};

use super::Conversation;
use crate::{Error, Result};

/// Options of a fork.
#[derive(Clone, Debug, Default)]
pub struct BranchOptions {
    /// The cut. `None` is the end.
    pub at: Option<Selector>,
    /// The label of the fork. `None` generates one.
    pub label: Option<Label>,
    /// Whether the conversation stays in the current session.
    pub stay: bool,
}

impl Conversation {
    /// Forks the session and, unless `stay` is set, moves into the fork.
    ///
    /// # Errors
    /// `invalid_args` if the cut does not exist, `already_exists` if the family has the label.
    pub async fn fork(&self, options: BranchOptions) -> Result<Forked> {
        let BranchOptions { at, label, stay } = options;
        let parent = self.header().await?;
        let request = Fork { at, label, ..Fork::of(parent.id) };
        self.branch(request, stay).await
    }

    /// Rewinds the conversation by moving into a fork at a cut. `None` removes the last turn.
    ///
    /// # Errors
    /// The errors of [`fork`](Self::fork); `invalid_args` before the first turn.
    pub async fn rewind(&self, at: Option<Selector>) -> Result<Forked> {
        let parent = self.header().await?;
        let at = match (at, parent.counts.turns) {
            (Some(at), _) => at,
            (None, 0) => return Err(Error::invalid("nothing was said yet")),
            (None, 1) => Selector::Start,
            (None, _) => Selector::Turn(-2),
        };
        self.branch(Fork::of(parent.id).at(at), false).await
    }

    pub(super) async fn branch(&self, request: Fork, stay: bool) -> Result<Forked> {
        let branched = self.session().fork(request).await?;
        if !stay {
            self.move_to(branched.child).await;
        }
        Ok(branched.forked)
    }

    /// Begins a new session and moves into it. The current one stays. The new one is stored with
    /// its first turn.
    pub async fn begin(&self, title: Option<String>) {
        let new = NewSession { title, ..NewSession::in_workspace(self.workspace().clone()) };
        let session = self.host().kernel().create(new, self.session().equipment());
        self.move_to(session).await;
    }

    /// Moves into a stored session.
    ///
    /// # Errors
    /// `invalid_args` if the conversation is in that session already.
    pub async fn switch(&self, to: &SessionId) -> Result<()> {
        if *to == self.id() {
            return Err(Error::invalid("you are there already"));
        }
        let session = self.opened(to).await?;
        self.move_to(session).await;
        Ok(())
    }

    /// Returns to the session before the last move. Returns its header.
    ///
    /// # Errors
    /// `invalid_args` if the conversation is in its first session.
    pub async fn back(&self) -> Result<Header> {
        let Some(before) = self.came_from() else {
            let message = "this is where the conversation began; /switch goes elsewhere";
            return Err(Error::invalid(message));
        };
        let session = self.opened(&before).await?;
        {
            let mut state = self.state();
            state.trail.pop();
            state.session = session;
        }
        self.header().await
    }

    /// Returns the session that the conversation was in before the last move.
    #[must_use]
    pub fn came_from(&self) -> Option<SessionId> {
        self.state().trail.last().cloned()
    }

    async fn opened(&self, id: &SessionId) -> Result<AgentSession> {
        let equipment = self.session().equipment();
        Ok(self.host().kernel().open(id, equipment).await?)
    }

    /// Moves into a session. Adds the previous one to the trail if it is stored.
    pub(super) async fn move_to(&self, session: AgentSession) {
        let before = self.header().await.ok().map(|header| header.id);
        let mut state = self.state();
        state.trail.extend(before);
        state.session = session;
    }
}
