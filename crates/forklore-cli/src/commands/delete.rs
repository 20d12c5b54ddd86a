//! `delete`: puts sessions into the trash, or erases them, except for the data that other sessions
//! need.

use forklore::api::Gc;
use forklore::engine::{Delete, DeleteMode};
use forklore::store::Error as StoreError;
use forklore::{Engine, Error};

use super::confirm::confirm;
use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Output, Tone, count};
use crate::session_ref::SessionRef;

/// The maximum number of session ids that the output of `forklore delete` lists.
const NAMED: usize = 20;
/// The maximum number of children that the error of a refused delete suggests to detach.
const DETACHED: usize = 3;

const EXAMPLES: &str = "\
A deleted session goes into the trash, and forklore undelete brings it back. What has been in the \
trash for 30 days is erased by the next forklore gc.

Refused while a branch builds on it, unless you say what becomes of that. What other sessions \
still need always stays.

Examples:
  forklore delete last
  forklore delete @plan-b --cascade --dry-run
  forklore delete @main --detach-children
  forklore delete @secret --erase && forklore gc     its bytes are gone";

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
    /// Erase it at once, also from the trash; it cannot be brought back
    #[arg(long)]
    erase: bool,
    /// Only print what would be deleted
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let reference = SessionRef::parse(&args.session)?;
    let header = match app.stored(&reference, output) {
        // With `--erase`, the session may be in the trash.
        Err(failure) if args.erase => app.in_trash(&reference).map_err(|_| failure),
        found => found,
    }?;
    let mode = match (args.cascade, args.detach_children) {
        (true, _) => DeleteMode::Cascade,
        (false, true) => DeleteMode::DetachChildren,
        (false, false) => DeleteMode::Refuse,
    };
    let (dry_run, erase) = (args.dry_run, args.erase);
    let request = Delete { session: header.id, mode, dry_run, erase };
    let engine = app.engine()?;
    if !dry_run && !args.yes && output.can_ask() {
        let plan = engine.delete(&Delete { dry_run: true, ..request.clone() });
        let plan = plan.map_err(|error| refused(error, engine))?;
        confirm(&question(plan.deleted.len(), erase), args.yes, output)?;
    }
    let deleted = engine.delete(&request).map_err(|error| refused(error, engine))?;
    output.answer(&deleted, |page| {
        let sessions = count(deleted.deleted.len() as u64, "session");
        let (tone, did) = match (deleted.dry_run, erase) {
            (true, true) => (Tone::Warn, "Would erase"),
            (true, false) => (Tone::Warn, "Would delete"),
            (false, true) => (Tone::Good, "Erased"),
            (false, false) => (Tone::Good, "Deleted"),
        };
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
    match (deleted.dry_run, erase) {
        (true, _) => {}
        (false, true) => output.hint("forklore gc", "give the space back"),
        (false, false) => {
            let all = if mode == DeleteMode::Cascade { " --cascade" } else { "" };
            let back = format!("forklore undelete {}{all}", request.session);
            let does = format!("bring back what was deleted, for {} days", Gc::TRASH_DAYS);
            let undo = ("forklore op undo", "the same, as the latest operation");
            match engine.store().capabilities().operations {
                true => output.hints(&[(&back, &does), undo]),
                false => output.hint(&back, &does),
            }
        }
    }
    Ok(())
}

/// Converts an error of `delete` to a failure. Some stores delete no session before its children
/// are detached. For such a store, an error about children suggests the commands that detach them.
fn refused(error: Error, engine: &Engine) -> Failure {
    let Error::Store(StoreError::HasChildren { session, children, .. }) = &error else {
        return error.into();
    };
    if !engine.store().capabilities().detach_first {
        return error.into();
    }
    let children = children.iter().take(DETACHED);
    let mut next: Vec<_> = children.map(|child| format!("forklore detach {child}")).collect();
    next.push(format!("forklore delete {session} --cascade --dry-run"));
    let (kind, details) = (error.kind(), error.details());
    Failure::Refused { kind, message: error.to_string(), details, next }
}

fn question(sessions: usize, erase: bool) -> String {
    let sessions = count(sessions as u64, "session");
    if erase {
        return format!("Erase {sessions}? Nothing brings them back.");
    }
    format!("Delete {sessions}? They can be brought back for {} days.", Gc::TRASH_DAYS)
}

#[cfg(test)]
mod tests {
    use super::question;

    #[test]
    fn a_question_says_how_many_and_for_how_long() {
        assert_eq!(question(3, false), "Delete 3 sessions? They can be brought back for 30 days.");
        assert_eq!(question(1, true), "Erase 1 session? Nothing brings them back.");
    }
}
