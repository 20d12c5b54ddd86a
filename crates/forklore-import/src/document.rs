//! Imports a file that is one JSON document.

use std::io::Read;

use bytes::Bytes;
use bytestring::ByteString;
use forklore_core::agent_format::Line;
use forklore_core::limits::IMPORTED_DOCUMENT_BYTES;
use forklore_engine::{Error, Result};
use forklore_store::sources::LineEnd;

use crate::input::Input;
use crate::objects::blank_len;
use crate::opened::Opened;
use crate::records::Records;
use crate::report::ProblemKind;
use crate::{import_object, several};

/// Imports a session file that is one JSON document. The import writes the document in one step, so
/// the store gets all of it or nothing.
pub(crate) fn import(input: &mut Input, records: &mut Records<'_>, file: &Opened) -> Result<()> {
    if file.seen.size > IMPORTED_DOCUMENT_BYTES {
        let most = IMPORTED_DOCUMENT_BYTES >> 20;
        let message = format!("the document is larger than {most} MiB and was not read");
        input.problem(ProblemKind::TooLarge, &message);
        return Ok(());
    }
    let failed = |error| Error::io(format!("cannot read {}", file.seen.path), error);
    let mut bytes = Vec::new();
    file.rest(0).and_then(|mut rest| rest.read_to_end(&mut bytes)).map_err(failed)?;
    let bytes = Bytes::from(bytes);
    let content = bytes.slice(blank_len(&bytes)..);
    let text = readable(input, &content);
    let read = input.read(&text);
    let blank = bytes.get(..bytes.len() - content.len()).unwrap_or_default();
    input.retain_blank(records.batch(), blank);
    match read {
        Line::Several(found) => several::import(input, records, found, &text, &content)?,
        other => {
            let (text, raw) = (text.clone(), Some(&*content));
            import_object::import(input, records, other, text, raw, LineEnd::None)?;
        }
    }
    // Free the document before writing, because it is as large as all records together. The records
    // own the bytes that they need.
    drop((text, content, bytes));
    // A document without a session is not stored, because nothing could refer to its bytes.
    if records.is_empty() { Ok(()) } else { records.finish(input) }
}

/// Returns the document `content` as a string. Each byte that is not UTF-8 becomes one question
/// mark, so that byte offsets in the string equal byte offsets in `content`.
fn readable(input: &mut Input, content: &Bytes) -> ByteString {
    ByteString::try_from(content.clone()).unwrap_or_else(|_| {
        input.problem(ProblemKind::NotUtf8, "the document is not UTF-8");
        let mut text = String::with_capacity(content.len());
        for chunk in content.utf8_chunks() {
            text.push_str(chunk.valid());
            text.extend(chunk.invalid().iter().map(|_| '?'));
        }
        text.into()
    })
}
