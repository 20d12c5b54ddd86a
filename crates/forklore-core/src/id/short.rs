//! The short forms of session ids that people read and type.

use std::collections::HashMap;

use super::SessionId;

/// The minimum length of a short id, in characters. Eight random hex digits are almost always
/// unique in a store of a hundred thousand sessions.
const SHORTEST: usize = 8;
/// The minimum length, in characters, of the short form of a UUIDv7. Its first 12 hex digits are
/// the time, so ids of one minute have the same first eight digits.
const SHORTEST_BY_TIME: usize = 13;
/// The maximum length, in characters, of the beginning that tells an id from the others. If more
/// characters are needed, the short form is the end of the id instead.
const LONGEST: usize = 18;
/// The maximum length, in characters, of an id that is shown in full because a person chose it.
const WHOLE: usize = 32;

/// The short forms of some session ids. A short form is the beginning of an id that no other of
/// these ids has. If that beginning were long, the short form is the end of the id instead.
#[derive(Clone, Debug, Default)]
pub struct ShortIds(HashMap<SessionId, ShortId>);

/// The short form of one session id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortId {
    /// The part of the id to show.
    pub shown: String,
    /// How many characters at the beginning of [`shown`](Self::shown) suffice to tell the id from
    /// the others. `usize::MAX` if the short form is not a beginning, or is the whole id.
    pub unique: usize,
}

impl ShortIds {
    /// Computes the short form of each of these ids.
    pub fn of<'a>(ids: impl IntoIterator<Item = &'a SessionId>) -> Self {
        let ids: Vec<_> = ids.into_iter().collect();
        let prefixes = needed(ids.iter().map(|id| (id.as_str().to_lowercase(), *id)));
        let backwards = |id: &SessionId| id.as_str().to_lowercase().chars().rev().collect();
        let suffixes = needed(ids.iter().map(|id| (backwards(id), *id)));
        let short = prefixes.into_iter().map(|(id, unique)| {
            let at_end = suffixes.get(id).copied().unwrap_or_default();
            (id.clone(), ShortId::new(id, unique, at_end))
        });
        Self(short.collect())
    }

    /// Returns the part of an id to show, or the full id if no short form was computed for it.
    #[must_use]
    pub fn get<'a>(&'a self, id: &'a SessionId) -> &'a str {
        self.0.get(id).map_or_else(|| id.as_str(), |short| &short.shown)
    }

    /// Returns the short form of an id, or the full id if no short form was computed for it.
    #[must_use]
    pub fn short(&self, id: &SessionId) -> ShortId {
        self.0.get(id).cloned().unwrap_or_else(|| ShortId::whole(id))
    }
}

impl ShortId {
    /// Computes the short form of an id. The first `unique` characters of the id tell the id from
    /// all other ids, and so do its last `at_end` characters.
    fn new(id: &SessionId, unique: usize, at_end: usize) -> Self {
        let Some(least) = least(id) else { return Self::whole(id) };
        let text = id.as_str();
        let len = text.chars().count();
        if unique > LONGEST {
            let ends = (at_end.max(SHORTEST)..len).map(|end| text.chars().skip(len - end));
            let shown = ends.map(String::from_iter).find(|end: &String| is_name(end));
            let unique = usize::MAX;
            return shown.map_or_else(|| Self::whole(id), |shown| Self { shown, unique });
        }
        let prefixes = (unique.max(least)..len).map(|len| text.chars().take(len));
        let shown = prefixes
            .map(String::from_iter)
            // A dash at the end looks broken.
            .find(|prefix: &String| !prefix.ends_with(['-', '.']) && is_name(prefix));
        shown.map_or_else(|| Self::whole(id), |shown| Self { shown, unique })
    }

    fn whole(id: &SessionId) -> Self {
        Self { shown: id.to_string(), unique: usize::MAX }
    }
}

/// Returns, for each text, how many characters at its beginning tell it from all other texts.
fn needed<'a>(
    texts: impl Iterator<Item = (String, &'a SessionId)>,
) -> HashMap<&'a SessionId, usize> {
    let mut sorted: Vec<_> = texts.collect();
    sorted.sort();
    sorted.dedup();
    let shared = |text: &str, other: Option<&(String, &SessionId)>| {
        other.map_or(0, |(other, _)| common(text, other))
    };
    let needed = sorted.iter().enumerate().map(|(at, (text, id))| {
        let before = at.checked_sub(1).and_then(|at| sorted.get(at));
        (*id, shared(text, before).max(shared(text, sorted.get(at + 1))) + 1)
    });
    needed.collect()
}

/// Returns the minimum length, in characters, of the short form of an id. Returns `None` if the id
/// must be shown in full: a person chose it, and it is short.
fn least(id: &SessionId) -> Option<usize> {
    let text = id.as_str();
    if let Ok(uuid) = uuid::Uuid::parse_str(text) {
        return Some(if uuid.get_version_num() == 7 { SHORTEST_BY_TIME } else { SHORTEST });
    }
    // The form of `SessionId::derived`.
    if let Some((dialect, hex)) = text.rsplit_once('-')
        && hex.len() == 16
        && hex.chars().all(|c| c.is_ascii_hexdigit())
    {
        return Some(dialect.chars().count() + 1 + SHORTEST);
    }
    (text.chars().count() > WHOLE).then_some(WHOLE / 2)
}

/// Checks whether a part of an id can be typed as a reference.
fn is_name(part: &str) -> bool {
    part.parse::<SessionId>().is_ok()
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
            let unique = unique.min(shown.chars().count());
            (shown, unique)
        };
        ids.iter().map(short).collect()
    }

    fn named(shown: &str, unique: usize) -> (String, usize) {
        (shown.to_owned(), unique)
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
            "opencode-1dbcf245de883c15",
            "ses_41d3e8f9affe0000000000000000000000000001",
        ]);
        assert_eq!(
            shown,
            [
                named("0198aaaa-0000-7000", 18),
                named("0198aaaa-0000-7001", 18),
                named("4c5d6e7f-0000", 13),
                named("4c5d6e7f-0001", 13),
                named("two-writers-interleaved", 23),
                named("opencode-1dbcf245", 1),
                named("ses_41d3e8f9affe", 1),
            ]
        );
        assert_eq!(short(&[by_time]), [named("0198aaaa-0000", 1)]);
        assert_eq!(short(&["4c5d6e7f-0000-4000-8000-111122223333"]), [named("4c5d6e7f", 1)]);
    }

    #[test]
    fn ids_of_one_millisecond_show_their_ends() {
        let ids = ["01a1fff4-d641-71c4-b766-62fb00001111", "01a1fff4-d641-71c4-b766-62fb00001112"];
        assert_eq!(short(&ids), [named("00001111", 8), named("00001112", 8)]);
    }

    #[test]
    fn the_same_id_twice_is_one() {
        let upper = "ABCDEF01-0000-4000-8000-111122223333";
        assert_eq!(short(&[upper, upper]), [named("ABCDEF01", 1), named("ABCDEF01", 1)]);
    }

    #[test]
    fn a_short_form_is_a_reference_itself() {
        let long = format!("a{}-{}", "b".repeat(14), "c".repeat(40));
        assert_eq!(short(&[&long]), [named(&format!("a{}-c", "b".repeat(14)), 1)]);
    }
}
