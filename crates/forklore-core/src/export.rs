//! The interface for writing agents' session files.
//!
//! A file is written as a stream. The agent's own records are written as they were stored, changed
//! only where a new file must differ; all other messages are converted to the agent's format.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::event::Event;
use crate::id::{EventId, SessionId};
use crate::message::Message;

/// Writes the session files of one agent, and finds where the agent looks for them.
pub trait Export: Send + Sync {
    /// Creates a writer for one file.
    fn writer(&self, file: &NewFile) -> Box<dyn FileWriter>;

    /// Returns the agent's folder, or `None` if it reads session files from anywhere.
    fn home(&self) -> Option<Home>;

    /// Returns the path for the file. `read` reads a small file below the agent's folder.
    ///
    /// # Errors
    /// If every folder in which the agent would look for the file belongs to something else.
    fn destination(
        &self,
        file: &NewFile,
        read: &dyn Fn(&Path) -> Option<String>,
    ) -> Result<Placement, NoDestination>;

    /// Returns the number of records in the agent's own file up to and including `last`, if a new
    /// file can continue after it without copying them.
    fn records_up_to(&self, last: &Event) -> Option<u64> {
        let _ = last;
        None
    }

    /// Returns the commands that start the agent with the file at `path`.
    fn start(&self, file: &NewFile, path: &str) -> Vec<Vec<String>>;
}

/// The folder in which an agent stores its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// The environment variable that overrides it.
    pub variable: &'static str,
    /// Whether the variable names the parent of `folder`, like a home directory, and not the folder
    /// itself.
    pub holds: bool,
    /// The folder's default path relative to the home directory, with `/`.
    pub folder: &'static str,
}

/// The location of a session file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The path of the file, relative to the agent's folder.
    pub path: PathBuf,
    /// Small files that the agent expects in its folder too, with their contents. They are created
    /// if they are missing, and never changed.
    pub companions: Vec<(PathBuf, String)>,
}

/// The reason why an agent's folder has no path for a new session file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoDestination(pub String);

/// A session file to write.
#[derive(Clone, Debug, PartialEq)]
pub struct NewFile {
    /// A UUID, from which the agent's own id of the session is derived.
    pub id: SessionId,
    /// The working directory for the agent.
    pub cwd: String,
    /// The current time.
    pub now: Timestamp,
    /// The session's title.
    pub title: Option<String>,
    /// The file from which the session was imported.
    pub original: Option<Original>,
    /// The part that stays in the original's file; `None` copies everything.
    pub shared: Option<Shared>,
}

/// The beginning of a session that stays in another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The id by which the agent refers to that file.
    pub file_id: String,
    /// The number of records in that file up to the end of the beginning.
    pub records: u64,
    /// The byte offset in that file at which the beginning ends.
    pub bytes: u64,
}

/// The file that a session continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// The path at which it was found.
    pub path: String,
    /// The id by which its agent refers to it.
    pub native_id: String,
}

impl NewFile {
    /// Returns a UUID for use in this file. The same number gives the same UUID.
    #[must_use]
    pub fn fresh_id(&self, number: u64) -> String {
        EventId::derived(&self.id, number).as_str().to_owned()
    }
}

/// Writes one session file. Call the methods in the order in which they are declared.
pub trait FileWriter {
    /// Writes the beginning of the file, before the first event.
    ///
    /// # Errors
    /// If writing to `out` fails.
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()>;

    /// Writes a record of the agent's own. Returns whether the agent will see it.
    ///
    /// # Errors
    /// If writing to `out` fails.
    fn record(&mut self, event: &Event, out: &mut dyn Write) -> io::Result<bool>;

    /// Writes a message that is not a record of the agent's. An answer of the model comes as one
    /// message. The results of its calls follow, each in its own message, in the order of the calls
    /// and with the names of their tools.
    ///
    /// # Errors
    /// If writing to `out` fails.
    fn message(&mut self, timed: &TimedMessage<'_>, out: &mut dyn Write) -> io::Result<()>;

    /// Writes a line of the original file that was not an event, after all events. By default, the
    /// line is dropped.
    ///
    /// # Errors
    /// If writing to `out` fails.
    fn side(&mut self, line: &str, out: &mut dyn Write) -> io::Result<()> {
        let _ = (line, out);
        Ok(())
    }

    /// Writes what follows the last event. Returns the parts of messages that the agent's format
    /// cannot represent: their kinds, with counts.
    ///
    /// # Errors
    /// If writing to `out` fails.
    fn finish(&mut self, out: &mut dyn Write) -> io::Result<BTreeMap<String, u64>>;
}

/// A message with its time and its position in the turn.
#[derive(Clone, Copy, Debug)]
pub struct TimedMessage<'a> {
    /// The message.
    pub message: &'a Message,
    /// The time of its event.
    pub ts: Timestamp,
    /// Whether it starts a turn.
    pub starts_turn: bool,
}
