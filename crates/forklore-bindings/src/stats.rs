//! Counts of sessions, events and bytes, and the usage of models.

use forklore::Engine;
use forklore_api::{ModelUsage, StatsAnswer, UsageByModel, UsageReport, UsageScope};

use crate::failure::Result;

/// The currency of the costs that agents state. No prices are configured here.
const CURRENCY: &str = "USD";

pub(crate) fn stats(engine: &Engine, scope: &UsageScope, models: bool) -> Result<StatsAnswer> {
    let (mut stats, reads, inherited) = match scope {
        UsageScope::Session(id) => {
            let stats = engine.stats(Some(id))?;
            let inherits = stats.inherited_events > 0;
            (stats, true, inherits.then(|| engine.inherited_usage(id)).transpose()?)
        }
        UsageScope::Family(id) => (engine.family_stats(id)?, true, None),
        UsageScope::Everything => (engine.stats(None)?, models, None),
    };
    let report = reads.then(|| engine.usage_report(scope)).transpose()?;
    if let Some(report) = &report {
        stats.usage = report.usage;
        for problem in &report.problems {
            if !stats.problems.contains(problem) {
                stats.problems.push(problem.clone());
            }
        }
    }
    let currency = CURRENCY.to_owned();
    Ok(StatsAnswer { stats, inherited_usage: inherited, currency, calls: report.map(by_model) })
}

fn by_model(report: UsageReport) -> UsageByModel {
    let is_unpriced = |model: &&ModelUsage| model.unpriced_tokens > 0;
    let unpriced = report.models.iter().filter(is_unpriced);
    UsageByModel {
        unpriced_tokens: report.unpriced_tokens,
        unpriced_models: unpriced.map(|model| model.model.clone()).collect(),
        models: report.models,
        by_session: report.by_session,
        by: None,
        groups: report.groups,
    }
}
