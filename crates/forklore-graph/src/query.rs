//! SPARQL queries over sessions, with limits on length, duration and number of results.

use std::sync::mpsc;
use std::time::Duration;

use forklore_api::Sparql;
use forklore_core::ErrorKind;
use oxigraph::model::{Term, Triple, Variable};
use oxigraph::sparql::{CancellationToken, QueryEvaluationError, QueryResults, SparqlEvaluator};
use oxigraph::store::{StorageError, Store};
use spargebra::algebra::GraphPattern;
use spargebra::{Query as Parsed, SparqlParser};

use crate::elsewhere;
use crate::term::{NotATerm, parameter};
use crate::vocabulary::PREFIXES;

/// Maximum number of expected tokens in the message of a syntax error.
const SHOWN: usize = 4;

/// Maximum length of a query, in bytes.
const LONGEST: usize = 16 << 10;
/// Stack size of the query thread, in bytes. The SPARQL library recurses for each bracket and
/// operator; this size is enough for a query of the maximum length.
const STACK: usize = 512 << 20;

/// A query with its limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Query<'a> {
    /// The query: `SELECT`, `ASK`, `CONSTRUCT` or `DESCRIBE`. It may use [`PREFIXES`] without
    /// declaring them.
    pub text: &'a str,
    /// The names of variables in the query, without `?`, with their values. A value is bound to its
    /// variable and is never parsed as part of the query. Inside a subquery, a variable has its
    /// value only if the subquery selects the variable.
    pub parameters: Vec<(String, Term)>,
    /// Maximum number of rows or triples in the answer.
    pub limit: usize,
    /// Maximum duration of the query. After the timeout, the query may run on in the background
    /// until the SPARQL library next checks for cancellation.
    pub timeout: Duration,
}

/// The result of a query.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The result of `SELECT`.
    Rows {
        /// The selected variables, one for each column.
        variables: Vec<Variable>,
        /// The rows, with one cell for each column. A cell is `None` if the variable has no value
        /// in that row.
        rows: Vec<Vec<Option<Term>>>,
        /// Whether there are more rows than [`Query::limit`] allows.
        more: bool,
    },
    /// The result of `ASK`.
    Truth(bool),
    /// The result of `CONSTRUCT` or `DESCRIBE`.
    Triples {
        /// The triples, at most [`Query::limit`].
        triples: Vec<Triple>,
        /// Whether there are more triples than [`Query::limit`] allows.
        more: bool,
    },
}

/// Why a query was refused or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The query is not valid SPARQL.
    #[error("the query is not SPARQL at line {line}, column {column}: {message}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
        /// What the parser expected at that position.
        message: String,
    },
    /// The query violates a rule of SPARQL. The parser reports no position for such an error.
    #[error("the query is not SPARQL: {0}")]
    Rule(String),
    /// The query exceeds the maximum length. Contains the query's length in bytes.
    #[error("the query has {0} bytes, and {LONGEST} are allowed; give values with parameters")]
    TooLong(usize),
    /// The thread for the query could not start.
    #[error("the query cannot be run: {0}")]
    Thread(#[source] std::io::Error),
    /// The query is a SPARQL update, such as `INSERT`.
    #[error(
        "a query only reads: SELECT, ASK, CONSTRUCT or DESCRIBE; sessions are changed by their own verbs"
    )]
    Update,
    /// The query contains `SERVICE` and would contact another server.
    #[error("a query asks this store only: SERVICE is refused")]
    Service,
    /// A parameter cannot be bound to a variable of the query.
    #[error("the parameter {name} cannot be bound: {why}")]
    Parameter {
        /// The name of the parameter. It is empty if the name is not valid for a variable.
        name: String,
        /// The reason.
        why: &'static str,
    },
    /// The value of a parameter cannot be read.
    #[error("the value of the parameter {name}: {source}")]
    Value {
        /// The name of the parameter.
        name: String,
        /// What is wrong with the value.
        source: NotATerm,
    },
    /// The time limit of a request is negative or not a number. Contains the limit in seconds.
    #[error("the time limit is {0} s; 0 or more is allowed")]
    TimeLimit(f64),
    /// The query exceeded its time limit.
    #[error("the query was stopped after {} s", .0.as_secs_f64())]
    Timeout(Duration),
    /// The evaluation of the query failed.
    #[error("the query failed: {0}")]
    Evaluation(#[source] QueryEvaluationError),
    /// The query thread ended without an answer, because the SPARQL library panicked.
    #[error("the query ended without an answer")]
    Ended,
    /// The graph could not be read.
    #[error("the graph cannot be read: {0}")]
    Storage(#[from] StorageError),
}

impl QueryError {
    /// Returns the error kind that scripts see.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Syntax { .. }
            | Self::Rule(_)
            | Self::TooLong(_)
            | Self::Parameter { .. }
            | Self::Value { .. }
            | Self::TimeLimit(_) => ErrorKind::InvalidArgs,
            Self::Update | Self::Service => ErrorKind::PermissionDenied,
            Self::Timeout(_) => ErrorKind::Busy,
            Self::Evaluation(_) | Self::Ended | Self::Thread(_) | Self::Storage(_) => {
                ErrorKind::Internal
            }
        }
    }
}

impl<'a> Query<'a> {
    /// Creates the query of a request. Its scope has no effect here.
    ///
    /// # Errors
    /// [`QueryError::Value`] if the value of a parameter cannot be read, and
    /// [`QueryError::TimeLimit`] if the time limit is negative or not a number.
    pub fn of(request: &'a Sparql) -> Result<Self, QueryError> {
        let parameters = request.parameters.iter().map(|given| match parameter(&given.value) {
            Ok(value) => Ok((given.name.clone(), value)),
            Err(source) => Err(QueryError::Value { name: given.name.clone(), source }),
        });
        let seconds = request.timeout_seconds;
        if seconds.is_nan() || seconds < 0.0 {
            return Err(QueryError::TimeLimit(seconds));
        }
        Ok(Self {
            text: &request.query,
            parameters: parameters.collect::<Result<_, _>>()?,
            limit: if request.limit == 0 { usize::MAX } else { request.limit },
            timeout: Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX),
        })
    }

    /// Parses the query and checks its rules and parameters, without a graph.
    ///
    /// # Errors
    /// Any [`QueryError`] except `Timeout`, `Evaluation` and `Storage`.
    pub fn check(&self) -> Result<(), QueryError> {
        let prepared = Prepared::of(self);
        let answers = on_deep_stack(move || prepared.parsed().map(drop))?;
        answers.recv().map_err(|_| QueryError::Ended)?
    }
}

/// An owned copy of a query, for the query thread.
struct Prepared {
    text: String,
    parameters: Vec<(String, Term)>,
    limit: usize,
    timeout: Duration,
}

impl Prepared {
    fn of(query: &Query<'_>) -> Self {
        let (text, parameters) = (query.text.to_owned(), query.parameters.clone());
        Self { text, parameters, limit: query.limit, timeout: query.timeout }
    }

    /// Parses and checks the query. Also returns the variables that were added to the selected ones
    /// because they are parameters.
    fn parsed(&self) -> Result<(Parsed, Vec<Variable>), QueryError> {
        if self.text.len() > LONGEST {
            return Err(QueryError::TooLong(self.text.len()));
        }
        let mut parsed = parse(&self.text)?;
        if elsewhere::calls_service(&parsed) {
            return Err(QueryError::Service);
        }
        let added = add_parameters(&mut parsed, self)?;
        Ok((parsed, added))
    }
}

/// Answers a query. Unless the query names a dataset, it reads the union of all named graphs.
pub(crate) fn answer(store: &Store, query: &Query<'_>) -> Result<Answer, QueryError> {
    let (token, timeout) = (CancellationToken::new(), query.timeout);
    let (requested, store, running) = (Prepared::of(query), store.clone(), token.clone());
    // Some joins of the SPARQL library never check for cancellation. The caller therefore does not
    // wait for the thread to end.
    let answers = on_deep_stack(move || requested.answer(&store, running))?;
    match answers.recv_timeout(timeout) {
        Ok(answer) => answer,
        Err(mpsc::RecvTimeoutError::Timeout) => {
            token.cancel();
            Err(QueryError::Timeout(timeout))
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => Err(QueryError::Ended),
    }
}

impl Prepared {
    fn answer(&self, store: &Store, token: CancellationToken) -> Result<Answer, QueryError> {
        let (parsed, added) = self.parsed()?;
        let evaluator = SparqlEvaluator::new().with_cancellation_token(token);
        let mut prepared = evaluator.for_query(parsed);
        if prepared.dataset().is_default_dataset() {
            prepared.dataset_mut().set_default_graph_as_union();
        }
        for (name, value) in &self.parameters {
            prepared = prepared.substitute_variable(variable(name)?, value.clone());
        }
        let results = prepared.on_store(store).execute();
        let answer = results.and_then(|results| collect(results, self.limit, &added));
        answer.map_err(|error| match error {
            QueryEvaluationError::Cancelled => QueryError::Timeout(self.timeout),
            error => QueryError::Evaluation(error),
        })
    }
}

/// Runs a function on a new thread with a stack of [`STACK`] bytes. The receiver gets its result.
fn on_deep_stack<T: Send + 'static>(
    step: impl FnOnce() -> T + Send + 'static,
) -> Result<mpsc::Receiver<T>, QueryError> {
    let (tell, reported) = mpsc::channel();
    let thread = std::thread::Builder::new().stack_size(STACK);
    // Sending fails after a timeout, because the receiver no longer exists.
    let spawned = thread.spawn(move || drop(tell.send(step())));
    spawned.map(|_| reported).map_err(QueryError::Thread)
}

fn collect(
    results: QueryResults<'_>,
    limit: usize,
    added: &[Variable],
) -> Result<Answer, QueryEvaluationError> {
    Ok(match results {
        QueryResults::Boolean(truth) => Answer::Truth(truth),
        QueryResults::Solutions(mut solutions) => {
            let mut variables = solutions.variables().to_vec();
            variables.retain(|variable| !added.contains(variable));
            let mut rows = Vec::new();
            let more = loop {
                let Some(solution) = solutions.next().transpose()? else { break false };
                if rows.len() == limit {
                    break true;
                }
                let cells = variables.iter().map(|variable| solution.get(variable).cloned());
                rows.push(cells.collect());
            };
            Answer::Rows { variables, rows, more }
        }
        QueryResults::Graph(mut graph) => {
            let mut triples = Vec::new();
            let more = loop {
                let Some(triple) = graph.next().transpose()? else { break false };
                if triples.len() == limit {
                    break true;
                }
                triples.push(triple);
            };
            Answer::Triples { triples, more }
        }
    })
}

fn parse(text: &str) -> Result<Parsed, QueryError> {
    if text.trim().is_empty() {
        return Err(QueryError::Rule("it is empty".into()));
    }
    let wrong = match parser().parse_query(text) {
        Ok(parsed) => return Ok(parsed),
        Err(wrong) => wrong.to_string(),
    };
    if parser().parse_update(text).is_ok_and(|update| !update.operations.is_empty()) {
        return Err(QueryError::Update);
    }
    // The SPARQL library reports the position only in the error message: `error at 1:8: expected
    // ...`.
    let position = wrong.strip_prefix("error at ").and_then(|rest| {
        let (location, message) = rest.split_once(": ")?;
        let (line, column) = location.split_once(':')?;
        Some((line.parse().ok()?, column.parse().ok()?, expected(message)))
    });
    Err(match position {
        Some((line, column, message)) => QueryError::Syntax { line, column, message },
        None => QueryError::Rule(wrong),
    })
}

/// Shortens the parser's list of expected tokens to at most [`SHOWN`] tokens.
fn expected(message: &str) -> String {
    if message.contains("Prefix not found") {
        return "the prefix is not declared".into();
    }
    let list = message.strip_prefix("expected ").unwrap_or(message);
    let mut all: Vec<&str> = Vec::new();
    for item in items(list.strip_prefix("one of ").unwrap_or(list)) {
        let value = match item {
            "\"?\"" | "\"$\"" => "a variable",
            "\"<\"" => "<IRI>",
            item if item.starts_with("\"'") || item.starts_with("\"\\\"") => "a text",
            // Of the character sets in the list, only the set of digits is informative.
            item if item.starts_with("['0'") => "a number",
            item => item,
        };
        if !all.contains(&value) {
            all.push(value);
        }
    }
    let answers = all.iter().filter(|text| !text.starts_with('['));
    let shown: Vec<_> = answers.copied().take(SHOWN).collect();
    let others = if all.len() > shown.len() { " or something else" } else { "" };
    match shown.as_slice() {
        [] => "this cannot stand here".into(),
        shown => format!("expected {}{others}", shown.join(", ")),
    }
}

/// Splits a list at each comma followed by a space, except inside quotes.
fn items(list: &str) -> Vec<&str> {
    let (mut items, mut begin) = (Vec::new(), 0);
    let (mut quoted, mut escaped) = (false, false);
    for (at, char) in list.char_indices() {
        let ends = char == ',' && !quoted && list.get(at + 1..at + 2) == Some(" ");
        if ends {
            items.extend(list.get(begin..at));
            begin = at + 2;
        }
        quoted ^= char == '"' && !escaped;
        escaped = char == '\\' && !escaped;
    }
    items.extend(list.get(begin..).filter(|last| !last.is_empty()));
    items
}

fn parser() -> SparqlParser {
    PREFIXES.into_iter().fold(SparqlParser::new(), |parser, (name, iri)| {
        // This cannot fail, because the prefixes are constants of this crate and valid IRIs.
        parser.with_prefix(name, iri).unwrap_or_default()
    })
}

fn variable(name: &str) -> Result<Variable, QueryError> {
    Variable::new(name).map_err(|_| QueryError::Parameter {
        name: String::new(),
        why: "its name is none that a variable can have",
    })
}

/// Adds the parameters to the selected variables of a `SELECT`, because the SPARQL library binds
/// only selected variables. Returns the added variables.
fn add_parameters(parsed: &mut Parsed, query: &Prepared) -> Result<Vec<Variable>, QueryError> {
    let mut added = Vec::new();
    for (name, _) in &query.parameters {
        let variable = variable(name)?;
        let refused = |why| QueryError::Parameter { name: name.clone(), why };
        if query.parameters.iter().filter(|(other, _)| other == name).count() > 1 {
            return Err(refused("it is given twice"));
        }
        if !mentions(&query.text, name) {
            return Err(refused("the query has no such variable"));
        }
        let Parsed::Select { pattern, .. } = &mut *parsed else { continue };
        if let Some(selected) = selected(pattern)
            && !selected.contains(&variable)
        {
            selected.push(variable.clone());
            added.push(variable);
        }
    }
    Ok(added)
}

/// Returns the selected variables of a `SELECT`.
fn selected(pattern: &mut GraphPattern) -> Option<&mut Vec<Variable>> {
    match pattern {
        GraphPattern::Project { variables, .. } => Some(variables),
        GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => selected(inner),
        _ => None,
    }
}

/// Checks whether the query contains the variable `?name` or `$name`.
fn mentions(text: &str, name: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '\u{b7}';
    text.match_indices(['?', '$']).any(|(at, _)| {
        let behind = text.get(at + 1..).and_then(|rest| rest.strip_prefix(name));
        behind.is_some_and(|rest| !rest.starts_with(is_name))
    })
}
