//! Reports a file that was read.

use forklore_engine::{Engine, Result};
use forklore_sanitize::terminal;

use crate::file_session::Following;
use crate::input::Input;
use crate::records::Records;
use crate::report::{ImportReport, ImportedFile, ImportedSession, OfSession as _, ProblemKind};

/// Adds a file that was read, and its sessions, to the import report. `before` is the byte offset
/// at which this import began to read the file.
pub(crate) fn report(
    engine: &Engine,
    mut input: Input,
    records: &Records<'_>,
    before: u64,
    brought: bool,
    report: &mut ImportReport,
) -> Result<()> {
    let sessions = records.sessions();
    if sessions.is_empty() {
        report.skipped += 1;
        report.problems.extend(input.into_problems());
        return Ok(());
    }
    let is_deleted = |following| following == Following::Deleted;
    let deleted = sessions.iter().filter(|session| is_deleted(session.following)).count();
    if deleted > 0 {
        let message = format!("{deleted} sessions of the file were deleted and stay so");
        input.problem(ProblemKind::Deleted, &message);
    }
    let mut file = ImportedFile {
        path: records.file().path().to_owned(),
        first: None,
        leaf: records.leaf().map(|leaf| leaf.id.clone()),
        sessions: Vec::new(),
        bytes: input.offset() - before,
        brought,
    };
    let dialect = records.file().format().name();
    for session in sessions.iter().filter(|session| !is_deleted(session.following)) {
        let header = engine.store().header(&session.id)?;
        file.sessions.push(session.id.clone());
        report.sessions.push(ImportedSession::of(dialect, session, header));
    }
    if file.bytes > 0 {
        tracing::info!(
            path = %terminal::line(&file.path),
            dialect,
            sessions = file.sessions.len(),
            events = sessions.iter().map(|session| session.appended).sum::<u64>(),
            bytes = file.bytes,
            "imported a file",
        );
    }
    if file.sessions.is_empty() {
        report.skipped += 1;
    } else {
        report.files += 1;
        file.first = sessions.first().map(|first| first.id.clone());
    }
    report.sources.push(file);
    report.problems.extend(input.into_problems());
    Ok(())
}
