//! `show --files`: shows the snapshot that belongs to a position, or prints a file of it.

use std::io::Write;
use std::path::{Path, PathBuf};

use forklore::api::{NamedPath, ShownSnapshot};
use forklore::core::Selector;
use forklore_sanitize::shell;
use forklore_workspace::Moment;

use super::super::arguments;
use super::super::snapshot::{folder_of, paths};
use crate::app::App;
use crate::failure::Result;
use crate::output::{Output, Page, Tone, bytes, count};
use crate::session_ref::SessionRef;

/// The maximum number of changed paths that are listed.
const NAMED: usize = 200;

/// Which snapshot to show.
pub(super) struct Shown<'a> {
    pub(super) session: &'a SessionRef,
    pub(super) at: Option<&'a str>,
    pub(super) folder: Option<PathBuf>,
    /// The file to print.
    pub(super) get: Option<&'a Path>,
}

pub(super) fn run(shown: &Shown<'_>, app: &App, output: &mut Output) -> Result<()> {
    let at = arguments::selector(shown.at)?.unwrap_or(Selector::End);
    let header = app.stored(shown.session, output)?;
    let folder = folder_of(&header, shown.folder.as_deref())?;
    let moment = Moment { header: &header, at, folder };
    let (engine, files) = (app.engine()?, app.files()?);
    if let Some(path) = shown.get {
        let mut lines = output.lines();
        files.write_file(engine, &moment, path, &mut lines)??;
        lines.flush()?;
        return Ok(());
    }
    let answer = files.show(engine, &moment)?;
    output.answer(&answer, |page| facts(page, &answer))?;
    let id = &header.id;
    // What was recorded while an agent worked has no position of its own.
    let at = match (answer.recorded.seq, shown.at) {
        (Some(seq), _) => format!("seq:{seq}"),
        (None, at) => shell::quoted(at.unwrap_or("end")),
    };
    output.hint(&format!("forklore rewind {id} --at {at} --files"), "go back to these files");
    Ok(())
}

fn facts(page: &mut Page, shown: &ShownSnapshot) {
    page.fact("snapshot", &shown.recorded.snapshot);
    if !shown.present {
        page.put(Tone::Warn, "It is not on this machine: another one recorded it.").end();
    }
    page.fact("folder", shown.recorded.folder.display());
    page.fact("seq", shown.recorded.seq.map(|seq| seq.to_string()).unwrap_or_default());
    page.fact("files", format!("{}, {}", count(shown.files, "file"), bytes(shown.bytes)));
    page.fact("branch", shown.branch.as_deref().unwrap_or_default());
    page.fact("commit", shown.commit.as_deref().unwrap_or_default());
    paths(page, "left out", &shown.left_out);
    match &shown.before {
        None => page.put(Tone::Dim, "It is the first snapshot of the folder.").end(),
        Some(_) => page.put(Tone::Plain, changed(&shown.changes)).end(),
    };
    for change in shown.changes.iter().take(NAMED) {
        page.put(Tone::Warn, format!("  {} ", change.reason)).put(Tone::Strong, &change.path).end();
    }
    if shown.changes.len() > NAMED {
        page.put(Tone::Dim, format!("  ... and {} more", shown.changes.len() - NAMED)).end();
    }
}

fn changed(changes: &[NamedPath]) -> String {
    match changes.len() as u64 {
        0 => "Nothing that is known changed since the snapshot before.".to_owned(),
        number => format!("Since the snapshot before, {} changed:", count(number, "path")),
    }
}
