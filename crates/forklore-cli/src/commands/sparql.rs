//! `sparql`: answers SPARQL queries about sessions.

use std::time::Duration;

use forklore::api::{GraphScope, QueryAnswer, QueryParameter, Sparql};
use forklore::core::ErrorKind;
use forklore::graph::terms::{Literal, Term};
use forklore::graph::{
    Answer, Answered, AskError, LoadError, PREFIXES, Query, QueryError, ResultForm, Sessions,
};
use serde_json::{Map, Value, json};

use super::graph::{scope, tell_if_empty};
use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Cell, Column, Output, Table, Tone, count};
use crate::session_ref::SessionRef;

const EXAMPLES: &str = "\
The prefixes fl:, prov:, rdf:, rdfs:, xsd: and owl: are declared. A parameter is bound to its \
variable and never becomes text of the query; its value is <IRI>, \"a literal\", a number, true or \
false, session:REF, or else a text. Queries only read; SERVICE is refused. docs/graph.md has ten of \
them.

Examples:
  forklore sparql 'SELECT ?branch (COUNT(*) AS ?turns) { ?t a fl:Message ; fl:branch ?branch } GROUP BY ?branch'
  forklore sparql 'SELECT ?text { ?t fl:session ?s ; fl:text ?text }' --param s=session:last
  forklore sparql 'ASK { ?result fl:isError true }' --all --json
  forklore sparql 'CONSTRUCT WHERE { ?a prov:wasDerivedFrom ?b }' last --format xml";

/// Ask about sessions in SPARQL
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The query: SELECT, ASK, CONSTRUCT or DESCRIBE
    query: String,
    /// The session whose family is queried [default: the families of this folder]
    session: Option<String>,
    /// The form of the answer: table, json, csv or xml [default: table]
    #[arg(long, value_name = "FORM", value_parser = ["table", "json", "csv", "xml"])]
    format: Option<String>,
    /// A value for a variable of the query
    #[arg(long = "param", value_name = "NAME=VALUE")]
    parameters: Vec<String>,
    /// The most rows or triples to return; 0 means all
    #[arg(long, value_name = "N", default_value_t = Sparql::LIMIT)]
    limit: usize,
    /// How long the query may run, in seconds
    #[arg(long, value_name = "S", default_value_t = Sparql::TIMEOUT_SECONDS, value_parser = seconds)]
    timeout: f64,
}

fn seconds(text: &str) -> std::result::Result<f64, &'static str> {
    let seconds =
        text.parse::<f64>().ok().filter(|seconds| Duration::try_from_secs_f64(*seconds).is_ok());
    seconds.ok_or("a number of seconds is wanted")
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let parameters = args.parameters.iter().map(|given| parameter(given, app, output));
    let mut request = Sparql {
        parameters: parameters.collect::<Result<_>>()?,
        limit: args.limit,
        timeout_seconds: args.timeout,
        ..Sparql::of(&args.query, GraphScope::Everything)
    };
    // Before the scope, which can import a file.
    let unknown = Query::of(&request).and_then(|query| query.unknown_terms());
    let unknown = unknown.map_err(|error| refused(&error, &args.query))?;
    let notes: Vec<_> = unknown.iter().map(ToString::to_string).collect();
    request.scope = scope(args.session.as_deref(), app, output)?;
    tell_if_empty(&request.scope, "forklore sparql QUERY --all", app, output)?;
    let query = Query::of(&request).map_err(|error| refused(&error, &args.query))?;
    let answered = Sessions::of(app.engine()?).answer(&request.scope, &query);
    let answered = answered.map_err(|error| failed(error, &args.query))?;
    let answer = &answered.answer;
    match args.format.as_deref().and_then(|word| word.parse::<ResultForm>().ok()) {
        Some(form) => answer.write(form, &mut output.lines())?,
        None if output.is_json() => tell(answer, notes.clone(), output)?,
        None => show(answer, output)?,
    }
    remark(&answered, &notes, args.limit, output);
    Ok(())
}

/// Prints remarks about an answer: whether it is empty or cut, the notes, and how long it took.
fn remark(answered: &Answered, notes: &[String], limit: usize, output: &mut Output) {
    let Answered { answer, sessions, reading, answering } = answered;
    match answer {
        Answer::Rows { rows, .. } if rows.is_empty() => output.remark("no rows"),
        Answer::Triples { triples, .. } if triples.is_empty() => output.remark("no triples"),
        _ => {}
    }
    notes.iter().for_each(|note| output.remark(note));
    if answer.is_cut() {
        output.remark(&format!("there is more than {limit} rows: --limit N, 0 for all"));
    }
    let sessions = count(*sessions, "session");
    let (reading, answering) = (reading.as_millis(), answering.as_millis());
    output.remark(&format!("{sessions} read in {reading} ms, answered in {answering} ms"));
}

/// Parses `NAME=VALUE` of `--param`. In a value `session:REF`, `REF` is a reference to a session,
/// as in all other commands.
fn parameter(given: &str, app: &App, output: &mut Output) -> Result<QueryParameter> {
    let Some((name, value)) = given.split_once('=') else {
        return Err(Failure::invalid("a parameter is NAME=VALUE"));
    };
    let value = match value.strip_prefix("session:") {
        Some(reference) => {
            let session = app.stored(&SessionRef::parse(reference)?, output)?;
            format!("session:{}", session.id)
        }
        None => value.to_owned(),
    };
    Ok(QueryParameter { name: name.to_owned(), value })
}

/// Prints the answer of a SPARQL query in SPARQL's JSON result format, with the additional fields
/// `ok`, `truncated` and `notes`.
fn tell(answer: &Answer, notes: Vec<String>, output: &mut Output) -> Result<()> {
    let mut text = Vec::new();
    answer.write(ResultForm::Json, &mut text)?;
    let written: Value = serde_json::from_slice(&text).map_err(std::io::Error::from)?;
    let mut fields = match written {
        Value::Object(fields) => fields,
        graph => Map::from_iter([("graph".to_owned(), graph)]),
    };
    fields.insert("truncated".into(), answer.is_cut().into());
    let fields = Value::Object(fields);
    let answer: QueryAnswer = serde_json::from_value(fields).map_err(std::io::Error::from)?;
    let answer = QueryAnswer { notes, ..answer };
    output.answer(&answer, |_| {})
}

fn show(answer: &Answer, output: &mut Output) -> Result<()> {
    match answer {
        Answer::Truth(truth) => output.page(|page| {
            page.put(Tone::Strong, if *truth { "yes" } else { "no" }).end();
        }),
        Answer::Triples { .. } => Ok(answer.write(ResultForm::Turtle, &mut output.lines())?),
        Answer::Rows { variables, rows, .. } => {
            let columns = vec![Column::new("").gives_way(); variables.len()];
            // The names of the variables come from the query, so print them as a row, which is
            // escaped and has a width limit.
            let mut table = Table::new(&columns).continued(true);
            let names = variables.iter().map(|name| Cell::new(Tone::Dim, name.as_str()));
            table.row(names.collect::<Vec<_>>());
            for row in rows {
                let cells = row.iter().map(|cell| Cell::new(Tone::Plain, short(cell.as_ref())));
                table.row(cells.collect::<Vec<_>>());
            }
            output.page(|page| table.show(page))
        }
    }
}

/// Formats an RDF term for users: a literal without quotes, an IRI with a prefix.
fn short(term: Option<&Term>) -> String {
    match term {
        None => String::new(),
        Some(Term::Literal(literal)) => Literal::value(literal).chars().take(400).collect(),
        Some(Term::NamedNode(name)) => {
            let iri = name.as_str();
            let prefixed = PREFIXES
                .iter()
                .find_map(|(prefix, begin)| Some(format!("{prefix}:{}", iri.strip_prefix(begin)?)));
            prefixed.unwrap_or_else(|| iri.to_owned())
        }
        Some(other) => other.to_string(),
    }
}

fn failed(error: AskError, query: &str) -> Failure {
    match error {
        AskError::Graph(LoadError::Sessions(error)) => error.into(),
        AskError::Query(error) => refused(&error, query),
        other => Failure::refused(other.kind(), other.to_string()),
    }
}

fn refused(error: &QueryError, query: &str) -> Failure {
    let details = match error {
        QueryError::Syntax { line, column, .. } => {
            let text = query.lines().nth(line.saturating_sub(1)).unwrap_or_default();
            json!({"line": line, "column": column, "text": text})
        }
        QueryError::Parameter { name, .. } | QueryError::Value { name, .. } => {
            json!({"parameter": name})
        }
        _ => json!({}),
    };
    let next = match error.kind() {
        ErrorKind::Busy => vec!["forklore sparql QUERY --timeout 300".to_owned()],
        ErrorKind::InvalidArgs => vec!["forklore sparql --help".to_owned()],
        _ => Vec::new(),
    };
    Failure::Refused { kind: error.kind(), message: error.to_string(), details, next }
}
