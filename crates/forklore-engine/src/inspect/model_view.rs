//! `inspect` for a request that is about to be sent: for the model that is to answer, and with how
//! much of it the session shares with its parent (SPEC 15).

use forklore_core::{Content, Cut, Header, Message, Part, SessionId, SessionKind};

use super::sent::stand_in;
use crate::fork::FORKED_BEFORE;
use crate::{Engine, Inspection, Result};

/// What a model is to receive, and as of when.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelView {
    /// The session as it was read.
    pub header: Header,
    /// The messages, in order.
    pub messages: Vec<Message>,
    /// How many of the first messages are inherited, and so the same in a request of the parent.
    pub shared: usize,
    /// The same for each fork on the way from the root, the oldest first, this session's own last:
    /// a request of a child has those of its parent, as far as its history goes.
    pub forks: Vec<usize>,
    /// Calls that had to be answered in the view.
    pub open_results: usize,
}

impl Engine {
    /// What `model` would receive of a session now; reasoning of others is left out. Without a
    /// model it is that of [`inspect`](Self::inspect).
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`.
    pub fn model_view(&self, session: &SessionId, model: Option<&str>) -> Result<ModelView> {
        let header = self.show(session)?;
        let end = u64::try_from(header.head_seq()).ok();
        let Inspection { messages, open_results, .. } = self.inspect_for(session, end, model)?;
        let forks = self.forks(&header)?.into_iter().map(|kept| messages.shared_up_to(kept));
        let mut forks: Vec<usize> = forks.filter(|shared| *shared > 0).collect();
        forks.dedup();
        let inherited = header.parent_id.as_ref().map(|_| header.inherited.inheritable);
        let shared = inherited.map_or(0, |last| messages.shared_up_to(last));
        let messages = messages.collect::<Result<_>>()?;
        Ok(ModelView { header, messages, shared, forks, open_results })
    }

    /// What `model` would receive of a fork of a session at `cut`, before anything is said in it;
    /// nothing is written.
    ///
    /// # Errors
    /// `corrupt`, `missing_ancestor`.
    pub fn fork_view(&self, parent: &Header, cut: &Cut, model: Option<&str>) -> Result<ModelView> {
        let mut forks = self.forks(parent)?;
        forks.retain(|kept| *kept < cut.inheritable);
        let Some(seq) = cut.seq else {
            let (messages, forks) = (Vec::new(), Vec::new());
            let header = parent.clone();
            return Ok(ModelView { header, messages, shared: 0, forks, open_results: 0 });
        };
        let Inspection { messages, open_results, .. } =
            self.inspect_for(&parent.id, Some(seq), model)?;
        let mut shared = messages.shared_up_to(seq);
        let mut forks: Vec<usize> =
            forks.into_iter().map(|kept| messages.shared_up_to(kept)).collect();
        let mut messages: Vec<Message> = messages.collect::<Result<_>>()?;
        // A fork answers the calls that its cut leaves open behind everything that it took over.
        let open = self.open_calls(parent, cut)?;
        let is_open = |id: &str| open.calls().iter().any(|call| call.id == id);
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

    /// How many events each fork on the way to a session took over, the oldest first. One that took
    /// less than a fork before it has left that one's place behind.
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

/// The calls of a message.
fn calls(message: &Message) -> impl Iterator<Item = &str> {
    parts(message).iter().filter_map(|part| match part {
        Part::ToolCall { id, .. } => Some(id.as_str()),
        _ => None,
    })
}

/// The calls that a message answers in place of a result.
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
