//! Several continuations of one session at once, and which of them is best.
//!
//! Each is a fork at the same place, so their requests begin with the same bytes. The first one
//! goes ahead until its answer begins; then the prefix is in the provider's cache, and the others
//! follow together.

mod judge;
mod make;
mod run;

use std::time::Duration;

use forklore_agent::{Spent, Status};
use forklore_core::{Header, Label, Selector, SessionId};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use judge::Judge;

use crate::{Error, Result, Stop, Supplies};

/// What is explored.
#[derive(Clone, Debug)]
pub struct Explore {
    /// From where.
    pub session: Header,
    /// At which place of it; none is the end.
    pub at: Option<Selector>,
    /// What is tried.
    pub tries: Vec<Try>,
    /// What gives the answers marks.
    pub judge: Option<Judge>,
    /// What the labels of the forks begin with, before a number. None says from where they come:
    /// `try-1` from the root, `plan-b.1` from its fork `plan-b`.
    pub label: Option<String>,
    /// How many run at once.
    pub jobs: usize,
}

/// One continuation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Try {
    /// Who answers, by the name in the configuration.
    pub model: String,
    /// What is said.
    pub prompt: String,
}

/// What a continuation has come to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The fork; none where it could not be made.
    pub session_id: Option<SessionId>,
    /// Its label.
    pub label: Option<Label>,
    /// Who answers.
    pub model: String,
    /// What was said.
    pub prompt: String,
    /// The answer, as far as it came.
    pub answer: String,
    /// How far it is, or how it ended.
    pub state: State,
    /// What it took.
    pub usage: Spent,
    /// How long it took.
    pub seconds: f64,
    /// The mark that the judge gave.
    pub score: Option<f64>,
    /// What went wrong, with the continuation or its judge.
    pub error: Option<String>,
}

/// How far a continuation is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It waits for the first one to warm the cache, or for a free place.
    #[default]
    Waiting,
    /// The model was asked.
    Asked,
    /// The answer is coming.
    Answering,
    /// The judge has it.
    Judged,
    /// It is whole.
    Done,
    /// It was interrupted, or cut short: it can be resumed.
    Interrupted,
    /// It failed; it can be resumed.
    Failed,
}

impl Row {
    fn new(tried: &Try) -> Self {
        Self {
            session_id: None,
            label: None,
            model: tried.model.clone(),
            prompt: tried.prompt.clone(),
            answer: String::new(),
            state: State::Waiting,
            usage: Spent::default(),
            seconds: 0.0,
            score: None,
            error: None,
        }
    }

    fn fail(&mut self, error: &Error) {
        self.state = State::Failed;
        self.error = Some(error.to_string());
    }
}

/// What is told of a row that changed: its number and how it is now.
pub type Changed = (usize, Row);

/// What exploring came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Explored {
    /// A row for each continuation.
    pub rows: Vec<Row>,
    /// Who interrupted it.
    pub stopped: Option<Stop>,
}

/// Explores. `seen` is called with each row that changed. Ctrl-C, SIGTERM and SIGHUP cancel, and
/// cancelling interrupts what runs: each fork keeps what it has, and can be resumed. A second one
/// waits for nothing.
///
/// # Errors
/// When the place does not exist, or a model is not configured or lacks its key: then nothing is
/// forked.
pub fn explore(
    supplies: &Supplies,
    explore: &Explore,
    cancel: &CancellationToken,
    seen: &mut dyn FnMut(usize, &Row),
) -> Result<Explored> {
    let mut interrupts = supplies.interrupts();
    let mut rows: Vec<Row> = explore.tries.iter().map(Row::new).collect();
    let branches = make::all(supplies, explore, &mut rows)?;
    for (at, row) in rows.iter().enumerate() {
        seen(at, row);
    }
    let (told, mut changes) = mpsc::unbounded_channel::<Changed>();
    let running = run::all(branches, explore, rows.clone(), told, cancel.clone());
    let mut stopped = None;
    supplies.runtime().block_on(async {
        let mut running = std::pin::pin!(running);
        loop {
            tokio::select! {
                biased;
                Some((at, row)) = changes.recv() => {
                    seen(at, &row);
                    if let Some(place) = rows.get_mut(at) {
                        *place = row;
                    }
                }
                () = &mut running => break,
                stop = interrupts.next() => {
                    stopped.get_or_insert(stop);
                    if cancel.is_cancelled() {
                        break;
                    }
                    cancel.cancel();
                }
            }
        }
        while let Ok((at, row)) = changes.try_recv() {
            seen(at, &row);
            if let Some(place) = rows.get_mut(at) {
                *place = row;
            }
        }
    });
    supplies.keep(interrupts);
    Ok(Explored { rows, stopped })
}

/// How a turn ended, for its row.
fn state_of(status: &Status) -> (State, Option<String>) {
    match status {
        Status::Success => (State::Done, None),
        Status::Cancelled => (State::Interrupted, None),
        Status::Incomplete(why) => (State::Interrupted, Some(why.clone())),
    }
}

/// A time for people and scripts.
fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 100.0).round() / 100.0
}
