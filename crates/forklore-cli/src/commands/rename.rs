//! `rename`: changes the title of a session.

use forklore::api::SessionAnswer;

use crate::app::App;
use crate::failure::Result;
use crate::output::{Output, Tone};
use crate::session_ref::SessionRef;

const EXAMPLES: &str = "\
Examples:
  forklore rename last \"Plan the release\"
  forklore show \"Plan the release\"
  forklore rename last \"\"             described by its first words again

The title is for people. A label is a short name, unique in the family: forklore label.";

/// Give a session another title
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id, label or title, or last
    session: String,
    /// The title, of at most 500 bytes; an empty one removes it
    title: String,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let session = SessionRef::parse(&args.session)?;
    let before = app.stored(&session, output)?;
    let engine = app.engine()?;
    let header = engine.rename(&before.id, Some(&args.title))?;
    let (running, summary) = (engine.is_leased(&header), engine.has_summary(&header));
    output.answer(&SessionAnswer::of(&header, running, summary), |page| {
        let id = (Tone::Id, header.id.to_string());
        match &header.title {
            Some(title) => {
                page.put(id.0, id.1).put(Tone::Plain, " is now ").put(Tone::Strong, title)
            }
            None => page.put(id.0, id.1).put(Tone::Plain, " has no title now"),
        }
        .end();
    })?;
    if header.title == before.title {
        return Ok(());
    }
    super::op::suggest_undo("give it its former title back", app, output)
}
