//! The saver, and the threads that it has in memory.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use forklore_core::workspace::Workspace;
use forklore_core::{Header, SessionId};
use forklore_engine::{Engine, Error, Result};
use forklore_store::Error as StoreError;
use forklore_store::port::{Mark, SessionChange, Since};
use serde::Deserialize;

use crate::thread::{Thread, ThreadName};

/// The number of sessions in a page of the feed.
const FEED_PAGE: usize = 1000;
/// The number of threads in memory above which those that were not used for the longest time are
/// dropped.
const MOST_THREADS: usize = 256;
/// The size of the texts in memory above which threads are dropped.
const MOST_BYTES: usize = 512 << 20;

/// Stores the checkpoints of LangGraph as sessions. Several threads may call its methods at once, and
/// several processes may have savers over one store.
pub struct Saver {
    pub(crate) engine: Engine,
    pub(crate) workspace: Workspace,
    state: Mutex<Threads>,
    generations: AtomicU64,
}

/// The threads in memory, and the position in the feed of the store up to which they are current.
#[derive(Default)]
struct Threads {
    mark: Option<Mark>,
    slots: HashMap<ThreadName, Arc<Slot>>,
    sessions: HashMap<SessionId, ThreadName>,
    uses: u64,
}

/// A thread in memory, and what other writers did to it since it was used.
pub(crate) struct Slot {
    thread: Mutex<Thread>,
    news: Mutex<Vec<News>>,
    used: AtomicU64,
    bytes: AtomicU64,
}

/// A change by some writer.
pub(crate) enum News {
    /// The thread has a further session.
    Session(Box<Header>),
    /// A session has events up to this seq.
    Head(SessionId, i64),
}

impl Slot {
    pub(crate) fn thread(&self) -> MutexGuard<'_, Thread> {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn news(&self) -> Vec<News> {
        std::mem::take(&mut *self.news.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, news: News) {
        self.news.lock().unwrap_or_else(PoisonError::into_inner).push(news);
    }

    /// Records how much memory the thread uses.
    pub(crate) fn weigh(&self, thread: &Thread) {
        self.bytes.store(thread.elements.bytes() as u64, Ordering::Relaxed);
    }
}

impl Saver {
    /// Creates a saver over the store of an engine. The sessions that it makes belong to `workspace`.
    #[must_use]
    pub fn new(engine: Engine, workspace: Workspace) -> Self {
        Self { engine, workspace, state: Mutex::default(), generations: AtomicU64::new(1) }
    }

    pub(crate) fn next_generation(&self) -> u64 {
        self.generations.fetch_add(1, Ordering::Relaxed)
    }

    fn threads(&self) -> MutexGuard<'_, Threads> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what all writers did since the last call.
    pub(crate) fn refresh(&self) -> Result<()> {
        self.follow(&mut self.threads())
    }

    /// Returns a thread if it is in memory, as it was at the last [`refresh`](Self::refresh).
    pub(crate) fn in_memory(&self, name: &ThreadName) -> Option<Arc<Slot>> {
        let mut threads = self.threads();
        threads.uses += 1;
        let found = threads.slots.get(name).cloned();
        if let Some(slot) = &found {
            slot.used.store(threads.uses, Ordering::Relaxed);
        }
        found
    }

    /// Adds a thread that was read, unless another call was faster.
    pub(crate) fn insert(&self, thread: Thread) -> Arc<Slot> {
        let mut threads = self.threads();
        threads.uses += 1;
        let name = thread.name.clone();
        for line in &thread.lines {
            threads.sessions.insert(line.session.clone(), name.clone());
        }
        let (used, bytes) = (AtomicU64::new(threads.uses), AtomicU64::new(0));
        let slot = Slot { thread: Mutex::new(thread), news: Mutex::default(), used, bytes };
        let slot = threads.slots.entry(name).or_insert_with(|| Arc::new(slot)).clone();
        threads.drop_unused();
        slot
    }

    /// Notes that a session belongs to a thread in memory.
    pub(crate) fn route(&self, session: &SessionId, name: &ThreadName) {
        self.threads().sessions.insert(session.clone(), name.clone());
    }

    /// Drops a thread from memory. It is read again when it is used.
    pub(crate) fn forget(&self, name: &ThreadName) {
        self.threads().forget(name);
    }

    fn follow(&self, threads: &mut Threads) -> Result<()> {
        let store = self.engine.store();
        loop {
            let since = threads.mark.clone().map_or(Since::Now, Since::Mark);
            let page = match store.changes(&since, FEED_PAGE, Duration::ZERO) {
                // The store is an older copy now, so nothing in memory is certain.
                Err(StoreError::MarkExpired { .. } | StoreError::ForeignMark(_)) => {
                    *threads = Threads { uses: threads.uses, ..Threads::default() };
                    continue;
                }
                page => page?,
            };
            threads.mark = Some(page.mark);
            self.note(threads, &page.sessions)?;
            if !page.more {
                return Ok(());
            }
        }
    }

    fn note(&self, threads: &mut Threads, changes: &[SessionChange]) -> Result<()> {
        let mut created = Vec::new();
        for change in changes {
            let id = &change.session;
            match threads.sessions.get(id).cloned() {
                Some(name) if change.removed => threads.forget(&name),
                Some(name) if change.changed || (change.created && self.is_rewritten(id)?) => {
                    threads.forget(&name);
                }
                Some(name) => threads.tell(&name, News::Head(id.clone(), change.head_seq)),
                None if change.created && !change.removed => created.push(id.clone()),
                None => {}
            }
        }
        if threads.slots.is_empty() || created.is_empty() {
            return Ok(());
        }
        for header in self.engine.store().headers(&created)? {
            let Ok(header) = header else { continue };
            if header.deleted.is_none()
                && let Some(name) = ThreadName::of(&header)
            {
                threads.sessions.insert(header.id.clone(), name.clone());
                threads.tell(&name, News::Session(Box::new(header)));
            }
        }
        Ok(())
    }

    /// Checks whether the feed reports a session as created because events of it were redacted.
    fn is_rewritten(&self, session: &SessionId) -> Result<bool> {
        Ok(!self.engine.store().redacted(session)?.is_empty())
    }
}

impl Threads {
    fn tell(&self, name: &ThreadName, news: News) {
        if let Some(slot) = self.slots.get(name) {
            slot.add(news);
        }
    }

    fn forget(&mut self, name: &ThreadName) {
        self.slots.remove(name);
        self.sessions.retain(|_, of| of != name);
    }

    /// Drops the threads that were not used for the longest time, if there are too many.
    fn drop_unused(&mut self) {
        loop {
            let bytes: u64 = self.slots.values().map(|it| it.bytes.load(Ordering::Relaxed)).sum();
            let fits = self.slots.len() <= MOST_THREADS && bytes <= MOST_BYTES as u64;
            if fits || self.slots.len() <= 1 {
                return;
            }
            let oldest = self.slots.iter().min_by_key(|(_, it)| it.used.load(Ordering::Relaxed));
            let Some(name) = oldest.map(|(name, _)| name.clone()) else { return };
            self.forget(&name);
        }
    }
}

impl std::fmt::Debug for Saver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Saver").field("workspace", &self.workspace).finish_non_exhaustive()
    }
}

/// Reads a request.
pub(crate) fn read<'a, T: Deserialize<'a>>(request: &'a str) -> Result<T> {
    serde_json::from_str(request).map_err(|_| {
        // Only now, because it takes longer.
        let json = &mut serde_json::Deserializer::from_str(request);
        match serde_path_to_error::deserialize::<_, T>(json) {
            Err(error) => invalid("request", error.to_string()),
            Ok(_) => invalid("request", "something follows the request"),
        }
    })
}

pub(crate) fn invalid(reason: &'static str, message: impl Into<String>) -> Error {
    Error::Invalid { reason, message: message.into() }
}
