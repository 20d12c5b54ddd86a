//! The error of a verb, as every front end reports it.

use forklore_core::ErrorKind;
use serde::{Deserialize, Serialize};

use crate::Facts;

/// The JSON object that a failed verb (forklore command) prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Refusal {
    /// Always `false`: the verb failed.
    pub ok: bool,
    /// Why the verb failed.
    pub error: ErrorObject,
}

/// Why a verb failed: the kind of the error, a message, details and suggestions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorObject {
    /// The kind of the error, for scripts. The names of kinds do not change between versions.
    pub kind: ErrorKind,
    /// A description of the error, in one sentence.
    pub message: String,
    /// Machine-readable details of the error. Which fields they have depends on the error.
    pub details: Facts,
    /// Suggestions for what to do next. Each is a sentence, or a command line of the program that
    /// reported the error.
    pub next_actions: Vec<String>,
}
