//! Turns documents of the index into hits: reads their text from the store, and finds the sessions
//! whose history contains them.

use std::collections::HashMap;
use std::rc::Rc;

use forklore_api::{Hit, HitBranch, HitKind, Search};
use forklore_core::report::Problem;
use forklore_core::workspace::Workspace;
use forklore_core::{ErrorKind, Label, SessionId};
use forklore_engine::Engine;
use forklore_index::{Fault, Result};
use forklore_store::Error as StoreError;
use forklore_store::port::{At, Direction, LogEntry, Query as Read};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row};

use crate::branches::Family;
use crate::document::Document;
use crate::documents::{FORKLORE, SessionPart};
use crate::matches;
use crate::paths::absolute;
use crate::query::Query;
use crate::sessions::id;
use crate::snippet::snippet;

/// The maximum number of events that one read of the store returns.
const PAGE: usize = 64;

/// The hits of an answer, while they are collected.
pub(crate) struct Hits<'a> {
    engine: &'a Engine,
    conn: &'a Connection,
    request: &'a Search,
    query: &'a Query,
    limit: usize,
    /// The path that the tool calls must name, if the request is a blame.
    path: Option<String>,
    families: HashMap<String, Rc<Family>>,
    hits: Vec<Hit>,
    problems: Vec<Problem>,
}

/// The hits of a search, whether there are more, and the problems that occurred.
pub(crate) struct Answer {
    pub(crate) hits: Vec<Hit>,
    /// Whether there may be further hits.
    pub(crate) more: bool,
    /// The problems of events that could not be read.
    pub(crate) problems: Vec<Problem>,
    /// The size of the payloads that were not searched, in bytes. `None` if all were searched.
    pub(crate) unread: Option<u64>,
}

/// A document that matches a query, with its score. A larger score is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) document: i64,
    pub(crate) score: f64,
}

/// A document as the index stores it, without its text.
#[derive(Clone, Debug)]
pub(crate) struct DocumentRow {
    session: i64,
    part: SessionPart,
    ordinal: u64,
    seq: u64,
    index: u64,
    ts: i64,
    tool: Option<String>,
}

/// What a hit shows of a session, as the index stores it.
struct Shown {
    number: i64,
    id: SessionId,
    root: String,
    label: String,
    title: Option<String>,
    workspace: String,
    agent: Option<String>,
    is_deleted: bool,
    copy_of: Option<String>,
    copy_index: u64,
}

impl DocumentRow {
    /// Returns the document with this number. `None` if the index has no such document.
    pub(crate) fn of(conn: &Connection, document: i64) -> Result<Option<Self>> {
        let sql = "SELECT session, part, ordinal, seq, position, ts,
            (SELECT value FROM facet WHERE number = tool) FROM document WHERE number = ?";
        let number =
            |row: &Row<'_>, at| Ok::<_, rusqlite::Error>(row.get::<_, i64>(at)?.unsigned_abs());
        let found = conn.prepare_cached(sql)?.query_row([document], |row| {
            Ok(Self {
                session: row.get(0)?,
                part: SessionPart::of(row.get(1)?),
                ordinal: number(row, 2)?,
                seq: number(row, 3)?,
                index: number(row, 4)?,
                ts: row.get(5)?,
                tool: row.get(6)?,
            })
        });
        Ok(found.optional()?)
    }

    /// Checks whether the document consists of the title and the label of a session.
    fn is_head(&self) -> bool {
        self.part == SessionPart::Head
    }

    /// Checks whether the document was written at the time `since`, in microseconds, or later.
    pub(crate) fn is_since(&self, since: i64) -> bool {
        self.ts >= since
    }

    /// Returns the seq of the document's event in the session with this number. In a session that
    /// inherits the event, the seq equals the ordinal (the number of inheritable events up to the
    /// event).
    pub(crate) fn seq_in(&self, session: i64) -> u64 {
        if session == self.session { self.seq } else { self.ordinal }
    }
}

impl Shown {
    const COLUMNS: &'static str =
        "number, id, root, label, title, workspace, agent, deleted, copy_of, copy_index";

    fn find(conn: &Connection, condition: &str, value: impl rusqlite::ToSql) -> Result<Self> {
        let sql = format!("SELECT {} FROM session WHERE {condition}", Self::COLUMNS);
        let mut statement = conn.prepare_cached(&sql)?;
        let mut rows = statement.query([value])?;
        let row = rows.next()?.ok_or(Fault::Damaged("the session of a document is missing"))?;
        Ok(Self {
            number: row.get(0)?,
            id: id(&row.get::<_, String>(1)?)?,
            root: row.get(2)?,
            label: row.get(3)?,
            title: row.get(4)?,
            workspace: row.get(5)?,
            agent: row.get(6)?,
            is_deleted: row.get(7)?,
            copy_of: row.get(8)?,
            copy_index: row.get::<_, Option<i64>>(9)?.unwrap_or(0).unsigned_abs(),
        })
    }
}

impl<'a> Hits<'a> {
    pub(crate) fn new(
        engine: &'a Engine,
        conn: &'a Connection,
        request: &'a Search,
        query: &'a Query,
        limit: usize,
    ) -> Self {
        let (path, families, hits, problems) = <_>::default();
        Self { engine, conn, request, query, limit, path, families, hits, problems }
    }

    /// Makes each hit name the tool whose call names the file `path`.
    pub(crate) fn of_path(mut self, path: String) -> Self {
        self.path = Some(path);
        self
    }

    /// Reads the event at `seq` and events before it, in descending order of seq. If that fails,
    /// reads only the event at `seq`. Returns no event if the session is gone or its data is
    /// damaged.
    pub(crate) fn page(&mut self, session: &SessionId, seq: u64) -> Result<Vec<LogEntry>> {
        let mut limit = PAGE;
        loop {
            let (at, direction) = (At::Seq(seq), Direction::Backward);
            let query = Read { at, direction, limit, bare: false };
            match self.engine.store().read(session, &query) {
                Ok(page) => return Ok(page.events),
                // An earlier event of the page may be damaged.
                Err(_) if limit > 1 => limit = 1,
                Err(error) => {
                    self.note(session, &error).ok_or(error)?;
                    return Ok(Vec::new());
                }
            }
        }
    }

    /// Returns the texts of an event by their kinds.
    pub(crate) fn document(&self, entry: &LogEntry) -> Document {
        Document::of(self.engine, &entry.event)
    }

    /// Checks whether more hits were found than the answer may have.
    pub(crate) fn is_full(&self) -> bool {
        self.hits.len() > self.limit
    }

    /// Returns the answer. `is_cut` states whether some documents were not examined.
    pub(crate) fn into_answer(mut self, is_cut: bool) -> Answer {
        let more = self.is_full() || is_cut;
        self.hits.truncate(self.limit);
        Answer { hits: self.hits, more, problems: self.problems, unread: None }
    }

    /// Records that an event could not be read. If the session was deleted meanwhile, records
    /// nothing. Returns `None` if the error concerns more than this event.
    pub(crate) fn note(&mut self, session: &SessionId, error: &StoreError) -> Option<()> {
        match error.kind() {
            ErrorKind::NotFound => Some(()),
            ErrorKind::Corrupt | ErrorKind::MissingAncestor => {
                let problem = error.problem(Some(session));
                if !self.problems.contains(&problem) {
                    self.problems.push(problem);
                }
                Some(())
            }
            _ => None,
        }
    }

    /// Adds the document with this number as a hit with the score 0.
    pub(crate) fn add_document(&mut self, document: i64) -> Result<()> {
        match DocumentRow::of(self.conn, document)? {
            Some(row) => self.add(&row, 0.0, None),
            None => Ok(()),
        }
    }

    /// Adds the documents as hits until the answer is full. In `ranked`, the best document is
    /// first.
    pub(crate) fn add_ranked(&mut self, ranked: &[Candidate]) -> Result<()> {
        for candidate in ranked {
            if self.is_full() {
                break;
            }
            if let Some(row) = DocumentRow::of(self.conn, candidate.document)? {
                self.add(&row, candidate.score, None)?;
            }
        }
        // The numbers of documents follow the order in which they were read, which is not exactly
        // the order of their times.
        self.hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.ts.cmp(&a.ts)));
        Ok(())
    }

    /// Returns a session in whose log a document's event can be read, and the event's seq there.
    /// `None` if the document is not an event, or if no session has the event any more.
    pub(crate) fn source(&mut self, row: &DocumentRow) -> Result<Option<(SessionId, u64)>> {
        if row.is_head() {
            return Ok(None);
        }
        let writer = Shown::find(self.conn, "number = ?", row.session)?;
        if !writer.is_deleted {
            return Ok(Some((writer.id, row.seq)));
        }
        let (branches, _) = self.branches(row, &writer)?;
        Ok(branches.into_iter().next().map(|first| (first.session_id, row.ordinal)))
    }

    /// Checks whether the text of a document matches the regular expression. `document` contains
    /// the texts of the document's event. `document` is `None` for a title and label, and for an
    /// event that cannot be read.
    pub(crate) fn matches(&self, row: &DocumentRow, document: Option<&Document>) -> Result<bool> {
        let (_, _, found) = match document {
            Some(document) => {
                matches::best(self.request.kind, |kind| document.text_of(kind), self.query)
            }
            None if row.is_head() => {
                let shown = Shown::find(self.conn, "number = ?", row.session)?;
                let (kind, _, found) =
                    matches::best(self.request.kind, |kind| shown.text_of(kind), self.query);
                (kind, "", found)
            }
            None => return Ok(false),
        };
        Ok(found.has_regex)
    }

    /// Adds a document as a hit. `entry` is the document's event, if it was already read.
    pub(crate) fn add(
        &mut self,
        row: &DocumentRow,
        score: f64,
        entry: Option<(Document, LogEntry)>,
    ) -> Result<()> {
        let writer = Shown::find(self.conn, "number = ?", row.session)?;
        let (branches, branch_count) = self.branches(row, &writer)?;
        // No session has the event any more.
        let Some(first) = branches.first() else { return Ok(()) };
        let copy_of = copied_from(row, &writer)?;
        if let Some(original) = &copy_of
            && self.has_original(original, row)?
        {
            return Ok(());
        }
        let shown = if writer.is_deleted {
            Shown::find(self.conn, "id = ?", first.session_id.as_str())?
        } else {
            writer
        };
        let read = match entry {
            _ if row.is_head() => None,
            Some(entry) => Some(entry),
            None => match self.read(row, &shown)? {
                Some(entry) => Some(entry),
                // The session was deleted meanwhile.
                None => return Ok(()),
            },
        };
        let mut hit = match read {
            Some((document, entry)) => self.message(row, shown, &document, entry)?,
            None => self.head(row, shown)?,
        };
        (hit.branches, hit.branch_count, hit.copy_of, hit.score) =
            (branches, branch_count, copy_of, score);
        self.hits.push(hit);
        Ok(())
    }

    fn branches(&mut self, row: &DocumentRow, writer: &Shown) -> Result<(Vec<HitBranch>, u64)> {
        if row.is_head() {
            if writer.is_deleted {
                return Ok((Vec::new(), 0));
            }
            let (session_id, label) = (writer.id.clone(), label(&writer.label)?);
            return Ok((vec![HitBranch { session_id, label }], 1));
        }
        let family = match self.families.get(&writer.root) {
            Some(family) => Rc::clone(family),
            None => {
                let family = Rc::new(Family::of(self.conn, &writer.root)?);
                self.families.insert(writer.root.clone(), Rc::clone(&family));
                family
            }
        };
        Ok(family.branches(row.session, row.ordinal))
    }

    /// Checks whether the index also has the original of a copied message, in a session that the
    /// search covers. If it has, only the original is a hit.
    fn has_original(&self, original: &SessionId, row: &DocumentRow) -> Result<bool> {
        let sql = "SELECT 1 FROM session JOIN document ON session = session.number
            WHERE id = ?1 AND NOT deleted AND (?2 IS NULL OR workspace = ?2)
            AND part = ?4 AND position = ?3";
        let workspace = self.request.workspace.as_ref().map(Workspace::as_str);
        let index = crate::sessions::integer(row.index);
        Ok(self.conn.prepare_cached(sql)?.exists((
            original.as_str(),
            workspace,
            index,
            row.part.number(),
        ))?)
    }

    /// Reads the event of a document. Returns `None` if the event cannot be read.
    fn read(&mut self, row: &DocumentRow, shown: &Shown) -> Result<Option<(Document, LogEntry)>> {
        let at = At::Seq(row.seq_in(shown.number));
        let query = Read { at, direction: Direction::Forward, limit: 1, bare: false };
        match self.engine.store().read(&shown.id, &query) {
            Ok(mut page) => Ok(page.events.pop().map(|entry| {
                let document = self.document(&entry);
                (document, entry)
            })),
            Err(error) => match self.note(&shown.id, &error) {
                Some(()) => Ok(None),
                None => Err(error.into()),
            },
        }
    }

    /// Builds the hit of a message.
    fn message(
        &self,
        row: &DocumentRow,
        shown: Shown,
        document: &Document,
        entry: LogEntry,
    ) -> Result<Hit> {
        let (kind, text, matches) =
            matches::best(self.request.kind, |kind| document.text_of(kind), self.query);
        let names_tool = matches!(kind, HitKind::Call | HitKind::Result);
        let wanted = self.request.tool.as_ref();
        let of_path = self.path.as_ref().and_then(|path| {
            let mut named = document.paths.iter();
            named.find(|(_, named)| absolute(&shown.workspace, named) == *path)
        });
        let named = of_path.map(|(tool, _)| tool).or_else(|| {
            let is_wanted = |tool: &&String| wanted.is_some_and(|it| it.eq_ignore_ascii_case(tool));
            document.tools.iter().find(is_wanted)
        });
        let tool = named.or(document.tools.first()).cloned().or_else(|| row.tool.clone());
        let turn = Some(entry.counts.turns).filter(|turn| *turn > 0);
        let agent = entry.event.dialect.as_deref().unwrap_or(FORKLORE).to_owned();
        Ok(Hit {
            event_id: Some(entry.event.id),
            seq: Some(entry.seq),
            index: Some(row.index).filter(|_| row.part == SessionPart::Event),
            turn,
            role: document.role,
            tool: tool.filter(|_| names_tool),
            agent,
            snippet: snippet(text, &matches.ranges),
            kind,
            ..shown.hit(row.ts)?
        })
    }

    /// Builds the hit of a title or a label.
    fn head(&self, row: &DocumentRow, shown: Shown) -> Result<Hit> {
        let (kind, text, matches) =
            matches::best(self.request.kind, |kind| shown.text_of(kind), self.query);
        let snippet = snippet(text, &matches.ranges);
        Ok(Hit { kind, snippet, ..shown.hit(row.ts)? })
    }
}

impl Shown {
    /// Returns the session's title or label. Returns an empty text for the label `main`, which is not
    /// indexed.
    fn text_of(&self, kind: HitKind) -> &str {
        match kind {
            HitKind::Title => self.title.as_deref().unwrap_or_default(),
            HitKind::Label if self.label != Label::main().as_str() => &self.label,
            _ => "",
        }
    }

    /// Builds a hit with the facts about its session. The caller sets the other fields.
    fn hit(self, ts: i64) -> Result<Hit> {
        let ts = Timestamp::from_microsecond(ts);
        Ok(Hit {
            session_id: self.id,
            event_id: None,
            seq: None,
            index: None,
            turn: None,
            kind: HitKind::Title,
            role: None,
            tool: None,
            ts: ts.map_err(|_| Fault::Damaged("a document has an impossible time"))?,
            label: label(&self.label)?,
            title: self.title,
            workspace: Workspace::new(&self.workspace),
            agent: self.agent.unwrap_or_else(|| FORKLORE.to_owned()),
            snippet: <_>::default(),
            score: 0.0,
            branches: Vec::new(),
            branch_count: 0,
            copy_of: None,
        })
    }
}

fn label(text: &str) -> Result<Label> {
    text.parse().map_err(|_| Fault::Damaged("a session has an impossible label"))
}

/// Returns the session from which a message was copied. Returns `None` if the message is not in the
/// repeated part of a copy.
fn copied_from(row: &DocumentRow, writer: &Shown) -> Result<Option<SessionId>> {
    let is_copied = !row.is_head() && row.index < writer.copy_index;
    writer.copy_of.as_deref().filter(|_| is_copied).map(id).transpose()
}
