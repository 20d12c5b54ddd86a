//! Takes conversation and files back, as `forklore rewind` does (docs/semantics.md, Snapshots).

use std::path::{Path, PathBuf};

use forklore_api::{FilesRestored, Fork, NamedPath, RewindScope, RewindUndone, Rewound};
use forklore_core::{ErrorKind, Header, SessionId};
use forklore_engine::Engine;
use forklore_workspace::{Error, Rewind, WorkspaceFiles, project_folder};

use crate::model::cut_text;
use crate::request::{Answer, Change, Done, Failed, FilesChanged, RewindPlan, RewindRequest};
use crate::safe::Safe;

/// How many paths an answer names.
const NAMED: usize = 8;

/// Why files cannot be taken back here.
fn nowhere(header: &Header) -> Failed {
    let folder = header.workspace.as_str();
    let message = format!("the files of {folder} cannot be taken back here; the conversation can");
    Failed { message: Safe::line(&message), is_gone: false, has_children: false }
}

fn failed(error: &Error) -> Failed {
    let message = match error {
        Error::Stopped { number, source, .. } => {
            format!("{error}: {source}; `forklore undo {number}` takes it back")
        }
        _ => error.to_string(),
    };
    let is_gone = matches!(error, Error::Engine(_)) && error.kind() == ErrorKind::NotFound;
    Failed { message: Safe::line(&message), is_gone, has_children: false }
}

/// Returns the snapshots and the folder of a session, if its files can be taken back.
fn means<'a>(
    files: Option<&'a WorkspaceFiles>,
    header: &Header,
) -> Option<(&'a WorkspaceFiles, PathBuf)> {
    files.zip(project_folder(Path::new(header.workspace.as_str())))
}

fn rewind_of(request: &RewindRequest, folder: PathBuf) -> Rewind {
    let RewindRequest { at, scope, .. } = request.clone();
    Rewind { at, scope, folder, label: None, paths: Vec::new() }
}

fn fork_of(request: &RewindRequest) -> Fork {
    Fork { rewind: true, ..Fork::of(request.session.clone()).at(request.at.clone()) }
}

/// Returns what a rewind would change.
pub(super) fn plan(
    engine: &Engine,
    files: Option<&WorkspaceFiles>,
    request: &RewindRequest,
) -> Answer {
    planned(engine, files, request).map_or_else(
        |failed| Answer::Refused(Change::Rewind(request.clone()), failed),
        |plan| Answer::RewindPlanned(Box::new(plan)),
    )
}

fn planned(
    engine: &Engine,
    files: Option<&WorkspaceFiles>,
    request: &RewindRequest,
) -> Result<RewindPlan, Failed> {
    let header = engine.show(&request.session).map_err(|error| failed(&error.into()))?;
    let is_running = engine.is_leased(&header);
    let plan = |forked: Option<forklore_api::Forked>, files: Option<FilesRestored>| RewindPlan {
        request: request.clone(),
        at: forked.map(|forked| cut_text(&forked.cut)),
        files: files.map(|files| changed(&files)),
        folder: Safe::line(header.workspace.as_str()),
        is_running,
    };
    match means(files, &header) {
        Some((files, folder)) => {
            let planned = files.plan_rewind(engine, &header, &rewind_of(request, folder));
            let Rewound { forked, files, .. } = planned.map_err(|error| failed(&error))?;
            Ok(plan(forked, files))
        }
        None if request.scope == RewindScope::Conversation => {
            let forked = engine.fork(&Fork { dry_run: true, ..fork_of(request) });
            Ok(plan(Some(forked.map_err(|error| failed(&error.into()))?), None))
        }
        None => Err(nowhere(&header)),
    }
}

/// Takes a session back.
pub(super) fn rewind(
    engine: &Engine,
    files: Option<&WorkspaceFiles>,
    request: &RewindRequest,
) -> Answer {
    let refused = |failed| Answer::Refused(Change::Rewind(request.clone()), failed);
    let header = match engine.show(&request.session) {
        Ok(header) => header,
        Err(error) => return refused(failed(&error.into())),
    };
    let session = header.id.clone();
    match means(files, &header) {
        Some((files, folder)) => match files.rewind(engine, &header, &rewind_of(request, folder)) {
            Ok(Rewound { number, forked, files, .. }) => Answer::Changed(Done::Rewound {
                session,
                fork: forked.map(|forked| forked.child_session_id),
                number,
                files: files.map(|files| changed(&files)),
            }),
            Err(error) => refused(failed(&error)),
        },
        None if request.scope == RewindScope::Conversation => {
            match engine.fork_or_copy(&fork_of(request)) {
                Ok(forked) => Answer::Changed(Done::Rewound {
                    session,
                    fork: Some(forked.child_session_id),
                    number: None,
                    files: None,
                }),
                Err(error) => refused(failed(&error.into())),
            }
        }
        None => refused(nowhere(&header)),
    }
}

/// Takes a rewind of a session's folder back: the one with this number, or the last one.
pub(super) fn undo(
    engine: &Engine,
    files: Option<&WorkspaceFiles>,
    session: &SessionId,
    number: Option<u64>,
) -> Answer {
    let refused = |failed| Answer::Refused(Change::UndoRewind(session.clone(), number), failed);
    let header = match engine.show(session) {
        Ok(header) => header,
        Err(error) => return refused(failed(&error.into())),
    };
    let Some((files, folder)) = means(files, &header) else { return refused(nowhere(&header)) };
    match files.undo(engine, &folder, number) {
        Ok(RewindUndone { number, session_id, fork, files, .. }) => {
            let (back, gone): (Vec<_>, Vec<_>) =
                fork.into_iter().partition(|fork| engine.show(fork).is_ok());
            Answer::Changed(Done::RewindUndone {
                session: session_id,
                number,
                back,
                gone,
                files: files.map(|files| changed(&files)),
            })
        }
        Err(error) => refused(failed(&error)),
    }
}

fn changed(files: &FilesRestored) -> FilesChanged {
    let named = |paths: &[NamedPath]| {
        let named = paths.iter().take(NAMED);
        named
            .map(|one| (Safe::line(&one.reason.replace('_', " ")), Safe::line(&one.path)))
            .collect()
    };
    FilesChanged {
        written: files.written,
        removed: files.removed,
        left: files.skipped.len() as u64,
        changes: named(&files.changes),
        skipped: named(&files.skipped),
    }
}
