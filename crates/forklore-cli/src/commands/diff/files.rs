//! `diff --files`: compares the files of two positions, or those of a position with the folder as it
//! is now.

use std::io::Write;
use std::path::PathBuf;

use forklore::api::{ChangedFile, FilesCompared, FilesState};
use forklore::core::Selector;
use forklore_sanitize::shell::quoted;
use forklore_workspace::Moment;

use super::super::arguments;
use super::super::snapshot::folder_of;
use crate::app::App;
use crate::failure::Result;
use crate::output::{Output, Page, Tone, count};
use crate::session_ref::SessionRef;

/// The maximum number of paths that the summary lists.
const NAMED: usize = 200;

/// What to compare, as the user typed it.
pub(super) struct Sides<'a> {
    pub(super) a: &'a str,
    pub(super) b: Option<&'a str>,
    pub(super) folder: Option<PathBuf>,
    pub(super) patch: bool,
}

pub(super) fn run(sides: &Sides<'_>, app: &App, output: &mut Output) -> Result<()> {
    let a = side(sides.a, sides, app, output)?;
    let b = match sides.b {
        Some(b) => side(b, sides, app, output)?,
        None => app.files()?.present(&a.folder)?,
    };
    let diffed = app.files()?.diff(a, b, sides.patch)?;
    output.page_through();
    if sides.patch && !output.is_json() {
        return patch(&diffed.patch, &diffed.answer, output);
    }
    output.answer(&diffed.answer, |page| summary(page, &diffed.answer))?;
    if !diffed.answer.changes.is_empty() {
        let words = std::iter::once(sides.a).chain(sides.b).map(quoted);
        let words: Vec<_> = words.map(|word| word.to_string()).collect();
        output.hint(&format!("forklore diff --files --patch {}", words.join(" ")), "the lines");
    }
    Ok(())
}

/// Returns the state that `SESSION` or `SESSION@CUT` names.
fn side(text: &str, sides: &Sides<'_>, app: &App, output: &mut Output) -> Result<FilesState> {
    let (session, at) = parts(text);
    let at = arguments::selector(at)?.unwrap_or(Selector::End);
    let header = app.stored(&SessionRef::parse(session)?, output)?;
    let folder = folder_of(&header, sides.folder.as_deref())?;
    Ok(app.files()?.state(app.engine()?, &Moment { header: &header, at, folder })?)
}

/// Splits `SESSION@CUT`. What follows the last `@` is a label, unless it has a colon, which no label
/// has.
fn parts(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once('@') {
        Some((session, cut)) if cut.contains(':') => (session, Some(cut)),
        _ => (text, None),
    }
}

fn summary(page: &mut Page, compared: &FilesCompared) {
    if compared.changes.is_empty() {
        page.put(Tone::Plain, "The files are equal.").end();
        return;
    }
    for file in compared.changes.iter().take(NAMED) {
        let (letter, tone) = letter(file);
        page.put(tone, letter).put(Tone::Plain, " ").put(Tone::Strong, &file.path);
        match (&file.without_lines, file.added, file.removed) {
            (Some(reason), ..) => {
                page.put(Tone::Dim, format!("  {reason}"));
            }
            (None, Some(added), Some(removed)) if added + removed > 0 => {
                page.put(Tone::Good, format!("  +{added}"));
                page.put(Tone::Bad, format!(" -{removed}"));
            }
            _ => {}
        }
        page.end();
    }
    let changed = compared.changes.len();
    if changed > NAMED {
        page.put(Tone::Dim, format!("... and {} more", changed - NAMED)).end();
    }
    let files = count(changed as u64, "file");
    page.put(Tone::Plain, format!("{files}  +{} -{}", compared.added, compared.removed)).end();
}

/// Returns the letter of a change, as git has it.
fn letter(file: &ChangedFile) -> (&'static str, Tone) {
    match file.change.as_str() {
        "added" => ("A", Tone::Good),
        "removed" => ("D", Tone::Bad),
        "mode" => ("P", Tone::Warn),
        _ => ("M", Tone::Warn),
    }
}

/// Prints the patches: to a pipe byte for byte, so that `git apply` reads them.
fn patch(patch: &[u8], compared: &FilesCompared, output: &mut Output) -> Result<()> {
    if output.is_terminal() {
        output.page(|page| {
            for line in String::from_utf8_lossy(patch).lines() {
                let tone = match line.chars().next() {
                    Some('+') => Tone::Good,
                    Some('-') => Tone::Bad,
                    Some(' ') => Tone::Plain,
                    _ => Tone::Dim,
                };
                page.put(tone, line.replace('\t', "    ")).end();
            }
        })?;
    } else {
        let mut lines = output.lines();
        lines.write_all(patch)?;
        lines.flush()?;
    }
    let without = compared.changes.iter().filter(|file| file.patch.is_none());
    for file in without.take(NAMED) {
        let reason = file.without_lines.as_deref().unwrap_or("only its permissions, or too much");
        output.note(&format!("without lines: {}  {reason}", file.path));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_follows_the_last_at_sign() {
        assert_eq!(parts("work@turn:3"), ("work", Some("turn:3")));
        assert_eq!(parts("last@main@seq:-1"), ("last@main", Some("seq:-1")));
        assert_eq!(parts("last@main"), ("last@main", None));
        assert_eq!(parts("@main"), ("@main", None));
    }
}
