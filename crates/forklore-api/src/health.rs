//! Types of `doctor`: checks of a store and its environment.

use forklore_core::report::Check;
use serde::{Deserialize, Serialize};

/// The answer of `doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Doctor {
    /// Whether all checks passed.
    pub ok: bool,
    /// The checks, in the order in which they ran.
    pub checks: Vec<Check>,
}
