//! `explore`: several continuations of a session at once, compared.

use std::path::{Path, PathBuf};
use std::time::Duration;

use forklore::core::{Cut, ErrorKind, Header, Label, SessionId};
use forklore_chat::Pattern;
use forklore_chat::explore::{Explore, Explored, Judge, Row, State, Try, explore};
use forklore_chat::text_file::{self, Unread};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Output, Tone, count, cut, explored};
use crate::session_ref::SessionRef;
use crate::{exit, supplies};

/// More at once no provider answers, and nobody compares.
const MOST: usize = 64;
/// So many where nobody says how many.
const USUAL: usize = 4;

const EXAMPLES: &str = "\
Examples:
  forklore explore last \"how would you do it?\"
  forklore explore last \"and now?\" --at turn:2 -n 8
  forklore explore @main --prompts questions.txt        a line each
  forklore explore @main \"review it\" --models claude,local
  forklore explore last \"write it\" --judge \"python3 score.py\" --json

Each continuation is a fork of its own at the same place, so that their requests begin with the \
same bytes; the first goes ahead until its answer begins, and warms the provider's cache for the \
others. They are called try-1, try-2, ..., and plan-b.1, plan-b.2, ... where the session is the \
fork plan-b; the next exploration counts on. Tools that you would be asked about are refused. The \
judge gets an answer on its standard input and prints a number: the more, the better. Ctrl-C \
interrupts all; what they said so far is kept, and forklore resume goes on in any of them.";

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
    #[arg(value_name = "PROMPT", conflicts_with_all = ["prompt", "prompts"],
        required_unless_present_any = ["prompt", "prompts"])]
    words: Vec<String>,
    /// The same as PROMPT
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
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
    /// How long the judge may take over one answer
    #[arg(long, value_name = "SECONDS", requires = "judge",
        default_value_t = Judge::PATIENCE.as_secs(),
        value_parser = clap::value_parser!(u64).range(1..=86_400))]
    judge_timeout: u64,
    /// How many run at once [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Call tools that fit without asking in this run: server.tool, with * for any text; may be
    /// given several times
    #[arg(long, value_name = "PATTERN")]
    allow: Vec<Pattern>,
    /// What the labels of the forks begin with [default: try, or the label of the fork]
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
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
    let judge = judge.map(|judge| judge.within(Duration::from_secs(args.judge_timeout)));
    let prompts = prompts(args)?;
    let supplies =
        supplies::of(app, args.models.first().or(args.model.as_ref()).map(String::as_str), output)?
            .allowing(args.allow.clone());
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
        None => app.engine()?.cut(&header, &forklore::core::Selector::End)?,
    };
    let jobs = args.jobs.map_or(MOST, usize::from);
    let request =
        Explore { session: header.clone(), at, tries, judge, label: args.label.clone(), jobs };
    let cancel = CancellationToken::new();
    exit::leave_interrupts();
    let explored = supplies.start_tools().and_then(|problems| {
        for problem in problems {
            output.remark(&problem);
        }
        let shown = output.tries(request.tries.len());
        explore(&supplies, &request, &cancel, &mut |at, row| shown.show(at, row))
    });
    supplies.end();
    let Explored { rows, stopped } = explored?;
    let told = tell(&header, &place, &rows, args.judge.is_some(), output);
    if let Some(stop) = stopped {
        return Err(Failure::Stopped(stop));
    }
    told?;
    if rows.iter().all(|row| row.state == State::Failed) {
        return Err(Failure::Answered(ErrorKind::Internal));
    }
    Ok(())
}

fn tell(from: &Header, at: &Cut, rows: &[Row], judged: bool, output: &mut Output) -> Result<()> {
    let best = explored::best(rows);
    let label = best.and_then(|row| row.label.as_ref()).map(Label::as_str);
    let (session_id, root_session_id) = (&from.id, &from.root_id);
    let answer = Answer { session_id, root_session_id, at, tries: rows, best: label };
    output.answer(&answer, |page| {
        let ways = count(rows.len() as u64, "way");
        page.put(Tone::Good, format!("Explored {ways} from "));
        page.put(Tone::Label, from.label.as_str()).put(Tone::Plain, "  ");
        page.put(Tone::Id, session_id).end();
        page.fact("at", format!("{} = index:{}", cut(at), at.index));
        page.end();
        explored::table(page, rows, judged);
    })?;
    next(session_id, best, rows, output);
    Ok(())
}

/// What one does with continuations: go on in one, compare two, tell the session of one.
fn next(from: &SessionId, best: Option<&Row>, rows: &[Row], output: &mut Output) {
    let said = || rows.iter().filter(|row| row.state == State::Done);
    let Some(first) = best.or_else(|| said().next()).or(rows.first()) else { return };
    let Some(id) = &first.session_id else { return };
    let other = said().filter_map(|row| row.session_id.as_ref()).find(|other| *other != id);
    let one = if best.is_some() { "the best" } else { "it" };
    let mut hints = vec![(format!("forklore resume {id}"), format!("go on in {one}"))];
    if let Some(other) = other {
        hints.push((format!("forklore diff {id} {other}"), "see what differs".to_owned()));
    }
    if first.state == State::Done {
        let told = "tell the session what it came to".to_owned();
        hints.push((format!("forklore bring {id} --into {from}"), told));
    }
    let hints: Vec<_> = hints.iter().map(|(line, does)| (line.as_str(), does.as_str())).collect();
    output.hints(&hints);
}

fn prompts(args: &Args) -> Result<Vec<String>> {
    let texts = match (&args.prompt, &args.prompts) {
        (Some(prompt), _) => vec![prompt.trim().to_owned()],
        (None, Some(path)) => lines_of(path)?,
        (None, None) => vec![args.words.join(" ").trim().to_owned()],
    };
    let texts: Vec<String> = texts.into_iter().filter(|text| !text.is_empty()).collect();
    if texts.is_empty() {
        return Err(Failure::invalid("there is nothing to say: write it behind the session"));
    }
    Ok(texts)
}

fn lines_of(path: &Path) -> Result<Vec<String>> {
    let shown = path.display();
    let text = text_file::read(path).map_err(|unread| match unread {
        Unread::Io(source) => Failure::File { doing: format!("reading {shown}"), source },
        unread => Failure::invalid(format!("--prompts {shown}: {unread}")),
    })?;
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
