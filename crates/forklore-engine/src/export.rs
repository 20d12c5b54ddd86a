//! `export`: writes a session in another format, plain JSON lines or an agent's own.

mod exchange;
mod file;
mod plain;

use std::collections::BTreeMap;

use forklore_api::LeftOut;

pub use file::Outgoing;

/// Number of events left out, by type.
type Losses = BTreeMap<String, u64>;

fn listed(losses: Losses) -> Vec<LeftOut> {
    losses.into_iter().map(|(kind, count)| LeftOut { kind, count }).collect()
}
