//! `undo`: takes the last rewind of a folder back.

use std::path::PathBuf;

use super::confirm;
use super::rewind::restored;
use crate::app::App;
use crate::failure::Result;
use crate::output::{Output, Tone};
use crate::workspace;

const EXAMPLES: &str = "\
The fork of the rewind goes into the trash, and the files get the state before. Files that were \
changed since are skipped and named; a fork that was gone on with stays. An undo has a number too: to undo it is to redo.

Other changes of sessions, such as a delete, are undone with: forklore op undo

Examples:
  forklore undo              the last rewind in this folder
  forklore undo 3            rewind or undo number 3";

/// Take the last rewind of a folder back
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The number of the rewind or undo [default: the last rewind]
    #[arg(value_name = "NUMBER")]
    number: Option<u64>,
    /// The folder with the files [default: this one, or the nearest one above that was rewound]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let files = app.files()?;
    let folder = match &args.folder {
        Some(folder) => PathBuf::from(workspace::of(Some(folder))?.as_str()),
        None => {
            let here = PathBuf::from(app.workspace()?.as_str());
            // As with git, a folder inside of the project will do.
            files.rewound_above(&here)?.unwrap_or(here)
        }
    };
    let question = format!("Take back the rewind in {}?", folder.display());
    confirm::confirm_change(&question, args.yes, output)?;
    let engine = app.engine()?;
    let undone = files.undo(engine, &folder, args.number)?;
    output.answer(&undone, |page| {
        page.put(Tone::Good, "Undid ").put(Tone::Strong, undone.undid);
        page.put(Tone::Plain, " in ").put(Tone::Plain, undone.folder.display()).end();
        if let Some(fork) = &undone.fork {
            page.put(Tone::Plain, "  the conversation goes on in ");
            page.put(Tone::Id, &undone.session_id);
            page.put(Tone::Dim, format!("  (the fork was {fork})")).end();
        }
        if let Some(fork) = &undone.fork_left {
            page.put(Tone::Warn, "  the fork stays as it is, because it was changed since: ");
            page.put(Tone::Id, fork).end();
        }
        if let Some(files) = &undone.files {
            restored(page, files);
        }
    })?;
    output.hint(&format!("forklore undo {}", undone.number), "redo it");
    Ok(())
}
