//! Runs several continuations of one session concurrently, and compares them.
//!
//! Each continuation is a fork at the same cut, so that all requests begin with the same bytes. The
//! first continuation runs alone until its answer begins. Then the provider has cached the prefix,
//! and the other continuations run concurrently.

mod judge;
mod labels;
mod make;
mod run;

use std::time::Duration;

use forklore_agent::{Status, TurnUsage};
pub use forklore_api::{Continuation as Row, ContinuationState as State};
use forklore_core::{Header, Selector};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use judge::Judge;

use crate::{Error, Host, Result};

/// An exploration to run: the session, the cut, the continuations and their judge.
#[derive(Clone, Debug)]
pub struct Explore {
    /// The session to continue.
    pub session: Header,
    /// The cut at which the continuations begin. `None` is the end of the session.
    pub at: Option<Selector>,
    /// The continuations to run.
    pub tries: Vec<Try>,
    /// The program that scores the answers. `None` means that the answers get no score.
    pub judge: Option<Judge>,
    /// The prefix of the forks' labels; each label adds `-` and a number. `None` derives the labels
    /// from the session's label: `try-1` for a root, `plan-b.1` for the fork `plan-b`.
    pub label: Option<String>,
    /// The maximum number of continuations that run concurrently.
    pub jobs: usize,
}

/// One continuation to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Try {
    /// The configured name of the model that answers.
    pub model: String,
    /// The prompt that the continuation answers.
    pub prompt: String,
}

/// The maximum number of continuations that [`tries`] creates. Providers do not answer more
/// requests at once.
pub const MOST: usize = 64;
/// The default number of continuations of one prompt and one model.
const USUAL: usize = 4;

/// Creates `n` continuations: pairs each prompt with each model, and repeats the list of pairs
/// until there are `n`. If `n` is `None`, creates one continuation for each pair, or four for a
/// single pair.
///
/// # Errors
/// `invalid_args` if `n` is 0 or more than [`MOST`], or if there is no prompt or no model.
pub fn tries(prompts: &[String], models: &[String], n: Option<usize>) -> Result<Vec<Try>> {
    let pair =
        |prompt: &String, model: &String| Try { model: model.clone(), prompt: prompt.clone() };
    let all: Vec<Try> = prompts
        .iter()
        .flat_map(|prompt| models.iter().map(move |model| pair(prompt, model)))
        .collect();
    let n = n.unwrap_or(if all.len() > 1 { all.len() } else { USUAL });
    if n == 0 || n > MOST {
        return Err(Error::invalid(format!("{n} continuations: between 1 and {MOST} are tried")));
    }
    if all.is_empty() {
        return Err(Error::invalid("there is nothing to say: write it behind the session"));
    }
    Ok(all.iter().cycle().take(n).cloned().collect())
}

/// Returns the row of a continuation that has not started.
fn waiting(tried: &Try) -> Row {
    Row {
        session_id: None,
        label: None,
        model: tried.model.clone(),
        prompt: tried.prompt.clone(),
        answer: String::new(),
        state: State::Waiting,
        usage: TurnUsage::default(),
        seconds: 0.0,
        score: None,
        error: None,
    }
}

/// Marks the continuation of a row as failed with this error.
fn fail(row: &mut Row, error: &Error) {
    row.state = State::Failed;
    row.error = Some(error.to_string());
}

/// The index, from 0, and the new state of a row that changed.
type Changed = (usize, Row);

/// Runs an exploration, and returns one row for each continuation. Calls `changed` with the index
/// and the new state of each row that changed.
///
/// Cancelling `cancel` interrupts the running continuations. Each fork stays stored with its answer
/// so far, and can be resumed.
///
/// # Errors
/// Returns an error if the cut does not exist, a model is not configured or lacks its key, or the
/// judge's program does not exist. After such an error, no fork exists.
pub async fn explore(
    host: &Host,
    explore: &Explore,
    cancel: &CancellationToken,
    changed: &mut impl FnMut(usize, &Row),
) -> Result<Vec<Row>> {
    if let Some(judge) = &explore.judge {
        judge.find()?;
    }
    let mut rows: Vec<Row> = explore.tries.iter().map(waiting).collect();
    let branches = make::all(host, explore, &mut rows).await?;
    for (at, row) in rows.iter().enumerate() {
        changed(at, row);
    }
    let (send, mut changes) = mpsc::unbounded_channel::<Changed>();
    let running = run::all(branches, explore, rows.clone(), send, cancel.clone());
    let mut running = std::pin::pin!(running);
    let mut take = |(at, row): Changed| {
        changed(at, &row);
        if let Some(before) = rows.get_mut(at) {
            *before = row;
        }
    };
    loop {
        tokio::select! {
            biased;
            Some(change) = changes.recv() => take(change),
            () = &mut running => break,
        }
    }
    while let Ok(change) = changes.try_recv() {
        take(change);
    }
    Ok(rows)
}

/// Returns the state and the error message of a row whose turn ended with `status`.
fn state_of(status: &Status) -> (State, Option<String>) {
    match status {
        Status::Success => (State::Done, None),
        Status::Cancelled => (State::Interrupted, None),
        Status::Incomplete(why) => (State::Interrupted, Some(why.clone())),
    }
}

/// Returns a duration in seconds, rounded to two decimals.
fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 100.0).round() / 100.0
}
