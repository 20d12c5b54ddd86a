//! `inspect` for a request that is about to be sent: for the model that is to answer, and with how
//! much of it the session shares with its parent (SPEC 15).

use forklore_model::{Header, Message, SessionId};

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
        let inherited = header.parent_id.as_ref().map(|_| header.inherited.kept);
        let shared = inherited.map_or(0, |last| messages.shared_up_to(last));
        let messages = messages.collect::<Result<_>>()?;
        Ok(ModelView { header, messages, shared, open_results })
    }
}
