//! `fork`: creates another continuation of a session.

use forklore_api::Fork;
use forklore_core::{Label, Selector, ToolCallPolicy};
use forklore_engine::Error;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::verb::{Effect, Verb};
use crate::options::Allow;
use crate::refusal::Refusal;
use crate::scope::Access;

pub(super) struct ForkTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The session to fork: an id, a part of an id, a label, a title, or last.
    session: String,
    /// Where the fork begins: after turn:N, message:N, seq:N, or at start or end. Default: the last
    /// complete turn.
    #[serde(default)]
    at: Option<String>,
    /// A short name for the fork, such as plan-b. Default: two random words.
    #[serde(default)]
    label: Option<String>,
    /// A title for people.
    #[serde(default)]
    title: Option<String>,
    /// What to do with tool calls that have no result at that position. Default: complete.
    #[serde(default)]
    tool_calls: Option<ToolCallPolicy>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// The new session.
    session_id: String,
    label: String,
    parent_session_id: String,
    /// The position in the parent after which the fork begins.
    forked_at: String,
    /// The number of events that it inherits.
    inherited_events: u64,
    /// The number of results that were added for tool calls without one.
    added_results: usize,
    /// The command with which the user continues the fork in forklore. resume_command has those for
    /// other agents.
    resume_command: String,
}

impl Verb for ForkTool {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "fork";
    const TITLE: &'static str = "Fork a session";
    const DESCRIPTION: &'static str = "Create another continuation of an earlier session, from any \
        position, without changing it. Use it when the user wants to try another way from a point \
        in an earlier session (\"go back to before we chose X\"). Find the position with messages \
        or search first (at: seq:N). Then show the user resume_command. The fork costs nothing and \
        the original stays as it is.";
    const EFFECT: Effect = Effect::Adds { allow: Allow::Fork, idempotent: false };

    fn run(access: &Access<'_>, input: Input) -> Result<Output, Refusal> {
        let header = access.session(&input.session)?;
        let mut request = Fork::of(header.id.clone());
        request.at = input.at.as_deref().map(selector).transpose()?;
        request.label = input.label.as_deref().map(label).transpose()?;
        request.title = input.title;
        request.tool_calls = input.tool_calls.unwrap_or_default();
        let forked = access.engine.fork(&request)?;
        Ok(Output {
            session_id: forked.child_session_id.to_string(),
            label: forked.label.to_string(),
            parent_session_id: forked.parent_session_id.to_string(),
            forked_at: forked.cut.selector().to_string(),
            inherited_events: forked.event_count,
            added_results: forked.synthetic_results,
            resume_command: access.resume(&forked.child_session_id),
        })
    }
}

fn selector(text: &str) -> Result<Selector, Refusal> {
    text.parse().map_err(|error: forklore_core::CutError| {
        Refusal::invalid(error.to_string(), "pass at: turn:N, message:N, seq:N, start or end")
    })
}

/// Parses a label.
pub(super) fn label(text: &str) -> Result<Label, Refusal> {
    text.parse().map_err(|source| {
        let refusal = Refusal::from(Error::Name { what: "label", source });
        let next = "choose a label of letters, digits, - and _, such as plan-b";
        Refusal { next: vec![next.to_owned()], ..refusal }
    })
}
