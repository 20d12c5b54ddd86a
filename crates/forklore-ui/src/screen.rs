//! The screens: what each shows, and how it reacts to keys and answers.

pub(crate) mod compare;
pub(crate) mod hits;
pub(crate) mod list;
pub(crate) mod reader;
pub(crate) mod tree;

use forklore_core::SessionId;
use forklore_store::port::SessionChange;

use crate::found::Needle;
use crate::keys::{Command, Scope};
use crate::model::Row;
use crate::request::{Answer, Change, Done, Request};
use compare::Compare;
use hits::Hits;
use list::List;
use reader::{Reader, Size};
use tree::Tree;

/// A screen of the interface.
#[derive(Clone, Debug)]
pub(crate) enum Screen {
    List(Box<List>),
    Tree(Tree),
    Reader(Box<Reader>),
    Compare(Box<Compare>),
    Hits(Hits),
}

/// The session under the cursor, and the position in it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spot {
    pub(crate) session: SessionId,
    /// The session's row, if it is loaded.
    pub(crate) row: Option<Row>,
    /// The log position and the turn of the event under the cursor, if there is one. The turn is 0
    /// if the screen does not know it.
    pub(crate) at: Option<(u64, u64)>,
}

impl Screen {
    pub(crate) fn scope(&self) -> Scope {
        match self {
            Self::List(list) => list.scope(),
            Self::Tree(_) => Scope::Tree,
            Self::Reader(_) => Scope::Reader,
            Self::Compare(_) => Scope::Compare,
            Self::Hits(_) => Scope::Hits,
        }
    }

    /// Returns the session under the cursor. Returns `None` if there is none, as in a comparison.
    pub(crate) fn spot(&self) -> Option<Spot> {
        let of_row = |row: &Row| Spot { session: row.id.clone(), row: Some(row.clone()), at: None };
        match self {
            Self::List(list) => list.current().map(of_row),
            Self::Tree(tree) => tree.current().map(of_row),
            Self::Reader(reader) => {
                let at = reader.current().map(|entry| (entry.seq, entry.turn));
                let (session, row) = (reader.session().clone(), reader.row().cloned());
                Some(Spot { session, row, at })
            }
            Self::Compare(_) => None,
            Self::Hits(hits) => hits.current().map(|hit| Spot {
                session: hit.session.clone(),
                row: None,
                at: hit.seq.map(|seq| (seq, 0)),
            }),
        }
    }

    /// Moves the cursor as a command says. Returns false if the command is no motion.
    pub(crate) fn motion(&mut self, command: Command, size: Size) -> bool {
        match self {
            Self::List(list) => list.motion(command, size.height),
            Self::Tree(tree) => tree.motion(command, size.height),
            Self::Reader(reader) => reader.motion(command, size),
            Self::Compare(compare) => compare.motion(command, size),
            Self::Hits(hits) => hits.motion(command, size.height),
        }
    }

    pub(crate) fn wheel(&mut self, lines: isize, size: Size) {
        match self {
            Self::List(list) => list.wheel(lines, size.height),
            Self::Tree(tree) => tree.wheel(lines, size.height),
            Self::Reader(reader) => reader.wheel(lines, size),
            Self::Compare(compare) => compare.wheel(lines, size),
            Self::Hits(hits) => hits.wheel(lines, size.height),
        }
    }

    /// Moves the cursor to a row of the screen. Returns whether the cursor was there before.
    pub(crate) fn click(&mut self, row: usize, size: Size) -> bool {
        match self {
            Self::List(list) => list.click(row, size.height),
            Self::Tree(tree) => tree.click(row, size.height),
            Self::Reader(reader) => reader.click(row, size),
            Self::Compare(compare) => compare.click(row, size),
            Self::Hits(hits) => hits.click(row, size.height),
        }
    }

    pub(crate) fn resize(&mut self, size: Size) {
        match self {
            Self::List(list) => list.resize(size.height),
            Self::Tree(tree) => tree.resize(size.height),
            Self::Reader(reader) => reader.resize(size),
            Self::Compare(compare) => compare.resize(size),
            Self::Hits(hits) => hits.resize(size.height),
        }
    }

    /// Searches for a text from the cursor on. Returns false if the screen does not contain the
    /// text, and true if the text was found, if the search waits for data, or if the screen has no
    /// search.
    pub(crate) fn find(&mut self, text: &str, backward: bool, size: Size) -> bool {
        let needle = Needle::of(text);
        match self {
            Self::List(list) => list.find(&needle, backward, size.height),
            Self::Tree(tree) => tree.find(&needle, backward, size.height),
            Self::Reader(reader) => {
                reader.find(text, backward, size);
                true
            }
            Self::Compare(_) | Self::Hits(_) => true,
        }
    }

    /// Returns the requests for the data that the screen lacks.
    pub(crate) fn wants(&mut self, size: Size) -> Vec<Request> {
        match self {
            Self::List(list) => list.wants(size.height),
            Self::Tree(tree) => tree.wants().into_iter().collect(),
            Self::Reader(reader) => reader.wants(size),
            Self::Compare(compare) => compare.wants(size).into_iter().collect(),
            Self::Hits(hits) => hits.wants().into_iter().collect(),
        }
    }

    /// Adds the data of an answer to the screen. Returns a remark for the user, if there is one.
    pub(crate) fn receive(&mut self, answer: &Answer, size: Size) -> Option<&'static str> {
        match self {
            Self::List(list) => return list.receive(answer, size.height),
            Self::Tree(tree) => tree.receive(answer, size.height),
            Self::Reader(reader) => return reader.receive(answer, size),
            Self::Compare(compare) => compare.receive(answer, size),
            Self::Hits(hits) => hits.receive(answer),
        }
        None
    }

    /// Updates the screen after changes of the store by any program. Returns the request for the
    /// changed data, if the screen needs one.
    pub(crate) fn changed(&mut self, changes: &[SessionChange]) -> Option<Request> {
        match self {
            Self::List(list) if list.scope() != Scope::Trash => {
                let removed = changes.iter().filter(|change| change.removed);
                list.remove(&removed.map(|change| change.session.clone()).collect::<Vec<_>>());
                let others = changes.iter().filter(|change| !change.removed);
                let sessions: Vec<_> = others.map(|change| change.session.clone()).collect();
                let workspace = list.workspace().cloned();
                (!sessions.is_empty()).then_some(Request::Rows { sessions, workspace })
            }
            Self::List(_) | Self::Hits(_) => None,
            Self::Tree(tree) => {
                changes.iter().for_each(|it| tree.changed(it.created, &it.session));
                None
            }
            Self::Reader(reader) => {
                let own = changes.iter().find(|change| change.session == *reader.session());
                if let Some(change) = own {
                    reader.changed(change.removed);
                }
                None
            }
            Self::Compare(compare) => {
                changes.iter().for_each(|it| compare.changed(&it.session, it.removed));
                None
            }
        }
    }

    /// Updates the screen after a change that the user made here, before the feed of the store
    /// reports that change. Returns the request for the changed data, if the screen needs one.
    pub(crate) fn done(&mut self, done: &Done) -> Option<Request> {
        let changed = |session: &SessionId, removed: bool| SessionChange {
            session: session.clone(),
            head_seq: -1,
            created: !removed,
            appended: false,
            changed: true,
            removed,
        };
        if let (Self::List(list), Done::Undeleted { session, sessions }) = (&mut *self, done) {
            if list.scope() == Scope::Trash {
                list.remove(sessions);
                return None;
            }
            list.wait_for(session.clone());
        }
        let changes: Vec<_> = match done {
            Done::Forked { session, .. } => vec![changed(session, false)],
            Done::Rewound { fork, .. } => fork.iter().map(|it| changed(it, false)).collect(),
            Done::RewindUndone { back, gone, .. } => {
                let back = back.iter().map(|it| changed(it, false));
                back.chain(gone.iter().map(|it| changed(it, true))).collect()
            }
            Done::Labelled(session, _) | Done::Renamed(session, _) => vec![changed(session, false)],
            Done::Deleted { sessions, .. } => sessions.iter().map(|it| changed(it, true)).collect(),
            Done::Undeleted { sessions, .. } => {
                sessions.iter().map(|it| changed(it, false)).collect()
            }
        };
        self.changed(&changes)
    }
}

/// Returns the change that deletes a session if nothing continues it.
pub(crate) fn delete(session: SessionId) -> Change {
    Change::Delete(session, forklore_api::DeleteMode::Refuse)
}

/// Creates a row for tests.
#[cfg(test)]
pub(crate) fn plain_row(id: &str) -> Row {
    use crate::safe::Safe;

    Row {
        id: id.parse().unwrap(),
        root: id.parse().unwrap(),
        parent: None,
        kind: forklore_core::SessionKind::Root,
        label: Safe::line("main"),
        title: None,
        words: None,
        agent: Safe::default(),
        folder: Safe::default(),
        turns: 0,
        messages: 0,
        updated: jiff::Timestamp::UNIX_EPOCH,
        running: false,
        deleted: None,
        cut: Safe::default(),
        note: Safe::default(),
        depth: 0,
    }
}
