//! The verbs that a runtime needs for its turns.

use forklore_core::call::OpenCall;
use forklore_core::{Cut, Header, SessionId};
use forklore_engine::{CompactionPlan, ContextUsage, ModelView, Result};

use super::Forklore;

impl Forklore {
    /// What `model` would receive of a session now; reasoning of others is left out.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`.
    pub async fn model_view(&self, session: &SessionId, model: Option<&str>) -> Result<ModelView> {
        let (session, model) = (session.clone(), model.map(str::to_owned));
        self.step(move |engine| engine.model_view(&session, model.as_deref())).await
    }

    /// What `model` would receive of a fork of a session at `cut`, before anything is said in it;
    /// nothing is written.
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

    /// How full the context is.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`.
    pub async fn context_usage(&self, session: &SessionId) -> Result<ContextUsage> {
        let session = session.clone();
        self.step(move |engine| engine.context_usage(&session)).await
    }

    /// What a compaction of a session would cover now; none when there is nothing to cover.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`.
    pub async fn plan_compaction(&self, session: &SessionId) -> Result<Option<CompactionPlan>> {
        let session = session.clone();
        self.step(move |engine| engine.plan_compaction(&session)).await
    }

    /// The calls without a result of a turn that was broken off; none when the last turn is over.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`.
    pub async fn interrupted_turn(&self, session: &SessionId) -> Result<Option<Vec<OpenCall>>> {
        let session = session.clone();
        self.step(move |engine| engine.interrupted_turn(&session)).await
    }

    /// Whether the last thing said is a part of an answer: its turn is over, and what is missing
    /// can be asked for.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`.
    pub async fn is_cut_short(&self, session: &SessionId) -> Result<bool> {
        let session = session.clone();
        self.step(move |engine| engine.is_cut_short(&session)).await
    }
}
