//! Compares records of a session file with the records into which `codex migrate-rollouts`
//! converted them.

use forklore_core::{Data, EventType};
use serde_json::{Map, Value};

/// The fields of a payload that newer versions of Codex add or fill in.
const ADDED: [&str; 2] = ["id", "internal_chat_message_metadata_passthrough"];

/// The fields of a compaction with the content that replaces the conversation.
const COMPACTION: [&str; 2] = ["message", "replacement_history"];

/// Checks whether two records have the same payload. A migration adds a number to each record, adds
/// an envelope to each line without one, and fills in fields that older versions did not have.
pub(super) fn is_same(kind: &EventType, earlier: &Data, later: &Data) -> bool {
    let of = |data: &Data| payload(data, *kind == EventType::HISTORY_COMPACTION);
    of(earlier).is_some_and(|payload| Some(payload) == of(later))
}

fn payload(data: &Data, is_compaction: bool) -> Option<Map<String, Value>> {
    let data = data.readable();
    let Value::Object(mut record) = data.read().ok()? else { return None };
    let mut payload = match record.remove("payload") {
        Some(Value::Object(payload)) => payload,
        Some(_) => return None,
        // Lines of early 2025 have no envelope.
        None => record,
    };
    payload.retain(|name, _| {
        !ADDED.contains(&name.as_str()) && (!is_compaction || COMPACTION.contains(&name.as_str()))
    });
    Some(without_nulls(payload))
}

/// Removes the fields without a value, which some versions write and others leave out.
fn without_nulls(fields: Map<String, Value>) -> Map<String, Value> {
    let fields = fields
        .into_iter()
        .filter(|(name, value)| !value.is_null() && !ADDED.contains(&name.as_str()));
    fields.map(|(name, value)| (name, plain(value))).collect()
}

fn plain(value: Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(without_nulls(fields)),
        Value::Array(list) => Value::Array(list.into_iter().map(plain).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_an_envelope_and_new_fields_change_no_content() {
        let same = |kind: &EventType, earlier: &str, later: &str| {
            is_same(kind, &Data::parse(earlier).unwrap(), &Data::parse(later).unwrap())
        };
        let bare =
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"A"}]}"#;
        let later = r#"{"timestamp":"t","ordinal":3,"type":"response_item","payload":{"type":"message","id":null,"role":"user","content":[{"text":"A","type":"input_text"}],"phase":null}}"#;
        let message = &EventType::USER_MESSAGE;
        assert!(same(message, bare, later));
        assert!(!same(message, bare, &later.replace("\"A\"", "\"B\"")));
        let compacted = r#"{"type":"compacted","payload":{"message":"short"}}"#;
        let later =
            r#"{"ordinal":9,"type":"compacted","payload":{"message":"short","window_number":1}}"#;
        assert!(same(&EventType::HISTORY_COMPACTION, compacted, later));
        assert!(!same(message, compacted, later));
        assert!(!same(message, "[1]", "[1]"));
    }
}
