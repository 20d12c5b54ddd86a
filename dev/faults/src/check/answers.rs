//! Checks that every refused call was answered in time and for a justified reason.

use super::Check;
use crate::history::{Answer, Call, Entry};

/// The shortest justified time of a call that fails with `busy`, in nanoseconds. The store must
/// have waited that long for another process.
const WAIT: u64 = 4_900_000_000;
/// The longest accepted duration of a call, in nanoseconds. It allows five seconds of waiting for
/// another process, and three seconds for the work itself on a busy machine.
const LONGEST: u64 = 8_000_000_000;

impl Check<'_> {
    pub(super) fn answers(&self) {
        for entry in self.entries {
            let Some((at, answer)) = &entry.answered else { continue };
            let took = at.saturating_sub(entry.invoked);
            if took > LONGEST && (!answer.is_done() || is_short(&entry.call)) {
                let millis = took / 1_000_000;
                self.wrong(format!("{:?} was told {answer:?} after {millis} ms", entry.call));
            }
            let Answer::Refused { kind, message, .. } = answer else { continue };
            if self.limited && kind == "internal" && says_the_limit(message) {
                continue;
            }
            // An import does not fail if it cannot read a file: it reports the file as a problem.
            let unread = "Unreadable, message: \"Too many open files";
            if self.limited && matches!(entry.call, Call::Import { .. }) && message.contains(unread)
            {
                continue;
            }
            let waited = took >= WAIT || matches!(entry.call, Call::Collect);
            if (kind == "busy" && !waited) || !self.had_it_coming(entry, *at, kind) {
                self.wrong(format!("{:?} was told {kind}: {message}", entry.call));
            }
        }
    }

    /// Checks whether it is justified that the store refused the call of `entry` with the error
    /// `kind`. `busy` is always justified here. Any other error needs a reason, usually another
    /// call that began before `at`, the time of the answer.
    fn had_it_coming(&self, entry: &Entry, at: u64, kind: &str) -> bool {
        match (kind, &entry.call) {
            ("busy", _) => true,
            ("conflict", Call::Append { expect, .. }) => expect.is_some(),
            ("not_found", Call::Create { parent: Some(parent), .. }) => {
                self.deleted_before(parent, at)
            }
            ("not_found", call) => {
                call.session().is_some_and(|session| self.deleted_before(session, at))
            }
            ("already_exists", Call::Create { session, .. }) => {
                let others = self.about(session).filter(|other| !std::ptr::eq(*other, entry));
                let mut makers = others.filter(|it| matches!(it.call, Call::Create { .. }));
                makers.any(|other| other.invoked < at)
            }
            ("already_exists", Call::Label { label, .. }) => self.entries.iter().any(|other| {
                matches!(&other.call, Call::Label { label: theirs, .. } if theirs == label)
                    && !std::ptr::eq(other, entry)
                    && other.invoked < at
            }),
            ("has_children", Call::Delete { session, refuse: true }) => {
                self.entries.iter().any(|other| {
                    matches!(&other.call, Call::Create { parent, .. }
                        if parent.as_deref() == Some(session))
                        && other.invoked < at
                })
            }
            _ => false,
        }
    }
}

/// Checks whether a call consists of a single transaction. Such a call waits for other writers only
/// once.
fn is_short(call: &Call) -> bool {
    match call {
        Call::Create { copy, .. } => !copy,
        Call::Append { .. } | Call::Delete { .. } | Call::Label { .. } => true,
        Call::Detach { .. } | Call::Import { .. } | Call::Collect => false,
    }
}

/// Checks whether an error message names the resource limit that was reached, such as a full disk.
/// A user needs that name to act on the error.
fn says_the_limit(message: &str) -> bool {
    let limits = [
        "no file may exceed",
        "no storage space",
        "no space left",
        "disk is full",
        "file too large",
        "too many open files",
    ];
    let message = message.to_lowercase();
    limits.iter().any(|limit| message.contains(limit))
}
