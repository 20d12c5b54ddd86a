//! Encodes and checks the lines of a file. Each line is one JSON object. Its last field is a
//! checksum of all bytes of the line before that field.

use std::fmt::Write;

use forklore_store::{Error, Result};

/// The bytes before the checksum's digits in a line of a store's file. All other fields of the line
/// precede them.
const SUM_FIELD: &[u8] = b",\"crc\":\"";
const SUM_BYTES: usize = 8;
const CLOSE: &[u8] = b"\"}";

/// Length in bytes of the end of a line: the checksum field and the closing brace. The line feed
/// does not count.
const END_BYTES: usize = SUM_FIELD.len() + SUM_BYTES + CLOSE.len();

/// Completes a line of a store's file. `out` contains the line's JSON object from `start` on,
/// without the closing `}`. Appends the checksum field, `}` and a line feed.
pub(crate) fn seal(out: &mut String, start: usize) {
    let sum = crc32fast::hash(out.as_bytes().get(start..).unwrap_or_default());
    // Writing to a string cannot fail.
    let _ = writeln!(out, ",\"crc\":\"{sum:08x}\"}}");
}

/// Encodes an object as a line of a store's file, with checksum and line feed.
///
/// # Errors
/// `Io` if the object cannot be encoded as JSON.
pub(crate) fn sealed<T: serde::Serialize>(object: &T) -> Result<String> {
    let failed = |error| Error::io("writing a line", error);
    let mut out = serde_json::to_string(object).map_err(failed)?;
    out.pop();
    seal(&mut out, 0);
    Ok(out)
}

/// Checks the checksum of a line. Returns the line without its line feed, i.e. one JSON object with
/// the checksum as its last field.
///
/// # Errors
/// A string that says what is wrong with the line.
pub(crate) fn checked(line: &[u8]) -> std::result::Result<&str, &'static str> {
    let line = line.strip_suffix(b"\n").ok_or("it does not end")?;
    let at = line.len().checked_sub(END_BYTES).ok_or("it has no checksum")?;
    let (fields, end) = line.split_at_checked(at).ok_or("it has no checksum")?;
    let sum = end
        .strip_prefix(SUM_FIELD)
        .and_then(|rest| rest.strip_suffix(CLOSE))
        .and_then(|digits| std::str::from_utf8(digits).ok())
        .filter(|digits| digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
        .and_then(|digits| u32::from_str_radix(digits, 16).ok())
        .ok_or("it has no checksum")?;
    if crc32fast::hash(fields) != sum {
        return Err("it does not fit its checksum");
    }
    std::str::from_utf8(line).map_err(|_| "it is no text")
}

/// Returns the checksum of `bytes` as 8 hexadecimal digits.
pub(crate) fn sum(bytes: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_byte_is_noticed() {
        let line = sealed(&serde_json::json!({"a": "b", "n": 1})).unwrap();
        assert!(line.starts_with(r#"{"a":"b","n":1,"crc":""#), "{line}");
        let checked_line = checked(line.as_bytes()).unwrap();
        let value: serde_json::Value = serde_json::from_str(checked_line).unwrap();
        assert_eq!(value["n"], 1);
        for at in 0..line.len() {
            for bit in 0..8 {
                let mut bytes = line.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                assert!(checked(&bytes).is_err(), "byte {at}, bit {bit}");
            }
            assert!(checked(&line.as_bytes()[..at]).is_err(), "cut at {at}");
        }
    }
}
