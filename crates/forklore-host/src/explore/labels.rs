//! Generates the labels of the forks in which continuations run.

use forklore_core::{Header, Label};
use forklore_engine::Error as EngineError;
use forklore_store::Error as StoreError;

use super::Plan;
use crate::{Error, Host, Result};

/// The maximum length, in bytes, of a session's label that becomes the prefix of its forks' labels.
/// A dot and a number follow the prefix.
const LONGEST: usize = 56;

/// A generator of unused labels for the forks of an exploration: a prefix and consecutive numbers.
pub(super) struct Labels {
    prefix: String,
    number: u64,
    used: Vec<Label>,
}

impl Labels {
    pub(super) async fn of(host: &Host, plan: &Plan) -> Result<Self> {
        let id = plan.session.id.clone();
        let branches = host.run(move |engine| engine.branches(&id)).await?.branches;
        let used = branches.into_iter().map(|branch| branch.label).collect();
        let prefix = match &plan.label {
            Some(label) => format!("{label}-"),
            None => usual(&plan.session),
        };
        let labels = Self { prefix, number: 0, used };
        // Before any fork is created, reject a prefix that cannot begin a label.
        labels.numbered(1)?;
        Ok(labels)
    }

    /// Returns the next label. No branch of the family (all sessions with one root) had this label
    /// when the exploration began.
    pub(super) fn next(&mut self) -> Result<Label> {
        loop {
            self.number += 1;
            let label = self.numbered(self.number)?;
            if !self.used.contains(&label) {
                return Ok(label);
            }
        }
    }

    fn numbered(&self, number: u64) -> Result<Label> {
        let label = format!("{}{number}", self.prefix).parse();
        Ok(label.map_err(|source| EngineError::Name { what: "label", source })?)
    }
}

/// Returns the default prefix for the labels of an exploration's forks. It is the label of the
/// continued session and a dot, or `try-` if that session is a root or its label is too long.
fn usual(session: &Header) -> String {
    let label = session.label.as_str();
    match session.parent_id {
        Some(_) if label.len() <= LONGEST => format!("{label}."),
        _ => "try-".to_owned(),
    }
}

/// Checks whether a fork failed because another program has used the fork's label since the
/// exploration began.
pub(super) fn is_used(error: &Error) -> bool {
    matches!(
        error,
        Error::Agent(forklore_agent::Error::Engine(EngineError::Store(
            StoreError::LabelInUse { .. }
        )))
    )
}
