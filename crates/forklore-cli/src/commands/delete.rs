//! `delete`: deletes sessions, except for the data that other sessions need.

use forklore::engine::{Delete, DeleteMode};

use crate::app::App;
use crate::failure::Result;
use crate::output::{Output, Tone, count};
use crate::session_ref::SessionRef;

/// The maximum number of session ids that the output of `forklore delete` lists.
const NAMED: usize = 20;

const EXAMPLES: &str = "\
Refused while a branch builds on it, unless you say what becomes of that. What other sessions \
still need always stays.

Examples:
  forklore delete last
  forklore delete @plan-b --cascade --dry-run
  forklore delete @main --detach-children
  forklore gc                                gives the space back";

/// Delete a session
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id, label or title, or last
    session: String,
    /// Delete its branches too
    #[arg(long, conflicts_with = "detach_children")]
    cascade: bool,
    /// Keep its branches and all that they inherit; nothing is copied
    #[arg(long)]
    detach_children: bool,
    /// Only print what would be deleted
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let header = app.stored(&SessionRef::parse(&args.session)?, output)?;
    let mode = match (args.cascade, args.detach_children) {
        (true, _) => DeleteMode::Cascade,
        (false, true) => DeleteMode::DetachChildren,
        (false, false) => DeleteMode::Refuse,
    };
    let request = Delete { session: header.id, mode, dry_run: args.dry_run };
    let deleted = app.engine()?.delete(&request)?;
    output.answer(&deleted, |page| {
        let sessions = count(deleted.deleted.len() as u64, "session");
        let (tone, did) =
            if deleted.dry_run { (Tone::Warn, "Would delete") } else { (Tone::Good, "Deleted") };
        page.put(tone, did).put(Tone::Plain, format!(" {sessions}")).end();
        for id in deleted.deleted.iter().take(NAMED) {
            page.put(Tone::Plain, "  ").put(Tone::Id, id).end();
        }
        if deleted.deleted.len() > NAMED {
            page.put(Tone::Dim, format!("  ... and {} more", deleted.deleted.len() - NAMED)).end();
        }
        if deleted.retained_segments > 0 {
            let retained = count(deleted.retained_segments, "nameless segment");
            page.put(Tone::Plain, format!("{retained} stayed for the sessions that need them"))
                .end();
        }
    })?;
    if !deleted.dry_run {
        output.hint("forklore gc", "give the space back");
    }
    Ok(())
}
