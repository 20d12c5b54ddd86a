//! `export`: a session in another form, plain or an agent's own.

mod exchange;
mod file;
mod plain;

use std::collections::BTreeMap;

use forklore_api::LeftOut;

pub use file::Outgoing;

/// What was left out, with counts.
type Losses = BTreeMap<String, u64>;

fn listed(losses: Losses) -> Vec<LeftOut> {
    losses.into_iter().map(|(kind, count)| LeftOut { kind, count }).collect()
}
