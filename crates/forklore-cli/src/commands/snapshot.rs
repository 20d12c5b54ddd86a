//! `snapshot`: records the state of the files in a session.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use forklore::api::{NamedPath, RecordedSnapshot};
use forklore::core::Header;

use crate::app::App;
use crate::failure::Result;
use crate::output::{Output, Page, Tone, bytes, count};
use crate::session_ref::SessionRef;
use crate::{hook_run, workspace};

/// The agents whose hooks call this command.
const HOOKS: [&str; 5] = ["claude", "codex", "gemini", "opencode", "pi"];
/// The maximum number of paths that the output lists.
const NAMED: usize = 20;

const EXAMPLES: &str = "\
A snapshot has the files that git tracks and those that are not ignored, also in a folder without \
git. It is stored next to the store of the sessions; your repository is only read. The session gets \
an event that names it, so `forklore rewind` can bring conversation and files back together.

Examples:
  forklore snapshot last
  forklore snapshot @main --folder ../other
  forklore rewind last --at turn:3       goes back to the files of that time";

/// Record the state of the files in a session
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id, label or title, or last
    #[arg(required_unless_present = "hook")]
    session: Option<String>,
    /// The folder with the files [default: the session's]
    #[arg(long, value_name = "DIR", conflicts_with = "hook")]
    folder: Option<PathBuf>,
    /// Run as the hook of this agent, which says on standard input where it is. See forklore hooks
    #[arg(long, value_name = "AGENT", value_parser = PossibleValuesParser::new(HOOKS))]
    #[arg(hide_possible_values = true)]
    hook: Option<String>,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    if let Some(agent) = &args.hook {
        hook_run::run(agent, args.session.as_deref(), app);
        return Ok(());
    }
    let session = SessionRef::parse(args.session.as_deref().unwrap_or_default())?;
    let header = app.stored(&session, output)?;
    let folder = folder_of(&header, args.folder.as_deref())?;
    let recorded = app.files()?.snapshot(app.engine()?, &header, &folder)?;
    output.answer(&recorded, |page| tell(page, &recorded))?;
    output.hint(&format!("forklore rewind {} --at TURN", header.id), "go back to these files");
    Ok(())
}

/// Returns the folder whose files belong to a session: the one that the user names, or else the
/// folder of the session.
pub(super) fn folder_of(header: &Header, named: Option<&std::path::Path>) -> Result<PathBuf> {
    let own = PathBuf::from(header.workspace.as_str());
    Ok(PathBuf::from(workspace::of(Some(named.unwrap_or(&own)))?.as_str()))
}

fn tell(page: &mut Page, recorded: &RecordedSnapshot) {
    let (tone, begin) =
        if recorded.unchanged { (Tone::Dim, "Unchanged: ") } else { (Tone::Good, "Recorded ") };
    let numbers = format!("{}, {}", count(recorded.files, "file"), bytes(recorded.bytes));
    page.put(tone, begin).put(Tone::Plain, numbers).put(Tone::Plain, " in ");
    page.put(Tone::Plain, recorded.folder.display()).put(Tone::Plain, "  ");
    page.put(Tone::Id, &recorded.snapshot).end();
    paths(page, "left out", &recorded.left_out);
}

/// Lists paths with their reasons.
pub(super) fn paths(page: &mut Page, what: &str, paths: &[NamedPath]) {
    for named in paths.iter().take(NAMED) {
        page.put(Tone::Warn, format!("  {what} ")).put(Tone::Strong, &named.path);
        page.put(Tone::Dim, format!("  {}", named.reason.replace('_', " "))).end();
    }
    if paths.len() > NAMED {
        page.put(Tone::Dim, format!("  ... and {} more", paths.len() - NAMED)).end();
    }
}
