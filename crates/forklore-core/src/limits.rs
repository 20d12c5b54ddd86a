//! The limits that forklore enforces, in bytes unless stated otherwise (docs/semantics.md, Limits).

/// The largest `data` of one appended event. Imported events have their own limits.
pub const EVENT_BYTES: usize = 16 << 20;
/// The largest number of events in one append.
pub const BATCH_EVENTS: usize = 10_000;
/// The largest total size of `data` in one append.
pub const BATCH_BYTES: usize = 64 << 20;
/// The longest session id.
pub const ID_BYTES: usize = 235;
/// The longest event id. Native ids of other agents up to this length are stored unchanged.
pub const EVENT_ID_BYTES: usize = 512;
/// The longest label.
pub const LABEL_BYTES: usize = 64;
/// The longest event type.
pub const TYPE_BYTES: usize = 64;
/// The longest title.
pub const TITLE_BYTES: usize = 500;
/// The longest principal.
pub const PRINCIPAL_BYTES: usize = 256;
/// The largest metadata of a session, and likewise its config.
pub const METADATA_BYTES: usize = 64 << 10;
/// The longest line of an imported file. A longer line becomes no event; it is stored as a byte
/// range of its source and reported.
pub const IMPORTED_LINE_BYTES: usize = 256 << 20;
/// The largest imported file that is one JSON document. A larger file is not read at all.
pub const IMPORTED_DOCUMENT_BYTES: u64 = 256 << 20;
/// The largest attachment.
pub const ATTACHMENT_BYTES: u64 = 4 << 30;
/// The longest name of an attachment, and likewise its media type.
pub const ATTACHMENT_NAME_BYTES: usize = 255;
