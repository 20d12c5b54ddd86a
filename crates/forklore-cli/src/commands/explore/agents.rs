//! `explore --agent`: coding agents go on with a session, each in a folder of its own.

use std::num::NonZeroU16;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use forklore::core::ErrorKind;
use forklore_chat::Stop;
use forklore_explore::{
    Continuation, Explored, GoOnInStore, Plan, SessionFile, Stores, WriteSessionFile, explore,
};
use forklore_host::CancellationToken;
use forklore_host::explore::{Judge, Row, State, tries};

use super::{Args, Shown, cut_of, failure_of};
use crate::app::App;
use crate::commands::resume_in;
use crate::failure::{Failure, Result};
use crate::output::{Output, count};
use crate::session_ref::SessionRef;
use crate::{agent_config, interrupts, new_file, wiring};

/// The agents that can go on by themselves.
pub(super) const NAMES: [&str; 6] = ["chat", "claude", "codex", "gemini", "opencode", "pi"];
/// Forklore's own agent, which goes on in the store itself.
const CHAT: &str = "chat";
/// The number of agents that work at once.
const JOBS: usize = 2;
/// The pattern that allows everything.
const EVERYTHING: &str = "*";

pub(super) fn run(
    agent: &str,
    args: &Args,
    session: &SessionRef,
    app: &App,
    output: &mut Output,
) -> Result<()> {
    let everything = match args.allow.as_slice() {
        _ if agent == CHAT => false,
        [] => false,
        [all] if all.to_string() == EVERYTHING => true,
        _ => {
            let message = "coding agents ask by rules of their own; --allow can only be '*'";
            return Err(Failure::invalid(message).or_try("--allow '*'"));
        }
    };
    let header = app.session(session, output)?;
    let request = args.options.request(header.id.clone(), None)?;
    let models = match request.models.as_slice() {
        [] => vec![agent.to_owned()],
        named => named.to_vec(),
    };
    let judge = request.judge.as_deref().map(Judge::parse).transpose()?;
    let timeout = Duration::from_secs(request.judge_timeout_seconds);
    let plan = Plan {
        at: request.at.clone(),
        agent: agent.to_owned(),
        tries: tries(&request.prompts, &models, request.n)?,
        everything,
        judge: judge.map(|judge| judge.within(timeout)),
        label: request.label.clone(),
        jobs: request.jobs.map_or(JOBS, |jobs| usize::from(NonZeroU16::get(jobs))),
        timeout: Duration::from_secs(args.timeout),
        max_cost: args.max_cost,
        prices: wiring::prices(app),
        session: header,
    };
    let at = cut_of(app, &plan.session, plan.at.as_ref())?;
    let engine = app.engine()?.clone();
    let continuation = match agent {
        CHAT => Continuation::Store(chat(args, request.models.as_slice(), app, output)?),
        _ => Continuation::File(writer(&engine)),
    };
    let stores = Stores { files: Arc::new(app.files()?), continuation, engine };
    let (Explored { rows, over_budget }, stopped) = explored(&stores, &plan, output)?;
    let refusal = plan.over_budget().filter(|_| over_budget);
    let failure = failure_of(&rows, stopped.is_some(), refusal);
    let (judged, currency) = (plan.judge.is_some(), plan.prices.currency.clone());
    let shown = Shown { from: &plan.session, at: &at, rows: &rows, judged, currency };
    let printed = shown.show(None, failure.as_ref(), output);
    if let Some(stop) = stopped {
        return Err(Failure::Stopped(stop));
    }
    printed?;
    failure.map_or(Ok(()), |failure| Err(Failure::Answered(failure.kind())))
}

/// Runs the agents and shows their progress. Returns the result, and the signal that stopped them, if
/// any. The first one asks the agents to end; after a second one they are killed.
fn explored(stores: &Stores, plan: &Plan, output: &mut Output) -> Result<(Explored, Option<Stop>)> {
    let cancel = CancellationToken::new();
    interrupts::leave();
    let agents = format!("{} of {}", count(plan.tries.len() as u64, "run"), plan.agent);
    output.note(&format!("{agents} in worktrees of their own; Ctrl-C stops them"));
    let shown = output.tries(plan.tries.len());
    // The result if a second signal drops the exploration.
    let mut latest: Vec<Row> = plan.tries.iter().map(|tried| plan.waiting(tried)).collect();
    let mut changed = |at: usize, row: &Row| {
        shown.show(at, row);
        if let Some(before) = latest.get_mut(at) {
            before.clone_from(row);
        }
    };
    let exploring = explore(stores, plan, &cancel, &mut changed);
    let (explored, stopped) = forklore_chat::interruptible(&cancel, exploring)?;
    drop(shown);
    for row in latest.iter_mut().filter(|row| !matches!(row.state, State::Done | State::Failed)) {
        row.state = State::Interrupted;
    }
    let dropped = Explored { rows: latest, over_budget: false };
    Ok((explored.unwrap_or(Ok(dropped)).map_err(failure)?, stopped))
}

/// Returns the function that has forklore's own agent go on with a branch: a turn of `forklore chat`
/// with the configuration of this run.
///
/// # Errors
/// When the configuration is invalid or lacks a model, or the URL of the store has a password: other
/// users of the machine see the arguments of programs.
fn chat(args: &Args, models: &[String], app: &App, output: &mut Output) -> Result<GoOnInStore> {
    let configured = wiring::configured(app, output)?;
    let named = models.iter().map(|model| Some(model.as_str()));
    for model in named.chain(models.is_empty().then_some(None)) {
        configured.model(model).map_err(forklore_host::Error::from)?;
        let limits = args.max_cost.is_some();
        configured.check_budget(model, limits).map_err(forklore_host::Error::from)?;
    }
    let mut fixed = Vec::new();
    if let Some(path) = std::env::var_os(wiring::CONFIG_VARIABLE).map(PathBuf::from)
        && path.is_relative()
        && !path.as_os_str().is_empty()
    {
        // The agent works in another folder.
        let path = std::path::absolute(&path).map_err(new_file::failed(&path))?;
        let variable = format!("{}={}", wiring::CONFIG_VARIABLE, path.display());
        fixed.extend(["env".to_owned(), variable]);
    }
    fixed.extend(agent_config::this_program(app)?);
    fixed.push("--quiet".to_owned());
    for setting in app.settings() {
        fixed.extend(["-c".to_owned(), setting.typed().to_owned()]);
    }
    fixed.push(CHAT.to_owned());
    fixed.extend(args.allow.iter().map(|pattern| format!("--allow={pattern}")));
    fixed.extend(args.max_cost.map(|most| format!("--max-cost={most}")));
    Ok(Arc::new(move |session, run| {
        let mut words = fixed.clone();
        words.extend(run.model.iter().map(|model| format!("--model={model}")));
        words.push(session.to_string());
        words
    }))
}

/// Returns the function that writes a session for an agent.
fn writer(engine: &forklore::Engine) -> WriteSessionFile {
    let engine = engine.clone();
    Arc::new(move |request, run| {
        let written = resume_in::write_for(request, Some(run), &engine);
        let written = written.map_err(|failure| failure.to_string())?;
        let path = std::path::absolute(&written.answer.path).map_err(|error| error.to_string())?;
        let agent = &request.to.dialect;
        let commands =
            written.unattended.ok_or_else(|| format!("{agent} cannot go on without a person"))?;
        Ok(SessionFile { path, commands, reads_prompt: written.reads_prompt })
    })
}

fn failure(error: forklore_explore::Error) -> Failure {
    use forklore_explore::Error;
    match error {
        Error::Engine(error) => error.into(),
        Error::Files(error) => error.into(),
        Error::Host(error) => error.into(),
        stopped @ Error::Interrupted => {
            Failure::refused(ErrorKind::Interrupted, stopped.to_string())
        }
        missing @ Error::NoProgram { .. } => Failure::invalid(missing.to_string()),
        other => Failure::refused(ErrorKind::Internal, other.to_string()),
    }
}
