//! Calls and results in pairs: what a provider accepts (SPEC 6.2, 7).
//!
//! An unanswered call gets a result next to it, before the next user message. A result whose call
//! is not there, a second result, and one that came after the call was given up are left out.

use std::collections::{HashMap, HashSet};

use forklore_model::{Content, Data, Message, Part, Role};

use super::Inspection;
use super::messages::Draft;

pub(super) fn finish(mut draft: Draft) -> Inspection {
    drop_foreign_reasoning(&mut draft);
    drop_dangling_reasoning(&mut draft);
    let answered = pair_results(&mut draft);
    let mut messages: Vec<Message> = Vec::with_capacity(draft.items.len());
    let mut open_results = 0;
    let mut waiting: Vec<Part> = Vec::new();
    for (at, item) in draft.items.into_iter().enumerate() {
        if item.emptied {
            continue;
        }
        if item.message.role != Role::Tool {
            flush(&mut messages, &mut waiting);
        }
        for part in item.message.to_parts() {
            if let Part::ToolCall { id, name, .. } = part
                && !answered.contains(&(at, id.clone()))
            {
                open_results += 1;
                waiting.push(view_result(id, name));
            }
        }
        messages.push(item.message);
    }
    flush(&mut messages, &mut waiting);
    let synthetic = |m: &Message| {
        m.to_parts()
            .iter()
            .filter(|p| matches!(p, Part::ToolResult { synthetic: true, .. }))
            .count()
    };
    Inspection {
        synthetic_results: messages.iter().map(synthetic).sum(),
        balanced: open_results == 0,
        open_results,
        messages,
        excluded: draft.excluded,
    }
}

fn flush(messages: &mut Vec<Message>, waiting: &mut Vec<Part>) {
    messages.extend(
        waiting
            .drain(..)
            .map(|part| Message { role: Role::Tool, content: Content::Parts(vec![part]) }),
    );
}

fn view_result(call_id: String, name: String) -> Part {
    Part::ToolResult {
        call_id,
        name: Some(name),
        content: Data::from_checked("\"No result: the call was interrupted.\""),
        is_error: true,
        synthetic: true,
    }
}

/// Calls by the place of their message and their id: ids recur.
type Answered = HashSet<(usize, String)>;

/// Leaves out results that pair with no open call, and says which calls are answered.
fn pair_results(draft: &mut Draft) -> Answered {
    let mut open: HashMap<String, usize> = HashMap::new();
    let mut answered = Answered::new();
    let mut orphans = 0;
    for (at, item) in draft.items.iter_mut().enumerate() {
        if item.starts_turn {
            open.clear();
        }
        let Content::Parts(parts) = &mut item.message.content else { continue };
        let before = parts.len();
        parts.retain(|part| match part {
            Part::ToolCall { id, .. } => {
                open.insert(id.clone(), at);
                true
            }
            Part::ToolResult { call_id, .. } => match open.remove(call_id) {
                Some(call_at) => answered.insert((call_at, call_id.clone())),
                None => false,
            },
            _ => true,
        });
        orphans += before - parts.len();
        item.emptied = before > 0 && parts.is_empty();
    }
    for _ in 0..orphans {
        draft.exclude("tool_result");
    }
    answered
}

/// Reasoning goes only to the model that wrote it.
fn drop_foreign_reasoning(draft: &mut Draft) {
    let Some(target) = draft.model.clone() else { return };
    drop_reasoning(draft, |model| model.is_some_and(|model| *model != target));
}

fn drop_reasoning(draft: &mut Draft, foreign: impl Fn(Option<&String>) -> bool) {
    let mut dropped = 0;
    draft.items.retain_mut(|item| {
        let Content::Parts(parts) = &mut item.message.content else { return true };
        let before = parts.len();
        parts.retain(
            |part| !matches!(part, Part::Reasoning { model, .. } if foreign(model.as_ref())),
        );
        dropped += before - parts.len();
        before == 0 || !parts.is_empty()
    });
    for _ in 0..dropped {
        draft.exclude("reasoning");
    }
}

/// A reasoning item that nothing of the model follows is refused by providers.
fn drop_dangling_reasoning(draft: &mut Draft) {
    let is_reasoning = |m: &Message| {
        matches!(&m.content, Content::Parts(p)
            if !p.is_empty() && p.iter().all(|part| matches!(part, Part::Reasoning { .. })))
    };
    let mut followed = false;
    let mut dangling = HashSet::new();
    for (at, item) in draft.items.iter().enumerate().rev() {
        if is_reasoning(&item.message) {
            if !followed {
                dangling.insert(at);
            }
        } else {
            followed = item.message.role == Role::Assistant;
        }
    }
    let mut at = 0;
    draft.items.retain(|_| {
        at += 1;
        !dangling.contains(&(at - 1))
    });
    for _ in dangling {
        draft.exclude("reasoning");
    }
}
