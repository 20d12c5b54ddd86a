//! One attempt: an agent works, its work is archived and judged.

use std::sync::Arc;
use std::time::Instant;

use forklore_core::SessionId;
use forklore_host::CancellationToken;
use forklore_host::explore::{Judge, Row, State, record_mark};
use forklore_workspace::Worktree;
use tempfile::TempDir;

use crate::archive::Archive;
use crate::program::Program;
use crate::{Error, Plan, Result, Stores, archive, opencode, prepare};

/// How much longer than a look at what the agent wrote the pause after it is. A look at a large
/// database takes long.
const REST: u32 = 9;

/// An attempt, with its row in the result. `prepared` is `None` if it cannot begin.
pub(crate) struct Attempt {
    pub(crate) row: Row,
    pub(crate) prepared: Option<Prepared>,
}

/// The branch and the folder of an attempt, and the commands of its agent.
#[derive(Clone)]
pub(crate) struct Prepared {
    pub(crate) session: SessionId,
    pub(crate) worktree: Worktree,
    pub(crate) commands: Vec<Vec<String>>,
    /// What the last command reads from its standard input.
    pub(crate) input: Option<String>,
    pub(crate) archive: Archive,
    /// The folder of the document that the first command imports. It is removed with this value.
    pub(crate) document: Option<Arc<TempDir>>,
}

impl Attempt {
    /// Runs the attempt to its end, and passes each new state of the row to `report`.
    pub(crate) async fn run(
        self,
        stores: &Stores,
        plan: &Plan,
        cancel: &CancellationToken,
        report: &(dyn Fn(&Row) + Sync),
    ) {
        let Self { mut row, prepared } = self;
        report(&row);
        let Some(prepared) = prepared else { return };
        if cancel.is_cancelled() {
            row.state = State::Interrupted;
            return report(&row);
        }
        row.state = State::Requested;
        report(&row);
        let began = Instant::now();
        let prepared = match set_up(prepared, plan, cancel).await {
            Ok(prepared) => prepared,
            Err((prepared, error)) => {
                take_back(stores, prepared, &mut row, &error).await;
                return report(&row);
            }
        };
        let ran = work(stores, plan, &prepared, &mut row, cancel, report).await;
        let ran = ran.and_then(|()| archive::has_folder(&prepared));
        row.seconds = (began.elapsed().as_secs_f64() * 100.0).round() / 100.0;
        let archived = blocking(stores, plan, &prepared, &row, |stores, plan, of, row| {
            archive::follow(stores, plan, of, row)?;
            archive::files(stores, of, row)
        });
        let archived = archived.await.map(|archived| row = archived);
        row.state = match &ran {
            Ok(()) => State::Done,
            Err(Error::Interrupted) => State::Interrupted,
            Err(_) => State::Failed,
        };
        let failed = ran.err().filter(|error| !matches!(error, Error::Interrupted));
        row.error = failed.or(archived.err()).map(|error| error.to_string());
        if let Some(judge) = plan.judge.as_ref().filter(|_| row.state == State::Done) {
            judged(stores, judge, &prepared, &mut row, cancel, report).await;
        }
        report(&row);
    }
}

/// Runs the commands before the last one, with which the agent gets the session. Removes the document
/// that they read. Returns what remains to be done, or why it cannot begin.
async fn set_up(
    mut prepared: Prepared,
    plan: &Plan,
    cancel: &CancellationToken,
) -> Result<Prepared, (Prepared, Error)> {
    let last = prepared.commands.split_off(prepared.commands.len().saturating_sub(1));
    for command in std::mem::replace(&mut prepared.commands, last) {
        let ended = async {
            let mut running = Program::start(&command, &prepared.worktree.folder, None)?;
            while !running.has_ended(plan.timeout, cancel).await? {}
            Ok(())
        };
        if let Err(error) = ended.await {
            return Err((prepared, error));
        }
    }
    prepared.document = None;
    Ok(prepared)
}

/// Takes back what was made for an attempt that could not begin, and states why in its row.
async fn take_back(stores: &Stores, prepared: Prepared, row: &mut Row, error: &Error) {
    if let Archive::Database { id, .. } = &prepared.archive {
        opencode::forget(id, &prepared.worktree.folder).await;
    }
    let stores = stores.clone();
    let discarded = move || prepare::take_back(&stores, prepared);
    // What stays is listed, as after a process that was killed.
    let _ = tokio::task::spawn_blocking(discarded).await;
    (row.session_id, row.label) = (None, None);
    if let Some(work) = &mut row.work {
        work.folder = None;
    }
    let is_stopped = matches!(error, Error::Interrupted);
    row.state = if is_stopped { State::Interrupted } else { State::Failed };
    row.error = (!is_stopped).then(|| error.to_string());
}

/// Runs the agent. Takes over what it writes while it works.
async fn work(
    stores: &Stores,
    plan: &Plan,
    prepared: &Prepared,
    row: &mut Row,
    cancel: &CancellationToken,
    report: &(dyn Fn(&Row) + Sync),
) -> Result<()> {
    let (folder, input) = (&prepared.worktree.folder, prepared.input.as_deref());
    for command in &prepared.commands {
        let mut running = Program::start(command, folder, input)?;
        let mut rest_until = Instant::now();
        while !running.has_ended(plan.timeout, cancel).await? {
            if Instant::now() < rest_until {
                continue;
            }
            let began = Instant::now();
            let followed = blocking(stores, plan, prepared, row, |stores, plan, of, row| {
                archive::follow(stores, plan, of, row)
            });
            // What cannot be read now is read at the end.
            if let Ok(followed) = followed.await {
                *row = followed;
            }
            if !row.answer.is_empty() {
                row.state = State::Answering;
            }
            report(row);
            rest_until = Instant::now() + began.elapsed() * REST;
        }
    }
    Ok(())
}

/// Gives a mark to the files of the attempt, and records the mark.
async fn judged(
    stores: &Stores,
    judge: &Judge,
    prepared: &Prepared,
    row: &mut Row,
    cancel: &CancellationToken,
    report: &(dyn Fn(&Row) + Sync),
) {
    row.state = State::Judging;
    report(row);
    match judge.judge_folder(&prepared.worktree.folder, &row.answer, cancel).await {
        Ok(verdict) => {
            row.score = Some(verdict.score);
            row.error = verdict.why.or(row.error.take());
            if let Some(work) = &mut row.work {
                work.tests = verdict.tests;
            }
        }
        Err(error) => row.error = Some(error),
    }
    row.state = State::Done;
    if let Err(why) = record_mark(&stores.engine, &judge.line(), row).await {
        row.error.get_or_insert(why);
    }
}

/// Runs a step that reads or writes the store, and returns the row as it is then.
async fn blocking(
    stores: &Stores,
    plan: &Plan,
    prepared: &Prepared,
    row: &Row,
    step: impl Fn(&Stores, &Plan, &Prepared, &mut Row) -> Result<()> + Send + 'static,
) -> Result<Row> {
    let (stores, plan, of, mut row) = (stores.clone(), plan.clone(), prepared.clone(), row.clone());
    let step = move || step(&stores, &plan, &of, &mut row).map(|()| row);
    tokio::task::spawn_blocking(step).await.map_err(|_| Error::Panicked)?
}
