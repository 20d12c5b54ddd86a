//! Checks that each label belongs to only one living session of a family, and that the session has
//! the label that it last received.

use std::collections::BTreeMap;

use super::Check;
use crate::history::{Call, Entry};

impl Check<'_> {
    pub(super) fn labels(&self) {
        let mut owners = BTreeMap::new();
        for (session, header) in self.headers.iter().filter(|(_, it)| it.deleted.is_none()) {
            let label = header.label.as_str();
            if let Some(other) = owners.insert((header.root_id.as_str(), label), session) {
                self.wrong(format!("{session} and {other} have the label {label}"));
            }
            if header.parent_id.is_some()
                && header.dialect.is_none()
                && !self.explains(session, label)
            {
                self.wrong(format!("{session} has the label {label}, which it was not last given"));
            }
        }
    }

    /// Checks whether the recorded calls explain that `session` has the label `label`. A call must
    /// have set this label, and no call that certainly came later may have set another.
    fn explains(&self, session: &str, label: &str) -> bool {
        let gives = |entry: &&Entry| given(entry).is_some() && (entry.is_done() || entry.is_open());
        let mut all = self.about(session).filter(gives);
        let is_last = |entry: &Entry| {
            let mut later = self.about(session).filter(gives).filter(|other| other.is_done());
            !later.any(|other| entry.is_before(other))
        };
        all.any(|entry| given(entry) == Some(label) && is_last(entry))
    }
}

/// Returns the label that a call sets on the session that it concerns.
fn given(entry: &Entry) -> Option<&str> {
    match &entry.call {
        Call::Create { session, .. } => Some(session),
        Call::Label { label, .. } => Some(label),
        _ => None,
    }
}
