//! `op undo`: takes an operation back.

use forklore::api::{Gc, OperationId, OperationKind, Outcome, Undo, Undone};

use super::words::did;
use crate::app::App;
use crate::commands::confirm::confirm;
use crate::failure::Result;
use crate::output::{Output, Tone, count};

/// The maximum number of sessions that the output lists.
const NAMED: usize = 20;

const EXAMPLES: &str = "\
The undo of an import puts the sessions that it created into the trash; a later import skips them \
unless it is run with --again. An undo is an operation itself: to undo it is to redo.

Refused if a session of the operation changed since, with what changed; --partial undoes the rest. \
What gc has erased cannot be brought back.

Examples:
  forklore op undo                           the latest one that can be undone
  forklore op undo 12 --dry-run
  forklore op undo 12 --partial";

/// Undo an operation
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The operation: its number in forklore op log [default: the latest that can be undone]
    #[arg(value_name = "OP")]
    operation: Option<OperationId>,
    /// If some of its sessions changed since, undo the rest
    #[arg(long)]
    partial: bool,
    /// Only print what would be undone
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let Args { operation, partial, dry_run, .. } = *args;
    let engine = app.engine()?;
    let mut request = Undo { operation, partial, dry_run };
    if !dry_run && !args.yes && output.can_ask() {
        let plan = engine.undo(&Undo { dry_run: true, ..request })?;
        // What was asked about is what is undone.
        request.operation = Some(plan.operation);
        let deleted = plan.outcomes.iter().filter(|one| is_deleted(one)).count();
        if deleted > 0 {
            confirm(&question(plan.operation, deleted), args.yes, output)?;
        }
    }
    let undone = engine.undo(&request)?;
    let import = engine.operation(undone.operation)?.summary.kind == OperationKind::Import;
    output.answer(&undone, |page| {
        let (tone, did_it) = if undone.dry_run {
            (Tone::Warn, "Would undo operation ")
        } else {
            (Tone::Good, "Undid operation ")
        };
        page.put(tone, did_it).put(Tone::Id, undone.operation).end();
        for outcome in undone.outcomes.iter().take(NAMED) {
            page.put(Tone::Plain, "  ").put(Tone::Id, outcome.session());
            page.put(Tone::Plain, format!("  {}", did(outcome))).end();
        }
        if undone.outcomes.len() > NAMED {
            page.put(Tone::Dim, format!("  ... and {} more", undone.outcomes.len() - NAMED)).end();
        }
        for left in undone.left.iter().take(NAMED) {
            page.put(Tone::Warn, "  left ").put(Tone::Id, &left.session_id);
            page.put(Tone::Plain, format!("  {}", left.obstacle)).end();
        }
        if import && undone.outcomes.iter().any(is_deleted) {
            let text = "A later import skips these sessions, unless it is run with --again.";
            page.put(Tone::Dim, text).end();
        }
    })?;
    next(&undone, output);
    Ok(())
}

fn next(undone: &Undone, output: &mut Output) {
    if let Some(recorded) = undone.recorded_as {
        output.hint(&format!("forklore op undo {recorded}"), "redo it");
    }
}

fn is_deleted(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Deleted { .. })
}

fn question(operation: OperationId, sessions: usize) -> String {
    let sessions = count(sessions as u64, "session");
    format!(
        "Undo operation {operation}? It deletes {sessions}, which can be brought back for {} days.",
        Gc::TRASH_DAYS
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_says_what_the_undo_deletes() {
        assert_eq!(
            question(OperationId(7), 3),
            "Undo operation 7? It deletes 3 sessions, which can be brought back for 30 days."
        );
    }
}
