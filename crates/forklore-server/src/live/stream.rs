//! Server-sent events. Their ids are positions, so that a client which connects anew says where it was
//! and misses nothing.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, Sse};
use forklore::store::port::{Mark, Since};
use forklore_core::{ErrorKind, SessionId};
use futures_util::stream;
use serde::Deserialize;

use super::feed::Followed;
use super::page::{Outcome, Page, Position};
use crate::api::params::{Path, Query};
use crate::problem::Problem;
use crate::service::Service;

/// How often a stream looks by itself, and says that it is alive.
const LOOK: Duration = Duration::from_secs(15);
/// The header with which a client says which event it received last.
const LAST: &str = "last-event-id";

type Sent = Result<Event, Infallible>;
type Stream = Sse<Pin<Box<dyn stream::Stream<Item = Sent> + Send>>>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct After {
    /// The id of the last event that the client has. The header `Last-Event-ID` goes before it.
    after: Option<String>,
}

fn last(headers: &HeaderMap, position: After) -> Option<String> {
    let header = headers.get(LAST).and_then(|value| value.to_str().ok()).map(str::to_owned);
    header.or(position.after).filter(|text| !text.is_empty())
}

/// Sends the events of a session behind a seq, and then those that are appended.
pub(crate) async fn session(
    State(service): State<Service>,
    Path(id): Path<SessionId>,
    Query(position): Query<After>,
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
    let followed = service.feed.session(&id);
    Ok(follow(service, followed, Position::Seq(id, next), Step::Read))
}

/// Sends the sessions that changed behind a mark, and then those that change.
pub(crate) async fn store(
    State(service): State<Service>,
    Query(position): Query<After>,
    headers: HeaderMap,
) -> Result<Stream, Problem> {
    let since = match last(&headers, position) {
        Some(mark) => Since::Mark(Mark::new(mark)),
        None => Since::Now,
    };
    let first = since.clone();
    let mark = service.call(move |engine| super::page::mark(engine, &first)).await?;
    // Without a position, the first answer has the mark of the present.
    let mark = if let Since::Mark(mark) = since { mark } else { mark };
    let followed = service.feed.store();
    let begun = Step::Send(Arc::new(Ok(Page::begin(mark.clone()))), 0);
    Ok(follow(service, followed, Position::Mark(mark), begun))
}

fn follow(service: Service, followed: Followed, position: Position, step: Step) -> Stream {
    let follower = Follower { service, followed, position, is_live: false, step };
    Sse::new(Box::pin(stream::unfold(follower, Follower::next)))
}

/// A client that follows a session or the store. It exists as often as there are clients, so it is
/// small, and what it reads is shared.
struct Follower {
    service: Service,
    followed: Followed,
    position: Position,
    /// Whether it has seen everything at least once. Then others are likely at the same position.
    is_live: bool,
    step: Step,
}

/// What a follower does next.
enum Step {
    Read,
    /// Sends a page from this event on.
    Send(Arc<Outcome>, usize),
    Wait,
    End,
}

impl Follower {
    /// Returns the next event for the client. `None` if the server stops.
    async fn next(mut self) -> Option<(Sent, Self)> {
        loop {
            self.step = match &mut self.step {
                Step::Read => Step::Send(Box::pin(self.read()).await, 0),
                Step::Send(page, at) => match page.as_ref() {
                    Ok(page) => {
                        if let Some(event) = page.events.get(*at) {
                            *at += 1;
                            return Some((Ok(event.into()), self));
                        }
                        self.position = page.next.clone();
                        self.is_live |= !page.more;
                        if page.more { Step::Read } else { Step::Wait }
                    }
                    Err(problem) if problem.kind == ErrorKind::Busy => Step::Wait,
                    // The client connects anew, and learns then what is wrong.
                    Err(problem) => {
                        let failure = failure(problem);
                        self.step = Step::End;
                        return Some((Ok(failure), self));
                    }
                },
                Step::Wait => {
                    let mut stopping = self.service.stopping.subscribe();
                    tokio::select! {
                        () = async { drop(stopping.wait_for(|stopping| *stopping).await) } => return None,
                        changed = self.followed.version.changed() => {
                            changed.ok()?;
                            Step::Read
                        }
                        () = tokio::time::sleep(LOOK) => {
                            self.step = Step::Read;
                            // A line without an event shows a client, and what is between, that the
                            // server is there.
                            return Some((Ok(Event::default().comment("")), self));
                        }
                    }
                }
                Step::End => return None,
            };
        }
    }

    /// Reads the page at the position, or uses what another follower has just read there.
    async fn read(&mut self) -> Arc<Outcome> {
        // Seen before the read, so that a change during the read is not missed.
        let version = *self.followed.version.borrow_and_update();
        let position = self.position.clone();
        let read = self.service.call(move |engine| position.read(engine));
        if self.is_live {
            self.followed.shared.page(&self.position, version, read).await
        } else {
            Arc::new(read.await)
        }
    }
}

fn failure(problem: &Problem) -> Event {
    let data = serde_json::to_string(problem).unwrap_or_default();
    Event::default().event("problem").data(data)
}
