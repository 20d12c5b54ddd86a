//! `show`: shows the header of a session, or the files that belong to it.

mod files;

use std::path::PathBuf;

use forklore::api::SessionAnswer;

use crate::app::App;
use crate::failure::Result;
use crate::output::Output;
use crate::output::session::facts;
use crate::session_ref::SessionRef;

const EXAMPLES: &str = "\
Examples:
  forklore show last
  forklore show @plan-b --json
  forklore show ~/.pi/agent/sessions/demo/1.jsonl
  forklore show last --files                      the last snapshot of its files
  forklore show last --files --at turn:2
  forklore show last --files --get src/main.rs    the file as it was then";

/// Show the properties of a session
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id, label or title, last, or a session file
    session: String,
    /// Show the snapshot of the files, and what changed since the one before
    #[arg(long)]
    files: bool,
    /// With --files: the last snapshot at or before this position [default: end]
    #[arg(long, value_name = "CUT", requires = "files")]
    at: Option<String>,
    /// With --files: print this file as it was then
    #[arg(long, value_name = "PATH", requires = "files")]
    get: Option<PathBuf>,
    /// With --files: the folder with the files [default: the session's]
    #[arg(long, value_name = "DIR", requires = "files")]
    folder: Option<PathBuf>,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let session = SessionRef::parse(&args.session)?;
    if args.files {
        let (at, folder, get) = (args.at.as_deref(), args.folder.clone(), args.get.as_deref());
        return files::run(&files::Shown { session: &session, at, folder, get }, app, output);
    }
    let header = app.session(&session, output)?;
    let engine = app.engine()?;
    let lease = engine.lease_of(&header);
    let answer = SessionAnswer::of(&header, lease.is_some(), engine.has_summary(&header));
    output.answer(&answer, |page| facts(page, &header, lease, answer.summary))
}
