//! Detects a stuck turn: in several consecutive rounds, all calls fail, and each round fails in the
//! same way as the round before it. A round is all tool calls of one answer of the model.

use std::collections::BTreeSet;

use super::authorize::Authorized;
use super::truncate::boundary;
use crate::tool::ToolOutcome;

/// When a stuck turn is ended, the reason quotes the result of a failed call. This is the maximum
/// length of the quotation, in bytes.
const SHOWN: usize = 200;

/// How a tool call failed. Two executed calls failed in the same way only if their arguments are
/// equal too. Refused calls are compared without arguments, because their arguments had no effect.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Failure {
    name: String,
    arguments: Option<String>,
    content: String,
}

/// The failed calls of one answer of the model. Empty if a call of the answer succeeded.
#[derive(Debug, Default)]
pub(super) struct Round {
    failures: BTreeSet<Failure>,
    succeeded: bool,
}

impl Round {
    /// Adds the outcome of a call to the round (all calls of one answer). After one success, the
    /// round counts as having no failures.
    pub(super) fn add(&mut self, authorized: &Authorized, outcome: &ToolOutcome) {
        if !outcome.is_error {
            self.succeeded = true;
            self.failures.clear();
        }
        if self.succeeded {
            return;
        }
        let carried_out = authorized.refused.is_none();
        self.failures.insert(Failure {
            name: authorized.call.name.clone(),
            arguments: carried_out.then(|| authorized.call.arguments.get().to_owned()),
            content: outcome.content.get().to_owned(),
        });
    }
}

/// Counts the consecutive rounds in which all calls failed in the same way as in the round before.
/// A round is all tool calls of one answer.
#[derive(Debug, Default)]
pub(super) struct StuckLoop {
    last: BTreeSet<Failure>,
    rounds: u32,
}

impl StuckLoop {
    /// Counts a round. Returns the reason to end the turn if at least `most` consecutive rounds
    /// have the same failures. Otherwise returns `None`: the turn may continue. If `most` is
    /// `None`, the number of rounds has no limit.
    pub(super) fn count(&mut self, round: Round, most: Option<u32>) -> Option<String> {
        if round.succeeded {
            *self = Self::default();
            return None;
        }
        self.rounds = if round.failures == self.last { self.rounds.saturating_add(1) } else { 1 };
        self.last = round.failures;
        let first = self.last.first().filter(|_| most.is_some_and(|most| self.rounds >= most))?;
        let text: String = serde_json::from_str(&first.content).unwrap_or(first.content.clone());
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let shown = text.get(..boundary(&text, SHOWN)).unwrap_or_default();
        Some(format!("{} times in a row its calls failed in the same way: {shown}", self.rounds))
    }
}
