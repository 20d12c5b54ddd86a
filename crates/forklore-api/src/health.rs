//! `doctor`: what a look at a store from outside finds.

use forklore_core::report::Check;
use serde::{Deserialize, Serialize};

/// The answer of `doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Doctor {
    /// Whether no check found a problem.
    pub ok: bool,
    /// The checks, in order.
    pub checks: Vec<Check>,
}
