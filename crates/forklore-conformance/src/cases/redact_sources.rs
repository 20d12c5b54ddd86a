//! Cases: the stored bytes of a file of which an event was redacted go.

pub(super) use super::redact::stored_bytes_of_files_go;
