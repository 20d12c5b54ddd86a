//! Makes generated JSON Schemas plain enough for every client.

use std::sync::Arc;

use rmcp::model::JsonObject;
use serde_json::Value;

/// Removes what validators of clients do not know: Rust's number formats, and defaults of `null`.
pub(super) fn plain(schema: &JsonObject) -> Arc<JsonObject> {
    let mut schema = schema.clone();
    schema.iter_mut().for_each(|(_, value)| simplify(value, false));
    Arc::new(schema)
}

/// Makes a schema plain, and lets no field be `null`. Fields that may be left out are not required,
/// and some models and clients understand no list of types.
pub(super) fn plain_input(schema: &JsonObject) -> Arc<JsonObject> {
    let mut schema = schema.clone();
    schema.iter_mut().for_each(|(_, value)| simplify(value, true));
    Arc::new(schema)
}

fn simplify(value: &mut Value, without_null: bool) {
    match value {
        Value::Object(fields) => {
            let is_number = |format: &Value| {
                let format = format.as_str().unwrap_or_default();
                ["uint", "int", "double", "float"].iter().any(|name| format.starts_with(name))
            };
            if fields.get("format").is_some_and(is_number) {
                fields.remove("format");
            }
            if fields.get("default").is_some_and(Value::is_null) {
                fields.remove("default");
            }
            if without_null {
                remove_null(fields);
            }
            fields.iter_mut().for_each(|(_, value)| simplify(value, without_null));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| simplify(item, without_null)),
        _ => {}
    }
}

/// Turns `"type": ["string", "null"]` into `"type": "string"`, and a choice between a schema and
/// `null` into that schema.
fn remove_null(fields: &mut JsonObject) {
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|name| name != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            fields.insert("type".to_owned(), one);
        }
    }
    let Some(Value::Array(choices)) = fields.get_mut("anyOf") else { return };
    choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
    let [Value::Object(one)] = choices.as_mut_slice() else { return };
    let one = std::mem::take(one);
    fields.remove("anyOf");
    fields.extend(one);
}
