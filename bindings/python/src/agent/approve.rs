//! Who permits tool calls: patterns of tool names, and a Python function that answers questions.

use forklore_agent::approve::{Answer, Approve, Policy, Question, Rule};
use forklore_agent::tool::ToolCall;
use futures_util::future::BoxFuture;
use pyo3::prelude::*;
use serde::Deserialize;

use super::reply;

/// Patterns of tool names. `*` stands for any text. The strictest rule that fits a name applies, and
/// a name that no rule fits needs approval.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Patterns {
    allow: Vec<String>,
    ask: Vec<String>,
    deny: Vec<String>,
}

impl Policy for Patterns {
    fn rule(&self, call: &ToolCall) -> Rule {
        let fits = |patterns: &[String]| patterns.iter().any(|it| fits(it, &call.name));
        if fits(&self.deny) {
            Rule::Deny
        } else if fits(&self.ask) || !fits(&self.allow) {
            Rule::Ask
        } else {
            Rule::Allow
        }
    }
}

/// Checks whether a name fits a pattern.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return pattern == name };
    let Some(rest) = name.strip_prefix(before) else { return false };
    let mut ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
    ends.any(|at| rest.get(at..).is_some_and(|rest| fits(after, rest)))
}

/// A person, or a function in place of one, that a Python object asks.
pub(super) struct FunctionApprover {
    pub(super) callables: Py<PyAny>,
}

impl Approve for FunctionApprover {
    fn approve<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            // What cannot be decided is not permitted.
            self.answer(question).await.unwrap_or_else(|why| Answer::Denied(Some(why)))
        })
    }
}

impl FunctionApprover {
    async fn answer(&self, question: &Question) -> Result<Answer, String> {
        #[derive(Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Written {
            Granted(Option<String>),
            Denied(Option<String>),
        }
        let payload = serde_json::to_string(question).map_err(|error| error.to_string())?;
        let question = reply::Question::put(&self.callables, "approve", &payload, Vec::new())?;
        let answer = question.answered().await?;
        Ok(match serde_json::from_str(&answer).map_err(|error| error.to_string())? {
            Written::Granted(note) => Answer::Granted(note),
            Written::Denied(reason) => Answer::Denied(reason),
        })
    }
}
