//! Counts what a session did from a message on: tool calls, changed files, and tests.

use std::collections::{BTreeMap, HashMap};

use forklore_api::TestCounts;
use forklore_core::describe::{Change, Describer, FileEdit, Outcome, file_edits};
use forklore_core::{Data, EventType, Header, Part, Role, SessionId};
use forklore_engine::Engine;
use forklore_store::port::{At, Direction, Query};
use serde::Deserialize;
use serde_json::Value;

use crate::answer::Answer;
use crate::entry::{self, Kind};

/// The largest number of events that are read.
const LOOKED_AT: usize = 10_000;
/// The largest number of files, and of tools, that are counted.
const MOST: usize = 200;
/// The length of a text that is shown in a table, in bytes.
const WORDS: usize = 300;
/// The words in a command that runs tests.
const TESTS: [&str; 10] =
    ["test", "tests", "pytest", "nextest", "jest", "vitest", "rspec", "ctest", "tox", "unittest"];

/// How often something was done, and how often it failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Calls {
    pub(crate) all: u64,
    pub(crate) failed: u64,
}

/// The changes of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

/// What a session did from a message on.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Deeds {
    pub(crate) tools: BTreeMap<String, Calls>,
    /// The changed files. A call that failed changed none.
    pub(crate) files: BTreeMap<String, Lines>,
    /// The commands that ran tests.
    pub(crate) tests: Calls,
    /// Whether the last of these commands failed. `None` if there was none with a result.
    pub(crate) last_test_failed: Option<bool>,
    /// The first words of a user.
    pub(crate) prompt: Option<String>,
    /// The last words of the model.
    pub(crate) reply: Option<String>,
    pub(crate) model: Option<String>,
    /// What a judge said of the session itself, not of the one from which it was forked.
    pub(crate) mark: Option<Mark>,
    /// Whether there are more events than are counted.
    pub(crate) has_more: bool,
    open: HashMap<String, Open>,
}

/// What the judge of `forklore explore` said (docs/semantics.md, Marks).
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Mark {
    name: String,
    pub(crate) judge: Option<String>,
    pub(crate) score: Option<f64>,
    pub(crate) error: Option<String>,
    pub(crate) tests: Option<TestCounts>,
    /// How many files the agent of an attempt changed, and by how many lines.
    pub(crate) files: Option<u64>,
    added: Option<usize>,
    removed: Option<usize>,
    pub(crate) seconds: Option<f64>,
}

impl Mark {
    /// Returns the lines that the agent of an attempt changed.
    pub(crate) fn lines(&self) -> Lines {
        let number = |lines: Option<usize>| lines.unwrap_or_default();
        Lines { added: number(self.added), removed: number(self.removed) }
    }
}

/// A call without a result yet.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Open {
    tool: String,
    is_test: bool,
    edits: Vec<(String, Lines)>,
}

/// Counts what a session did from the message with this index on.
pub(crate) fn read(engine: &Engine, header: &Header, index: u64) -> Answer<Deeds> {
    let mut deeds = Deeds::default();
    if index >= header.counts.index {
        return Ok(deeds);
    }
    let describer = Describer::in_folder(header.workspace.as_str());
    for (number, stored) in engine.events(&header.id, At::Index(index)).enumerate() {
        let stored = stored?;
        if number == LOOKED_AT {
            deeds.has_more = true;
            break;
        }
        let model = engine.call_usage(&stored).and_then(|usage| usage.model);
        deeds.model = model.or(deeds.model);
        let is_own = stored.seq >= header.inherited.inheritable;
        if stored.event.kind == EventType::WORKFLOW_EVENT && is_own {
            let mark = stored.event.data.readable().read::<Mark>().ok();
            deeds.mark = mark.filter(|mark| mark.name == "judged").or(deeds.mark);
        }
        if !stored.event.class.is_conversation() {
            continue;
        }
        let (kind, parts) = entry::parts(engine, &stored.event);
        for part in &parts {
            deeds.add(kind, part, &describer);
        }
    }
    Ok(deeds)
}

/// Returns the model that a session called last, from its last events.
pub(crate) fn last_model(engine: &Engine, session: &SessionId, end: u64) -> Option<String> {
    let at = At::Seq(end.checked_sub(1)?);
    let query = Query { at, direction: Direction::Backward, limit: 32, bare: false };
    let events = engine.store().read(session, &query).ok()?.events;
    events.iter().find_map(|stored| engine.call_usage(stored)?.model)
}

impl Deeds {
    fn add(&mut self, kind: Kind, part: &Part, describer: &Describer) {
        match (kind, part) {
            (Kind::Message(Role::User), Part::Text { text }) if self.prompt.is_none() => {
                self.prompt = Some(beginning(text));
            }
            (Kind::Message(Role::Assistant), Part::Text { text }) if !text.trim().is_empty() => {
                self.reply = Some(beginning(text));
            }
            (_, Part::ToolCall { id, name, arguments }) => {
                self.call(id, name, arguments, describer);
            }
            (_, Part::ToolResult { call_id, .. }) => self.result(call_id, part),
            _ => {}
        }
    }

    fn call(&mut self, id: &str, tool: &str, arguments: &Data, describer: &Describer) {
        let value: Value = arguments.readable().read().unwrap_or_default();
        let lines = |edit: &FileEdit, mark| {
            let lines = edit.changes.iter().flat_map(Change::marked);
            lines.filter(|(it, _)| *it == mark).count()
        };
        let edits = file_edits(&value).into_iter().map(|edit| {
            let lines = Lines { added: lines(&edit, '+'), removed: lines(&edit, '-') };
            (describer.relative(&edit.path).to_owned(), lines)
        });
        let is_test = is_test(&value);
        if self.tools.len() < MOST || self.tools.contains_key(tool) {
            self.tools.entry(tool.to_owned()).or_default().all += 1;
        }
        self.tests.all += u64::from(is_test);
        let call = Open { tool: tool.to_owned(), is_test, edits: edits.collect() };
        self.open.insert(id.to_owned(), call);
    }

    fn result(&mut self, id: &str, part: &Part) {
        let Some(call) = self.open.remove(id) else { return };
        let failed = Outcome::of(part).is_some_and(|outcome| outcome.failed);
        if let Some(calls) = self.tools.get_mut(&call.tool) {
            calls.failed += u64::from(failed);
        }
        if call.is_test {
            self.tests.failed += u64::from(failed);
            self.last_test_failed = Some(failed);
        }
        if failed {
            return;
        }
        for (path, lines) in call.edits {
            if self.files.len() < MOST || self.files.contains_key(&path) {
                let sum = self.files.entry(path).or_default();
                sum.added += lines.added;
                sum.removed += lines.removed;
            }
        }
    }
}

/// Checks whether the arguments of a call have a command that runs tests.
fn is_test(arguments: &Value) -> bool {
    let of_text = |text: &str| {
        let words = text.split(|c: char| !c.is_alphanumeric());
        words.into_iter().any(|word| TESTS.contains(&word))
    };
    ["command", "cmd", "script"].iter().any(|name| match arguments.get(name) {
        Some(Value::String(command)) => of_text(command),
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).any(of_text),
        _ => false,
    })
}

fn beginning(text: &str) -> String {
    let text = text.trim();
    let short = forklore_core::summary::beginning(text, WORDS);
    if short.len() < text.len() { format!("{short}…") } else { short.to_owned() }
}
