//! The common beginning of two histories, by the identity of their events (SPEC 7).

use crate::event::Origin;

/// How much two histories share from the beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Common {
    /// The number of conversation events in the common run.
    pub len: u64,
    /// The origin of its last event.
    pub last: Option<Origin>,
}

/// Follows two histories, given as the origins of their conversation events, while they agree.
///
/// # Errors
/// The first error of either stream.
pub fn common<E>(
    a: impl IntoIterator<Item = Result<Origin, E>>,
    b: impl IntoIterator<Item = Result<Origin, E>>,
) -> Result<Common, E> {
    let mut common = Common::default();
    for (a, b) in a.into_iter().zip(b) {
        let (a, b) = (a?, b?);
        if a != b {
            break;
        }
        common.len += 1;
        common.last = Some(a);
    }
    Ok(common)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins(of: &[(&str, u64)]) -> Vec<Result<Origin, ()>> {
        of.iter()
            .map(|(id, seq)| Ok(Origin { session_id: id.parse().unwrap(), seq: *seq }))
            .collect()
    }

    #[test]
    fn the_run_ends_at_the_first_difference() {
        let a = origins(&[("p", 0), ("p", 1), ("a", 1), ("p", 3)]);
        let b = origins(&[("p", 0), ("p", 1), ("b", 1), ("p", 3)]);
        let found = common(a, b).unwrap();
        assert_eq!(found.len, 2);
        assert_eq!(found.last, Some(Origin { session_id: "p".parse().unwrap(), seq: 1 }));
        assert_eq!(common(origins(&[("a", 0)]), origins(&[("b", 0)])).unwrap(), Common::default());
    }
}
