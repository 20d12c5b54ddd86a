//! The page of the files that belong to a position: what the snapshot has, and what changed.

use std::path::PathBuf;

use forklore_api::{FilesState, ShownSnapshot};
use forklore_core::units::{bytes, count};
use forklore_core::{Header, Selector, SessionId};
use forklore_sanitize::shell;
use forklore_workspace::Moment;
use forklore_workspace::snapshots::Most;
use maud::{Markup, html};

use super::diff;
use super::means::{Files, Rights, folder_of, means};
use super::plan::paths;
use crate::Pages;
use crate::answer::{Answer, Problem};
use crate::fork;
use crate::params::Params;
use crate::shell::Shell;
use crate::shown::{self, Line};

/// How many files are compared, and how many bytes of patches are read.
const MOST: Most = Most { paths: 100, patches: 512 << 10 };

/// With which other state the one of the position is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum With {
    /// The one before it in the history.
    Before,
    /// The folder as it is now.
    Now,
}

/// The page of the files at the position that a query or a form names.
pub(super) fn page(
    pages: &Pages,
    rights: Rights,
    session: &SessionId,
    params: &Params,
    with: With,
) -> Answer<Markup> {
    let header = pages.engine.show(session)?;
    let seq = params.number("at")?.map(|seq| i64::try_from(seq).unwrap_or(i64::MAX));
    let at = seq.map_or(Selector::End, Selector::Seq);
    let files = pages.files.as_ref();
    let files = files.ok_or_else(|| Problem::missing("This server has no snapshots of files."))?;
    let here = means(pages, rights, &header).ok().map(|(_, folder)| folder);
    let moment = Moment { header: &header, at: at.clone(), folder: folder_of(&header) };
    let shown = files.files().show(&pages.engine, &moment)?;
    let compared = compared(files, rights, &shown, with, here.as_ref())?;
    let shell = Shell { title: "Files", ..Shell::default() };
    Ok(shell.page(&html! {
        h1 { "Files" }
        (facts(pages, &header, &shown))
        (ways(&header, seq, with, here.is_some()))
        (compared)
        @if !rights.may_write {
            p.note { "Your token may only read, so the lines of the files are not shown." }
        }
        @if shown.present { (commands(pages, session, &at)) }
    }))
}

fn facts(pages: &Pages, header: &Header, shown: &ShownSnapshot) -> Markup {
    html! {
        p.facts {
            span { (Line(&shown::name(&pages.engine, header))) }
            span { code { (Line(&shown.recorded.folder.to_string_lossy())) } }
            @if shown.files > 0 {
                span { (count(shown.files, "file")) ", " (bytes(shown.bytes)) }
            }
            @if let Some(branch) = &shown.branch { span { "branch " (Line(branch)) } }
            @if let Some(commit) = &shown.commit {
                span { "commit " code { (Line(forklore_core::summary::beginning(commit, 12))) } }
            }
            @if let Some(seq) = shown.recorded.seq {
                a href={ "/s/" (header.id) "?at=" (seq) } { "event " (seq) }
            }
        }
        (paths("What the snapshot leaves out", &shown.left_out))
    }
}

/// Links to what else can be seen or done.
fn ways(header: &Header, seq: Option<i64>, with: With, is_here: bool) -> Markup {
    let query = seq.map(|seq| format!("?at={seq}")).unwrap_or_default();
    html! {
        div.tools {
            a.button href={ "/s/" (header.id) (query) } { "Read the conversation" }
            a.button href={ "/s/" (header.id) "/rewind" (query) } data-dialog="rewind" {
                "Rewind to here"
            }
            @if with == With::Now {
                a.button href={ "/s/" (header.id) "/files" (query) } {
                    "Compare with the state before"
                }
            } @else if is_here {
                form method="post" action={ "/s/" (header.id) "/files" } {
                    @if let Some(seq) = seq { input type="hidden" name="at" value=(seq); }
                    button type="submit" { "Compare with the folder now" }
                }
            }
        }
    }
}

fn compared(
    files: &Files,
    rights: Rights,
    shown: &ShownSnapshot,
    with: With,
    here: Option<&PathBuf>,
) -> Answer<Markup> {
    if !shown.present {
        return Ok(html! {
            p.empty { "This snapshot is not on the machine of this server: another one recorded it." }
        });
    }
    let (own, before) = (shown.recorded.clone(), shown.before.clone());
    let sides = match (with, here, before) {
        (With::Now, Some(folder), _) => Some((own, files.files().present(folder)?)),
        (With::Now, None, _) => return Err(Problem::forbidden("The folder cannot be read here.")),
        (With::Before, _, None) => None,
        (With::Before, _, Some(snapshot)) => {
            Some((FilesState { snapshot, seq: None, ..own.clone() }, own))
        }
    };
    let Some((a, b)) = sides else {
        return Ok(
            html! { p.empty { "This is the first snapshot of the folder in the session." } },
        );
    };
    let most = if rights.may_write { MOST } else { Most { patches: 0, ..MOST } };
    let diffed = files.files().diff_most(a, b, most)?;
    Ok(html! {
        h2 {
            @match with {
                With::Before => "What changed since the snapshot before",
                With::Now => "What changed in the folder since then",
            }
        }
        (diff::files(&diffed.answer, diffed.rest))
    })
}

/// Shows the command that shows all of it.
fn commands(pages: &Pages, session: &SessionId, at: &Selector) -> Markup {
    let id = shell::quoted(session.as_str()).to_string();
    let cut = at.to_string();
    let cut = shell::quoted(&cut);
    html! {
        p.note { "All of its paths, and each of its files with --get PATH:" }
        (fork::command("files", &format!("{} show {id} --files --at {cut}", pages.program)))
    }
}
