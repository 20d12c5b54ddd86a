//! Types of `sparql`: a query and its result.
//!
//! Rows and truth values have the form of the W3C's "SPARQL Query Results JSON". Triples have the
//! form of expanded JSON-LD.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::GraphScope;

/// The request of `sparql`: a query, and the sessions whose graph it reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sparql {
    /// The text of the query: SELECT, ASK, CONSTRUCT or DESCRIBE. The prefixes `fl`, `prov`, `rdf`,
    /// `rdfs`, `xsd` and `owl` are declared.
    pub query: String,
    /// The sessions whose graph the query reads.
    pub scope: GraphScope,
    /// Values for variables of the query. They are never inserted into the text of the query.
    #[serde(default)]
    pub parameters: Vec<QueryParameter>,
    /// The largest number of rows or triples that the query returns. 0 means no limit.
    #[serde(default = "limit")]
    pub limit: usize,
    /// How many seconds the query may run. Not negative.
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
    /// The default limit for the number of rows or triples that a query returns.
    pub const LIMIT: usize = 10_000;
    /// The default time limit of a query, in seconds.
    pub const TIMEOUT_SECONDS: f64 = 30.0;

    /// Creates a request that runs `query` on the sessions in `scope`. All other fields have their
    /// defaults.
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

/// A variable of a SPARQL query, with the value to use for the variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct QueryParameter {
    /// The name of the variable, without `?`.
    pub name: String,
    /// The value of the variable, written as an RDF term or as plain text. A term is `<IRI>`, `"a
    /// literal"` with or without a language or a type, a number, `true`, `false`, or `session:` and
    /// the id of a session. Anything else is plain text.
    pub value: String,
}

/// The answer of `sparql`. Which fields are present depends on the form of the query (such as
/// SELECT or ASK).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryAnswer {
    /// Whether the query's pattern matches. Present only in answers to ASK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boolean: Option<bool>,
    /// The resulting triples, grouped by subject. Present only in answers to CONSTRUCT and
    /// DESCRIBE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<Vec<Map<String, Value>>>,
    /// The variables of the query. Present in answers to SELECT, and as an empty object in answers
    /// to ASK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<QueryHead>,
    /// The rows of the query's result. Present only in answers to SELECT.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<QueryResults>,
    /// Whether rows or triples are left out, because there are more than the limit of the query.
    pub truncated: bool,
    /// Notes for people about the query. For example, a note says that no graph contains a certain
    /// term of the query. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The variables that a SPARQL query returns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryHead {
    /// The names of the variables, in the order of the query. Absent in answers to ASK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vars: Option<Vec<String>>,
}

/// The result of a SELECT query: a list of rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryResults {
    /// The rows of the query's result. Each row maps the variables that have a value to their
    /// values. A value has a `type` and a `value`; a literal may also have a `datatype` or an
    /// `xml:lang`.
    pub bindings: Vec<Map<String, Value>>,
}
