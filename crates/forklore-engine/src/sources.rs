//! Lists, restores and checks the imported files that a store retains.

mod json_layout;
mod path_text;
mod restore;
mod session_files;
mod sidecar_check;

use forklore_store::Store;
use forklore_store::sources::{Source, SourceSpan, WaitingLine};

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
