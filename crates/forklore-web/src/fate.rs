//! Finds which branches of an imported file its agent left, and with which one it goes on.

use std::collections::{HashMap, HashSet};

use forklore_core::{Header, SessionId, SessionKind};
use forklore_engine::Engine;
use maud::{Markup, html};

/// The largest number of ancestors that are looked at.
const ANCESTORS: usize = 32;

/// What became of a branch of a file that has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The agent goes on with it, and left another.
    Preferred,
    /// The agent left it.
    Abandoned,
}

/// The branches that agents go on with, by the files that were imported.
#[derive(Default)]
pub(crate) struct Fates {
    leaves: HashMap<String, SessionId>,
    /// The leaves of files with an abandoned branch.
    preferred: HashSet<SessionId>,
}

impl Fates {
    /// Reads what the headers of a family record. The first session of a file names the leaf.
    pub(crate) fn of<'a>(headers: impl Iterator<Item = &'a Header> + Clone) -> Self {
        let mut fates = Self::default();
        for header in headers.clone() {
            fates.add(header);
        }
        let abandons = |header: &Header| fates.leaf(header).filter(|leaf| **leaf != header.id);
        let preferred = headers.filter_map(|header| abandons(header).cloned()).collect();
        fates.preferred = preferred;
        fates
    }

    /// Adds what a header records.
    pub(crate) fn add(&mut self, header: &Header) {
        if let (Some(source), Some(leaf)) = (&header.source, &header.leaf) {
            self.leaves.insert(source.clone(), leaf.clone());
        }
    }

    /// Returns what became of a session; `None` if it is not one of several branches of a file.
    pub(crate) fn get(&self, header: &Header) -> Option<Fate> {
        if self.preferred.contains(&header.id) {
            return Some(Fate::Preferred);
        }
        self.leaf(header).filter(|leaf| **leaf != header.id).map(|_| Fate::Abandoned)
    }

    fn leaf(&self, header: &Header) -> Option<&SessionId> {
        let source = header.source.as_ref().filter(|_| header.kind != SessionKind::Delegate)?;
        self.leaves.get(source)
    }
}

/// Returns the branch with which the agent goes on instead of this one; `None` if the agent did not
/// leave this one, or the other was deleted.
pub(crate) fn preferred_to(engine: &Engine, header: &Header) -> Option<Header> {
    let source = header.source.as_ref().filter(|_| header.kind != SessionKind::Delegate)?;
    let mut at = header.clone();
    for _ in 0..ANCESTORS {
        if at.source.as_ref() != Some(source) {
            return None;
        }
        if let Some(leaf) = at.leaf {
            let leaf = Some(leaf).filter(|leaf| *leaf != header.id)?;
            return engine.show(&leaf).ok().filter(|leaf| leaf.deleted.is_none());
        }
        at = engine.show(&at.parent_id?).ok()?;
    }
    None
}

/// Returns what became of two branches that are compared.
pub(crate) fn of_pair(engine: &Engine, pair: &[Header; 2]) -> [Option<Fate>; 2] {
    let preferred = pair.each_ref().map(|header| preferred_to(engine, header));
    let is_preferred = |id: &SessionId| preferred.iter().flatten().any(|one| one.id == *id);
    let mut fates = preferred.each_ref().map(|one| one.as_ref().map(|_| Fate::Abandoned));
    for (fate, header) in fates.iter_mut().zip(pair) {
        if is_preferred(&header.id) {
            *fate = Some(Fate::Preferred);
        }
    }
    fates
}

/// Shows what became of a branch, as a word.
pub(crate) fn badge(fate: Option<Fate>) -> Markup {
    html! {
        @match fate {
            Some(Fate::Preferred) => {
                span.badge title="The agent goes on with this branch" { "kept" }
            },
            Some(Fate::Abandoned) => {
                span.badge.abandoned title="The agent left this branch, and goes on with another" {
                    "abandoned"
                }
            },
            None => {},
        }
    }
}

/// Shows that the agent left a branch, with the way to the one with which it goes on.
pub(crate) fn notice(engine: &Engine, header: &Header) -> Markup {
    let agent = header.dialect.as_deref().unwrap_or("the agent");
    html! {
        @if let Some(preferred) = preferred_to(engine, header) {
            p.fate {
                (badge(Some(Fate::Abandoned)))
                " In its file, " (agent) " left this branch. It goes on with "
                a href={ "/s/" (preferred.id) "?at=end" } { (preferred.label) } ". "
                a.button href={ "/compare/" (preferred.id) "/" (header.id) } data-key="c" {
                    "Compare with the kept branch"
                }
            }
        }
    }
}
