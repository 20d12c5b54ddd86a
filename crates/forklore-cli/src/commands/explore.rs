//! `explore`: several continuations of a session at once, compared.

use std::path::{Path, PathBuf};

use forklore::model::{Cut, ErrorKind, SessionId};
use forklore_chat::explore::{Explore, Judge, Row, State, Try, explore};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::output::explored;
use crate::session_ref::SessionRef;
use crate::{exit, supplies};

/// More at once no provider answers, and nobody compares.
const MOST: usize = 64;
/// So many where nobody says how many.
const USUAL: usize = 4;

const EXAMPLES: &str = "\
Examples:
  forklore explore last --prompt \"how would you do it?\"
  forklore explore last --at turn:2 -n 8 --prompt \"and now?\"
  forklore explore @main --prompts questions.txt        a line each
  forklore explore @main --models claude,local --prompt \"review it\"
  forklore explore last --prompt \"write it\" --judge \"python3 score.py\" --json

Each continuation is a fork of its own at the same place, so that their requests begin with the \
same bytes; the first goes ahead until its answer begins, and warms the provider's cache for the \
others. Tools that you would be asked about are refused. The judge gets an answer on its standard \
input and prints a number: the more, the better. Ctrl-C interrupts all; what they said so far is \
kept, and forklore resume goes on in any of them.";

/// Try several continuations of a session at once, and compare them
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id or its end, last, @label, or a session file
    session: String,
    /// Where: turn:N, message:N, index:N, seq:N, event:ID, start, end [default: end]
    #[arg(long, value_name = "CUT", allow_hyphen_values = true)]
    at: Option<String>,
    /// How many [default: 4, or as many as there are prompts and models]
    #[arg(short, value_name = "N")]
    n: Option<usize>,
    /// What is said in each
    #[arg(long, value_name = "TEXT", required_unless_present = "prompts")]
    prompt: Option<String>,
    /// A file with what is said, a line for each continuation
    #[arg(long, value_name = "FILE", conflicts_with = "prompt")]
    prompts: Option<PathBuf>,
    /// The models that answer, with commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    models: Vec<String>,
    /// The model that answers
    #[arg(long, value_name = "NAME", conflicts_with = "models")]
    model: Option<String>,
    /// A command that gives an answer a mark
    #[arg(long, value_name = "CMD")]
    judge: Option<String>,
    /// How many run at once [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// What the labels of the forks begin with
    #[arg(long, value_name = "NAME", default_value = "try")]
    label: String,
}

#[derive(Serialize)]
struct Answer<'a> {
    session_id: &'a SessionId,
    root_session_id: &'a SessionId,
    at: &'a Cut,
    tries: &'a [Row],
    /// The label of the one with the highest mark.
    best: Option<&'a str>,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let session = SessionRef::parse(&args.session)?;
    let at = super::selector(args.at.as_deref())?;
    let judge = args.judge.as_deref().map(Judge::parse).transpose()?;
    let prompts = prompts(args)?;
    let supplies =
        supplies::of(app, args.models.first().or(args.model.as_ref()).map(String::as_str), output)?;
    let named = |name: Option<&str>| -> Result<String> {
        let model = supplies.configured().model(name).map_err(forklore_chat::Error::from)?;
        Ok(model.0.to_owned())
    };
    let models = match args.models.as_slice() {
        [] => vec![named(args.model.as_deref())?],
        names => names.iter().map(|name| named(Some(name.trim()))).collect::<Result<_>>()?,
    };
    let tries = tries(&prompts, &models, args.n)?;
    let header = app.session(&session, output)?;
    let place = match &at {
        Some(at) => app.engine()?.cut(&header, at)?,
        None => app.engine()?.cut(&header, &forklore::model::Selector::End)?,
    };
    let jobs = args.jobs.map_or(MOST, usize::from);
    let request =
        Explore { session: header.clone(), at, tries, judge, label: args.label.clone(), jobs };
    let cancel = CancellationToken::new();
    exit::leave_interrupts();
    for problem in supplies.start_tools() {
        output.remark(&problem);
    }
    let shown = output.tries(request.tries.len());
    let rows = explore(&supplies, &request, &cancel, &mut |at, row| shown.show(at, row));
    drop(shown);
    supplies.end();
    let rows = rows?;
    tell(&header.id, &header.root_id, &place, &rows, output)?;
    if cancel.is_cancelled() {
        return Err(Failure::Answered(ErrorKind::Interrupted));
    }
    if rows.iter().all(|row| row.state == State::Failed) {
        return Err(Failure::Answered(ErrorKind::Internal));
    }
    Ok(())
}

fn tell(
    session_id: &SessionId,
    root_session_id: &SessionId,
    at: &Cut,
    rows: &[Row],
    output: &mut Output,
) -> Result<()> {
    let best = explored::best(rows);
    let label = best.and_then(|row| row.label.as_ref()).map(forklore::model::Label::as_str);
    let answer = Answer { session_id, root_session_id, at, tries: rows, best: label };
    output.answer(&answer, |page| explored::table(page, rows))?;
    if let Some(id) = best.or(rows.first()).and_then(|row| row.session_id.as_ref()) {
        output.hints(&[
            (&format!("forklore resume {id}"), "go on in it"),
            (
                &format!("forklore bring {id} --into {session_id}"),
                "tell the session what it came to",
            ),
        ]);
    }
    Ok(())
}

fn prompts(args: &Args) -> Result<Vec<String>> {
    let texts = match (&args.prompt, &args.prompts) {
        (Some(prompt), _) => vec![prompt.trim().to_owned()],
        (None, Some(path)) => lines_of(path)?,
        (None, None) => Vec::new(),
    };
    let texts: Vec<String> = texts.into_iter().filter(|text| !text.is_empty()).collect();
    if texts.is_empty() {
        return Err(Failure::invalid("there is nothing to say: name it with --prompt TEXT"));
    }
    Ok(texts)
}

fn lines_of(path: &Path) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| Failure::File { doing: format!("reading {}", path.display()), source })?;
    Ok(text.lines().map(|line| line.trim().to_owned()).collect())
}

/// Each prompt with each model, as often as is asked for.
fn tries(prompts: &[String], models: &[String], n: Option<usize>) -> Result<Vec<Try>> {
    let one =
        |prompt: &String, model: &String| Try { model: model.clone(), prompt: prompt.clone() };
    let all: Vec<Try> = prompts
        .iter()
        .flat_map(|prompt| models.iter().map(move |model| one(prompt, model)))
        .collect();
    let n = n.unwrap_or(if all.len() > 1 { all.len() } else { USUAL });
    if n == 0 || n > MOST {
        return Err(Failure::invalid(format!("{n} continuations: between 1 and {MOST} are tried")));
    }
    Ok(all.iter().cycle().take(n).cloned().collect())
}
