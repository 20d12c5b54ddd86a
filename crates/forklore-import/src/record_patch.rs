//! The difference between a copied record and the event that it repeats.

use std::collections::HashMap;

use forklore_store::sources::{LineEnd, Patch, SourceSpan};

/// The maximum number of bytes, and of places, in which a copied record may differ from its
/// original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    bytes: usize,
    differences: usize,
}

/// How much a copied record with an id may differ from its original. The limit is large enough for
/// different ids and times, and for fields that only the copy has.
pub(crate) const DIFFERENCE: Limit = Limit { bytes: 512, differences: 8 };
/// How much a copied record without an id may differ from its original.
pub(crate) const NAMELESS: Limit = Limit { bytes: 64, differences: 1 };

/// A difference ends where at least this many bytes are equal again. Unrelated JSON fields have
/// fewer bytes in common, for example `":"`.
const SAME: usize = 16;

/// The difference between an event and the copied record that repeats it.
#[derive(Debug, PartialEq)]
pub(crate) struct RecordPatch<'t>(Vec<Difference<'t>>);

/// One place in which a copied record differs from the event: `removed` bytes at byte `at` of the
/// event are replaced by `inserted`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Difference<'t> {
    at: usize,
    removed: usize,
    inserted: &'t [u8],
}

impl<'t> RecordPatch<'t> {
    /// Returns the difference between an event and a record's `text`. Returns `None` if the two
    /// differ in more bytes or more places than `most` allows.
    pub(crate) fn of(event: &str, text: &'t str, most: Limit) -> Option<Self> {
        let (event, text) = (event.as_bytes(), text.as_bytes());
        let whole = Difference::between(event, text)?;
        if whole.size() <= most.bytes {
            let differs = whole.size() > 0;
            return Some(Self(differs.then_some(whole).into_iter().collect()));
        }
        // An agent that forks writes another session id, and may add a field at the end. The text
        // between the two places is equal, however long it is.
        let removed = event.get(whole.at..whole.at + whole.removed)?;
        let differences = differences(removed, whole.inserted, most)?;
        let shifted = differences.into_iter().map(|it| Difference { at: it.at + whole.at, ..it });
        Some(Self(shifted.collect()))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn range(&self, seq: u64, end: LineEnd) -> SourceSpan {
        match self.0.as_slice() {
            [] => SourceSpan::Inherited { session: 0, seq, count: 1, end },
            [Difference { at, removed, inserted }] => SourceSpan::Patched {
                session: 0,
                seq,
                at: *at as u64,
                removed: *removed as u64,
                inserted: inserted.to_vec(),
                end,
            },
            several => {
                let patches = several.iter().map(Difference::patch).collect();
                SourceSpan::PatchedOften { session: 0, seq, patches, end }
            }
        }
    }
}

impl<'t> Difference<'t> {
    /// Returns the bytes between the common beginning and the common end of an event and a record.
    fn between(event: &[u8], record: &'t [u8]) -> Option<Self> {
        let at = alike(event, record);
        let (event, record) = (event.get(at..)?, record.get(at..)?);
        let behind = event.iter().rev().zip(record.iter().rev()).take_while(|(a, b)| a == b);
        let behind = behind.count();
        let removed = event.len() - behind;
        let inserted = record.get(..record.len() - behind)?;
        Some(Self { at, removed, inserted })
    }

    fn size(&self) -> usize {
        self.removed.max(self.inserted.len())
    }

    fn patch(&self) -> Patch {
        let (at, removed) = (self.at as u64, self.removed as u64);
        Patch { at, removed, inserted: self.inserted.to_vec() }
    }
}

/// Returns the number of equal bytes at the beginnings of two texts.
fn alike(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Returns the places in which `record` differs from `event`. Returns `None` if they differ in more
/// than `most` allows.
fn differences<'t>(event: &[u8], record: &'t [u8], most: Limit) -> Option<Vec<Difference<'t>>> {
    let mut found: Vec<Difference<'t>> = Vec::new();
    let (mut at, mut from, mut left) = (0, 0, most.bytes);
    loop {
        let common = alike(event.get(at..)?, record.get(from..)?);
        (at, from) = (at + common, from + common);
        let (old, new) = (event.get(at..)?, record.get(from..)?);
        if old.is_empty() && new.is_empty() {
            return Some(found);
        }
        if found.len() == most.differences {
            return None;
        }
        let (removed, inserted) = equal_again(old, new, left)?;
        let difference = Difference { at, removed, inserted: new.get(..inserted)? };
        left = left.checked_sub(difference.size())?;
        found.push(difference);
        (at, from) = (at + removed, from + inserted);
    }
}

/// Returns after how many bytes of each text the two are equal again for at least [`SAME`] bytes.
/// Searches at most `most` bytes of each text. If the search finds nothing, returns the lengths of
/// the texts, or `None` if one of them is longer than `most`.
fn equal_again(old: &[u8], new: &[u8], most: usize) -> Option<(usize, usize)> {
    let windows = |text: &[u8]| text.len().saturating_sub(SAME - 1).min(most + 1);
    let mut positions = HashMap::new();
    for (at, window) in old.windows(SAME).take(windows(old)).enumerate() {
        positions.entry(window).or_insert(at);
    }
    let mut new_windows = new.windows(SAME).take(windows(new)).enumerate();
    let found = new_windows.find_map(|(at, window)| positions.get(window).map(|old| (*old, at)));
    found.or_else(|| (old.len().max(new.len()) <= most).then_some((old.len(), new.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<'t>(event: &str, record: &'t str, bytes: usize) -> Option<Vec<(usize, usize, &'t str)>> {
        let most = Limit { bytes, differences: 2 };
        let text = |bytes| std::str::from_utf8(bytes).unwrap();
        let differences = RecordPatch::of(event, record, most)?.0.into_iter();
        Some(differences.map(|it| (it.at, it.removed, text(it.inserted))).collect())
    }

    #[test]
    fn a_difference_is_the_bytes_between_what_is_alike() {
        assert_eq!(of("{\"s\":\"abc\"}", "{\"s\":\"abc\"}", 9), Some(vec![]));
        assert_eq!(of("{\"s\":\"abc\"}", "{\"s\":\"xyz\"}", 9), Some(vec![(6, 3, "xyz")]));
        assert_eq!(of("aa", "aaa", 9), Some(vec![(2, 0, "a")]));
        assert_eq!(of("aaa", "aa", 9), Some(vec![(2, 1, "")]));
        assert_eq!(of("", "x", 9), Some(vec![(0, 0, "x")]));
        assert_eq!(of("{\"s\":\"abc\"}", "{\"s\":\"xyz\"}", 2), None);
    }

    #[test]
    fn equal_text_between_two_differences_is_no_difference() {
        let words = "plan A or plan B? ".repeat(100);
        let record = |session: &str, end: &str| {
            format!("{{\"sessionId\":\"{session}\",\"message\":\"{words}\"{end}}}")
        };
        let (one, two) = (record("s-1111", ""), record("s-2222", ",\"sessionKind\":\"bg\""));
        // The quotation mark before the new field is equal to the one at its end.
        let (first, second) = (one.find("1111").unwrap(), one.len() - 2);
        let expected = vec![(first, 4, "2222"), (second, 0, "\",\"sessionKind\":\"bg")];
        assert_eq!(of(&one, &two, 64), Some(expected));
        let back = vec![(first, 4, "1111"), (second, 19, "")];
        assert_eq!(of(&two, &one, 64), Some(back));
        assert_eq!(of(&one, &two, 20), None);
        let most = Limit { bytes: 64, differences: 1 };
        assert_eq!(RecordPatch::of(&one, &two, most), None);
        assert_eq!(of(&one, &two.replace("plan", "idea"), 512), None);
    }
}
