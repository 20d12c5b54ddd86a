//! Brings an index up to date with the sessions of a store.
//!
//! An update has two steps, each in its own transactions. The first step finds the sessions of the
//! store that changed, and marks them as pending in the index. It reads only their headers. The
//! second step reads pending sessions into the index, but only those whose family (a session and
//! all its descendants) the query is about. A query about one family therefore never reads the
//! events of another family.

use forklore_core::{Header, SessionId};
use forklore_engine::{Engine, Result as Read};
use forklore_index::state;
use forklore_store::Error;
use oxigraph::model::Quad;
use rusqlite::Connection;

use super::quads::Writer;
use super::sessions::{self, Indexed, Selection};
use super::{Index, Result};
use crate::projection::Projection;
use crate::session::Principals;
use crate::{iri, session};

/// Number of quads after which a transaction ends. A transaction ends only after a whole family, so
/// it may contain more quads.
const BATCH: usize = 100_000;

impl Index {
    /// Brings the index up to date for the sessions of a selection. Returns the epoch of the index
    /// (how often it was emptied), and how many sessions were read.
    pub(crate) fn update(&mut self, engine: &Engine, selection: &Selection) -> Result<(i64, u64)> {
        self.0.follow(engine.store(), note_changes)?;
        let epoch = state(self.0.conn())?.epoch;
        let mut roots = sessions::pending_roots(self.0.conn(), selection)?.into_iter().peekable();
        let mut read = 0;
        while roots.peek().is_some() {
            read += self.0.write(|conn| {
                let (mut writer, mut read) = (Writer::new(conn), 0);
                while writer.count() < BATCH
                    && let Some(root) = roots.next()
                {
                    read += Family { engine, writer: &mut writer }.update(&root)?;
                }
                Ok(read)
            })?;
        }
        Ok((epoch, read))
    }
}

/// Records that sessions changed.
fn note_changes(conn: &Connection, headers: &[Header]) -> Result<()> {
    let mut writer = Writer::new(conn);
    headers.iter().try_for_each(|header| sessions::note_change(&mut writer, header))
}

/// An update of one family, which reads the pending sessions of the family into the index.
struct Family<'a, 'c> {
    engine: &'a Engine,
    writer: &'a mut Writer<'c>,
}

impl Family<'_, '_> {
    /// Brings the index up to date with a family. Returns how many sessions were read.
    fn update(&mut self, root: &SessionId) -> Result<u64> {
        let pending = sessions::pending(self.writer.conn, root)?;
        let ids: Vec<_> = pending.iter().map(|indexed| indexed.id.clone()).collect();
        let headers = self.headers(&ids)?;
        let mut read = headers.len();
        if self.must_begin_anew(&pending, &headers)? {
            let all = self.headers(&sessions::family(self.writer.conn, root)?)?;
            read = all.len();
            for header in &all {
                self.writer.clear_graph(iri::session(&header.id).as_ref())?;
            }
            self.put_all(Projection::of(self.engine, all.clone()))?;
            all.iter().try_for_each(|header| self.note_indexed(header))?;
        } else {
            for (indexed, header) in pending.iter().zip(&headers) {
                self.replace(indexed, header)?;
                self.note_indexed(header)?;
            }
        }
        Ok(u64::try_from(read).unwrap_or(u64::MAX))
    }

    /// Returns the current headers of sessions.
    ///
    /// # Errors
    /// `missing_ancestor` if the parent of one of them is missing. Without an ancestor, a graph
    /// contains only a part of some histories, and would answer queries about them wrongly.
    fn headers(&self, ids: &[SessionId]) -> Result<Vec<Header>> {
        let headers = self.engine.store().headers(ids)?;
        let headers = headers.into_iter().collect::<Result<Vec<_>, Error>>()?;
        for header in &headers {
            if let Some(parent) = &header.parent_id
                && !sessions::exists(self.writer.conn, parent)?
            {
                let missing = format!("its parent {parent}");
                return Err(Error::MissingAncestor { session: header.id.clone(), missing }.into());
            }
        }
        Ok(headers)
    }

    /// Checks whether the whole family must be read again. That is necessary if a session was
    /// deleted or brought back from the trash, and the session has children or deleted ancestors. A
    /// projection may then put the inherited events into the graph of another session.
    fn must_begin_anew(&self, pending: &[Indexed], headers: &[Header]) -> Result<bool> {
        let conn = self.writer.conn;
        for (indexed, header) in pending.iter().zip(headers) {
            if header.deleted.is_some() != indexed.deleted
                && (sessions::has_children(conn, &header.id)?
                    || !sessions::buried_ancestors(conn, header)?.is_empty())
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Brings the quads of a session up to date. If the quads of its other events are still
    /// correct, adds only the quads of its new events. Otherwise replaces all its quads.
    fn replace(&mut self, indexed: &Indexed, header: &Header) -> Result<()> {
        let same = indexed.label.as_deref() == Some(header.label.as_str())
            && indexed.deleted == header.deleted.is_some();
        if same && let Some(events) = indexed.events.filter(|events| *events <= header.own_events) {
            return self.grow(events, header);
        }
        self.writer.clear_graph(iri::session(&header.id).as_ref())?;
        // Without the deleted ancestors of the session, its projection would lack the events that
        // only this session still inherits.
        let buried = sessions::buried_ancestors(self.writer.conn, header)?;
        let mut headers = self.headers(&buried)?;
        headers.push(header.clone());
        self.put_all(Projection::of(self.engine, headers))
    }

    /// Replaces the quads of a session's header, and adds those of its new events. The index
    /// contains the first `events` of the session's own events.
    fn grow(&mut self, events: u64, header: &Header) -> Result<()> {
        let graph = iri::session(&header.id);
        for subject in [&graph, &iri::agent(&header.id)] {
            self.writer.clear_subject(subject.as_ref(), graph.as_ref())?;
        }
        let mut out = Vec::new();
        let usage = Projection::usage(self.engine, header)?;
        session::describe(header, usage, &mut Principals::new(), &mut out);
        self.put(&out)?;
        if header.deleted.is_some() || events == header.own_events {
            return Ok(());
        }
        self.put_all(Projection::since(self.engine, header.clone(), events)?)
    }

    fn put_all(&mut self, quads: impl Iterator<Item = Read<Vec<Quad>>>) -> Result<()> {
        for some in quads {
            self.put(&some?)?;
        }
        Ok(())
    }

    fn put(&mut self, quads: &[Quad]) -> Result<()> {
        quads.iter().try_for_each(|quad| self.writer.put(quad))
    }

    fn note_indexed(&self, header: &Header) -> Result<()> {
        sessions::note_indexed(self.writer.conn, header)
    }
}
