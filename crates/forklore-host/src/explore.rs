//! Runs several continuations of one session concurrently, and compares them.
//!
//! Each continuation is a fork at the same cut, so that all requests begin with the same bytes. The
//! first continuation runs alone until its answer begins. Then the provider has cached the prefix,
//! and the other continuations run concurrently.

mod discard;
mod judge;
mod labels;
mod make;
mod mark;
mod plan;
mod run;
mod test_counts;

use std::time::Duration;

use forklore_agent::Status;
pub use forklore_api::{Continuation as Row, ContinuationState as State, Explore};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use discard::discard;
pub use judge::{Judge, Verdict};
pub use labels::Labels;
pub use mark::record as record_mark;
pub use plan::{MOST, Plan, Try, tries};

use crate::{Error, Host, Result};

/// Records in `row` that its continuation failed with `error`.
fn fail(row: &mut Row, error: &Error) {
    row.state = State::Failed;
    row.error = Some(error.to_string());
}

/// A changed row of an exploration's result: its index, from 0, and the row as it is now.
type Changed = (usize, Row);

/// Runs an exploration (several continuations of a session), and returns one row for each
/// continuation. Calls `changed` with the index and the new contents of each row that changed.
///
/// Cancelling `cancel` interrupts the continuations that run and starts no others. Each fork stays
/// stored with its answer so far, and can be resumed.
///
/// # Errors
/// Returns an error if the cut does not exist, a model is not configured or lacks its key, or the
/// judge's program does not exist. After such an error, no fork exists.
pub async fn explore(
    host: &Host,
    plan: &Plan,
    cancel: &CancellationToken,
    changed: &mut impl FnMut(usize, &Row),
) -> Result<Vec<Row>> {
    if let Some(judge) = &plan.judge {
        judge.find()?;
    }
    let mut rows: Vec<Row> = plan.tries.iter().map(Try::waiting).collect();
    let branches = make::all(host, plan, &mut rows).await?;
    for (at, row) in rows.iter().enumerate() {
        changed(at, row);
    }
    let (send, mut changes) = mpsc::unbounded_channel::<Changed>();
    let running = run::all(host, branches, plan, rows.clone(), send, cancel.clone());
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

/// Returns the state and the error message for the row of a continuation whose turn ended with
/// `status`.
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
