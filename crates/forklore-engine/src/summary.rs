//! Summaries: what is recorded behind a fork's prefix, or of a branch that is brought into another
//! (SPEC 8).

use forklore_api::Summarize;
use forklore_core::header::Usage;
use forklore_core::summary::{Summarizer, Summary};
use forklore_core::{Event, EventId, EventType, Role, SessionId, payload};
use forklore_store::port::At;
use jiff::Timestamp;
use serde::Serialize;

use crate::{Engine, Error, Result};

/// The events that record what a summary cost, with ids from `id`, and their sum.
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

/// The payload of a `branch_summary`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct BranchSummary {
    strategy: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    summary: SummaryText,
    pub(crate) of: Of,
    /// Of a branch that was brought here: its label then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) brought_from: Option<String>,
    /// What its model said last.
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

/// What is summed up.
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

/// What a part of a history comes to.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) summary: Summary,
    of: Of,
    /// What the model said last in it.
    pub(crate) answer: Option<String>,
}

impl Engine {
    /// Reads a part of a history that ends with the inheritable event number `kept`.
    pub(crate) fn gather(&self, of: Of, kept: u64) -> Result<Gathered> {
        let mut summarizer = Summarizer::default();
        let mut answer = None;
        for stored in self.events(&of.session_id, of.at()) {
            let stored = stored?;
            if stored.counts.inheritable > kept {
                break;
            }
            if !stored.event.class.is_inherited() {
                continue;
            }
            let spoken = stored.event.class.is_conversation();
            let message = spoken.then(|| self.message(&stored.event));
            let index = stored.counts.index.checked_sub(1).filter(|_| spoken);
            summarizer.add(&stored.event, index, message.as_ref());
            let said = message.filter(|message| message.role == Role::Assistant);
            let text = said.map(|message| message.plain_text());
            answer = text.filter(|text| !text.trim().is_empty()).or(answer);
        }
        Ok(Gathered { summary: summarizer.finish(), of, answer })
    }
}

impl Gathered {
    /// The summary in words of whoever writes it.
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
