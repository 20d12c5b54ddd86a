//! Collects the usage of model calls while a usage report is computed, and sums it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use forklore_api::{ModelUsage, SessionUsage, UsageGroup, UsageGrouping, UsageReport};
use forklore_core::{CallUsage, Header, SessionId, Usage};
use forklore_store::port::Problem;
use jiff::Timestamp;

use super::{UsageOptions, key};

/// The key of the group for calls that forklore itself made, in a report by agent.
const FORKLORE: &str = "forklore";

/// The usage that one record reports, or that several records report together.
pub(super) struct Reported {
    /// The index of the session that made the call, in the list of sessions of the [`Ledger`].
    pub(super) session: usize,
    /// The time of the record.
    pub(super) ts: Timestamp,
    /// The dialect of the agent that wrote the record. `None` if forklore wrote it.
    pub(super) agent: Option<Arc<str>>,
    pub(super) call: CallUsage,
    /// The number of model calls that the usage covers.
    pub(super) calls: u64,
}

/// Sums the usage of model calls by model, by session and by group.
pub(super) struct Ledger<'a> {
    options: &'a UsageOptions,
    sessions: &'a [Header],
    /// The usage that was reported last for each model call with an id. The key is a hash of the
    /// agent and that id. Each value begins with a hash of the id of the root of the session that
    /// made the call.
    calls: HashMap<u64, (u64, Reported)>,
    total: Sum,
    models: HashMap<Option<String>, Sum>,
    groups: HashMap<Option<String>, Sum>,
    by_session: HashMap<usize, Sum>,
}

impl<'a> Ledger<'a> {
    /// Creates an empty ledger for these sessions.
    pub(super) fn of(sessions: &'a [Header], options: &'a UsageOptions) -> Self {
        Self {
            options,
            sessions,
            calls: HashMap::new(),
            total: Sum::default(),
            models: HashMap::new(),
            groups: HashMap::new(),
            by_session: HashMap::new(),
        }
    }

    /// Adds the usage that a record of a session in the family of `root` reports. A later report of
    /// the same call in that family replaces the earlier one. A report from another family is
    /// ignored if the call is already present.
    pub(super) fn add(&mut self, root: &SessionId, reported: Reported) {
        let Some(call) = &reported.call.call else { return self.enter(reported) };
        let root = key(root);
        match self.calls.entry(key(&(reported.agent.as_deref(), call))) {
            Entry::Vacant(entry) => {
                entry.insert((root, reported));
            }
            // Sessions of one family never repeat an event, so this is a later report of the call,
            // made by the session and the model of the first report. A report from another family
            // belongs to a copy and is ignored.
            Entry::Occupied(mut entry) if entry.get().0 == root => {
                let last = &mut entry.get_mut().1;
                let model = last.call.model.take();
                last.call = CallUsage { model, ..reported.call };
                last.ts = reported.ts;
            }
            Entry::Occupied(_) => {}
        }
    }

    /// Adds usage to the sums. The caller ensures that no later record reports this usage again.
    pub(super) fn enter(&mut self, reported: Reported) {
        let sum = Sum::of(&reported, self.options);
        self.total.add(&sum);
        self.by_session.entry(reported.session).or_default().add(&sum);
        if let Some(by) = self.options.by {
            let header = self.sessions.get(reported.session);
            let group = group(&reported, header, by, self.options);
            self.groups.entry(group).or_default().add(&sum);
        }
        self.models.entry(reported.call.model).or_default().add(&sum);
    }

    /// Converts the sums to a report. `problems` are the sessions that could not be read.
    pub(super) fn into_report(mut self, problems: Vec<Problem>) -> UsageReport {
        for (_, (_, reported)) in std::mem::take(&mut self.calls) {
            self.enter(reported);
        }
        let Self { options, sessions, total, models, groups, by_session, .. } = self;
        let mut report = UsageReport {
            usage: total.usage,
            unpriced_tokens: total.unpriced_tokens,
            models: models.into_iter().map(|(model, sum)| sum.of_model(model)).collect(),
            groups: groups.into_iter().map(|(key, sum)| sum.of_group(key)).collect(),
            by_session: Vec::new(),
            problems,
        };
        report
            .models
            .sort_by(|a, b| dearest(&a.usage, &b.usage).then_with(|| a.model.cmp(&b.model)));
        report.groups.sort_by(|a, b| match options.by {
            Some(UsageGrouping::Day | UsageGrouping::Week) => a.key.cmp(&b.key),
            _ => dearest(&a.usage, &b.usage).then_with(|| a.key.cmp(&b.key)),
        });
        for (at, header) in sessions.iter().enumerate() {
            let Some(sum) = by_session.get(&at) else { continue };
            report.by_session.push(SessionUsage {
                session_id: header.id.clone(),
                label: header.label.clone(),
                title: header.title.clone(),
                usage: sum.usage,
                unpriced_tokens: sum.unpriced_tokens,
            });
        }
        report
    }
}

/// The summed usage of some model calls.
#[derive(Default)]
struct Sum {
    usage: Usage,
    calls: u64,
    unpriced_tokens: u64,
}

impl Sum {
    /// Returns the usage of one report. Its cost is the one that the record states, or else the one
    /// that follows from the prices. If there is neither, counts the tokens as unpriced.
    fn of(reported: &Reported, options: &UsageOptions) -> Self {
        let call = &reported.call;
        let cost = options.prices.cost(call, reported.agent.is_some());
        let usage = Usage { cost: cost.unwrap_or(0.0), ..call.usage };
        let unpriced_tokens = if cost.is_some() { 0 } else { usage.tokens() };
        Self { usage, calls: reported.calls, unpriced_tokens }
    }

    fn add(&mut self, other: &Self) {
        self.usage += other.usage;
        self.calls = self.calls.saturating_add(other.calls);
        self.unpriced_tokens = self.unpriced_tokens.saturating_add(other.unpriced_tokens);
    }

    fn of_model(self, model: Option<String>) -> ModelUsage {
        let Self { usage, calls, unpriced_tokens } = self;
        ModelUsage { model, calls, usage, unpriced_tokens }
    }

    fn of_group(self, key: Option<String>) -> UsageGroup {
        let Self { usage, calls, unpriced_tokens } = self;
        UsageGroup { key, calls, usage, unpriced_tokens }
    }
}

/// Returns the key of the group to which the reported usage belongs. Returns `None` if that is
/// unknown, for example because the record names no model.
fn group(
    reported: &Reported,
    header: Option<&Header>,
    by: UsageGrouping,
    options: &UsageOptions,
) -> Option<String> {
    let date = || reported.ts.to_zoned(options.zone.clone()).date();
    match by {
        UsageGrouping::Day => Some(date().to_string()),
        UsageGrouping::Week => {
            let week = date().iso_week_date();
            Some(format!("{}-W{:02}", week.year(), week.week()))
        }
        UsageGrouping::Model => reported.call.model.clone(),
        UsageGrouping::Workspace => header.map(|header| header.workspace.to_string()),
        UsageGrouping::Agent => Some(reported.agent.as_deref().unwrap_or(FORKLORE).to_owned()),
    }
}

/// Orders usage by cost and then by tokens, the most first.
fn dearest(a: &Usage, b: &Usage) -> std::cmp::Ordering {
    b.cost.total_cmp(&a.cost).then_with(|| b.tokens().cmp(&a.tokens()))
}
