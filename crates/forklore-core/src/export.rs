//! The port to writers of agents' session files.
//!
//! A file is written as a stream: the agent's own records as they were stored, changed only where a
//! new file must differ, and all other messages in the agent's form.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::event::Event;
use crate::id::{EventId, SessionId};
use crate::message::Message;

/// Writes the session files of one agent, and knows where the agent looks for them.
pub trait Export: Send + Sync {
    /// Makes a writer for one file.
    fn writer(&self, file: &NewFile) -> Box<dyn FileWriter>;

    /// Returns the agent's folder, or `None` if it reads session files from anywhere.
    fn home(&self) -> Option<Home>;

    /// Returns where the file goes. `read` reads a small file of the agent's folder.
    fn destination(&self, file: &NewFile, read: &dyn Fn(&Path) -> Option<String>) -> Placement;

    /// How many records stand in the file of the agent's own up to this one, where a new file can
    /// go on behind it without a copy of them.
    fn records_up_to(&self, last: &Event) -> Option<u64> {
        let _ = last;
        None
    }

    /// Returns the commands that start the agent with the file at `path`.
    fn start(&self, file: &NewFile, path: &str) -> Vec<Vec<String>>;
}

/// The folder in which an agent keeps its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// The environment variable that names it.
    pub variable: &'static str,
    /// Whether the variable names the folder that holds `folder`, like a home directory.
    pub holds: bool,
    /// Where it lies below the home directory otherwise, with `/`.
    pub folder: &'static str,
}

/// Where a session file goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The file, below the agent's folder.
    pub path: PathBuf,
    /// Small files that the agent wants to find there too, with what they say. They are made where
    /// they are missing and never changed.
    pub companions: Vec<(PathBuf, String)>,
}

/// A session file to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct NewFile {
    /// A UUID, from which the agent's own id of the session is made.
    pub id: SessionId,
    /// The folder that the agent is to work in.
    pub cwd: String,
    /// What time it is.
    pub now: Timestamp,
    /// What the session is called.
    pub title: Option<String>,
    /// The file that the session was read from.
    pub original: Option<Original>,
    /// What stays in the original's file; none copies everything.
    pub shared: Option<Shared>,
}

/// The beginning of a session that stays in another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The id by which the agent knows that file.
    pub file_id: String,
    /// How many records stand in it up to the end of the beginning.
    pub records: u64,
    /// Where the beginning ends in it.
    pub bytes: u64,
}

/// The file that a session goes on from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// Where it was seen.
    pub path: String,
    /// The id by which its agent knows it.
    pub native_id: String,
}

impl NewFile {
    /// A UUID of the file's own, the same one for the same number.
    #[must_use]
    pub fn fresh_id(&self, number: u64) -> String {
        EventId::derived(&self.id, number).as_str().to_owned()
    }
}

/// Writes one session file. The order of calls is the order of the methods.
pub trait FileWriter {
    /// Writes the beginning of the file, before the first event.
    ///
    /// # Errors
    /// If `out` cannot be written; the same for every method.
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()>;

    /// Writes a record of the agent's own. Returns whether the agent will see it.
    ///
    /// # Errors
    /// When `out` cannot be written.
    fn record(&mut self, event: &Event, out: &mut dyn Write) -> io::Result<bool>;

    /// Writes a message that is not a record of the agent's. An answer of the model comes as one
    /// message. The results of its calls follow, each in a message of its own, in the order of the
    /// calls and with the names of their tools.
    ///
    /// # Errors
    /// When `out` cannot be written.
    fn message(&mut self, timed: &TimedMessage<'_>, out: &mut dyn Write) -> io::Result<()>;

    /// Passes on a line of the original file that was no event, after all events.
    ///
    /// # Errors
    /// When `out` cannot be written.
    fn side(&mut self, line: &str, out: &mut dyn Write) -> io::Result<()> {
        let _ = (line, out);
        Ok(())
    }

    /// Writes what stands behind the last event, and says what of the messages has no place in
    /// the agent's form: kinds of parts, with their counts.
    ///
    /// # Errors
    /// When `out` cannot be written.
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
