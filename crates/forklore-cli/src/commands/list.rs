//! `list`: lists the sessions of a folder, or of all folders. The last updated session comes first.

use forklore::api::{Session, SessionPage, Status};
use forklore::core::{SessionKind, ShortIds};
use forklore::engine::ListRequest;

use crate::app::App;
use crate::choice::choice;
use crate::failure::Result;
use crate::output::session::label_tone;
use crate::output::{Cell, Column, Output, Page, Table, Tone, age, bytes, since};

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
    /// List only sessions updated since a date or a time, or since 30m, 3h, 2d, 1w ago
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    since: Option<String>,
    /// List the deleted sessions that can be brought back
    #[arg(long)]
    deleted: bool,
}

impl Args {
    /// Returns the arguments with which `forklore list` shows the last updated sessions, at most
    /// `limit`; 0 means all.
    pub(super) fn latest(limit: usize) -> Self {
        Self { limit, after: None, kind: None, since: None, deleted: false }
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
        since: args.since.as_deref().map(|text| since(text, now, output.zone())).transpose()?,
        limit: args.limit,
        after: args.after.clone(),
        deleted: args.deleted,
    })?;
    let sessions = &listing.sessions;
    let next = listing.next.as_deref();
    let problems = listing.problems.as_slice();
    let answer = SessionPage {
        sessions: sessions.iter().map(|header| engine.described(header)).collect(),
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
            show(page, &answer.sessions, everywhere);
        }
    };
    output.page_through();
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

/// Draws a table of sessions. `everywhere` adds their folders.
pub(super) fn show(page: &mut Page, sessions: &[Session], everywhere: bool) {
    let look = page.look();
    let deleted = sessions.iter().any(|session| session.deleted);
    let owner = |session: &Session| match session.kind {
        SessionKind::Delegate => session.parent_id.clone(),
        _ => None,
    };
    let owners: Vec<_> = sessions.iter().map(owner).collect();
    let short =
        ShortIds::of(sessions.iter().map(|session| &session.id).chain(owners.iter().flatten()));
    let mut table = Table::new(&[
        Column::new("SESSION"),
        Column::new("LABEL").gives_way(),
        Column::new("OWNER"),
        Column::new("TURNS").right().optional(),
        Column::new("MESSAGES").right().optional(),
        Column::new("SIZE").right().optional(),
        Column::new(if deleted { "DELETED" } else { "UPDATED" }),
        Column::new("TITLE").gives_way(),
        Column::new("FOLDER").gives_way().optional(),
    ]);
    for (session, owner) in sessions.iter().zip(&owners) {
        let updated = match session.status {
            Status::Running => Cell::new(Tone::Warn, "running"),
            Status::Idle => {
                Cell::new(Tone::Dim, age(look, session.deleted_at.unwrap_or(session.updated)))
            }
        };
        let folder = if everywhere { session.workspace.as_str() } else { "" };
        let (title, words) = (session.title.as_deref(), session.first_words.as_deref());
        let tone = if title.is_some() { Tone::Plain } else { Tone::Dim };
        table.row([
            Cell::id(&short, &session.id),
            Cell::new(label_tone(session.kind), session.label.as_str()),
            owner.as_ref().map_or_else(Cell::default, |owner| Cell::id(&short, owner)),
            Cell::new(Tone::Plain, session.turns.to_string()),
            Cell::new(Tone::Plain, session.head_index.to_string()),
            Cell::new(Tone::Plain, bytes(session.own_bytes)),
            updated,
            Cell::new(tone, title.or(words).unwrap_or_default()),
            Cell::new(Tone::Dim, folder),
        ]);
    }
    table.show(page);
}
