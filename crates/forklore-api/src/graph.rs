//! Types of `graph`: sessions as RDF, and the RDF vocabulary of these graphs.

use std::path::PathBuf;
use std::str::FromStr;

use forklore_core::SessionId;
use forklore_core::workspace::Workspace;
use serde::{Deserialize, Serialize};

/// The request of `graph`: writes sessions as RDF.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// The sessions that the graph contains.
    pub scope: GraphScope,
    /// The RDF format in which the graph is written.
    #[serde(default)]
    pub format: GraphFormat,
    /// The new file to write the graph to, on the machine that executes the request. `null` returns
    /// the bytes to the caller, separately from the JSON.
    pub path: Option<PathBuf>,
    /// Whether to replace the file at `path` if it exists. Without `path`, this field has no
    /// effect.
    #[serde(default)]
    pub overwrite: bool,
}

/// The sessions that a graph or a query covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum GraphScope {
    /// The whole family of this session (the root with all its descendants), because the graph of a
    /// session refers to other sessions of its family.
    Family(SessionId),
    /// All families (roots with all their descendants) that have a session in this workspace.
    Workspace(Workspace),
    /// All sessions of the store.
    Everything,
}

/// The RDF format of a graph. Each session is a named graph, but the triples-only formats (Turtle
/// and RDF/XML) omit the names. In those formats, the triples of an event still name its session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum GraphFormat {
    /// Turtle: triples, in the form that is easiest to read.
    #[default]
    Turtle,
    /// N-Quads: one quad per line, with its named graph.
    NQuads,
    /// TriG: Turtle with named graphs.
    TriG,
    /// JSON-LD with named graphs.
    JsonLd,
    /// RDF/XML: triples only.
    RdfXml,
}

impl GraphFormat {
    /// The names of all RDF formats in which a graph can be written.
    pub const WORDS: [&'static str; 5] = ["turtle", "nquads", "trig", "jsonld", "rdfxml"];
}

/// The error for a text that is not the name of an RDF format of graphs.
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

/// A part of the RDF vocabulary that forklore uses in its graphs of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum VocabularyPart {
    /// The ontology, which defines what the terms of the vocabulary mean.
    Ontology,
    /// The SHACL shapes, which define the required form of a graph.
    Shapes,
}

/// The answer of `graph -o PATH`: describes the file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GraphFile {
    /// The path of the written file.
    pub path: PathBuf,
    /// The number of triples in the file.
    pub triples: u64,
}

/// The answer of `graph --ontology` and `graph --shapes`: a part of the RDF vocabulary of
/// forklore's graphs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Vocabulary {
    /// The requested part of the vocabulary (ontology or shapes), as Turtle text.
    pub turtle: String,
}
