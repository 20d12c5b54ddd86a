//! `export`: writes a session as plain JSON lines or in the session-file format of an agent.

mod exchange;
mod file;
mod plain;
mod tool_names;

use std::collections::BTreeMap;

use forklore_api::LeftOut;

pub use file::Outgoing;

/// The number of events that an export could not write, by event type.
type Losses = BTreeMap<String, u64>;

fn listed(losses: Losses) -> Vec<LeftOut> {
    losses.into_iter().map(|(kind, count)| LeftOut { kind, count }).collect()
}
