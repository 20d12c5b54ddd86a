//! A store that shows what writes would do to another store, without doing it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use forklore_core::{Header, Label, OpenCalls, SessionId};
use jiff::Timestamp;

use super::session::{Entry, Session};
use super::sources::{StoredSource, fits};
use super::state::State;
use crate::attachments::Attachments;
use crate::error::{Error, Result};
use crate::port::{
    At, Capabilities, Change, Changes, Committed, Cursor, Direction, Filter, Headers, Page, Query,
    Since, Store, Transaction, Verification, Write,
};
use crate::rules::{check_attachments, note_source_write};
use crate::sources::{
    FindSource, RecordKey, RecordLocation, Source, SourceId, SourceSession, SourceSpan, SourceStep,
    Target, check_sidecar,
};

/// Number of events in one read of the base.
const PAGE: usize = 10_000;
/// The first id of a source that only the preview has. It comes after every id of the base.
const FIRST_NEW: u64 = 1 << 63;

/// A store that reads through another store, its base, and keeps its own writes in memory. The base
/// never changes. Dropping the preview discards its writes.
///
/// Use it to run an operation that writes, such as an import, only to show its result. A preview
/// deletes no session and records no operation. Its feed and its attachments are those of the base.
pub struct Preview {
    base: Arc<dyn Store>,
    layer: Mutex<Layer>,
}

/// What a preview has in addition to its base.
#[derive(Default)]
struct Layer {
    /// The sessions that the preview created or changed, and copies of other sessions that a write
    /// had to be checked against.
    state: State,
    /// The case-folded ids of the sessions whose log is in `state`. The base has the logs of the
    /// others.
    logs: HashSet<String>,
    /// The roots of the sessions that the preview created, by case-folded id.
    roots: HashMap<String, SessionId>,
    /// The case-folded ids of all sessions of the base; `None` until they are first needed.
    in_base: Option<HashSet<String>>,
    /// The sources that the base returned.
    seen: HashMap<SourceId, Source>,
    /// The sources that the preview created or changed.
    sources: BTreeMap<SourceId, StoredSource>,
}

impl Layer {
    fn root(&self, id: &SessionId) -> Result<SessionId> {
        let created = self.roots.get(&id.fold()).cloned();
        created.map_or_else(|| Ok(self.state.get(id)?.header.root_id.clone()), Ok)
    }
}

impl Preview {
    /// Creates a preview of writes to `base`.
    #[must_use]
    pub fn over(base: Arc<dyn Store>) -> Self {
        Self { base, layer: Mutex::default() }
    }

    fn layer(&self) -> MutexGuard<'_, Layer> {
        self.layer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find_sources(&self, layer: &mut Layer, by: &FindSource) -> Result<Vec<Source>> {
        let mut found = self.base.sources(by)?;
        layer.seen.extend(found.iter().map(|source| (source.id, source.clone())));
        found.retain(|source| !layer.sources.contains_key(&source.id));
        let own = layer.sources.values().map(StoredSource::source);
        found.extend(own.filter(|source| fits(source, by)).cloned());
        found.sort_by_key(|source| std::cmp::Reverse(source.id));
        if matches!(by, FindSource::Latest(_)) {
            found.truncate(1);
        }
        Ok(found)
    }

    /// Checks that the step's source is in the state that the step expects. Returns the id of the
    /// source, and its sessions before the step.
    fn begin_step(
        &self,
        layer: &mut Layer,
        step: &SourceStep,
    ) -> Result<(SourceId, Vec<SourceSession>)> {
        if let Some(path) = &step.sidecar_of {
            let latest = self.find_sources(layer, &FindSource::Latest(path.clone()))?;
            check_sidecar(latest.first(), |id| -> Result<bool> {
                Ok(self.header_in(layer, id)?.deleted.is_some())
            })?;
        }
        let stale =
            |message: &str| Error::Stale { what: "the source".into(), message: message.into() };
        match &step.target {
            Target::New { latest, .. } => {
                let by = FindSource::Latest(step.seen.path.clone());
                let now = self.find_sources(layer, &by)?.first().map(|source| source.id);
                if now != *latest {
                    return Err(stale("the file has been read by somebody else"));
                }
                let created = layer.sources.range(SourceId(FIRST_NEW)..).count() as u64;
                Ok((SourceId(FIRST_NEW + created), Vec::new()))
            }
            Target::State { id, offset } => {
                let own = layer.sources.get(id).map(StoredSource::source);
                let source =
                    own.or_else(|| layer.seen.get(id)).ok_or_else(|| stale("it is gone"))?;
                if source.read.offset != *offset {
                    return Err(stale(&format!("it is read up to byte {}", source.read.offset)));
                }
                Ok((*id, source.sessions.clone()))
            }
        }
    }

    /// Prepares the write: copies from the base to `layer` the logs and headers that the write
    /// needs. Rejects a write that a preview does not support, and a new session whose id the base
    /// has.
    fn prepare(&self, layer: &mut Layer, write: &Write) -> Result<()> {
        match write {
            Write::Create(new) => {
                self.refuse_id_of_base(layer, &new.id)?;
                let mut root = new.id.clone();
                if let Some(from) = &new.from {
                    self.copy_log(layer, &from.parent)?;
                    root = layer.root(&from.parent)?;
                    self.copy_labelled(layer, &root, &new.label)?;
                }
                layer.logs.insert(new.id.fold());
                layer.roots.insert(new.id.fold(), root);
                Ok(())
            }
            Write::Change { change: Change::Undelete(_), .. } => {
                Err(Error::Unsupported("a preview brings nothing back".into()))
            }
            Write::Append { session, .. } | Write::Change { session, change: Change::Detach } => {
                self.copy_log(layer, session)
            }
            Write::Change { session, change } => {
                self.copy_header(layer, session)?;
                match change {
                    Change::Label(label) => {
                        let root = layer.root(session)?;
                        self.copy_labelled(layer, &root, label)
                    }
                    _ => Ok(()),
                }
            }
            Write::Remove(_) => Err(Error::Unsupported("a preview deletes nothing".into())),
            Write::Redact(_) => Err(Error::Unsupported("a preview redacts nothing".into())),
        }
    }

    fn refuse_id_of_base(&self, layer: &mut Layer, id: &SessionId) -> Result<()> {
        if layer.in_base.is_none() {
            let all = Filter { deleted: true, ..Filter::default() };
            let headers = self.base.sessions(&all, None, 0)?.sound;
            layer.in_base = Some(headers.iter().map(|header| header.id.fold()).collect());
        }
        let in_base = layer.in_base.get_or_insert_default();
        if in_base.contains(&id.fold()) { Err(Error::IdInUse(id.clone())) } else { Ok(()) }
    }

    fn copy_header(&self, layer: &mut Layer, id: &SessionId) -> Result<()> {
        // A session that an earlier write of the transaction creates is not in `state` yet.
        if layer.state.any(id).is_err() && !layer.logs.contains(&id.fold()) {
            let header = self.base.header(id)?;
            let session = Session { header, log: Vec::new(), open: OpenCalls::default() };
            layer.state.sessions.insert(id.fold(), session);
        }
        Ok(())
    }

    /// Copies from the base to `layer` the headers of the sessions that have this label in the
    /// family of `root`.
    fn copy_labelled(&self, layer: &mut Layer, root: &SessionId, label: &Label) -> Result<()> {
        let (family, label) = (Some(root.clone()), Some(label.clone()));
        let filter = Filter { family, label, ..Filter::default() };
        for header in self.base.sessions(&filter, None, 0)?.sound {
            self.copy_header(layer, &header.id)?;
        }
        Ok(())
    }

    fn copy_log(&self, layer: &mut Layer, id: &SessionId) -> Result<()> {
        if layer.logs.contains(&id.fold()) {
            return Ok(());
        }
        self.copy_header(layer, id)?;
        let (mut log, mut open) = (Vec::new(), OpenCalls::default());
        loop {
            let at = At::Seq(log.len() as u64);
            let query = Query { at, direction: Direction::Forward, limit: PAGE, bare: false };
            let page = self.base.read(id, &query)?;
            for stored in page.events {
                open.step(&stored.event.effect);
                log.push(Entry {
                    holder: stored.origin.session_id.clone(),
                    origin: stored.origin,
                    event: Arc::new(stored.event),
                    counts: stored.counts,
                });
            }
            if !page.more {
                break;
            }
        }
        let session = layer.state.get_mut(id)?;
        (session.log, session.open) = (log, open);
        layer.logs.insert(id.fold());
        Ok(())
    }

    fn header_in(&self, layer: &Layer, id: &SessionId) -> Result<Header> {
        match layer.state.any(id) {
            Ok(session) => Ok(session.header.clone()),
            Err(_) => self.base.header(id),
        }
    }

    /// Returns the number of import steps of a source that the base has.
    fn steps_in_base(&self, source: SourceId) -> Result<u64> {
        let mut steps = 0;
        while source.0 < FIRST_NEW && self.base.source_spans(source, steps)?.is_some() {
            steps += 1;
        }
        Ok(steps)
    }
}

impl Store for Preview {
    fn capabilities(&self) -> Capabilities {
        Capabilities { maintenance: false, operations: false, ..self.base.capabilities() }
    }

    fn now(&self) -> Timestamp {
        self.base.now()
    }

    fn commit(&self, transaction: Transaction) -> Result<Committed> {
        check_attachments(self.base.attachments().as_ref(), &transaction.attachments)?;
        let layer = &mut *self.layer();
        let Transaction { writes, source, attachments, .. } = transaction;
        let begun = source.as_deref().map(|step| self.begin_step(layer, step)).transpose()?;
        let (id, mut sessions) = begun.map_or((None, Vec::new()), |(id, found)| (Some(id), found));
        for write in &writes {
            self.prepare(layer, write)?;
            note_source_write(&mut sessions, write);
        }
        let transaction = Transaction { writes, attachments, ..Transaction::default() };
        let written = layer.state.commit(transaction, self.base.now())?.written;
        if let (Some(id), Some(step)) = (id, source) {
            let stored = StoredSource::new(id, &step);
            let earlier = || layer.seen.get(&id).cloned().map(StoredSource::of);
            if !layer.sources.contains_key(&id)
                && let Some(stored) = stored.or_else(earlier)
            {
                layer.sources.insert(id, stored);
            }
            if let Some(stored) = layer.sources.get_mut(&id) {
                stored.apply(*step, sessions);
            }
        }
        Ok(Committed { written, source: id, operation: None })
    }

    fn header(&self, id: &SessionId) -> Result<Header> {
        self.header_in(&self.layer(), id)
    }

    fn read(&self, id: &SessionId, query: &Query) -> Result<Page> {
        let layer = self.layer();
        if layer.logs.contains(&id.fold()) {
            return layer.state.page(id, query);
        }
        self.base.read(id, query)
    }

    fn read_in_trash(&self, id: &SessionId, query: &Query) -> Result<Page> {
        let in_layer = self.layer().logs.contains(&id.fold());
        if in_layer { self.read(id, query) } else { self.base.read_in_trash(id, query) }
    }

    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers> {
        let layer = self.layer();
        let own = &layer.state.sessions;
        // Some of the sessions of the base may have other headers here.
        let most = if limit == 0 { 0 } else { limit.saturating_add(own.len()) };
        let Headers { mut sound, damaged } = self.base.sessions(filter, after, most)?;
        sound.retain(|header| !own.contains_key(&header.id.fold()));
        let fitting = own.values().map(|session| &session.header).filter(|header| {
            filter.matches(header) && after.is_none_or(|cursor| cursor.is_before(header))
        });
        sound.extend(fitting.cloned());
        sound.sort_by(|a, b| b.updated.cmp(&a.updated).then_with(|| a.id.cmp(&b.id)));
        sound.truncate(if limit == 0 { usize::MAX } else { limit });
        Ok(Headers { sound, damaged })
    }

    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes> {
        self.base.changes(since, limit, wait)
    }

    fn verify(&self, session: Option<&SessionId>) -> Result<Verification> {
        self.base.verify(session)
    }

    fn attachments(&self) -> Option<Arc<dyn Attachments>> {
        self.base.attachments()
    }

    fn sources(&self, by: &FindSource) -> Result<Vec<Source>> {
        self.find_sources(&mut self.layer(), by)
    }

    fn locate_record(&self, source: SourceId, record: RecordKey) -> Result<Option<RecordLocation>> {
        let layer = self.layer();
        match layer.sources.get(&source).and_then(|stored| stored.locate(record)) {
            None if source.0 < FIRST_NEW => self.base.locate_record(source, record),
            found => Ok(found),
        }
    }

    fn source_spans(&self, source: SourceId, step: u64) -> Result<Option<Vec<SourceSpan>>> {
        let layer = self.layer();
        let Some(stored) = layer.sources.get(&source) else {
            return self.base.source_spans(source, step);
        };
        let in_base = self.steps_in_base(source)?;
        match step.checked_sub(in_base) {
            None => self.base.source_spans(source, step),
            Some(step) => Ok(stored.ranges(step)),
        }
    }

    fn record_locations(
        &self,
        source: SourceId,
    ) -> Result<Option<Vec<(RecordKey, RecordLocation)>>> {
        let layer = self.layer();
        let Some(stored) = layer.sources.get(&source) else {
            return self.base.record_locations(source);
        };
        let in_base = if source.0 < FIRST_NEW {
            self.base.record_locations(source)?
        } else {
            Some(Vec::new())
        };
        Ok(in_base.map(|in_base| {
            let all: BTreeMap<_, _> = in_base.into_iter().chain(stored.locations()).collect();
            all.into_iter().collect()
        }))
    }
}
