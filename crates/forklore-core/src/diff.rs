//! Finds the common beginning of two histories, by comparing the origins of their events
//! (docs/semantics.md, Reading).

/// Returns the number of conversation events that two histories have in common from the beginning.
/// `len` is the number of conversation events in the shorter history. `same` checks whether, at a
/// given index, both histories contain the same event: one that the same session first wrote at the
/// same log position.
///
/// A session inherits the history of its parent up to a cut, and nothing from any other session.
/// Two histories that share an event therefore also share all events before that event. This lets a
/// binary search find the first difference in O(log `len`) calls of `same`.
///
/// # Errors
/// The first error of `same`.
pub fn common<E>(len: u64, mut same: impl FnMut(u64) -> Result<bool, E>) -> Result<u64, E> {
    let Some(last) = len.checked_sub(1) else { return Ok(0) };
    // Check the last index first, because often one history is the beginning of the other.
    if same(last)? {
        return Ok(len);
    }
    let (mut common, mut differs) = (0, last);
    while common < differs {
        let middle = common + (differs - common) / 2;
        if same(middle)? {
            common = middle + 1;
        } else {
            differs = middle;
        }
    }
    Ok(common)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::event::Origin;

    /// Generates the histories of sessions that descend from one root. Each history inherits the
    /// beginning of an earlier history and appends its own events.
    fn family() -> impl Strategy<Value = Vec<Vec<Origin>>> {
        let session = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..20_u64);
        prop::collection::vec(session, 2..12).prop_map(|sessions| {
            let mut family: Vec<Vec<Origin>> = Vec::new();
            for (number, (parent, cut, own)) in sessions.into_iter().enumerate() {
                let parent =
                    if number == 0 { &[] } else { family[parent.index(number)].as_slice() };
                let mut history = parent[..cut.index(parent.len() + 1)].to_vec();
                let session_id = format!("s{number}").parse().unwrap();
                let from = history.len() as u64;
                let written = |seq| Origin { session_id: Clone::clone(&session_id), seq };
                history.extend((from..from + own).map(written));
                family.push(history);
            }
            family
        })
    }

    proptest! {
        #[test]
        fn the_search_finds_where_a_walk_parts(family in family()) {
            for a in &family {
                for b in &family {
                    let walked = a.iter().zip(b).take_while(|(a, b)| a == b).count() as u64;
                    let len = a.len().min(b.len()) as u64;
                    let mut looks = 0;
                    let found = common(len, |index| {
                        looks += 1;
                        Ok::<_, ()>(a[index as usize] == b[index as usize])
                    });
                    prop_assert_eq!(found, Ok(walked));
                    prop_assert!(looks <= 2 + u64::BITS - len.leading_zeros());
                }
            }
        }
    }

    #[test]
    fn an_error_ends_the_search() {
        assert_eq!(common(5, |index| if index == 4 { Ok(false) } else { Err(index) }), Err(2));
    }
}
