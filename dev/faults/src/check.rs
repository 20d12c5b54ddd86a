//! Checks that a store contains what the recorded calls and answers of its users require.

mod answers;
mod appends;
mod free;
mod imports;
mod labels;
mod sessions;
mod unowned;

pub use free::{claim_open, remains};
pub use imports::compare_import;
pub use unowned::unowned;

use std::cell::RefCell;
use std::collections::BTreeMap;

use forklore_conformance::scene::{forward, id, text};
use forklore_core::Header;
use forklore_store::port::{At, Filter, Headers, LogEntry};

use crate::caller::content;
use crate::history::{Call, Entry};
use crate::kind::Opened;

/// Checks a store after a test: its contents, the calls that were made to it, and the violations
/// found so far.
pub struct Check<'a> {
    entries: &'a [Entry],
    headers: BTreeMap<String, Header>,
    logs: BTreeMap<String, Vec<LogEntry>>,
    problems: RefCell<Vec<String>>,
    limited: bool,
}

impl<'a> Check<'a> {
    /// Reads the whole store. Records as violations what cannot be read, and the problems that
    /// `Store::verify` reports.
    #[must_use]
    pub fn new(opened: &Opened, entries: &'a [Entry]) -> Self {
        let mut check = Self {
            entries,
            headers: BTreeMap::new(),
            logs: BTreeMap::new(),
            problems: RefCell::default(),
            limited: false,
        };
        check.read(opened);
        check
    }

    /// Declares that the store reached a resource limit during the test. Errors of its calls that
    /// name the limit are then no violations.
    #[must_use]
    pub fn limited(mut self) -> Self {
        self.limited = true;
        self
    }

    /// Runs all checks of the store and returns the violations. The list is empty if there are
    /// none.
    #[must_use]
    pub fn problems(self) -> Vec<String> {
        self.answers();
        self.appends();
        self.sessions();
        self.labels();
        self.problems.into_inner()
    }

    fn read(&mut self, opened: &Opened) {
        let store = opened.store();
        match store.verify(None) {
            Ok(found) => {
                let problems = found.problems.iter();
                problems.for_each(|problem| self.wrong(format!("verify: {problem:?}")));
            }
            Err(error) => self.wrong(format!("verify fails: {error}")),
        }
        let all = Filter { deleted: true, ..Filter::default() };
        match store.sessions(&all, None, 0).and_then(Headers::all) {
            Ok(found) => {
                self.headers = found.into_iter().map(|it| (it.id.to_string(), it)).collect();
            }
            Err(error) => self.wrong(format!("listing fails: {error}")),
        }
        for (name, header) in &self.headers {
            match log(opened, name) {
                Ok(log) => {
                    self.logs.insert(name.clone(), log);
                }
                Err(_) if header.deleted.is_some() => {}
                Err(error) => self.wrong(format!("{name} does not load: {error}")),
            }
        }
    }

    fn wrong(&self, problem: String) {
        self.problems.borrow_mut().push(problem);
    }

    /// Returns the recorded calls about a session, in the order in which they were recorded.
    fn about(&self, session: &str) -> impl Iterator<Item = &'a Entry> {
        self.entries.iter().filter(move |entry| entry.call.session() == Some(session))
    }

    /// Checks whether the session was or may have been deleted by a call that began before `time`.
    /// A delete without an answer may have been executed.
    fn deleted_before(&self, session: &str, time: u64) -> bool {
        self.about(session).any(|entry| {
            matches!(entry.call, Call::Delete { .. })
                && (entry.is_done() || entry.is_open())
                && entry.invoked < time
        })
    }
}

/// Reads the whole log of a session, including inherited events.
///
/// # Errors
/// The errors of the store.
pub fn log(opened: &Opened, session: &str) -> forklore_store::Result<Vec<LogEntry>> {
    let mut log: Vec<LogEntry> = Vec::new();
    loop {
        let from = At::Seq(log.len() as u64);
        let page = opened.store().read(&id(session), &forward(from, 500, false))?;
        log.extend(page.events);
        if !page.more {
            return Ok(log);
        }
    }
}

/// Checks whether an event's text is complete. The event's id determines which text it must have.
fn is_whole(stored: &LogEntry) -> bool {
    text(&stored.event) == content(stored.event.id.as_str())
}
