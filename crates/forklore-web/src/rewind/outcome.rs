//! What is shown after a rewind or an undo, with the way back.

use forklore_api::RewindUndone;
use forklore_core::{Header, SessionId};
use forklore_workspace::Error as FilesError;
use maud::{Markup, html};

use super::done::One;
use super::means::{Rights, folder_of, means};
use super::plan::numbers;
use crate::Pages;
use crate::answer::{Answer, Problem};
use crate::params::Params;

/// Shows what was taken back, if the address says that something was.
pub(crate) fn notice(pages: &Pages, header: &Header, params: &Params) -> Answer<Markup> {
    let (rewound, undone) = (params.number("rewound")?, params.number("undone")?);
    let Some(number) = rewound.or(undone) else { return Ok(html! {}) };
    let folder = folder_of(header);
    let files = pages.files.as_ref();
    let one = files.and_then(|files| files.done().open().one(&folder, number));
    let (title, back) = match rewound {
        Some(_) => ("Rewound.", "Undo"),
        None => ("Undone.", "Redo"),
    };
    let is_fork = number == 0 && header.parent_id.is_some();
    let goes_on = is_fork || one.as_ref().is_some_and(|one| one.is_forked);
    Ok(html! {
        div.made role="status" {
            p { strong { (title) }
                @if goes_on { " The conversation goes on here, in " (header.label) "." }
            }
            @if let Some(files) = one.as_ref().and_then(|one| one.files.as_ref()) {
                (numbers(files, ""))
            }
            @if is_fork {
                form method="post" action={ "/s/" (header.id) "/delete" } {
                    input type="hidden" name="mode" value="refuse";
                    button type="submit" { (back) }
                }
            } @else if number > 0 {
                form method="post" action={ "/s/" (header.id) "/rewind/undo" } {
                    input type="hidden" name="number" value=(number);
                    button type="submit" { (back) }
                }
            }
        }
    })
}

/// Takes a rewind or an undo back. Returns the address to go to.
pub(super) fn undo(
    pages: &Pages,
    rights: Rights,
    session: &SessionId,
    form: &Params,
) -> Answer<String> {
    let number = form.number("number")?;
    let number = number.ok_or_else(|| Problem::bad("Say which rewind to undo."))?;
    let header = pages.engine.show(session)?;
    let (files, folder) =
        means(pages, rights, &header).map_err(|obstacle| Problem::forbidden(obstacle.as_str()))?;
    let mut done = files.done().open();
    let undone = match files.files().undo(&pages.engine, &folder, Some(number)) {
        Err(FilesError::UndoneAlready { number, by }) => {
            // A second click leads where the first one did.
            let first = done.one(&folder, by).map(|one| one.address);
            return first.ok_or_else(|| FilesError::UndoneAlready { number, by }.into());
        }
        undone => undone?,
    };
    let RewindUndone { number, session_id, fork, files: restored, .. } = undone;
    // An undo of an undo brings the fork back.
    let fork = fork.filter(|fork| pages.engine.show(fork).is_ok());
    let on = fork.unwrap_or(session_id);
    let address = format!("/s/{on}?at=end&undone={number}");
    let (form, after) = (String::new(), address.clone());
    done.add(One { form, folder, number, is_forked: false, files: restored, address: after });
    Ok(address)
}
