//! `diff`: what two sessions share, and what each has alone.

use forklore::engine::{Difference, Record};
use forklore::model::Header;

use crate::app::App;
use crate::failure::Result;
use crate::output::transcript::Transcript;
use crate::output::{Output, Page, Tone, count};
use crate::session_ref::SessionRef;

/// Lines of a message that are shown unless all are wanted.
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
    /// A session: an id or its end, last, @label, or a session file
    a: String,
    /// Another one, of any family
    b: String,
    /// Messages whole, however long
    #[arg(long)]
    full: bool,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let (a, b) = (SessionRef::parse(&args.a)?, SessionRef::parse(&args.b)?);
    let (a, b) = (app.session(&a, output)?, app.session(&b, output)?);
    let difference = app.engine()?.diff(&a.id, &b.id)?;
    let most = if args.full { usize::MAX } else { LINES };
    output.answer(&difference, |page| {
        common(page, &difference);
        side(page, Tone::SideA, &a, &difference.only_a, most);
        side(page, Tone::SideB, &b, &difference.only_b, most);
    })
}

fn common(page: &mut Page, difference: &Difference) {
    match &difference.ancestor {
        None => page.put(Tone::Plain, "Nothing in common").end(),
        Some(ancestor) => {
            let shared = count(difference.common, "message");
            page.put(Tone::Strong, format!("{shared} in common"));
            let last = format!("  up to message:{} of {}", ancestor.index, ancestor.session_id);
            page.put(Tone::Dim, last).end()
        }
    };
}

fn side(page: &mut Page, tone: Tone, header: &Header, only: &[Record], most: usize) {
    page.end();
    page.put(tone, if tone == Tone::SideA { "A " } else { "B " }).put(tone, &header.label);
    page.put(Tone::Plain, "  ").put(Tone::Id, &header.id).put(Tone::Plain, "  ");
    if only.is_empty() {
        page.put(Tone::Dim, "nothing of its own").end();
        return;
    }
    page.put(Tone::Plain, format!("{} alone", count(only.len() as u64, "message"))).end();
    let mut transcript = Transcript::in_branch(Some(header.label.clone()));
    for record in only {
        transcript.record(page, record, most);
    }
}
