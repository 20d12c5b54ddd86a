//! The plan of an exploration: which continuations it runs.

use std::time::Duration;

use forklore_agent::TurnUsage;
use forklore_api::{Continuation, ContinuationState, Explore};
use forklore_core::{Header, Selector};

use super::Judge;
use crate::{Error, Host, Result};

/// An exploration (several continuations of a session) that is ready to run: its session exists,
/// and its models are configured.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The session to continue.
    pub session: Header,
    /// The cut at which the continuations begin. `None` is the end of the session.
    pub at: Option<Selector>,
    /// The continuations to run, each with a model and a prompt.
    pub tries: Vec<Try>,
    /// The program that scores the answers. `None` leaves the answers without scores.
    pub judge: Option<Judge>,
    /// The prefix of the forks' labels. A label is the prefix, a hyphen and a number, such as
    /// `plan-1`. `None` derives the labels from the session: `try-1` from a root, `plan-b.1` from
    /// the fork `plan-b`.
    pub label: Option<String>,
    /// Maximum number of concurrent continuations.
    pub jobs: usize,
}

impl Plan {
    /// Prepares the exploration of `session`, which the request names.
    ///
    /// The exploration runs the program that the request names as its judge. A front end that takes
    /// requests from others must refuse [`Explore::judge`] from callers who may not run programs.
    ///
    /// # Errors
    /// `invalid_args` if the request names another session than `session`, or if the number of
    /// continuations, a prompt, the judge or the judge's time limit is invalid. An error if a model
    /// is not configured.
    pub fn of(host: &Host, session: Header, request: &Explore) -> Result<Self> {
        check(&session, request)?;
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

fn check(session: &Header, request: &Explore) -> Result<()> {
    if session.id != request.session_id {
        let (id, other) = (&request.session_id, &session.id);
        return Err(Error::invalid(format!("the request is about session {id}, not {other}")));
    }
    if request.prompts.iter().any(|prompt| prompt.trim().is_empty()) {
        return Err(Error::invalid("a prompt is empty"));
    }
    let seconds = request.judge_timeout_seconds;
    if !(1..=LONGEST_JUDGE).contains(&seconds) {
        let range = format!("between 1 and {LONGEST_JUDGE} are allowed");
        return Err(Error::invalid(format!("{seconds} seconds for the judge: {range}")));
    }
    Ok(())
}

/// One continuation to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Try {
    /// The model that answers, by its name in the configuration.
    pub model: String,
    /// The prompt that the model answers.
    pub prompt: String,
}

impl Try {
    /// Returns the row of this continuation while it waits for its start.
    #[must_use]
    pub fn waiting(&self) -> Continuation {
        Continuation {
            session_id: None,
            label: None,
            model: self.model.clone(),
            prompt: self.prompt.clone(),
            answer: String::new(),
            state: ContinuationState::Waiting,
            usage: TurnUsage::default(),
            seconds: 0.0,
            score: None,
            error: None,
            work: None,
        }
    }
}

/// Maximum number of continuations that [`tries`] creates: providers do not answer more at once.
pub const MOST: usize = 64;
/// Maximum time limit of the judge for one answer, in seconds: a day.
const LONGEST_JUDGE: u64 = 86_400;
/// The default number of continuations of one prompt and one model.
const USUAL: usize = 4;

/// Pairs each prompt with each model, and repeats the pairs in order up to `n` continuations. If
/// `n` is `None`, creates one continuation of each pair, or four if there is only one pair.
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
