//! `branches`: lists the branches of a family with their labels.

use std::collections::HashMap;

use forklore::core::{SessionId, ShortIds};
use forklore::engine::{Branch, Branches};

use crate::app::App;
use crate::failure::Result;
use crate::output::{Cell, Column, Output, Page, Table, Tone, count, cut};
use crate::session_ref::SessionRef;

use super::paging::Paging;

const EXAMPLES: &str = "\
Examples:
  forklore branches last
  forklore show last@plan-b      a branch by its label";

/// List the branches of a session's family
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id, label or title, last, or a session file
    session: String,
    #[command(flatten)]
    paging: Paging,
}

impl Args {
    /// Returns the arguments with which `forklore branches` lists a session's family (all sessions
    /// with one root).
    pub(super) fn of(session: &SessionId) -> Self {
        Self { session: session.to_string(), paging: Paging::first() }
    }
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let reference = SessionRef::parse(&args.session)?;
    let after = args.paging.after()?;
    let header = app.session(&reference, output)?;
    let all = app.engine()?.branches(&header.id)?;
    let (branches, next) =
        args.paging.page(&all.branches, after.as_ref(), |branch| &branch.session_id)?;
    let answer = Branches {
        root_session_id: all.root_session_id.clone(),
        branches: branches.to_vec(),
        next: next.cloned(),
        problems: all.problems.clone(),
    };
    let failure = super::damaged::failure(&answer.problems);
    let people = |page: &mut Page| {
        show(page, branches, &all.branches, &header.id);
    };
    output.answer_with(&answer, people, failure.as_ref())?;
    if let Some(next) = next {
        output.hint(&format!("forklore branches {} --after {next}", header.id), "the next page");
    }
    super::damaged::tell(&answer.problems, output)
}

fn show(page: &mut Page, branches: &[Branch], family: &[Branch], here: &SessionId) {
    let labels: HashMap<_, _> =
        family.iter().map(|branch| (&branch.session_id, branch.label.as_str())).collect();
    let short = ShortIds::of(branches.iter().map(|branch| &branch.session_id));
    let mut table = Table::new(&[
        Column::new("LABEL").gives_way(),
        Column::new("SESSION"),
        Column::new("FROM").gives_way(),
        Column::new("AT"),
        Column::new("MESSAGES").right().optional(),
        Column::new("OWN").right().optional(),
        Column::new(""),
    ]);
    for branch in branches {
        let parent = branch.parent_session_id.as_ref();
        let from = parent.map(|parent| labels.get(parent).copied().unwrap_or(parent.as_str()));
        let marks = [
            (branch.session_id == *here, "here"),
            (branch.running, "running"),
            (branch.summary, "summary"),
        ];
        let marks = marks.iter().filter(|(marked, _)| *marked).map(|(_, mark)| *mark);
        table.row([
            Cell::new(Tone::Label, branch.label.as_str()),
            Cell::id(&short, &branch.session_id),
            Cell::new(Tone::Plain, from.unwrap_or_default()),
            Cell::new(Tone::Plain, branch.cut.as_ref().map(cut).unwrap_or_default()),
            Cell::new(Tone::Plain, branch.head_index.to_string()),
            Cell::new(Tone::Plain, count(branch.own_events, "event")),
            Cell::new(Tone::Warn, marks.collect::<Vec<_>>().join(", ")),
        ]);
    }
    table.show(page);
}
