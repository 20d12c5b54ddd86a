//! `chat`: a conversation with an agent, at a terminal or of one turn.

mod piped;

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use forklore::core::{ErrorKind, SessionId};
use forklore_agent::{Prompt, Spent, Status, Turn};
use forklore_chat::input::Editor;
use forklore_chat::{Chat, Once, Pattern, Program, Start, Supplies, Waiting};
use serde::Serialize;

use crate::app::App;
use crate::args::Cli;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::session_ref::SessionRef;
use crate::{exit, supplies};

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

Text that is piped in is said, behind the prompt and a blank line where there is -p. It is read to its \
end, at most 4 MiB of it; an empty pipe adds nothing, and from a terminal nothing is read.

Which models there are, and which tools they may call, stands in one file of yours, config.toml in \
the folder forklore of your configuration (or the file that FORKLORE_CONFIG names): without it, \
this command says what to write there. Keys are read from the environment. The folder you work in \
cannot change any of it.

While you talk, /fork goes on in another branch, /rewind takes a turn back, /explore tries several \
continuations, and /bring tells one branch what another came to. Nothing that was said is lost.";

/// Talk to an agent: fork, go back and compare while you talk
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session to go on with: an id or its end, last, @label, or a session file [default: a
    /// new one]
    session: Option<String>,
    #[command(flatten)]
    pub(super) how: How,
    /// What a new session is called
    #[arg(long, conflicts_with = "session")]
    title: Option<String>,
}

/// How one talks.
#[derive(Debug, clap::Args)]
pub(super) struct How {
    /// The model that answers, by its name in the configuration
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Say this, print the answer, and end
    #[arg(short, long, value_name = "TEXT")]
    prompt: Option<String>,
    /// Send this file with what is said first; may be given several times
    #[arg(long, value_name = "FILE")]
    attach: Vec<PathBuf>,
    /// Call tools that fit without asking in this run: server.tool, with * for any text; may be
    /// given several times. What the configuration or the session denies stays denied
    #[arg(long, value_name = "PATTERN")]
    allow: Vec<Pattern>,
    /// Where another program holds the session, wait until it is free, or so many seconds
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true)]
    wait: Option<Option<u64>>,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let session = args.session.as_deref().map(SessionRef::parse).transpose()?;
    let said = args.how.said(output)?;
    talk(session.as_ref(), args.title.as_deref(), &args.how, said, app, output)
}

/// Talks in a session, or in a new one.
pub(super) fn talk(
    session: Option<&SessionRef>,
    title: Option<&str>,
    how: &How,
    said: Said,
    app: &App,
    output: &mut Output,
) -> Result<()> {
    let supplies = supplies::of(app, how.model.as_deref(), output)?.allowing(how.allow.clone());
    let session = session.map(|session| app.session(session, output)).transpose()?;
    let start = Start {
        session: session.map(|header| header.id),
        title: title.map(str::to_owned),
        workspace: app.workspace()?,
        model: how.model.clone(),
        wait: match how.wait {
            None => Duration::ZERO,
            Some(None) => Duration::MAX,
            Some(Some(seconds)) => Duration::from_secs(seconds),
        },
    };
    exit::leave_interrupts();
    let done = supplies.start_tools().map_err(Failure::from).and_then(|problems| {
        for problem in problems {
            output.remark(&problem);
        }
        match said {
            Said::Prompt(prompt) => with_files(&prompt, how, &supplies, output)
                .and_then(|prompt| once(&supplies, &start, Some(prompt), output)),
            Said::GoOn => once(&supplies, &start, None, output),
            Said::AtTerminal => at_terminal(&supplies, start, how, app, output),
        }
    });
    supplies.end();
    done
}

/// What is said.
pub(super) enum Said {
    /// This, in one turn.
    Prompt(String),
    /// Nothing: one turn goes on.
    GoOn,
    /// Whatever the person types.
    AtTerminal,
}

impl How {
    /// What is to be said.
    pub(super) fn said(&self, output: &mut Output) -> Result<Said> {
        let piped = piped::text(output)?;
        if piped.is_some() || self.prompt.is_some() {
            let prompt = self.prompt.as_deref().unwrap_or_default();
            let text = piped::behind(prompt, piped.as_deref().unwrap_or_default());
            return Ok(Said::Prompt(said(&text)?));
        }
        if output.is_json() || !output.is_terminal() {
            let message = "a conversation needs a terminal; for one turn without, say -p TEXT";
            return Err(Failure::invalid(message));
        }
        Ok(Said::AtTerminal)
    }
}

fn said(text: &str) -> Result<String> {
    match text.trim() {
        "" => Err(Failure::invalid("there is nothing to say; say -p TEXT, or pipe a text in")),
        text => Ok(text.to_owned()),
    }
}

#[derive(Serialize)]
struct Answer<'a> {
    session_id: &'a SessionId,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_from: Option<&'a SessionId>,
    status: &'a Status,
    text: &'a str,
    model_calls: u32,
    tool_calls: u32,
    usage: &'a Spent,
    head_seq: i64,
    resume_command: String,
}

/// A prompt with the files that go along.
fn with_files(text: &str, how: &How, supplies: &Supplies, output: &mut Output) -> Result<Prompt> {
    let mut prompt = Prompt::from(text);
    let takes = supplies.takes(how.model.as_deref())?;
    for path in &how.attach {
        let file = Waiting::keep(supplies.kernel().engine(), path)?;
        if let Some(problem) = file.problem(&takes) {
            output.remark(&problem);
        }
        prompt = file.along(prompt);
    }
    Ok(prompt)
}

fn once(
    supplies: &Supplies,
    start: &Start,
    prompt: Option<Prompt>,
    output: &mut Output,
) -> Result<()> {
    let json = output.is_json();
    let mut written = Ok(());
    let mut screen = output.is_terminal().then(|| output.screen());
    let done = supplies.once(start, prompt, &mut |told| {
        if json {
            let line = output.record(told, |_| {}).and_then(|()| output.flush());
            if written.is_ok() {
                written = line;
            }
        } else if let Some(screen) = &mut screen {
            screen.told(told);
        }
    });
    if let Some(screen) = &mut screen {
        screen.end_answer();
    }
    let Once { turn, stopped } = done?;
    if json || screen.is_none() {
        written = written.and_then(|()| answer(&turn, output));
    }
    if let Some(stop) = stopped {
        // Who stopped it knows the code, also where nothing can be written any more.
        output.hint(&format!("{} --continue", resume_command(&turn)), "go on with it");
        return Err(Failure::Stopped(stop));
    }
    written?;
    output.hint(&resume_command(&turn), "go on with it");
    match &turn.status {
        Status::Success => Ok(()),
        Status::Cancelled => Err(Failure::Answered(ErrorKind::Interrupted)),
        Status::Incomplete(why) => {
            output.remark(&format!("cut short: {why}"));
            Err(Failure::Answered(ErrorKind::Internal))
        }
    }
}

fn answer(turn: &Turn, output: &mut Output) -> Result<()> {
    let answer = Answer {
        session_id: &turn.session_id,
        moved_from: turn.moved_from.as_ref(),
        status: &turn.status,
        text: &turn.text,
        model_calls: turn.model_calls,
        tool_calls: turn.tool_calls,
        usage: &turn.usage,
        head_seq: turn.head_seq,
        resume_command: resume_command(turn),
    };
    output.stored_text(&answer, &format!("{}\n", turn.text.trim_end()))
}

fn resume_command(turn: &Turn) -> String {
    format!("forklore resume {}", turn.session_id)
}

fn at_terminal(
    supplies: &Supplies,
    start: Start,
    how: &How,
    app: &App,
    output: &mut Output,
) -> Result<()> {
    let failed = |source| Failure::File { doing: "using the terminal".to_owned(), source };
    let remembered = supplies::remembered_lines()?;
    let mut editor = Editor::new(Some(remembered), supplies).map_err(failed)?;
    output.flush()?;
    output.converse();
    let screen = output.screen();
    let mut verbs = Verbs { app, output };
    let mut chat = Chat::open_at(start, supplies, &mut verbs, &mut editor, screen)?;
    for path in &how.attach {
        chat.attach(path)?;
    }
    chat.talk().map_or(Ok(()), |stop| Err(Failure::Stopped(stop)))
}

/// The verbs of this program, for a conversation.
struct Verbs<'a> {
    app: &'a App,
    output: &'a mut Output,
}

impl Program for Verbs<'_> {
    fn verb(&mut self, words: &[&str]) {
        self.output.measure();
        let line = ["forklore"].iter().chain(words);
        let done = match Cli::try_parse_from(line) {
            Ok(cli) => super::run(cli.command, self.app, self.output),
            Err(error) => Err(crate::args::usage_of(&error, words.first().copied())),
        };
        if let Err(failure) = done.and_then(|()| self.output.flush()) {
            // A screen that is gone ends the conversation at its next line.
            let _ = self.output.failure(&failure);
        }
        let _ = self.output.flush();
    }

    fn forms(&self) -> Vec<String> {
        super::export::FORMS.iter().map(|form| (*form).to_owned()).collect()
    }
}
