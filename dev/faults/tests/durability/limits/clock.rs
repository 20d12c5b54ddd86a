//! Tests with a clock that is set back between calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use forklore::Engine;
use forklore::engine::SystemClock;
use forklore::engine::{Batch, Clock, Create, Fork, ListRequest, NewEvent};
use forklore_conformance::scene::text;
use forklore_core::workspace::Workspace;
use forklore_core::{ErrorKind, SessionId};
use forklore_faults::kind::Kind;
use forklore_faults::test_folder::TestFolder;
use forklore_store::clock::StoreClock;
use forklore_store::port::At;
use jiff::Timestamp;

use crate::world::for_each_store;

const SECOND: i64 = 1_000_000;
/// 2026-01-01, in microseconds since the Unix epoch.
const START: i64 = 1_767_225_600_000_000;

for_each_store!(a_clock_that_goes_backwards_harms_nothing);

/// A clock that shows the time to which it was last set.
#[derive(Debug)]
struct Hand(AtomicI64);

impl Hand {
    fn set(&self, seconds: i64) {
        self.0.store(START + seconds * SECOND, Ordering::Relaxed);
    }
}

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_microsecond(self.0.load(Ordering::Relaxed)).unwrap()
    }

    fn random(&self) -> [u8; 10] {
        SystemClock.random()
    }
}

fn a_clock_that_goes_backwards_harms_nothing(kind: Kind) {
    let location = TestFolder::in_memory(kind);
    let hand = Arc::new(Hand(AtomicI64::new(START)));
    let at = hand.clone();
    let clock = StoreClock::new(move || at.now());
    let engine =
        kind.open_at(&location.store_dir(), clock).unwrap().engine.with_clock(hand.clone());
    let mut texts = Vec::new();
    let session = named(&engine, "a");
    // Sets the clock back by a second, an hour, sixty years, and to before the Unix epoch.
    let times = [0, 10, 9, 3_600, 0, 60, -1_900_000_000, 5, -1_767_225_700, 6];
    for (number, seconds) in times.into_iter().enumerate() {
        hand.set(seconds);
        let label = format!("at {seconds}");
        let event = NewEvent::user(&label).unwrap();
        let appended = engine.append(&session, &vec![event].into()).unwrap();
        assert_eq!(appended.from_seq, number as u64);
        let header = engine.show(&session).unwrap();
        assert_eq!(header.updated.as_microsecond(), START + seconds * SECOND);
        texts.push(label);
        let fork = engine.fork(&Fork::of(session.clone())).unwrap();
        assert_eq!(fork.event_count, number as u64 + 1);
    }
    let log = engine.events(&session, At::Seq(0)).map(|stored| text(&stored.unwrap().event));
    assert_eq!(log.collect::<Vec<_>>(), texts);
    assert_list_is_one_order(&engine);
    leases(&engine, &hand);
    assert_eq!(engine.verify(None).unwrap().problems, []);
    drop(engine);
    let again = location.open().engine;
    assert_eq!(again.verify(None).unwrap().problems, []);
    assert_eq!(again.events(&session, At::Seq(0)).count(), times.len());
}

fn named(engine: &Engine, id: &str) -> SessionId {
    let id: SessionId = id.parse().unwrap();
    let here = Workspace::new("/here");
    engine.create(&Create { id: Some(id.clone()), ..Create::in_workspace(here) }).unwrap();
    id
}

/// Asserts that the session list is sorted by the displayed times, and that its pages together
/// equal the whole list.
fn assert_list_is_one_order(engine: &Engine) {
    let whole = engine.list(&ListRequest::default()).unwrap().sessions;
    let mut sorted = whole.clone();
    sorted.sort_by(|a, b| b.updated.cmp(&a.updated).then_with(|| a.id.cmp(&b.id)));
    assert_eq!(whole, sorted);
    let (mut pages, mut after) = (Vec::new(), None);
    loop {
        let page = engine.list(&ListRequest { limit: 3, after, ..Default::default() }).unwrap();
        pages.extend(page.sessions);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(pages, whole);
    for header in &whole {
        let since = ListRequest { since: Some(header.updated), ..Default::default() };
        let found = engine.list(&since).unwrap().sessions;
        let expected: Vec<_> =
            whole.iter().filter(|other| other.updated >= header.updated).cloned().collect();
        assert_eq!(found, expected);
    }
}

/// Tests that a lease stays valid for its owner when the clock is set back, and that it expires on
/// time by the new clock.
fn leases(engine: &Engine, hand: &Hand) {
    let session = named(engine, "held");
    let append = |owner: Option<&str>| {
        let events = vec![NewEvent::user("hello").unwrap()];
        let owner = owner.map(str::to_owned);
        engine.append(&session, &Batch { events, owner, expect: None })
    };
    hand.set(5_000);
    engine.take_lease(&session, "first").unwrap();
    hand.set(4_000);
    assert_eq!(engine.take_lease(&session, "second").unwrap_err().kind(), ErrorKind::Busy);
    assert_eq!(append(None).unwrap_err().kind(), ErrorKind::Busy);
    append(Some("first")).unwrap();
    engine.take_lease(&session, "first").unwrap();
    hand.set(4_009);
    assert_eq!(append(None).unwrap_err().kind(), ErrorKind::Busy);
    hand.set(4_011);
    engine.take_lease(&session, "second").unwrap();
    assert_eq!(append(Some("first")).unwrap_err().kind(), ErrorKind::Conflict);
    append(Some("second")).unwrap();
    engine.release(&session, "second").unwrap();
    // A lease acquired while the clock was ten years fast blocks no one after the clock is
    // corrected.
    hand.set(10 * 365 * 86_400);
    engine.take_lease(&session, "first").unwrap();
    hand.set(5_000);
    engine.take_lease(&session, "second").unwrap();
    append(Some("second")).unwrap();
}
