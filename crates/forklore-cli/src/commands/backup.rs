//! `backup`: writes a verified copy of the whole store while other programs use it.

use std::path::PathBuf;

use forklore::api::BackedUp;
use forklore::core::ErrorKind;
use forklore::{BackupStep, StoreUrl, blocking};
use forklore_sanitize::shell::quoted;

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Output, Page, Progress, Tone, bytes, count};

const EXAMPLES: &str = "\
Other programs may use the store meanwhile. The backup has every event that was acknowledged before \
it began. It is read to the end before it gets its name, and removed if it does not verify. It is a \
store itself, so every command can look into it. It is never overwritten.

A backup of an SQLite store is a file, with its attachments in the folder FILE-attachments. That of \
a files or graph store is a folder. A backup has what was deleted later, until you remove it.

Examples:
  forklore backup saved.db
  forklore backup \"/mnt/disk/forklore-$(date +%F).db\"
  forklore --store files:sessions backup saved
  forklore --store sqlite:saved.db list --all        looks into a backup
  forklore --store sqlite:new.db restore saved.db    makes a store of it

A store in a PostgreSQL database is backed up with pg_basebackup or pg_dump.";

/// Write a verified copy of the whole store, while it is used
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The new file, or for a files or graph store the new folder
    #[arg(value_name = "FILE|FOLDER")]
    path: PathBuf,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let url = app.store_url()?;
    let path = &args.path;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        let missing = format!("there is no folder {}", folder.display());
        let make = format!("mkdir -p {}", quoted(&folder.to_string_lossy()));
        return Err(Failure::refused(ErrorKind::NotFound, missing).or_try(make));
    }
    let bar = output.progress();
    let copy = blocking::back_up(&url, path, &mut |step| show(&bar, step));
    drop(bar);
    let copy = copy?;
    let answer = BackedUp {
        path: path.clone(),
        store: store(&url, path),
        sessions: copy.sessions,
        events: copy.events,
        bytes: copy.bytes,
    };
    output.answer(&answer, |page| {
        counted(page, "Backed up ", (answer.sessions, answer.events, answer.bytes));
        page.put(Tone::Plain, " to ").put(Tone::Strong, path.display()).end();
    })?;
    output.hints(&[
        (&format!("forklore --store {} list --all", quoted(&answer.store)), "look into it"),
        (
            &format!(
                "forklore --store {}:NEW restore {}",
                url.scheme(),
                quoted(&path.to_string_lossy())
            ),
            "make a store of it",
        ),
    ]);
    Ok(())
}

/// Returns the URL of the store at `path` that has the kind of `url`.
pub(super) fn store(url: &StoreUrl, path: &std::path::Path) -> String {
    format!("{}:{}", url.scheme(), path.display())
}

/// Shows how far a copy has come.
pub(super) fn show(bar: &Progress, step: BackupStep) {
    match step {
        BackupStep::Copying { done, all } => bar.bytes(done, all, "copying"),
        BackupStep::Verifying | BackupStep::Naming => bar.says("verifying"),
    }
}

/// Puts what a copy contains onto the page: numbers of sessions, events and bytes.
pub(super) fn counted(page: &mut Page, done: &str, (sessions, events, size): (u64, u64, u64)) {
    page.put(Tone::Good, done);
    let numbers =
        format!("{}, {}, {}", count(sessions, "session"), count(events, "event"), bytes(size));
    page.put(Tone::Plain, numbers);
}
