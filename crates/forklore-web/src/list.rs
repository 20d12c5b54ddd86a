//! Reads a page of the list of sessions: one entry for each family.

use std::collections::HashSet;

use forklore_core::workspace::Workspace;
use forklore_core::{Header, SessionId, SessionKind};
use forklore_engine::Engine;
use forklore_store::port::{Cursor, Filter};
use jiff::{SignedDuration, Timestamp};

use crate::answer::{Answer, Problem};
use crate::params::Params;
use crate::{deeds, shown};

/// The number of families on a page.
const FAMILIES: usize = 60;
/// The largest number of sessions of a family that the list looks at.
const MEMBERS: usize = 50;
/// The largest number of sessions of one read of the store.
const LARGEST_BATCH: usize = 2_000;
/// The largest number of sessions that one page looks at.
const LOOKED_AT: usize = 10_000;
/// The same, if the events of each session must be read.
const READ: usize = 500;

/// What the list shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// Shows only sessions of this agent; `forklore` means those that no agent wrote.
    pub(crate) agent: Option<String>,
    /// Shows only sessions whose folder is this one, or contains this text.
    pub(crate) folder: Option<String>,
    /// Shows only sessions whose last called model has this text in its name.
    pub(crate) model: Option<String>,
    /// Shows only what was written at or after this time.
    pub(crate) since: Option<Timestamp>,
    after: Option<Cursor>,
}

/// A family, as the list shows it.
pub(crate) struct Family {
    /// The session of the family that was written to last.
    pub(crate) latest: Header,
    pub(crate) name: String,
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
    pub(crate) fn of(params: &Params, now: Timestamp) -> Answer<Self> {
        let owned = |name| params.get(name).map(str::to_owned);
        let after = params.get("after").map(cursor).transpose()?;
        let since = params.get("since").map(|text| since(text, now)).transpose()?;
        let (agent, folder, model) = (owned("agent"), owned("workspace"), owned("model"));
        Ok(Self { agent, folder, model, since, after })
    }

    /// Returns the folder, if it is a whole path and no part of one.
    pub(crate) fn workspace(&self) -> Option<Workspace> {
        self.folder.as_deref().filter(|folder| folder.starts_with('/')).map(Workspace::new)
    }

    fn is_all(&self) -> bool {
        self.agent.is_none() && self.folder.is_none() && self.model.is_none()
    }

    /// Checks whether the model that a session called last is wanted.
    pub(crate) fn has_model(&self, engine: &Engine, header: &Header) -> bool {
        let Some(wanted) = &self.model else { return true };
        let end = u64::try_from(header.head_seq() + 1).unwrap_or(0);
        let model = deeds::last_model(engine, &header.id, end);
        model.is_some_and(|model| model.to_lowercase().contains(&wanted.to_lowercase()))
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

/// Reads a time: a number of days before now, such as `7d`, or a date.
fn since(text: &str, now: Timestamp) -> Answer<Timestamp> {
    let days = text.strip_suffix('d').and_then(|days| days.parse::<i64>().ok());
    let before = |days: i64| {
        let span = SignedDuration::from_hours(24).checked_mul(i32::try_from(days).ok()?)?;
        now.checked_sub(span).ok()
    };
    let of_date = || {
        let date: jiff::civil::Date = text.parse().ok()?;
        Some(date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
    };
    let time = days.and_then(before).or_else(of_date);
    time.ok_or_else(|| Problem::bad("since must be a number of days, such as 7d, or a date."))
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
    let workspace = wanted.workspace();
    let filter = Filter { workspace, kinds, since: wanted.since, ..Filter::default() };
    // A large family may have been written to last, so later reads are larger.
    let (mut batch, larger, most) = match &wanted.model {
        Some(_) => (2 * FAMILIES, 2 * FAMILIES, READ),
        None if wanted.is_all() => (2 * FAMILIES, LARGEST_BATCH, LOOKED_AT),
        None => (LARGEST_BATCH, LARGEST_BATCH, LOOKED_AT),
    };
    let mut list = List { families: Vec::new(), next: None, damaged: 0 };
    let (mut seen, mut after, mut looked) = (HashSet::new(), wanted.after.clone(), 0);
    loop {
        let page = engine.store().sessions(&filter, after.as_ref(), batch)?;
        list.damaged = list.damaged.max(page.damaged.len());
        let is_last = page.sound.len() < batch;
        batch = larger;
        looked += page.sound.len();
        for header in page.sound {
            if list.families.len() == FAMILIES {
                list.next = after.map(|at| format!("{}@{}", at.updated.as_microsecond(), at.id));
                return Ok(list);
            }
            after = Some(Cursor { updated: header.updated, id: header.id.clone() });
            if wanted.matches(&header)
                && wanted.has_model(engine, &header)
                && seen.insert(header.root_id.clone())
            {
                list.families.extend(family(engine, wanted, header)?);
            }
        }
        if is_last {
            return Ok(list);
        }
        if looked >= most {
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
    Ok(Some(Family { latest, name, others, has_more }))
}
