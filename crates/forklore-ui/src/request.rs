//! What the interface reads and writes: requests to the store, and their answers.

use forklore_api::DeleteMode;
use forklore_core::workspace::Workspace;
use forklore_core::{Label, SessionId};
use jiff::Timestamp;

use crate::model::{Entry, Found, Row};
use crate::safe::Safe;

/// A request to the store. Each request reads a bounded part of the store.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// A page of the list of sessions.
    List {
        /// The folder of the sessions; `None` lists those of all folders.
        workspace: Option<Workspace>,
        /// Whether to list the deleted sessions.
        trash: bool,
        /// The `next` of the previous page's answer. `None` requests the first page.
        after: Option<String>,
        /// The maximum number of sessions.
        limit: usize,
    },
    /// The first words that a person typed in each of these sessions.
    Words(Vec<SessionId>),
    /// The current rows of some sessions. Leaves out the sessions that the list of the folder does
    /// not contain.
    Rows {
        /// The sessions.
        sessions: Vec<SessionId>,
        /// The folder; `None` means all folders.
        workspace: Option<Workspace>,
    },
    /// The sessions of the family with this root, the last updated first, without those in the
    /// trash.
    Family(SessionId),
    /// The tree of the family of a session.
    Tree(SessionId),
    /// The events of a session after, before or around a position.
    Events(EventsRequest),
    /// The next or previous event that contains a text.
    Find(FindRequest),
    /// The messages that only one of two sessions has, as pairs at the same position.
    Compare {
        /// The first session.
        a: SessionId,
        /// The second session.
        b: SessionId,
        /// The number of messages that both sessions have. `None` if that must still be determined.
        common: Option<u64>,
        /// The first pair to read. Pairs are numbered from 0, after the messages that both have.
        from: u64,
        /// The maximum number of pairs.
        limit: u64,
    },
    /// The best hits of a full-text search.
    Search {
        /// What to find.
        words: String,
        /// The folder whose sessions are searched; `None` searches all.
        workspace: Option<Workspace>,
    },
    /// Whether other sessions continue a session that is to be deleted.
    PlanDelete(SessionId),
    /// What a rewind would change.
    PlanRewind(RewindRequest),
    /// A change of the store.
    Change(Change),
}

impl Request {
    /// Checks whether the answer may take long, so that other requests must not wait for it.
    pub(crate) fn is_long(&self) -> bool {
        matches!(
            self,
            Self::Search { .. }
                | Self::PlanRewind(_)
                | Self::Change(Change::Rewind(_) | Change::UndoRewind(..))
        )
    }
}

/// How far a session goes back, and with what.
#[derive(Clone, Debug, PartialEq)]
pub struct RewindRequest {
    /// The session.
    pub session: SessionId,
    /// The cut to which it goes back.
    pub at: forklore_core::Selector,
    /// What goes back.
    pub scope: forklore_api::RewindScope,
}

/// What a rewind would change.
#[derive(Clone, Debug, PartialEq)]
pub struct RewindPlan {
    /// The rewind.
    pub request: RewindRequest,
    /// The cut after which the conversation goes on; `None` if it does not go back.
    pub at: Option<Safe>,
    /// What would happen to the files; `None` if they do not go back.
    pub files: Option<FilesChanged>,
    /// The folder of the files.
    pub folder: Safe,
    /// Whether somebody runs the session now.
    pub is_running: bool,
}

/// What happened, or would happen, to the files of a folder.
#[derive(Clone, Debug, PartialEq)]
pub struct FilesChanged {
    /// The number of files that are written.
    pub written: u64,
    /// The number of files that are removed.
    pub removed: u64,
    /// The number of files that are left alone, although they differ.
    pub left: u64,
    /// The first paths that would change, each after what would happen to it.
    pub changes: Vec<(Safe, Safe)>,
    /// The first paths that are left alone, each after the reason.
    pub skipped: Vec<(Safe, Safe)>,
}

/// A position in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// The event at this log position.
    Seq(u64),
    /// The first event of this turn, from 1.
    Turn(u64),
    /// The end of the session, after its last event.
    End,
}

/// Which events of a session to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventsRequest {
    /// The session.
    pub session: SessionId,
    /// The position at which the reading begins.
    pub at: Position,
    /// The direction of reading.
    pub direction: Reading,
    /// Whether to also read events that are not part of the conversation.
    pub all: bool,
}

/// The direction in which events are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The events from the position on.
    Forward,
    /// The events before the position.
    Backward,
    /// Some events before the position, and those from the position on.
    Around,
}

/// What to find in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindRequest {
    /// The session.
    pub session: SessionId,
    /// The text. Letter case matters only if it contains an uppercase letter.
    pub text: String,
    /// The first log position to look at.
    pub from: u64,
    /// Whether to look towards the beginning.
    pub backward: bool,
    /// Whether to also look at events that are not part of the conversation.
    pub all: bool,
}

/// A change of the store that the user has confirmed.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Forks a session.
    Fork {
        /// The session to fork.
        session: SessionId,
        /// The cut at which the fork begins.
        at: forklore_core::Selector,
        /// The label of the fork; `None` uses a default label.
        label: Option<Label>,
    },
    /// Replaces a label.
    Label(SessionId, Label),
    /// Replaces a title; an empty text removes it.
    Rename(SessionId, String),
    /// Puts a session into the trash.
    Delete(SessionId, DeleteMode),
    /// Brings back this session and the sessions that were deleted together with it.
    Undelete(SessionId),
    /// Takes conversation, files or both back.
    Rewind(RewindRequest),
    /// Takes a rewind of the session's folder back: the one with this number, or the last one.
    UndoRewind(SessionId, Option<u64>),
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The answer to [`Request::List`].
    List {
        /// The sessions, the last updated first.
        rows: Vec<Row>,
        /// Where the next page begins; `None` after the last one.
        next: Option<String>,
        /// The number of sessions that cannot be read.
        damaged: usize,
        /// The time of the answer.
        now: Timestamp,
    },
    /// The answer to [`Request::Words`].
    Words(Vec<(SessionId, Safe)>),
    /// The answer to [`Request::Rows`]. Sessions that are gone are left out.
    Rows {
        /// The sessions.
        rows: Vec<Row>,
        /// The time of the answer.
        now: Timestamp,
    },
    /// The answer to [`Request::Family`].
    Family(Vec<Row>),
    /// The answer to [`Request::Tree`]: the sessions in pre-order.
    Tree {
        /// The sessions.
        rows: Vec<Row>,
        /// The time of the answer.
        now: Timestamp,
    },
    /// The answer to [`Request::Events`].
    Events(Box<Events>),
    /// The answer to [`Request::Find`].
    Find(FindAnswer),
    /// The answer to [`Request::Compare`].
    Compare(Box<Compared>),
    /// The answer to [`Request::Search`].
    Search {
        /// The hits, the best first.
        hits: Vec<Found>,
        /// Whether there are more hits.
        more: bool,
        /// The time of the answer.
        now: Timestamp,
    },
    /// What a search in progress has read so far.
    Progress(Safe),
    /// The answer to [`Request::PlanDelete`].
    DeletePlanned {
        /// The session.
        session: SessionId,
        /// Whether other sessions continue it.
        has_children: bool,
    },
    /// The answer to [`Request::PlanRewind`].
    RewindPlanned(Box<RewindPlan>),
    /// The answer to [`Request::Change`].
    Changed(Done),
    /// A change was refused.
    Refused(Change, Failed),
    /// Another request failed.
    Failed(Failed),
}

/// Events of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Events {
    /// The current row of the session.
    pub row: Row,
    /// The log position of the session's last event; `None` if it has none.
    pub head: Option<u64>,
    /// The events, in ascending order.
    pub entries: Vec<Entry>,
    /// The log position of the first event that was read, shown or not.
    pub from: u64,
    /// The log position after the last event that was read, shown or not.
    pub to: u64,
    /// The log position at which the reading began.
    pub at: u64,
}

/// The result of a search for a text in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindAnswer {
    /// The text is in the event at this log position.
    Found(u64),
    /// The text was not found yet. The search must continue at this log position.
    Continue(u64),
    /// The text was not found before the end of the session, or before its beginning if the search
    /// goes backward.
    Nothing,
}

/// A part of the comparison of two sessions.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The two sessions.
    pub sessions: [Row; 2],
    /// The number of messages that both have.
    pub common: u64,
    /// For each session, the number of messages that only this session has.
    pub alone: [u64; 2],
    /// The number of the first pair.
    pub from: u64,
    /// The pairs of messages at the same position.
    pub pairs: Vec<[Option<Entry>; 2]>,
}

/// A change that was made.
#[derive(Clone, Debug, PartialEq)]
pub enum Done {
    /// A session was forked.
    Forked {
        /// The fork.
        session: SessionId,
        /// The label of the fork.
        label: Safe,
        /// Where the fork begins.
        at: Safe,
        /// The session that was forked.
        parent: SessionId,
    },
    /// The label was replaced.
    Labelled(SessionId, Safe),
    /// The title was replaced.
    Renamed(SessionId, Option<Safe>),
    /// Sessions are in the trash.
    Deleted {
        /// The session that the user named.
        session: SessionId,
        /// All sessions that this delete removed.
        sessions: Vec<SessionId>,
    },
    /// Conversation, files or both were taken back.
    Rewound {
        /// The session, which is unchanged.
        session: SessionId,
        /// The fork in which the conversation goes on, if it was taken back.
        fork: Option<SessionId>,
        /// The number with which it can be undone.
        number: Option<u64>,
        /// What happened to the files, if they were taken back.
        files: Option<FilesChanged>,
    },
    /// A rewind was taken back.
    RewindUndone {
        /// The session in which the conversation goes on.
        session: SessionId,
        /// The number with which the undo can be undone.
        number: u64,
        /// The forks that were brought back.
        back: Vec<SessionId>,
        /// The forks that are in the trash.
        gone: Vec<SessionId>,
        /// What happened to the files, if they had been taken back.
        files: Option<FilesChanged>,
    },
    /// Sessions were brought back.
    Undeleted {
        /// The session that the user named.
        session: SessionId,
        /// All sessions that were brought back.
        sessions: Vec<SessionId>,
    },
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The message for the user.
    pub message: Safe,
    /// Whether the session does not exist (any more).
    pub is_gone: bool,
    /// Whether the session cannot be deleted alone, because others continue it.
    pub has_children: bool,
}
