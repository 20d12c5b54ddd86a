//! The sizes that forklore refuses to exceed (SPEC 17). All in bytes unless said.

/// One event written by a program, its `data` alone.
pub const EVENT_BYTES: usize = 16 << 20;
/// Events in one append.
pub const BATCH_EVENTS: usize = 10_000;
/// One append, all `data` together.
pub const BATCH_BYTES: usize = 64 << 20;
/// A session id.
pub const ID_BYTES: usize = 235;
/// An event id; native ids of other agents are kept as they are up to here.
pub const EVENT_ID_BYTES: usize = 512;
/// A label.
pub const LABEL_BYTES: usize = 64;
/// An event type.
pub const TYPE_BYTES: usize = 64;
/// A title.
pub const TITLE_BYTES: usize = 500;
/// A principal.
pub const PRINCIPAL_BYTES: usize = 256;
/// The metadata of a session, and likewise its config.
pub const METADATA_BYTES: usize = 64 << 10;
/// One line of an imported file; a longer one is kept as a byte range of its source.
pub const IMPORTED_LINE_BYTES: usize = 256 << 20;
/// An imported file that is one document; of a larger one nothing is read.
pub const IMPORTED_DOCUMENT_BYTES: u64 = 256 << 20;
/// An attachment.
pub const ATTACHMENT_BYTES: u64 = 4 << 30;
/// The name of an attachment, and likewise its media type.
pub const ATTACHMENT_NAME_BYTES: usize = 255;
