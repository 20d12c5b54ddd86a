//! `op log`: lists operations, the newest first.

use forklore::api::{OperationId, OperationsRequest, UndoState};

use super::words::what;
use crate::app::App;
use crate::commands::damaged;
use crate::failure::Result;
use crate::output::{Cell, Column, Output, Page, Table, Tone, age};

const EXAMPLES: &str = "\
Examples:
  forklore op log
  forklore op log --limit 0 --json | jq -r '.operations[] | select(.undo == \"possible\") | .id'";

/// List what was done to sessions, the newest first
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// How many to list at most; 0 means all
    #[arg(long, value_name = "N", default_value_t = OperationsRequest::LIMIT)]
    limit: usize,
    /// List the page after an earlier one: the value `next` of its answer
    #[arg(long, value_name = "OP")]
    before: Option<OperationId>,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let request = OperationsRequest { before: args.before, limit: args.limit };
    let answer = app.engine()?.operations(&request)?;
    let failure = damaged::failure(&answer.problems);
    let people = |page: &mut Page| {
        let look = page.look();
        if answer.operations.is_empty() {
            let more = if args.before.is_some() { "older " } else { "" };
            page.put(Tone::Plain, format!("No {more}operations.")).end();
            return;
        }
        let mut table = Table::new(&[
            Column::new("OP").right(),
            Column::new("WHEN"),
            Column::new("WHAT").gives_way(),
            Column::new("UNDO"),
        ]);
        for one in &answer.operations {
            let (tone, undo) = match (one.undo, one.undone_by) {
                (UndoState::Possible, _) => (Tone::Good, "yes".to_owned()),
                (UndoState::Partial, _) => (Tone::Warn, "partly".to_owned()),
                (UndoState::Undone, Some(by)) => (Tone::Dim, format!("undone by {by}")),
                (UndoState::Undone, None) => (Tone::Dim, "undone".to_owned()),
                (UndoState::Impossible, _) => (Tone::Dim, "no".to_owned()),
            };
            table.row([
                Cell::new(Tone::Id, one.id.to_string()),
                Cell::new(Tone::Dim, age(look, one.at)),
                Cell::new(Tone::Plain, what(one)),
                Cell::new(tone, undo),
            ]);
        }
        table.show(page);
    };
    output.page_through();
    output.answer_with(&answer, people, failure.as_ref())?;
    if let Some(next) = answer.next {
        output.hint(&format!("forklore op log --before {next}"), "the next page");
    }
    damaged::tell(&answer.problems, output)
}
