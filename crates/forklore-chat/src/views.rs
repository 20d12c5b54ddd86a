//! What a conversation asks of the program that embeds it: to show output, to import a file, or to
//! let the user choose a session.

use std::path::{Path, PathBuf};

use forklore_core::{Header, Selector, SessionId};
use forklore_engine::Brought;
use forklore_host::explore::{Plan, Row};

use crate::Explored;

/// A view of sessions that a conversation requests from the program. The program shows it with the
/// same output as the matching subcommand.
#[derive(Clone, Debug)]
pub enum View {
    /// The branches in the session's family (all sessions with one root).
    Branches(Header),
    /// The tree of the session's family.
    Tree(Header),
    /// The differences between two sessions.
    Diff(Box<(Header, Header)>),
    /// The conversation of a session, up to the cut if there is one.
    Replay(Header, Option<Selector>),
    /// The request that the model of a session would receive.
    Inspect(Header),
    /// The size, usage and cost of a session.
    Stats(Header),
    /// The list of the sessions of the conversation's folder, the last updated first. Has at most
    /// this many sessions; 0 means all.
    List(usize),
    /// The messages of the conversation's folder that contain these words.
    Search(String),
    /// Writes a session to a new file, in the format of an agent or as plain JSON lines.
    Export {
        /// The session to export.
        session: Header,
        /// The name of the agent whose format is written, or `plain`.
        to: String,
        /// The path of the new file.
        file: PathBuf,
    },
    /// The result of `/bring`, and the session into which `/bring` wrote the summary.
    Brought(Box<Brought>, Header),
    /// The plan and the result of an exploration that ended. An exploration runs several
    /// continuations of a session.
    Explored(Box<Plan>, Explored),
}

/// A function that redraws one row of an exploration's progress. It takes the row and its index,
/// from 0.
pub type ShowRow = Box<dyn FnMut(usize, &Row)>;

/// What the user chose from a list of sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The user chose this session.
    Session(SessionId),
    /// The user chose no session.
    Nothing,
    /// The program cannot show a list to choose from.
    Unable,
}

/// The interface to the program that embeds a conversation. The program implements it.
pub trait Views {
    /// Runs the subcommand that matches the view and shows its output, or its error.
    fn show(&mut self, view: View);

    /// Begins to show the progress of an exploration with `rows` continuations, one row for each.
    /// The returned function redraws a row. Dropping the function ends the display.
    fn follow(&mut self, rows: usize) -> ShowRow;

    /// Imports a session file of an agent, and returns the session that its agent would resume. If
    /// the file was imported before, imports only its new records.
    ///
    /// # Errors
    /// The message for the user, if the file cannot be imported.
    fn open_file(&mut self, file: &Path) -> Result<SessionId, String>;

    /// Returns the names of the agents in whose format a session can be exported.
    fn formats(&self) -> Vec<String>;

    /// Lets the user choose a session, if the program can show a list to choose from. By default it
    /// cannot.
    fn choose(&mut self) -> Choice {
        Choice::Unable
    }
}
