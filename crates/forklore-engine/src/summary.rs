//! Summaries: what is recorded behind a fork's prefix, or of a branch that is brought into another
//! (SPEC 8).

use forklore_core::header::Usage;
use forklore_core::summary::{STRATEGY, Summarizer, Summary};
use forklore_core::{Data, Event, EventId, EventType, Role, SessionId, payload};
use forklore_store::port::At;
use jiff::Timestamp;
use serde::Serialize;

use crate::{Engine, Error, Result};

/// The name of a summary that a model wrote.
pub(crate) const MODEL_STRATEGY: &str = "model_summary_v1";

/// Who writes a summary (SPEC 8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Summarize {
    /// forklore itself, from the log alone.
    Deterministic,
    /// A model, which the application has asked.
    ByModel {
        /// The summary.
        text: String,
        /// The model that wrote it.
        model: String,
        /// What asking cost: payloads of `provider_usage`, recorded behind the summary.
        usage: Vec<Data>,
    },
    /// forklore itself, in place of a model that gave no summary.
    Fallback {
        /// Why the model gave none; the summary says so.
        why: String,
        /// What asking cost all the same.
        usage: Vec<Data>,
    },
}

impl Summarize {
    /// How the summary is made, as its `strategy` says.
    #[must_use]
    pub fn strategy(&self) -> &'static str {
        match self {
            Self::ByModel { .. } => MODEL_STRATEGY,
            Self::Deterministic | Self::Fallback { .. } => STRATEGY,
        }
    }

    /// A deterministic summary in place of one by a model that was not asked.
    #[must_use]
    pub fn fallback(why: impl Into<String>) -> Self {
        Self::Fallback { why: why.into(), usage: Vec::new() }
    }

    /// What asking a model cost, as payloads of `provider_usage`.
    #[must_use]
    pub fn usage(&self) -> &[Data] {
        match self {
            Self::Deterministic => &[],
            Self::ByModel { usage, .. } | Self::Fallback { usage, .. } => usage,
        }
    }

    /// The events that record the cost, with ids from `id`, and their sum.
    pub(crate) fn usage_events(
        &self,
        ts: Timestamp,
        id: impl Fn(usize) -> EventId,
    ) -> Result<(Vec<Event>, Usage)> {
        let mut sum = Usage::default();
        let mut events = Vec::with_capacity(self.usage().len());
        for (at, data) in self.usage().iter().enumerate() {
            let kind = EventType::PROVIDER_USAGE;
            let (class, effect) = payload::check(&kind, None, data)
                .map_err(|source| Error::Event { line: at + 1, source })?;
            sum += payload::usage(data);
            let (id, data) = (id(at), data.clone());
            events.push(Event { id, ts, kind, class, dialect: None, effect, data });
        }
        Ok((events, sum))
    }
}

/// The payload of a `branch_summary`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct BranchSummary {
    strategy: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    summary: Told,
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
enum Told {
    Gathered(Box<Summary>),
    Text(String),
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
            if stored.counts.kept > kept {
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
                (Some(model.clone()), Told::Text(text.clone()))
            }
            Summarize::Deterministic => (None, Told::Gathered(Box::new(self.summary))),
            Summarize::Fallback { why, .. } => {
                limitations.push(format!("{why}, so this is the deterministic summary"));
                (None, Told::Gathered(Box::new(self.summary)))
            }
        };
        let strategy = by.strategy();
        let (brought_from, answer) = (None, None);
        BranchSummary { strategy, model, summary, of: self.of, brought_from, answer, limitations }
    }
}
