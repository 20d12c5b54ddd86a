//! Whether a call may be carried out: hooks, the session's ceiling, the policy, the person. What
//! was decided is evidence, written before the tool is called.

use std::collections::BTreeSet;

use forklore_core::EventType;
use forklore_engine::NewEvent;
use serde_json::json;

use super::new_event::event;
use super::plain::plain;
use crate::Result;
use crate::approve::Rule;
use crate::config::Equipment;
use crate::context::Context;
use crate::hook::Matter;
use crate::notify::Identity;
use crate::tool::ToolCall;

/// So many tools are named to a model that calls one that is not there.
const MOST_NAMED: usize = 50;

/// A call that was decided about.
pub(super) struct Decided {
    /// The call, as the hooks left it.
    pub(super) call: ToolCall,
    /// Why it may not be carried out, for the model.
    pub(super) refused: Option<String>,
    /// Whether hooks changed the arguments.
    changed: bool,
    /// Who decided.
    by: String,
    pub(super) note: Option<String>,
    /// Whether a person was asked.
    pub(super) asked: bool,
    /// What hooks want the model to be told.
    pub(super) injected: Vec<String>,
}

impl Decided {
    fn new(call: ToolCall, by: &str, refused: Option<String>) -> Self {
        Self {
            call,
            refused,
            changed: false,
            by: by.to_owned(),
            note: None,
            asked: false,
            injected: Vec::new(),
        }
    }

    /// Nothing was decided, because the turn is over.
    pub(super) fn cancelled(call: ToolCall, why: &str) -> Self {
        Self::new(call, "interruption", Some(why.to_owned()))
    }

    /// Nobody has to decide about a tool that is not there.
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

    /// The record of it.
    pub(super) fn event(&self) -> Result<NewEvent> {
        let decision = if self.refused.is_some() { "deny" } else { "allow" };
        let reason = self.refused.as_ref().or(self.note.as_ref());
        let data = json!({"call_id": self.call.id, "name": self.call.name,
            "decision": decision, "by": self.by, "reason": reason,
            "arguments": self.changed.then_some(&self.call.arguments)});
        event(EventType::PERMISSION_DECISION, data)
    }
}

/// Decides about a call; asks whoever is to be asked.
pub(super) async fn decide(
    context: &Context,
    equipment: &Equipment,
    ceiling: Option<&BTreeSet<String>>,
    call: ToolCall,
) -> Decided {
    let identity = context.identity();
    let judged = context.judge(&identity, Matter::Call { call: call.clone() }).await;
    let (call, changed) = match judged.matter {
        Matter::Call { call: mut judged } => {
            judged.arguments = plain(judged.arguments);
            let changed = judged.arguments != call.arguments;
            (judged, changed)
        }
        _ => (call, false),
    };
    let mut decided = match judged.denied {
        Some((hook, reason)) => Decided::new(call, &format!("hook {hook}"), Some(reason)),
        None => by_rule(context, &identity, equipment, ceiling, call).await,
    };
    decided.changed = changed;
    decided.asked |= judged.asked;
    decided.injected = judged.injected;
    decided
}

async fn by_rule(
    context: &Context,
    identity: &Identity,
    equipment: &Equipment,
    ceiling: Option<&BTreeSet<String>>,
    call: ToolCall,
) -> Decided {
    let needed = equipment.policy.permission(&call);
    if ceiling.is_some_and(|ceiling| !ceiling.contains(&needed)) {
        let why = format!("this session does not have the permission {needed}");
        return Decided::new(call, "ceiling", Some(why));
    }
    match equipment.policy.rule(&call) {
        Rule::Allow => Decided::new(call, "policy", None),
        Rule::Deny => Decided::new(call, "policy", Some("the user's policy denies it".into())),
        Rule::Ask => {
            let prompt = format!("May {} be called?", call.name);
            let answer = context.ask_person(identity, Some(call.clone()), prompt).await;
            let (note, refused) = match answer {
                Ok(note) => (note, None),
                Err(reason) => (None, Some(reason)),
            };
            Decided { note, asked: true, ..Decided::new(call, "person", refused) }
        }
    }
}
