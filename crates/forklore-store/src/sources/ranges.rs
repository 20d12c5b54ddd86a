//! What the bytes of a source are made of, and how a run of that is written compactly.
//!
//! A file of a million records in one session is one range a step, not a million rows.

/// A stretch of a source's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Range {
    /// Payloads of events that stand one behind the other in one session, each with the same
    /// line end behind it.
    Events {
        /// The session's number in its source.
        session: u32,
        /// The position of the first among the session's own events.
        from: u64,
        /// How many there are.
        count: u64,
        /// What follows each.
        end: LineEnd,
    },
    /// Bytes that are no event: side records, damage, separators.
    Kept(Vec<u8>),
    /// An event whose bytes were no UTF-8, so that its payload is not what stood in the file.
    Raw {
        /// The session's number in its source.
        session: u32,
        /// The event's position among the session's own events.
        position: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// This many bytes of records that would have gone to a deleted session.
    Gone(u64),
}

/// What ends a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// Nothing, or bytes that are kept.
    None,
    /// A line feed.
    Lf,
    /// A carriage return and a line feed.
    CrLf,
}

impl LineEnd {
    /// Its bytes.
    #[must_use]
    pub fn bytes(self) -> &'static [u8] {
        match self {
            Self::None => b"",
            Self::Lf => b"\n",
            Self::CrLf => b"\r\n",
        }
    }
}

/// Stored ranges that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the list of ranges ends or goes wrong at byte {0}")]
pub struct RangeError(usize);

const EVENTS: u64 = 0;
const EVENTS_LF: u64 = 1;
const EVENTS_CRLF: u64 = 2;
const KEPT: u64 = 3;
const RAW: u64 = 4;
const GONE: u64 = 5;

/// The ranges as bytes.
#[must_use]
pub fn encode(ranges: &[Range]) -> Vec<u8> {
    let mut out = Vec::new();
    for range in ranges {
        match range {
            Range::Events { session, from, count, end } => {
                let tag = match end {
                    LineEnd::None => EVENTS,
                    LineEnd::Lf => EVENTS_LF,
                    LineEnd::CrLf => EVENTS_CRLF,
                };
                put(&mut out, &[tag, u64::from(*session), *from, *count]);
            }
            Range::Kept(bytes) => {
                put(&mut out, &[KEPT, bytes.len() as u64]);
                out.extend_from_slice(bytes);
            }
            Range::Raw { session, position, bytes } => {
                put(&mut out, &[RAW, u64::from(*session), *position, bytes.len() as u64]);
                out.extend_from_slice(bytes);
            }
            Range::Gone(len) => put(&mut out, &[GONE, *len]),
        }
    }
    out
}

fn put(out: &mut Vec<u8>, numbers: &[u64]) {
    for number in numbers {
        let mut rest = *number;
        while rest >= 0x80 {
            out.push((rest & 0x7f) as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
    }
}

/// The ranges in bytes that [`encode`] wrote.
///
/// # Errors
/// When the bytes are something else.
pub fn decode(bytes: &[u8]) -> Result<Vec<Range>, RangeError> {
    let mut input = Input { bytes, at: 0 };
    let mut ranges = Vec::new();
    while input.at < bytes.len() {
        ranges.push(input.range()?);
    }
    Ok(ranges)
}

struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Input<'_> {
    fn range(&mut self) -> Result<Range, RangeError> {
        let end = match self.number()? {
            EVENTS => LineEnd::None,
            EVENTS_LF => LineEnd::Lf,
            EVENTS_CRLF => LineEnd::CrLf,
            KEPT => return Ok(Range::Kept(self.taken()?)),
            RAW => {
                let (session, position) = (self.session()?, self.number()?);
                return Ok(Range::Raw { session, position, bytes: self.taken()? });
            }
            GONE => return Ok(Range::Gone(self.number()?)),
            _ => return Err(RangeError(self.at)),
        };
        let (session, from, count) = (self.session()?, self.number()?, self.number()?);
        Ok(Range::Events { session, from, count, end })
    }

    fn number(&mut self) -> Result<u64, RangeError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or(RangeError(self.at))?;
            self.at += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(RangeError(self.at))
    }

    fn session(&mut self) -> Result<u32, RangeError> {
        u32::try_from(self.number()?).map_err(|_| RangeError(self.at))
    }

    fn taken(&mut self) -> Result<Vec<u8>, RangeError> {
        let wrong = RangeError(self.at);
        let len = usize::try_from(self.number()?).map_err(|_| wrong)?;
        let end = self.at.checked_add(len).ok_or(wrong)?;
        let taken = self.bytes.get(self.at..end).ok_or(wrong)?;
        self.at = end;
        Ok(taken.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_come_back_and_damage_is_seen() {
        let ranges = vec![
            Range::Kept(b"\xef\xbb\xbf".to_vec()),
            Range::Events { session: 0, from: 0, count: 1_000_000, end: LineEnd::Lf },
            Range::Events { session: 300, from: 7, count: 1, end: LineEnd::CrLf },
            Range::Events { session: u32::MAX, from: u64::MAX, count: 2, end: LineEnd::None },
            Range::Raw { session: 1, position: 128, bytes: vec![0xff; 200] },
            Range::Gone(u64::MAX),
            Range::Kept(Vec::new()),
        ];
        let bytes = encode(&ranges);
        assert_eq!(decode(&bytes).unwrap(), ranges);
        assert_eq!(decode(&[]).unwrap(), []);
        for cut in 0..bytes.len() {
            if let Ok(fewer) = decode(&bytes[..cut]) {
                assert_eq!(ranges[..fewer.len()], fewer);
            }
        }
        assert!(decode(&[9]).is_err());
        assert!(decode(&[0xff; 20]).is_err());
    }
}
