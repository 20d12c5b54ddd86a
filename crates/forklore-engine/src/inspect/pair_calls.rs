//! Pairs calls with results, as providers require.
//!
//! An unanswered call gets a synthetic result right after it, before the next user message. The
//! pairing leaves out a result without its call, a second result of a call, and a result that came
//! after the next user message.

use std::collections::{HashMap, HashSet};

use forklore_core::Role;

use super::outline::{Item, Outline, What};

/// Removes the parts that must not be sent to the model: reasoning of other models, reasoning
/// without a message after it, and tool results without a call. Returns two counts: the tool calls
/// without a recorded result, and the synthetic results (those recorded in the log, and those to be
/// added).
pub(super) fn settle(outline: &mut Outline) -> (usize, usize) {
    drop_foreign_reasoning(outline);
    drop_dangling_reasoning(outline);
    pair_results(outline);
    let count = |is: fn(&What) -> bool| {
        let sent = outline.items.iter().filter(|item| !item.emptied);
        sent.flat_map(|item| item.parts.iter().flatten()).filter(|part| is(&part.what)).count()
    };
    let open = count(|what| matches!(what, What::Call { answered: false, .. }));
    let synthetic = count(|what| matches!(what, What::Result { synthetic: true, .. }));
    (open, open + synthetic)
}

/// Pairs tool results with their calls: removes each result that matches no open call, and marks
/// the calls that have a result.
fn pair_results(outline: &mut Outline) {
    // The open calls by id, each with the position of its message in `outline.items`.
    let mut open: HashMap<Box<str>, usize> = HashMap::new();
    // The ids of the calls that have a result, by the position of their message.
    let mut answered: HashMap<usize, HashSet<Box<str>>> = HashMap::new();
    let mut orphans = 0;
    for at in 0..outline.items.len() {
        let Some(item) = outline.items.get_mut(at) else { break };
        if item.starts_turn {
            open.clear();
        }
        let Some(parts) = &mut item.parts else { continue };
        let before = parts.len();
        parts.retain(|part| match &part.what {
            What::Call { id, .. } => {
                open.insert(id.clone(), at);
                true
            }
            What::Result { call, .. } => match open.remove(call) {
                Some(call_at) => {
                    answered.entry(call_at).or_default().insert(call.clone());
                    true
                }
                None => false,
            },
            _ => true,
        });
        orphans += before - parts.len();
        item.emptied = before > 0 && parts.is_empty();
    }
    for (at, ids) in answered {
        outline.items.get_mut(at).into_iter().for_each(|item| item.answer(&ids));
    }
    for _ in 0..orphans {
        outline.exclude("tool_result");
    }
}

impl Item {
    /// Marks the tool calls of this item with one of these ids as answered: they have a result.
    fn answer(&mut self, ids: &HashSet<Box<str>>) {
        for part in self.parts.iter_mut().flatten() {
            if let What::Call { id, answered } = &mut part.what
                && ids.contains(id)
            {
                *answered = true;
            }
        }
    }

    /// Checks whether one of the tool calls in this item has no result.
    pub(super) fn has_open_call(&self) -> bool {
        let open = |what: &What| matches!(what, What::Call { answered: false, .. });
        self.parts.iter().flatten().any(|part| open(&part.what))
    }

    fn is_reasoning(&self) -> bool {
        self.parts.as_ref().is_some_and(|parts| {
            !parts.is_empty() && parts.iter().all(|p| matches!(p.what, What::Reasoning { .. }))
        })
    }
}

/// Removes the reasoning that other models than the outline's model wrote. Reasoning is sent only
/// to the model that wrote it.
fn drop_foreign_reasoning(outline: &mut Outline) {
    let Some(target) = outline.model.clone() else { return };
    let foreign = |what: &What| match what {
        What::Reasoning { model: Some(model) } => **model != *target,
        _ => false,
    };
    let mut dropped = 0;
    outline.items.retain_mut(|item| {
        let Some(parts) = &mut item.parts else { return true };
        let before = parts.len();
        parts.retain(|part| !foreign(&part.what));
        dropped += before - parts.len();
        before == 0 || !parts.is_empty()
    });
    for _ in 0..dropped {
        outline.exclude("reasoning");
    }
}

/// Removes each item that contains only reasoning and that no assistant message follows. Model
/// providers refuse such an item.
fn drop_dangling_reasoning(outline: &mut Outline) {
    let mut followed = false;
    let mut dangling = HashSet::new();
    for (at, item) in outline.items.iter().enumerate().rev() {
        if item.is_reasoning() {
            if !followed {
                dangling.insert(at);
            }
        } else {
            followed = item.role == Role::Assistant;
        }
    }
    let mut at = 0;
    outline.items.retain(|_| {
        at += 1;
        !dangling.contains(&(at - 1))
    });
    for _ in dangling {
        outline.exclude("reasoning");
    }
}
