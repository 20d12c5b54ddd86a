//! Sums the usage of all sessions, and remembers the sums until the store changes.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use forklore_api::{Stats, UsageGrouping, UsageReport, UsageScope};
use forklore_core::{SessionId, Usage};
use forklore_engine::UsageOptions;
use forklore_store::port::{Filter, Mark, Since};

use crate::answer::Answer;
use crate::{Pages, shown};

/// The number of families that are listed.
const FAMILIES: usize = 15;

/// The sums of a store.
pub(crate) struct Report {
    pub(crate) stats: Stats,
    /// The usage by model, with groups by day.
    pub(crate) usage: UsageReport,
    pub(crate) agents: Vec<Sum>,
    /// The families with the most usage.
    pub(crate) families: Vec<Sum>,
}

/// The usage of an agent or of a family.
pub(crate) struct Sum {
    pub(crate) name: String,
    /// The root of the family.
    pub(crate) root: Option<SessionId>,
    pub(crate) usage: Usage,
}

/// The sums as of the last time that they were read.
#[derive(Default)]
pub(crate) struct Cached(Mutex<Option<(Mark, Arc<Report>)>>);

impl Cached {
    /// Returns the sums if that takes no time: they are up to date, or the store is small.
    pub(crate) fn read_if_fast(&self, pages: &Pages) -> Answer<Option<Arc<Report>>> {
        // Another request may be reading the sums.
        let Ok(last) = self.0.try_lock() else { return Ok(None) };
        let mark = pages.engine.store().changes(&Since::Now, 1, Duration::ZERO)?.mark;
        let is_fast = last.as_ref().is_some_and(|(at, _)| *at == mark) || is_small(pages)?;
        drop(last);
        is_fast.then(|| self.read(pages)).transpose()
    }

    /// Returns the sums. Reads the store only if it has changed. Several callers at once wait for
    /// the first.
    pub(crate) fn read(&self, pages: &Pages) -> Answer<Arc<Report>> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mark = pages.engine.store().changes(&Since::Now, 1, Duration::ZERO)?.mark;
        if let Some((at, report)) = &*last
            && *at == mark
        {
            return Ok(Arc::clone(report));
        }
        let report = Arc::new(read(pages)?);
        *last = Some((mark, Arc::clone(&report)));
        Ok(report)
    }
}

/// The number of sessions and of their events up to which the sums are read at once.
const FEW_SESSIONS: usize = 300;
const FEW_EVENTS: u64 = 20_000;

fn is_small(pages: &Pages) -> Answer<bool> {
    let found = pages.engine.store().sessions(&Filter::default(), None, FEW_SESSIONS)?.sound;
    let events: u64 = found.iter().map(|header| header.own_events).sum();
    Ok(found.len() < FEW_SESSIONS && events < FEW_EVENTS)
}

fn read(pages: &Pages) -> Answer<Report> {
    let engine = &pages.engine;
    let options = UsageOptions {
        prices: pages.prices.clone(),
        by: Some(UsageGrouping::Day),
        zone: pages.zone.clone(),
    };
    let usage = engine.usage_report_with(&UsageScope::Everything, &options)?;
    let ids: Vec<_> = usage.by_session.iter().map(|session| session.session_id.clone()).collect();
    let headers = engine.store().headers(&ids)?.into_iter().flatten();
    let headers: HashMap<_, _> = headers.map(|header| (header.id.clone(), header)).collect();
    let (mut agents, mut families) = (HashMap::new(), HashMap::new());
    for session in &usage.by_session {
        let Some(header) = headers.get(&session.session_id) else { continue };
        let agent = header.dialect.clone().unwrap_or_else(|| "forklore".to_owned());
        *agents.entry(agent).or_insert_with(Usage::default) += session.usage;
        *families.entry(header.root_id.clone()).or_insert_with(Usage::default) += session.usage;
    }
    let mut dearest = sorted(families);
    dearest.truncate(FAMILIES);
    let family = |(root, usage): (SessionId, Usage)| {
        let name = engine.store().header(&root).map(|header| shown::name(engine, &header));
        Sum { name: name.unwrap_or_else(|_| root.to_string()), root: Some(root), usage }
    };
    let families = dearest.into_iter().map(family).collect();
    let agent = |(name, usage)| Sum { name, root: None, usage };
    let agents = sorted(agents).into_iter().map(agent).collect();
    Ok(Report { stats: engine.stats(None)?, usage, agents, families })
}

/// Sorts sums by cost and then by tokens, the most first.
fn sorted<K: Ord + Hash>(sums: HashMap<K, Usage>) -> Vec<(K, Usage)> {
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by(|(a, x), (b, y)| {
        let dearest = y.cost.total_cmp(&x.cost).then_with(|| y.tokens().cmp(&x.tokens()));
        dearest.then_with(|| a.cmp(b))
    });
    sums
}
