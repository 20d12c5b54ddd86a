//! `op show`: shows all that an operation did.

use forklore::api::{OperationId, UndoState};

use super::words::{did, what};
use crate::app::App;
use crate::failure::Result;
use crate::output::{Output, Tone, age};

const EXAMPLES: &str = "\
Examples:
  forklore op show 12
  forklore op show 12 --json | jq '.outcomes'";

/// Show all that an operation did
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The operation: its number in forklore op log
    #[arg(value_name = "OP")]
    operation: OperationId,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let answer = app.engine()?.operation(args.operation)?;
    let summary = &answer.summary;
    output.page_through();
    output.answer(&answer, |page| {
        let look = page.look();
        page.put(Tone::Id, summary.id).put(Tone::Plain, "  ").put(Tone::Strong, what(summary));
        page.put(Tone::Dim, format!("  {}", age(look, summary.at))).end();
        let by = summary.principal.iter().chain(&summary.program).cloned().collect::<Vec<_>>();
        if !by.is_empty() {
            page.put(Tone::Dim, format!("by {}", by.join(", "))).end();
        }
        for outcome in &answer.outcomes {
            page.put(Tone::Plain, "  ").put(Tone::Id, outcome.session());
            page.put(Tone::Plain, format!("  {}", did(outcome))).end();
        }
        match (summary.undo, summary.undone_by) {
            (_, Some(by)) => {
                page.put(Tone::Dim, format!("Undone by operation {by}.")).end();
            }
            (UndoState::Impossible, _) => {
                page.put(Tone::Warn, "It cannot be undone:").end();
            }
            _ if !answer.left.is_empty() => {
                page.put(Tone::Warn, "An undo leaves:").end();
            }
            _ => {}
        }
        if summary.undone_by.is_none() {
            for left in &answer.left {
                page.put(Tone::Plain, "  ").put(Tone::Id, &left.session_id);
                page.put(Tone::Plain, format!("  {}", left.obstacle)).end();
            }
        }
    })?;
    let op = summary.id;
    match (summary.undo, summary.undone_by) {
        (UndoState::Possible, _) => output.hint(&format!("forklore op undo {op}"), "undo it"),
        (UndoState::Partial, _) => {
            output.hint(&format!("forklore op undo {op} --partial"), "undo the rest");
        }
        (_, Some(by)) => output.hint(&format!("forklore op undo {by}"), "redo it"),
        _ => {}
    }
    Ok(())
}
