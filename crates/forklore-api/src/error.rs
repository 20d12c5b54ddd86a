//! Why a verb failed, as every front end reports it.

use forklore_core::ErrorKind;
use serde::{Deserialize, Serialize};

use crate::Facts;

/// The answer of a verb that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Refusal {
    /// Always `false`.
    pub ok: bool,
    /// Why the verb failed.
    pub error: ErrorObject,
}

/// Why a verb failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorObject {
    /// The error kind. It is stable, so scripts may rely on it.
    pub kind: ErrorKind,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Machine-readable facts about the error.
    pub details: Facts,
    /// What the user may do next: commands of the front end that answers, or sentences.
    pub next_actions: Vec<String>,
}
