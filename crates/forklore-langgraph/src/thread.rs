//! A thread in memory: its checkpoints and what they consist of, computed from the logs of its
//! sessions.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use forklore_core::{Class, Data, Header, SessionId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpoint;
use crate::elements::{Element, Elements, Position};
use crate::record::ValueRecord;

/// The name of a thread: what LangGraph calls thread and checkpoint namespace. It is in the metadata
/// of each session of the thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct ThreadName {
    pub(crate) thread_id: String,
    #[serde(rename = "checkpoint_ns")]
    pub(crate) namespace: String,
}

#[derive(Serialize, Deserialize)]
struct Metadata {
    langgraph: ThreadName,
}

impl ThreadName {
    /// Returns the thread to which a session belongs; `None` if it is no session of LangGraph.
    pub(crate) fn of(header: &Header) -> Option<Self> {
        let metadata: Metadata = header.metadata.as_ref()?.read().ok()?;
        Some(metadata.langgraph)
    }

    pub(crate) fn metadata(&self) -> Result<Data, forklore_core::data::NotJson> {
        Data::of(&Metadata { langgraph: self.clone() })
    }
}

/// A session of the thread: a line of checkpoints, each the parent of the next.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) session: SessionId,
    /// The seq of the last event that is in memory.
    pub(crate) head: i64,
    /// The first seq that the session wrote itself, after `session_fork`.
    pub(crate) own_from: u64,
    /// The line from which this one was forked, and the seq of the cut there. `None` if the session
    /// has no parent in the thread.
    pub(crate) from: Option<(usize, u64)>,
    /// The last checkpoint of the history of the session.
    pub(crate) last: Option<usize>,
    /// The own checkpoints and their seqs, in the order of the log.
    pub(crate) checkpoints: Vec<(u64, usize)>,
}

/// One write of a task.
#[derive(Clone, Debug)]
pub(crate) struct TaskWrite {
    pub(crate) task: String,
    pub(crate) path: String,
    pub(crate) index: i64,
    pub(crate) channel: String,
    pub(crate) value: ValueRecord,
}

#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) name: ThreadName,
    /// A number that no other thread in memory has or had. Numbers of elements belong to it.
    pub(crate) generation: u64,
    pub(crate) lines: Vec<Line>,
    pub(crate) elements: Elements,
    pub(crate) checkpoints: Vec<Checkpoint>,
    pub(crate) ids: BTreeMap<Arc<str>, usize>,
    pub(crate) writes: HashMap<Arc<str>, Vec<TaskWrite>>,
    pub(crate) removed: HashSet<Arc<str>>,
}

impl Thread {
    pub(crate) fn new(name: ThreadName, generation: u64) -> Self {
        Self {
            name,
            generation,
            lines: Vec::new(),
            elements: Elements::default(),
            checkpoints: Vec::new(),
            ids: BTreeMap::new(),
            writes: HashMap::new(),
            removed: HashSet::new(),
        }
    }

    pub(crate) fn line_of(&self, session: &SessionId) -> Option<usize> {
        self.lines.iter().position(|line| line.session == *session)
    }

    /// Adds a session whose events are not in memory yet. Events that are inherited from another
    /// session of the thread are in memory already.
    pub(crate) fn add_line(&mut self, header: &Header) -> usize {
        let own_from = header.inherited.inheritable + u64::from(header.parent_id.is_some());
        let parent = header.parent_id.as_ref().and_then(|id| self.line_of(id));
        let cut = header.cut.as_ref().map(|cut| cut.seq);
        let from = match (parent, cut) {
            // A cut in what the parent inherited has another seq where the event was written.
            (Some(parent), Some(Some(seq))) if self.wrote(parent, seq) => Some((parent, seq)),
            _ => None,
        };
        let head = match (from, cut) {
            (Some(_), _) | (None, Some(None)) => i64::try_from(own_from).unwrap_or(i64::MAX) - 1,
            (None, _) => -1,
        };
        let last = from.and_then(|(line, seq)| self.last_before(line, seq));
        let session = header.id.clone();
        let checkpoints = Vec::new();
        self.lines.push(Line { session, head, own_from, from, last, checkpoints });
        self.lines.len() - 1
    }

    fn wrote(&self, line: usize, seq: u64) -> bool {
        self.lines.get(line).is_some_and(|line| line.from.is_none() || seq >= line.own_from)
    }

    /// Returns the last checkpoint of a line at or before a position.
    fn last_before(&self, line: usize, seq: u64) -> Option<usize> {
        let line = self.lines.get(line)?;
        let count = line.checkpoints.partition_point(|(at, _)| *at <= seq);
        match count.checked_sub(1).and_then(|at| line.checkpoints.get(at)) {
            Some((_, found)) => Some(*found),
            None => line.from.and_then(|(line, seq)| self.last_before(line, seq)),
        }
    }

    /// Returns a checkpoint, whether it was removed or not.
    pub(crate) fn find(&self, id: &str) -> Option<usize> {
        self.ids.get(id).copied()
    }

    pub(crate) fn checkpoint(&self, at: usize) -> Option<&Checkpoint> {
        self.checkpoints.get(at)
    }

    /// Returns the ids of the checkpoints that were not removed, the newest first.
    pub(crate) fn listed(&self) -> impl Iterator<Item = (&Arc<str>, usize)> {
        let all = self.ids.iter().rev();
        all.filter(|(id, _)| !self.removed.contains(*id)).map(|(id, at)| (id, *at))
    }

    /// Counts the events that contain an element in the history of a line: those of the
    /// conversation, and all.
    pub(crate) fn occurrences(&self, element: &Element, line: usize) -> (usize, usize) {
        let mut counts = (0, 0);
        for position in element.at.iter().filter(|position| self.is_in(position, line)) {
            counts.0 += usize::from(position.spoken);
            counts.1 += 1;
        }
        counts
    }

    /// Checks whether an event is in the history of a line.
    fn is_in(&self, position: &Position, line: usize) -> bool {
        let (mut line, mut until) = (line, u64::MAX);
        loop {
            if position.line == line {
                return position.seq <= until;
            }
            match self.lines.get(line).and_then(|line| line.from) {
                Some(from) => (line, until) = from,
                None => return false,
            }
        }
    }

    /// Returns the line on which a new checkpoint continues `parent`, if there is one.
    pub(crate) fn line_ending_with(&self, parent: usize) -> Option<usize> {
        self.lines.iter().position(|line| line.last == Some(parent))
    }
}

/// An event of the thread, as the store has it.
pub(crate) struct Stored<'a> {
    pub(crate) line: usize,
    pub(crate) seq: u64,
    /// Whether the session inherited the event.
    pub(crate) inherited: bool,
    pub(crate) id: &'a str,
    pub(crate) ts: Timestamp,
    pub(crate) kind: &'a str,
    pub(crate) class: Class,
    pub(crate) data: &'a Data,
}
