//! `list`: lists the sessions of a folder, last updated first.

use forklore::Engine;
use forklore::api::{Session, SessionPage};
use forklore::core::{Header, SessionKind};
use forklore::engine::ListRequest;

use crate::app::App;
use crate::choice::choice;
use crate::failure::Result;
use crate::output::session::label_tone;
use crate::output::transcript::start_of;
use crate::output::{Cell, Column, Output, Page, ShortIds, Table, Tone, age, bytes, since};

/// The default maximum number of listed sessions.
const USUAL: usize = 50;

const EXAMPLES: &str = "\
Examples:
  forklore list
  forklore list --all --since 2d
  forklore list --kind delegate
  forklore list --deleted                    what forklore undelete brings back
  forklore list --json --limit 0 | jq -r '.sessions[].id'";

/// List sessions, the last updated first
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// How many to list at most; 0 means all
    #[arg(long, value_name = "N", default_value_t = USUAL)]
    limit: usize,
    /// List the page after an earlier one: the value `next` of its answer
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
    /// List only sessions of this kind [default: all but delegates]
    #[arg(long, value_parser = choice::<SessionKind>(&["root", "branch", "delegate"]))]
    kind: Option<SessionKind>,
    /// List only sessions updated since a time (RFC 3339), or since 30m, 3h, 2d, 1w ago
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// List the deleted sessions that can be brought back
    #[arg(long)]
    deleted: bool,
}

impl Args {
    /// Returns the arguments with which `forklore list` shows the last updated sessions.
    pub(super) fn latest() -> Self {
        Self { limit: USUAL, after: None, kind: None, since: None, deleted: false }
    }
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let workspace = app.scope()?.workspace;
    let engine = app.engine()?;
    let now = engine.now();
    let everywhere = workspace.is_none();
    let listing = engine.list(&ListRequest {
        workspace,
        kind: args.kind,
        since: args.since.as_deref().map(|text| since(text, now)).transpose()?,
        limit: args.limit,
        after: args.after.clone(),
        deleted: args.deleted,
    })?;
    let sessions = &listing.sessions;
    let next = listing.next.as_deref();
    let problems = listing.problems.as_slice();
    let titles = if output.is_json() { Vec::new() } else { titles(engine, sessions) };
    let answer = SessionPage {
        sessions: sessions
            .iter()
            .map(|header| Session::of(header, engine.is_leased(header)))
            .collect(),
        next: listing.next.clone(),
        problems: listing.problems.clone(),
    };
    let failure = super::damaged::failure(problems);
    let people = |page: &mut Page| {
        if sessions.is_empty() {
            let scope = if everywhere { "the store" } else { "this folder" };
            let what = if args.deleted { "deleted sessions" } else { "sessions" };
            page.put(Tone::Plain, format!("No {what} in {scope}.")).end();
        } else {
            show(page, engine, sessions, &titles, everywhere);
        }
    };
    output.answer_with(&answer, people, failure.as_ref())?;
    let deleted = if args.deleted { " --deleted" } else { "" };
    if sessions.is_empty() && !everywhere {
        output.hint(&format!("forklore list --all{deleted}"), "those of every folder");
    }
    if let Some(one) = sessions.first().filter(|_| args.deleted) {
        output.hint(&format!("forklore undelete {}", one.id), "bring it back");
    }
    if let Some(next) = next {
        let all = if everywhere { " --all" } else { "" };
        output.hint(&format!("forklore list{all}{deleted} --after {next}"), "the next page");
    }
    super::damaged::tell(problems, output)
}

/// Returns the title of each session, or the first words of a session without a title.
fn titles(engine: &Engine, sessions: &[Header]) -> Vec<(Tone, String)> {
    let of = |header: &Header| match &header.title {
        Some(title) => (Tone::Plain, title.clone()),
        None => {
            // A session whose log cannot be read is still listed. The commands that read the log
            // report the error.
            let words = engine.first_words(header).ok().flatten();
            (Tone::Dim, words.map(|text| start_of(&text)).unwrap_or_default())
        }
    };
    sessions.iter().map(of).collect()
}

fn show(
    page: &mut Page,
    engine: &Engine,
    sessions: &[Header],
    titles: &[(Tone, String)],
    everywhere: bool,
) {
    let now = page.look().now;
    let deleted = sessions.iter().any(|header| header.deleted.is_some());
    let owner = |header: &Header| match header.kind {
        SessionKind::Delegate => header.parent_id.clone(),
        _ => None,
    };
    let owners: Vec<_> = sessions.iter().map(owner).collect();
    let short =
        ShortIds::of(sessions.iter().map(|header| &header.id).chain(owners.iter().flatten()));
    let mut table = Table::new(&[
        Column::new("SESSION"),
        Column::new("LABEL"),
        Column::new("OWNER"),
        Column::new("TURNS").right(),
        Column::new("MESSAGES").right().optional(),
        Column::new("SIZE").right().optional(),
        Column::new(if deleted { "DELETED" } else { "UPDATED" }),
        Column::new("TITLE").gives_way(),
        Column::new("FOLDER").gives_way().optional(),
    ]);
    for ((header, owner), (tone, title)) in sessions.iter().zip(&owners).zip(titles) {
        let updated = if engine.is_leased(header) {
            Cell::new(Tone::Warn, "running")
        } else {
            let when = header.deleted.map_or(header.updated, |tombstone| tombstone.deleted);
            Cell::new(Tone::Dim, age(now, when))
        };
        let folder = if everywhere { header.workspace.as_str() } else { "" };
        table.row([
            Cell::new(Tone::Id, short.get(&header.id)),
            Cell::new(label_tone(header.kind), header.label.as_str()),
            Cell::new(Tone::Id, owner.as_ref().map_or("", |owner| short.get(owner))),
            Cell::new(Tone::Plain, header.counts.turns.to_string()),
            Cell::new(Tone::Plain, header.counts.index.to_string()),
            Cell::new(Tone::Plain, bytes(header.own_bytes)),
            updated,
            Cell::new(*tone, title.as_str()),
            Cell::new(Tone::Dim, folder),
        ]);
    }
    table.show(page);
}
