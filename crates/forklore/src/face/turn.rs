//! The methods that a runtime needs for its turns.

use forklore_core::call::OpenCall;
use forklore_core::{Cut, Header, SessionId};
use forklore_engine::{CompactionPlan, ContextUsage, ModelView, Result};

use super::Forklore;

impl Forklore {
    /// Returns what `model` would receive of a session now, without the reasoning of other models.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`.
    pub async fn model_view(&self, session: &SessionId, model: Option<&str>) -> Result<ModelView> {
        let (session, model) = (session.clone(), model.map(str::to_owned));
        self.step(move |engine| engine.model_view(&session, model.as_deref())).await
    }

    /// Returns what `model` would receive of a new fork of a session at `cut`. Writes nothing.
    ///
    /// # Errors
    /// `corrupt`, `missing_ancestor`.
    pub async fn fork_view(
        &self,
        parent: &Header,
        cut: &Cut,
        model: Option<&str>,
    ) -> Result<ModelView> {
        let (parent, cut, model) = (parent.clone(), cut.clone(), model.map(str::to_owned));
        self.step(move |engine| engine.fork_view(&parent, &cut, model.as_deref())).await
    }

    /// Returns how many tokens the next request of a session takes at least.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`.
    pub async fn context_usage(&self, session: &SessionId) -> Result<ContextUsage> {
        let session = session.clone();
        self.step(move |engine| engine.context_usage(&session)).await
    }

    /// Plans a compaction of a session. Returns `None` if there is nothing to cover.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`.
    pub async fn plan_compaction(&self, session: &SessionId) -> Result<Option<CompactionPlan>> {
        let session = session.clone();
        self.step(move |engine| engine.plan_compaction(&session)).await
    }

    /// Returns the calls without a result if the last turn was interrupted, and `None` if it is
    /// complete.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`.
    pub async fn interrupted_turn(&self, session: &SessionId) -> Result<Option<Vec<OpenCall>>> {
        let session = session.clone();
        self.step(move |engine| engine.interrupted_turn(&session)).await
    }

    /// Checks whether the last conversation event is an incomplete answer. Its turn is closed, and
    /// the caller may request the rest of the answer.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`.
    pub async fn is_cut_short(&self, session: &SessionId) -> Result<bool> {
        let session = session.clone();
        self.step(move |engine| engine.is_cut_short(&session)).await
    }
}
