//! Lists, restores and checks the imported files that a store retains.

mod json_layout;
mod path_text;
mod restore;
mod session_files;
mod sidecar_check;

use forklore_core::Header;
use forklore_store::Store;
use forklore_store::sources::{Source, SourceSession, SourceSpan, WaitingLine};

pub use json_layout::{Spread, string_len};
pub use path_text::{path_of, path_text};
pub use restore::Restored;
pub use session_files::StoredFile;

use crate::{Engine, Error, Result};

impl Engine {
    /// Returns the store, if it retains the files from which its sessions were imported.
    ///
    /// # Errors
    /// `unsupported` if the store does not retain imported files.
    pub fn sources(&self) -> Result<&dyn Store> {
        if self.store.capabilities().sources {
            return Ok(self.store());
        }
        Err(Error::Unsupported("this store keeps no imported files".into()))
    }

    /// Checks whether one of the sessions that were imported from this file was deleted.
    ///
    /// # Errors
    /// The errors of [`forklore_store::Store::header`].
    pub fn has_deleted(&self, source: &Source) -> Result<bool> {
        for session in &source.sessions {
            if self.store().header(&session.id)?.deleted.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Checks whether an event that was imported from this file was redacted.
    ///
    /// # Errors
    /// The errors of [`forklore_store::Store::redacted`].
    pub fn has_redacted(&self, source: &Source) -> Result<bool> {
        for session in &source.sessions {
            let header = self.store().header(&session.id)?;
            if header.deleted.is_none() && !self.redacted_of_file(session, &header)?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the seqs of the redacted events that a session has from its imported file.
    fn redacted_of_file(&self, session: &SourceSession, header: &Header) -> Result<Vec<u64>> {
        let mut seqs = self.store().redacted(&session.id)?;
        let is_own = |seq: u64| seq == 0 || seq >= header.seq_of_own(1);
        seqs.retain(|seq| is_own(*seq) && *seq < header.seq_of_own(session.events));
        Ok(seqs)
    }

    /// Returns the unfinished last line of an imported file. The line waits until the agent that
    /// wrote the file completes it.
    ///
    /// # Errors
    /// The errors of [`Store::source_spans`].
    pub(crate) fn waiting_line(&self, source: &Source) -> Result<WaitingLine> {
        let mut line = WaitingLine::default();
        let mut step = 0;
        while let Some(spans) = self.sources()?.source_spans(source.id, step)? {
            spans.iter().for_each(|span| line.follow(span));
            step += 1;
        }
        Ok(line)
    }
}

/// Checks whether the bytes of a sidecar file were erased together with a session. A sidecar is a
/// file that an agent stores with a session file. Either all its bytes are erased or none, so this
/// function reads only its first byte ranges.
///
/// # Errors
/// The errors of [`Store::source_spans`].
pub fn is_erased(sources: &dyn Store, source: &Source) -> Result<bool> {
    let first = sources.source_spans(source.id, 0)?.unwrap_or_default();
    Ok(first.iter().any(|range| matches!(range, SourceSpan::Gone(_))))
}
