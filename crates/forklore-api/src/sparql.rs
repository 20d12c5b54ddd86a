//! Types of `sparql`: the result of a query.
//!
//! Rows and truth values have the form of the W3C's "SPARQL Query Results JSON". Triples have the
//! form of expanded JSON-LD.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The answer of `sparql`. Its fields depend on the query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryAnswer {
    /// Whether the pattern matches. Present only in answers to ASK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boolean: Option<bool>,
    /// The triples, grouped by subject. Present only in answers to CONSTRUCT and DESCRIBE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<Vec<Map<String, Value>>>,
    /// The variables of the query. Present in answers to SELECT, and as an empty object in answers
    /// to ASK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<QueryHead>,
    /// The rows of the result. Present only in answers to SELECT.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<QueryResults>,
    /// Whether there are more rows or triples than the limit.
    pub truncated: bool,
}

/// The variables of a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryHead {
    /// The names of the variables, in the order of the query. Absent in answers to ASK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vars: Option<Vec<String>>,
}

/// The rows of a query's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryResults {
    /// The rows. Each row maps the bound variables to their values. A value has a `type` and a
    /// `value`; a literal may also have a `datatype` or an `xml:lang`.
    pub bindings: Vec<Map<String, Value>>,
}
