//! Threads that append to the sessions of a store as fast as they can, and repeat what failed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

use forklore_conformance::events::{Clock, user};
use forklore_conformance::scene::{Scene, forward, id};
use forklore_conformance::{Handle, events};
use forklore_core::Usage;
use forklore_postgres::PostgresStore;
use forklore_store::Error;
use forklore_store::Store;
use forklore_store::port::{Append, At};

use crate::history::{Ack, contradictions};

const SESSIONS: usize = 4;
const STORES: usize = 4;
const WRITERS: usize = 16;
const PAUSE: Duration = Duration::from_millis(1);

/// What the writers share.
#[derive(Default)]
struct Shared {
    is_over: AtomicBool,
    acknowledged: AtomicUsize,
    acks: Mutex<BTreeMap<String, Vec<Ack>>>,
    /// How often each error was returned.
    errors: Mutex<BTreeMap<String, usize>>,
}

/// Writers to four sessions, with four stores as on four machines.
pub(crate) struct Writers {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    url: String,
}

pub(crate) fn open(url: &str) -> Arc<PostgresStore> {
    Arc::new(PostgresStore::open(url.parse().unwrap()).unwrap_or_else(|error| panic!("{error}")))
}

/// Creates a session with one event.
pub(crate) fn root(store: &Arc<PostgresStore>, session: &str) {
    let factory = || Handle::shared(Arc::<PostgresStore>::clone(store));
    Scene::new(&factory).root(session, vec![user("begin").id(&format!("{session}-0"))]);
}

/// Describes an append of one event with this id after a head.
pub(crate) fn append(event: &str, expect: Option<i64>) -> Append {
    let clock = Clock::default();
    let events = vec![user(event).id(event).build(&clock)];
    Append { events, expect, owner: None, usage: Usage::default(), now: events::at_tick(1) }
}

impl Writers {
    pub(crate) fn start(url: &str) -> Self {
        let stores: Vec<_> = (0..STORES).map(|_| open(url)).collect();
        (0..SESSIONS).for_each(|session| root(&stores[0], &format!("s{session}")));
        let shared = Arc::<Shared>::default();
        let threads = (0..WRITERS).map(|writer| {
            let (store, shared) = (Arc::clone(&stores[writer / STORES]), Arc::clone(&shared));
            let session = format!("s{}", writer % SESSIONS);
            spawn(move || write(&store, &shared, &session, writer))
        });
        Self { threads: threads.collect(), shared, url: url.into() }
    }

    /// Waits until so many more appends are acknowledged than are now. Returns how long the first
    /// one took.
    pub(crate) fn wait_for(&self, more: usize) -> Duration {
        let now = || self.shared.acknowledged.load(Ordering::SeqCst);
        let (begun, before) = (Instant::now(), now());
        while now() == before {
            self.check();
            sleep(PAUSE);
        }
        let first = begun.elapsed();
        while now() < before + more {
            self.check();
            sleep(PAUSE);
        }
        first
    }

    /// Waits until so many more appends are acknowledged than are now, but no longer than `time`.
    /// Returns whether they are.
    pub(crate) fn wait_at_most(&self, time: Duration, more: usize) -> bool {
        let now = || self.shared.acknowledged.load(Ordering::SeqCst);
        let (begun, before) = (Instant::now(), now());
        while now() < before + more && begun.elapsed() < time {
            self.check();
            sleep(PAUSE);
        }
        now() >= before + more
    }

    /// Returns how often each error was returned so far.
    pub(crate) fn errors(&self) -> BTreeMap<String, usize> {
        self.shared.errors.lock().unwrap().clone()
    }

    fn check(&self) {
        assert!(self.threads.iter().all(|thread| !thread.is_finished()), "a writer has ended");
    }

    /// Ends the writers and checks what they wrote. Returns how many appends were acknowledged.
    pub(crate) fn end(self) -> usize {
        self.shared.is_over.store(true, Ordering::SeqCst);
        self.threads.into_iter().for_each(|thread| thread.join().unwrap());
        let store = open(&self.url);
        let acks = self.shared.acks.lock().unwrap();
        for (session, acks) in &*acks {
            assert_eq!(contradictions(&log(&store, session), acks), [""; 0], "{session}");
        }
        assert_eq!(store.verify(None).unwrap().problems, []);
        acks.values().map(Vec::len).sum()
    }
}

/// Returns the seqs and ids of a session's events.
pub(crate) fn log(store: &PostgresStore, session: &str) -> Vec<(u64, String)> {
    let mut log: Vec<(u64, String)> = Vec::new();
    loop {
        let from = At::Seq(log.len() as u64);
        let page = store.read(&id(session), &forward(from, 500, false)).unwrap();
        log.extend(page.events.iter().map(|entry| (entry.seq, entry.event.id.to_string())));
        if !page.more {
            return log;
        }
    }
}

/// Appends events with the ids that it decides on, each until it is acknowledged.
fn write(store: &PostgresStore, shared: &Shared, session: &str, writer: usize) {
    let mut head = 0;
    for number in 0.. {
        let event = format!("w{writer}-{number}");
        // An attempt whose result is not known may be the one that wrote it.
        let invoked = Instant::now();
        let ack = loop {
            match store.append(&id(session), append(&event, Some(head))) {
                Ok(done) => {
                    head = done.head_seq;
                    let answered = Instant::now();
                    break Ack { event, seq: done.from_seq, invoked, answered };
                }
                Err(Error::Conflict { head: now, .. }) => head = now,
                // Whether it was written is not known, so it is repeated after the same head.
                Err(error @ (Error::Io { .. } | Error::Locked(_))) => {
                    *shared.errors.lock().unwrap().entry(error.to_string()).or_default() += 1;
                    if shared.is_over.load(Ordering::SeqCst) {
                        return;
                    }
                }
                Err(error) => panic!("{error}"),
            }
        };
        shared.acks.lock().unwrap().entry(session.into()).or_default().push(ack);
        shared.acknowledged.fetch_add(1, Ordering::SeqCst);
        if shared.is_over.load(Ordering::SeqCst) {
            return;
        }
    }
}
