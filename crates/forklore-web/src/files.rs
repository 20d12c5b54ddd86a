//! Serves the images and files of sessions. Only images of known types are shown; everything else is
//! downloaded.

use std::io::{self, Write};

use axum::http::header;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use forklore_core::describe::Describer;
use forklore_core::{AttachmentId, SessionId};
use forklore_engine::Engine;
use forklore_page::{Block, Source, shown_type};
use forklore_store::port::{At, Direction, Query};

use crate::answer::{Answer, Problem};
use crate::entry;

/// The largest file that is served, in bytes.
const LARGEST: usize = 64 << 20;

/// The first bytes of the image types that are shown.
const BEGINNINGS: [(&[u8], &str); 4] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"RIFF", "image/webp"),
];

/// A file, with the type under which a browser may show it.
pub(crate) struct File {
    bytes: Vec<u8>,
    media_type: Option<&'static str>,
}

impl IntoResponse for File {
    fn into_response(self) -> Response {
        let (media_type, disposition) = match self.media_type {
            Some(media_type) => (media_type, "inline"),
            None => ("application/octet-stream", "attachment"),
        };
        let headers = [
            (header::CONTENT_TYPE, media_type),
            (header::CONTENT_DISPOSITION, disposition),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::CACHE_CONTROL, "private, max-age=3600"),
        ];
        (headers, self.bytes).into_response()
    }
}

impl File {
    fn of(bytes: Vec<u8>) -> Self {
        let found = BEGINNINGS.iter().find(|(begin, _)| bytes.starts_with(begin));
        Self { media_type: found.map(|(_, media_type)| *media_type), bytes }
    }
}

/// Reads an attachment.
pub(crate) fn attachment(engine: &Engine, id: &str) -> Answer<File> {
    let missing = || Problem::missing("There is no such attachment.");
    let id: AttachmentId = id.parse().map_err(|_| missing())?;
    let mut bytes = Limited(Vec::new());
    engine.read_attachment(&id, &mut bytes)?;
    Ok(File::of(bytes.0))
}

/// Reads a file whose bytes are in an event as base64. `number` counts the files of the event.
pub(crate) fn of_event(
    engine: &Engine,
    session: &SessionId,
    seq: u64,
    number: usize,
) -> Answer<File> {
    let missing = || Problem::missing("There is no such file in this event.");
    engine.show(session)?;
    let query = Query { at: At::Seq(seq), direction: Direction::Forward, limit: 1, bare: false };
    let page = engine.store().read(session, &query)?;
    let stored = page.events.into_iter().find(|stored| stored.seq == seq).ok_or_else(missing)?;
    if !entry::Entries::shows(&stored.event) {
        return Err(missing());
    }
    let (_, parts) = entry::parts(engine, &stored.event);
    let mut describer = Describer::default();
    let mut blocks: Vec<_> = parts.iter().map(|part| Block::of(part, &mut describer)).collect();
    let sources = blocks.iter_mut().flat_map(Block::sources_mut);
    let mut files = sources.filter_map(|source| match source {
        Source::Inline { media_type, base64 } => Some((media_type.clone(), base64.clone())),
        _ => None,
    });
    let (media_type, base64) = files.nth(number).ok_or_else(missing)?;
    let bytes = STANDARD.decode(base64).map_err(|_| missing())?;
    shown_type(&media_type).ok_or_else(missing)?;
    Ok(File::of(bytes))
}

/// A buffer for the bytes of one file. A write fails if the file would be too large.
struct Limited(Vec<u8>);

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > LARGEST {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
