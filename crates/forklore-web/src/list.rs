//! Reads a page of the list of sessions: one entry for each family.

use std::collections::HashSet;

use forklore_core::workspace::Workspace;
use forklore_core::{Header, SessionId, SessionKind};
use forklore_engine::Engine;
use forklore_store::port::{Cursor, Filter};
use jiff::Timestamp;

use crate::answer::{Answer, Problem};
use crate::params::Params;
use crate::shown;

/// The number of families on a page.
const FAMILIES: usize = 60;
/// The largest number of sessions of a family that the list looks at.
const MEMBERS: usize = 50;
/// The largest number of sessions of one read of the store.
const LARGEST_BATCH: usize = 2_000;
/// The largest number of sessions that one page looks at.
const LOOKED_AT: usize = 10_000;

/// What the list shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// Shows only sessions of this agent; `forklore` means those that no agent wrote.
    pub(crate) agent: Option<String>,
    /// Shows only sessions whose folder is this one, or contains this text.
    pub(crate) folder: Option<String>,
    after: Option<Cursor>,
}

/// A family, as the list shows it.
pub(crate) struct Family {
    /// The session of the family that was written to last.
    pub(crate) latest: Header,
    pub(crate) name: String,
    pub(crate) is_running: bool,
    /// Further sessions of the family, the last updated first.
    pub(crate) others: Vec<Header>,
    /// Whether the family has sessions that are not in `others`.
    pub(crate) has_more: bool,
}

/// A page of the list.
pub(crate) struct List {
    pub(crate) families: Vec<Family>,
    /// Where the next page begins; `None` on the last page.
    pub(crate) next: Option<String>,
    /// The number of sessions that cannot be read.
    pub(crate) damaged: usize,
}

impl Wanted {
    pub(crate) fn of(params: &Params) -> Answer<Self> {
        let owned = |name| params.get(name).map(str::to_owned);
        let after = params.get("after").map(cursor).transpose()?;
        Ok(Self { agent: owned("agent"), folder: owned("workspace"), after })
    }

    /// Returns the folder, if it is a whole path and no part of one.
    pub(crate) fn workspace(&self) -> Option<Workspace> {
        self.folder.as_deref().filter(|folder| folder.starts_with('/')).map(Workspace::new)
    }

    fn is_all(&self) -> bool {
        self.agent.is_none() && self.folder.is_none()
    }

    fn matches(&self, header: &Header) -> bool {
        let agent = header.dialect.as_deref().unwrap_or("forklore");
        self.agent.as_deref().is_none_or(|wanted| wanted == agent)
            && self.has_folder(header.workspace.as_str())
    }

    /// Checks whether sessions in this folder are wanted.
    pub(crate) fn has_folder(&self, folder: &str) -> bool {
        let has = |part: &String| folder.to_lowercase().contains(&part.to_lowercase());
        self.folder.as_ref().is_none_or(has)
    }
}

fn cursor(text: &str) -> Answer<Cursor> {
    let parse = || {
        let (micros, id) = text.split_once('@')?;
        let updated = Timestamp::from_microsecond(micros.parse().ok()?).ok()?;
        Some(Cursor { updated, id: id.parse::<SessionId>().ok()? })
    };
    parse().ok_or_else(|| Problem::bad("This is no position in the list of sessions."))
}

/// Reads a page of the list.
pub(crate) fn read(engine: &Engine, wanted: &Wanted) -> Answer<List> {
    let kinds = vec![SessionKind::Root, SessionKind::Branch];
    let filter = Filter { workspace: wanted.workspace(), kinds, ..Filter::default() };
    let mut batch = if wanted.is_all() { 2 * FAMILIES } else { LARGEST_BATCH };
    let mut list = List { families: Vec::new(), next: None, damaged: 0 };
    let (mut seen, mut after, mut looked) = (HashSet::new(), wanted.after.clone(), 0);
    loop {
        let page = engine.store().sessions(&filter, after.as_ref(), batch)?;
        list.damaged = list.damaged.max(page.damaged.len());
        let is_last = page.sound.len() < batch;
        // A large family may have been written to last.
        batch = LARGEST_BATCH;
        looked += page.sound.len();
        for header in page.sound {
            if list.families.len() == FAMILIES {
                list.next = after.map(|at| format!("{}@{}", at.updated.as_microsecond(), at.id));
                return Ok(list);
            }
            after = Some(Cursor { updated: header.updated, id: header.id.clone() });
            if wanted.matches(&header) && seen.insert(header.root_id.clone()) {
                list.families.extend(family(engine, wanted, header)?);
            }
        }
        if is_last {
            return Ok(list);
        }
        if looked >= LOOKED_AT {
            list.next = after.map(|at| format!("{}@{}", at.updated.as_microsecond(), at.id));
            return Ok(list);
        }
    }
}

/// Reads the family of a session. `None` if an earlier page shows the family, because another of its
/// sessions was written to later.
fn family(engine: &Engine, wanted: &Wanted, latest: Header) -> Answer<Option<Family>> {
    let kinds = vec![SessionKind::Root, SessionKind::Branch];
    let filter = Filter { family: Some(latest.root_id.clone()), kinds, ..Filter::default() };
    let found = engine.store().sessions(&filter, None, MEMBERS + 1)?.sound;
    let has_more = found.len() > MEMBERS;
    let matching = found.into_iter().take(MEMBERS).filter(|header| wanted.matches(header));
    let members: Vec<_> = matching.collect();
    if members.first().is_some_and(|first| first.id != latest.id) {
        return Ok(None);
    }
    let others = members.into_iter().skip(1).collect();
    let name = shown::name(engine, &latest);
    let is_running = engine.is_leased(&latest);
    Ok(Some(Family { latest, name, is_running, others, has_more }))
}
