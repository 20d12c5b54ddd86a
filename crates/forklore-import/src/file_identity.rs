//! What a file is, as it was seen before it is read.

use std::sync::Arc;

use forklore_core::agent_format::AgentFormat;
use forklore_store::sources::SeenFile;
use jiff::Timestamp;

use crate::opened::Opened;

/// What a file is.
pub(crate) struct FileIdentity<'a> {
    /// Whose it is.
    pub(crate) format: &'a dyn AgentFormat,
    /// The name of that format, as events carry it.
    pub(crate) format_name: Arc<str>,
    /// Its path, size and time of change.
    pub(crate) seen: SeenFile,
    /// Its name without the extension: the native id of a session that has no other.
    pub(crate) stem: String,
    /// The time for records that have none.
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
