//! The methods that a runtime needs for its turns.

use forklore_core::call::OpenCall;
use forklore_core::{Cut, Header, SessionId};
use forklore_engine::{CompactionPlan, ContextUsage, ModelView, Result};

use super::Forklore;

impl Forklore {
    /// Returns the messages that the model `model` would receive if the session continued now.
    /// Leaves out the reasoning of other models. If `model` is `None`, uses the model that the
    /// session's events named last.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if its stored data is
    /// damaged, `missing_ancestor` if an ancestor whose events it inherits is missing.
    pub async fn model_view(&self, session: &SessionId, model: Option<&str>) -> Result<ModelView> {
        let (session, model) = (session.clone(), model.map(str::to_owned));
        self.step(move |engine| engine.model_view(&session, model.as_deref())).await
    }

    /// Returns the messages that the model `model` would receive in a fork of the session `parent`
    /// at `cut`. For `model`, see [`model_view`](Self::model_view). Creates no fork and writes
    /// nothing.
    ///
    /// # Errors
    /// `corrupt` if the session's stored data is damaged, `missing_ancestor` if an ancestor whose
    /// events the session inherits is missing.
    pub async fn fork_view(
        &self,
        parent: &Header,
        cut: &Cut,
        model: Option<&str>,
    ) -> Result<ModelView> {
        let (parent, cut, model) = (parent.clone(), cut.clone(), model.map(str::to_owned));
        self.step(move |engine| engine.fork_view(&parent, &cut, model.as_deref())).await
    }

    /// Returns how many tokens of the model's context window a session uses. The number is the
    /// tokens of the last model call since the last compaction, plus an estimate for the messages
    /// after that call. Without such a call, all messages are estimated from their length.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if its stored data is
    /// damaged, `missing_ancestor` if an ancestor whose events it inherits is missing.
    pub async fn context_usage(&self, session: &SessionId) -> Result<ContextUsage> {
        let session = session.clone();
        self.step(move |engine| engine.context_usage(&session)).await
    }

    /// Plans a compaction: chooses the range of the conversation that a summary would replace.
    /// Returns `None` if there is nothing to summarize.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if its stored data is
    /// damaged, `missing_ancestor` if an ancestor whose events it inherits is missing.
    pub async fn plan_compaction(&self, session: &SessionId) -> Result<Option<CompactionPlan>> {
        let session = session.clone();
        self.step(move |engine| engine.plan_compaction(&session)).await
    }

    /// Returns the open calls (tool calls without a result) of the last turn if that turn was
    /// interrupted. Returns `None` if the last turn is complete, or if there is no turn.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if its stored data is
    /// damaged, `missing_ancestor` if an ancestor whose events it inherits is missing.
    pub async fn interrupted_turn(&self, session: &SessionId) -> Result<Option<Vec<OpenCall>>> {
        let session = session.clone();
        self.step(move |engine| engine.interrupted_turn(&session)).await
    }

    /// Checks whether the last conversation event is an answer that the model did not complete. The
    /// turn of such an answer counts as complete. The caller may request the rest of the answer.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if its stored data is
    /// damaged, `missing_ancestor` if an ancestor whose events it inherits is missing.
    pub async fn is_cut_short(&self, session: &SessionId) -> Result<bool> {
        let session = session.clone();
        self.step(move |engine| engine.is_cut_short(&session)).await
    }
}
