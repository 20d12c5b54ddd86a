//! Takes over what an agent wrote: its records as events, its files as a snapshot.

use std::path::PathBuf;

use forklore_api::event::TurnUsage;
use forklore_api::{FilesState, UsageScope};
use forklore_core::workspace::Workspace;
use forklore_core::{Header, Message, Role, SessionId, SessionKind, Usage};
use forklore_engine::{Engine, UsageOptions};
use forklore_host::explore::Row;
use forklore_import::{ImportOptions, Importer};

use crate::attempt::Prepared;
use crate::{Error, Plan, Result, Stores};

/// Where an agent writes the session of an attempt.
#[derive(Clone, Debug)]
pub(crate) enum Archive {
    /// Into a file, or into files of a folder.
    Files(PathBuf),
    /// Into a database, as the session with this id.
    Database { path: PathBuf, id: String },
    /// Into the store itself.
    Store,
}

/// Imports what an agent wrote. Returns the sessions that got something.
fn import(engine: &Engine, agent: &str, archive: &Archive) -> Result<Vec<SessionId>> {
    let importer = Importer::new(engine);
    let report = match archive {
        Archive::Store => return Ok(Vec::new()),
        Archive::Database { path, id } => importer.import_only(agent, path, id)?,
        Archive::Files(path) => {
            let workspace = Workspace::new(&path.parent().unwrap_or(path).to_string_lossy());
            let from = Some(agent.to_owned());
            let options = ImportOptions { from, ..ImportOptions::in_workspace(workspace) };
            importer.import(&[path.to_owned()], &options, &mut |_| {})?
        }
    };
    Ok(report.sessions.into_iter().map(|imported| imported.session_id).collect())
}

/// Imports what the agent has written since the last time, and updates the row.
pub(crate) fn follow(stores: &Stores, plan: &Plan, of: &Prepared, row: &mut Row) -> Result<()> {
    let engine = &stores.engine;
    let imported = import(engine, &plan.agent, &of.archive)?;
    let mut latest = engine.show(&of.session)?;
    for session in imported {
        let header = engine.show(&session)?;
        let is_delegate = header.kind == SessionKind::Delegate;
        if header.root_id == latest.root_id && header.updated > latest.updated && !is_delegate {
            latest = header;
        }
    }
    if let Some(answer) = last_answer(engine, &latest)? {
        row.answer = answer;
    }
    let options = UsageOptions { prices: plan.prices.clone(), ..UsageOptions::default() };
    let scope = UsageScope::Session(latest.id.clone());
    let usage = engine.usage_report_with(&scope, &options)?.usage;
    let cost = Some(usage.cost).filter(|cost| *cost > 0.0);
    let Usage { input, output, cached, .. } = usage;
    row.usage = TurnUsage { input, output, cached, cost };
    row.session_id = Some(latest.id);
    Ok(())
}

/// Checks that the folder of the attempt is still a folder. A link in its place would lead to files
/// that are none of the attempt's.
pub(crate) fn has_folder(of: &Prepared) -> Result<()> {
    let folder = &of.worktree.folder;
    match folder.symlink_metadata() {
        Ok(found) if found.is_dir() => Ok(()),
        _ => Err(Error::NoFolder { path: folder.clone() }),
    }
}

/// Records the files of the attempt, and how they differ from those with which it began.
pub(crate) fn files(stores: &Stores, of: &Prepared, row: &mut Row) -> Result<()> {
    has_folder(of)?;
    let session = row.session_id.as_ref().unwrap_or(&of.session);
    let header = stores.engine.show(session)?;
    let folder = &of.worktree.folder;
    let after = stores.files.snapshot(&stores.engine, &header, folder)?.snapshot;
    let state = |snapshot: String| FilesState {
        session_id: None,
        seq: None,
        folder: folder.clone(),
        snapshot,
    };
    let before = state(of.worktree.snapshot.to_string());
    let found = stores.files.diff(before, state(after), false)?.answer;
    if let Some(work) = &mut row.work {
        work.files = found.changes.len() as u64;
        (work.added, work.removed) = (found.added, found.removed);
    }
    Ok(())
}

/// Returns the last text of the agent in the events of a branch itself.
fn last_answer(engine: &Engine, header: &Header) -> Result<Option<String>> {
    let own = header.counts.index.saturating_sub(header.inherited.index);
    let messages = engine.inspect(&header.id)?.messages;
    let own = messages.iter().rev().take(usize::try_from(own).unwrap_or(usize::MAX));
    let texts = own.filter(|message| message.role == Role::Assistant);
    Ok(texts.map(Message::plain_text).find(|text| !text.trim().is_empty()))
}
