//! Shows what a rewind would change, and does it.

use forklore_api::{FilesRestored, NamedPath, RewindScope, Rewound};
use forklore_core::units::count;
use forklore_core::{Header, Selector, SessionId};
use forklore_engine::Fork;
use forklore_workspace::{Error as FilesError, Rewind};
use maud::{Markup, html};

use super::choice::{cancel, command, heading, name, scope};
use super::done::One;
use super::means::{Obstacle, Rights, means};
use crate::Pages;
use crate::answer::{Answer, Problem};
use crate::params::{self, Params};
use crate::shown::{self, Block, Line};

/// How many paths a list names.
pub(super) const NAMED: usize = 200;

/// What a form requests.
pub(super) struct Wanted {
    at: Selector,
    scope: RewindScope,
    /// The id of the form, which is that of the fork if no files go back.
    form: Option<SessionId>,
}

impl Wanted {
    /// Reads a form.
    pub(super) fn of(form: &Params) -> Answer<Self> {
        let at = form.get("at").ok_or_else(|| Problem::bad("Where: choose a position."))?;
        let at = at.parse().map_err(|why| Problem::bad(format!("Where: {why}.")))?;
        let scope = form.get("scope").and_then(scope);
        let scope = scope.ok_or_else(|| Problem::bad("What: choose what goes back."))?;
        Ok(Self { at, scope, form: form.get("id").map(params::session).transpose()? })
    }

    fn rewind(&self, folder: std::path::PathBuf) -> Rewind {
        let (at, scope) = (self.at.clone(), self.scope);
        Rewind { at, scope, folder, label: None, paths: Vec::new() }
    }
}

/// Shows what a rewind would change. Changes nothing.
pub(super) fn plan(
    pages: &Pages,
    rights: Rights,
    session: &SessionId,
    wanted: &Wanted,
) -> Answer<Markup> {
    let header = pages.engine.show(session)?;
    let (files, folder) = match means(pages, rights, &header) {
        Ok(means) => means,
        Err(_) if wanted.scope == RewindScope::Conversation => {
            let cut = pages.engine.fork(&Fork { dry_run: true, ..fork(session, wanted) })?.cut;
            return Ok(planned(pages, &header, wanted, &shown::cut(&cut), None));
        }
        Err(obstacle) => {
            return Ok(html! {
                (heading(pages, &header))
                p { (obstacle.as_str()) " On the machine with the files, run:" }
                (command(pages, session, &wanted.at, wanted.scope))
                div.buttons { (cancel(session)) }
            });
        }
    };
    let plan = files.files().plan_rewind(&pages.engine, &header, &wanted.rewind(folder));
    match plan {
        Ok(Rewound { forked, files, .. }) => {
            let cut = forked.map(|forked| shown::cut(&forked.cut)).unwrap_or_default();
            Ok(planned(pages, &header, wanted, &cut, files.as_ref()))
        }
        Err(FilesError::NoSnapshot { .. }) => Ok(html! {
            (heading(pages, &header))
            p.bad role="alert" {
                "No files were recorded there or before. The conversation alone can go back."
            }
            div.buttons { (cancel(session)) }
        }),
        Err(error) => Err(error.into()),
    }
}

/// Returns the request of the fork in which the conversation alone goes back.
fn fork(session: &SessionId, wanted: &Wanted) -> Fork {
    let fork = Fork::of(session.clone()).at(wanted.at.clone());
    Fork { rewind: true, id: wanted.form.clone(), ..fork }
}

fn planned(
    pages: &Pages,
    header: &Header,
    wanted: &Wanted,
    cut: &str,
    files: Option<&FilesRestored>,
) -> Markup {
    let session = &header.id;
    html! {
        (heading(pages, header))
        @if wanted.scope != RewindScope::Files {
            p { "The conversation goes on after " strong { (cut) } ", in a fork." }
        }
        @if let Some(files) = files {
            p { "In " code { (Line(header.workspace.as_str())) } ":" }
            (numbers(files, "would be "))
            (paths("What would change", &files.changes))
            @if files.written + files.removed == 0 { p { "The files are as they were then." } }
            @if pages.engine.is_leased(header) {
                p.bad role="alert" {
                    "The session is running now, so its agent may go on changing files."
                }
            }
        }
        form method="post" action={ "/s/" (session) "/rewind" } {
            input type="hidden" name="id" value=(pages.engine.new_id());
            input type="hidden" name="at" value=(wanted.at);
            input type="hidden" name="scope" value=(name(wanted.scope));
            div.buttons {
                button.primary type="submit" { "Rewind" }
                (cancel(session))
            }
        }
    }
}

/// Shows how many files are written, removed and left alone.
pub(super) fn numbers(files: &FilesRestored, would: &str) -> Markup {
    let skipped = files.skipped.len() as u64;
    html! {
        ul.numbers {
            li { (count(files.written, "file")) " " (would) "written" }
            li { (count(files.removed, "file")) " " (would) "removed" }
            @if skipped > 0 {
                li { (count(skipped, "file")) " " (would) "left alone" (paths("Which", &files.skipped)) }
            }
        }
    }
}

/// Lists paths, each with a word that says what is about it.
pub(super) fn paths(title: &str, paths: &[NamedPath]) -> Markup {
    html! {
        @if !paths.is_empty() {
            details {
                summary { (title) }
                ul.paths {
                    @for named in paths.iter().take(NAMED) {
                        li {
                            span.note { (Line(&named.reason.replace('_', " "))) } " "
                            code { (Block(&named.path)) }
                        }
                    }
                    @if paths.len() > NAMED { li { (paths.len() - NAMED) " more" } }
                }
            }
        }
    }
}

/// Takes conversation, files or both back. Returns the address to go to. A form that is sent twice
/// does so once.
pub(super) fn rewind(
    pages: &Pages,
    rights: Rights,
    session: &SessionId,
    wanted: &Wanted,
) -> Answer<String> {
    if !rights.may_write {
        return Err(Problem::forbidden(Obstacle::MayOnlyRead.as_str()));
    }
    let header = pages.engine.show(session)?;
    let (files, folder) = match means(pages, rights, &header) {
        Ok(means) => means,
        Err(_) if wanted.scope == RewindScope::Conversation => {
            let forked = pages.engine.fork_or_copy(&fork(session, wanted))?;
            return Ok(format!("/s/{}?at=end&rewound=0", forked.child_session_id));
        }
        Err(obstacle) => return Err(Problem::forbidden(obstacle.as_str())),
    };
    let form = wanted.form.as_ref().map(ToString::to_string).unwrap_or_default();
    let mut done = files.done().open();
    if let Some(address) = done.address_of(&form) {
        return Ok(address);
    }
    let rewound = files.files().rewind(&pages.engine, &header, &wanted.rewind(folder.clone()))?;
    let number = rewound.number.unwrap_or_default();
    let is_forked = rewound.forked.is_some();
    let on = rewound.forked.map_or(session.clone(), |forked| forked.child_session_id);
    let address = format!("/s/{on}?at=end&rewound={number}");
    let (files, after) = (rewound.files, address.clone());
    done.add(One { form, folder, number, is_forked, files, address: after });
    Ok(address)
}
