//! Finds the tool calls that name a file.

use forklore_api::{Blame, BlameAnswer, HitKind, Search};
use forklore_engine::{Engine, Error};
use forklore_index::Result;
use rusqlite::Connection;

use crate::hits::{Answer, Hits};
use crate::paths::absolute;
use crate::query::Query;
use crate::search::{MOST_HITS, SearchIndex};
use crate::update::Progress;

impl SearchIndex<'_> {
    /// Returns the tool calls whose arguments name a file, the latest first.
    ///
    /// # Errors
    /// The store's error if the sessions cannot be read.
    pub fn blame(&self, request: &Blame) -> Result<BlameAnswer, Error> {
        self.blame_with(request, &mut |_| {})
    }

    /// Returns the calls that name a file, as [`blame`](Self::blame) does. Calls `progress`
    /// repeatedly while the index is brought up to date.
    ///
    /// # Errors
    /// See [`blame`](Self::blame).
    pub fn blame_with(
        &self,
        request: &Blame,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<BlameAnswer, Error> {
        let path = absolute("/", &request.path);
        let limit = if request.limit == 0 { MOST_HITS } else { request.limit.min(MOST_HITS) };
        let calls_only = Search { kind: Some(HitKind::Call), ..Search::of("") };
        let query = Query::everything();
        let answer = self.with_index(None, None, progress, |engine: &Engine, conn| {
            let hits = Hits::new(engine, conn, &calls_only, &query, limit).of_path(path.clone());
            calls(conn, &path, request.since, hits)
        })?;
        let Answer { hits, more, problems, .. } = answer;
        Ok(BlameAnswer { path, hits, more, problems })
    }
}

fn calls<'a>(
    conn: &'a Connection,
    path: &str,
    since: Option<jiff::Timestamp>,
    mut hits: Hits<'a>,
) -> Result<Answer> {
    let sql = "SELECT document.number FROM path
        JOIN touch ON touch.path = path.number JOIN document ON document.number = touch.document
        WHERE path.path = ? AND document.ts >= ? ORDER BY document.ts DESC, document.number DESC";
    let since = since.map_or(i64::MIN, jiff::Timestamp::as_microsecond);
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query((path, since))?;
    while !hits.is_full()
        && let Some(row) = rows.next()?
    {
        hits.add_document(row.get(0)?)?;
    }
    Ok(hits.into_answer(false))
}
