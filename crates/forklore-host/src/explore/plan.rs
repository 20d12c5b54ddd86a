//! What an exploration tries.

use std::time::Duration;

use forklore_api::Explore;
use forklore_core::{Header, Selector};

use super::Judge;
use crate::{Error, Host, Result};

/// An exploration that is ready to run: its session exists, and so do its models.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The session to continue.
    pub session: Header,
    /// The cut at which the continuations begin. `None` is the end.
    pub at: Option<Selector>,
    /// The continuations.
    pub tries: Vec<Try>,
    /// The program that scores the answers.
    pub judge: Option<Judge>,
    /// The prefix of the forks' labels, before a number. `None` derives it from the session:
    /// `try-1` from a root, `plan-b.1` from the fork `plan-b`.
    pub label: Option<String>,
    /// Maximum number of concurrent continuations.
    pub jobs: usize,
}

impl Plan {
    /// Prepares the exploration of `session`, which the request names.
    ///
    /// # Errors
    /// `invalid_args` for the number of continuations, the prompts or the judge, and an error when a
    /// model is not configured.
    pub fn of(host: &Host, session: Header, request: &Explore) -> Result<Self> {
        let configured = host.configured();
        let model = |name: Option<&str>| Ok(configured.model(name)?.0.to_owned());
        let models = match request.models.as_slice() {
            [] => vec![model(None)?],
            names => names.iter().map(|name| model(Some(name))).collect::<Result<_>>()?,
        };
        let judge = request.judge.as_deref().map(Judge::parse).transpose()?;
        let timeout = Duration::from_secs(request.judge_timeout_seconds);
        Ok(Self {
            session,
            at: request.at.clone(),
            tries: tries(&request.prompts, &models, request.n)?,
            judge: judge.map(|judge| judge.within(timeout)),
            label: request.label.clone(),
            jobs: request.jobs.map_or(MOST, |jobs| usize::from(jobs.get())),
        })
    }
}

/// One continuation to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Try {
    /// The model that answers, by its name in the configuration.
    pub model: String,
    /// The prompt.
    pub prompt: String,
}

/// Maximum number of continuations that [`tries`] creates: providers do not answer more at once.
pub const MOST: usize = 64;
/// The default number of continuations of one prompt and one model.
const USUAL: usize = 4;

/// Pairs each prompt with each model, and repeats the pairs in order up to `n` continuations. If
/// `n` is `None`, creates one of each pair, or four of a single pair.
///
/// # Errors
/// `invalid_args` if `n` is 0 or more than [`MOST`], or if there is no prompt or no model.
pub fn tries(prompts: &[String], models: &[String], n: Option<usize>) -> Result<Vec<Try>> {
    let pair =
        |prompt: &String, model: &String| Try { model: model.clone(), prompt: prompt.clone() };
    let all: Vec<Try> = prompts
        .iter()
        .flat_map(|prompt| models.iter().map(move |model| pair(prompt, model)))
        .collect();
    let n = n.unwrap_or(if all.len() > 1 { all.len() } else { USUAL });
    if n == 0 || n > MOST {
        return Err(Error::invalid(format!("{n} continuations: between 1 and {MOST} are tried")));
    }
    if all.is_empty() {
        return Err(Error::invalid("there is nothing to say: write it behind the session"));
    }
    Ok(all.iter().cycle().take(n).cloned().collect())
}
