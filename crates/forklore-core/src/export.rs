//! The interface that writes session files of other agents.
//!
//! A file is written as a stream. Records that the same agent wrote are copied, and changed only
//! where a new file must differ, for example in ids. All other messages are converted to the
//! agent's format.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::data::Data;
use crate::event::Event;
use crate::id::{EventId, SessionId};
use crate::message::Message;

/// Writes session files of one agent, and finds the paths at which the agent looks for them.
pub trait Export: Send + Sync {
    /// Creates a writer for one file.
    fn writer(&self, file: &NewFile) -> Box<dyn FileWriter>;

    /// Returns the folder in which the agent looks for its session files; `None` if the agent opens
    /// a session file at any path.
    fn home(&self) -> Option<Home>;

    /// Checks whether the agent stores its sessions in the directory in which it works. The paths
    /// of [`Export::destination`] are then relative to this directory.
    fn is_in_workspace(&self) -> bool {
        false
    }

    /// Returns the path for the new session file. The callback `read` returns the content of a
    /// small file in the agent's folder, or `None` if that small file does not exist.
    ///
    /// # Errors
    /// If every folder in which the agent would look for the file is already in use for something
    /// else.
    fn destination(
        &self,
        file: &NewFile,
        read: &dyn Fn(&Path) -> Option<String>,
    ) -> Result<Placement, NoDestination>;

    /// Returns the number of records up to and including `last`, in the file from which `last` was
    /// imported. The new file can refer to these records in that file. `None` if the new file must
    /// copy the records instead.
    fn records_up_to(&self, last: &Event) -> Option<u64> {
        let _ = last;
        None
    }

    /// Checks whether a new file names the session of which it is a fork, whichever file the records
    /// were first written to. If so, [`NewFile::original`] is the nearest ancestor that was imported
    /// from the agent, or the session itself. Otherwise it is the file that contains the last record.
    fn names_parent(&self) -> bool {
        false
    }

    /// Returns the path for a copy of a sidecar of the original session file, relative to the
    /// agent's folder. `name` is the sidecar's path relative to the folder of the original file.
    /// `None` if the new session needs no copy. The caller copies a sidecar only if a record of the
    /// new file contains the sidecar's file name without its extension.
    fn sidecar(&self, file: &NewFile, name: &Path) -> Option<PathBuf> {
        let _ = (file, name);
        None
    }

    /// Returns the commands that start the agent with the new file at `path`, in the order in which
    /// to run them. Each command is a program and its arguments.
    fn start(&self, file: &NewFile, path: &str) -> Vec<Vec<String>>;

    /// Returns the commands with which the agent goes on with the new file at `path` by itself and
    /// ends: one prompt, no terminal, no questions. Each command is a program and its arguments, and
    /// runs in the directory in which the agent works. `None` if the agent cannot do this.
    fn unattended(&self, file: &NewFile, path: &str, run: &Unattended) -> Option<Vec<Vec<String>>> {
        let _ = (file, path, run);
        None
    }

    /// Checks whether the last of the commands of [`Export::unattended`] reads the prompt from its
    /// standard input: an argument has a limit, and other users of the machine see it. Otherwise the
    /// prompt is one of its arguments.
    fn reads_prompt(&self) -> bool {
        true
    }

    /// Returns what the user types into the agent to open the new session, after the commands of
    /// [`Export::start`]. `None` if these commands open it.
    fn first_input(&self, file: &NewFile) -> Option<String> {
        let _ = file;
        None
    }
}

/// What an agent does without a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unattended {
    /// What the agent is to do.
    pub prompt: String,
    /// The model, by the name that the agent has for it. `None` is the agent's own choice.
    pub model: Option<String>,
    /// Whether the agent may do everything. Otherwise it may change files in its directory, and
    /// what else its own settings allow.
    pub everything: bool,
}

impl Unattended {
    /// Returns the prompt as an argument, which no agent takes for an option.
    #[must_use]
    pub fn argument(&self) -> String {
        if self.prompt.starts_with('-') { format!(" {}", self.prompt) } else { self.prompt.clone() }
    }

    /// Appends an option with the model to the words of a command, if a model is named.
    pub fn add_model(&self, words: &mut Vec<String>, option: &str) {
        words.extend(self.model.iter().flat_map(|model| [option.to_owned(), model.clone()]));
    }
}

/// The folder in which an agent stores its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// The name of the environment variable by which a user changes the path of the agent's folder.
    pub variable: &'static str,
    /// Whether the value of the environment variable is the path of the parent of the agent's
    /// folder, as with `HOME`. If false, the value is the path of the agent's folder itself.
    pub holds: bool,
    /// The default path of the agent's folder, relative to the user's home directory. The path uses
    /// `/` as separator.
    pub folder: &'static str,
}

/// The path at which to write a session file, and the files to create with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The path of the session file, relative to the agent's folder.
    pub path: PathBuf,
    /// Other small files that the agent needs: their paths relative to the agent's folder, and
    /// their contents. A file that is missing is created; an existing one is never changed.
    pub companions: Vec<(PathBuf, String)>,
}

/// The error if an agent's folder has no free path for a new session file. The string is the
/// reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoDestination(pub String);

/// The description of a session file to write.
#[derive(Clone, Debug, PartialEq)]
pub struct NewFile {
    /// A new UUID. The agent's own id of the session is derived from it.
    pub id: SessionId,
    /// The directory in which the agent is to work.
    pub cwd: String,
    /// The current time.
    pub now: Timestamp,
    /// The session's title, if it has one.
    pub title: Option<String>,
    /// The file from which the session was imported; `None` if it was not imported.
    pub original: Option<Original>,
    /// The beginning of the session, if the new file does not contain it and refers to another file
    /// instead. `None` if the new file contains the whole session.
    pub shared: Option<Shared>,
}

/// The beginning of a session, which a new file does not copy. The new file refers to another file
/// that contains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The id by which the agent refers to the file that contains the beginning of the session.
    pub file_id: String,
    /// The number of records in the shared beginning of the session, counted from the start of the
    /// file that contains it.
    pub records: u64,
    /// The byte offset (exclusive) at which the shared beginning of the session ends, in the file
    /// that contains it.
    pub bytes: u64,
}

/// The imported file that a new session file continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// The path at which the import found the file.
    pub path: String,
    /// The id by which the agent refers to the session in the file.
    pub native_id: String,
    /// The last of this file's records that the new file contains.
    pub last_record: Data,
}

impl NewFile {
    /// Returns a UUID for use in the new file. It is derived from the file's [`NewFile::id`] and
    /// `number`, so the same `number` always gives the same UUID.
    #[must_use]
    pub fn fresh_id(&self, number: u64) -> String {
        EventId::derived(&self.id, number).as_str().to_owned()
    }
}

/// Writes one session file. Call the methods in the order in which they are declared.
pub trait FileWriter {
    /// Checks whether the beginning of the file describes what follows. The caller then first passes
    /// all records and side lines of the file to [`FileWriter::preview`].
    fn previews(&self) -> bool {
        false
    }

    /// Receives a record or a side line that will be in the file, so that the beginning can describe
    /// it. The default implementation does nothing.
    fn preview(&mut self, following: Following<'_>) {
        let _ = following;
    }

    /// Writes the beginning of the file, before the first event.
    ///
    /// # Errors
    /// If writing to `out` fails.
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()>;

    /// Writes the record of an event that was imported from the same agent for which this file is
    /// written. Returns whether the agent will see the content of the record when it reads the
    /// file.
    ///
    /// # Errors
    /// If writing to `out` fails.
    fn record(&mut self, event: &Event, out: &mut dyn Write) -> io::Result<bool>;

    /// Writes a message that was not imported from the agent for which this file is written. The
    /// caller passes each answer of the model as one message. After it, the caller passes the
    /// results of its tool calls, each as a separate message with the name of the tool, in the
    /// order of the calls.
    ///
    /// # Errors
    /// If writing to `out` fails.
    fn message(&mut self, timed: &TimedMessage<'_>, out: &mut dyn Write) -> io::Result<()>;

    /// Writes the summary that a fork in forklore recorded behind the history that it inherits, if
    /// the agent's forks have a record for it. `text` is what the model receives. Returns whether it
    /// was written; otherwise the caller passes it as a message. The default implementation writes
    /// nothing.
    ///
    /// # Errors
    /// If writing to `out` fails.
    fn summary(&mut self, event: &Event, text: &str, out: &mut dyn Write) -> io::Result<bool> {
        let _ = (event, text, out);
        Ok(false)
    }

    /// Writes a line of the imported file that did not become an event. The caller passes such
    /// lines after all events. The default implementation drops them.
    ///
    /// # Errors
    /// If writing to `out` fails.
    fn side(&mut self, line: &str, out: &mut dyn Write) -> io::Result<()> {
        let _ = (line, out);
        Ok(())
    }

    /// Writes the end of the file. Returns what was not written because the agent's format cannot
    /// represent it, as a map from the kind of message or message part to the number of such items.
    ///
    /// # Errors
    /// If writing to `out` fails.
    fn finish(&mut self, out: &mut dyn Write) -> io::Result<BTreeMap<String, u64>>;
}

/// Something that will be written to a session file.
#[derive(Clone, Copy, Debug)]
pub enum Following<'a> {
    /// A line of the imported file that did not become an event.
    Side(&'a str),
    /// A record that was imported from the same agent for which the file is written.
    Record(&'a Event),
}

/// A message to write to a session file, with its time.
#[derive(Clone, Copy, Debug)]
pub struct TimedMessage<'a> {
    /// The message to write.
    pub message: &'a Message,
    /// The time of the event that contains the message.
    pub ts: Timestamp,
    /// Whether the message starts a turn.
    pub starts_turn: bool,
}
