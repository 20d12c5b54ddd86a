//! Counts the usage of each model call once. Codex may write the tokens of a call several times: in
//! a `token_usage_record`, as the last call in a `token_count`, and in further `token_count`
//! records that repeat the same total.

use forklore_core::Usage;
use serde::{Deserialize, Serialize};

use crate::lenient::{Number, Object};

/// The token counts in Codex's usage records.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tokens {
    input_tokens: Number,
    cached_input_tokens: Number,
    output_tokens: Number,
}

/// The field `info` of a `token_count` record: the session's total usage, and the usage of the
/// session's last model call.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Info {
    total_token_usage: Option<Object<Tokens>>,
    last_token_usage: Option<Object<Tokens>>,
}

/// A session's total token counts so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Total {
    input: u64,
    cached: u64,
    output: u64,
}

impl From<Tokens> for Total {
    fn from(tokens: Tokens) -> Self {
        Self {
            input: tokens.input_tokens.count(),
            cached: tokens.cached_input_tokens.count(),
            output: tokens.output_tokens.count(),
        }
    }
}

impl Total {
    /// Returns how much the total token counts have increased since `before`. Returns `None` if a
    /// count decreased, because Codex reset the total.
    fn since(self, before: Self) -> Option<Self> {
        Some(Self {
            input: self.input.checked_sub(before.input)?,
            cached: self.cached.checked_sub(before.cached)?,
            output: self.output.checked_sub(before.output)?,
        })
    }

    fn usage(self) -> Option<Usage> {
        let Self { input, cached, output } = self;
        let nothing = self == Self::default();
        (!nothing).then_some(Usage { input, output, cached, cost: 0.0 })
    }
}

/// Returns the usage of the model call in a `token_usage_record`. Sets `last_total` to `thread`,
/// the session's total in the record. If `thread` is `None`, adds the call's usage to `last_total`.
pub(super) fn by_call(
    last_total: &mut Option<Total>,
    usage: Tokens,
    thread: Option<Tokens>,
) -> Option<Usage> {
    let usage = Total::from(usage);
    let sum = |last_total: &Total| Total {
        input: last_total.input.saturating_add(usage.input),
        cached: last_total.cached.saturating_add(usage.cached),
        output: last_total.output.saturating_add(usage.output),
    };
    *last_total = thread.map(Total::from).or_else(|| last_total.as_ref().map(sum));
    usage.usage()
}

/// Returns the usage in a `token_count` record that was not counted yet. Returns `None` if the
/// session's total has not changed. The usage is that of the last model call, if the record states
/// it. Otherwise it is the increase of the total, which may include usage from before the file.
pub(super) fn by_total(last_total: &mut Option<Total>, info: &Info) -> Option<Usage> {
    let total_of = |tokens: &Option<Object<Tokens>>| tokens.as_ref().map(|it| Total::from(it.0));
    let last = total_of(&info.last_token_usage).and_then(Total::usage);
    let Some(total) = total_of(&info.total_token_usage) else { return last };
    let before = last_total.replace(total);
    if before == Some(total) {
        return None;
    }
    last.or_else(|| before.and_then(|before| total.since(before)).unwrap_or(total).usage())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(input: u32) -> Tokens {
        Tokens { input_tokens: Number(input.into()), ..Tokens::default() }
    }

    fn info(total: u32, last: u32) -> Info {
        let object = |n| Some(Object(tokens(n)));
        Info { total_token_usage: object(total), last_token_usage: object(last) }
    }

    fn input(usage: Option<Usage>) -> u64 {
        usage.map_or(0, |usage| usage.input)
    }

    #[test]
    fn every_call_counts_once() {
        let mut last_total = None;
        // The first total includes the usage of the history before the file, which must not count.
        assert_eq!(input(by_total(&mut last_total, &info(5_000, 1_000))), 1_000);
        assert_eq!(input(by_total(&mut last_total, &info(5_000, 1_000))), 0);
        assert_eq!(input(by_total(&mut last_total, &info(5_400, 400))), 400);
        assert_eq!(input(by_total(&mut last_total, &info(5_700, 0))), 300);
        assert_eq!(input(by_call(&mut last_total, tokens(300), Some(tokens(6_000)))), 300);
        assert_eq!(input(by_total(&mut last_total, &info(6_000, 300))), 0);
        // The total was reset.
        assert_eq!(input(by_total(&mut last_total, &info(200, 150))), 150);
        assert_eq!(input(by_call(&mut last_total, tokens(10), None)), 10);
        assert_eq!(input(by_total(&mut last_total, &info(210, 10))), 0);
        assert_eq!(by_total(&mut None, &Info::default()), None);
    }
}
