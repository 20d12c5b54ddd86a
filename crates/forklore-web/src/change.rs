//! Changes what a session is called, deletes it, and brings it back: the forms, and what they do.

use forklore_api::{Delete, DeleteMode, Undelete};
use forklore_core::units::count;
use forklore_core::{ErrorKind, Header, Label, SessionId};
use forklore_engine::Engine;
use maud::{Markup, html};

use crate::Pages;
use crate::answer::{Answer, Problem};
use crate::params::Params;
use crate::shell::Shell;
use crate::shown::{self, Line};

/// The largest number of sessions to delete that are listed.
const LISTED: usize = 50;

/// The page with the forms.
pub(crate) fn page(pages: &Pages, session: &SessionId) -> Answer<Markup> {
    let header = pages.engine.show(session)?;
    let shell = Shell { title: "Change", ..Shell::default() };
    Ok(shell.page(&html! {
        section.narrow {
            h1 { "Change" }
            p.note { (Line(&shown::name(&pages.engine, &header))) " · " (header.label) }
            form method="post" action={ "/s/" (session) "/name" } {
                label.field { span { "Label" }
                    input name="label" value=(header.label) maxlength="64" required
                        autocomplete="off" spellcheck="false";
                }
                label.field { span { "Title" }
                    input name="title" value=(Line(header.title.as_deref().unwrap_or_default()))
                        autocomplete="off" placeholder="the first words, if empty";
                }
                div.buttons { button.primary type="submit" { "Save" }
                    a.button href={ "/s/" (session) } { "Cancel" }
                }
            }
            h2 { "Delete" }
            (plans(pages, &header)?)
        }
    }))
}

/// Shows what each way to delete the session would delete.
fn plans(pages: &Pages, header: &Header) -> Answer<Markup> {
    let alone = plan(&pages.engine, header, DeleteMode::Refuse)?;
    let ways = match alone {
        Some(alone) => vec![("refuse", "Delete", alone)],
        None => {
            let plan = |mode| plan(&pages.engine, header, mode);
            let (all, one) = (plan(DeleteMode::Cascade)?, plan(DeleteMode::DetachChildren)?);
            let all = all.map(|ids| ("cascade", "Delete it and what was forked from it", ids));
            let one = one.map(|ids| ("detach_children", "Delete it, and leave its forks", ids));
            all.into_iter().chain(one).collect()
        }
    };
    let mut shown = Vec::new();
    for (mode, name, ids) in &ways {
        let headers = pages.engine.store().headers(ids.get(..LISTED).unwrap_or(ids))?;
        shown.push((*mode, *name, ids, headers));
    }
    Ok(html! {
        p.note { "What is deleted goes into the trash. It can come back until it is erased there." }
        @if shown.is_empty() { p.bad { "This session cannot be deleted now." } }
        @for (mode, name, ids, headers) in &shown {
            form method="post" action={ "/s/" (header.id) "/delete" } {
                input type="hidden" name="mode" value=(mode);
                details {
                    summary { "This would delete " (count(ids.len() as u64, "session")) }
                    ul {
                        @for header in headers.iter().flatten() {
                            li { span.label { (header.label) } " "
                                (Line(header.title.as_deref().unwrap_or_default())) }
                        }
                        @if ids.len() > LISTED { li { (ids.len() - LISTED) " more" } }
                    }
                }
                div.buttons { button type="submit" { (name) } }
            }
        }
    })
}

/// Returns the sessions that a delete would delete. `None` if this way is not possible.
fn plan(engine: &Engine, header: &Header, mode: DeleteMode) -> Answer<Option<Vec<SessionId>>> {
    let request = Delete { session: header.id.clone(), mode, dry_run: true, erase: false };
    match engine.delete(&request) {
        Ok(plan) => Ok(Some(plan.deleted)),
        Err(error) if matches!(error.kind(), ErrorKind::HasChildren | ErrorKind::Busy) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Gives a session the label and the title of a submitted form. Returns the address to go to.
pub(crate) fn name(engine: &Engine, session: &SessionId, form: &Params) -> Answer<String> {
    let header = engine.show(session)?;
    let label: Option<Result<Label, _>> = form.get("label").map(str::parse);
    let label = label.transpose().map_err(|why| Problem::bad(format!("Label: {why}.")))?;
    if let Some(label) = label.filter(|label| *label != header.label) {
        engine.label(session, &label)?;
    }
    let title = form.get("title");
    if title != header.title.as_deref() {
        engine.rename(session, title)?;
    }
    Ok(format!("/s/{session}"))
}

/// Puts a session into the trash. Returns the address to go to.
pub(crate) fn delete(engine: &Engine, session: &SessionId, form: &Params) -> Answer<String> {
    let mode = match form.get("mode") {
        None | Some("refuse") => DeleteMode::Refuse,
        Some("cascade") => DeleteMode::Cascade,
        Some("detach_children") => DeleteMode::DetachChildren,
        Some(_) => return Err(Problem::bad("There is no such way to delete a session.")),
    };
    let request = Delete { session: session.clone(), mode, dry_run: false, erase: false };
    engine.delete(&request)?;
    Ok(format!("/?deleted={session}"))
}

/// Shows that a session was deleted, with a button that brings it back.
pub(crate) fn deleted(pages: &Pages, session: &SessionId) -> Answer<Markup> {
    let header = pages.engine.store().header(session)?;
    Ok(html! {
        @if header.is_in_trash() {
            form.made method="post" action={ "/s/" (session) "/undelete" } role="status" {
                p { strong { (header.label) } " is in the trash." }
                button type="submit" { "Bring it back" }
            }
        }
    })
}

/// Brings a session back from the trash, with all that was deleted with it.
pub(crate) fn undelete(engine: &Engine, session: &SessionId) -> Answer<String> {
    engine.undelete(&Undelete { session: session.clone(), cascade: true })?;
    Ok(format!("/s/{session}"))
}
