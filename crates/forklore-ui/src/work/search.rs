//! Searches all sessions for words.

use forklore_api::{Hit, Search};
use forklore_core::units::bytes;
use forklore_core::workspace::Workspace;
use forklore_engine::{Engine, Result};
use forklore_search::SearchIndex;

use crate::model::Found;
use crate::request::Answer;
use crate::safe::Safe;

/// The maximum number of hits.
const HITS: usize = 200;

pub(super) fn search(
    engine: &Engine,
    words: &str,
    workspace: Option<Workspace>,
    progress: &mut dyn FnMut(Answer),
) -> Result<Answer> {
    let request = Search { workspace, limit: HITS, ..Search::of(words) };
    let answer = SearchIndex::of(engine).search_with(&request, &mut |read| {
        let text =
            format!("reading what is new: {} of {}", bytes(read.bytes_done), bytes(read.bytes));
        progress(Answer::Progress(Safe::line(&text)));
    })?;
    let hits = answer.hits.iter().map(found).collect();
    Ok(Answer::Search { hits, more: answer.more, now: engine.now() })
}

fn found(hit: &Hit) -> Found {
    let what = match (hit.role, &hit.tool) {
        (_, Some(tool)) => tool.clone(),
        (Some(forklore_core::Role::User), None) => "user".to_owned(),
        (Some(forklore_core::Role::Assistant), None) => "assistant".to_owned(),
        (Some(forklore_core::Role::System), None) => "system".to_owned(),
        (Some(forklore_core::Role::Tool), None) => "tool".to_owned(),
        (None, None) => hit.kind.as_str().to_owned(),
    };
    let (snippet, marks) = snippet(hit);
    Found {
        session: hit.session_id.clone(),
        seq: hit.seq,
        label: Safe::line(hit.label.as_str()),
        agent: Safe::line(&hit.agent),
        title: Safe::line(hit.title.as_deref().unwrap_or_default()),
        folder: Safe::line(hit.workspace.as_str()),
        what: Safe::line(&what),
        ts: hit.ts,
        snippet,
        marks,
        others: hit.branch_count.saturating_sub(1),
    }
}

/// Returns the text around the words, and the byte ranges of the words in that text. Escaping
/// changes lengths, so each piece is escaped separately.
fn snippet(hit: &Hit) -> (Safe, Vec<std::ops::Range<usize>>) {
    let snippet = &hit.snippet;
    let piece = |from: usize, to: usize| -> String {
        snippet.text.chars().skip(from).take(to.saturating_sub(from)).collect()
    };
    let mut text = String::from(if snippet.cut_before { "..." } else { "" });
    let mut marks = Vec::new();
    let mut at = 0;
    for range in &snippet.highlights {
        text.push_str(Safe::inline(&piece(at, range.start)).as_str());
        let start = text.len();
        text.push_str(Safe::inline(&piece(range.start, range.end)).as_str());
        marks.push(start..text.len());
        at = range.end;
    }
    text.push_str(Safe::inline(&piece(at, usize::MAX)).as_str());
    if snippet.cut_after {
        text.push_str("...");
    }
    (Safe::inline(&text), marks)
}
