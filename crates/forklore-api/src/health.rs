//! Types of `doctor`: checks of a store and its environment.

use forklore_core::report::Check;
use serde::{Deserialize, Serialize};

/// The answer of `doctor`: the checks of the store and its environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Doctor {
    /// `true` if no check of the store and its environment found a problem. Warnings do not count.
    pub ok: bool,
    /// The checks that `doctor` made, in the order in which they ran.
    pub checks: Vec<Check>,
}
