//! Builds branch summaries. A summary is written after the prefix of a fork, or into a session to
//! which a branch is brought (docs/semantics.md, Summary at the fork).

use forklore_api::Summarize;
use forklore_core::Usage;
use forklore_core::summary::{Summarizer, Summary};
use forklore_core::{Event, EventId, EventType, Role, SessionId, payload};
use forklore_store::port::At;
use jiff::Timestamp;
use serde::Serialize;

use crate::{Engine, Error, Result};

/// Builds the events that record the usage of the model call which wrote a summary. `id` computes
/// the id of each event from its position among them, from 0. Also returns the sum of the usage.
pub(crate) fn usage_events(
    by: &Summarize,
    ts: Timestamp,
    id: impl Fn(usize) -> EventId,
) -> Result<(Vec<Event>, Usage)> {
    let mut sum = Usage::default();
    let mut events = Vec::with_capacity(by.usage().len());
    for (at, data) in by.usage().iter().enumerate() {
        let kind = EventType::PROVIDER_USAGE;
        let (class, effect) = payload::check(&kind, None, data)
            .map_err(|source| Error::Event { line: at + 1, source })?;
        sum += payload::usage(data);
        let (id, data) = (id(at), data.clone());
        events.push(Event { id, ts, kind, class, dialect: None, effect, data });
    }
    Ok((events, sum))
}

/// The payload of a `branch_summary` event.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct BranchSummary {
    strategy: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    summary: SummaryText,
    pub(crate) of: Of,
    /// The label of the summarized branch when `bring` summarized it in another session. `None` for
    /// any other summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) brought_from: Option<String>,
    /// The last answer of the model in the summarized part. `None` unless `bring` wrote the
    /// summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<String>,
    pub(crate) limitations: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum SummaryText {
    Gathered(Box<Summary>),
    Written(String),
}

/// The summarized part of a session's history. The range of conversation indexes is half-open: it
/// excludes `to_index`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Of {
    pub(crate) session_id: SessionId,
    pub(crate) from_index: u64,
    pub(crate) to_index: u64,
}

impl Of {
    fn at(&self) -> At {
        if self.from_index == 0 { At::Seq(0) } else { At::Index(self.from_index) }
    }
}

/// A deterministic summary of a part of a session's history, with the last answer in that part.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) summary: Summary,
    of: Of,
    /// The last answer of the model in the summarized part; `None` if the part has no answer.
    pub(crate) answer: Option<String>,
}

impl Engine {
    /// Summarizes without a model the part of a session's history that `of` names. `inheritable` is
    /// the number of inheritable events up to the end of the part; reading stops there.
    pub(crate) fn gather(&self, of: Of, inheritable: u64) -> Result<Gathered> {
        let mut summarizer = Summarizer::default();
        let mut answer = None;
        for stored in self.events(&of.session_id, of.at()) {
            let stored = stored?;
            if stored.counts.inheritable > inheritable {
                break;
            }
            if !stored.event.class.is_inherited() {
                continue;
            }
            let spoken = stored.event.class.is_conversation();
            let message = spoken.then(|| self.message(&stored.event));
            let index = stored.counts.index.checked_sub(1).filter(|_| spoken);
            summarizer.add(&stored.event, index, message.as_ref());
            let answers = message.filter(|message| message.role == Role::Assistant);
            let text = answers.map(|message| message.plain_text());
            answer = text.filter(|text| !text.trim().is_empty()).or(answer);
        }
        Ok(Gathered { summary: summarizer.finish(), of, answer })
    }
}

impl Gathered {
    /// Builds the payload of a `branch_summary` event. `by` decides whether it contains a model's
    /// text or the deterministic summary.
    pub(crate) fn written(self, by: &Summarize) -> BranchSummary {
        let mut limitations =
            vec!["interpretive context; it replaces nothing of the history".to_owned()];
        let (model, summary) = match by {
            Summarize::ByModel { text, model, .. } => {
                (Some(model.clone()), SummaryText::Written(text.clone()))
            }
            Summarize::Deterministic => (None, SummaryText::Gathered(Box::new(self.summary))),
            Summarize::Fallback { why, .. } => {
                limitations.push(format!("{why}, so this is the deterministic summary"));
                (None, SummaryText::Gathered(Box::new(self.summary)))
            }
        };
        let strategy = by.strategy();
        let (brought_from, answer) = (None, None);
        BranchSummary { strategy, model, summary, of: self.of, brought_from, answer, limitations }
    }
}
