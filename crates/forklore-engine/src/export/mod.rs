//! `export`: a session in another form, plain or an agent's own.

mod exchange;
mod file;
mod plain;

use std::collections::BTreeMap;

use serde::Serialize;

pub use file::{ExportTo, Outgoing};

/// What an export wrote, and what it could not say in that form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// Lines written.
    pub events: u64,
    /// Types that have no place in the form, with their counts.
    pub lossy: Vec<Lost>,
}

/// Events of a type that were left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lost {
    /// The type.
    #[serde(rename = "type")]
    pub kind: String,
    /// How many.
    pub count: u64,
}

/// What was left out, with counts.
type Losses = BTreeMap<String, u64>;

fn listed(losses: Losses) -> Vec<Lost> {
    losses.into_iter().map(|(kind, count)| Lost { kind, count }).collect()
}
