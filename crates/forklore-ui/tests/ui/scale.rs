//! Tests that only what is on the screen is read, however large the store is: the calls of the store
//! and what they return are counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use forklore_core::{Header, SessionId};
use forklore_engine::{Engine, NewEvent};
use forklore_store::memory::MemoryStore;
use forklore_store::port::{
    Capabilities, Changes, Committed, Cursor, Filter, Headers, Page, Query, Since, Transaction,
    Verification,
};
use forklore_store::{Result, Store};
use forklore_ui::Purpose;
use ratatui::crossterm::event::KeyCode;

use crate::stage::{Stage, create, engine_on, id};

/// A store that counts the calls that read, and the headers and events that they return.
#[derive(Default)]
struct Counting {
    inner: MemoryStore,
    calls: AtomicUsize,
    headers: AtomicUsize,
    events: AtomicUsize,
}

impl Counting {
    fn count(&self, headers: usize, events: usize) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.headers.fetch_add(headers, Ordering::Relaxed);
        self.events.fetch_add(events, Ordering::Relaxed);
    }

    /// Returns the calls, headers and events since the last time.
    fn counts(&self) -> [usize; 3] {
        [&self.calls, &self.headers, &self.events].map(|count| count.swap(0, Ordering::Relaxed))
    }
}

impl Store for Counting {
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn commit(&self, transaction: Transaction) -> Result<Committed> {
        self.inner.commit(transaction)
    }

    fn headers(&self, sessions: &[SessionId]) -> Result<Vec<Result<Header>>> {
        self.count(sessions.len(), 0);
        self.inner.headers(sessions)
    }

    fn header(&self, session: &SessionId) -> Result<Header> {
        self.count(1, 0);
        self.inner.header(session)
    }

    fn read(&self, session: &SessionId, query: &Query) -> Result<Page> {
        let page = self.inner.read(session, query)?;
        self.count(0, page.events.len());
        Ok(page)
    }

    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers> {
        let found = self.inner.sessions(filter, after, limit)?;
        self.count(found.sound.len(), 0);
        Ok(found)
    }

    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes> {
        self.inner.changes(since, limit, wait)
    }

    fn verify(&self, session: Option<&SessionId>) -> Result<Verification> {
        self.inner.verify(session)
    }
}

fn counting() -> (Engine, Arc<Counting>) {
    let store = Arc::new(Counting::default());
    (engine_on(store.clone()), store)
}

/// Creates a session with this number of events.
fn long(engine: &Engine, events: usize) {
    create(engine, "long", None);
    for chunk in (0..events).step_by(1_000) {
        let numbers = chunk..events.min(chunk + 1_000);
        let turns = numbers.map(|number| match number % 2 {
            0 => NewEvent::user(&format!("question {number}")).unwrap(),
            _ => NewEvent::assistant(&format!("answer {number}")).unwrap(),
        });
        engine.append(&id("long"), &turns.collect::<Vec<_>>().into()).unwrap();
    }
}

#[test]
fn the_list_reads_the_same_of_few_and_of_many_sessions() {
    let counts = [1_000, 10_000].map(|sessions| {
        let (engine, store) = counting();
        for number in 0..sessions {
            create(&engine, &format!("s-{number:06}"), Some("A title"));
        }
        store.counts();
        let mut stage = Stage::of(engine, (80, 40));
        let opened = store.counts();
        stage.key(KeyCode::PageDown).press("jjjjj");
        (opened, store.counts())
    });
    let ([calls, headers, events], _) = counts[0];
    assert!(calls <= 2 && headers <= 201 && events == 0, "{counts:?}");
    assert_eq!(counts[0], counts[1]);
}

#[test]
fn first_words_are_read_of_what_is_on_the_screen() {
    let (engine, store) = counting();
    for number in 0..500 {
        let name = format!("s-{number:06}");
        create(&engine, &name, None);
        engine.append(&id(&name), &NewEvent::user("hello").unwrap().into()).unwrap();
    }
    store.counts();
    let mut stage = Stage::of(engine, (80, 23));
    let [calls, _, events] = store.counts();
    assert!(calls <= 30 && events == 20, "{calls} calls, {events} events");
    stage.press("j");
    assert_eq!(store.counts(), [0; 3]);
}

#[test]
fn a_conversation_reads_the_same_of_few_and_of_many_events() {
    let counts = [4_000, 40_000].map(|events| {
        let (engine, store) = counting();
        long(&engine, events);
        store.counts();
        let mut stage = Stage::with(engine, (80, 40), Purpose::Read(id("long")));
        let opened = store.counts();
        stage.press("g");
        let first = store.counts();
        stage.press(":").line("1000");
        let turn = store.counts();
        let mut most = [0; 3];
        for _ in 0..100 {
            stage.key(KeyCode::PageUp);
            let frame = store.counts();
            most = std::array::from_fn(|at| most[at].max(frame[at]));
        }
        (opened, first, turn, most)
    });
    assert_eq!(counts[0], counts[1]);
    let (opened, first, turn, most) = counts[0];
    for [calls, _, events] in [opened, first, turn] {
        assert!(calls <= 24 && events <= 1_024, "{counts:?}");
    }
    // One screen further is at most one request.
    assert!(most[0] <= 6 && most[2] <= 300, "{counts:?}");
}

#[test]
fn all_sessions_are_loaded_for_the_end_of_the_list_alone() {
    let (engine, store) = counting();
    for number in 0..3_000 {
        create(&engine, &format!("s-{number:06}"), Some("A title"));
    }
    store.counts();
    let mut stage = Stage::of(engine, (80, 40));
    store.counts();
    stage.press("G");
    let [calls, headers, _] = store.counts();
    assert!(calls <= 4 && headers <= 3_000, "{calls} calls, {headers} headers");
    assert!(stage.screen().contains(" 3,000"), "{}", stage.screen());
}
