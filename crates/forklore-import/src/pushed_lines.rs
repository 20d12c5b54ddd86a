//! Lines that a program passes on, instead of writing them to a file, and which of them are new.

use std::collections::HashMap;

use bytes::Bytes;
use forklore_core::limits::IMPORTED_LINE_BYTES;
use forklore_engine::{Error, Result};
use forklore_store::port::{At, Direction, Query};
use forklore_store::sources::{RecordKey, RecordLocation, Source};
use serde::de::IgnoredAny;

use crate::event_location::SIDE;
use crate::lookup::Lookup;
use crate::record_keys::record_key;

/// One line that a program passes on: a JSON object, without a line end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// The text of the line.
    pub text: String,
    /// The agent's id of the record, if it has one. A line with the id of a stored line, and with
    /// the same text, is not stored again.
    pub id: Option<String>,
}

/// A line with its line end.
pub(crate) struct PushedLine {
    pub(crate) key: Option<RecordKey>,
    pub(crate) text: Bytes,
    /// The index of the line among those that the program passed on.
    pub(crate) index: usize,
}

/// Checks lines, and adds line ends.
pub(crate) fn checked(lines: Vec<Pushed>) -> Result<Vec<PushedLine>> {
    lines.into_iter().enumerate().map(|(index, line)| checked_line(index, line)).collect()
}

fn checked_line(index: usize, line: Pushed) -> Result<PushedLine> {
    let Pushed { mut text, id } = line;
    let invalid = |why: &str| Error::invalid("lines", format!("line {index} {why}"));
    if text.len() >= IMPORTED_LINE_BYTES {
        return Err(invalid("is too long for a record"));
    }
    if !text.starts_with('{') || serde_json::from_str::<IgnoredAny>(&text).is_err() {
        return Err(invalid("is not a JSON object"));
    }
    if text.contains(['\n', '\r']) || text.ends_with([' ', '\t']) {
        return Err(invalid("has a line end or blanks behind its object"));
    }
    text.push('\n');
    let key = id.map(|id| record_key(id.as_bytes()));
    Ok(PushedLine { key, text: text.into(), index })
}

/// Returns the lines that the store does not have of the file `source`. A record that repeats an id
/// with another content is new, as in a file: agents write some records again.
pub(crate) fn new_lines(
    lookup: Lookup<'_>,
    source: Option<&Source>,
    lines: &[PushedLine],
) -> Result<Vec<PushedLine>> {
    let mut before: HashMap<RecordKey, &Bytes> = HashMap::new();
    let mut fresh = Vec::with_capacity(lines.len());
    for line in lines {
        if let Some(key) = line.key {
            let is_repeated = match before.insert(key, &line.text) {
                Some(text) => *text == line.text,
                None => source.map_or(Ok(false), |source| has(lookup, source, key, &line.text))?,
            };
            if is_repeated {
                continue;
            }
        }
        let PushedLine { key, text, index } = line;
        fresh.push(PushedLine { key: *key, text: text.clone(), index: *index });
    }
    Ok(fresh)
}

/// Checks whether the store has a line of a file: the last one with this key.
fn has(lookup: Lookup<'_>, source: &Source, key: RecordKey, text: &Bytes) -> Result<bool> {
    let Some(location) = lookup.sources.locate_record(source.id, key)? else { return Ok(false) };
    // The bytes of a record that is no event of the file, or not as it was passed on, are not
    // found by its id. An agent never changes such a record.
    if location == SIDE || location.inherited {
        return Ok(true);
    }
    let RecordLocation { session, position, .. } = location;
    let Some(header) = lookup.session_at(source, RecordLocation::own(session, position))? else {
        return Ok(false);
    };
    let at = At::Seq(header.seq_of_own(position));
    let query = Query { at, direction: Direction::Forward, limit: 1, bare: false };
    let stored = lookup.engine.store().read(&header.id, &query)?.events.pop();
    let line = text.trim_ascii_end();
    Ok(stored.is_some_and(|stored| stored.event.data.get().as_bytes() == line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let line = Pushed { text: text.to_owned(), id: None };
        checked(vec![line]).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn only_a_json_object_in_one_line_is_a_line() {
        for text in ["", "[1]", "{\"a\":NaN}", "{\"a\":1", "{} {}", " {}", "1"] {
            assert!(refused(text).contains("line 0 is not a JSON object"), "{text}");
        }
        for text in ["{\n}", "{}\n", "{} ", "{}\r"] {
            assert!(refused(text).contains("line 0 has a line end"), "{text}");
        }
        let text = r#"{"a":"\ud800"}"#.to_owned();
        let line = checked(vec![Pushed { text: text.clone(), id: None }]).unwrap().pop().unwrap();
        assert_eq!(line.text, format!("{text}\n").as_bytes());
    }
}
