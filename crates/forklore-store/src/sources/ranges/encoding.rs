//! The compact encoding of the spans of a source.

use forklore_core::SessionId;

use super::{LineEnd, Patch, SourceSpan};

/// The error for stored spans (ranges of an imported file) that cannot be decoded. It contains the
/// byte offset of the failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the list of ranges ends or goes wrong at byte {0}")]
pub struct RangeError(usize);

const EVENTS: u64 = 0;
const EVENTS_LF: u64 = 1;
const EVENTS_CRLF: u64 = 2;
const OTHER: u64 = 3;
const RAW: u64 = 4;
const GONE: u64 = 5;
const INHERITED: u64 = 6;
const PATCHED: u64 = 7;
const SPREAD: u64 = 8;
const SHARED: u64 = 9;
const SHARED_SPREAD: u64 = 10;
const WAITING: u64 = 11;
const PATCHED_OFTEN: u64 = 12;

/// Encodes spans compactly, with numbers as varints.
#[must_use]
pub fn encode(ranges: &[SourceSpan]) -> Vec<u8> {
    let mut out = Vec::new();
    for range in ranges {
        match range {
            SourceSpan::Events { session, from, count, end } => {
                // `Events` has three tags, one for each line end.
                put(&mut out, &[end_tag(*end), u64::from(*session), *from, *count]);
            }
            SourceSpan::Other(bytes) => {
                put(&mut out, &[OTHER, bytes.len() as u64]);
                out.extend_from_slice(bytes);
            }
            SourceSpan::Raw { session, position, bytes } => {
                put(&mut out, &[RAW, u64::from(*session), *position, bytes.len() as u64]);
                out.extend_from_slice(bytes);
            }
            SourceSpan::Spread { session, position, margin, indent, end } => {
                put(&mut out, &[SPREAD, end_tag(*end), u64::from(*session), *position]);
                for bytes in [margin, indent] {
                    put(&mut out, &[bytes.len() as u64]);
                    out.extend_from_slice(bytes);
                }
            }
            SourceSpan::Shared { session, seq, count, end } => {
                put(&mut out, &[SHARED, end_tag(*end), *seq, *count]);
                put_bytes(&mut out, session.as_str().as_bytes());
            }
            SourceSpan::SharedSpread { session, seq, margin, indent, end } => {
                put(&mut out, &[SHARED_SPREAD, end_tag(*end), *seq]);
                for bytes in [session.as_str().as_bytes(), margin, indent] {
                    put_bytes(&mut out, bytes);
                }
            }
            SourceSpan::Gone(len) => put(&mut out, &[GONE, *len]),
            SourceSpan::Waiting { after, bytes, sha256 } => {
                put(&mut out, &[WAITING, *after]);
                put_bytes(&mut out, bytes);
                out.extend_from_slice(sha256);
            }
            SourceSpan::Inherited { session, seq, count, end } => {
                put(&mut out, &[INHERITED, end_tag(*end), u64::from(*session), *seq, *count]);
            }
            SourceSpan::Patched { session, seq, at, removed, inserted, end } => {
                let session = u64::from(*session);
                let len = inserted.len() as u64;
                put(&mut out, &[PATCHED, end_tag(*end), session, *seq, *at, *removed, len]);
                out.extend_from_slice(inserted);
            }
            SourceSpan::PatchedOften { session, seq, patches, end } => {
                let (session, count) = (u64::from(*session), patches.len() as u64);
                put(&mut out, &[PATCHED_OFTEN, end_tag(*end), session, *seq, count]);
                for Patch { at, removed, inserted } in patches {
                    put(&mut out, &[*at, *removed]);
                    put_bytes(&mut out, inserted);
                }
            }
        }
    }
    out
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, &[bytes.len() as u64]);
    out.extend_from_slice(bytes);
}

fn end_tag(end: LineEnd) -> u64 {
    match end {
        LineEnd::None => EVENTS,
        LineEnd::Lf => EVENTS_LF,
        LineEnd::CrLf => EVENTS_CRLF,
    }
}

fn tagged_end(tag: u64) -> Option<LineEnd> {
    match tag {
        EVENTS => Some(LineEnd::None),
        EVENTS_LF => Some(LineEnd::Lf),
        EVENTS_CRLF => Some(LineEnd::CrLf),
        _ => None,
    }
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

/// Decodes the spans that [`encode`] encoded.
///
/// # Errors
/// If the bytes are not an encoded list of spans.
pub fn decode(bytes: &[u8]) -> Result<Vec<SourceSpan>, RangeError> {
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
    fn range(&mut self) -> Result<SourceSpan, RangeError> {
        match self.number()? {
            OTHER => Ok(SourceSpan::Other(self.take_bytes()?)),
            RAW => {
                let (session, position) = (self.session()?, self.number()?);
                Ok(SourceSpan::Raw { session, position, bytes: self.take_bytes()? })
            }
            SPREAD => {
                let (end, session, position) = (self.end()?, self.session()?, self.number()?);
                let (margin, indent) = (self.take_bytes()?, self.take_bytes()?);
                Ok(SourceSpan::Spread { session, position, margin, indent, end })
            }
            GONE => Ok(SourceSpan::Gone(self.number()?)),
            WAITING => {
                let (after, bytes) = (self.number()?, self.take_bytes()?);
                Ok(SourceSpan::Waiting { after, bytes, sha256: self.digest()? })
            }
            INHERITED => {
                let end = self.end()?;
                let (session, seq, count) = (self.session()?, self.number()?, self.number()?);
                Ok(SourceSpan::Inherited { session, seq, count, end })
            }
            PATCHED => {
                let (end, session, seq) = (self.end()?, self.session()?, self.number()?);
                let (at, removed) = (self.number()?, self.number()?);
                Ok(SourceSpan::Patched {
                    session,
                    seq,
                    at,
                    removed,
                    inserted: self.take_bytes()?,
                    end,
                })
            }
            PATCHED_OFTEN => {
                let end = self.end()?;
                let (session, seq, count) = (self.session()?, self.number()?, self.number()?);
                let patches = (0..count).map(|_| self.patch()).collect::<Result<_, _>>()?;
                Ok(SourceSpan::PatchedOften { session, seq, patches, end })
            }
            SHARED => {
                let (end, seq, count) = (self.end()?, self.number()?, self.number()?);
                Ok(SourceSpan::Shared { session: self.session_id()?, seq, count, end })
            }
            SHARED_SPREAD => {
                let (end, seq, session) = (self.end()?, self.number()?, self.session_id()?);
                let (margin, indent) = (self.take_bytes()?, self.take_bytes()?);
                Ok(SourceSpan::SharedSpread { session, seq, margin, indent, end })
            }
            tag => {
                let end = tagged_end(tag).ok_or(RangeError(self.at))?;
                let (session, from, count) = (self.session()?, self.number()?, self.number()?);
                Ok(SourceSpan::Events { session, from, count, end })
            }
        }
    }

    fn end(&mut self) -> Result<LineEnd, RangeError> {
        tagged_end(self.number()?).ok_or(RangeError(self.at))
    }

    fn number(&mut self) -> Result<u64, RangeError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or(RangeError(self.at))?;
            self.at += 1;
            let part = u64::from(byte & 0x7f);
            if part << shift >> shift != part {
                break;
            }
            number |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(RangeError(self.at))
    }

    fn patch(&mut self) -> Result<Patch, RangeError> {
        let (at, removed) = (self.number()?, self.number()?);
        Ok(Patch { at, removed, inserted: self.take_bytes()? })
    }

    fn session(&mut self) -> Result<u32, RangeError> {
        u32::try_from(self.number()?).map_err(|_| RangeError(self.at))
    }

    fn session_id(&mut self) -> Result<SessionId, RangeError> {
        let wrong = RangeError(self.at);
        let text = String::from_utf8(self.take_bytes()?).map_err(|_| wrong)?;
        text.parse().map_err(|_| wrong)
    }

    fn take_bytes(&mut self) -> Result<Vec<u8>, RangeError> {
        let wrong = RangeError(self.at);
        let len = usize::try_from(self.number()?).map_err(|_| wrong)?;
        Ok(self.slice(len)?.to_vec())
    }

    fn digest(&mut self) -> Result<[u8; 32], RangeError> {
        let wrong = RangeError(self.at);
        self.slice(32)?.try_into().map_err(|_| wrong)
    }

    fn slice(&mut self, len: usize) -> Result<&[u8], RangeError> {
        let wrong = RangeError(self.at);
        let end = self.at.checked_add(len).ok_or(wrong)?;
        let bytes = self.bytes.get(self.at..end).ok_or(wrong)?;
        self.at = end;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_come_back_and_damage_is_seen() {
        let ranges = vec![
            SourceSpan::Other(b"\xef\xbb\xbf".to_vec()),
            SourceSpan::Events { session: 0, from: 0, count: 1_000_000, end: LineEnd::Lf },
            SourceSpan::Events { session: 300, from: 7, count: 1, end: LineEnd::CrLf },
            SourceSpan::Events { session: u32::MAX, from: u64::MAX, count: 2, end: LineEnd::None },
            SourceSpan::Raw { session: 1, position: 128, bytes: vec![0xff; 200] },
            SourceSpan::Spread {
                session: 1,
                position: 129,
                margin: b"    ".to_vec(),
                indent: b"\t".to_vec(),
                end: LineEnd::CrLf,
            },
            SourceSpan::Gone(u64::MAX),
            SourceSpan::Waiting { after: 300, bytes: b"{\"ty".to_vec(), sha256: [7; 32] },
            SourceSpan::Inherited { session: 2, seq: 1, count: 5_000, end: LineEnd::Lf },
            SourceSpan::Patched {
                session: 0,
                seq: 9,
                at: 40,
                removed: 36,
                inserted: b"another".to_vec(),
                end: LineEnd::CrLf,
            },
            SourceSpan::PatchedOften {
                session: 1,
                seq: 10,
                patches: vec![
                    Patch { at: 3, removed: 0, inserted: b"more".to_vec() },
                    Patch { at: 300, removed: 2, inserted: Vec::new() },
                ],
                end: LineEnd::Lf,
            },
            SourceSpan::Shared {
                session: "s1".parse().unwrap(),
                seq: 300,
                count: 2,
                end: LineEnd::Lf,
            },
            SourceSpan::SharedSpread {
                session: "s2".parse().unwrap(),
                seq: 3,
                margin: Vec::new(),
                indent: b"  ".to_vec(),
                end: LineEnd::Lf,
            },
            SourceSpan::Other(Vec::new()),
        ];
        let bytes = encode(&ranges);
        assert_eq!(decode(&bytes).unwrap(), ranges);
        assert_eq!(decode(&[]).unwrap(), []);
        for cut in 0..bytes.len() {
            if let Ok(fewer) = decode(&bytes[..cut]) {
                assert_eq!(ranges[..fewer.len()], fewer);
            }
        }
        assert!(decode(&[13]).is_err());
        assert!(decode(&[0xff; 20]).is_err());
        // `Gone` with a number of 65 bits.
        let gone = encode(&[SourceSpan::Gone(u64::MAX)]);
        let too_large: Vec<u8> = [&gone[..gone.len() - 1], &[3]].concat();
        assert!(decode(&too_large).is_err());
    }
}
