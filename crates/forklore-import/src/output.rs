//! Writes the import of a file to the store, one step after another, and finds the records written
//! so far.

use std::thread::Scope;

use forklore_core::Data;
use forklore_engine::{Engine, Result};
use forklore_store::Store;
use forklore_store::port::{Transaction, Write};
use forklore_store::sources::{Progress, RecordKey, RecordLocation, SeenFile, SourceId, Target};

use crate::agent_file::AgentFile;
use crate::batch::Batch;
use crate::earlier_steps::StoredSteps;
use crate::event_location::SIDE;
use crate::writer::Writer;

/// Writes an imported file to the store step by step, and collects the content of the next step.
pub(crate) struct Output<'a> {
    engine: &'a Engine,
    sources: &'a dyn Store,
    target: Target,
    /// The id under which the store has the file; `None` until the first step of a new file was
    /// written.
    source: Option<SourceId>,
    batch: Batch,
    /// The separate thread that writes the steps of a long file; `None` if the file is short.
    writer: Option<Writer>,
    /// A cache of the key and the location of the record that was imported last. The next record
    /// almost always continues this record.
    tip: Option<(RecordKey, RecordLocation)>,
    /// The steps that the store contains.
    stored: StoredSteps,
    /// The steps that the store contains or that the writer writes.
    sent: StoredSteps,
    /// The steps that the store contains apart from the last step of the file.
    before_last: StoredSteps,
}

impl<'a> Output<'a> {
    pub(crate) fn new(engine: &'a Engine, sources: &'a dyn Store, target: Target) -> Self {
        let source = match &target {
            Target::State { id, .. } => Some(*id),
            Target::New { .. } => None,
        };
        Self {
            engine,
            sources,
            target,
            source,
            batch: Batch::default(),
            writer: None,
            tip: None,
            stored: StoredSteps::default(),
            sent: StoredSteps::default(),
            before_last: StoredSteps::default(),
        }
    }

    pub(crate) fn source(&self) -> Option<SourceId> {
        self.source
    }

    /// Returns the import step that is being collected and was not written yet.
    pub(crate) fn batch(&mut self) -> &mut Batch {
        &mut self.batch
    }

    /// Records the key and the location of the record that was imported last. Later records can
    /// then refer to it.
    pub(crate) fn remember(&mut self, key: Option<RecordKey>, location: RecordLocation) {
        self.tip = key.map(|key| (key, location));
        if let Some(key) = key {
            self.batch.found(key, location);
        }
    }

    /// Returns the location of the file's latest record with this key, or `None` if there is none
    /// or the record became no event.
    pub(crate) fn locate(&mut self, key: RecordKey) -> Result<Option<RecordLocation>> {
        Ok(self.find(key)?.filter(|location| *location != SIDE))
    }

    fn find(&mut self, key: RecordKey) -> Result<Option<RecordLocation>> {
        if let Some((tip, location)) = self.tip
            && tip == key
        {
            return Ok(Some(location));
        }
        if let Some(location) = self.batch.locate(key) {
            return Ok(Some(location));
        }
        self.settle()?;
        match self.source {
            Some(source) => Ok(self.sources.locate_record(source, key)?),
            None => Ok(None),
        }
    }

    /// Returns the steps that the store contains.
    pub(crate) fn stored(&self) -> &StoredSteps {
        &self.stored
    }

    /// Returns the steps that the store contains apart from the last step of the file, which the
    /// store may hold back and refuse later.
    pub(crate) fn before_last(&self) -> &StoredSteps {
        &self.before_last
    }

    /// Writes the collected import step to the store. `read` is how far the file was read. `whole`
    /// means that it was read to its end. `appended` is the number of events that this attempt has
    /// added to each session of the file.
    pub(crate) fn write(
        &mut self,
        file: &AgentFile<'_>,
        read: Progress,
        whole: bool,
        appended: Vec<u64>,
    ) -> Result<()> {
        let seen = if whole {
            file.seen().clone()
        } else {
            SeenFile { path: file.path().to_owned(), size: 0, modified: 0 }
        };
        let offset = read.offset;
        let native_id = file.native_id().to_owned();
        let batch = std::mem::take(&mut self.batch);
        let (writes, step) = batch.into_step(self.target.clone(), native_id, seen, read, whole);
        let pins = self.engine.hold_mentioned(payloads(&writes));
        let attachments = pins.iter().map(|pin| pin.id).collect();
        let source = Some(Box::new(step));
        let step = Transaction { writes, source, attachments, ..Transaction::default() };
        let next = StoredSteps { end: Some(offset), appended };
        let id = match (&mut self.writer, self.source) {
            // The id of a new source is needed before the next step can be collected.
            (Some(writer), Some(id)) => {
                writer.write(step, pins)?;
                self.stored.clone_from(&self.sent);
                id
            }
            _ => self.sources.commit(step)?.imported()?,
        };
        if whole {
            self.before_last.clone_from(&self.stored);
        }
        if self.writer.is_none() || self.source.is_none() {
            self.stored.clone_from(&next);
        }
        self.sent = next;
        self.source = Some(id);
        self.target = Target::State { id, offset };
        Ok(())
    }

    /// Starts a separate thread that writes all following steps to the store. Only the first step
    /// of a new file is not written by this thread, because the store's id for the file is needed
    /// at once.
    pub(crate) fn start_writer<'scope>(&mut self, scope: &'scope Scope<'scope, '_>)
    where
        'a: 'scope,
    {
        self.writer = Some(Writer::start(scope, self.sources));
    }

    /// Waits until the store contains every step written so far, and ends the separate writer
    /// thread.
    pub(crate) fn end_writer(&mut self) -> Result<()> {
        let settled = self.settle();
        self.writer = None;
        settled
    }

    /// Waits until the store contains every step written so far.
    pub(crate) fn settle(&mut self) -> Result<()> {
        if let Some(writer) = &mut self.writer {
            writer.settle()?;
            self.stored.clone_from(&self.sent);
        }
        Ok(())
    }
}

/// Returns the payloads of all events in these writes.
fn payloads(writes: &[Write]) -> impl Iterator<Item = &Data> {
    let events = writes.iter().flat_map(|write| match write {
        Write::Create(new) => new.events.as_slice(),
        Write::Append { append, .. } => append.events.as_slice(),
        Write::Change { .. } | Write::Remove(_) | Write::Redact(_) => &[],
    });
    events.map(|event| &event.data)
}
