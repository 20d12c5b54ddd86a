//! Generates the labels of the forks in which continuations run.

use forklore_core::{Header, Label};
use forklore_engine::{Engine, Error as EngineError};
use forklore_store::Error as StoreError;

use crate::{Error, Result};

/// The maximum length, in bytes, of a session's label that becomes the prefix of its forks' labels.
/// A dot and a number follow the prefix.
const LONGEST: usize = 56;

/// A generator of unused labels for the forks of an exploration: a prefix and consecutive numbers.
pub struct Labels {
    prefix: String,
    number: u64,
    used: Vec<Label>,
}

impl Labels {
    /// Creates the generator for the forks of a session. `prefix` is what the user wants the labels
    /// to begin with.
    ///
    /// # Errors
    /// `invalid_args` if no label can begin with the prefix, or if the branches cannot be read.
    pub fn of(engine: &Engine, session: &Header, prefix: Option<&str>) -> Result<Self> {
        let branches = engine.branches(&session.id)?.branches;
        let used = branches.into_iter().map(|branch| branch.label).collect();
        let prefix = match prefix {
            Some(label) => format!("{label}-"),
            None => usual(session),
        };
        let labels = Self { prefix, number: 0, used };
        // Before any fork is created, reject a prefix that cannot begin a label.
        labels.numbered(1)?;
        Ok(labels)
    }

    /// Returns the next label. No branch of the family (all sessions with one root) had this label
    /// when the exploration began.
    ///
    /// # Errors
    /// `invalid_args` if the label would be too long.
    pub fn next_label(&mut self) -> Result<Label> {
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
