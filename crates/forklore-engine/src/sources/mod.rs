//! What the store keeps of the files that sessions were read from: given back, listed, checked.

mod path_text;
mod restore;
mod session_files;
mod sidecar_check;
mod spread;

use forklore_store::sources::{Source, SourceSpan, Sources};

pub use path_text::{path_of, path_text};
pub use restore::Restored;
pub use session_files::SessionFile;
pub use spread::{Spread, string_len};

use crate::{Engine, Error, Result};

impl Engine {
    /// The files that the store's sessions were read from.
    ///
    /// # Errors
    /// `unsupported` when the store keeps none.
    pub fn sources(&self) -> Result<&dyn Sources> {
        if self.store.capabilities().sources {
            return Ok(self.store());
        }
        Err(Error::Unsupported("this store keeps no imported files".into()))
    }

    /// Whether a session of the source was deleted.
    ///
    /// # Errors
    /// Those of [`forklore_store::Store::header`].
    pub fn has_deleted(&self, source: &Source) -> Result<bool> {
        for session in &source.sessions {
            if self.store().header(&session.id)?.deleted.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether bytes of a sidecar file were erased with a session: then all of them were.
///
/// # Errors
/// Those of [`Sources::ranges`].
pub fn is_erased(sources: &dyn Sources, source: &Source) -> Result<bool> {
    let first = sources.source_spans(source.id, 0)?.unwrap_or_default();
    Ok(first.iter().any(|range| matches!(range, SourceSpan::Gone(_))))
}
