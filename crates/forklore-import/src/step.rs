//! Writes what was collected of a file in one step.

use forklore_core::limits::TITLE_BYTES;
use forklore_core::{Data, SessionId};
use forklore_engine::Result;
use forklore_store::port::{Change, Transaction, Write};
use forklore_store::sources::{Progress, RecordKey, SeenFile, SourceStep, Target};

use crate::file_session::Following;
use crate::opened::record_key;
use crate::reading::Reading;

impl Reading<'_> {
    /// Writes the collected batch. `whole` means that the file was read to its end.
    pub(crate) fn flush(&mut self, whole: bool) -> Result<()> {
        self.tell_title();
        // Inside a text that is not accounted for, the reader needs its state from before that
        // text.
        let again = self.position.is_inside();
        self.state.reader = if again { self.reader.memory_before() } else { self.reader.memory() };
        let batch = std::mem::take(&mut self.batch);
        let path = self.file.seen.path.clone();
        let seen =
            if whole { self.file.seen.clone() } else { SeenFile { path, size: 0, modified: 0 } };
        let read = Progress {
            offset: self.position.offset(),
            sha256: self.position.sha256(),
            state: self.state.text(),
        };
        let step = SourceStep {
            target: self.target.clone(),
            native_id: self.native_id(),
            seen,
            ranges: batch.ranges,
            locations: batch.locations,
            names: batch.names,
            sidecar: None,
            read,
            last: whole,
        };
        let offset = self.position.offset();
        let pins = self.engine.hold_mentioned(payloads(&batch.writes));
        let attachments = pins.iter().map(|pin| pin.id).collect();
        let source = Some(Box::new(step));
        let step = Transaction { writes: batch.writes, source, attachments };
        let id = match (&mut self.writer, self.source) {
            // The id of a new source is needed before the next step can be collected.
            (Some(writer), Some(id)) => {
                writer.write(step, pins)?;
                id
            }
            _ => self.sources.commit(step)?.imported()?,
        };
        self.source = Some(id);
        self.target = Target::State { id, offset };
        Ok(())
    }

    /// Waits until the store contains everything that was flushed.
    pub(crate) fn settle(&mut self) -> Result<()> {
        match &mut self.writer {
            Some(writer) => Ok(writer.settle()?),
            None => Ok(()),
        }
    }

    /// Writes the last step: the rest of the batch, and changes of the first session's header.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.begin_copy()?;
        self.begin_unchanged_revision()?;
        if self.has_copies()? {
            // The copies are compared with what the store contains.
            self.flush(false)?;
            self.settle()?;
            self.link_copies()?;
        }
        if let Some(session) = self.living_first()
            && self.state.header.leaf != self.state.leaf
        {
            self.state.header.leaf = self.state.leaf;
            let leaf = self.leaf();
            self.batch.writes.extend(
                leaf.map(|leaf| Write::Change { session, change: Change::Leaf(Some(leaf)) }),
            );
        }
        if self.position.offset() == 0 && self.source.is_none() {
            return Ok(());
        }
        self.flush(true)
    }

    /// Updates the session's title if the file's title has changed since the last step.
    fn tell_title(&mut self) {
        let key = self.title_key();
        if key.is_none() || self.state.header.title_key == key {
            return;
        }
        self.state.header.title_key = key;
        if let Some(session) = self.living_first() {
            let title = self.title();
            let change = Change::Title(title);
            self.batch.writes.push(Write::Change { session, change });
        }
    }

    fn living_first(&self) -> Option<SessionId> {
        let first = self.sessions.first().filter(|first| first.following != Following::Deleted);
        first.map(|first| first.id.clone())
    }

    /// Returns the key by which titles are compared.
    pub(crate) fn title_key(&self) -> Option<RecordKey> {
        self.state.facts.title.as_ref().map(|title| record_key(title.as_bytes()))
    }

    pub(crate) fn leaf(&self) -> Option<SessionId> {
        let leaf = self.sessions.get(usize::try_from(self.state.leaf?).ok()?)?;
        Some(leaf.id.clone())
    }

    /// Returns the file's title, truncated to the maximum length of titles.
    pub(crate) fn title(&self) -> Option<String> {
        let title = self.state.facts.title.as_deref().filter(|title| !title.is_empty())?;
        let end = title.len().min(TITLE_BYTES);
        (0..=end).rev().find_map(|end| title.get(..end)).map(str::to_owned)
    }

    pub(crate) fn native_id(&self) -> String {
        self.state.facts.native_id.clone().unwrap_or_else(|| self.file.stem.clone())
    }
}

/// Returns the payloads of the events in the writes.
fn payloads(writes: &[Write]) -> impl Iterator<Item = &Data> {
    let events = writes.iter().flat_map(|write| match write {
        Write::Create(new) => new.events.as_slice(),
        Write::Append { append, .. } => append.events.as_slice(),
        Write::Change { .. } | Write::Remove(_) => &[],
    });
    events.map(|event| &event.data)
}
