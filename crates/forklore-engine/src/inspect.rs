//! `inspect`: exactly what the model would receive (SPEC 7).

mod messages;
mod repair;

use std::collections::BTreeMap;

use forklore_model::{Message, SessionId};
use serde::Serialize;

use crate::{Engine, Result};
use messages::Draft;

/// A session as its model sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// The messages, in order.
    pub messages: Vec<Message>,
    /// Whether every call had its result without repair.
    pub balanced: bool,
    /// Calls that the view had to answer.
    pub open_results: usize,
    /// Results that stand in for ones that never came, recorded ones and the view's own.
    pub synthetic_results: usize,
    /// What was left out, by type.
    pub excluded: BTreeMap<String, u64>,
}

impl Engine {
    /// What the model of a session would receive now (SPEC 7).
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`.
    pub fn inspect(&self, session: &SessionId) -> Result<Inspection> {
        self.show(session)?;
        let mut draft = Draft::default();
        for stored in self.events(session, forklore_store::port::At::Seq(0)) {
            draft.add(self, stored?);
        }
        Ok(repair::finish(draft))
    }
}
