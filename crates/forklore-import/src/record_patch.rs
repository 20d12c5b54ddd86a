//! The difference between a copied record and the event that it repeats.

use forklore_store::sources::{LineEnd, SourceSpan};

/// Maximum number of bytes in which a copied record with an id may differ from its original. It is
/// large enough for different ids and times.
pub(crate) const DIFFERENCE: usize = 512;
/// Maximum number of bytes in which a copied record without an id may differ from its original.
pub(crate) const NAMELESS: usize = 64;

/// The difference between an event and the copied record that repeats it. To get the record,
/// replace `removed` bytes at byte `at` of the event by `inserted`.
#[derive(Debug, PartialEq)]
pub(crate) struct RecordPatch<'t> {
    at: usize,
    removed: usize,
    inserted: &'t [u8],
}

impl<'t> RecordPatch<'t> {
    /// Returns the difference between an event and a record's `text`. Returns `None` if more than
    /// `most` bytes are removed or inserted.
    pub(crate) fn of(event: &str, text: &'t str, most: usize) -> Option<Self> {
        Self::between(event, text).filter(|it| it.removed.max(it.inserted.len()) <= most)
    }

    fn between(event: &str, record: &'t str) -> Option<Self> {
        let (event, record) = (event.as_bytes(), record.as_bytes());
        let alike = |(a, b): &(&u8, &u8)| a == b;
        let at = event.iter().zip(record).take_while(alike).count();
        let (event, record) = (event.get(at..)?, record.get(at..)?);
        let behind = event.iter().rev().zip(record.iter().rev()).take_while(alike).count();
        let removed = event.len() - behind;
        let inserted = record.get(..record.len() - behind)?;
        Some(Self { at, removed, inserted })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.removed == 0 && self.inserted.is_empty()
    }

    pub(crate) fn range(&self, seq: u64, end: LineEnd) -> SourceSpan {
        if self.is_empty() {
            return SourceSpan::Inherited { session: 0, seq, count: 1, end };
        }
        SourceSpan::Patched {
            session: 0,
            seq,
            at: self.at as u64,
            removed: self.removed as u64,
            inserted: self.inserted.to_vec(),
            end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exchange_is_the_bytes_between_what_is_alike() {
        let of = |event, record| RecordPatch::between(event, record);
        let found = |at, removed, inserted| Some(RecordPatch { at, removed, inserted });
        assert_eq!(of("{\"s\":\"abc\"}", "{\"s\":\"abc\"}"), found(11, 0, b"".as_slice()));
        assert_eq!(of("{\"s\":\"abc\"}", "{\"s\":\"xyz\"}"), found(6, 3, b"xyz".as_slice()));
        assert_eq!(of("aa", "aaa"), found(2, 0, b"a".as_slice()));
        assert_eq!(of("aaa", "aa"), found(2, 1, b"".as_slice()));
        assert_eq!(of("", "x"), found(0, 0, b"x".as_slice()));
    }
}
