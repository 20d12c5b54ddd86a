//! Writes only the lines of a session that are new since the last import.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::io::{BufRead, Write};

use forklore_core::session_container::ExpandError;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::line;

/// What a JSON line about a session describes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Subject {
    /// The values of the session that never change.
    Session,
    /// All current values of the session.
    Whole,
    Message(String),
    Orphan(String),
}

#[derive(Deserialize)]
struct WrittenLine<'a> {
    #[serde(default)]
    info: Option<Named>,
    #[serde(borrow, default)]
    parts: Option<&'a RawValue>,
    #[serde(default)]
    part: Option<Named>,
    #[serde(default)]
    message: Option<Named>,
    #[serde(default)]
    deleted: Vec<String>,
    #[serde(default)]
    whole: bool,
}

#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    id: String,
}

/// A writer of the JSON lines of a session that are new since the last import. A line is new if its
/// hash differs from that of the last imported line with the same subject.
pub(crate) struct Lines<'a> {
    out: &'a mut dyn Write,
    /// The hash of the last imported line for each subject: the session, one of its messages, or a
    /// part without a message.
    written: HashMap<Subject, u64>,
}

impl<'a> Lines<'a> {
    /// Creates a writer of new lines to `out`. First reads, from `written`, the lines that earlier
    /// imports wrote.
    pub(crate) fn behind(
        written: &mut dyn BufRead,
        out: &'a mut dyn Write,
    ) -> Result<Self, ExpandError> {
        let mut lines = Self { out, written: HashMap::new() };
        let mut line = String::new();
        while written.read_line(&mut line).map_err(failed("cannot read what is known"))? > 0 {
            lines.learn(&line);
            line.clear();
        }
        Ok(lines)
    }

    fn learn(&mut self, line: &str) {
        let Ok(written) = serde_json::from_str::<WrittenLine<'_>>(line) else { return };
        for id in written.deleted {
            self.written.remove(&Subject::Message(id));
        }
        if let Some(message) = written.message {
            self.written.insert(Subject::Message(message.id), mark(line));
            return;
        }
        let about = match (written.info, written.parts, written.part) {
            (Some(info), Some(_), _) => Subject::Message(info.id),
            (Some(_), None, _) if written.whole => Subject::Whole,
            (Some(_), None, _) => Subject::Session,
            (None, _, Some(part)) => Subject::Orphan(part.id),
            _ => return,
        };
        self.written.insert(about, mark(line));
    }

    /// Writes the JSON line with the values of a session that never change, if the line is new.
    /// Call this before the other lines are written.
    pub(crate) fn session(&mut self, info: &str) -> Result<(), ExpandError> {
        self.write(&Subject::Session, &line::session(info))
    }

    /// Writes the JSON line with all current values of the session, if a value changed. Call this
    /// after all other lines, because the values refer to messages, for example the point of a
    /// revert.
    pub(crate) fn whole(&mut self, info: &str) -> Result<(), ExpandError> {
        self.write(&Subject::Whole, &line::whole(info))
    }

    /// Writes the JSON line of a message, if the message is new or changed. Callers must write
    /// messages in the order of the conversation.
    pub(crate) fn message(
        &mut self,
        id: &str,
        info: &str,
        parts: &[String],
    ) -> Result<(), ExpandError> {
        self.write(&Subject::Message(id.to_owned()), &line::message(info, parts))
    }

    /// Writes the JSON line of a message of opencode's second version, if the message is new or
    /// changed. Callers must write messages in the order of the conversation.
    pub(crate) fn journal_message(&mut self, id: &str, message: &str) -> Result<(), ExpandError> {
        self.write(&Subject::Message(id.to_owned()), &line::journal_message(message))
    }

    pub(crate) fn orphan(&mut self, id: &str, part: &str) -> Result<(), ExpandError> {
        self.write(&Subject::Orphan(id.to_owned()), &line::orphan(part))
    }

    /// Writes a JSON line with the ids of the imported messages that opencode has since deleted.
    /// `there` contains the ids of the messages that still exist. Writes nothing if no message was
    /// deleted.
    pub(crate) fn deleted(&mut self, there: &HashSet<String>) -> Result<(), ExpandError> {
        let gone = self.written.keys().filter_map(|about| match about {
            Subject::Message(id) if !there.contains(id) => Some(id.clone()),
            _ => None,
        });
        let mut gone: Vec<_> = gone.collect();
        if gone.is_empty() {
            return Ok(());
        }
        gone.sort();
        self.put(&line::deleted(&gone))
    }

    fn write(&mut self, about: &Subject, line: &str) -> Result<(), ExpandError> {
        if self.written.get(about) == Some(&mark(line)) {
            return Ok(());
        }
        self.put(line)
    }

    fn put(&mut self, line: &str) -> Result<(), ExpandError> {
        self.out.write_all(line.as_bytes()).map_err(failed("cannot write the lines of a session"))
    }
}

fn mark(line: &str) -> u64 {
    let mut hash = DefaultHasher::new();
    line.hash(&mut hash);
    hash.finish()
}

fn failed(doing: &'static str) -> impl Fn(std::io::Error) -> ExpandError {
    move |source| ExpandError::Io { doing: doing.into(), source }
}
