//! Suggests commands and advice for each error.

use forklore::api::Elsewhere;
use forklore::core::{CutError, ErrorKind};
use forklore::store::Error as StoreError;
use forklore::store::health::{Check, Status};
use forklore::{BackupError, Error};
use forklore_agent::error::Error as AgentError;
use forklore_agent::model::ModelErrorKind;
use forklore_sanitize::terminal;

/// The maximum number of sessions of other folders that the suggestions name.
const NAMED: usize = 3;

/// Suggests what to do about an error of a store.
pub(crate) fn store(error: &StoreError) -> Vec<String> {
    match error {
        StoreError::NotFound(_) => vec!["forklore list --all".into()],
        StoreError::Deleted(_) => {
            vec!["forklore list --all".into(), "forklore list --deleted --all".into()]
        }
        StoreError::IdInUse(_) => vec!["choose another id".into()],
        StoreError::LabelInUse { .. } => vec!["choose another label".into()],
        StoreError::Conflict { session, .. } => {
            vec![format!("forklore log {session}"), format!("forklore fork {session}")]
        }
        StoreError::Leased { session, .. } | StoreError::LeaseLost { session, .. } => {
            vec![format!("forklore fork {session}")]
        }
        StoreError::Locked(_) | StoreError::Stale { .. } => vec!["try again".into()],
        StoreError::HasChildren { session, .. } => vec![
            format!("forklore delete {session} --detach-children"),
            format!("forklore delete {session} --cascade --dry-run"),
        ],
        StoreError::Corrupt { session: None, .. } => vec![
            "forklore verify".into(),
            "put a copy of the store from before in its place".into(),
        ],
        StoreError::Corrupt { .. }
        | StoreError::Lost { .. }
        | StoreError::MissingAncestor { .. } => {
            vec!["forklore verify".into()]
        }
        StoreError::Outdated { .. } => vec!["forklore tier init".into()],
        StoreError::Denied(_) | StoreError::Unsupported(_) => {
            vec!["name another store: --store or FORKLORE_STORE".into()]
        }
        StoreError::Poisoned { .. } => vec![
            "look at the disk and at what the system says about it".into(),
            "open the store again, then: forklore verify".into(),
        ],
        StoreError::Io { source, .. } => way_out(source.as_ref()).into_iter().collect(),
        StoreError::ForeignMark(_) | StoreError::MarkExpired { .. } => {
            vec!["read the feed from its beginning".into()]
        }
        StoreError::Occupied { .. } => vec!["name a path at which there is nothing yet".into()],
        StoreError::StoreGone { .. } => vec!["open the store again".into()],
        _ => Vec::new(),
    }
}

/// Suggests what to do about a backup that was not made, or not restored.
pub(crate) fn backup(error: &BackupError) -> Vec<String> {
    match error {
        // The message names the tools for such a store.
        BackupError::Store(StoreError::Unsupported(_)) => Vec::new(),
        BackupError::Store(error) => store(error),
        BackupError::Engine(error) => engine(error),
        BackupError::OtherKind { found, .. } => {
            vec![format!("forklore --store {found}:PATH restore BACKUP")]
        }
        BackupError::Damaged(_) => vec!["forklore verify".into()],
        _ => Vec::new(),
    }
}

/// Suggests what to do about files that were not recorded or not restored.
pub(crate) fn files(error: &forklore_workspace::Error) -> Vec<String> {
    use forklore_workspace::Error as FilesError;
    use forklore_workspace::snapshots::Error as SnapshotError;
    match error {
        FilesError::NoSnapshot { session, .. } => {
            vec![format!("forklore snapshot {session}"), format!("forklore log {session}")]
        }
        FilesError::NothingToBring { from, .. } => vec![format!("forklore snapshot {from}")],
        FilesError::UndoneAlready { by, .. } => vec![format!("forklore undo {by}")],
        FilesError::Stopped { number, .. } => vec![format!("forklore undo {number}")],
        FilesError::Snapshot(SnapshotError::NoGit { .. }) => {
            vec!["install git, which stores the snapshots".into()]
        }
        FilesError::Snapshot(SnapshotError::File { what: "open", .. }) => {
            vec!["name the folder that has the files: --folder DIR".into()]
        }
        FilesError::Snapshot(SnapshotError::Full { .. }) => vec![
            "forklore gc --files".into(),
            "raise snapshots.max_size in the configuration: forklore config edit".into(),
        ],
        FilesError::Snapshot(SnapshotError::Damaged { what }) if what.ends_with(".restore") => {
            vec![
                format!("remove {what}; the rewind that was killed is then not completed"),
                "forklore undo".into(),
            ]
        }
        FilesError::NothingAt { .. } => vec!["leave out --path, to see all that differs".into()],
        _ => Vec::new(),
    }
}

/// Suggests what to do about a server that cannot start.
#[cfg(feature = "server")]
pub(crate) fn serve(error: &forklore_server::StartError) -> Vec<String> {
    match error {
        forklore_server::StartError::Listen { .. } => {
            vec!["forklore serve --listen 127.0.0.1:0".into()]
        }
        forklore_server::StartError::PublicUrl(_) => {
            vec!["forklore serve --public-url https://lore.example".into()]
        }
        forklore_server::StartError::Certificate(_) => {
            vec!["forklore serve --tls-cert fullchain.pem --tls-key privkey.pem".into()]
        }
        _ => Vec::new(),
    }
}

/// Suggests what to do about an error of the engine.
pub(crate) fn engine(error: &Error) -> Vec<String> {
    match error {
        Error::Store(error) => store(error),
        Error::Cut { session, source } => match source {
            CutError::NothingToFork { .. } => {
                vec![format!("forklore fork {session} --at start")]
            }
            CutError::ManyEvents { seqs, .. } => seqs
                .iter()
                .take(3)
                .map(|seq| format!("forklore fork {session} --at seq:{seq}"))
                .collect(),
            _ => vec![format!("forklore replay {session}")],
        },
        Error::OpenCalls { session, at, .. } => {
            let at = at.as_ref().map(|at| format!(" --at {at}")).unwrap_or_default();
            let with = |policy| format!("forklore fork {session}{at} --tool-calls {policy}");
            vec![with("complete"), with("remove")]
        }
        Error::OtherChild { .. } => vec!["choose another --id".into()],
        Error::NotEmpty => vec!["name a place where nothing is yet".into()],
        Error::TooDeep { session, .. } => vec![
            format!("forklore detach {session}"),
            format!("forklore fork {session} --strategy replay_v1"),
        ],
        Error::NoOperation(_) | Error::NothingToUndo => vec!["forklore op log".into()],
        Error::AlreadyUndone { by, .. } => vec![format!("forklore op undo {by}")],
        Error::NotUndoable { operation, .. }
        | Error::ChangedSince { operation, rest: false, .. } => {
            vec![format!("forklore op show {operation}")]
        }
        Error::ChangedSince { operation, .. } => {
            vec![
                format!("forklore op undo {operation} --partial"),
                format!("forklore op show {operation}"),
            ]
        }
        Error::InTrash(session) => vec![format!("forklore undelete {session}")],
        Error::NoMatch { what } if what.contains("the trash") => {
            vec!["forklore list --deleted --all".into()]
        }
        Error::NoMatch { .. } => vec!["forklore list --all".into()],
        Error::Elsewhere { found, .. } => found.iter().take(NAMED).map(shown_by).collect(),
        Error::NoSource(session) => vec![format!("forklore export {session} --to plain")],
        Error::Ambiguous { candidates, .. } => {
            candidates.iter().take(3).map(|id| format!("forklore show {id}")).collect()
        }
        Error::Cycle(_) | Error::NoAttachment(_) => vec!["forklore verify".into()],
        _ => Vec::new(),
    }
}

/// Suggests what to do about an error of the agent kernel.
fn agent(error: &AgentError) -> Vec<String> {
    match error {
        AgentError::Engine(error) => engine(error),
        AgentError::Leased { session, .. } => {
            vec![format!("forklore fork {session}"), format!("forklore resume {session} --wait")]
        }
        AgentError::Running(session) => vec![format!("forklore fork {session}")],
        AgentError::NotReady(source) | AgentError::Model { source, .. } => match source.kind {
            ModelErrorKind::Key => vec!["set the key's variable in the environment".into()],
            ModelErrorKind::TooLong => vec!["fork before the long part of the session".into()],
            ModelErrorKind::NotFound => vec!["name another model or address".into()],
            // A retry gives the same error, because the history contains something that the model
            // refuses.
            ModelErrorKind::Invalid => vec![
                "look at what was sent: forklore inspect SESSION --request".into(),
                "fork before what the model does not take, such as an image".into(),
            ],
            ModelErrorKind::Malformed => vec![
                "see whether the address of the model is right".into(),
                "go on with the turn later: its prompt is stored".into(),
            ],
            _ => vec!["go on with the turn later: its prompt is stored".into()],
        },
        _ => Vec::new(),
    }
}

/// Suggests what to do about an error of a conversation.
pub(crate) fn chat(error: &forklore_chat::Error) -> Vec<String> {
    match error {
        forklore_chat::Error::Host(forklore_host::Error::Agent(error)) => agent(error),
        forklore_chat::Error::Host(forklore_host::Error::Engine(error)) => engine(error),
        forklore_chat::Error::Host(forklore_host::Error::Config(error)) if error.no_model => {
            vec!["forklore config init".into()]
        }
        _ => Vec::new(),
    }
}

/// Suggests what to do about a finding of `doctor`. Returns `None` if there is no suggestion.
pub(crate) fn check(check: &Check) -> Option<String> {
    let hint = match (check.status, check.kind) {
        (Status::Warning, _) if check.name == "content" => "forklore verify",
        (Status::Problem, Some(ErrorKind::Corrupt | ErrorKind::MissingAncestor)) => {
            "forklore verify"
        }
        (Status::Problem, Some(ErrorKind::PermissionDenied | ErrorKind::Unsupported)) => {
            "name another store: --store or FORKLORE_STORE"
        }
        (Status::Problem, Some(ErrorKind::Busy)) => "try again",
        _ => return None,
    };
    Some(hint.to_owned())
}

/// Returns the command that shows a session of another folder, with a shell comment that names the
/// label and the folder. The folder's name is escaped, because it may contain a line break, which
/// would end the comment.
fn shown_by(elsewhere: &Elsewhere) -> String {
    let Elsewhere { session_id, label, workspace } = elsewhere;
    let folder = terminal::line(workspace.as_str());
    format!("forklore show {session_id}  # @{label} of {folder}")
}

/// Suggests what to do about an error of the operating system, such as a full disk. Returns `None`
/// if there is no suggestion.
fn way_out(source: &(dyn std::error::Error + Send + Sync + 'static)) -> Option<String> {
    use rustix::io::Errno;
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};

    let source = source.downcast_ref::<std::io::Error>()?;
    let limit = |limit| format!("raise the limit ({limit}) and try again: nothing was written");
    match (source.kind(), Errno::from_io_error(source)) {
        (StorageFull | QuotaExceeded, _) => {
            Some("make room on the disk and try again: nothing was written".into())
        }
        (FileTooLarge, _) => Some(limit("ulimit -f")),
        (_, Some(Errno::MFILE)) => Some(limit("ulimit -n")),
        _ => None,
    }
}
