//! The summary recorded behind a fork's prefix (SPEC 8).

use forklore_model::summary::{STRATEGY, Summarizer, Summary};
use forklore_model::{Cut, Header, SessionId};
use forklore_store::port::At;
use serde::Serialize;

use super::Summarize;
use crate::{Engine, Result};

/// The payload of a `branch_summary`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct BranchSummary {
    strategy: &'static str,
    summary: Summary,
    of: Of,
    limitations: Vec<String>,
}

/// What is summed up.
#[derive(Clone, Debug, Serialize)]
struct Of {
    session_id: SessionId,
    from_index: u64,
    to_index: u64,
}

impl Engine {
    /// Sums up what a fork at `cut` inherits.
    pub(super) fn summarize(
        &self,
        parent: &Header,
        cut: &Cut,
        by: Summarize,
    ) -> Result<BranchSummary> {
        let mut summarizer = Summarizer::default();
        for stored in self.events(&parent.id, At::Seq(0)) {
            let stored = stored?;
            if stored.counts.kept > cut.kept {
                break;
            }
            if !stored.event.class.is_inherited() {
                continue;
            }
            let spoken = stored.event.class.is_conversation();
            let message = spoken.then(|| self.message(&stored.event));
            let index = stored.counts.index.checked_sub(1).filter(|_| spoken);
            summarizer.add(&stored.event, index, message.as_ref());
        }
        let mut limitations =
            vec!["interpretive context; it replaces nothing of the history".to_owned()];
        if by == Summarize::Model {
            limitations.push("no model is configured, so this is the deterministic summary".into());
        }
        let of = Of { session_id: parent.id.clone(), from_index: 0, to_index: cut.index };
        Ok(BranchSummary { strategy: STRATEGY, summary: summarizer.finish(), of, limitations })
    }
}
