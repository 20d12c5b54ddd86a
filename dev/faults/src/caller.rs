//! Makes the calls of a history, and reports each call before and after it.

use std::path::Path;

use forklore::import::{ImportOptions, Importer, ProblemKind};
use forklore::{Engine, Error as EngineError};
use forklore_conformance::events::{Clock, Draft, session_fork, user};
use forklore_conformance::scene::{forward, id};
use forklore_core::header::{Strategy, ToolCallPolicy};
use forklore_core::workspace::Workspace;
use forklore_core::{Cut, Event, Label, SessionId, SessionKind};
use forklore_store::Error;
use forklore_store::port::{Append, At, Beginning, Change, Children, NewSession};
use jiff::Timestamp;

use crate::history::{Answer, Call, Line, monotonic};
use crate::kind::Opened;

/// Returns the text that a test stores in the event with the id `event`. The text depends only on
/// the id, so that a reader can check every byte. Most texts are short; some fill several database
/// pages.
#[must_use]
pub fn content(event: &str) -> String {
    let sum = event.bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31) + usize::from(byte));
    let fill = match sum % 20 {
        0 => 20_000,
        1..5 => 3_000,
        _ => 100,
    };
    format!("{event} {}", "lorem ipsum ".chars().cycle().take(sum % fill).collect::<String>())
}

/// Returns the current time, rounded to the precision of a store: microseconds.
#[must_use]
pub fn now() -> Timestamp {
    forklore_core::event::to_micros(Timestamp::now())
}

/// Makes the calls of one test process to a store, and records them.
pub struct Caller<'a> {
    opened: &'a Opened,
    note: Box<dyn FnMut(Line) + 'a>,
    calls: u64,
    clock: Clock,
}

impl<'a> Caller<'a> {
    /// Creates a caller for an opened store. It passes a record of each call to `note` before the
    /// call, and a record of the answer after it.
    pub fn new(opened: &'a Opened, note: impl FnMut(Line) + 'a) -> Self {
        Self { opened, note: Box::new(note), calls: 0, clock: Clock::default() }
    }

    /// Returns the opened store to which the calls are made.
    #[must_use]
    pub fn opened(&self) -> &'a Opened {
        self.opened
    }

    /// Returns the number of calls made so far.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Makes a call and returns the store's answer. Passes a record of the call to the recording
    /// function before the call, and a record of the answer after it.
    pub fn call(&mut self, call: Call) -> Answer {
        let number = self.calls;
        self.calls += 1;
        (self.note)(Line::Invoked { number, at: monotonic(), call: call.clone() });
        let answer = self.answer(&call);
        (self.note)(Line::Answered { number, at: monotonic(), answer: answer.clone() });
        answer
    }

    fn answer(&self, call: &Call) -> Answer {
        let store = self.opened.store();
        let answered = match call {
            Call::Append { session, events, expect } => {
                let append = self.append(events, *expect);
                store.append(&id(session), append).map(|appended| Answer::Appended {
                    from: appended.from_seq,
                    to: appended.to_seq,
                    repeated: appended.repeated,
                })
            }
            Call::Create { .. } => {
                self.session(call).and_then(|new| store.create(new)).map(|_| Answer::Done)
            }
            Call::Delete { session, refuse } => {
                let children = if *refuse { Children::Refuse } else { Children::Retain };
                store.remove(&[id(session)], children, now()).map(|_| Answer::Done)
            }
            Call::Detach { session } => {
                store.change(&id(session), &Change::Detach).map(|_| Answer::Done)
            }
            Call::Label { session, label } => {
                let label = label.parse().expect("a label");
                store.change(&id(session), &Change::Label(label)).map(|_| Answer::Done)
            }
            Call::Collect => store.gc().map(|_| Answer::Done),
            Call::Import { path } => {
                let imported = import(&self.opened.engine, Path::new(path));
                return imported.map_or_else(|error| Answer::refused(&error), |()| Answer::Done);
            }
        };
        answered.unwrap_or_else(|error| Answer::refused(&error.into()))
    }

    fn events(&self, drafts: impl IntoIterator<Item = Draft>) -> Vec<Event> {
        drafts.into_iter().map(|draft| draft.build(&self.clock)).collect()
    }

    fn append(&self, events: &[String], expect: Option<i64>) -> Append {
        let events = self.events(events.iter().map(|event| user(&content(event)).id(event)));
        Append { events, expect, owner: None, usage: Default::default(), now: now() }
    }

    fn session(&self, call: &Call) -> Result<NewSession, Error> {
        let Call::Create { session, parent, inheritable: stored, copy, events } = call else {
            return Err(Error::Invalid("the call makes no session".into()));
        };
        let drafts = events.iter().map(|event| user(&content(event)).id(event));
        let fork = parent.iter().map(|_| session_fork());
        let from = parent.as_ref().map(|parent| self.beginning(&id(parent), *stored, *copy));
        Ok(NewSession {
            id: id(session),
            kind: if parent.is_some() { SessionKind::Branch } else { SessionKind::Root },
            label: match parent {
                Some(_) => session.parse().expect("a label"),
                None => Label::main(),
            },
            title: None,
            workspace: Workspace::new("/home/me/demo"),
            principal: None,
            permissions: None,
            metadata: None,
            config: None,
            dialect: None,
            source: None,
            copy_of: None,
            created: now(),
            from: from.transpose()?,
            events: self.events(fork.chain(drafts)),
            usage: Default::default(),
        })
    }

    /// Returns the position where a new child of `parent` begins. The child inherits the first
    /// `inheritable` inheritable events of `parent`.
    fn beginning(
        &self,
        parent: &SessionId,
        inheritable: u64,
        copy: bool,
    ) -> Result<Beginning, Error> {
        let page =
            self.opened.store().read(parent, &forward(At::Inheritable(inheritable), 1, true))?;
        let last = page.events.into_iter().next();
        let last = last.ok_or_else(|| Error::Invalid("there is no such event".into()))?;
        Ok(Beginning {
            parent: parent.clone(),
            // In these histories every event is a turn by itself.
            cut: Cut::behind(last.counts, last.seq, last.event.id, true, true),
            strategy: if copy { Strategy::ReplayV1 } else { Strategy::ShareV1 },
            tool_calls: ToolCallPolicy::Verbatim,
        })
    }
}

/// Imports a file, which another process may be writing at the same time. Therefore an incomplete
/// last line is accepted. Any other problem is an error.
fn import(engine: &Engine, path: &Path) -> Result<(), EngineError> {
    let options = ImportOptions::in_workspace(Workspace::new("/here"));
    let report = Importer::new(engine).import(&[path.to_owned()], &options, &mut |_| {})?;
    let wrong = report.problems.iter().find(|problem| problem.kind != ProblemKind::Incomplete);
    match wrong {
        None => Ok(()),
        Some(problem) => Err(Error::Invalid(format!("{problem:?}")).into()),
    }
}
