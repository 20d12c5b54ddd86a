//! Why a verb was not carried out, as every face says it.

use forklore_core::ErrorKind;
use serde::{Deserialize, Serialize};

use crate::Facts;

/// The answer of a verb that was not carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Refusal {
    /// Always `false`.
    pub ok: bool,
    /// Why.
    pub error: ErrorObject,
}

/// Why a verb was not carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorObject {
    /// The kind, on which a script may rely.
    pub kind: ErrorKind,
    /// What is wrong, in a sentence.
    pub message: String,
    /// What a script may want to know besides the kind.
    pub details: Facts,
    /// What the user may do next, as commands of the face that answers, or sentences.
    pub next_actions: Vec<String>,
}
