//! Finds the calls of a message by their ids. Each search begins where the previous one ended.

use serde_json::Value;

/// A position in the list of a message's tool calls. Results mostly come in the order of their
/// calls. A search that begins after the previously found call therefore usually examines only one
/// call. The time for all results of a message then does not grow with the square of the number of
/// calls.
#[derive(Debug, Default)]
pub(crate) struct CallCursor {
    next: usize,
}

impl CallCursor {
    /// Returns the call whose field `key` is `id`, or `None` if no call has this id. The search
    /// begins after the call that was found before. At the end of `calls` it continues from the
    /// start, so it misses no call.
    pub(crate) fn find<'a>(
        &mut self,
        calls: &'a mut [Value],
        key: &str,
        id: &str,
    ) -> Option<&'a mut Value> {
        let start = self.next.min(calls.len());
        let is_own = |call: &Value| call.get(key).and_then(Value::as_str) == Some(id);
        let (before, after) = calls.split_at(start);
        let behind = after.iter().position(is_own).map(|at| start + at);
        let found = behind.or_else(|| before.iter().position(is_own))?;
        self.next = found + 1;
        calls.get_mut(found)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_call_is_found_wherever_the_search_starts() {
        let mut calls = vec![json!({"id": "a"}), json!({"id": "b"}), json!({"text": "c"})];
        let mut cursor = CallCursor::default();
        for id in ["b", "a", "a", "b"] {
            let found = cursor.find(&mut calls, "id", id).cloned();
            assert_eq!(found, Some(json!({"id": id})));
        }
        assert_eq!(cursor.find(&mut calls, "id", "c"), None);
        assert_eq!(cursor.find(&mut [], "id", "a"), None);
    }
}
