//! Computes short ids for tables: the shortest suffixes that are unique among the shown ids.

use std::collections::HashMap;

use forklore::core::SessionId;

/// The minimum length of a short id, in characters. Eight hex digits stay unique in a store of a
/// hundred thousand sessions. Short ids are suffixes, because UUIDv7 ids generated in the same
/// minute have equal prefixes.
const SHORTEST: usize = 8;
/// The maximum length, in characters, of a user-chosen id that is shown in full. A longer id is
/// shortened.
const WHOLE: usize = 32;

/// The short forms of the session ids that one command prints. Each short form is unique among
/// them.
pub(crate) struct ShortIds(HashMap<SessionId, String>);

impl ShortIds {
    /// Computes for each of these ids a short form that is unique among them.
    pub(crate) fn of<'a>(ids: impl IntoIterator<Item = &'a SessionId>) -> Self {
        let mut backwards: Vec<(String, &SessionId)> = ids
            .into_iter()
            .map(|id| (id.as_str().to_lowercase().chars().rev().collect(), id))
            .collect();
        backwards.sort();
        backwards.dedup();
        let mut short = HashMap::new();
        for (at, (text, id)) in backwards.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|at| backwards.get(at));
            let after = backwards.get(at + 1);
            let shared = |other: Option<&(String, &SessionId)>| {
                other.map_or(0, |(other, _)| common(text, other))
            };
            let needed = shared(before).max(shared(after)) + 1;
            short.insert((*id).clone(), end_of(id.as_str(), needed.max(SHORTEST)));
        }
        Self(short)
    }

    /// Returns the short form of an id, or the full id if no short form was computed for it.
    pub(crate) fn get<'a>(&'a self, id: &'a SessionId) -> &'a str {
        self.0.get(id).map_or_else(|| id.as_str(), String::as_str)
    }
}

fn common(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

/// Returns the shortest suffix of an id that has at least `chars` characters and is a valid id
/// itself. Returns the whole id if it has at most `SHORTEST` characters, or if no suffix is valid.
/// Also returns the whole id if a user chose it and it has at most `WHOLE` characters.
fn end_of(id: &str, chars: usize) -> String {
    let len = id.chars().count();
    let is_generated = id.chars().rev().take(SHORTEST).all(|c| c.is_ascii_hexdigit());
    if len <= SHORTEST || (!is_generated && len <= WHOLE) {
        return id.to_owned();
    }
    let ends = (0..=len.saturating_sub(chars)).rev();
    ends.map(|skip| id.chars().skip(skip).collect::<String>())
        .find(|end| end.parse::<SessionId>().is_ok())
        .unwrap_or_else(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(ids: &[&str]) -> Vec<String> {
        let ids: Vec<SessionId> = ids.iter().map(|id| id.parse().unwrap()).collect();
        let short = ShortIds::of(&ids);
        ids.iter().map(|id| short.get(id).to_owned()).collect()
    }

    #[test]
    fn ends_are_as_long_as_they_must_be() {
        assert_eq!(
            short(&[
                "0198aaaa-0000-7000-8000-0000deadbeef",
                "0198aaaa-0000-7000-8000-000fdeadbeef",
                "0198aaaa-0000-7000-8000-111122223333",
                "two-writers-interleaved",
            ]),
            ["0deadbeef", "fdeadbeef", "22223333", "two-writers-interleaved"]
        );
    }

    #[test]
    fn an_end_is_a_name_itself() {
        let ids = ["pi-567-12345678", "pi-567.-12345678"];
        assert_eq!(short(&ids), ["7-12345678", "7.-12345678"]);
    }
}
