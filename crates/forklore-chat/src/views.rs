//! What the program around a conversation shows for it.

use std::path::PathBuf;

use forklore_core::{Header, Selector};
use forklore_engine::Brought;
use forklore_host::explore::{Explore, Row};

use crate::Explored;

/// Something that the program shows as its own verb of that name does.
#[derive(Clone, Debug)]
pub enum View {
    /// The branches of a session's family.
    Branches(Header),
    /// The tree of a session's family.
    Tree(Header),
    /// Two sessions compared.
    Diff(Box<(Header, Header)>),
    /// What was said in a session, up to a cut.
    Replay(Header, Option<Selector>),
    /// What the model of a session would receive.
    Inspect(Header),
    /// What a session holds and costs.
    Stats(Header),
    /// The sessions of the folder.
    List,
    /// A session written into a new file, in the format of an agent.
    Export {
        /// The session.
        session: Header,
        /// The format.
        to: String,
        /// The file.
        file: PathBuf,
    },
    /// What was brought, into which session.
    Brought(Box<Brought>, Header),
    /// An exploration that ended.
    Explored(Box<Explore>, Explored),
}

/// Shows the row of this number anew.
pub type ShowRow = Box<dyn FnMut(usize, &Row)>;

/// The program around a conversation.
pub trait Views {
    /// Carries the verb of a view out and shows its answer, or what is wrong.
    fn show(&mut self, view: View);

    /// Shows rows of an exploration while they change, until the returned function is dropped.
    fn follow(&mut self, rows: usize) -> ShowRow;

    /// The agents in whose format a session can be exported.
    fn formats(&self) -> Vec<String>;
}
