//! The error of a verb, as every front end reports it.

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
    /// A description of the error, in one sentence.
    pub message: String,
    /// Machine-readable facts about the error.
    pub details: Facts,
    /// Suggestions for what to do next. Each is a command of the front end that reported the error,
    /// or a sentence.
    pub next_actions: Vec<String>,
}
