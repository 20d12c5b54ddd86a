//! Imports texts that contain several records: whole documents, and lines with nested records.

use std::io::Read;

use bytes::Bytes;
use bytestring::ByteString;
use forklore_core::agent_format::{Line, Several};
use forklore_core::limits::IMPORTED_DOCUMENT_BYTES;
use forklore_engine::sources::{Spread, string_len};
use forklore_engine::{Error, Result};
use forklore_store::sources::{LineEnd, RecordLocation};

use crate::earlier_revision::Spot;
use crate::objects::blank_len;
use crate::opened::Opened;
use crate::reading::Reading;
use crate::report::ProblemKind;
use crate::revision::Comparison;

/// How a record is stored.
enum Written {
    /// As an event of one of the file's own sessions.
    Own(RecordLocation),
    /// As an event of an earlier revision.
    Shared(Spot),
    /// Not at all: its session was deleted.
    Nowhere,
}

impl Reading<'_> {
    /// Reads a file that is one JSON document. It is written in one step, so it is stored
    /// completely or not at all.
    pub(crate) fn document(&mut self, file: &Opened) -> Result<()> {
        if self.file.seen.size > IMPORTED_DOCUMENT_BYTES {
            let most = IMPORTED_DOCUMENT_BYTES >> 20;
            let message = format!("the document is larger than {most} MiB and was not read");
            self.problem(ProblemKind::TooLarge, &message);
            return Ok(());
        }
        let failed = |error| Error::io(format!("cannot read {}", file.seen.path), error);
        let mut bytes = Vec::new();
        file.rest(0).and_then(|mut rest| rest.read_to_end(&mut bytes)).map_err(failed)?;
        let bytes = Bytes::from(bytes);
        let content = bytes.slice(blank_len(&bytes)..);
        let text = self.readable(&content);
        let read = self.reader.read(&text);
        self.blank(bytes.get(..bytes.len() - content.len()).unwrap_or_default());
        match read {
            Line::Several(several) => self.several(several, &text, &content)?,
            other => self.object(other, text.clone(), Some(&content), LineEnd::None)?,
        }
        // Free the document before writing: it is as large as all records together, which retain
        // what they need.
        drop((text, content, bytes));
        // Without a session nothing could refer to the bytes.
        let shares = self.state.comparison.as_ref().is_some_and(Comparison::ends_shared);
        if self.sessions.is_empty() && !shares { Ok(()) } else { self.finish() }
    }

    /// Returns the text of a document. Each byte that is not UTF-8 becomes one question mark, so
    /// that offsets in the text are offsets in the file.
    fn readable(&mut self, content: &Bytes) -> ByteString {
        ByteString::try_from(content.clone()).unwrap_or_else(|_| {
            self.problem(ProblemKind::NotUtf8, "the document is not UTF-8");
            let mut text = String::with_capacity(content.len());
            for chunk in content.utf8_chunks() {
                text.push_str(chunk.valid());
                text.extend(chunk.invalid().iter().map(|_| '?'));
            }
            text.into()
        })
    }

    /// Imports the records in a text. `bytes` are the bytes of the text in the file.
    pub(crate) fn several(
        &mut self,
        several: Several,
        text: &ByteString,
        bytes: &[u8],
    ) -> Result<()> {
        self.learn(several.facts);
        let mut placed = Vec::with_capacity(several.records.len());
        for (range, mut record) in several.records {
            let Some(slice) = text.get(range.clone()) else { continue };
            let payload = on_one_line(text.slice_ref(slice));
            self.learn(std::mem::take(&mut record.facts));
            self.position.enter(range.start);
            let verbatim = bytes.get(range.clone()) == Some(payload.as_bytes());
            let own = bytes.get(range.clone()).unwrap_or_default();
            // Bytes that cannot be derived from the payload would remain when the payload is
            // erased.
            let recorded = verbatim || Spread::of(own, payload.as_bytes()).is_some();
            let shared = if recorded { self.unchanged(&record, &payload)? } else { None };
            let location = match shared {
                Some(spot) => {
                    self.take_shared(&record, spot.clone());
                    Written::Shared(spot)
                }
                None => match self.record(record, payload.clone())? {
                    Some(path) => Written::Own(path),
                    None => Written::Nowhere,
                },
            };
            placed.push((range, location, payload, verbatim));
        }
        if let Some((from, why)) = several.damage {
            self.position.enter(from);
            self.damage(bytes.get(..from).unwrap_or_default(), &why);
        }
        self.position.leave();
        placed.sort_by_key(|(range, ..)| range.start);
        let mut at = 0;
        for (range, path, payload, verbatim) in placed {
            // A record that overlaps the one before it gets no span of its own; its bytes are
            // stored with the surrounding ones.
            let Some(between) = bytes.get(at..range.start) else { continue };
            self.retain(between);
            at = range.end;
            let own = bytes.get(range).unwrap_or_default();
            match path {
                Written::Nowhere => self.batch.gone(own.len()),
                Written::Own(path) if verbatim => self.batch.event(path, LineEnd::None),
                Written::Own(path) => match Spread::of(own, payload.as_bytes()) {
                    Some(spread) => self.batch.spread(path, &spread),
                    None => self.batch.raw(path, own),
                },
                Written::Shared(spot) => match Spread::of(own, payload.as_bytes()) {
                    Some(spread) if !verbatim => self.batch.shared_spread(&spot, &spread),
                    _ => self.batch.shared(&spot, LineEnd::None),
                },
            }
            self.position.account(own);
        }
        self.retain(bytes.get(at..).unwrap_or_default());
        Ok(())
    }

    fn damage(&mut self, before: &[u8], why: &str) {
        let lines = memchr::memchr_iter(b'\n', before).count() as u64;
        self.state.lines += lines;
        self.problem(ProblemKind::Damage, why);
        self.state.lines -= lines;
    }
}

/// Removes the white space between the tokens of a JSON value that has several lines, since a
/// payload has one line and such white space has no meaning.
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
