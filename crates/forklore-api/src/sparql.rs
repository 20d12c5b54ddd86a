//! Types of `sparql`: the result of a query.
//!
//! Rows and truth values have the form of the W3C's "SPARQL Query Results JSON", triples that of
//! expanded JSON-LD.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The answer of `sparql`. Its fields depend on the query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryAnswer {
    /// Whether the pattern matches. Only of ASK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boolean: Option<bool>,
    /// The subjects of the triples. Only of CONSTRUCT and DESCRIBE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<Vec<Map<String, Value>>>,
    /// The variables. Only of SELECT; empty of ASK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<QueryHead>,
    /// The rows. Only of SELECT.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<QueryResults>,
    /// Whether there are more rows or triples than the limit.
    pub truncated: bool,
}

/// The variables of a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryHead {
    /// The names of the variables, in the order of the query. Absent of ASK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vars: Option<Vec<String>>,
}

/// The rows of a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryResults {
    /// Each row: the bound variables and their values. A value has a `type` and a `value`; a
    /// literal also has a `datatype` or `xml:lang`.
    pub bindings: Vec<Map<String, Value>>,
}
