//! Forks sessions, and moves the conversation between sessions.

use forklore_agent::{AgentSession, NewSession};
use forklore_core::{Header, Label, Selector, SessionId};
use forklore_engine::{Fork, Forked, IdStyle};

use super::Conversation;
use crate::{Error, Result};

/// The options of [`Conversation::fork`].
#[derive(Clone, Debug, Default)]
pub struct BranchOptions {
    /// The cut at which the fork begins. `None` is the end of the session or, while a turn runs in
    /// it, the position before this turn.
    pub at: Option<Selector>,
    /// The label of the fork. `None` generates a label.
    pub label: Option<Label>,
    /// How the id of the fork is generated.
    pub id_style: IdStyle,
    /// Whether the conversation stays in the current session instead of moving into the fork.
    pub stay: bool,
}

impl Conversation {
    /// Forks the current session. Moves the conversation into the fork, unless `stay` is set.
    ///
    /// # Errors
    /// `invalid_args` if the cut does not exist, `already_exists` if a branch of the family (all
    /// sessions with one root) has the label already.
    pub async fn fork(&self, options: BranchOptions) -> Result<Forked> {
        let BranchOptions { at, label, id_style, stay } = options;
        let parent = self.header().await?;
        let request = Fork { at, label, id_style, ..Fork::of(parent.id) };
        self.branch(request, stay).await
    }

    /// Rewinds the conversation: forks the current session at the cut `at`, and moves the
    /// conversation into the fork. With `None`, the cut is before the last turn.
    ///
    /// # Errors
    /// The errors of [`fork`](Self::fork); `invalid_args` if `at` is `None` and the conversation
    /// has no turn yet.
    pub async fn rewind(&self, at: Option<Selector>) -> Result<Forked> {
        let parent = self.header().await?;
        let at = match (at, parent.counts.turns) {
            (Some(at), _) => at,
            (None, 0) => return Err(Error::invalid("nothing was said yet")),
            (None, 1) => Selector::Start,
            (None, _) => Selector::Turn(-2),
        };
        let request = Fork { rewind: true, ..Fork::of(parent.id).at(at) };
        self.branch(request, false).await
    }

    pub(super) async fn branch(&self, request: Fork, stay: bool) -> Result<Forked> {
        let branched = self.session().fork(request).await?;
        if !stay {
            self.move_to(branched.child).await;
        }
        Ok(branched.forked)
    }

    /// Begins a new session and moves the conversation into it. The store contains the new session
    /// from its first turn on. The previous session stays unchanged.
    pub async fn begin(&self, title: Option<String>) {
        let new = NewSession { title, ..NewSession::in_workspace(self.workspace().clone()) };
        let session = self.host().kernel().create(new, self.session().equipment());
        self.move_to(session).await;
    }

    /// Moves the conversation into a stored session.
    ///
    /// # Errors
    /// `invalid_args` if the conversation is already in the session `to`.
    pub async fn switch(&self, to: &SessionId) -> Result<()> {
        if *to == self.id() {
            return Err(Error::invalid("you are there already"));
        }
        let session = self.opened(to).await?;
        self.move_to(session).await;
        Ok(())
    }

    /// Moves the conversation back to the last stored session in which it was before the current
    /// one. Returns the header of that session.
    ///
    /// # Errors
    /// `invalid_args` if the conversation was in no stored session before the current one.
    pub async fn back(&self) -> Result<Header> {
        let Some(before) = self.came_from() else {
            let message = "this is where the conversation began; /switch goes elsewhere";
            return Err(Error::invalid(message));
        };
        let session = self.opened(&before).await?;
        let left = self.header().await.ok().map(|header| header.id);
        {
            let mut state = self.state();
            state.trail.pop();
            state.previous = left;
            state.session = session;
        }
        self.header().await
    }

    /// Returns the id of the session to which [`back`](Self::back) moves the conversation. Returns
    /// `None` if the conversation was in no stored session before the current one.
    #[must_use]
    pub fn came_from(&self) -> Option<SessionId> {
        self.state().trail.last().cloned()
    }

    /// Returns the id of the stored session in which the conversation was directly before the
    /// current one, whether it moved forward or back. Returns `None` if there is no such session.
    #[must_use]
    pub fn previous(&self) -> Option<SessionId> {
        self.state().previous.clone()
    }

    async fn opened(&self, id: &SessionId) -> Result<AgentSession> {
        let equipment = self.session().equipment();
        Ok(self.host().kernel().open(id, equipment).await?)
    }

    /// Moves the conversation into `session`. Adds the previous session to the sessions to which
    /// the conversation can move back, if that session is stored.
    pub(super) async fn move_to(&self, session: AgentSession) {
        let before = self.header().await.ok().map(|header| header.id);
        let mut state = self.state();
        state.trail.extend(before.clone());
        state.previous = before;
        state.session = session;
    }
}
