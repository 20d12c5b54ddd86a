//! Describes in words what an operation did.

use forklore::api::{OperationKind, OperationSession, OperationSummary, Outcome};
use forklore::core::ShortIds;

use crate::output::{bytes, count};

/// Describes what an operation did, and to which sessions.
pub(super) fn what(operation: &OperationSummary) -> String {
    let did = match operation.kind {
        OperationKind::Delete => "deleted",
        OperationKind::Undelete => "brought back",
        OperationKind::Detach => "detached",
        OperationKind::Label => "labelled",
        OperationKind::Rename => "renamed",
        OperationKind::Rewind => "rewound into",
        OperationKind::Import => "imported",
        OperationKind::Undo => "undid",
        OperationKind::Redact => "redacted",
    };
    if let Some(undone) = operation.undoes {
        return format!("{did} operation {undone}: {}", sessions(operation));
    }
    match (operation.kind, &operation.before, &operation.after) {
        (OperationKind::Rename, Some(before), Some(after)) => format!("{did} {before} to {after}"),
        (OperationKind::Rename, None, Some(after)) => {
            let id = operation.first.first().map(short).unwrap_or_default();
            format!("gave {id} the title {after}")
        }
        (OperationKind::Rename, Some(before), None) => {
            format!("removed the title {before} of {}", sessions(operation))
        }
        (OperationKind::Label, Some(before), Some(after)) => {
            format!("{did} {after} instead of {before}: {}", sessions(operation))
        }
        _ => format!("{did} {}", sessions(operation)),
    }
}

fn sessions(operation: &OperationSummary) -> String {
    let mut names: Vec<_> = operation.first.iter().map(name).collect();
    match (operation.sessions, names.as_mut_slice()) {
        (1, [name]) => std::mem::take(name),
        (sessions, names) => {
            let more = if sessions > names.len() as u64 { ", ..." } else { "" };
            format!("{}: {}{more}", count(sessions, "session"), names.join(", "))
        }
    }
}

fn name(session: &OperationSession) -> String {
    session.name.clone().unwrap_or_else(|| short(session))
}

fn short(session: &OperationSession) -> String {
    ShortIds::of([&session.session_id]).get(&session.session_id).to_owned()
}

/// Describes what happened to one session, such as `erased`.
pub(super) fn did(outcome: &Outcome) -> String {
    let title = |title: &Option<String>| title.clone().unwrap_or_else(|| "none".to_owned());
    match outcome {
        Outcome::Created { .. } => "created".to_owned(),
        Outcome::Appended { events, .. } => format!("gained {}", count(*events, "event")),
        Outcome::Deleted { .. } => "deleted".to_owned(),
        Outcome::Erased { .. } => "erased".to_owned(),
        Outcome::Restored { .. } => "brought back".to_owned(),
        Outcome::Labelled { before, after, .. } => format!("label {before} is now {after}"),
        Outcome::Renamed { before, after, .. } => {
            format!("title {} is now {}", title(before), title(after))
        }
        Outcome::Leaf { after: Some(after), .. } => format!("its agent would resume {after}"),
        Outcome::Leaf { .. } => "its agent would resume no branch of it".to_owned(),
        Outcome::Detached { .. } => "detached".to_owned(),
        Outcome::Redacted { events: 0, .. } => "lost its title".to_owned(),
        Outcome::Redacted { events, bytes: size, reason, .. } => {
            format!("{} redacted, {}: {reason}", count(*events, "event"), bytes(*size))
        }
        Outcome::Forgotten { .. } => "another label or title, erased since".to_owned(),
    }
}
