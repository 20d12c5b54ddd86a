//! What the interface shows: sessions, messages and hits, in a form that is safe to show.

use forklore_api::Session;
use forklore_core::{Cut, Role, SessionId, SessionKind};
use jiff::Timestamp;

use crate::safe::Safe;
use crate::tone::Tone;

/// A session in a list or in a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The session's id.
    pub id: SessionId,
    /// The id of the family's root session.
    pub root: SessionId,
    /// The id of the parent session. `None` for a root.
    pub parent: Option<SessionId>,
    /// Whether the session is a root, a branch or a delegate.
    pub kind: SessionKind,
    /// The label, unique among the living sessions of the family.
    pub label: Safe,
    /// The title, if the session has one.
    pub title: Option<Safe>,
    /// The first words that a person typed. `None` until they are read. They are read only for
    /// sessions without a title, when the row is shown or searched.
    pub words: Option<Safe>,
    /// The agent that wrote the session's records, as forklore names it. Empty for forklore's own.
    pub agent: Safe,
    /// The folder of the session.
    pub folder: Safe,
    /// The number of turns.
    pub turns: u64,
    /// The number of messages.
    pub messages: u64,
    /// When the session was last written to.
    pub updated: Timestamp,
    /// Whether a runtime is writing the session.
    pub running: bool,
    /// When the session was deleted. `None` if it was not.
    pub deleted: Option<Timestamp>,
    /// Where the session begins in its parent, such as `turn:2`. Empty for a root.
    pub cut: Safe,
    /// A remark about the session, such as why it cannot be opened. Empty if there is none.
    pub note: Safe,
    /// The depth in the tree; 0 in a list.
    pub depth: usize,
}

impl Row {
    /// Creates the row of a session.
    #[must_use]
    pub fn of(session: &Session) -> Self {
        Self {
            id: session.id.clone(),
            root: session.root_id.clone(),
            parent: session.parent_id.clone(),
            kind: session.kind,
            label: Safe::line(session.label.as_str()),
            title: session.title.as_deref().map(Safe::line),
            words: session.first_words.as_deref().map(Safe::line),
            agent: Safe::line(session.dialect.as_deref().unwrap_or_default()),
            folder: Safe::line(session.workspace.as_str()),
            turns: session.turns,
            messages: session.head_index,
            updated: session.updated,
            running: session.status == forklore_api::Status::Running,
            deleted: session.deleted_at,
            cut: session.cut.as_ref().map(cut_text).unwrap_or_default(),
            note: Safe::default(),
            depth: 0,
        }
    }

    /// Returns the title, or else the first words.
    #[must_use]
    pub fn name(&self) -> Safe {
        self.title.clone().or_else(|| self.words.clone()).unwrap_or_default()
    }
}

/// Formats a cut in the largest unit that can express it.
pub(crate) fn cut_text(cut: &Cut) -> Safe {
    Safe::line(&match (cut.turn, cut.message, cut.seq) {
        (Some(turn), _, _) => format!("turn:{turn}"),
        (None, Some(message), _) => format!("message:{message}"),
        (None, None, Some(seq)) => format!("seq:{seq}"),
        (None, None, None) => "start".to_owned(),
    })
}

/// The kind of an entry of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A message.
    Message(Role),
    /// A summary, which either replaces a part of this conversation for the model, or describes
    /// another branch.
    Summary,
    /// Another event of the log.
    Event,
    /// An event that cannot be read.
    Damaged,
}

/// An event of a session, as the reader shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The position in the session's log.
    pub seq: u64,
    /// The number of the message in the conversation, from 0; `None` if the event is no message.
    pub index: Option<u64>,
    /// The number of the turn that the event is in, from 1; 0 before the first turn.
    pub turn: u64,
    /// Whether a turn starts with this event.
    pub starts_turn: bool,
    /// When the event was written. `None` if the event cannot be read.
    pub ts: Option<Timestamp>,
    /// The kind of the event.
    pub kind: EntryKind,
    /// The type of the event.
    pub name: Safe,
    /// The label of the session that wrote the event. Empty if that session was deleted.
    pub branch: Safe,
    /// Whether the event was interrupted while it was written.
    pub partial: bool,
    /// The parts of the event.
    pub parts: Vec<Piece>,
}

/// A part of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// A text that is always shown.
    Text(Safe),
    /// A text that is one line until it is unfolded, such as a tool call.
    Folded {
        /// The tone of the line and of the text.
        tone: Tone,
        /// The line.
        line: Safe,
        /// The text in full.
        text: Safe,
    },
}

impl Piece {
    /// Returns the text to show, with its tone.
    #[must_use]
    pub fn shown(&self, unfolded: bool) -> (Tone, &Safe) {
        match self {
            Self::Text(text) => (Tone::Plain, text),
            Self::Folded { tone, text, .. } if unfolded => (*tone, text),
            Self::Folded { tone, line, .. } => (*tone, line),
        }
    }
}

/// A hit of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The session that contains the hit.
    pub session: SessionId,
    /// The log position of the event that was found. `None` for a title or a label.
    pub seq: Option<u64>,
    /// The label of the session.
    pub label: Safe,
    /// The agent that wrote the hit; `forklore` for forklore itself.
    pub agent: Safe,
    /// The title of the session.
    pub title: Safe,
    /// The folder of the session.
    pub folder: Safe,
    /// What contains the words: the role of a message, the name of a tool, a title or a label.
    pub what: Safe,
    /// When the text was written.
    pub ts: Timestamp,
    /// The words that were searched for, and the text around them.
    pub snippet: Safe,
    /// The byte ranges of the words in `snippet`.
    pub marks: Vec<std::ops::Range<usize>>,
    /// The number of further sessions that share the event that was found.
    pub others: u64,
}
