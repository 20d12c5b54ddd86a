//! The limits that forklore enforces, in bytes unless stated otherwise (docs/semantics.md, Limits).

/// The largest `data` (payload) of one appended event, in bytes. Imported events have their own
/// limits.
pub const EVENT_BYTES: usize = 16 << 20;
/// The largest number of events in one append.
pub const BATCH_EVENTS: usize = 10_000;
/// The largest total size of `data` (the payloads) in one append, in bytes.
pub const BATCH_BYTES: usize = 64 << 20;
/// The longest session id, in bytes.
pub const ID_BYTES: usize = 235;
/// The longest event id, in bytes. Ids that other agents gave are stored unchanged up to this
/// length.
pub const EVENT_ID_BYTES: usize = 512;
/// The longest label, in bytes.
pub const LABEL_BYTES: usize = 64;
/// The longest name of an event type, in bytes.
pub const TYPE_BYTES: usize = 64;
/// The longest session title, in bytes.
pub const TITLE_BYTES: usize = 500;
/// The longest principal (the text that names on whose behalf a session acts), in bytes.
pub const PRINCIPAL_BYTES: usize = 256;
/// The largest metadata of a session, and also the largest config, in bytes.
pub const METADATA_BYTES: usize = 64 << 10;
/// The longest line of an imported file, in bytes. A longer line becomes no event; it is stored as
/// a byte range of its source (the imported file) and reported.
pub const IMPORTED_LINE_BYTES: usize = 256 << 20;
/// The largest imported file that is one JSON document, in bytes. A larger file is not read at all.
pub const IMPORTED_DOCUMENT_BYTES: u64 = 256 << 20;
/// The largest attachment, in bytes.
pub const ATTACHMENT_BYTES: u64 = 4 << 30;
/// The longest file name of an attachment, and also the longest media type, in bytes.
pub const ATTACHMENT_NAME_BYTES: usize = 255;
