//! The headers of the sessions to recover. A missing header is reconstructed from the descendants
//! of its session.

use std::collections::{BTreeMap, HashMap, HashSet};

use forklore_api::{LostKind, Recovery};
use forklore_core::{Counts, Cut, Header, Label, SessionId, SessionKind, Strategy, ToolCallPolicy};
use forklore_store::Error as StoreError;
use forklore_store::port::{Filter, LogEntry};

use super::copies::Copies;
use super::read::{Slot, is_damage, slots};
use super::report::Losing;
use crate::{Engine, Result};

pub(super) struct Family {
    headers: BTreeMap<SessionId, Header>,
    children: HashMap<SessionId, Vec<SessionId>>,
    /// The sessions whose headers were lost and reconstructed from their descendants.
    guessed: HashSet<SessionId>,
}

impl Family {
    /// Reads all session headers of the damaged store. Adds the unreadable headers to the report as
    /// lost.
    pub(super) fn of(from: &Engine, report: &mut Recovery) -> Result<Self> {
        let all = Filter { deleted: true, ..Filter::default() };
        let found = match from.store.sessions(&all, None, 0) {
            Err(error) if !is_damage(&error) => return Err(error.into()),
            Err(error) => {
                report.lose(LostKind::Header, None, None, &error);
                return Ok(Self::new(Vec::new()));
            }
            Ok(found) => found,
        };
        for error in &found.damaged {
            let session = match error {
                StoreError::Corrupt { session, .. } => session.as_ref(),
                StoreError::MissingAncestor { session, .. } => Some(session),
                _ => None,
            };
            report.lose(LostKind::Header, session, None, error);
        }
        Ok(Self::new(found.sound))
    }

    fn new(headers: Vec<Header>) -> Self {
        let mut family =
            Self { headers: BTreeMap::new(), children: HashMap::new(), guessed: HashSet::new() };
        headers.into_iter().for_each(|header| family.add(header));
        family
    }

    fn add(&mut self, header: Header) {
        if let Some(parent) = &header.parent_id {
            self.children.entry(parent.clone()).or_default().push(header.id.clone());
        }
        self.headers.insert(header.id.clone(), header);
    }

    /// Reconstructs the headers of parents whose header is missing, so that their children remain
    /// connected to the family's tree.
    pub(super) fn guess_missing(&mut self, from: &Engine, report: &mut Recovery) -> Result<()> {
        loop {
            let missing = self.headers.values().find_map(|child| {
                let parent = child.parent_id.as_ref()?;
                (!self.headers.contains_key(parent)).then(|| (child.clone(), parent.clone()))
            });
            let Some((child, parent)) = missing else { return Ok(()) };
            // If the child was erased, the events are read from one of its descendants.
            let heirs = self.heirs(&parent);
            let witness = heirs.into_iter().max_by_key(|(_, reach)| *reach);
            let witness = witness.map(|(heir, reach)| (&heir.id, reach));
            let header = guess(from, &child, &parent, witness)?;
            let reason = format!(
                "its header is gone; what {} inherits from it is saved under its name, with a \
                 label, times and a parent that are made up",
                child.id
            );
            report.lose(LostKind::Header, Some(&parent), None, &reason);
            self.guessed.insert(parent);
            self.add(header);
        }
    }

    pub(super) fn ids(&self) -> Vec<SessionId> {
        self.headers.keys().cloned().collect()
    }

    pub(super) fn headers(&self) -> impl Iterator<Item = &Header> {
        self.headers.values()
    }

    pub(super) fn get(&self, id: &SessionId) -> Option<&Header> {
        self.headers.get(id)
    }

    pub(super) fn is_guessed(&self, id: &SessionId) -> bool {
        self.guessed.contains(id)
    }

    /// Checks whether the session's own log is in the damaged store. It is not if the session was
    /// erased or if its header was reconstructed: then only descendants have its events.
    pub(super) fn is_readable(&self, header: &Header) -> bool {
        !header.is_erased() && !self.is_guessed(&header.id)
    }

    /// Returns the minimum counts of a session whose events may be lost. The latest cut at which a
    /// child begins proves that the session had at least these counts. Sets only the counts of
    /// inheritable events and of conversation events.
    pub(super) fn begun_at(&self, id: &SessionId) -> Counts {
        let children = self.children.get(id).into_iter().flatten();
        let cuts = children.filter_map(|child| self.headers.get(child)?.cut.as_ref());
        let last = cuts.max_by_key(|cut| cut.inheritable);
        last.map_or(Counts::default(), |cut| Counts {
            inheritable: cut.inheritable,
            index: cut.index,
            ..Counts::default()
        })
    }

    /// Finds the own events of the session `id` in the histories of its descendants.
    pub(super) fn copies_of(&self, from: &Engine, id: &SessionId) -> Result<Copies> {
        let mut heirs = self.heirs(id);
        heirs.sort_by_key(|(_, reach)| std::cmp::Reverse(*reach));
        let mut found = Copies::default();
        let mut covered = 0;
        for (heir, reach) in heirs {
            if reach <= covered {
                continue;
            }
            let mut whole = true;
            slots(from.store(), &heir.id, 1, reach + 1, &mut |at, slot| {
                match slot {
                    Slot::Whole(stored) if stored.origin.session_id == *id => {
                        found.add(stored.origin.seq, &heir.id, at);
                    }
                    Slot::Whole(_) => {}
                    Slot::Bare(..) | Slot::Lost(_) => whole = false,
                }
                Ok(())
            })?;
            covered = if whole { reach } else { covered };
        }
        Ok(found)
    }

    /// Returns the readable descendants that inherit events of a session. The number with each
    /// descendant is how many leading inheritable events (those that forks inherit) it has in
    /// common with the session.
    fn heirs(&self, id: &SessionId) -> Vec<(&Header, u64)> {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        let mut open = vec![(id, u64::MAX)];
        while let Some((id, reach)) = open.pop() {
            for child in self.children.get(id).into_iter().flatten() {
                let Some(header) = self.headers.get(child) else { continue };
                let reach = reach.min(header.inherited.inheritable);
                if reach == 0 || !seen.insert(child) {
                    continue;
                }
                if self.is_readable(header) {
                    found.push((header, reach));
                }
                open.push((child, reach));
            }
        }
        found
    }
}

/// Reconstructs the lost header of the session `id` from the header of its child. `witness` is a
/// readable descendant that inherits events of `id`. The number with it is how many leading
/// inheritable events it has in common with `id`.
fn guess(
    from: &Engine,
    child: &Header,
    id: &SessionId,
    witness: Option<(&SessionId, u64)>,
) -> Result<Header> {
    let mut header = Header {
        id: id.clone(),
        title: None,
        metadata: None,
        config: None,
        lease: None,
        leaf: None,
        source: None,
        copy_of: None,
        deleted: None,
        detached: false,
        usage: Default::default(),
        ..child.clone()
    };
    if *id == child.root_id {
        header.parent_id = None;
        header.kind = SessionKind::Root;
        header.label = Label::main();
        (header.cut, header.strategy, header.tool_calls) = (None, None, None);
        (header.inherited, header.depth) = (Counts::default(), 0);
        return Ok(header);
    }
    // The own events of the session start in the inherited history of the witness. The session's
    // parent is the session that wrote the event before the first own event.
    let mut before: Option<LogEntry> = None;
    let mut reached = false;
    if let Some((witness, reach)) = witness {
        slots(from.store(), witness, 1, reach + 1, &mut |_, slot| {
            match slot {
                Slot::Whole(stored) if stored.origin.session_id == *id => reached = true,
                Slot::Whole(stored) if !reached => before = Some(stored),
                _ => {}
            }
            Ok(())
        })?;
    }
    let before = before.as_ref();
    header.parent_id =
        Some(before.map_or(&child.root_id, |stored| &stored.origin.session_id).clone());
    header.kind = SessionKind::Branch;
    header.label = Label::of_fork(id, 0);
    header.inherited = before.map(|stored| stored.counts).unwrap_or_default();
    header.cut = Some(cut_at(header.inherited, before));
    (header.strategy, header.tool_calls) =
        (Some(Strategy::ShareV1), Some(ToolCallPolicy::Verbatim));
    header.depth = child.depth.saturating_sub(1);
    Ok(header)
}

fn cut_at(counts: Counts, last: Option<&LogEntry>) -> Cut {
    Cut {
        seq: last.map(|stored| stored.origin.seq),
        index: counts.index,
        message: None,
        turn: None,
        event_id: last.map(|stored| stored.event.id.clone()),
        inheritable: counts.inheritable,
    }
}
