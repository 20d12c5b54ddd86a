//! What an import must know of a file before it reads the first line.

use std::path::Path;

use forklore_store::sources::{RecordKey, SeenFile};
use jiff::Timestamp;

/// The identity of a file: an opened one, or one that exists only as lines which a program passes
/// on.
#[derive(Clone, Copy)]
pub(crate) struct Described<'f> {
    pub(crate) path: &'f Path,
    pub(crate) seen: &'f SeenFile,
    pub(crate) first_line: RecordKey,
    /// The time for records without a time.
    pub(crate) time: Timestamp,
    /// The path of the file whose session called this file's sub-agent. `None` if the file's
    /// records decide.
    pub(crate) caller_path: Option<&'f str>,
}
