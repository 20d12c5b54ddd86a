//! Types of `graph`: sessions as RDF, and its vocabulary.

use std::path::PathBuf;
use std::str::FromStr;

use forklore_core::SessionId;
use forklore_core::workspace::Workspace;
use serde::{Deserialize, Serialize};

/// The request of `graph`: the sessions to write as RDF.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// The sessions to write.
    pub scope: GraphScope,
    /// The format to write.
    #[serde(default)]
    pub format: GraphFormat,
    /// The new file to write, on the machine that runs the verb. `null` returns the bytes to the
    /// caller; they travel apart from the JSON.
    pub path: Option<PathBuf>,
}

/// The sessions that a graph covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum GraphScope {
    /// The family of a session, because the graph of any session refers to the others of its
    /// family.
    Family(SessionId),
    /// The families that have a session in a workspace.
    Workspace(Workspace),
    /// All sessions.
    Everything,
}

/// The format of a graph. Formats without named graphs omit the graph of each triple, but the
/// triples of an event name its session too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum GraphFormat {
    /// Turtle: triples, in the most readable form.
    #[default]
    Turtle,
    /// N-Quads: one quad per line, with its named graph.
    NQuads,
    /// TriG: Turtle with named graphs.
    TriG,
    /// JSON-LD, with named graphs.
    JsonLd,
    /// RDF/XML: triples.
    RdfXml,
}

impl GraphFormat {
    /// The names of the formats.
    pub const WORDS: [&'static str; 5] = ["turtle", "nquads", "trig", "jsonld", "rdfxml"];
}

/// The error for a text that names no format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a graph is written as turtle, nquads, trig, jsonld or rdfxml")]
pub struct NotAGraphFormat;

impl FromStr for GraphFormat {
    type Err = NotAGraphFormat;

    fn from_str(word: &str) -> Result<Self, NotAGraphFormat> {
        match word {
            "turtle" => Ok(Self::Turtle),
            "nquads" => Ok(Self::NQuads),
            "trig" => Ok(Self::TriG),
            "jsonld" => Ok(Self::JsonLd),
            "rdfxml" => Ok(Self::RdfXml),
            _ => Err(NotAGraphFormat),
        }
    }
}

/// A part of the graph's vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum VocabularyPart {
    /// What the terms mean.
    Ontology,
    /// The required form of a graph, in SHACL.
    Shapes,
}

/// The answer of `graph -o PATH`: the file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GraphFile {
    /// The path of the written file.
    pub path: PathBuf,
    /// The number of triples in the file.
    pub triples: u64,
}

/// The answer of `graph --ontology` and `graph --shapes`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Vocabulary {
    /// The ontology or the shapes, in Turtle.
    pub turtle: String,
}
