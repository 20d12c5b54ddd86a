//! The output that a conversation delegates to the program that embeds it.

use std::path::PathBuf;

use forklore_core::{Header, Selector};
use forklore_engine::Brought;
use forklore_host::explore::{Plan, Row};

use crate::Explored;

/// Something that the program shows exactly as its subcommand of that name does.
#[derive(Clone, Debug)]
pub enum View {
    /// The branches of the session's family.
    Branches(Header),
    /// The tree of the session's family.
    Tree(Header),
    /// The differences between two sessions.
    Diff(Box<(Header, Header)>),
    /// The conversation of a session, up to a cut if there is one.
    Replay(Header, Option<Selector>),
    /// The request that the model of a session would receive.
    Inspect(Header),
    /// The size, usage and cost of a session.
    Stats(Header),
    /// The sessions of the folder.
    List,
    /// Exports a session into a new file, in the format of an agent.
    Export {
        /// The session to export.
        session: Header,
        /// The name of the agent whose format is written.
        to: String,
        /// The path of the new file.
        file: PathBuf,
    },
    /// The result of `/bring` and the session that received it.
    Brought(Box<Brought>, Header),
    /// An exploration that ended: its plan and its result.
    Explored(Box<Plan>, Explored),
}

/// Redraws the row with this number.
pub type ShowRow = Box<dyn FnMut(usize, &Row)>;

/// Implemented by the program that embeds a conversation.
pub trait Views {
    /// Runs the subcommand that matches the view and shows its output, or its error.
    fn show(&mut self, view: View);

    /// Shows `rows` rows of an exploration while they change. The display ends when the returned
    /// function is dropped.
    fn follow(&mut self, rows: usize) -> ShowRow;

    /// Returns the names of the agents in whose format a session can be exported.
    fn formats(&self) -> Vec<String>;
}
