//! `replay`: prints a session's conversation. Calls no model and no tool.

use forklore::core::{Selector, SessionId};
use forklore::engine::{Pace, Replayed};

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::output::transcript::Transcript;
use crate::session_ref::SessionRef;

use super::arguments;

const EXAMPLES: &str = "\
Nothing is run again. With --json one record a line.

Examples:
  forklore replay last
  forklore replay last --up-to turn:3
  forklore replay last --speed 10           at ten times its real pace
  forklore replay last --json | jq -r 'select(.role == \"user\") | .content'";

/// Print a session's conversation in order, with what it inherits
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id, label or title, last, or a session file
    session: String,
    /// Where to stop: turn:N, message:N, seq:N, index:N, event:ID
    #[arg(long, value_name = "CUT", allow_hyphen_values = true)]
    up_to: Option<String>,
    /// Print at this speed: 2 halves the real pauses, each of at most 10 s
    #[arg(long, value_name = "X")]
    speed: Option<f64>,
}

impl Args {
    /// Returns the arguments that replay a session up to a cut, or whole without a cut.
    pub(super) fn up_to(session: &SessionId, cut: Option<&Selector>) -> Self {
        let up_to = cut.map(ToString::to_string);
        Self { session: session.to_string(), up_to, speed: None }
    }
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let up_to = arguments::selector(args.up_to.as_deref())?;
    let pace =
        |speed| Pace::new(speed).ok_or_else(|| Failure::invalid("--speed is a number above 0"));
    let mut pace = args.speed.map(pace).transpose()?;
    let header = app.session(&SessionRef::parse(&args.session)?, output)?;
    let mut transcript = Transcript::default();
    for replayed in app.engine()?.replay(&header.id, up_to.as_ref())?.with_summaries() {
        let record = match replayed? {
            Replayed::Record(record) => record,
            Replayed::Summary(summary) => {
                if !output.is_json() {
                    output.page(|page| transcript.summary(page, &summary))?;
                }
                continue;
            }
        };
        if let Some(pace) = &mut pace {
            output.flush()?;
            std::thread::sleep(pace.before(record.ts));
        }
        output.record(&record, |page| transcript.record(page, &record, usize::MAX))?;
    }
    Ok(())
}
