//! Reports files that have not changed since the last import.

use std::path::Path;

use forklore_engine::sources::path_text;
use forklore_engine::{Engine, Result};
use forklore_store::sources::Source;

use crate::file_session::{FileSession, Following};
use crate::report::{
    ImportReport, ImportedFile, ImportedSession, OfFile as _, OfSession as _, Problem, ProblemKind,
    deleted_sessions,
};
use crate::resume_state::ResumeState;

/// Adds a file that has not changed since its last import, and its sessions, to the import report.
/// Does not read the file.
pub(crate) fn report(
    engine: &Engine,
    path: &Path,
    source: &Source,
    report: &mut ImportReport,
) -> Result<()> {
    let leaf = ResumeState::read(&source.read.state).leaf().and_then(|at| usize::try_from(at).ok());
    let leaf = leaf.and_then(|at| source.sessions.get(at)).map(|leaf| leaf.id.clone());
    let mut file = ImportedFile {
        path: path_text(path),
        first: None,
        leaf,
        sessions: Vec::new(),
        bytes: 0,
        continued: !source.sessions.is_empty(),
        brought: false,
    };
    let mut deleted = 0;
    for session in &source.sessions {
        let header = engine.store().header(&session.id)?;
        let session = FileSession::stored(&header, session.events);
        if session.following == Following::Deleted {
            deleted += 1;
            continue;
        }
        file.sessions.push(session.id.clone());
        report.sessions.push(ImportedSession::of(&source.dialect, &session, header));
    }
    if deleted > 0 {
        let message = deleted_sessions(deleted);
        report.problems.push(Problem::of_file(path, ProblemKind::Deleted, message));
    }
    if file.sessions.is_empty() {
        report.skipped += 1;
    } else {
        report.files += 1;
        report.unchanged += 1;
        file.first = source.sessions.first().map(|first| first.id.clone());
    }
    report.sources.push(file);
    Ok(())
}
