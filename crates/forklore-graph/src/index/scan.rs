//! Finds the quads of an index that match a pattern.
//!
//! A scan reads the quads in pages. A page begins after the last quad of the previous page. A scan
//! therefore needs no open SQL statement, and little memory, however many quads match.

use std::collections::VecDeque;
use std::rc::Rc;

use rusqlite::Connection;

use super::Result;
use super::dataset::Snapshot;

/// The number of quads in the first page, in the second, and in each later one. Most scans find few
/// quads.
const PAGES: [i64; 3] = [16, 256, 2_048];
/// Number of subjects in each page when the subjects of a graph are listed.
const SUBJECTS: i64 = 256;

/// The numbers of the subject, the predicate, the object and the graph of a quad.
pub(super) type Numbers = [i64; 4];

/// A pattern that quads must match. Each field is the number of a term, or `None` if any term
/// matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pattern {
    pub(super) s: Option<i64>,
    pub(super) p: Option<i64>,
    pub(super) o: Option<i64>,
    pub(super) g: Option<i64>,
}

/// An iterator over the quads of an index that match a pattern.
pub(super) struct Scan {
    snapshot: Rc<Snapshot>,
    parts: Parts,
    part: Option<Part>,
}

/// The patterns into which a scan splits its pattern. For each of them, an index of SQLite finds
/// the quads.
enum Parts {
    List(VecDeque<Pattern>),
    /// One pattern for each subject of these graphs.
    Subjects {
        pattern: Pattern,
        graphs: VecDeque<i64>,
        found: VecDeque<i64>,
    },
}

/// The pattern that is being read, the last quad that was read from the table, and the quads of the
/// current page.
struct Part {
    pattern: Pattern,
    last: Numbers,
    pages: usize,
    is_last: bool,
    page: VecDeque<Numbers>,
}

impl Pattern {
    /// Checks the object and the graph of a quad, because not every SQL statement of a scan does
    /// so.
    fn matches(&self, [_, _, o, g]: Numbers) -> bool {
        self.o.is_none_or(|object| object == o) && self.g.is_none_or(|graph| graph == g)
    }
}

impl Scan {
    pub(super) fn new(snapshot: Rc<Snapshot>, pattern: Pattern) -> Self {
        Self { parts: Parts::of(&snapshot, pattern), snapshot, part: None }
    }

    /// Returns a scan that finds nothing.
    pub(super) fn empty(snapshot: Rc<Snapshot>) -> Self {
        Self { snapshot, parts: Parts::List(VecDeque::new()), part: None }
    }

    fn advance(&mut self) -> Result<Option<Numbers>> {
        loop {
            let Some(part) = &mut self.part else {
                let Some(pattern) = self.parts.next(&self.snapshot)? else { return Ok(None) };
                self.part = Some(Part::of(pattern));
                continue;
            };
            match part.advance(&self.snapshot)? {
                Some(quad) if part.pattern.matches(quad) && self.snapshot.contains(quad) => {
                    return Ok(Some(quad));
                }
                Some(_) => {}
                None => self.part = None,
            }
        }
    }
}

impl Iterator for Scan {
    type Item = Result<Numbers>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.advance();
        if next.is_err() {
            (self.parts, self.part) = (Parts::List(VecDeque::new()), None);
        }
        next.transpose()
    }
}

impl Parts {
    /// Splits a pattern into patterns that can be read fast.
    fn of(snapshot: &Snapshot, pattern: Pattern) -> Self {
        let Pattern { s, p, o, g } = pattern;
        if s.is_some() {
            return Self::List([pattern].into());
        }
        // In all graphs together, a type is the object of many quads. Any other object is in few
        // quads.
        let is_selective = o.is_some() && !(p.is_some() && p == snapshot.rdf_type());
        let graphs = match (g, snapshot.graphs()) {
            (Some(graph), _) => Some([graph].into()),
            (None, Some(graphs)) if !is_selective => Some(graphs.iter().copied().collect()),
            (None, _) => None,
        };
        match graphs {
            Some(graphs) => Self::Subjects { pattern, graphs, found: VecDeque::new() },
            None if p.is_none() && o.is_some() => {
                let predicates = snapshot.predicates().iter();
                Self::List(predicates.map(|p| Pattern { p: Some(*p), ..pattern }).collect())
            }
            None => Self::List([pattern].into()),
        }
    }

    fn next(&mut self, snapshot: &Snapshot) -> Result<Option<Pattern>> {
        let (pattern, graphs, found) = match self {
            Self::List(patterns) => return Ok(patterns.pop_front()),
            Self::Subjects { pattern, graphs, found } => (pattern, graphs, found),
        };
        loop {
            let Some(graph) = graphs.front().copied() else { return Ok(None) };
            if found.is_empty() {
                *found = subjects(snapshot.conn(), graph, pattern.s.unwrap_or(i64::MIN))?;
            }
            match found.pop_front() {
                Some(subject) => {
                    pattern.s = Some(subject);
                    return Ok(Some(Pattern { g: Some(graph), ..*pattern }));
                }
                None => {
                    graphs.pop_front();
                    pattern.s = None;
                }
            }
        }
    }
}

/// Returns some subjects of a graph: those with the lowest numbers above `last`.
fn subjects(conn: &Connection, graph: i64, last: i64) -> Result<VecDeque<i64>> {
    let sql = "SELECT s FROM subject WHERE g = ? AND s > ? ORDER BY s LIMIT ?";
    let mut statement = conn.prepare_cached(sql)?;
    let found = statement.query_map((graph, last, SUBJECTS), |row| row.get(0))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

impl Part {
    fn of(pattern: Pattern) -> Self {
        let last = [i64::MIN; 4];
        Self { pattern, last, pages: 0, is_last: false, page: VecDeque::new() }
    }

    fn advance(&mut self, snapshot: &Snapshot) -> Result<Option<Numbers>> {
        if self.page.is_empty() && !self.is_last {
            self.read_page(snapshot)?;
        }
        Ok(self.page.pop_front())
    }

    fn read_page(&mut self, snapshot: &Snapshot) -> Result<()> {
        snapshot.renew();
        let Pattern { s, p, o, .. } = self.pattern;
        let [last_s, last_p, last_o, last_g] = self.last;
        let limit = PAGES.get(self.pages).or(PAGES.last()).copied().unwrap_or(1);
        let mut statement = snapshot.conn().prepare_cached(sql(&self.pattern))?;
        let found = statement
            .query_map((s, p, o, last_s, last_p, last_o, last_g, limit), |row| {
                Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
            })?;
        for quad in found {
            self.last = quad?;
            self.page.push_back(self.last);
        }
        self.is_last = i64::try_from(self.page.len()).is_ok_and(|found| found < limit);
        self.pages += 1;
        Ok(())
    }
}

/// Returns the SQL statement that reads a page of the quads that match a pattern. Its parameters
/// are the subject, predicate and object of the pattern, the last quad of the previous page, and
/// the maximum number of quads. All statements have the same number of parameters.
fn sql(pattern: &Pattern) -> &'static str {
    match (pattern.s.is_some(), pattern.p.is_some(), pattern.o.is_some()) {
        (true, true, true) => {
            "SELECT s, p, o, g FROM quad WHERE s = ?1 AND p = ?2 AND o = ?3 AND g > ?7
             ORDER BY g LIMIT ?8"
        }
        (true, true, false) => {
            "SELECT s, p, o, g FROM quad WHERE s = ?1 AND p = ?2 AND (o, g) > (?6, ?7)
             ORDER BY o, g LIMIT ?8"
        }
        // A subject has few quads, so this reads all of them. `Pattern::matches` then checks the
        // object.
        (true, false, _) => {
            "SELECT s, p, o, g FROM quad WHERE s = ?1 AND (p, o, g) > (?5, ?6, ?7)
             ORDER BY p, o, g LIMIT ?8"
        }
        (false, true, true) => {
            "SELECT s, p, o, g FROM quad INDEXED BY quad_by_predicate
             WHERE p = ?2 AND o = ?3 AND (s, g) > (?4, ?7) ORDER BY s, g LIMIT ?8"
        }
        (false, true, false) => {
            "SELECT s, p, o, g FROM quad INDEXED BY quad_by_predicate
             WHERE p = ?2 AND (o, s, g) > (?6, ?4, ?7) ORDER BY o, s, g LIMIT ?8"
        }
        // Patterns with only an object are split by predicates.
        (false, false, _) => {
            "SELECT s, p, o, g FROM quad WHERE (s, p, o, g) > (?4, ?5, ?6, ?7)
             ORDER BY s, p, o, g LIMIT ?8"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_found_by_an_index_and_in_its_order() {
        let conn = Connection::open_in_memory().unwrap();
        super::super::LAYOUT.make(&conn).unwrap();
        for bits in 0..8 {
            let bound = |bit: i64| (bits & bit != 0).then_some(1);
            let pattern = Pattern { s: bound(1), p: bound(2), o: bound(4), g: None };
            let sql = format!("EXPLAIN QUERY PLAN {}", sql(&pattern));
            let mut statement = conn.prepare(&sql).unwrap();
            let plan =
                statement.query_map([None::<i64>; 8], |row| row.get::<_, String>(3)).unwrap();
            let plan: Vec<_> = plan.map(Result::unwrap).collect();
            let is_search = plan.len() == 1 && plan[0].starts_with("SEARCH quad USING");
            assert!(is_search, "{pattern:?}: {plan:?}");
        }
    }
}
