//! `gc`: erases what has been in the trash for long enough, erases deleted data from the store's
//! files, and frees its space. `--policy` also deletes by the user's policy.

mod files;
mod policy;

use forklore::api::Gc;

use super::confirm::confirm;
use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Output, Tone, bytes, count, seconds, span};
use crate::usage;

const EXAMPLES: &str = "\
Erases the sessions that were deleted more than 30 days ago. Afterwards no file of the store \
contains bytes of erased sessions, and no attachment is kept that no message names.

Examples:
  forklore gc
  forklore gc --trash-older-than 12h
  forklore gc --now                          erases all of the trash
  forklore gc --policy --dry-run             lists what the policy deletes and erases, and why
  forklore gc --policy
  forklore gc --files --dry-run              how many snapshots of files nothing needs

A policy is a table of the configuration file (forklore config edit):

  [retention]
  delete_after_days = 180     what was not changed for this long goes into the trash
  erase_after_days = 30       what has been in the trash for this long is erased
  spare_labelled = true       what somebody gave a label stays; this is the default

A running session stays, and a session with a branch that stays. Its sub-agents go with it. What goes \
into the trash can be brought back until a later gc erases it.";

/// Erase old deleted sessions, and free their space
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Erase what was deleted longer ago than this: 30d, 12h, 0s
    #[arg(long, value_name = "TIME", default_value = "30d", conflicts_with = "now")]
    trash_older_than: String,
    /// Erase all deleted sessions
    #[arg(long)]
    now: bool,
    /// Delete and erase by the [retention] of the configuration file
    #[arg(long, conflicts_with_all = ["trash_older_than", "now"])]
    policy: bool,
    /// Only remove the snapshots of files that no session and no undo needs
    #[arg(long, conflicts_with_all = ["trash_older_than", "now", "policy"])]
    files: bool,
    /// With --policy or --files: show what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    if args.files {
        return files::run(args.dry_run, app, output);
    }
    if args.dry_run && !args.policy {
        return Err(Failure::invalid("--dry-run needs --policy or --files"));
    }
    if args.policy {
        return policy::run(args.dry_run, args.yes, app, output);
    }
    let request = request(args)?;
    let engine = app.engine()?;
    // A plain `gc` erases only what everybody was told is erased then.
    if request != Gc::default() && !args.yes && output.can_ask() {
        let sessions = engine.expired(&request)?.len();
        if sessions > 0 {
            confirm(&question(sessions, &request), args.yes, output)?;
        }
    }
    let mut freed = engine.collect(&request)?;
    if app.has_own_files()? {
        freed.freed_bytes += app.files()?.collect(engine, false)?.freed_bytes;
    }
    output.answer(&freed, |page| {
        let erased = [
            (freed.sessions, "deleted session"),
            (freed.segments, "segment"),
            (freed.events, "event"),
            (freed.attachments, "attachment"),
        ];
        let erased = erased.into_iter().filter(|(number, _)| *number > 0);
        let erased: Vec<_> = erased.map(|(number, name)| count(number, name)).collect();
        if erased.is_empty() && freed.freed_bytes == 0 {
            page.put(Tone::Plain, "There is nothing to free.").end();
            return;
        }
        page.put(Tone::Good, "Freed ").put(Tone::Plain, bytes(freed.freed_bytes));
        if !erased.is_empty() {
            page.put(Tone::Dim, format!("  erased {}", erased.join(", ")));
        }
        page.end();
    })
}

fn request(args: &Args) -> Result<Gc> {
    if args.now {
        return Ok(Gc::all());
    }
    let seconds = seconds(&args.trash_older_than).ok_or_else(|| {
        let typed = usage::typed(&args.trash_older_than);
        Failure::invalid(format!(
            "--trash-older-than takes a time such as 30d, 12h or 0s, not {typed}"
        ))
    })?;
    Ok(Gc { trash_older_than_seconds: seconds })
}

fn question(sessions: usize, request: &Gc) -> String {
    let sessions = count(sessions as u64, "deleted session");
    let old = match request.trash_older_than_seconds {
        0 => String::new(),
        age => format!(" from more than {} ago", span(age)),
    };
    format!("Erase {sessions}{old}? Nothing brings them back.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_says_how_many_and_how_old() {
        assert_eq!(question(1, &Gc::all()), "Erase 1 deleted session? Nothing brings them back.");
        let old = Gc { trash_older_than_seconds: 43_200 };
        assert_eq!(
            question(20, &old),
            "Erase 20 deleted sessions from more than 12 hours ago? Nothing brings them back."
        );
    }
}
