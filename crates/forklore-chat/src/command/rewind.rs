//! `/rewind`: goes back to an earlier position by forking there; the original session is unchanged.
//! The files go back too, if the person agrees.

use forklore_core::Selector;
use forklore_engine::Forked;
use forklore_host::Question;

use super::arguments::{arguments, cut};
use super::definition::{Command, Next};
use super::file_changes::{plan, report_files};
use crate::chat::Chat;
use crate::count::count;
use crate::input::Argument;
use crate::screen::Tone;
use crate::{Error, Result};

pub(super) const COMMAND: Command = Command {
    name: "rewind",
    usage: "[CUT]",
    help: "go back to one of your questions, to ask it differently; or behind CUT",
    argument: Argument::Cut,
    options: &[],
    examples: &[
        ("/rewind", "choose one of your questions; Esc Esc does the same"),
        ("/rewind turn:1", "keep the first turn only"),
        ("/rewind start", "keep nothing"),
    ],
    run,
};

#[derive(clap::Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Arguments {
    #[arg(allow_negative_numbers = true)]
    cut: Option<String>,
}

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let Arguments { cut: at } = arguments(&COMMAND, rest)?;
    let at = at.map(|word| cut(&word)).transpose()?;
    let questions = chat.foreground.block_on(chat.conversation.questions())?;
    let at = match at {
        Some(at) => at,
        None => match chosen(chat, &questions)? {
            Some(question) => before(question),
            None => return Ok(Next::Line),
        },
    };
    let parent = chat.label();
    let forked = if files_too(chat, &at)? {
        let rewinding = chat.conversation.rewind_with_files(&at);
        let rewound = chat.foreground.block_on(rewinding)?;
        if let Some(files) = &rewound.files {
            report_files(chat, files);
        }
        rewound.forked
    } else {
        Some(chat.foreground.block_on(chat.conversation.rewind(Some(at)))?)
    };
    let Some(forked) = forked else { return Ok(Next::Line) };
    report(chat, &parent, &forked);
    if let Some(next) = questions.iter().find(|question| question.message == forked.cut.index) {
        ask_again(chat, next);
    }
    Ok(Next::Line)
}

/// Shows which files would change, and asks whether to take them back too. Asks nothing if none
/// would change, or if there is no snapshot of them.
fn files_too(chat: &mut Chat<'_>, at: &Selector) -> Result<bool> {
    let planned = chat.foreground.block_on(chat.conversation.plan_rewind_of_files(at));
    let files = match planned {
        Ok(planned) => planned.and_then(|planned| planned.files),
        // The conversation can go back without the files.
        Err(error @ forklore_host::Error::Files(_)) => {
            chat.report(&error.into());
            None
        }
        Err(error) => return Err(error.into()),
    };
    let Some(files) = files.filter(|files| files.written + files.removed > 0) else {
        return Ok(false);
    };
    plan(chat, &files);
    let question = "Take the files back too? Their present state is recorded first. [Y/n] ";
    match chat.input.ask(question).map(|answer| answer.trim().to_lowercase()).as_deref() {
        Some("" | "y" | "yes") => Ok(true),
        Some("n" | "no") => Ok(false),
        _ => Err(Error::invalid("nothing was taken back; /rewind asks again")),
    }
}

/// Lets the user choose one of the questions. Returns `None` if the user chooses none.
fn chosen<'q>(chat: &mut Chat<'_>, questions: &'q [Question]) -> Result<Option<&'q Question>> {
    let Some(last) = questions.len().checked_sub(1) else {
        return Err(Error::invalid("nothing was asked yet"));
    };
    let line = |question: &Question| {
        let text = question.text.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("{:>3}  {text}", question.message)
    };
    let lines: Vec<String> = questions.iter().map(line).collect();
    let title = "Go back to which question? It comes back into the prompt.";
    Ok(chat.input.choose(title, &lines, last).and_then(|at| questions.get(at)))
}

/// Returns the cut directly before a question.
fn before(question: &Question) -> Selector {
    match i64::try_from(question.message) {
        Ok(message @ 1..) => Selector::Message(message - 1),
        _ => Selector::Start,
    }
}

fn report(chat: &mut Chat<'_>, parent: &str, forked: &Forked) {
    let label = forked.label.to_string();
    chat.screen.words(&[
        (Tone::Good, "Rewound to "),
        (Tone::Plain, &count(forked.cut.index, "message")),
        (Tone::Dim, ", now on "),
        (Tone::Label, &label),
        (Tone::Dim, &format!("; {parent} keeps the rest, /back returns to it")),
    ]);
}

/// Puts a question into the next prompt, for editing.
fn ask_again(chat: &mut Chat<'_>, question: &Question) {
    if !question.files.is_empty() {
        let files = question.files.join(", ");
        let text = format!("it was sent with {files}; /attach FILE sends a file again");
        chat.screen.line(Tone::Dim, &text);
    }
    chat.input.begin(&question.text);
}
