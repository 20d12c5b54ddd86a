//! `chat`: runs a conversation with an agent, interactively at a terminal, or runs a single turn.

mod piped;

use std::path::PathBuf;

use forklore::api::{TurnAnswer, TurnRequest};
use forklore::core::{ErrorKind, SessionId};
use forklore_agent::notify::event::ForkReason;
use forklore_agent::notify::{KernelEvent, Notification};
use forklore_agent::{Prompt, Status, Turn};
use forklore_chat::input::Editor;
use forklore_chat::{Chat, Foreground, HeadlessTurn};
use forklore_host::{Pattern, PendingAttachment, Start};

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::session_ref::SessionRef;
use crate::{interrupts, wiring};

use super::{interface, views};

const EXAMPLES: &str = "\
Examples:
  forklore chat                              talk; /help shows what you can type
  forklore chat @plan-b                      go on in a branch
  forklore chat ./session.jsonl              go on with a session of another agent
  forklore chat -p \"plan A or plan B?\"       one turn, and its answer
  forklore chat last -p \"and the cost?\" --json
  forklore chat -p \"what is wrong here?\" --attach shot.png
  git diff | forklore chat -p \"review this\" --model claude
  forklore chat -p \"list the open issues\" --allow \"issues.list_*\"
  forklore chat -p \"refactor it\" --max-cost 0.5
  forklore chat -c models.local.model=qwen3 -c system=\"Be brief.\"

Text that is piped in is said, behind the prompt and a blank line where there is -p. It is read to its \
end, at most 4 MiB of it; an empty pipe adds nothing, and from a terminal nothing is read.

Which models there are, and which tools they may call, stands in one file of yours, config.toml in \
the folder forklore of your configuration (or the file that FORKLORE_CONFIG names): without it, \
this command says what to write there. -c overrides a setting for one run. Keys are read from the \
environment. The folder you work in cannot change any of it.

While you talk, /fork goes on in another branch, /rewind takes a turn back, /explore tries several \
continuations, and /bring tells one branch what another came to. Nothing that was said is lost.";

/// Talk to an agent: fork, go back and compare while you talk
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session to go on with: an id, label or title, last, or a session file [default: a
    /// new one]
    session: Option<String>,
    #[command(flatten)]
    pub(super) how: How,
    /// The title of a new session
    #[arg(long, conflicts_with = "session")]
    title: Option<String>,
    /// The most that a new session may do, separated by commas: tools as server.tool, and delegate
    #[arg(long, value_name = "NAMES", conflicts_with = "session")]
    permissions: Option<String>,
}

/// The properties of the new session that a conversation creates. Not used if the conversation
/// continues a session.
#[derive(Clone, Copy, Default)]
pub(super) struct New<'a> {
    title: Option<&'a str>,
    permissions: Option<&'a str>,
}

/// The options that `chat` and `resume` have in common.
#[derive(Debug, clap::Args)]
pub(super) struct How {
    /// The model that answers, by its name in the configuration
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Send this prompt, print the answer, and end
    #[arg(short, long, value_name = "TEXT")]
    prompt: Option<String>,
    /// Send this file with the first prompt; may be given several times
    #[arg(long, value_name = "FILE")]
    attach: Vec<PathBuf>,
    /// In this run, do not ask before a call of a tool that matches this pattern; may be given
    /// several times. A pattern is server.tool, where * means any text. What the configuration or
    /// the session denies stays denied
    #[arg(long, value_name = "PATTERN")]
    allow: Vec<Pattern>,
    /// Stop before the next request once the models cost this much, in the currency of the
    /// configuration; sub-agents count too. Needs prices of the models
    #[arg(long, value_name = "AMOUNT", value_parser = wiring::amount, allow_hyphen_values = true)]
    max_cost: Option<f64>,
    /// If another program runs the session, wait until it is free, or at most this many seconds
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true)]
    wait: Option<Option<u64>>,
    /// Serve counts and durations for Prometheus at this address, or at this port of this machine; 0
    /// takes a free one
    #[arg(long, value_name = "HOST:PORT")]
    metrics: Option<String>,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let session = args.session.as_deref().map(SessionRef::parse).transpose()?;
    let request = args.how.request(output)?;
    let new = New { title: args.title.as_deref(), permissions: args.permissions.as_deref() };
    let session = session.as_ref().map_or(Which::New, Which::Named);
    talk(&session, new, &args.how, request, app, output)
}

/// Continues a conversation at the terminal, with the default model.
pub(super) fn converse(session: &SessionRef, app: &App, output: &mut Output) -> Result<()> {
    let how = How {
        model: None,
        prompt: None,
        attach: Vec::new(),
        allow: Vec::new(),
        max_cost: None,
        wait: None,
        metrics: None,
    };
    talk(&Which::Named(session), New::default(), &how, Request::Conversation, app, output)
}

/// The session of a conversation or of a turn.
pub(super) enum Which<'a> {
    /// A new one.
    New,
    /// The one with this name.
    Named(&'a SessionRef),
    /// The one that the user chooses from a list.
    Chosen,
}

/// Runs the conversation or the turn that `request` describes, in `session`.
pub(super) fn talk(
    session: &Which<'_>,
    new: New<'_>,
    how: &How,
    request: Request,
    app: &App,
    output: &mut Output,
) -> Result<()> {
    let makes = match session {
        Which::New => true,
        Which::Named(session) => session.is_file(),
        Which::Chosen => false,
    };
    app.serve_metrics(how.metrics.as_deref(), output)?;
    let run = wiring::Run { allowed: &how.allow, max_cost: how.max_cost };
    let foreground = wiring::foreground(app, how.model.as_deref(), run, makes, output)?;
    let session = match session {
        Which::New => None,
        Which::Named(session) => Some(app.session(session, output)?.id),
        Which::Chosen => match interface::choose(app, output)? {
            Some(chosen) => Some(chosen),
            None => return Ok(()),
        },
    };
    let (prompt, interactive) = match request {
        Request::Prompt(prompt) => (Some(prompt), false),
        Request::ContinueTurn => (None, false),
        Request::Conversation => (None, true),
    };
    let turn = TurnRequest {
        session_id: session,
        title: new.title.map(str::to_owned),
        permissions: new.permissions.map(super::arguments::permissions),
        workspace: app.workspace()?,
        model: how.model.clone(),
        prompt,
        attach: how.attach.clone(),
        wait_seconds: how.wait.unwrap_or(Some(0)),
    };
    interrupts::leave();
    let done = foreground.start_tools().map_err(Failure::from).and_then(|problems| {
        for problem in problems {
            output.remark(&problem);
        }
        if interactive {
            at_terminal(&foreground, &turn, app, output)
        } else {
            headless(&foreground, &turn, output)
        }
    });
    foreground.close();
    done
}

/// The work of a `chat` command: one turn, or a whole conversation.
pub(super) enum Request {
    /// One turn that answers this prompt.
    Prompt(String),
    /// The continuation of a turn that was interrupted or that failed.
    ContinueTurn,
    /// An interactive conversation at the terminal.
    Conversation,
}

impl How {
    /// Determines the request from the options and from the text piped into standard input.
    pub(super) fn request(&self, output: &mut Output) -> Result<Request> {
        let piped = piped::text(output)?;
        if piped.is_some() || self.prompt.is_some() {
            let prompt = self.prompt.as_deref().unwrap_or_default();
            let text = piped::behind(prompt, piped.as_deref().unwrap_or_default());
            return Ok(Request::Prompt(not_empty(&text)?));
        }
        if output.is_json() || !output.is_terminal() {
            let message = "a conversation needs a terminal; for one turn without, say -p TEXT";
            return Err(Failure::invalid(message));
        }
        Ok(Request::Conversation)
    }
}

fn not_empty(text: &str) -> Result<String> {
    match text.trim() {
        "" => Err(Failure::invalid("there is nothing to say; say -p TEXT, or pipe a text in")),
        text => Ok(text.to_owned()),
    }
}

/// Creates a prompt from `text` and the files of `--attach`.
fn with_files(
    text: &str,
    request: &TurnRequest,
    foreground: &Foreground,
    output: &mut Output,
) -> Result<Prompt> {
    let mut prompt = Prompt::from(text);
    let host = foreground.host();
    let takes = host.takes(request.model.as_deref())?;
    for path in &request.attach {
        let file = PendingAttachment::store(host.engine(), path)?;
        if let Some(problem) = file.problem(&takes) {
            output.remark(&problem);
        }
        prompt = file.add_to(prompt);
    }
    Ok(prompt)
}

/// Runs one turn without user interaction, and prints the answer.
fn headless(foreground: &Foreground, request: &TurnRequest, output: &mut Output) -> Result<()> {
    let start = Start::of(request)?;
    let prompt = request.prompt.as_deref();
    let prompt = prompt.map(|text| with_files(text, request, foreground, output)).transpose()?;
    let json = output.is_json();
    let mut written = Ok(());
    let mut screen = output.is_terminal().then(|| output.screen());
    let mut own = Own::default();
    let done = foreground.run_turn(&start, prompt, &mut |notification| {
        if json {
            let line = output.record(notification, |_| {}).and_then(|()| output.flush());
            if written.is_ok() {
                written = line;
            }
        } else if let Some(screen) = &mut screen
            && own.is(notification)
        {
            screen.notification(notification);
        }
    });
    if let Some(screen) = &mut screen {
        screen.end_turn();
    }
    if let Err(forklore_chat::Error::Host(error)) = &done
        && let Some(text) = foreground.host().unreachable(start.model.as_deref(), error)
    {
        output.remark(&text);
    }
    let HeadlessTurn { turn, stopped } = done?;
    let refusal = foreground.host().budget_refusal();
    let failure = failure_of(&turn, stopped.is_some(), refusal.as_deref());
    if json || screen.is_none() {
        written = written.and_then(|()| answer(&turn, failure.as_ref(), output));
    }
    if let Some(stop) = stopped {
        // Return the failure of the signal first: its exit code must be right even if the output is
        // closed.
        output.hint(&go_on(&turn), "go on with it");
        return Err(Failure::Stopped(stop));
    }
    written?;
    output.hint(&resume_command(&turn), "go on with it");
    match &turn.status {
        Status::Success => Ok(()),
        Status::Cancelled => Err(Failure::Answered(ErrorKind::Interrupted)),
        Status::Incomplete(why) => {
            output.remark(&format!("cut short: {why}"));
            Err(Failure::Answered(failure.map_or(ErrorKind::Internal, |failure| failure.kind())))
        }
    }
}

/// The session in which the turn runs. The terminal shows only the text of this session, and not
/// the text of its sub-agents. `None` before the first notification.
#[derive(Default)]
struct Own(Option<SessionId>);

impl Own {
    /// Checks whether a notification belongs to the session in which the turn runs. The first
    /// notification always belongs to it. If the turn continues in a fork, the fork becomes the
    /// session in which the turn runs.
    fn is(&mut self, notification: &Notification) -> bool {
        let moved = match &notification.event {
            KernelEvent::SessionFork(forked) => forked.reason == Some(ForkReason::LeaseLost),
            _ => false,
        };
        if self.0.is_none() || (moved && notification.parent_id == self.0) {
            self.0 = Some(notification.session_id.clone());
        }
        self.0.as_ref() == Some(&notification.session_id)
    }
}

/// Returns why a turn with an answer failed, or `None` if it did not. `stopped` states whether a
/// signal ended the program, and `refusal` why a budget refused a request.
fn failure_of(turn: &Turn, stopped: bool, refusal: Option<&str>) -> Option<Failure> {
    let interrupted = |message: &str| Failure::refused(ErrorKind::Interrupted, message);
    match &turn.status {
        Status::Success if !stopped => None,
        // The signal arrived after the answer.
        Status::Success => Some(interrupted("the program was stopped after the turn")),
        Status::Cancelled => Some(interrupted("the turn was interrupted").or_try(go_on(turn))),
        Status::Incomplete(why) => {
            let kind = match stopped {
                true => ErrorKind::Interrupted,
                false if refusal == Some(why) => ErrorKind::BudgetExceeded,
                false => ErrorKind::Internal,
            };
            let failure = Failure::refused(kind, format!("the turn was cut short: {why}"));
            Some(failure.or_try(resume_command(turn)))
        }
    }
}

fn answer(turn: &Turn, failure: Option<&Failure>, output: &mut Output) -> Result<()> {
    let answer = TurnAnswer {
        session_id: turn.session_id.clone(),
        moved_from: turn.moved_from.clone(),
        status: turn.status.clone(),
        text: turn.text.clone(),
        model_calls: turn.model_calls,
        tool_calls: turn.tool_calls,
        usage: turn.usage,
        head_seq: turn.head_seq,
        resume_command: output.commands().resume(&turn.session_id),
    };
    match failure.filter(|_| output.is_json()) {
        Some(_) => output.answer_with(&answer, |_| {}, failure),
        None => output.verbatim(&answer, &format!("{}\n", turn.text.trim_end())),
    }
}

/// Returns the command that continues an interrupted turn.
fn go_on(turn: &Turn) -> String {
    format!("{} --continue", resume_command(turn))
}

fn resume_command(turn: &Turn) -> String {
    format!("forklore resume {}", turn.session_id)
}

fn at_terminal(
    foreground: &Foreground,
    request: &TurnRequest,
    app: &App,
    output: &mut Output,
) -> Result<()> {
    let failed = |source| Failure::File { doing: "using the terminal".to_owned(), source };
    let history = wiring::history_file()?;
    let mut editor = Editor::new(Some(history), foreground).map_err(failed)?;
    output.flush()?;
    output.converse();
    let screen = output.screen();
    let mut views = views::Program { app, output };
    let start = Start::from(request);
    let mut chat = Chat::open(start, foreground, &mut views, &mut editor, screen)?;
    for path in &request.attach {
        chat.attach(path)?;
    }
    chat.run().map_or(Ok(()), |stop| Err(Failure::Stopped(stop)))
}
