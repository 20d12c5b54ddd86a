//! Server-sent events. Their ids are positions, so that a client which connects anew says where it was
//! and misses nothing.

use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, Sse};
use forklore::store::port::{At, Direction, Mark, Query as PageQuery, Since};
use forklore_core::{ErrorKind, SessionId};
use serde::Deserialize;
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;

use crate::api::events::line;
use crate::api::params::{Path, Query};
use crate::problem::Problem;
use crate::service::Service;

/// How many events are read and sent at once.
const PAGE: usize = 256;
/// How often a stream looks by itself, and says that it is alive.
const LOOK: Duration = Duration::from_secs(15);
/// The header with which a client says which event it received last.
const LAST: &str = "last-event-id";

type Stream = Sse<ReceiverStream<Result<Event, Gone>>>;

/// The end of a stream whose client is gone.
#[derive(Debug, thiserror::Error)]
#[error("the client is gone")]
pub(crate) struct Gone;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Position {
    /// The id of the last event that the client has. The header `Last-Event-ID` goes before it.
    after: Option<String>,
}

fn last(headers: &HeaderMap, position: Position) -> Option<String> {
    let header = headers.get(LAST).and_then(|value| value.to_str().ok()).map(str::to_owned);
    header.or(position.after).filter(|text| !text.is_empty())
}

/// Sends the events of a session behind a seq, and then those that are appended.
pub(crate) async fn session(
    State(service): State<Service>,
    Path(id): Path<SessionId>,
    Query(position): Query<Position>,
    headers: HeaderMap,
) -> Result<Stream, Problem> {
    let next = match last(&headers, position) {
        None => 0,
        Some(text) => {
            let seq: u64 = text.parse().map_err(|_| {
                Problem::invalid("the id of the last event is the seq of an event, a number")
            })?;
            seq.saturating_add(1)
        }
    };
    let shown = id.clone();
    service.call(move |engine| engine.show(&shown)).await?;
    Ok(spawn(move |sender| follow_session(service, id, next, sender)))
}

async fn follow_session(
    service: Service,
    id: SessionId,
    mut next: u64,
    sender: mpsc::Sender<Result<Event, Gone>>,
) {
    let mut changed = service.feed.session(&id);
    loop {
        // Seen before the read, so that a change during the read is not missed.
        changed.mark_unchanged();
        let (of, at) = (id.clone(), At::Seq(next));
        let page = service.call(move |engine| {
            let header = engine.show(&of)?;
            let query = PageQuery { at, direction: Direction::Forward, limit: PAGE, bare: false };
            let page = engine.store().read(&of, &query)?;
            let lines = page.events.iter().map(|entry| Ok((entry.seq, line(&header, entry)?)));
            Ok((lines.collect::<Result<Vec<_>, forklore::Error>>()?, page.more))
        });
        let more = match page.await {
            Ok((lines, more)) => {
                for (seq, text) in lines {
                    let event =
                        Event::default().id(seq.to_string()).event("event").data(text.get());
                    if sender.send(Ok(event)).await.is_err() {
                        return;
                    }
                    next = seq + 1;
                }
                more
            }
            // The client connects anew, and learns then what is wrong.
            Err(problem) if problem.kind == ErrorKind::Busy => false,
            Err(problem) => {
                let _ = sender.send(Ok(failure(&problem))).await;
                return;
            }
        };
        if !more && !wait(&service, &mut changed, &sender).await {
            return;
        }
    }
}

/// Sends the sessions that changed behind a mark, and then those that change.
pub(crate) async fn store(
    State(service): State<Service>,
    Query(position): Query<Position>,
    headers: HeaderMap,
) -> Result<Stream, Problem> {
    let since = match last(&headers, position) {
        Some(mark) => Since::Mark(Mark::new(mark)),
        None => Since::Now,
    };
    let first = since.clone();
    let read = service
        .call(move |engine| Ok(engine.store().changes(&first, PAGE, Duration::ZERO)?))
        .await?;
    // Without a position, the first answer has the mark of the present.
    let since = if since == Since::Now { Since::Mark(read.mark) } else { since };
    Ok(spawn(move |sender| follow_store(service, since, sender)))
}

async fn follow_store(
    service: Service,
    mut since: Since,
    sender: mpsc::Sender<Result<Event, Gone>>,
) {
    let mut changed = service.feed.store();
    if let Since::Mark(mark) = &since {
        let begun = Event::default().id(mark.as_str()).event("begin").data("{}");
        if sender.send(Ok(begun)).await.is_err() {
            return;
        }
    }
    loop {
        changed.mark_unchanged();
        let from = since.clone();
        let page = service
            .call(move |engine| Ok(engine.store().changes(&from, PAGE, Duration::ZERO)?))
            .await;
        let more = match page {
            Ok(page) => {
                // All changes of a page have its mark: a client that saw half of it sees it again.
                let last = page.sessions.len();
                for (at, change) in page.sessions.iter().enumerate() {
                    let data = serde_json::to_string(change).unwrap_or_default();
                    let event = Event::default().event("session").data(data);
                    let event = if at + 1 == last { event.id(page.mark.as_str()) } else { event };
                    if sender.send(Ok(event)).await.is_err() {
                        return;
                    }
                }
                since = Since::Mark(page.mark);
                page.more
            }
            Err(problem) => {
                let _ = sender.send(Ok(failure(&problem))).await;
                return;
            }
        };
        if !more && !wait(&service, &mut changed, &sender).await {
            return;
        }
    }
}

/// Waits for a change. Returns false if the client is gone or the server stops.
async fn wait(
    service: &Service,
    changed: &mut watch::Receiver<u64>,
    sender: &mpsc::Sender<Result<Event, Gone>>,
) -> bool {
    let mut stopping = service.stopping.subscribe();
    tokio::select! {
        () = async { drop(stopping.wait_for(|stopping| *stopping).await) } => return false,
        changed = changed.changed() => return changed.is_ok(),
        () = sender.closed() => return false,
        () = tokio::time::sleep(LOOK) => {}
    }
    // A line without an event shows a client, and what is between, that the server is there.
    sender.send(Ok(Event::default().comment(""))).await.is_ok()
}

fn failure(problem: &Problem) -> Event {
    let data = serde_json::to_string(problem).unwrap_or_default();
    Event::default().event("problem").data(data)
}

fn spawn<F: Future<Output = ()> + Send + 'static>(
    follow: impl FnOnce(mpsc::Sender<Result<Event, Gone>>) -> F,
) -> Stream {
    // A client that does not read fills this, and its task waits.
    let (sender, receiver) = mpsc::channel(16);
    tokio::spawn(follow(sender));
    Sse::new(ReceiverStream::new(receiver))
}
