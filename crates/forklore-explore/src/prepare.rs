//! Prepares the attempts: a branch, a session file and a worktree each.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forklore_api::{ExportTo, Fork, ResumeInRequest};
use forklore_core::export::Unattended;
use forklore_core::workspace::Workspace;
use forklore_core::{Cut, Label, Selector, SessionId};
use forklore_engine::{Delete, DeleteMode};
use forklore_host::CancellationToken;
use forklore_host::explore::{Labels, Row, State, Try};
use forklore_import::{AwaitedSession, Importer, WrittenFrom};
use forklore_workspace::snapshots::SnapshotId;
use forklore_workspace::{NewWorktree, Worktree};
use tempfile::TempDir;

use crate::archive::Archive;
use crate::attempt::{Attempt, Prepared};
use crate::opencode::{self, Opencode};
use crate::{Continuation, Error, Plan, Result, SessionFile, Stores, WriteSessionFile};

/// Where all attempts begin.
struct Start {
    cut: Cut,
    snapshot: SnapshotId,
    commit: Option<String>,
    /// The agent, if it is opencode.
    opencode: Option<Opencode>,
}

/// Prepares all attempts. One that cannot be prepared has its error in its row.
pub(crate) fn all(
    stores: &Stores,
    plan: &Plan,
    rows: Vec<Row>,
    cancel: &CancellationToken,
) -> Result<Vec<Attempt>> {
    let Stores { engine, files, .. } = stores;
    let selector = plan.at.clone().unwrap_or(Selector::End);
    let cut = engine.cut(&plan.session, &selector)?;
    let mut labels = Labels::of(engine, &plan.session, plan.label.as_deref())?;
    let is_opencode = plan.agent == opencode::NAME;
    let opencode = is_opencode.then(|| {
        let folder = Path::new(plan.session.workspace.as_str());
        Opencode::find(folder, cancel)
    });
    let opencode = opencode.transpose()?;
    // Nothing removes the snapshot before the worktrees name it.
    let _shared = files.share()?;
    let (snapshot, commit) = files.state_to_begin_with(engine, &plan.session, plan.at.as_ref())?;
    let start = Start { cut, snapshot, commit, opencode };
    let mut attempts = Vec::with_capacity(rows.len());
    for (tried, mut row) in plan.tries.iter().zip(rows) {
        let prepared = if cancel.is_cancelled() {
            Err(Error::Interrupted)
        } else {
            labels.next_label().map_err(Error::from).and_then(|label| {
                let prepared = one(stores, plan, &start, tried, &label)?;
                row.label = Some(label);
                Ok(prepared)
            })
        };
        let prepared = match prepared {
            Ok(prepared) => {
                row.session_id = Some(prepared.session.clone());
                if let Some(work) = &mut row.work {
                    work.folder = Some(prepared.worktree.folder.clone());
                }
                Some(prepared)
            }
            Err(error) => {
                let is_stopped = matches!(error, Error::Interrupted);
                row.state = if is_stopped { State::Interrupted } else { State::Failed };
                row.error = (!is_stopped).then(|| error.to_string());
                None
            }
        };
        attempts.push(Attempt { row, prepared });
    }
    Ok(attempts)
}

fn one(
    stores: &Stores,
    plan: &Plan,
    start: &Start,
    tried: &Try,
    label: &Label,
) -> Result<Prepared> {
    let folder = stores.files.folder_of_fork(&plan.session, label);
    let run = plan.unattended(tried);
    let write = match &stores.continuation {
        Continuation::File(write) => write,
        Continuation::Store(go_on) => {
            let fork = Fork {
                at: Some(start.cut.selector()),
                label: Some(label.clone()),
                workspace: Some(Workspace::new(&folder.to_string_lossy())),
                ..Fork::of(plan.session.id.clone())
            };
            let session = stores.engine.fork(&fork)?.child_session_id;
            let commands = vec![go_on(&session, &run)];
            let worktree = worktree(stores, plan, start, session, folder)?;
            let (session, archive) = (worktree.session.clone(), Archive::Store);
            let (input, document) = (Some(tried.prompt.clone()), None);
            return Ok(Prepared { session, worktree, commands, input, archive, document });
        }
    };
    let written = Written::of(write, plan, start, &run, &folder)?;
    let from = WrittenFrom {
        session: plan.session.id.clone(),
        at: start.cut.selector(),
        workspace: Workspace::new(&folder.to_string_lossy()),
    };
    let made = branch(stores, plan, from, &written, label)
        .and_then(|session| worktree(stores, plan, start, session, folder));
    match made {
        Ok(worktree) => Ok(written.prepared(plan, tried, worktree)),
        Err(error) => {
            // The agent has not seen the file. A file that stays is only one more session there.
            let _ = fs::remove_file(&written.file.path);
            Err(error)
        }
    }
}

/// Makes the folder of an attempt. If that fails, its branch goes too.
fn worktree(
    stores: &Stores,
    plan: &Plan,
    start: &Start,
    session: SessionId,
    folder: PathBuf,
) -> Result<Worktree> {
    let new = NewWorktree {
        session,
        workspace: PathBuf::from(plan.session.workspace.as_str()),
        folder,
        snapshot: start.snapshot,
        commit: start.commit.clone(),
    };
    stores.files.create_worktree(&new).map_err(|error| {
        discard(stores, new.session);
        error.into()
    })
}

/// The session file of an attempt.
struct Written {
    file: SessionFile,
    /// The session that opencode will have of the file, and the folder of the file.
    awaited: Option<(AwaitedSession, TempDir)>,
}

impl Written {
    /// Writes the session file of an attempt.
    fn of(
        write: &WriteSessionFile,
        plan: &Plan,
        start: &Start,
        run: &Unattended,
        folder: &Path,
    ) -> Result<Self> {
        let private = start.opencode.as_ref().map(|_| opencode::document_folder()).transpose()?;
        let request = ResumeInRequest {
            session_id: plan.session.id.clone(),
            to: ExportTo {
                dialect: plan.agent.clone(),
                at: Some(start.cut.selector()),
                cwd: Some(folder.to_string_lossy().into_owned()),
            },
            home: private.as_ref().map(|private| private.path().to_owned()),
            share: false,
            dry_run: false,
        };
        let mut file = write(&request, run).map_err(Error::SessionFile)?;
        let awaited = match start.opencode.as_ref().zip(private) {
            Some((opencode, private)) => {
                Some((opencode.complete(&mut file, run.model.is_some())?, private))
            }
            None => None,
        };
        Ok(Self { file, awaited })
    }

    fn prepared(self, plan: &Plan, tried: &Try, worktree: Worktree) -> Prepared {
        let SessionFile { path, commands, reads_prompt } = self.file;
        // Gemini goes on in another file once the minute has changed.
        let is_folder = plan.agent == "gemini";
        let parent = path.parent().filter(|_| is_folder).map(Path::to_path_buf);
        let (archive, document) = match self.awaited {
            Some((AwaitedSession { container, id, .. }, document)) => {
                (Archive::Database { path: container, id }, Some(Arc::new(document)))
            }
            None => (Archive::Files(parent.unwrap_or(path)), None),
        };
        let session = worktree.session.clone();
        let input = reads_prompt.then(|| tried.prompt.clone());
        Prepared { session, worktree, commands, input, archive, document }
    }
}

/// Makes the branch of an attempt: imports the session file that was written for it, or begins the
/// branch of the session that the agent will have.
fn branch(
    stores: &Stores,
    plan: &Plan,
    from: WrittenFrom,
    written: &Written,
    label: &Label,
) -> Result<SessionId> {
    let importer = Importer::new(&stores.engine);
    let session = match &written.awaited {
        Some((awaited, _)) => importer.begin_awaited(&plan.agent, awaited, from)?,
        None => {
            let path = &written.file.path;
            let imported = importer.import_written(&plan.agent, path, from)?;
            imported.ok_or_else(|| Error::NoSession { path: path.clone() })?
        }
    };
    if let Err(error) = stores.engine.label(&session, label) {
        discard(stores, session);
        return Err(error.into());
    }
    Ok(session)
}

/// Takes back what was made for an attempt whose agent did not begin.
pub(crate) fn take_back(stores: &Stores, prepared: Prepared) {
    // A folder that stays is listed.
    let _ = stores.files.remove_worktree(&prepared.worktree.folder);
    discard(stores, prepared.session);
}

/// Puts the branch of an attempt that cannot begin into the trash.
fn discard(stores: &Stores, session: SessionId) {
    let mode = DeleteMode::default();
    // A branch that stays is empty.
    let _ = stores.engine.delete(&Delete { session, mode, dry_run: false, erase: false });
}
