//! The short forms of session ids that people read and type.

use std::collections::HashMap;

use super::SessionId;

/// The minimum length of a short id, in characters. Eight random hex digits stay unique in a store
/// of a hundred thousand sessions.
const SHORTEST: usize = 8;
/// The minimum length, in characters, of the short form of a UUIDv7. Its first 12 hex digits are
/// the time, so that ids of one minute differ only after the first eight.
const SHORTEST_BY_TIME: usize = 13;
/// The maximum length, in characters, of a chosen id that is shown in full.
const WHOLE: usize = 32;

/// The short forms of some session ids. Each short form is a prefix that only one of them has.
#[derive(Clone, Debug, Default)]
pub struct ShortIds(HashMap<SessionId, ShortId>);

/// The short form of one session id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortId {
    /// The prefix to show.
    pub shown: String,
    /// How many characters of [`shown`](Self::shown) suffice to tell the id from the others.
    pub unique: usize,
}

impl ShortIds {
    /// Computes the short form of each of these ids.
    pub fn of<'a>(ids: impl IntoIterator<Item = &'a SessionId>) -> Self {
        let mut sorted: Vec<(String, &SessionId)> =
            ids.into_iter().map(|id| (id.as_str().to_lowercase(), id)).collect();
        sorted.sort();
        sorted.dedup();
        let mut short = HashMap::with_capacity(sorted.len());
        for (at, (text, id)) in sorted.iter().enumerate() {
            let shared = |other: Option<&(String, &SessionId)>| {
                other.map_or(0, |(other, _)| common(text, other))
            };
            let before = at.checked_sub(1).and_then(|at| sorted.get(at));
            let unique = shared(before).max(shared(sorted.get(at + 1))) + 1;
            short.insert((*id).clone(), ShortId::new(id, unique));
        }
        Self(short)
    }

    /// Returns the prefix to show for an id, or the full id if no short form was computed for it.
    #[must_use]
    pub fn get<'a>(&'a self, id: &'a SessionId) -> &'a str {
        self.0.get(id).map_or_else(|| id.as_str(), |short| &short.shown)
    }

    /// Returns the short form of an id. An id for which none was computed is shown in full.
    #[must_use]
    pub fn short(&self, id: &SessionId) -> ShortId {
        self.0.get(id).cloned().unwrap_or_else(|| ShortId {
            shown: id.to_string(),
            unique: id.as_str().chars().count(),
        })
    }
}

impl ShortId {
    /// Computes the short form of an id that `unique` characters tell from all others.
    fn new(id: &SessionId, unique: usize) -> Self {
        let shown = prefix(id, unique);
        let unique = unique.min(shown.chars().count());
        Self { shown, unique }
    }
}

/// Returns the shortest prefix that may be shown and has at least `unique` characters. Returns the
/// whole id if it is short, or if someone chose it and it is not long.
#[must_use]
fn prefix(id: &SessionId, unique: usize) -> String {
    let text = id.as_str();
    let len = text.chars().count();
    let least = match uuid::Uuid::parse_str(text).map(|uuid| uuid.get_version_num()) {
        Ok(7) => SHORTEST_BY_TIME,
        Ok(_) => SHORTEST,
        Err(_) if len <= WHOLE => return text.to_owned(),
        Err(_) => WHOLE / 2,
    };
    // A prefix must be an id itself, so that it can be typed, and a dash at its end looks broken.
    let prefixes = (unique.max(least)..len).map(|len| text.chars().take(len).collect::<String>());
    prefixes
        .filter(|prefix| !prefix.ends_with(['-', '.']))
        .find(|prefix| prefix.parse::<SessionId>().is_ok())
        .unwrap_or_else(|| text.to_owned())
}

fn common(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(ids: &[&str]) -> Vec<(String, usize)> {
        let ids: Vec<SessionId> = ids.iter().map(|id| id.parse().unwrap()).collect();
        let short = ShortIds::of(&ids);
        let short = |id| {
            let ShortId { shown, unique } = short.short(id);
            (shown, unique)
        };
        ids.iter().map(short).collect()
    }

    #[test]
    fn prefixes_are_as_long_as_they_must_be() {
        let by_time = "0198aaaa-0000-7000-8000-0000deadbeef";
        let shown = short(&[
            by_time,
            "0198aaaa-0000-7001-8000-0000deadbeef",
            "4c5d6e7f-0000-8000-8000-111122223333",
            "4c5d6e7f-0001-8000-8000-111122223333",
            "two-writers-interleaved",
            "ses_41d3e8f9affe0000000000000000000000000001",
        ]);
        let named = |shown: &str, unique| (shown.to_owned(), unique);
        assert_eq!(
            shown,
            [
                named("0198aaaa-0000-7000", 18),
                named("0198aaaa-0000-7001", 18),
                named("4c5d6e7f-0000", 13),
                named("4c5d6e7f-0001", 13),
                named("two-writers-interleaved", 1),
                named("ses_41d3e8f9affe", 1),
            ]
        );
        assert_eq!(short(&[by_time]), [named("0198aaaa-0000", 1)]);
        assert_eq!(short(&["4c5d6e7f-0000-4000-8000-111122223333"]), [named("4c5d6e7f", 1)]);
    }

    #[test]
    fn ids_that_differ_only_in_case_are_whole() {
        let upper = "ABCDEF01-0000-4000-8000-111122223333";
        assert_eq!(
            short(&[upper, upper]),
            [("ABCDEF01".to_owned(), 1), ("ABCDEF01".to_owned(), 1)]
        );
    }

    #[test]
    fn a_prefix_is_a_reference_itself() {
        let long = format!("a{}-{}", "b".repeat(14), "c".repeat(40));
        assert_eq!(short(&[&long]), [(format!("a{}-c", "b".repeat(14)), 1)]);
    }
}
