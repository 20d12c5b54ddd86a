//! Answers searches: brings the index up to date, finds the best documents, and reads their text.

use std::time::Duration;

use forklore_api::{Search, SearchAnswer};
use forklore_core::workspace::Workspace;
use forklore_engine::{Engine, Error};
use forklore_index::{Fault, IndexFile, folder_of, state};
use rusqlite::Connection;

use crate::documents::Facet;
use crate::hits::{Answer, Hits};
use crate::layout::LAYOUT;
use crate::query::Query;
use crate::rank::{self, Extent};
use crate::scan;
use crate::update::{Progress, update};

/// The maximum number of matching documents that are ranked. If more documents match, only the
/// latest are ranked.
const RANKED: usize = rank::COMMON;
/// The maximum number of hits in one answer.
pub(crate) const MOST_HITS: usize = 10_000;

/// An answer that may be given before everything was searched.
#[derive(Clone, Debug)]
pub struct EarlyAnswer {
    /// The answer from what was searched.
    pub answer: SearchAnswer,
    /// The size of the events that were not searched, in bytes. `None` if all were searched.
    pub unread: Option<u64>,
}

/// The search index of a store. The index is a file in the store's cache folder. If the store has
/// no such folder, each search makes a temporary index.
#[derive(Clone, Copy)]
pub struct SearchIndex<'a> {
    engine: &'a Engine,
}

impl<'a> SearchIndex<'a> {
    /// Returns the search index of the store of `engine`. Does not read or build the index yet.
    #[must_use]
    pub fn of(engine: &'a Engine) -> Self {
        Self { engine }
    }

    /// Answers a search about the sessions as they are at the time of the call.
    ///
    /// # Errors
    /// `invalid_args` if the query has nothing to search for, too many words or an invalid regular
    /// expression, or if the cursor is invalid; the store's error if the sessions cannot be read.
    pub fn search(&self, request: &Search) -> Result<SearchAnswer, Error> {
        self.search_with(request, &mut |_| {})
    }

    /// Answers a search, as [`search`](Self::search) does. Calls `progress` repeatedly while the
    /// index is brought up to date.
    ///
    /// # Errors
    /// See [`search`](Self::search).
    pub fn search_with(
        &self,
        request: &Search,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<SearchAnswer, Error> {
        Ok(self.answer(request, None, progress)?.answer)
    }

    /// Answers a search with what the index contains after `patience`. If the index was not up to
    /// date by then, the next search continues to read. Each search reads at least one event.
    ///
    /// A store without a cache folder has no index that a later search could continue, so
    /// everything is read first.
    ///
    /// # Errors
    /// See [`search`](Self::search).
    pub fn search_within(
        &self,
        request: &Search,
        patience: Duration,
    ) -> Result<EarlyAnswer, Error> {
        self.answer(request, Some(patience), &mut |_| {})
    }

    /// Notes which sessions the index must read, so that the first search need not. Does nothing if
    /// the store has no cache folder.
    ///
    /// # Errors
    /// If the sessions or the index cannot be read. A later search then does this work.
    pub fn prepare(&self) -> Result<(), Error> {
        let Some(folder) = folder_of(self.engine.store()) else { return Ok(()) };
        let patience = Some(Duration::ZERO);
        let prepared = forklore_index::answer(&folder, &LAYOUT, |mut file| {
            update(&mut file, self.engine, None, patience, &mut |_| {})
        });
        prepared.map(drop).map_err(failed)
    }

    fn answer(
        &self,
        request: &Search,
        patience: Option<Duration>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<EarlyAnswer, Error> {
        let query = Query::parse(&request.query)?;
        let skipped = request.after.as_deref().map_or(Ok(0), skipped)?;
        let limit = if request.limit == 0 { MOST_HITS } else { request.limit.min(MOST_HITS) };
        let end = skipped.saturating_add(limit).min(MOST_HITS);
        let workspace = request.workspace.as_ref();
        let answer = self.with_index(workspace, patience, progress, |engine, conn| {
            find(conn, request, &query, Hits::new(engine, conn, request, &query, end))
        })?;
        let Answer { mut hits, more, problems, unread } = answer;
        let next = (more && hits.len() == end && end < MOST_HITS).then(|| end.to_string());
        hits.drain(..skipped.min(hits.len()));
        Ok(EarlyAnswer { answer: SearchAnswer { hits, more, next, problems }, unread })
    }

    /// Brings the index up to date with the families that have a session in `workspace`, and then
    /// calls `find` with the engine and the index. A `workspace` of `None` means all families. After
    /// `patience`, calls `find` with the index as it is then.
    pub(crate) fn with_index(
        &self,
        workspace: Option<&Workspace>,
        patience: Option<Duration>,
        progress: &mut dyn FnMut(Progress),
        find: impl Fn(&Engine, &Connection) -> Result<Answer, Fault>,
    ) -> Result<Answer, Error> {
        let mut ask = |mut file: IndexFile, patience| {
            let updated = update(&mut file, self.engine, workspace, patience, progress)?;
            file.renew();
            let conn = file.conn();
            // All later statements of the connection see the state that the first one sees.
            conn.execute_batch("BEGIN")?;
            if state(conn)?.epoch != updated.epoch {
                return Err(Fault::Emptied);
            }
            let mut answer = find(self.engine, conn)?;
            let more = answer.problems.into_iter();
            let more: Vec<_> = more.filter(|it| !updated.problems.contains(it)).collect();
            answer.problems = updated.problems;
            answer.problems.extend(more);
            answer.unread = updated.unread;
            Ok(answer)
        };
        let indexed = folder_of(self.engine.store())
            .map(|folder| forklore_index::answer(&folder, &LAYOUT, |file| ask(file, patience)));
        let answer = match indexed {
            Some(Ok(answer)) => return Ok(answer),
            // The store itself cannot be read.
            Some(Err(Fault::Sessions(error))) => return Err(error),
            // The index cannot be used: its disk is full, or another process uses it for long.
            Some(Err(_)) | None => IndexFile::temporary(&LAYOUT).and_then(|file| ask(file, None)),
        };
        answer.map_err(failed)
    }
}

/// Reads a cursor: the number of hits before the page.
fn skipped(after: &str) -> Result<usize, Error> {
    let message =
        "this is no cursor of a search; use the field next of an earlier answer".to_owned();
    let invalid = Error::Invalid { reason: "cursor", message };
    after.parse().ok().filter(|skipped| *skipped <= MOST_HITS).ok_or(invalid)
}

fn find(
    conn: &Connection,
    request: &Search,
    query: &Query,
    mut hits: Hits<'_>,
) -> Result<Answer, Fault> {
    let Some(facets) = facets(conn, request)? else { return Ok(hits.into_answer(false)) };
    let expression = query.expression(request.kind, &facets);
    let since = request.since.map_or(i64::MIN, jiff::Timestamp::as_microsecond);
    if query.regex.is_some() {
        let is_cut = scan::documents(conn, expression.as_deref(), since, &mut hits)?;
        return Ok(hits.into_answer(is_cut));
    }
    let (found, is_cut) = latest(conn, &expression.unwrap_or_default(), since)?;
    let extent = match is_cut {
        true => Extent::Latest,
        false if facets.is_empty() && request.since.is_none() => Extent::All,
        false => Extent::Selected,
    };
    hits.add_ranked(&rank::ranked(conn, query, request.kind, &found, extent)?)?;
    Ok(hits.into_answer(is_cut))
}

/// Returns the numbers of the facets that the request requires. `None` if the index lacks one of
/// them: then no document matches.
fn facets(conn: &Connection, request: &Search) -> Result<Option<Vec<i64>>, Fault> {
    let wanted = [
        request.workspace.as_ref().map(|workspace| Facet::workspace(workspace.as_str())),
        request.agent.as_deref().map(|agent| Facet::agent(Some(agent))),
        request.tool.as_deref().map(Facet::tool),
        request.role.map(Facet::role),
    ];
    let numbers = wanted.into_iter().flatten().map(|facet| facet.number(conn));
    numbers.collect()
}

/// Returns the latest documents that match an expression, the latest first, and whether further
/// documents match.
fn latest(conn: &Connection, expression: &str, since: i64) -> Result<(Vec<i64>, bool), Fault> {
    let dated = "AND (SELECT ts FROM document WHERE number = words.rowid) >= ?2";
    let dated = if since == i64::MIN { "AND ?2 IS NOT NULL" } else { dated };
    let sql = format!(
        "SELECT rowid FROM words WHERE words MATCH ?1 {dated} ORDER BY rowid DESC LIMIT {}",
        RANKED + 1
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let found = statement.query_map((expression, since), |row| row.get(0))?;
    let mut found: Vec<_> = found.collect::<rusqlite::Result<_>>()?;
    let is_cut = found.len() > RANKED;
    found.truncate(RANKED);
    Ok((found, is_cut))
}

fn failed(fault: Fault) -> Error {
    match fault {
        Fault::Sessions(error) => error,
        Fault::Store(error) => error.into(),
        fault => forklore_store::Error::io("searching", fault).into(),
    }
}
