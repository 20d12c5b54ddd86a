//! Coding agents that go on with one session side by side, each in a folder of its own.
//!
//! Each attempt is a branch of the session. It begins with the history and the files of the cut: the
//! history is written as a session file of the agent, the files are put into a worktree. The agent
//! then works there without a person. What it writes into its file becomes events of the branch,
//! while it works and at the end (docs/semantics.md, Sources). Forklore's own agent works on the branch
//! itself. A judge gives marks to the files.
//!
//! [`explore`] runs the attempts of a [`Plan`]. Nothing is removed at the end, not even after an
//! interruption: branches can be gone on with, and worktrees are in the list of worktrees.

mod archive;
mod attempt;
mod error;
mod opencode;
mod plan;
mod prepare;
mod program;

use std::sync::Arc;

use forklore_engine::Engine;
use forklore_host::explore::{Row, State};
use forklore_host::{CancellationToken, is_installed};
use forklore_workspace::WorkspaceFiles;
use futures_util::future::join_all;
use tokio::sync::{Semaphore, mpsc};

pub use self::error::{Error, Result};
pub use self::plan::{Continuation, GoOnInStore, Plan, SessionFile, WriteSessionFile};

/// Where the attempts are stored, and how the agent gets the session.
#[derive(Clone)]
pub struct Stores {
    /// The sessions.
    pub engine: Engine,
    /// The states of files.
    pub files: Arc<WorkspaceFiles>,
    /// How the agent gets a session.
    pub continuation: Continuation,
}

/// The result of an exploration.
#[derive(Clone, Debug, PartialEq)]
pub struct Explored {
    /// One row for each attempt, in the order of the plan.
    pub rows: Vec<Row>,
    /// Whether the agents were stopped because they cost too much.
    pub over_budget: bool,
}

/// Runs all attempts of a plan, and returns one row for each. Calls `changed` with the index and the
/// new contents of each row that changed.
///
/// Cancelling `cancel`, or exceeding the maximum cost, ends the agents that work and starts no others. What they did until then is
/// archived.
///
/// # Errors
/// If the cut does not exist, the history names no snapshot there, the label is invalid, or the
/// program of the agent or of the judge does not exist. Nothing was made then. What fails later is in the rows.
pub async fn explore(
    stores: &Stores,
    plan: &Plan,
    cancel: &CancellationToken,
    changed: &mut impl FnMut(usize, &Row),
) -> Result<Explored> {
    if let Some(judge) = &plan.judge {
        judge.find()?;
    }
    // The program of each agent that has files of its own has the agent's name.
    if matches!(stores.continuation, Continuation::File(_)) && !is_installed(&plan.agent) {
        return Err(Error::NoProgram { program: plan.agent.clone() });
    }
    let mut rows: Vec<Row> = plan.tries.iter().map(|tried| plan.waiting(tried)).collect();
    let attempts = {
        let (stores, plan, rows) = (stores.clone(), plan.clone(), rows.clone());
        let cancel = cancel.clone();
        let preparing = move || prepare::all(&stores, &plan, rows, &cancel);
        tokio::task::spawn_blocking(preparing).await.map_err(|_| Error::Panicked)??
    };
    // Stops when the caller cancels, or when the agents cost too much.
    let stop = cancel.child_token();
    let (send, mut changes) = mpsc::unbounded_channel();
    let jobs = Arc::new(Semaphore::new(plan.jobs.max(1)));
    let running = attempts.into_iter().enumerate().map(|(at, attempt)| {
        let (send, jobs, stop) = (send.clone(), Arc::clone(&jobs), stop.clone());
        async move {
            // An error is impossible, because the semaphore is never closed.
            let _job = jobs.acquire().await;
            attempt.run(stores, plan, &stop, &|row| drop(send.send((at, row.clone())))).await;
        }
    });
    let mut running = std::pin::pin!(join_all(running));
    let mut take = |(at, mut row): (usize, Row)| {
        // An attempt that the caller interrupts needs no reason.
        if row.state == State::Interrupted && stop.is_cancelled() && !cancel.is_cancelled() {
            row.error = row.error.or_else(|| plan.over_budget());
        }
        changed(at, &row);
        if let Some(before) = rows.get_mut(at) {
            *before = row;
        }
        if plan.max_cost.is_some_and(|most| cost(&rows) > most) {
            stop.cancel();
        }
    };
    loop {
        tokio::select! {
            biased;
            Some(change) = changes.recv() => take(change),
            _ = &mut running => break,
        }
    }
    while let Ok(change) = changes.try_recv() {
        take(change);
    }
    let over_budget = stop.is_cancelled() && !cancel.is_cancelled();
    Ok(Explored { rows, over_budget })
}

fn cost(rows: &[Row]) -> f64 {
    rows.iter().filter_map(|row| row.usage.cost).sum()
}
