//! `diff`: shows what two sessions have in common and what only one of them has.

use forklore::core::{Header, SessionId};
use forklore::engine::{Difference, Replay};

use crate::app::App;
use crate::failure::Result;
use crate::output::transcript::Transcript;
use crate::output::{List, Output, Page, Tone, count};
use crate::session_ref::SessionRef;

/// The maximum number of lines that `forklore diff` shows of a message without `--full`.
const LINES: usize = 6;

const EXAMPLES: &str = "\
Examples:
  forklore diff @main @plan-b
  forklore diff last@main last --full
  forklore diff 1f2e3d4c 9a8b7c6d --json | jq '{common, a: (.only_a|length), b: (.only_b|length)}'";

/// Compare two sessions: what they share, then what each has alone
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A session: an id, label or title, last, or a session file
    a: String,
    /// The other session, of any family
    b: String,
    /// Print every message in full
    #[arg(long)]
    full: bool,
}

impl Args {
    /// Returns the arguments with which `forklore diff` compares two sessions.
    pub(super) fn between(a: &SessionId, b: &SessionId) -> Self {
        Self { a: a.to_string(), b: b.to_string(), full: false }
    }
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let (a, b) = (SessionRef::parse(&args.a)?, SessionRef::parse(&args.b)?);
    let (a, b) = (app.session(&a, output)?, app.session(&b, output)?);
    let Difference { ancestor, common, only_a, only_b } = app.engine()?.compare(&a.id, &b.id)?;
    if output.is_json() {
        let (only_a, only_b) = (List::of(only_a), List::of(only_b));
        let answer = Difference { ancestor, common, only_a: &only_a, only_b: &only_b };
        let printed = output.answer(&answer, |_| {});
        only_a.outcome()?;
        only_b.outcome()?;
        return printed;
    }
    let most = if args.full { usize::MAX } else { LINES };
    let ancestor = ancestor.map(|ancestor| (ancestor.index, output.id(&ancestor.session_id)));
    output.page(|page| shared(page, common, ancestor))?;
    side(output, Tone::SideA, &a, only_a, most)?;
    side(output, Tone::SideB, &b, only_b, most)
}

fn shared(page: &mut Page, common: u64, ancestor: Option<(u64, String)>) {
    match ancestor {
        None => page.put(Tone::Plain, "Nothing in common").end(),
        Some((index, session)) => {
            page.put(Tone::Strong, format!("{} in common", count(common, "message")));
            let last = format!("  up to message:{index} of {session}");
            page.put(Tone::Dim, last).end()
        }
    };
}

fn side(output: &mut Output, tone: Tone, header: &Header, only: Replay, most: usize) -> Result<()> {
    let id = output.id(&header.id);
    output.page(|page| heading(page, tone, header, &id, only.left()))?;
    let mut transcript = Transcript::in_branch(Some(header.label.clone()));
    for record in only {
        let record = record?;
        output.page(|page| transcript.record(page, &record, most))?;
    }
    Ok(())
}

fn heading(page: &mut Page, tone: Tone, header: &Header, id: &str, messages: u64) {
    page.end();
    page.put(tone, if tone == Tone::SideA { "A " } else { "B " }).put(tone, &header.label);
    page.put(Tone::Plain, "  ").put(Tone::Id, id).put(Tone::Plain, "  ");
    if messages == 0 {
        page.put(Tone::Dim, "nothing of its own").end();
    } else {
        page.put(Tone::Plain, format!("{} alone", count(messages, "message"))).end();
    }
}
