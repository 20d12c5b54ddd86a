//! Reports model usage by model and by session, from the records that contain it.
//!
//! The header of a session has the sum of its `provider_usage` events. Many agents instead write
//! the usage into their messages, several times for one call, and again in each copy of a session.
//! The report is therefore computed on request, and counts only the last record of each call.

mod inherited;
mod ledger;
mod recent;

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use forklore_api::{UsageGrouping, UsageReport, UsageScope};
use forklore_core::{CallUsage, EventType, Header, PriceTable, Usage, without_noise};
use forklore_store::port::{At, Filter, LogEntry, Problem};
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::Value;

use self::ledger::{Ledger, Reported};

use crate::{Engine, Result};

/// The settings with which a usage report is computed.
#[derive(Clone, Debug)]
pub struct UsageOptions {
    /// The prices of models, from which the cost of a call follows if its record states none.
    pub prices: PriceTable,
    /// A further grouping of the sums, such as by day. With `None`, the report has sums for models
    /// and sessions only.
    pub by: Option<UsageGrouping>,
    /// The time zone in which days and weeks begin.
    pub zone: TimeZone,
}

impl Default for UsageOptions {
    fn default() -> Self {
        Self { prices: PriceTable::default(), by: None, zone: TimeZone::UTC }
    }
}

impl Engine {
    /// Computes the model usage of the sessions in `scope` from the events that they wrote
    /// themselves. Reads one page of events at a time.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted. A session that cannot be read is
    /// not an error: it is listed in `problems`.
    pub fn usage_report(&self, scope: &UsageScope) -> Result<UsageReport> {
        self.usage_report_with(scope, &UsageOptions::default())
    }

    /// Computes the model usage like [`usage_report`](Self::usage_report), with the prices, the
    /// grouping and the time zone in `options`.
    ///
    /// # Errors
    /// See [`usage_report`](Self::usage_report).
    pub fn usage_report_with(
        &self,
        scope: &UsageScope,
        options: &UsageOptions,
    ) -> Result<UsageReport> {
        let (mut sessions, mut problems) = self.sessions_of(scope)?;
        // Charge the original rather than its copy. Originals come first, because a copy may claim
        // the same creation time.
        let order = |header: &Header| (header.copy_of.is_some(), header.created);
        sessions.sort_by(|a, b| order(a).cmp(&order(b)).then_with(|| a.id.cmp(&b.id)));
        let mut ledger = Ledger::of(&sessions, options);
        let there: HashSet<_> = sessions.iter().map(|header| &header.id).collect();
        for (at, session) in sessions.iter().enumerate() {
            let original = session.copy_of.as_ref().map(|copy_of| &copy_of.session_id);
            let is_copy = original.is_some_and(|original| there.contains(original));
            if let Err(error) = self.enter(session, at, is_copy, &mut ledger) {
                match error {
                    crate::Error::Store(error) => {
                        problems.push(error.problem(Some(&session.id)));
                    }
                    error => return Err(error),
                }
            }
        }
        Ok(ledger.into_report(problems))
    }

    fn sessions_of(&self, scope: &UsageScope) -> Result<(Vec<Header>, Vec<Problem>)> {
        let family = match scope {
            UsageScope::Session(id) => return Ok((vec![self.show(id)?], Vec::new())),
            UsageScope::Family(id) => Some(self.show(id)?.root_id),
            UsageScope::Everything => None,
        };
        let found = self.store.sessions(&Filter { family, ..Filter::default() }, None, 0)?;
        Ok((found.sound, crate::list::problems(&found.damaged)))
    }

    /// Adds to `ledger` the usage that a session's own events report. For a copy (a session that
    /// repeats the beginning of another), adds only the usage that its original does not have.
    fn enter(
        &self,
        session: &Header,
        at: usize,
        is_copy: bool,
        ledger: &mut Ledger<'_>,
    ) -> Result<()> {
        let (mut reported, mut untold, mut model) = (Usage::default(), 0, ModelOf::Nobody);
        let copied = if is_copy { self.repeated(session)? } else { None };
        let is_copied = |stored: &LogEntry| copied.is_some_and(|copied| copied.holds(stored));
        let tells = session.dialect.is_some() || session.usage != Usage::default();
        let first = session.seq_of_own(u64::from(session.parent_id.is_some()));
        let events = self.events(&session.id, At::Seq(first));
        let mut read = Ok(());
        for stored in events.take_while(|_| tells) {
            match stored {
                Ok(stored) => {
                    if let Some(name) = self.asks(&stored) {
                        model.ask(name);
                    }
                    let usage = self.call_usage(&stored);
                    if usage.is_none() && stored.event.kind == EventType::PROVIDER_USAGE {
                        untold += u64::from(!is_copied(&stored));
                    }
                    if let Some(usage) = usage {
                        if stored.event.kind == EventType::PROVIDER_USAGE {
                            reported += usage.usage;
                        }
                        if usage.call.is_some() || !is_copied(&stored) {
                            let (ts, agent) = (stored.event.ts, stored.event.dialect.clone());
                            let calls = 1;
                            let reported = Reported { session: at, ts, agent, call: usage, calls };
                            ledger.add(&session.root_id, reported);
                        }
                    }
                }
                Err(error) => {
                    read = Err(error);
                    break;
                }
            }
        }
        // Charge the usage that the header counted at the import, but that no single event reports.
        let counted = less(session.usage, copied.unwrap_or_default().usage);
        let rest = less(counted, reported);
        if rest != Usage::default() {
            let call = CallUsage { model: model.only(), usage: rest, ..CallUsage::default() };
            let (ts, agent) = (session.updated, session.dialect.as_deref().map(Arc::from));
            ledger.enter(Reported { session: at, ts, agent, call, calls: untold.max(1) });
        }
        read
    }

    /// Returns the model that this record selects for the model calls after it. Returns `None` if
    /// it selects none.
    fn asks(&self, stored: &LogEntry) -> Option<String> {
        let dialect = self.agent_formats().named(stored.event.dialect.as_deref()?)?;
        dialect.model_of_turn(&stored.event.kind, &stored.event.data)
    }

    /// Returns the usage of the model call that this event reports. Returns `None` if it reports
    /// none.
    #[must_use]
    pub fn call_usage(&self, stored: &LogEntry) -> Option<CallUsage> {
        let event = &stored.event;
        match &event.dialect {
            Some(name) => self.agent_formats().named(name)?.call_usage(&event.kind, &event.data),
            None if event.kind == EventType::PROVIDER_USAGE => {
                #[derive(Default, Deserialize)]
                #[serde(default)]
                struct Named {
                    model: Option<String>,
                    cost: Value,
                    cache_written: Value,
                }
                let named: Named = event.data.read().unwrap_or_default();
                let usage = forklore_core::payload::usage(&event.data);
                CallUsage {
                    call: None,
                    model: named.model,
                    usage,
                    cache_written: named.cache_written.as_u64().unwrap_or(0),
                    is_free: named.cost.as_f64() == Some(0.0),
                }
                .some()
            }
            None => None,
        }
    }
}

/// The models that a session's records selected up to the current event. A model call that does not
/// name its model used one of them.
enum ModelOf {
    Nobody,
    One(String),
    Several,
}

impl ModelOf {
    fn ask(&mut self, name: String) {
        *self = match std::mem::replace(self, Self::Several) {
            Self::Nobody => Self::One(name),
            Self::One(before) if before == name => Self::One(before),
            _ => Self::Several,
        };
    }

    /// Returns the model that the session's records selected. Returns `None` if they selected none
    /// or several.
    fn only(self) -> Option<String> {
        if let Self::One(name) = self { Some(name) } else { None }
    }
}

fn key(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

/// Subtracts `part` from `all`, field by field. No field of the result is below 0.
pub(crate) fn less(all: Usage, part: Usage) -> Usage {
    Usage {
        input: all.input.saturating_sub(part.input),
        output: all.output.saturating_sub(part.output),
        cached: all.cached.saturating_sub(part.cached),
        cost: without_noise(all.cost - part.cost).max(0.0),
    }
}
