//! `stats`: counts of a session, a family or the whole store.

use forklore_api::{Stats, UsageScope};
use forklore_core::Usage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::verb::Verb;
use crate::answer::{Noticed, Quoted};
use crate::refusal::Refusal;
use crate::scope::Access;
use crate::session::title;

pub(super) struct StatsTool;

/// How many models are listed.
const MODELS: usize = 20;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Input {
    /// The session: an id, a part of an id, a label, a title, or last. Default: the whole store.
    session: Option<String>,
    /// Count the whole family of the session: all sessions with the same first session.
    family: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    sessions: u64,
    /// The events that the sessions wrote themselves.
    own_events: u64,
    /// The events that they inherited.
    inherited_events: u64,
    /// The bytes that the sessions wrote themselves.
    bytes: u64,
    /// The bytes that forks share with their parents instead of copying them.
    saved_bytes: u64,
    usage: Tokens,
    /// The models that were used most. Absent for the whole store.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    models: Vec<ModelOut>,
}

/// Tokens and their cost.
#[derive(Debug, Serialize, JsonSchema)]
struct Tokens {
    input: u64,
    output: u64,
    cached: u64,
    /// The cost that the records state. 0 if they state none.
    cost: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ModelOut {
    #[serde(skip_serializing_if = "Option::is_none")]
    untrusted_model: Option<Quoted>,
    calls: u64,
    #[serde(flatten)]
    usage: Tokens,
}

impl From<Usage> for Tokens {
    fn from(Usage { input, output, cached, cost }: Usage) -> Self {
        Self { input, output, cached, cost }
    }
}

impl Verb for StatsTool {
    type Input = Input;
    type Output = Noticed<Output>;
    const NAME: &'static str = "stats";
    const TITLE: &'static str = "Count sessions and tokens";
    const DESCRIPTION: &'static str = "Count the events, bytes, tokens and cost of a session, of \
        a family of sessions, or of all sessions. Use it when the user asks what a task cost, how \
        long a session is, or which models were used.";

    fn run(access: &Access<'_>, input: Input) -> Result<Noticed<Output>, Refusal> {
        let engine = access.engine;
        let session = input.session.as_deref().map(|text| access.session(text)).transpose()?;
        let (stats, scope): (Stats, _) = match session {
            None => (engine.stats(None)?, None),
            Some(header) if input.family => {
                (engine.family_stats(&header.id)?, Some(UsageScope::Family(header.id)))
            }
            Some(header) => (engine.stats(Some(&header.id))?, Some(UsageScope::Session(header.id))),
        };
        let report = scope.map(|scope| engine.usage_report(&scope)).transpose()?;
        let models = report.map(|report| report.models).unwrap_or_default().into_iter();
        let models = models.take(MODELS).map(|model| ModelOut {
            untrusted_model: model.model.as_deref().map(title),
            calls: model.calls,
            usage: model.usage.into(),
        });
        let Stats { sessions, own_events, inherited_events, bytes, saved_bytes, usage, .. } = stats;
        let (usage, models) = (usage.into(), models.collect());
        Ok(Noticed::of(Output {
            sessions,
            own_events,
            inherited_events,
            bytes,
            saved_bytes,
            usage,
            models,
        }))
    }
}
