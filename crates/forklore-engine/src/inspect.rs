//! `inspect`: returns exactly the messages that the model would receive.
//!
//! The engine first builds an outline of the session. A message takes only a few bytes in the
//! outline, whatever its length. A message is read when the caller requests it.

pub(crate) mod messages;
mod model_view;
mod outline;
mod pair_calls;
mod sent;

use forklore_api::Inspection;
use forklore_core::SessionId;
use forklore_store::port::At;

pub use self::model_view::ModelView;
pub use self::sent::Messages;
pub(crate) use self::sent::{Sent, no_result};
use crate::{Engine, Result};
use outline::Outline;

impl Engine {
    /// Returns the messages that the model of a session would receive now (docs/semantics.md,
    /// Reading). If the messages may not fit in memory, use [`Engine::inspect_lazily`].
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if stored data is
    /// damaged, `missing_ancestor` if inherited events are missing.
    pub fn inspect(&self, session: &SessionId) -> Result<Inspection> {
        let Inspection {
            messages,
            balanced,
            open_results,
            synthetic_results,
            excluded,
            detached_subagents,
        } = self.inspect_lazily(session)?;
        let messages = messages.collect::<Result<_>>()?;
        Ok(Inspection {
            messages,
            balanced,
            open_results,
            synthetic_results,
            excluded,
            detached_subagents,
        })
    }

    /// Returns the messages that the model of a session would receive now, as an iterator. Each
    /// message is read from the store only when the iterator reaches it.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if stored data is
    /// damaged, `missing_ancestor` if inherited events are missing. Each message of the iterator
    /// may fail with `corrupt` or `missing_ancestor`.
    pub fn inspect_lazily(&self, session: &SessionId) -> Result<Inspection<Messages>> {
        let end = u64::try_from(self.show(session)?.head_seq()).ok();
        self.inspect_up_to(session, end)
    }

    /// Returns the messages that the model would receive if the session ended at seq `end`,
    /// inclusive. If `end` is `None`, returns no messages. Reads each message from the store only
    /// when the iterator reaches it.
    pub(crate) fn inspect_up_to(
        &self,
        session: &SessionId,
        end: Option<u64>,
    ) -> Result<Inspection<Messages>> {
        self.inspect_for(session, end, None)
    }

    /// Returns the messages that `model` would receive if the session ended at seq `end`,
    /// inclusive. If `end` is `None`, returns no messages. If `model` is `None`, uses the model
    /// that these events named last.
    fn inspect_for(
        &self,
        session: &SessionId,
        end: Option<u64>,
        model: Option<&str>,
    ) -> Result<Inspection<Messages>> {
        let mut outline = Outline::default();
        for stored in self.events(session, At::Seq(0)) {
            let stored = stored?;
            if end.is_none_or(|end| stored.seq > end) {
                break;
            }
            outline.add(self, session, &stored)?;
        }
        if let Some(model) = model {
            outline.model = Some(model.to_owned());
        }
        let (open_results, synthetic_results) = pair_calls::settle(&mut outline);
        Ok(Inspection {
            balanced: open_results == 0,
            open_results,
            synthetic_results,
            excluded: outline.excluded,
            detached_subagents: outline.detached,
            messages: Messages::of(self, session, outline.items, open_results),
        })
    }
}
