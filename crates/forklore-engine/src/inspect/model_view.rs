//! `inspect` for a request that is about to be sent. Gives the messages for a certain model, and
//! how many of them the session shares with its parent.

use forklore_core::{Content, Cut, Header, Message, Part, SessionId, SessionKind};

use super::sent::stand_in;
use crate::fork::FORKED_BEFORE;
use crate::{Engine, Inspection, Result};

/// The messages that a model request of a session, or of a planned fork, would contain. Also states
/// how many leading messages are the same in requests of the parent session.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelView {
    /// The header of the session whose messages were read, as the header was at that time. For a
    /// planned fork ([`Engine::fork_view`]), this is the parent's header.
    pub header: Header,
    /// The messages in the order in which a model request would send them.
    pub messages: Vec<Message>,
    /// Number of leading messages that the session inherits. A model request of its parent begins
    /// with the same messages.
    pub shared: usize,
    /// For each fork on the path from the root to this session: how many of the leading `messages`
    /// the forked session inherited. The oldest fork is first, and this session's own fork is last.
    /// Leaves out 0 and repeated numbers. A child's list begins with the numbers of its parent's
    /// list, as far as they are within the history that the child inherits.
    pub forks: Vec<usize>,
    /// Number of tool calls without a recorded result. `messages` has a synthetic result for each.
    pub open_results: usize,
}

impl Engine {
    /// Returns the messages that `model` would receive in a request of a session now. Leaves out
    /// the reasoning of other models. If `model` is `None`, uses the model that the session's
    /// events named last, as [`inspect`](Self::inspect) does.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if stored data is
    /// damaged, `missing_ancestor` if inherited events are missing.
    pub fn model_view(&self, session: &SessionId, model: Option<&str>) -> Result<ModelView> {
        let header = self.show(session)?;
        let end = u64::try_from(header.head_seq()).ok();
        let Inspection { messages, open_results, .. } = self.inspect_for(session, end, model)?;
        let forks = self.forks(&header)?.into_iter().map(|stored| messages.shared_up_to(stored));
        let mut forks: Vec<usize> = forks.filter(|shared| *shared > 0).collect();
        forks.dedup();
        let inherited = header.parent_id.as_ref().map(|_| header.inherited.inheritable);
        let shared = inherited.map_or(0, |last| messages.shared_up_to(last));
        let messages = messages.collect::<Result<_>>()?;
        Ok(ModelView { header, messages, shared, forks, open_results })
    }

    /// Returns the messages that `model` would receive in a request of a planned fork of `parent`
    /// at `cut`. Creates no session.
    ///
    /// # Errors
    /// `corrupt` if stored data is damaged, `missing_ancestor` if inherited events are missing.
    pub fn fork_view(&self, parent: &Header, cut: &Cut, model: Option<&str>) -> Result<ModelView> {
        let mut forks = self.forks(parent)?;
        forks.retain(|stored| *stored < cut.inheritable);
        let Some(seq) = cut.seq else {
            let (messages, forks) = (Vec::new(), Vec::new());
            let header = parent.clone();
            return Ok(ModelView { header, messages, shared: 0, forks, open_results: 0 });
        };
        let Inspection { messages, open_results, .. } =
            self.inspect_for(&parent.id, Some(seq), model)?;
        let mut shared = messages.shared_up_to(seq);
        let mut forks: Vec<usize> =
            forks.into_iter().map(|stored| messages.shared_up_to(stored)).collect();
        let mut messages: Vec<Message> = messages.collect::<Result<_>>()?;
        // A fork appends the synthetic results of its open calls after all inherited messages.
        let open = self.open_calls(parent, cut)?;
        let is_open = |id: &str| open.contains(id);
        let breaks_off = shared.checked_sub(1).and_then(|last| messages.get(last));
        let breaks_off = breaks_off.is_some_and(|message| calls(message).any(is_open));
        messages.retain(|message| !answered(message).any(is_open));
        if breaks_off {
            shared = messages.len();
        }
        for call in open.calls() {
            messages.push(stand_in(&call.id, &call.name, FORKED_BEFORE));
        }
        forks.push(shared);
        forks.retain(|shared| *shared > 0);
        forks.dedup();
        Ok(ModelView { header: parent.clone(), messages, shared, forks, open_results })
    }

    /// Returns, for each fork on the path from the root to a session, how many events the forked
    /// session inherited. The oldest fork is first. Leaves out a fork if a later fork inherited
    /// fewer events, because the later fork then shares only a part of what the earlier one
    /// inherited.
    fn forks(&self, header: &Header) -> Result<Vec<u64>> {
        let inherits = |kind| kind == SessionKind::Branch;
        if !inherits(header.kind) {
            return Ok(Vec::new());
        }
        let mut smallest = header.inherited.inheritable;
        let mut forks = vec![smallest];
        for ancestor in self.ancestors(header)? {
            let Some(cut) = ancestor.cut.filter(|_| ancestor.kind.is_some_and(inherits)) else {
                break;
            };
            if cut.inheritable <= smallest {
                smallest = cut.inheritable;
                forks.push(smallest);
            }
        }
        forks.reverse();
        Ok(forks)
    }
}

/// Returns the ids of the tool calls in a message.
fn calls(message: &Message) -> impl Iterator<Item = &str> {
    parts(message).iter().filter_map(|part| match part {
        Part::ToolCall { id, .. } => Some(id.as_str()),
        _ => None,
    })
}

/// Returns the ids of the tool calls for which this message contains a synthetic result.
fn answered(message: &Message) -> impl Iterator<Item = &str> {
    parts(message).iter().filter_map(|part| match part {
        Part::ToolResult { call_id, synthetic: true, .. } => Some(call_id.as_str()),
        _ => None,
    })
}

fn parts(message: &Message) -> &[Part] {
    match &message.content {
        Content::Text(_) => &[],
        Content::Parts(parts) => parts,
    }
}
