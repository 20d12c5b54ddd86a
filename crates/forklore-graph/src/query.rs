//! SPARQL queries over sessions, with limits on length, duration and number of results.

use std::sync::mpsc;
use std::time::Duration;

use forklore_api::Sparql;
use forklore_core::ErrorKind;
use oxigraph::model::{Term, Triple, Variable};
use oxigraph::sparql::{CancellationToken, QueryEvaluationError, QueryResults, SparqlEvaluator};
use oxigraph::store::{StorageError, Store};
use spareval::QueryEvaluator;
use spargebra::Query as Parsed;
use spargebra::algebra::GraphPattern;

use crate::index::{Dataset, Fault};
use crate::syntax::parse;
use crate::term::{NotATerm, parameter};
use crate::unknown::{UnknownTerm, unknown_terms};
use crate::walk;

/// Maximum length of a SPARQL query in bytes.
const LONGEST: usize = 16 << 10;
/// Maximum depth of nested expressions in a SPARQL query. The time that the SPARQL library needs to
/// optimize a query grows with the square of this depth.
const DEEPEST: usize = 1_000;
/// Stack size of the query thread, in bytes. The SPARQL library recurses for each bracket and
/// operator; this size is enough for a query of the maximum length.
const STACK: usize = 512 << 20;

/// A SPARQL query with its parameters and its limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Query<'a> {
    /// The text of a SPARQL query: `SELECT`, `ASK`, `CONSTRUCT` or `DESCRIBE`. It may use
    /// [`PREFIXES`](crate::PREFIXES) without declaring them.
    pub text: &'a str,
    /// Variables of the query (names without `?`) with their values. A value is bound to its
    /// variable and is never parsed as part of the query. Inside a subquery, a variable has its
    /// value only if the subquery selects the variable.
    pub parameters: Vec<(String, Term)>,
    /// Maximum number of rows or triples in the answer.
    pub limit: usize,
    /// Maximum duration of the query. After it, the caller gets an error, but the query may run on
    /// in the background until the SPARQL library next checks for cancellation.
    pub timeout: Duration,
}

/// The answer to a SPARQL query.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The answer to a `SELECT` query.
    Rows {
        /// The variables that the query selects, one for each column of the rows.
        variables: Vec<Variable>,
        /// The rows of the answer, at most [`Query::limit`], with one cell for each column. A cell
        /// is `None` if the variable has no value in that row.
        rows: Vec<Vec<Option<Term>>>,
        /// Whether there are more rows than [`Query::limit`] allows.
        more: bool,
    },
    /// The answer to an `ASK` query.
    Truth(bool),
    /// The answer to a `CONSTRUCT` or `DESCRIBE` query.
    Triples {
        /// The triples of the answer, at most [`Query::limit`].
        triples: Vec<Triple>,
        /// Whether there are more triples than [`Query::limit`] allows.
        more: bool,
    },
}

/// Why a SPARQL query was refused or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The query has a syntax error: it is not valid SPARQL.
    #[error("the query is not SPARQL at line {line}, column {column}: {message}")]
    Syntax {
        /// The line of the syntax error, counted from 1.
        line: usize,
        /// The column of the syntax error in characters, counted from 1.
        column: usize,
        /// What the parser expected at the position of the syntax error.
        message: String,
    },
    /// The query violates a rule of SPARQL, or is empty. The parser reports no position for such an
    /// error.
    #[error("the query is not SPARQL: {0}")]
    Rule(String),
    /// The query is longer than the maximum length. Contains the query's length in bytes.
    #[error("the query has {0} bytes, and {LONGEST} are allowed; give values with parameters")]
    TooLong(usize),
    /// The expressions of the query are nested too deeply. Contains their depth.
    #[error(
        "the query nests expressions {0} deep, and {DEEPEST} is allowed; compare with a list of values by IN"
    )]
    TooDeep(usize),
    /// The thread that runs the query could not start.
    #[error("the query cannot be run: {0}")]
    Thread(#[source] std::io::Error),
    /// The query is a SPARQL update, such as `INSERT`. Queries can only read.
    #[error(
        "a query only reads: SELECT, ASK, CONSTRUCT or DESCRIBE; sessions are changed by their own verbs"
    )]
    Update,
    /// The query contains `SERVICE`, which would contact another server.
    #[error("a query asks this store only: SERVICE is refused")]
    Service,
    /// The query has a parameter that cannot be bound to one of its variables.
    #[error("the parameter {name} cannot be bound: {why}")]
    Parameter {
        /// The name of the refused parameter. It is empty if the name is not valid for a variable.
        name: String,
        /// Why the parameter cannot be bound.
        why: &'static str,
    },
    /// The value of a query's parameter is not a valid RDF term.
    #[error("the value of the parameter {name}: {source}")]
    Value {
        /// The name of the parameter with the invalid value.
        name: String,
        /// What is wrong with the parameter's value.
        source: NotATerm,
    },
    /// The time limit of a request is negative or not a number. Contains the limit in seconds.
    #[error("the time limit is {0} s; 0 or more is allowed")]
    TimeLimit(f64),
    /// The query exceeded its time limit, which the error contains.
    #[error("the query was stopped after {} s", .0.as_secs_f64())]
    Timeout(Duration),
    /// The SPARQL library failed while it evaluated the query.
    #[error("the query failed: {0}")]
    Evaluation(#[source] QueryEvaluationError),
    /// The thread that ran the query ended without an answer, because the SPARQL library panicked.
    #[error("the query ended without an answer")]
    Ended,
    /// The graph's quads could not be read from memory.
    #[error("the graph cannot be read: {0}")]
    Storage(#[from] StorageError),
}

impl QueryError {
    /// Returns the kind of this error, as scripts see it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Syntax { .. }
            | Self::Rule(_)
            | Self::TooLong(_)
            | Self::TooDeep(_)
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
    /// Creates a query from a request. Ignores the request's scope; the caller chooses the graph.
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

    /// Parses the query and checks its rules and parameters. Needs no graph and does not run the
    /// query.
    ///
    /// # Errors
    /// Any [`QueryError`] except `Value`, `TimeLimit`, `Timeout`, `Evaluation` and `Storage`.
    pub fn check(&self) -> Result<(), QueryError> {
        self.unknown_terms().map(drop)
    }

    /// Checks the query like [`check`](Self::check). Returns the terms in it that no graph of
    /// sessions contains, such as misspelt ones.
    ///
    /// # Errors
    /// Those of [`check`](Self::check).
    pub fn unknown_terms(&self) -> Result<Vec<UnknownTerm>, QueryError> {
        let prepared = Prepared::of(self);
        let found =
            on_deep_stack(move || prepared.parsed().map(|(parsed, _)| unknown_terms(&parsed)))?;
        found.recv().map_err(|_| QueryError::Ended)?
    }
}

/// A copy of a query that owns its text. The thread that runs the query needs it.
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

    /// Parses and checks the query. Also returns the variables that were added to a `SELECT` so
    /// that parameters can be bound.
    fn parsed(&self) -> Result<(Parsed, Vec<Variable>), QueryError> {
        if self.text.len() > LONGEST {
            return Err(QueryError::TooLong(self.text.len()));
        }
        let mut parsed = parse(&self.text)?;
        if walk::calls_service(&parsed) {
            return Err(QueryError::Service);
        }
        let depth = walk::expression_depth(&parsed);
        if depth > DEEPEST {
            return Err(QueryError::TooDeep(depth));
        }
        let added = add_parameters(&mut parsed, self)?;
        if let Some(name) = self.missing_parameter() {
            let (name, why) = (name.to_owned(), "the query asks for it, and it has no value");
            return Err(QueryError::Parameter { name, why });
        }
        Ok((parsed, added))
    }

    /// Returns the name of a parameter that a comment of the query (`# --param NAME=...`) requires
    /// but that has no value, or `None` if there is none. Without a value, its variable could have
    /// any value, and the query might not end.
    fn missing_parameter(&self) -> Option<&str> {
        let comments = self.text.lines().filter_map(|line| line.trim_start().strip_prefix('#'));
        let required = comments.flat_map(|comment| comment.split("--param ").skip(1));
        let mut names =
            required.map(|required| required.split(['=', ' ']).next().unwrap_or_default());
        names.find(|name| {
            !name.is_empty() && !self.parameters.iter().any(|(given, _)| given == name)
        })
    }
}

/// Answers a SPARQL query from the quads in `store`. Unless the query names a dataset, it reads the
/// union of all named graphs.
pub(crate) fn answer(store: &Store, query: &Query<'_>) -> Result<Answer, QueryError> {
    let store = store.clone();
    run(query, move |requested, token| requested.answer(&store, token))
}

/// Answers a SPARQL query from an index, which `open` opens on the thread of the query. Unless the
/// query names a dataset, it reads the union of all named graphs.
///
/// # Errors
/// A fault of the index is a [`QueryEvaluationError::Dataset`].
pub(crate) fn answer_from_index(
    open: impl FnOnce() -> Result<Dataset, Fault> + Send + 'static,
    query: &Query<'_>,
) -> Result<Answer, QueryError> {
    run(query, move |requested, token| {
        let failed = |fault| QueryError::Evaluation(QueryEvaluationError::Dataset(Box::new(fault)));
        requested.answer_from_index(open().map_err(failed)?, token)
    })
}

/// Runs `answer` on a thread of its own until it ends or the query's time is over.
fn run(
    query: &Query<'_>,
    answer: impl FnOnce(&Prepared, CancellationToken) -> Result<Answer, QueryError> + Send + 'static,
) -> Result<Answer, QueryError> {
    let (token, timeout) = (CancellationToken::new(), query.timeout);
    let (requested, running) = (Prepared::of(query), token.clone());
    // Some joins of the SPARQL library never check for cancellation. The caller therefore does not
    // wait for the thread to end.
    let answers = on_deep_stack(move || answer(&requested, running))?;
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
        self.collected(prepared.on_store(store).execute(), &added)
    }

    fn answer_from_index(
        &self,
        dataset: Dataset,
        token: CancellationToken,
    ) -> Result<Answer, QueryError> {
        let (parsed, added) = self.parsed()?;
        let evaluator = QueryEvaluator::new().with_cancellation_token(token);
        let mut prepared = evaluator.prepare(&parsed);
        if prepared.dataset().is_default_dataset() {
            prepared.dataset_mut().set_default_graph_as_union();
        }
        for (name, value) in &self.parameters {
            prepared = prepared.substitute_variable(variable(name)?, value.clone());
        }
        self.collected(prepared.execute(dataset), &added)
    }

    fn collected(
        &self,
        results: Result<QueryResults<'_>, QueryEvaluationError>,
        added: &[Variable],
    ) -> Result<Answer, QueryError> {
        let answer = results.and_then(|results| collect(results, self.limit, added));
        answer.map_err(|error| match error {
            QueryEvaluationError::Cancelled => QueryError::Timeout(self.timeout),
            error => QueryError::Evaluation(error),
        })
    }
}

/// Runs a function on a new thread with a stack of [`STACK`] bytes. The returned receiver gets the
/// function's result.
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

fn variable(name: &str) -> Result<Variable, QueryError> {
    Variable::new(name).map_err(|_| QueryError::Parameter {
        name: String::new(),
        why: "its name is none that a variable can have",
    })
}

/// Adds the query's parameters to the variables that a `SELECT` selects, because the SPARQL library
/// binds only selected variables. Returns the added variables.
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

/// Returns the variables that a `SELECT` query selects, or `None` if the pattern has no selection.
fn selected(pattern: &mut GraphPattern) -> Option<&mut Vec<Variable>> {
    match pattern {
        GraphPattern::Project { variables, .. } => Some(variables),
        GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => selected(inner),
        _ => None,
    }
}

/// Checks whether the query's text contains the variable `?name` or `$name`.
fn mentions(text: &str, name: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '\u{b7}';
    text.match_indices(['?', '$']).any(|(at, _)| {
        let behind = text.get(at + 1..).and_then(|rest| rest.strip_prefix(name));
        behind.is_some_and(|rest| !rest.starts_with(is_name))
    })
}
