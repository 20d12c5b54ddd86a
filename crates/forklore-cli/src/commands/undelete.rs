//! `undelete`: brings deleted sessions back from the trash.

use forklore::engine::Undelete;

use crate::app::App;
use crate::failure::Result;
use crate::output::{Output, Tone, count};
use crate::session_ref::SessionRef;

const EXAMPLES: &str = "\
A deleted session stays in the trash for 30 days, or until it is erased: see forklore gc --help. It \
comes back whole. Its delegates come back with it, as they were deleted with it.

Examples:
  forklore list --deleted                    what is in the trash
  forklore undelete plan-b
  forklore undelete 019f2c --cascade         and all that the same delete removed";

/// Bring a deleted session back
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The deleted session: an id or a part of it, a label, or last
    session: String,
    /// Bring back all sessions that the same delete removed
    #[arg(long)]
    cascade: bool,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let session = app.in_trash(&SessionRef::parse(&args.session)?)?.id;
    let request = Undelete { session, cascade: args.cascade };
    let answer = app.engine()?.undelete(&request)?;
    output.answer(&answer, |page| {
        if answer.undeleted.is_empty() {
            page.put(Tone::Id, &request.session).put(Tone::Plain, " is not deleted").end();
            return;
        }
        let sessions = count(answer.undeleted.len() as u64, "session");
        page.put(Tone::Good, "Brought back").put(Tone::Plain, format!(" {sessions}")).end();
        for one in &answer.undeleted {
            page.put(Tone::Plain, "  ").put(Tone::Id, &one.session_id);
            page.put(Tone::Plain, "  ").put(Tone::Label, &one.label);
            if let Some(former) = &one.former_label {
                page.put(Tone::Dim, format!("  its label {former} is in use"));
            }
            page.end();
        }
    })?;
    if !answer.undeleted.is_empty() {
        output.hint(&format!("forklore replay {}", request.session), "read it");
    }
    Ok(())
}
