//! Imports several records from one piece of a file: the records of a document, or records nested
//! in a line.

use bytestring::ByteString;
use forklore_core::agent_format::Several;
use forklore_engine::Result;
use forklore_engine::sources::{Spread, string_len};
use forklore_store::sources::{LineEnd, RecordLocation};

use crate::batch::Batch;
use crate::event_location::EventLocation;
use crate::input::Input;
use crate::records::Records;
use crate::report::ProblemKind;

/// In which form the store contains a record of a file.
enum Written {
    /// As an event of one of the file's own sessions.
    Own(RecordLocation),
    /// As an event of an earlier revision (the file's content before it was rewritten).
    Shared(EventLocation),
    /// The store does not contain the record, because its session was deleted.
    Nowhere,
}

/// Imports several records that one piece of a file contains. `text` is that piece; `bytes` are its
/// bytes in the file, which differ from `text` if they are not UTF-8.
pub(crate) fn import(
    input: &mut Input,
    records: &mut Records<'_>,
    several: Several,
    text: &ByteString,
    bytes: &[u8],
) -> Result<()> {
    records.learn(input, several.facts);
    let mut written = Vec::with_capacity(several.records.len());
    for (range, mut record) in several.records {
        let Some(slice) = text.get(range.clone()) else { continue };
        let payload = on_one_line(text.slice_ref(slice));
        records.learn(input, std::mem::take(&mut record.facts));
        records.settle_parent(&mut record)?;
        input.enter(range.start);
        let own = bytes.get(range.clone());
        let verbatim = own == Some(payload.as_bytes());
        // A record is shared only if its bytes in the file can be derived from the payload. Other
        // bytes would be stored with this file, and would remain there when the payload is erased.
        let is_derived =
            verbatim || Spread::of(own.unwrap_or_default(), payload.as_bytes()).is_some();
        let shared = if is_derived { records.shared(&record, &payload)? } else { None };
        let how = match shared {
            Some(spot) => {
                records.add_shared(&record, spot.clone());
                Written::Shared(spot)
            }
            None => match records.add(input, record, payload.clone())? {
                Some(location) => Written::Own(location),
                None => Written::Nowhere,
            },
        };
        written.push((range, how, payload, verbatim));
    }
    if let Some((from, why)) = several.damage {
        input.enter(from);
        input.problem_after(bytes.get(..from).unwrap_or_default(), ProblemKind::Damage, &why);
    }
    input.leave();
    written.sort_by_key(|(range, ..)| range.start);
    let batch = records.batch();
    let mut at = 0;
    for (range, how, payload, verbatim) in written {
        // A record that overlaps the record before it gets no span of its own. Its bytes are stored
        // with the bytes between records.
        let Some(between) = bytes.get(at..range.start) else { continue };
        input.retain(batch, between);
        at = range.end;
        let own = bytes.get(range).unwrap_or_default();
        add_span(batch, &how, own, &payload, verbatim);
        input.account(own);
    }
    input.retain(batch, bytes.get(at..).unwrap_or_default());
    Ok(())
}

/// Records in the import step how to restore a record's bytes in the file, `own`, from the stored
/// payload. `verbatim` means that these bytes and the payload are equal.
fn add_span(batch: &mut Batch, how: &Written, own: &[u8], payload: &ByteString, verbatim: bool) {
    match how {
        Written::Nowhere => batch.gone(own.len()),
        Written::Own(location) if verbatim => batch.event(*location, LineEnd::None),
        Written::Own(location) => match Spread::of(own, payload.as_bytes()) {
            Some(spread) => batch.spread(*location, &spread),
            None => batch.raw(*location, own),
        },
        Written::Shared(spot) => match Spread::of(own, payload.as_bytes()) {
            Some(spread) if !verbatim => batch.shared_spread(spot, &spread),
            _ => batch.shared(spot, LineEnd::None),
        },
    }
}

/// Converts a JSON value to one line, if it has several: removes the white space between its
/// tokens. Such white space has no meaning.
fn on_one_line(text: ByteString) -> ByteString {
    if memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_none() {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = rest.find(['"', ' ', '\t', '\n', '\r']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let len = if from.starts_with('"') { string_len(from.as_bytes()) } else { 0 };
        let (string, behind) = from.split_at_checked(len).unwrap_or((from, ""));
        out.push_str(string);
        rest = if len > 0 { behind } else { from.trim_ascii_start() };
    }
    out.push_str(rest);
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_goes_between_tokens_only() {
        let text = "{\n  \"a b\": [1.0,\t\"x \\\" \\\\\", \"\\\\\" ],\r\n \"é \": null}";
        let one = r#"{"a b":[1.0,"x \" \\","\\"],"é ":null}"#;
        assert_eq!(on_one_line(text.to_owned().into()), one);
        assert_eq!(on_one_line("{ \"a\" : 1 }".into()), "{ \"a\" : 1 }");
    }
}
