//! Identifies a file before it is read.

use std::sync::Arc;

use forklore_core::agent_format::AgentFormat;
use forklore_store::sources::SeenFile;
use jiff::Timestamp;

use crate::opened::Opened;

/// Identifies a file.
pub(crate) struct FileIdentity<'a> {
    /// The format of its agent.
    pub(crate) format: &'a dyn AgentFormat,
    /// The format's name, as events contain it.
    pub(crate) format_name: Arc<str>,
    /// Its path, size and time of the last change.
    pub(crate) seen: SeenFile,
    /// Its name without the extension: the native id of a session that has no other.
    pub(crate) stem: String,
    /// The time for records without one.
    pub(crate) time: Timestamp,
}

impl<'a> FileIdentity<'a> {
    pub(crate) fn of(file: &Opened, format: &'a dyn AgentFormat) -> Self {
        Self {
            format,
            format_name: format.name().into(),
            seen: file.seen.clone(),
            stem: file.path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            time: file.time(),
        }
    }
}
