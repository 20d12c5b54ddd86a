//! The events of a session, its messages, and what a model would receive.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use axum::{Extension, Json};
use forklore::engine::Batch;
use forklore::store::port::{At, Direction, Query as PageQuery};
use forklore_api::{Appended, Inspection, Record, Scope};
use forklore_core::{Data, SessionId};
use serde::{Deserialize, Serialize};

use super::body::Body;
use super::line::line;
use super::tag;
use crate::access::Caller;
use crate::api::params;
use crate::api::params::{Path, Query};
use crate::problem::Problem;
use crate::service::Service;

/// The most events of a page.
const MOST: usize = 1_000;
const USUAL: usize = 100;

/// Where a page of events begins. At most one of the places is named.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    seq: Option<u64>,
    index: Option<u64>,
    turn: Option<u64>,
    event: Option<String>,
    #[serde(default)]
    backward: bool,
    limit: Option<usize>,
}

/// A page of the events of a session.
#[derive(Serialize)]
pub(crate) struct EventPage {
    session_id: SessionId,
    /// The seq of the session's last event.
    head_seq: i64,
    events: Vec<Data>,
    /// The seq at which the next page begins, in the same direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
}

impl Wanted {
    fn query(&self) -> Result<PageQuery, Problem> {
        let limit = params::limit(self.limit, USUAL, MOST)?;
        let direction = if self.backward { Direction::Backward } else { Direction::Forward };
        let seq = if self.backward { i64::MAX as u64 } else { 0 };
        let at = match (self.seq, self.index, self.turn, &self.event) {
            (None, None, None, None) => At::Seq(seq),
            (Some(seq), None, None, None) => At::Seq(seq),
            (None, Some(index), None, None) => At::Index(index),
            (None, None, Some(turn), None) => At::Turn(turn),
            (None, None, None, Some(event)) => {
                let id = event.parse();
                At::Id(id.map_err(|error| Problem::invalid(format!("event: {error}")))?)
            }
            _ => return Err(Problem::invalid("name one of seq, index, turn and event")),
        };
        Ok(PageQuery { at, direction, limit, bare: false })
    }
}

pub(crate) async fn list(
    State(service): State<Service>,
    Path(id): Path<SessionId>,
    Query(wanted): Query<Wanted>,
) -> Result<impl IntoResponse, Problem> {
    let query = wanted.query()?;
    let backward = wanted.backward;
    let page = service.call(move |engine| {
        let header = engine.show(&id)?;
        let page = engine.store().read(&id, &query)?;
        let last = page.events.last().map(|entry| entry.seq);
        let next = if backward {
            last.and_then(|seq| seq.checked_sub(1))
        } else {
            last.map(|seq| seq + 1)
        };
        let events = page.events.iter().map(|entry| line(&header, entry));
        Ok(EventPage {
            session_id: id,
            head_seq: header.head_seq(),
            events: events.collect::<Result<_, _>>()?,
            next: next.filter(|_| page.more),
        })
    });
    let page = page.await?;
    Ok(([(header::ETAG, tag::of_head(page.head_seq))], Json(page)))
}

pub(crate) async fn append(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<SessionId>,
    headers: HeaderMap,
    Body(mut batch): Body<Batch>,
) -> Result<impl IntoResponse, Problem> {
    caller.needs(Scope::Write)?;
    let expected = tag::expected(&headers)?;
    if expected.is_some() && batch.expect.is_some() && batch.expect != expected {
        return Err(Problem::invalid("expect is not the head that If-Match names"));
    }
    batch.expect = expected.or(batch.expect);
    let appended = service.call_as(&caller, move |engine| {
        let appended = engine.append(&id, &batch)?;
        let forklore::store::port::Appended { from_seq, to_seq, head_seq, .. } = appended;
        Ok(Appended { session_id: id, from_seq, to_seq, head_seq })
    });
    let appended = appended.await.map_err(|problem| match expected {
        Some(_) => problem.of_precondition(),
        None => problem,
    })?;
    let tag = tag::of_head(appended.head_seq);
    Ok((StatusCode::CREATED, [(header::ETAG, tag)], Json(appended)))
}

/// Which messages are wanted: those from one index on.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    #[serde(default)]
    from: u64,
    limit: Option<usize>,
}

/// A page of the conversation of a session.
#[derive(Serialize)]
pub(crate) struct MessagePage {
    session_id: SessionId,
    /// How many messages the conversation has.
    messages: u64,
    records: Vec<Record>,
    /// The index at which the next page begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
}

pub(crate) async fn messages(
    State(service): State<Service>,
    Path(id): Path<SessionId>,
    Query(part): Query<Part>,
) -> Result<Json<MessagePage>, Problem> {
    let limit = params::limit(part.limit, USUAL, MOST)? as u64;
    let page = service.call(move |engine| {
        let header = engine.show(&id)?;
        let to = part.from.saturating_add(limit);
        let records = engine.replay_part(&id, &(part.from..to))?.collect::<Result<_, _>>()?;
        let messages = header.counts.index;
        let next = (to < messages).then_some(to);
        Ok(MessagePage { session_id: id, messages, records, next })
    });
    Ok(Json(page.await?))
}

pub(crate) async fn context(
    State(service): State<Service>,
    Path(id): Path<SessionId>,
) -> Result<Json<Inspection>, Problem> {
    Ok(Json(service.call(move |engine| engine.inspect(&id)).await?))
}
