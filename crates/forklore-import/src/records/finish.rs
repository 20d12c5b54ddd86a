//! The end of a file's import.

use forklore_engine::Result;
use forklore_store::port::Change;
use forklore_store::sources::Source;

use super::Records;
use crate::copy_links;
use crate::input::Input;

impl Records<'_> {
    /// Writes the last import step of the file: the remaining records, and changes of the first
    /// session's header. Also links copies of this file that were imported earlier.
    pub(crate) fn finish(&mut self, input: &mut Input) -> Result<()> {
        self.begin_without_records(input)?;
        if !self.sessions.is_empty() && !self.copies()?.is_empty() {
            // The copies are compared with the events in the store, so all events are written
            // first.
            self.flush(input, false)?;
            self.output.settle()?;
            if let Some(original) = self.sessions.living_first() {
                let copies = self.copies()?;
                copy_links::link(self.lookup, original, &copies, self.output.batch())?;
            }
        }
        if let Some(first) = self.sessions.living_first() {
            let leaf = self.route.leaf;
            let id = leaf.and_then(|leaf| self.sessions.get(leaf)).map(|leaf| &leaf.id);
            if let Some(change) = self.header.leaf_change(leaf, id) {
                self.output.batch().change(first.clone(), change);
            }
        }
        let is_empty = input.offset() == 0 && (self.pushed.is_none() || self.sessions.is_empty());
        if is_empty && self.output.source().is_none() {
            return Ok(());
        }
        self.mark_as_leaf()?;
        self.flush(input, true)
    }

    /// Marks this file's session as the leaf of another session, if the agent would resume that
    /// other session by continuing this file.
    fn mark_as_leaf(&mut self) -> Result<()> {
        let Some(native_id) = self.file.facts().leaf_of.clone() else { return Ok(()) };
        let Some(own) = self.sessions.living_first().cloned() else { return Ok(()) };
        let resumed = self.lookup.living_session_of(&native_id)?;
        if let Some(header) = resumed.filter(|it| it.id != own && it.leaf.as_ref() != Some(&own)) {
            self.output.batch().change(header.id, Change::Leaf(Some(own)));
        }
        Ok(())
    }

    /// Creates the session of a file without new records. All its records are copied from another
    /// file, or unchanged since before a rewrite. Without a session, the store could not restore
    /// the file.
    fn begin_without_records(&mut self, input: &mut Input) -> Result<()> {
        let is_copy = self.copied.progress().is_some() || self.options.written_from.is_some();
        if self.sessions.is_empty() && is_copy {
            self.begin(input, None)?;
        }
        let Some(last) = self.revision.last_shared().cloned() else { return Ok(()) };
        if self.sessions.is_empty() {
            if let Some(comparison) = self.revision.comparison_mut() {
                comparison.begin_after(Some(last));
            }
            self.begin(input, None)?;
            self.route.leaf = Some(0);
        }
        Ok(())
    }

    /// Returns the imported files that name this file as their original (the file from which the
    /// agent copied them).
    fn copies(&self) -> Result<Vec<Source>> {
        copy_links::recorded_copies(self.lookup, &self.file, self.output.source())
    }
}
