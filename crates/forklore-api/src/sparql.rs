//! Types of `sparql`: a query and its result.
//!
//! Rows and truth values have the form of the W3C's "SPARQL Query Results JSON". Triples have the
//! form of expanded JSON-LD.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::GraphScope;

/// The request of `sparql`: a query, and the sessions that it is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sparql {
    /// The query: SELECT, ASK, CONSTRUCT or DESCRIBE. The prefixes `fl`, `prov`, `rdf`, `rdfs`,
    /// `xsd` and `owl` are declared.
    pub query: String,
    /// The sessions that the query is about.
    pub scope: GraphScope,
    /// Values of variables in the query. They never become part of its text.
    #[serde(default)]
    pub parameters: Vec<QueryParameter>,
    /// The largest number of rows or triples to return. 0 means no limit.
    #[serde(default = "limit")]
    pub limit: usize,
    /// For how many seconds the query may run. Not negative.
    #[serde(default = "timeout")]
    pub timeout_seconds: f64,
}

fn limit() -> usize {
    Sparql::LIMIT
}

fn timeout() -> f64 {
    Sparql::TIMEOUT_SECONDS
}

impl Sparql {
    /// The default limit of rows or triples.
    pub const LIMIT: usize = 10_000;
    /// The default time limit in seconds.
    pub const TIMEOUT_SECONDS: f64 = 30.0;

    /// Creates a request with all defaults.
    #[must_use]
    pub fn of(query: impl Into<String>, scope: GraphScope) -> Self {
        Self {
            query: query.into(),
            scope,
            parameters: Vec::new(),
            limit: Self::LIMIT,
            timeout_seconds: Self::TIMEOUT_SECONDS,
        }
    }
}

/// The value of a variable in a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct QueryParameter {
    /// The name of the variable, without `?`.
    pub name: String,
    /// The value: `<IRI>`, `"a literal"` with or without a language or a type, a number, `true`,
    /// `false`, or `session:` and the id of a session. Anything else is a plain text.
    pub value: String,
}

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
