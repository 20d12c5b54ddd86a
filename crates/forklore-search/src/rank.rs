//! Scores the documents that match a query.
//!
//! SQLite's `bm25` counts for each word all documents that have it, which takes long for a word
//! that very many documents have. Such a word says little about a document, so it does not count in
//! the score.

use std::collections::{HashMap, HashSet};

use forklore_api::HitKind;
use forklore_index::Result;
use rusqlite::Connection;

use crate::hits::Candidate;
use crate::query::Query;

/// The maximum number of documents that may contain a word or phrase that counts in a score.
pub(crate) const COMMON: usize = 5_000;

/// The weights of the index columns in a score: text, reasoning, call, result, title, label,
/// summary, facet.
const WEIGHTS: &str = "2.0, 0.5, 1.0, 0.5, 4.0, 3.0, 1.0, 0.0";

/// The score of a title or label if no word of the query counts. So titles and labels come before
/// messages, whose score is then 0.
const HEAD: f64 = 1e-6;

/// Which of the documents that contain all words of the query are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All documents that contain the words.
    All,
    /// Some of these documents, because the search has further restrictions.
    Selected,
    /// The latest of these documents, because there are more than [`COMMON`].
    Latest,
}

/// Returns `documents` with their scores, the best first. Of documents with the same score, the
/// latest comes first.
pub(crate) fn ranked(
    conn: &Connection,
    query: &Query,
    kind: Option<HitKind>,
    documents: &[i64],
    extent: Extent,
) -> Result<Vec<Candidate>> {
    // If many documents contain all words, at least as many contain each word. So no word counts.
    let scores = match extent {
        Extent::Latest => HashMap::new(),
        Extent::All | Extent::Selected => scores(conn, query, kind, extent)?,
    };
    let heads = if scores.is_empty() { heads(conn, documents)? } else { HashSet::new() };
    let score = |document: &i64| {
        let head = if heads.contains(document) { HEAD } else { 0.0 };
        scores.get(document).copied().unwrap_or(head)
    };
    let scored = documents.iter().map(|it| Candidate { document: *it, score: score(it) });
    let mut ranked: Vec<_> = scored.collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.document.cmp(&a.document)));
    Ok(ranked)
}

/// Returns the scores of the documents that contain all words of the query that count. Empty if no
/// word counts.
fn scores(
    conn: &Connection,
    query: &Query,
    kind: Option<HitKind>,
    extent: Extent,
) -> Result<HashMap<i64, f64>> {
    let mut counting = Vec::new();
    let phrases = query.expressions(kind);
    let has_all = phrases.len() == 1 && extent == Extent::All;
    for phrase in phrases {
        if has_all || !is_common(conn, &phrase)? {
            counting.push(phrase);
        }
    }
    if counting.is_empty() {
        return Ok(HashMap::new());
    }
    let sql = format!("SELECT rowid, -bm25(words, {WEIGHTS}) FROM words WHERE words MATCH ?");
    let mut statement = conn.prepare_cached(&sql)?;
    let scored =
        statement.query_map([counting.join(" AND ")], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(scored.collect::<rusqlite::Result<_>>()?)
}

/// Checks whether more than [`COMMON`] documents match an expression.
fn is_common(conn: &Connection, expression: &str) -> Result<bool> {
    let sql = format!(
        "SELECT COUNT(*) > {COMMON} FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT {})",
        COMMON + 1
    );
    Ok(conn.prepare_cached(&sql)?.query_row([expression], |row| row.get(0))?)
}

/// Returns the documents with a title or label whose number is not below the lowest number in
/// `documents`.
fn heads(conn: &Connection, documents: &[i64]) -> Result<HashSet<i64>> {
    let Some(first) = documents.iter().min() else { return Ok(HashSet::new()) };
    let mut statement = conn.prepare_cached("SELECT head_row FROM session WHERE head_row >= ?")?;
    let heads = statement.query_map([first], |row| row.get(0))?;
    Ok(heads.collect::<rusqlite::Result<_>>()?)
}
