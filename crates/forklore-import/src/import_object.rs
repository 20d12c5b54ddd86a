//! Imports one JSON object of a file: one record, several records, or an object that becomes no
//! event and is stored with the source.

use bytestring::ByteString;
use forklore_core::agent_format::{Line, Record};
use forklore_engine::Result;
use forklore_store::sources::LineEnd;

use crate::copied_prefix::RecordLine;
use crate::input::Input;
use crate::records::Records;
use crate::report::ProblemKind;
use crate::several;

/// Imports one JSON object of a file. `read` is the result of reading the object with the agent's
/// format. If the object's bytes are not UTF-8, `raw` contains them, and `text` has replacement
/// characters.
pub(crate) fn import(
    input: &mut Input,
    records: &mut Records<'_>,
    read: Line,
    text: ByteString,
    raw: Option<&[u8]>,
    end: LineEnd,
) -> Result<()> {
    let whole = text.clone();
    let bytes = raw.unwrap_or(whole.as_bytes());
    match read {
        Line::Several(found) => {
            several::import(input, records, found, &whole, bytes)?;
            input.retain(records.batch(), end.bytes());
            return Ok(());
        }
        Line::Record(mut record) => {
            input.enter(0);
            records.learn(input, std::mem::take(&mut record.facts));
            records.settle_parent(&mut record)?;
            match raw {
                Some(raw) => import_raw(input, records, *record, text, raw, end)?,
                None => import_record(input, records, *record, text, end)?,
            }
        }
        other => {
            match other {
                Line::Side(facts) => records.learn(input, facts),
                Line::Damage(message) => input.problem(ProblemKind::Damage, &message),
                Line::Record(_) | Line::Several(_) => {}
            }
            records.batch().retain_line(bytes, end);
        }
    }
    input.leave();
    input.account(bytes);
    input.account(end.bytes());
    Ok(())
}

/// Imports one record of a file. A record that repeats an event of another file, or of this file
/// before a rewrite, gets no new event.
fn import_record(
    input: &mut Input,
    records: &mut Records<'_>,
    record: Record,
    text: ByteString,
    end: LineEnd,
) -> Result<()> {
    if let Some(spot) = records.shared(&record, &text)? {
        records.batch().shared(&spot, end);
        records.add_shared(&record, spot);
        return Ok(());
    }
    let line = RecordLine { record: &record, text: &text, end };
    if records.renews(line)? || records.repeats(line)? || records.was_written(input, line)? {
        return Ok(());
    }
    let len = text.len() + end.bytes().len();
    match records.add(input, record, text)? {
        Some(location) => records.batch().event(location, end),
        None => records.batch().gone(len),
    }
    Ok(())
}

/// Imports a record whose bytes in the file are not UTF-8. `raw` contains these bytes; `text` has
/// replacement characters for them.
fn import_raw(
    input: &mut Input,
    records: &mut Records<'_>,
    record: Record,
    text: ByteString,
    raw: &[u8],
    end: LineEnd,
) -> Result<()> {
    match records.add(input, record, text)? {
        Some(location) => {
            records.batch().raw(location, raw);
            records.batch().retain(end.bytes());
        }
        None => records.batch().gone(raw.len() + end.bytes().len()),
    }
    Ok(())
}
