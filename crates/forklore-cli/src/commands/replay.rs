//! `replay`: prints a session's conversation. Calls no model and no tool.

use forklore::core::{Selector, SessionId};
use forklore::engine::{Pace, ReplayRange, Replayed};

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::output::transcript::{Detail, Transcript};
use crate::session_ref::SessionRef;

use super::arguments;

const EXAMPLES: &str = "\
Nothing is run again. Tool calls and results are one line each, and so is the model's thinking.
With --json one record a line, always in full.

Examples:
  forklore replay last
  forklore replay last --last 2             the last two turns
  forklore replay last --from turn:3 --full the third turn and what follows, with all results
  forklore replay last --up-to turn:3
  forklore replay last --speed 10           at ten times its real pace
  forklore replay last --json | jq -r 'select(.role == \"user\") | .content'";

/// Print a session's conversation in order, with what it inherits
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id, label or title, last, or a session file
    session: String,
    /// What to begin with: the first message of turn:N, message:N, seq:N, index:N, event:ID
    #[arg(long, value_name = "CUT", allow_hyphen_values = true)]
    from: Option<String>,
    /// Where to stop: turn:N, message:N, seq:N, index:N, event:ID
    #[arg(long, value_name = "CUT", allow_hyphen_values = true)]
    up_to: Option<String>,
    /// Print only the last N turns, or the last N before --up-to
    #[arg(long, value_name = "N", conflicts_with = "from",
        value_parser = clap::value_parser!(u64).range(1..))]
    last: Option<u64>,
    /// Print the model's thinking
    #[arg(long)]
    thinking: bool,
    /// Print everything: thinking, and the arguments and results of tools
    #[arg(long)]
    full: bool,
    /// Print at this speed: 2 halves the real pauses, each of at most 10 s
    #[arg(long, value_name = "X")]
    speed: Option<f64>,
}

impl Args {
    /// Returns the arguments that replay a session up to a cut. Without a cut, they replay the
    /// whole session.
    pub(super) fn up_to(session: &SessionId, cut: Option<&Selector>) -> Self {
        Self {
            session: session.to_string(),
            from: None,
            up_to: cut.map(ToString::to_string),
            last: None,
            thinking: false,
            full: false,
            speed: None,
        }
    }
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let range = ReplayRange {
        from: arguments::selector(args.from.as_deref())?,
        up_to: arguments::selector(args.up_to.as_deref())?,
        last: args.last,
    };
    let pace =
        |speed| Pace::new(speed).ok_or_else(|| Failure::invalid("--speed is a number above 0"));
    let mut pace = args.speed.map(pace).transpose()?;
    let header = app.session(&SessionRef::parse(&args.session)?, output)?;
    let detail = if args.full { Detail::FULL } else { Detail::FOLDED };
    let detail = Detail { thinking: args.full || args.thinking, ..detail };
    let mut transcript = Transcript::of(&header, detail);
    let engine = app.engine()?;
    if pace.is_none() {
        output.page_through();
    }
    let mut is_first = true;
    for replayed in engine.replay_range(&header.id, &range)?.with_summaries() {
        let record = match replayed? {
            Replayed::Record(record) => record,
            Replayed::Summary(summary) => {
                if !output.is_json() {
                    output.page(|page| transcript.summary(page, &summary))?;
                }
                continue;
            }
        };
        if std::mem::replace(&mut is_first, false) && record.index > 0 && !output.is_json() {
            transcript.after(&engine.open_calls_before(&header, record.seq)?);
        }
        if let Some(pace) = &mut pace {
            output.flush()?;
            std::thread::sleep(pace.before(record.ts));
        }
        output.record(&record, |page| transcript.record(page, &record))?;
    }
    Ok(())
}
