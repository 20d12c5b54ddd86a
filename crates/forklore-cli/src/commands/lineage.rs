//! `lineage`: lists a session's ancestors and children.

use forklore::core::{Header, ShortIds};
use forklore::engine::{Lineage, Relative};

use crate::app::App;
use crate::failure::Result;
use crate::output::session::label_tone;
use crate::output::{Cell, Column, Output, Page, Table, Tone, cut};
use crate::session_ref::SessionRef;

use super::paging::Paging;

const EXAMPLES: &str = "\
Examples:
  forklore lineage last
  forklore lineage @main --children --limit 0";

/// List a session's ancestors and children
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id, label or title, last, or a session file
    session: String,
    /// List only the children
    #[arg(long)]
    children: bool,
    #[command(flatten)]
    paging: Paging,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let reference = SessionRef::parse(&args.session)?;
    let after = args.paging.after()?;
    let header = app.session(&reference, output)?;
    let lineage = app.engine()?.lineage(&header.id)?;
    let (children, next) =
        args.paging.page(&lineage.children, after.as_ref(), |child| &child.session_id)?;
    let answer = Lineage {
        ancestors: if args.children { Vec::new() } else { lineage.ancestors.clone() },
        children: children.to_vec(),
        next: next.cloned(),
        ..lineage.clone()
    };
    let failure = super::damaged::failure(&lineage.problems);
    let people = |page: &mut Page| {
        show(page, &header, &lineage, children, args.children);
    };
    output.answer_with(&answer, people, failure.as_ref())?;
    if let Some(next) = next {
        output.hint(&format!("forklore lineage {} --after {next}", header.id), "the next page");
    }
    super::damaged::tell(&lineage.problems, output)
}

fn show(
    page: &mut Page,
    header: &Header,
    lineage: &Lineage,
    children: &[Relative],
    only_children: bool,
) {
    let all = lineage.ancestors.iter().chain(children);
    let short = ShortIds::of(all.map(|relative| &relative.session_id));
    let mut table = Table::new(&[
        Column::new(""),
        Column::new("LABEL").gives_way(),
        Column::new("SESSION"),
        Column::new("AT"),
        Column::new(""),
    ]);
    if !only_children {
        for (above, ancestor) in lineage.ancestors.iter().enumerate() {
            let what = if above == 0 { "parent".to_owned() } else { format!("{} up", above + 1) };
            table.row(row(&what, ancestor, &short));
        }
    }
    for child in children {
        table.row(row("child", child, &short));
    }
    page.put(label_tone(header.kind), &header.label).put(Tone::Plain, "  ");
    page.put(Tone::Id, &header.id).put(Tone::Dim, format!("  depth {}", header.depth));
    if let Some(position) = &header.cut {
        page.put(Tone::Dim, format!(", begins at {}", cut(position)));
    }
    page.end();
    if lineage.ancestors.is_empty() && children.is_empty() {
        page.put(Tone::Plain, "No ancestors and no children.").end();
    } else {
        table.show(page);
    }
}

fn row(what: &str, relative: &Relative, short: &ShortIds) -> Vec<Cell> {
    let tone = relative.kind.map_or(Tone::Bad, label_tone);
    let marks = [
        (relative.missing, Tone::Bad, "missing"),
        (relative.damaged, Tone::Bad, "damaged"),
        (relative.deleted, Tone::Bad, "deleted"),
        (relative.running, Tone::Warn, "running"),
        (relative.summary, Tone::Dim, "summary"),
    ];
    let found = marks.iter().find(|(marked, ..)| *marked);
    let (mark_tone, mark) = found.map_or((Tone::Dim, ""), |(_, tone, mark)| (*tone, *mark));
    vec![
        Cell::new(Tone::Dim, what),
        Cell::new(tone, relative.label.as_ref().map_or("?", |label| label.as_str())),
        Cell::id(short, &relative.session_id),
        Cell::new(Tone::Plain, relative.cut.as_ref().map(cut).unwrap_or_default()),
        Cell::new(mark_tone, mark),
    ]
}
