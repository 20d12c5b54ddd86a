//! Decides whether a call may be executed. Asks the hooks, the session's ceiling, the policy and,
//! if necessary, a person. The decision is evidence: it is written to the log before the tool is
//! called.

use std::collections::BTreeSet;

use forklore_core::EventType;
use forklore_engine::NewEvent;
use serde_json::json;

use super::new_event::event;
use super::readable_json::plain;
use crate::Result;
use crate::approve::Rule;
use crate::config::SessionConfig;
use crate::context::Context;
use crate::notify::Identity;
use crate::tool::ToolCall;

/// Maximum number of tool names in the message to a model that calls an unknown tool.
const MOST_NAMED: usize = 50;

/// A tool call with the decision whether it may be executed.
pub(super) struct Authorized {
    /// The call, with the arguments that the hooks may have changed.
    pub(super) call: ToolCall,
    /// Why the call is refused, as a message for the model; `None` if it is allowed.
    pub(super) refused: Option<String>,
    /// Whether hooks changed the arguments of the call.
    changed: bool,
    /// Who decided: a hook, the ceiling, the policy, a person, the kernel or an interruption.
    by: String,
    pub(super) note: Option<String>,
    /// Whether a person was consulted about the call.
    pub(super) person_consulted: bool,
    /// Messages for the model that the hooks injected.
    pub(super) injected: Vec<String>,
}

impl Authorized {
    fn new(call: ToolCall, by: &str, refused: Option<String>) -> Self {
        Self {
            call,
            refused,
            changed: false,
            by: by.to_owned(),
            note: None,
            person_consulted: false,
            injected: Vec::new(),
        }
    }

    /// Refuses a call because the turn was interrupted. Consults no hook, policy or person.
    pub(super) fn cancelled(call: ToolCall, why: &str) -> Self {
        Self::new(call, "interruption", Some(why.to_owned()))
    }

    /// Refuses a call of an unknown tool. The refusal lists the names in `there`, which are the
    /// known tools. Consults no hook, policy or person.
    pub(super) fn unknown(call: ToolCall, there: &[String]) -> Self {
        let named =
            there.iter().take(MOST_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
        let others = match there.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named = if named.is_empty() { "none" } else { &named };
        let why = format!("there is no tool {}; there are: {named}{others}", call.name);
        Self::new(call, "kernel", Some(why))
    }

    /// Returns the `permission_decision` event that records the decision.
    pub(super) fn event(&self) -> Result<NewEvent> {
        let decision = if self.refused.is_some() { "deny" } else { "allow" };
        let reason = self.refused.as_ref().or(self.note.as_ref());
        let data = json!({"call_id": self.call.id, "name": self.call.name,
            "decision": decision, "by": self.by, "reason": reason,
            "arguments": self.changed.then_some(&self.call.arguments)});
        event(EventType::PERMISSION_DECISION, data)
    }
}

/// Decides whether a tool call may be executed. Runs the hooks, and asks a person if necessary.
pub(super) async fn authorize(
    context: &Context,
    config: &SessionConfig,
    ceiling: Option<&BTreeSet<String>>,
    call: ToolCall,
) -> Authorized {
    let identity = context.identity();
    let written = call.arguments.clone();
    let judged = context.ask_hooks(&identity, call).await;
    let mut call = judged.input;
    call.arguments = plain(call.arguments);
    let changed = call.arguments != written;
    let mut authorized = match judged.denied {
        Some((hook, reason)) => Authorized::new(call, &format!("hook {hook}"), Some(reason)),
        None => by_rule(context, &identity, config, ceiling, call).await,
    };
    let notes: Vec<_> = judged.notes.into_iter().chain(authorized.note.take()).collect();
    authorized.note = (!notes.is_empty()).then(|| notes.join("; "));
    authorized.changed = changed;
    authorized.person_consulted |= judged.person_consulted;
    authorized.injected = judged.injected;
    authorized
}

async fn by_rule(
    context: &Context,
    identity: &Identity,
    config: &SessionConfig,
    ceiling: Option<&BTreeSet<String>>,
    call: ToolCall,
) -> Authorized {
    let needed = config.policy.permission(&call);
    if ceiling.is_some_and(|ceiling| !ceiling.contains(&needed)) {
        let why = format!("this session does not have the permission {needed}");
        return Authorized::new(call, "ceiling", Some(why));
    }
    match config.policy.rule(&call) {
        Rule::Allow => Authorized::new(call, "policy", None),
        Rule::Deny => Authorized::new(call, "policy", Some("the user's policy denies it".into())),
        Rule::Ask => {
            let prompt = format!("May {} be called?", call.name);
            let answer = context.ask_person(identity, Some(call.clone()), prompt).await;
            let (note, refused) = match answer {
                Ok(note) => (note, None),
                Err(reason) => (None, Some(reason)),
            };
            Authorized { note, person_consulted: true, ..Authorized::new(call, "person", refused) }
        }
    }
}
