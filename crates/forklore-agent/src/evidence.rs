//! Evidence about a turn that is not part of the conversation, such as the state of the files.

use forklore_core::Header;
use forklore_engine::NewEvent;
use futures_util::future::BoxFuture;

/// Looks at the surroundings of a session at the begin and at the end of each of its turns.
pub trait Evidence: Send + Sync {
    /// Returns a name for messages about failures.
    fn name(&self) -> &str;

    /// Returns the events that record what there is now. A turn stores them before its prompt and
    /// after its last event.
    fn look<'a>(&'a self, session: &'a Header) -> BoxFuture<'a, Seen>;
}

/// What a look found.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The events to store. Not messages: the model does not receive them.
    pub events: Vec<NewEvent>,
    /// Why something could not be recorded. It is announced as `hook:error`, and does not end the
    /// turn.
    pub problem: Option<String>,
}
