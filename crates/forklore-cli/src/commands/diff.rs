//! `diff`: shows what two sessions have in common and what only one of them has.

mod columns;
mod files;
mod stat;

use std::path::PathBuf;

use forklore::Engine;
use forklore::core::{Header, SessionId};
use forklore::engine::{Difference, DifferenceStats, Record, Replay};

use crate::app::App;
use crate::failure::Result;
use crate::output::compared::{Block, Side, lines};
use crate::output::transcript::{Detail, Transcript};
use crate::output::{List, Output, Page, Tone, count};
use crate::session_ref::SessionRef;

/// The maximum number of lines that `forklore diff` shows of a message without `--full`.
const LINES: usize = 6;

const EXAMPLES: &str = "\
Where two messages at the same position are similar, the words that only one of them has are marked.

Examples:
  forklore diff @main @plan-b
  forklore diff last@main last --full
  forklore diff @main @plan-b --side-by-side
  forklore diff @main @plan-b --stat        messages, tool calls, tokens, changed files
  forklore diff --files last@turn:1 last    which files differ between two snapshots
  forklore diff --files last --patch        what changed since the last snapshot, line by line
  forklore diff 1f2e3d4c 9a8b7c6d --json | jq '{common, a: (.only_a|length), b: (.only_b|length)}'";

/// Compare two sessions: what they share, then what each has alone
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A session: an id, label or title, last, or a session file
    a: String,
    /// The other session, of any family
    #[arg(required_unless_present = "files")]
    b: Option<String>,
    /// Print every message in full
    #[arg(long)]
    full: bool,
    /// Print the messages of both sessions next to each other
    #[arg(long, short = 'y')]
    side_by_side: bool,
    /// Print only how much each session has alone, and which files its tool calls changed
    #[arg(long, conflicts_with_all = ["full", "side_by_side"])]
    stat: bool,
    /// Compare the files of two positions, each SESSION or SESSION@CUT; without B, with the present
    /// files
    #[arg(long, conflicts_with_all = ["full", "side_by_side", "stat"])]
    files: bool,
    /// With --files: print the lines that differ
    #[arg(long, short, requires = "files")]
    patch: bool,
    /// With --files: the folder with the files [default: the session's]
    #[arg(long, value_name = "DIR", requires = "files")]
    folder: Option<PathBuf>,
}

impl Args {
    /// Returns the arguments with which `forklore diff` compares two sessions.
    pub(super) fn between(a: &SessionId, b: &SessionId) -> Self {
        Self {
            a: a.to_string(),
            b: Some(b.to_string()),
            full: false,
            side_by_side: false,
            stat: false,
            files: false,
            patch: false,
            folder: None,
        }
    }
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    if args.files {
        let (a, b, folder) = (args.a.as_str(), args.b.as_deref(), args.folder.clone());
        return files::run(&files::Sides { a, b, folder, patch: args.patch }, app, output);
    }
    let b = args.b.as_deref().unwrap_or_default();
    let (a, b) = (SessionRef::parse(&args.a)?, SessionRef::parse(b)?);
    let (a, b) = (app.session(&a, output)?, app.session(&b, output)?);
    let engine = app.engine()?;
    output.page_through();
    if args.stat {
        return stat(engine, output, &a, &b);
    }
    let Difference { ancestor, common, only_a, only_b } = engine.compare(&a.id, &b.id)?;
    if output.is_json() {
        let (only_a, only_b) = (List::of(only_a), List::of(only_b));
        let answer = Difference { ancestor, common, only_a: &only_a, only_b: &only_b };
        let printed = output.answer(&answer, |_| {});
        only_a.outcome()?;
        only_b.outcome()?;
        return printed;
    }
    let detail = if args.full { Detail::FULL } else { Detail { most: LINES, ..Detail::FOLDED } };
    let ancestor = ancestor.map(|ancestor| (ancestor.index, output.id(&ancestor.session_id)));
    output.page(|page| shared(page, common, ancestor))?;
    if args.side_by_side {
        return columns::show(engine, output, [(&a, only_a), (&b, only_b)], detail);
    }
    // Each side is read a second time, to find what the other side has at the same position.
    let Difference { only_a: peers_a, only_b: peers_b, .. } = engine.compare(&a.id, &b.id)?;
    side(engine, output, Side::A, [(&a, only_a), (&b, peers_b)], detail)?;
    side(engine, output, Side::B, [(&b, only_b), (&a, peers_a)], detail)
}

fn stat(engine: &Engine, output: &mut Output, a: &Header, b: &Header) -> Result<()> {
    let stats: DifferenceStats = engine.diff_stats(&a.id, &b.id)?;
    let ancestor = stats.ancestor.as_ref();
    let ancestor = ancestor.map(|ancestor| (ancestor.index, output.id(&ancestor.session_id)));
    output.answer(&stats, |page| {
        shared(page, stats.common, ancestor);
        stat::show(page, &stats);
    })
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

/// Prints the records that only the first of the two sessions has.
fn side(
    engine: &Engine,
    output: &mut Output,
    side: Side,
    [(header, only), (other, mut peers)]: [(&Header, Replay); 2],
    detail: Detail,
) -> Result<()> {
    let id = output.id(&header.id);
    output.page(|page| {
        page.end();
        heading(side, header, &id, only.left(), |tone, text| {
            page.put(tone, text);
        });
        page.end();
    })?;
    let mut shown = transcript(engine, header, only.left(), detail)?.under_heading(&header.label);
    let mut of_peers = transcript(engine, other, peers.left(), detail)?;
    for record in only {
        let record = record?;
        let peer = peers.next().transpose()?;
        let peer = peer.map(|peer| {
            let blocks = of_peers.blocks(&peer.content);
            (peer, blocks)
        });
        let blocks = shown.blocks(&record.content);
        output.page(|page| {
            let peer = peer_of(&record, peer.as_ref());
            let lines = lines(side, &blocks, peer, page.look().color);
            shown.lines(page, &record, &lines);
        })?;
    }
    Ok(())
}

/// Creates the transcript of the last `left` records of a session. The transcript also knows the
/// tool of each call that is open before these records.
fn transcript(engine: &Engine, header: &Header, left: u64, detail: Detail) -> Result<Transcript> {
    let mut transcript = Transcript::of(header, detail);
    let first = header.counts.index.saturating_sub(left);
    if left > 0 && first > 0 {
        transcript.after(&engine.open_calls_at(header, first)?);
    }
    Ok(transcript)
}

/// Returns the message with which a record is compared: the one at the same position, if it has the
/// same role.
fn peer_of<'a>(record: &Record, peer: Option<&'a (Record, Vec<Block>)>) -> &'a [Block] {
    peer.filter(|(peer, _)| peer.role == record.role).map_or(&[], |(_, blocks)| blocks)
}

/// Passes the words of a session's heading to `put`.
fn heading(
    side: Side,
    header: &Header,
    id: &str,
    messages: u64,
    mut put: impl FnMut(Tone, String),
) {
    put(side.tone(), format!("{} {}", side.name(), header.label));
    put(Tone::Plain, "  ".to_owned());
    put(Tone::Id, id.to_owned());
    put(Tone::Plain, "  ".to_owned());
    if messages == 0 {
        put(Tone::Dim, "nothing of its own".to_owned());
    } else {
        put(Tone::Plain, format!("{} alone", count(messages, "message")));
    }
}
