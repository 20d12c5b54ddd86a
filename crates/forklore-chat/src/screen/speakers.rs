//! Separates the output of sub-agents that work at the same time, and names the sub-agents.

use std::collections::{HashMap, HashSet};

use forklore_agent::notify::event::Block;
use forklore_agent::notify::{KernelEvent, Notification};
use forklore_core::{SessionId, SessionKind};

/// The sub-agents whose output is shown, and the session that is writing an answer.
///
/// While one session writes a block of an answer, the notifications of other sessions wait. If
/// pieces of a block arrive while another session writes, they are left out, and the whole block is
/// shown when it ends.
#[derive(Default)]
pub(super) struct Speakers {
    /// The names of the sub-agents.
    names: HashMap<SessionId, String>,
    /// The session whose block is being written. `None` between blocks.
    writes: Option<SessionId>,
    /// The session whose output was shown last.
    last: Option<SessionId>,
    /// The sessions whose current answer is shown without some of its pieces.
    unheard: HashSet<SessionId>,
    waiting: Vec<Notification>,
}

impl Speakers {
    /// Checks whether a notification is shown now. Otherwise, the notification waits, or it is a
    /// piece of a block that is shown whole later.
    pub(super) fn takes(&mut self, notification: &Notification) -> bool {
        self.learn(notification);
        let (id, event) = (&notification.session_id, &notification.event);
        let is_piece =
            matches!(event, KernelEvent::ContentBlockDelta(_) | KernelEvent::ThinkingDelta(_));
        let another_writes = self.writes.as_ref().is_some_and(|writes| writes != id);
        if is_piece && (another_writes || self.unheard.contains(id)) {
            self.unheard.insert(id.clone());
            return false;
        }
        if another_writes {
            self.waiting.push(notification.clone());
            return false;
        }
        self.writes = is_piece.then(|| id.clone()).or_else(|| self.writes.take());
        if ends_words(event) {
            self.writes = None;
        }
        true
    }

    /// Returns the whole text of the block that ends with this notification, if pieces of the block
    /// were left out.
    pub(super) fn unheard<'a>(&mut self, notification: &'a Notification) -> Option<&'a str> {
        let text = match &notification.event {
            KernelEvent::ContentBlockEnd(ended) => match &ended.block {
                Block::Text { text } => text,
                Block::Call(_) => return None,
            },
            KernelEvent::ThinkingFinal(thought) => &thought.thinking,
            _ => return None,
        };
        self.unheard.contains(&notification.session_id).then_some(text)
    }

    /// Records that a notification was shown.
    pub(super) fn shown(&mut self, notification: &Notification) {
        if ends_answer(&notification.event) {
            self.unheard.remove(&notification.session_id);
        }
    }

    /// Returns the name of the sub-agent that a notification comes from. Returns `None` if the
    /// output shown last is from the same session, if the session is no sub-agent, or if there is
    /// only one sub-agent.
    pub(super) fn change(&mut self, notification: &Notification) -> Option<String> {
        let id = &notification.session_id;
        if self.last.as_ref() == Some(id) {
            return None;
        }
        self.last = Some(id.clone());
        self.names.get(id).filter(|_| self.names.len() > 1).cloned()
    }

    /// Returns the notifications that waited, if no session writes a block now.
    pub(super) fn take_waiting(&mut self) -> Vec<Notification> {
        if self.writes.is_some() { Vec::new() } else { std::mem::take(&mut self.waiting) }
    }

    /// Ends the block that is being written, so that nothing waits any more.
    pub(super) fn end(&mut self) {
        self.writes = None;
    }

    /// Stores the name of a sub-agent that starts: the name that the delegation gave it, if any,
    /// followed by its label.
    fn learn(&mut self, notification: &Notification) {
        match &notification.event {
            KernelEvent::SessionFork(forked) if forked.kind == SessionKind::Delegate => {
                let name = format!("@{}", forked.label);
                self.names.insert(notification.session_id.clone(), name);
            }
            KernelEvent::DelegateSpawned(it) | KernelEvent::DelegateResumed(it) => {
                let id = it.sub_session_id.clone();
                let name = self.names.entry(id).or_insert_with(|| it.sub_session_id.to_string());
                if let Some(agent) = it.agent.as_ref().filter(|agent| !name.starts_with(*agent)) {
                    *name = format!("{agent} {name}");
                }
            }
            _ => {}
        }
    }
}

/// Checks whether an event follows the last block of an answer.
fn ends_answer(event: &KernelEvent) -> bool {
    matches!(
        event,
        KernelEvent::ProviderRequest(_)
            | KernelEvent::ProviderResponse(_)
            | KernelEvent::OrchestratorComplete(_)
    )
}

/// Checks whether an event ends a block of text or reasoning, or the turn that writes the block.
fn ends_words(event: &KernelEvent) -> bool {
    matches!(
        event,
        KernelEvent::ContentBlockEnd(_)
            | KernelEvent::ThinkingFinal(_)
            | KernelEvent::ProviderRetry(_)
            | KernelEvent::OrchestratorComplete(_)
    )
}
