//! The turn of a session as server-sent events.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, Sse};
use forklore_core::SessionId;
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;

use crate::chat::Chat;
use crate::refused::Answer;
use crate::request::Path;
use crate::talk::Talk;

/// How many events are sent at once.
const PAGE: usize = 256;
/// How often a stream says that it is alive.
const LOOK: Duration = Duration::from_secs(15);
/// The header with which a client says which event it received last.
const LAST: &str = "last-event-id";

type Piece = Result<Event, std::convert::Infallible>;

/// Sends the events of the running turn and of those to come. The id of an event names the run of the
/// server and a number, so that a client which connects anew misses nothing and gets nothing twice.
pub(crate) async fn live(
    State(chat): State<Chat>,
    Path(id): Path<SessionId>,
    headers: HeaderMap,
) -> Answer<Sse<ReceiverStream<Piece>>> {
    let talk = chat.talk(&id).await?;
    let run = chat.inner().run.clone();
    let last = headers.get(LAST).and_then(|value| value.to_str().ok());
    let next = last.and_then(|last| after(last, &run)).unwrap_or_else(|| talk.stream.start());
    let (sender, receiver) = mpsc::channel(16);
    tokio::spawn(follow(talk, run, next, sender, chat.stopping()));
    Ok(Sse::new(ReceiverStream::new(receiver)))
}

/// Returns the number of the event after the one with this id, if this run of the server sent it.
fn after(last: &str, run: &str) -> Option<u64> {
    let (of, number) = last.rsplit_once(':')?;
    let number: u64 = number.parse().ok().filter(|_| of == run)?;
    number.checked_add(1)
}

async fn follow(
    talk: Arc<Talk>,
    run: String,
    mut next: u64,
    sender: mpsc::Sender<Piece>,
    mut stopping: watch::Receiver<bool>,
) {
    let mut changes = talk.stream.changes();
    // Without a number, a client that loses the connection at once would begin anew.
    let state = serde_json::to_string(&talk.shown()).unwrap_or_default();
    let mut state = Event::default().event("state").data(state);
    if let Some(before) = next.checked_sub(1) {
        state = state.id(format!("{run}:{before}"));
    }
    if sender.send(Ok(state)).await.is_err() {
        return;
    }
    loop {
        changes.mark_unchanged();
        // After a restart of the counting, or a number from nowhere.
        next = next.min(talk.stream.next());
        let items = talk.stream.from(next, PAGE);
        for item in &items {
            let event = Event::default()
                .id(format!("{run}:{}", item.number))
                .event(item.event)
                .data(&*item.data);
            if sender.send(Ok(event)).await.is_err() {
                return;
            }
            next = item.number + 1;
        }
        if !items.is_empty() {
            continue;
        }
        tokio::select! {
            () = async { drop(stopping.wait_for(|stopping| *stopping).await) } => return,
            () = sender.closed() => return,
            changed = changes.changed() => if changed.is_err() { return },
            () = tokio::time::sleep(LOOK) => {
                // A line without an event shows what is between that the server is there.
                if sender.send(Ok(Event::default().comment(""))).await.is_err() { return }
            }
        }
    }
}
