//! Lists session headers, most recently updated first. It reads only a few more headers than
//! requested.

use std::collections::BTreeSet;

use forklore_core::Header;
use forklore_store::port::{Cursor, Filter};
use rusqlite::{Connection, ToSql, params_from_iter};

use crate::append::FRESH;
use crate::fault::{Fault, Result};
use crate::segment::Segment;
use crate::session::{self, Session};

type Values = Vec<Box<dyn ToSql>>;

/// Returns the session headers that match `filter` and come after the cursor `after`. Returns at
/// most `limit`, or all if `limit` is 0. Also returns one fault for each header that cannot be
/// read.
pub(crate) fn list(
    conn: &Connection,
    filter: &Filter,
    after: Option<&Cursor>,
    limit: usize,
) -> Result<(Vec<Header>, Vec<Fault>)> {
    match scan_with_lost_kin(conn, filter, after, limit) {
        Err(fault) if fault.is_of_the_file() => {
            let (headers, mut damaged) = one_by_one(conn, filter, after, limit)?;
            damaged.push(fault);
            Ok((headers, damaged))
        }
        done => done,
    }
}

/// Lists the sessions of a damaged file in which SQLite cannot scan the table or an index
/// completely. Collects session numbers from partial scans of the table and of its indexes, and
/// then reads each session by its number. The parameters and the result are those of [`list`].
fn one_by_one(
    conn: &Connection,
    filter: &Filter,
    after: Option<&Cursor>,
    limit: usize,
) -> Result<(Vec<Header>, Vec<Fault>)> {
    let ways = [
        "SELECT sid FROM session NOT INDEXED ORDER BY sid",
        "SELECT sid FROM session NOT INDEXED ORDER BY sid DESC",
        "SELECT sid FROM session INDEXED BY session_family",
        "SELECT sid FROM session INDEXED BY session_recent",
    ];
    let mut sids = BTreeSet::new();
    for way in ways {
        // If this scan fails at some row, another one may reach the rows after it.
        let Ok(mut statement) = conn.prepare_cached(way) else { continue };
        let Ok(rows) = statement.query_map([], |row| row.get::<_, Segment>(0)) else { continue };
        sids.extend(rows.map_while(std::result::Result::ok));
    }
    let mut found = Found { headers: Vec::new(), limit };
    let mut damaged = Vec::new();
    for sid in sids {
        match session::numbered_or_by_id(conn, sid) {
            Ok(Session { header, .. }) => {
                if filter.matches(&header) && after.is_none_or(|cursor| cursor.is_before(&header)) {
                    found.insert(header);
                }
            }
            Err(fault) if fault.is_of_one_row() || fault.is_of_the_file() => damaged.push(fault),
            Err(fault) => return Err(fault),
        }
    }
    Ok((found.in_order(), damaged))
}

/// Scans like [`scan`]. If the row of the parent or root that `filter` names is lost, still finds
/// the children of that parent or the family of that root.
fn scan_with_lost_kin(
    conn: &Connection,
    filter: &Filter,
    after: Option<&Cursor>,
    limit: usize,
) -> Result<(Vec<Header>, Vec<Fault>)> {
    let found = scan(conn, filter, after, limit, false)?;
    let none = found.0.is_empty() && found.1.is_empty();
    match filter.parent.as_ref().or(filter.family.as_ref()).filter(|_| none) {
        Some(kin) if session::number_of(conn, kin)?.is_none() => {
            scan(conn, filter, after, limit, true)
        }
        _ => Ok(found),
    }
}

/// Scans the table of sessions. If `lost` is true, looks at all sessions whose parent or root has
/// no row, because the row of the parent or root that `filter` names is lost.
fn scan(
    conn: &Connection,
    filter: &Filter,
    after: Option<&Cursor>,
    limit: usize,
    lost: bool,
) -> Result<(Vec<Header>, Vec<Fault>)> {
    let (sql, values) = query(filter, after, lost);
    // The query returns the sessions of a family unsorted, but a family is small. Other results are
    // nearly in the order of the list.
    let ordered = filter.family.is_none() && filter.parent.is_none();
    let mut found = Found { headers: Vec::new(), limit };
    let mut damaged = Vec::new();
    let mut statement = conn.prepare_cached(&session::select(&sql))?;
    let mut rows = statement.query(params_from_iter(values.iter()))?;
    while let Some(row) = rows.next()? {
        let session = match session::read(conn, row, true) {
            Ok(session) => session,
            // Some columns may come from a damaged index. Read the session again from its row,
            // which is authoritative.
            Err(fault) if fault.is_of_one_row() => {
                match session::numbered_or_by_id(conn, row.get(0)?) {
                    Ok(session) => session,
                    Err(_) => {
                        damaged.push(fault);
                        continue;
                    }
                }
            }
            Err(fault) => return Err(fault),
        };
        let bound = Cursor { updated: session.fresh_until, id: session.header.id.clone() };
        if ordered && found.ends_before(&bound) {
            break;
        }
        let header = session.header;
        if filter.matches(&header) && after.is_none_or(|cursor| cursor.is_before(&header)) {
            found.insert(header);
        }
    }
    Ok((found.in_order(), damaged))
}

/// The headers found so far: at most `limit` in the order of the list, or if `limit` is 0, all in any
/// order.
struct Found {
    headers: Vec<Header>,
    limit: usize,
}

impl Found {
    fn insert(&mut self, header: Header) {
        // Each insertion would move the headers behind it, and there may be very many.
        if self.limit == 0 {
            self.headers.push(header);
            return;
        }
        let cursor = Cursor::behind(&header);
        let at = self.headers.partition_point(|other| !cursor.is_before(other));
        self.headers.insert(at, header);
        self.headers.truncate(self.limit);
    }

    fn in_order(mut self) -> Vec<Header> {
        if self.limit == 0 {
            self.headers.sort_by(|a, b| b.updated.cmp(&a.updated).then_with(|| a.id.cmp(&b.id)));
        }
        self.headers
    }

    /// Checks whether a scan of session headers may stop before its end. It may if `limit` headers
    /// were found and no remaining header belongs before them in the list. The caller ensures that
    /// no remaining header precedes the position `bound`.
    fn ends_before(&self, bound: &Cursor) -> bool {
        let full = self.limit > 0 && self.headers.len() >= self.limit;
        full && self.headers.last().is_some_and(|last| !bound.is_before(last))
    }
}

/// Returns the end of an SQL query for sessions, from `WHERE` on, with its parameters. The query
/// checks those conditions of `filter` and `after` that SQL can check on columns, and sorts. The
/// caller checks the other conditions with [`Filter::matches`]. `lost` means the same as for
/// [`scan`].
fn query(filter: &Filter, after: Option<&Cursor>, lost: bool) -> (String, Values) {
    let mut conditions = vec!["TRUE"];
    if lost {
        conditions.push(match filter.parent {
            Some(_) => "NOT EXISTS (SELECT 1 FROM session kin WHERE kin.sid = s.parent)",
            None => "NOT EXISTS (SELECT 1 FROM session kin WHERE kin.sid = s.root)",
        });
    }
    let mut values: Values = Vec::new();
    let mut add = |condition, value: Box<dyn ToSql>| {
        conditions.push(condition);
        values.push(value);
    };
    if lost {
        // `Filter::matches` compares the ids, which the sessions' first events name.
    } else if let Some(parent) = &filter.parent {
        let parent = Box::new(parent.fold());
        add("s.parent = (SELECT sid FROM session WHERE folded = ?)", parent);
    } else if let Some(root) = &filter.family {
        add("s.root = (SELECT sid FROM session WHERE folded = ?)", Box::new(root.fold()));
    } else {
        if let Some(workspace) = &filter.workspace {
            add("s.workspace = ?", Box::new(workspace.as_str().to_owned()));
        }
        if let Some(cursor) = after {
            let first = cursor.updated.checked_add(FRESH).unwrap_or(cursor.updated);
            add("s.fresh_until <= ?", Box::new(first.as_microsecond()));
        }
        if let Some(since) = filter.since {
            add("s.fresh_until >= ?", Box::new(since.as_microsecond()));
        }
    }
    if let Some(label) = &filter.label {
        add("s.label = ?", Box::new(label.as_str().to_owned()));
    }
    if let Some(part) = &filter.id_part {
        add("instr(s.id, ?) > 0", Box::new(part.clone()));
    }
    if let Some(prefix) = &filter.title_prefix {
        // SQL folds the case of ASCII letters only. `Filter::matches` compares the other titles.
        let like = "(s.title GLOB '*[^ -~]*' OR ltrim(s.title) LIKE ? ESCAPE '\\')";
        add(like, Box::new(format!("{}%", escaped(prefix.trim()))));
    }
    if filter.trash {
        conditions.push("s.deleted IS NOT NULL AND s.kept_to IS NULL");
    } else if !filter.deleted {
        conditions.push("s.deleted IS NULL");
    }
    let ordered = filter.family.is_none() && filter.parent.is_none();
    let order = if ordered { " ORDER BY s.fresh_until DESC, s.id" } else { "" };
    (format!("WHERE {}{order}", conditions.join(" AND ")), values)
}

/// Escapes the characters that have a meaning in the pattern of `LIKE`.
fn escaped(text: &str) -> String {
    text.replace('\\', r"\\").replace('%', r"\%").replace('_', r"\_")
}
