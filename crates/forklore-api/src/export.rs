//! `export` and `resume-in`: a session in another form, plain or an agent's own.

use std::path::PathBuf;

use forklore_core::Selector;
use serde::{Deserialize, Serialize};

/// `export`: which agent's form, and how much of the session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ExportTo {
    /// The agent's form.
    pub dialect: String,
    /// Up to where; none is the end.
    pub at: Option<Selector>,
    /// The folder that the agent is to run in; none is the session's.
    pub cwd: Option<String>,
}

/// What an export wrote, and what the form has no words for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Exported {
    /// Lines written.
    pub events: u64,
    /// The types that the form has no words for, with counts.
    pub lossy: Vec<LeftOut>,
}

/// Events of a type that were left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// The type.
    #[serde(rename = "type")]
    pub kind: String,
    /// How many.
    pub count: u64,
}

/// The answer of `export -o PATH`: the file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExportedFile {
    /// The file.
    pub path: PathBuf,
    /// Lines written.
    pub events: u64,
    /// The types that the form has no words for, with counts.
    pub lossy: Vec<LeftOut>,
}

/// The answer of `resume-in`: the agent's file, and how to start the agent on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResumeIn {
    /// Whether this is only a plan.
    pub dry_run: bool,
    /// The file.
    pub path: PathBuf,
    /// The folder that the agent runs in.
    pub cwd: String,
    /// The commands to type.
    pub start: Vec<String>,
    /// Lines written.
    pub events: u64,
    /// The types that the agent's form has no words for, with counts.
    pub lossy: Vec<LeftOut>,
}
