//! Sessions as RDF, and queries about them. A query is bounded in its time and its rows, and few run at
//! once.

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::IntoResponse;
use axum::{Extension, Json};
use forklore_api::{
    GraphFormat, GraphScope, QueryAnswer, Scope, Sparql, Vocabulary, VocabularyPart,
};
use forklore_core::SessionId;
use forklore_core::workspace::Workspace;
use serde::Deserialize;

use super::body::Body;
use crate::access::Caller;
use crate::api::params::{Path, Query};
use crate::problem::Problem;
use crate::service::Service;

/// Which sessions a graph has, and how it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    session: Option<SessionId>,
    workspace: Option<String>,
    #[serde(default)]
    format: GraphFormat,
}

impl Wanted {
    fn scope(&self) -> Result<GraphScope, Problem> {
        match (&self.session, &self.workspace) {
            (Some(_), Some(_)) => Err(Problem::invalid("name a session or a workspace, not both")),
            (Some(session), None) => Ok(GraphScope::Family(session.clone())),
            (None, Some(workspace)) => Ok(GraphScope::Workspace(Workspace::new(workspace))),
            (None, None) => Ok(GraphScope::Everything),
        }
    }
}

fn media(format: GraphFormat) -> &'static str {
    match format {
        GraphFormat::Turtle => "text/turtle",
        GraphFormat::NQuads => "application/n-quads",
        GraphFormat::TriG => "application/trig",
        GraphFormat::JsonLd => "application/ld+json",
        GraphFormat::RdfXml => "application/rdf+xml",
    }
}

pub(crate) async fn graph(
    State(service): State<Service>,
    Query(wanted): Query<Wanted>,
) -> Result<impl IntoResponse, Problem> {
    let (scope, format) = (wanted.scope()?, wanted.format);
    let body = rdf::graph(service, scope, format).await?;
    // A browser must not show it: it is XML that a session wrote parts of.
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media(format))),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment")),
    ];
    Ok((headers, body))
}

pub(crate) async fn sparql(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Body(request): Body<Sparql>,
) -> Result<Json<QueryAnswer>, Problem> {
    caller.needs(Scope::Read)?;
    if !(1..=Sparql::LIMIT).contains(&request.limit) {
        let most = Sparql::LIMIT;
        return Err(Problem::invalid(format!("limit is a number from 1 to {most}")));
    }
    if !(0.0..=Sparql::TIMEOUT_SECONDS).contains(&request.timeout_seconds) {
        let most = Sparql::TIMEOUT_SECONDS;
        return Err(Problem::invalid(format!("timeout_seconds is a number from 0 to {most}")));
    }
    Ok(Json(rdf::sparql(service, request).await?))
}

pub(crate) async fn vocabulary(
    Path(part): Path<VocabularyPart>,
) -> Result<Json<Vocabulary>, Problem> {
    Ok(Json(Vocabulary { turtle: rdf::vocabulary(part)?.to_owned() }))
}

#[cfg(feature = "graph")]
mod rdf {
    use axum::body::Body;
    use forklore::graph::{
        Answer, AskError, LoadError, ONTOLOGY, Projection, Query, QueryError, ResultForm, SHAPES,
        Sessions, write,
    };
    use forklore_api::{GraphFormat, GraphScope, QueryAnswer, Sparql, VocabularyPart};
    use forklore_core::ErrorKind;
    use serde_json::{Map, Value};

    use super::super::bytes::download;
    use crate::problem::Problem;
    use crate::service::Service;

    pub(super) fn vocabulary(part: VocabularyPart) -> Result<&'static str, Problem> {
        Ok(match part {
            VocabularyPart::Ontology => ONTOLOGY,
            VocabularyPart::Shapes => SHAPES,
        })
    }

    pub(super) async fn graph(
        service: Service,
        scope: GraphScope,
        format: GraphFormat,
    ) -> Result<Body, Problem> {
        download(service, move |engine, out| {
            let quads = Projection::new(engine, &scope)?.map(|quads| quads.map_err(Failed::Read));
            write(quads, format, out).map(drop).map_err(|failed| match failed {
                Failed::Read(error) => error,
                Failed::Send(source) => forklore::Error::io("sending an answer", source),
            })
        })
        .await
    }

    /// Why a graph was not written.
    enum Failed {
        Read(forklore::Error),
        Send(std::io::Error),
    }

    impl From<std::io::Error> for Failed {
        fn from(source: std::io::Error) -> Self {
            Self::Send(source)
        }
    }

    pub(super) async fn sparql(service: Service, request: Sparql) -> Result<QueryAnswer, Problem> {
        let stopped = |_| Problem::new(ErrorKind::Interrupted, "the server is stopping");
        let permit = service.queries.clone().acquire_owned().await.map_err(stopped)?;
        service
            .answer(move |engine| {
                let query = Query::of(&request).map_err(refused)?;
                let unknown = query.unknown_terms().map_err(refused)?;
                let answered = Sessions::of(engine).answer(&request.scope, &query);
                drop(permit);
                let answer = answered.map_err(failed)?.answer;
                let notes = unknown.iter().map(ToString::to_string).collect();
                Ok(QueryAnswer { notes, ..fields(&answer)? })
            })
            .await
    }

    /// Returns an answer in the contract's form, which is that of SPARQL's JSON.
    fn fields(answer: &Answer) -> Result<QueryAnswer, Problem> {
        let wrong = |error: &dyn std::fmt::Display| {
            Problem::new(ErrorKind::Internal, format!("writing the answer: {error}"))
        };
        let mut text = Vec::new();
        answer.write(ResultForm::Json, &mut text).map_err(|error| wrong(&error))?;
        let mut fields = match serde_json::from_slice(&text).map_err(|error| wrong(&error))? {
            Value::Object(fields) => fields,
            graph => Map::from_iter([("graph".to_owned(), graph)]),
        };
        fields.insert("truncated".to_owned(), answer.is_cut().into());
        serde_json::from_value(Value::Object(fields)).map_err(|error| wrong(&error))
    }

    fn failed(error: AskError) -> Problem {
        match error {
            AskError::Graph(LoadError::Sessions(error)) => error.into(),
            AskError::Query(error) => refused(error),
            other => Problem::new(other.kind(), other.to_string()),
        }
    }

    #[allow(clippy::needless_pass_by_value, reason = "for map_err")]
    fn refused(error: QueryError) -> Problem {
        let mut problem = Problem::new(error.kind(), error.to_string());
        let details = match &error {
            QueryError::Syntax { line, column, .. } => {
                serde_json::json!({ "line": line, "column": column })
            }
            QueryError::Parameter { name, .. } | QueryError::Value { name, .. } => {
                serde_json::json!({ "parameter": name })
            }
            _ => return problem,
        };
        if let Ok(details) = serde_json::from_value(details) {
            *problem.details = details;
        }
        problem
    }
}

/// The answers of a server that was built without RDF.
#[cfg(not(feature = "graph"))]
mod rdf {
    use axum::body::Body;
    use forklore_api::{GraphFormat, GraphScope, QueryAnswer, Sparql, VocabularyPart};
    use forklore_core::ErrorKind;

    use crate::problem::Problem;
    use crate::service::Service;

    fn absent() -> Problem {
        Problem::new(ErrorKind::Unsupported, "this server was built without the feature graph")
    }

    pub(super) fn vocabulary(_: VocabularyPart) -> Result<&'static str, Problem> {
        Err(absent())
    }

    pub(super) async fn graph(_: Service, _: GraphScope, _: GraphFormat) -> Result<Body, Problem> {
        Err(absent())
    }

    pub(super) async fn sparql(_: Service, _: Sparql) -> Result<QueryAnswer, Problem> {
        Err(absent())
    }
}
