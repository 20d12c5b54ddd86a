//! `explore`: runs several continuations of a session at once and compares them.

mod agents;

use clap::builder::PossibleValuesParser;
use forklore::api::Exploration;
use forklore::core::{Currency, Cut, ErrorKind, Header, Label, Selector};
use forklore_chat::{ExploreOptions, Explored, Selected};
use forklore_host::Pattern;
use forklore_host::explore::{Plan, Row, State};

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Output, Page, Tone, count, cut, explored};
use crate::session_ref::SessionRef;
use crate::{interrupts, wiring};

const EXAMPLES: &str = "\
Examples:
  forklore explore last \"how would you do it?\"
  forklore explore last \"and now?\" --at turn:2 -n 8
  forklore explore @main --prompts questions.txt        a line each
  forklore explore @main \"review it\" --models claude,local
  forklore explore last \"write it\" --judge \"python3 score.py\" --json
  forklore explore last \"fix it\" -n 3 --agent codex --judge \"cargo test\"

Each continuation is a fork of its own at the same place, so that their requests begin with the \
same bytes; the first goes ahead until its answer begins, and warms the provider's cache for the \
others. They are called try-1, try-2, ..., and plan-b.1, plan-b.2, ... where the session is the \
fork plan-b; the next exploration counts on. Tools that you would be asked about are refused. The \
judge gets an answer on its standard input and prints a number: the more, the better. Ctrl-C \
interrupts all; what they said so far is kept, and forklore resume goes on in any of them.\n\n\
With --agent, a coding agent goes on instead of a model: each in a worktree of its own with the \
files of the cut, without a person, as it would resume the session itself. The judge then runs in \
the worktree and may be a test command: it passes or fails. No shell reads its line: write \
--judge \"sh -c 'make && ./check'\" for one. forklore bring TRY --into SESSION --files \
takes over the best one, forklore worktrees remove takes the others away.\n\n\
At a terminal, the answers then stand side by side: Enter keeps one, x keeps it alone and puts the \
others into the trash, q keeps none. --no-pager shows only the table.";

/// Try several continuations of a session at once, and compare them
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id, label or title, last, or a session file
    session: String,
    #[command(flatten)]
    options: ExploreOptions,
    /// Call tools that match this pattern without asking in this run: server.tool, where * means
    /// any text; may be given several times
    #[arg(long, value_name = "PATTERN")]
    allow: Vec<Pattern>,
    /// Stop before the next request once the models cost this much, in the currency of the
    /// configuration; sub-agents count too. Needs prices of the models
    #[arg(long, value_name = "AMOUNT", value_parser = wiring::amount, allow_hyphen_values = true)]
    max_cost: Option<f64>,
    /// The coding agent that goes on, in a folder of its own: claude, codex, gemini, opencode or pi.
    /// --models are then names that the agent has for them, and --allow '*' lets it do everything. Or
    /// chat: forklore's own agent, with the models and tools of the configuration
    #[arg(long, value_name = "AGENT", value_parser = PossibleValuesParser::new(agents::NAMES), hide_possible_values = true)]
    agent: Option<String>,
    /// Stop a coding agent after this time
    #[arg(long, value_name = "SECONDS", requires = "agent", default_value_t = 3_600,
        value_parser = clap::value_parser!(u64).range(1..=604_800))]
    timeout: u64,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let session = SessionRef::parse(&args.session)?;
    let options = &args.options;
    options.check()?;
    if let Some(agent) = &args.agent {
        return agents::run(agent, args, &session, app, output);
    }
    let makes = session.is_file();
    let run = wiring::Run { allowed: &args.allow, max_cost: args.max_cost };
    let foreground = wiring::foreground(app, options.model(), run, makes, output)?;
    let header = app.session(&session, output)?;
    let request = options.request(header.id.clone(), None)?;
    let plan = Plan::of(foreground.host(), header.clone(), &request)?;
    let at = cut_of(app, &header, plan.at.as_ref())?;
    interrupts::leave();
    let explored = foreground.start_tools().and_then(|problems| {
        for problem in problems {
            output.remark(&problem);
        }
        let shown = output.tries(plan.tries.len());
        foreground.explore(&plan, &mut |at, row| shown.show(at, row))
    });
    let selected = match &explored {
        Ok(Explored { rows, stopped: None }) if output.can_draw() => {
            foreground.select_answer(rows, forklore_chat::best(rows))
        }
        _ => Ok(None),
    };
    foreground.close();
    let Explored { rows, stopped } = explored?;
    let refusal = foreground.host().budget_refusal();
    let failure = failure_of(&rows, stopped.is_some(), refusal);
    let (judged, currency) = (plan.judge.is_some(), wiring::prices(app).currency);
    let shown = Shown { from: &header, at: &at, rows: &rows, judged, currency };
    let printed = shown.show(selected.as_ref().ok().copied().flatten(), failure.as_ref(), output);
    if let Some(selected) = selected? {
        let deleted = foreground.discard_others(&rows, selected)?;
        if !deleted.is_empty() {
            output.remark(&forklore_chat::in_trash(&deleted));
        }
    }
    if let Some(stop) = stopped {
        return Err(Failure::Stopped(stop));
    }
    printed?;
    failure.map_or(Ok(()), |failure| Err(Failure::Answered(failure.kind())))
}

/// Returns why an exploration failed, or `None` if it did not. `stopped` states whether a signal
/// interrupted it, and `refusal` why a budget refused a request.
fn failure_of(rows: &[Row], stopped: bool, refusal: Option<String>) -> Option<Failure> {
    if stopped {
        let message = "the exploration was interrupted";
        return Some(Failure::refused(ErrorKind::Interrupted, message));
    }
    if let Some(why) = refusal {
        return Some(Failure::refused(ErrorKind::BudgetExceeded, why));
    }
    if rows.iter().any(|row| row.state != State::Failed) {
        return None;
    }
    let why = rows.first().and_then(|row| row.error.as_deref()).unwrap_or("nothing was tried");
    Some(Failure::refused(ErrorKind::Internal, format!("every continuation failed: {why}")))
}

/// Returns the cut at which an exploration of a session begins: all its continuations fork there.
/// If `at` is `None`, the cut is the end of the session.
pub(super) fn cut_of(app: &App, header: &Header, at: Option<&Selector>) -> Result<Cut> {
    Ok(app.engine()?.cut(header, at.unwrap_or(&Selector::End))?)
}

/// The result of an exploration (several continuations of the session `from`).
pub(super) struct Shown<'a> {
    pub(super) from: &'a Header,
    /// The cut at which the continuations begin.
    pub(super) at: &'a Cut,
    pub(super) rows: &'a [Row],
    /// Whether a judge scored the answers.
    pub(super) judged: bool,
    /// The currency of the costs.
    pub(super) currency: Currency,
}

impl Shown<'_> {
    /// Shows the result as a comparison. `selected` is what the user keeps, and `failure` is why the
    /// exploration failed, if it did.
    pub(super) fn show(
        &self,
        selected: Option<Selected>,
        failure: Option<&Failure>,
        output: &mut Output,
    ) -> Result<()> {
        let Self { from, at, rows, judged, ref currency } = *self;
        let best = explored::best(rows);
        let session_id = &from.id;
        let answer = Exploration {
            session_id: session_id.clone(),
            root_session_id: from.root_id.clone(),
            at: at.clone(),
            tries: rows.to_vec(),
            best: best.and_then(|row| row.label.as_ref()).map(Label::to_string),
        };
        let people = |page: &mut Page| {
            let ways = count(rows.len() as u64, "way");
            page.put(Tone::Good, format!("Explored {ways} from "));
            page.put(Tone::Label, from.label.as_str()).put(Tone::Plain, "  ");
            page.put(Tone::Id, session_id).end();
            page.fact("at", format!("{} = index:{}", cut(at), at.index));
            page.end();
            explored::table(page, rows, judged, currency);
        };
        output.answer_with(&answer, people, failure)?;
        self.next(selected, output);
        Ok(())
    }

    /// Suggests commands after an exploration: commands that resume one continuation, compare two,
    /// or record the summary of one in the session from which they began.
    fn next(&self, selected: Option<Selected>, output: &mut Output) {
        let Self { from, rows, .. } = *self;
        let best = explored::best(rows);
        let done = || rows.iter().filter(|row| row.state == State::Done);
        let chosen = selected.and_then(|selected| rows.get(selected.row));
        let Some(first) = chosen.or(best).or_else(|| done().next()).or(rows.first()) else {
            return;
        };
        let Some(id) = &first.session_id else { return };
        let one = match (chosen, best) {
            (Some(_), _) => "what you kept",
            (None, Some(_)) => "the best",
            (None, None) => "it",
        };
        let mut hints = vec![(format!("forklore resume {id}"), format!("go on in {one}"))];
        let is_work = first.work.is_some();
        let files = if is_work { " --files" } else { "" };
        let other = done().filter_map(|row| row.session_id.as_ref()).find(|other| *other != id);
        if let Some(other) = other.filter(|_| !selected.is_some_and(|selected| selected.alone)) {
            hints.push((
                format!("forklore diff{files} {id} {other}"),
                "see what differs".to_owned(),
            ));
        }
        if first.state == State::Done {
            let hint = match is_work {
                true => "merge its files, and tell the session what it came to",
                false => "tell the session what it came to",
            };
            hints.push((format!("forklore bring {id} --into {}{files}", from.id), hint.to_owned()));
        }
        if is_work {
            hints.push(("forklore worktrees list".to_owned(), "see their folders".to_owned()));
        }
        let hints: Vec<_> =
            hints.iter().map(|(line, does)| (line.as_str(), does.as_str())).collect();
        output.hints(&hints);
    }
}
