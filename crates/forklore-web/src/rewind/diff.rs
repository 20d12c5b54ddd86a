//! Shows the files that differ between two states, with their lines.

use forklore_api::{ChangedFile, FilesCompared};
use forklore_core::summary::beginning;
use forklore_core::units::{bytes, count};
use maud::{Markup, html};

use crate::shown::Block;

/// How many lines of all patches together are shown.
const LINES: usize = 700;
/// How many lines of one file are shown.
const OF_FILE: usize = 200;
/// How many bytes of a line are shown.
const OF_LINE: usize = 500;
/// How many files are unfolded.
const UNFOLDED: usize = 5;

/// Shows which files differ. `rest` is the number of those that were not compared.
pub(super) fn files(compared: &FilesCompared, rest: usize) -> Markup {
    let mut lines = LINES;
    let all = compared.changes.len() + rest;
    html! {
        @if all == 0 { p.empty { "The files are equal." } }
        @else {
            p.facts {
                span { (count(all as u64, "file")) }
                span.added { "+" (compared.added) }
                span.removed { "−" (compared.removed) }
            }
        }
        @for (number, file) in compared.changes.iter().enumerate() {
            (one(file, number < UNFOLDED, &mut lines))
        }
        @if rest > 0 {
            p.note { (count(rest as u64, "more file")) " " "left out: there are too many." }
        }
    }
}

fn one(file: &ChangedFile, is_open: bool, lines: &mut usize) -> Markup {
    let heading = html! {
        span { (word(&file.change)) } " " code { (Block(&file.path)) }
        @match (file.added, file.removed) {
            (Some(added), Some(removed)) if added + removed > 0 => {
                " " span.added { "+" (added) } " " span.removed { "−" (removed) }
            }
            _ => {}
        }
        @if let Some(why) = &file.without_lines { " " span { "(" (why) ")" } }
    };
    let patch = file.patch.as_deref().map(|patch| shown(patch, lines));
    html! {
        @match patch {
            Some(patch) => details.file open[is_open] data-row {
                summary { (heading) }
                (patch)
            },
            None => p.file { (heading) }
        }
    }
}

fn word(change: &str) -> &'static str {
    match change {
        "added" => "added",
        "removed" => "removed",
        "mode" => "permissions",
        _ => "changed",
    }
}

/// Shows the lines of a patch, without its head.
fn shown(patch: &str, most: &mut usize) -> Markup {
    let lines: Vec<_> = patch.lines().skip_while(|line| !line.starts_with("@@")).collect();
    let wanted = lines.len().min(OF_FILE).min(*most);
    *most -= wanted;
    let rest = lines.len() - wanted;
    html! {
        pre.diff tabindex="0" {
            @for line in lines.iter().take(wanted) {
                @let text = short(line);
                @match line.chars().next() {
                    Some('+') => { ins { (Block(&text)) } "\n" }
                    Some('-') => { del { (Block(&text)) } "\n" }
                    Some(' ') => { (Block(&text)) "\n" }
                    _ => { i { (Block(&text)) } "\n" }
                }
            }
            @if rest > 0 { i { "... " (count(rest as u64, "more line")) } "\n" }
        }
    }
}

fn short(line: &str) -> String {
    let begin = beginning(line, OF_LINE);
    if begin.len() == line.len() {
        return line.to_owned();
    }
    format!("{begin} … {} more", bytes((line.len() - begin.len()) as u64))
}
