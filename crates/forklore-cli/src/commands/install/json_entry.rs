//! Adds an entry to a configuration in JSON. Every other value stays, byte for byte, and in its
//! order.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// The fields of an object in their order, with the text of each value.
struct Fields(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Fields(fields))
    }
}

/// Returns `text`, a JSON object, with the entry `name` in its field `table`.
///
/// # Errors
/// If the text is not a JSON object, or has something else in that field.
pub(super) fn with(text: &str, table: &str, name: &str, entry: &Value) -> Result<String, String> {
    let mut top = if text.trim().is_empty() { Fields(Vec::new()) } else { read(text, "it")? };
    let mut servers = match top.get(table) {
        Some(raw) => read(raw, table)?,
        None => Fields(Vec::new()),
    };
    let has = servers.get(name).and_then(|raw| serde_json::from_str::<Value>(raw).ok());
    if has.as_ref() == Some(entry) {
        return Ok(text.to_owned());
    }
    servers.set(name, pretty(entry, 2)?)?;
    top.set(table, servers.text(1)?)?;
    Ok(top.text(0)? + "\n")
}

fn read(text: &str, what: &str) -> Result<Fields, String> {
    serde_json::from_str(text).map_err(|error| format!("{what} is no JSON object: {error}"))
}

impl Fields {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(field, _)| field == name).map(|(_, raw)| raw.get())
    }

    fn set(&mut self, name: &str, text: String) -> Result<(), String> {
        let raw = RawValue::from_string(text).map_err(|error| error.to_string())?;
        match self.0.iter_mut().rev().find(|(field, _)| field == name) {
            Some((_, value)) => *value = raw,
            None => self.0.push((name.to_owned(), raw)),
        }
        Ok(())
    }

    /// Writes the object, one field on each line, at this depth of the file.
    fn text(&self, depth: usize) -> Result<String, String> {
        let indent = "  ".repeat(depth + 1);
        let mut lines = Vec::with_capacity(self.0.len());
        for (name, raw) in &self.0 {
            let name = serde_json::to_string(name).map_err(|error| error.to_string())?;
            lines.push(format!("{indent}{name}: {}", raw.get()));
        }
        Ok(format!("{{\n{}\n{}}}", lines.join(",\n"), "  ".repeat(depth)))
    }
}

/// Writes a value over several lines, at this depth of the file.
fn pretty(value: &Value, depth: usize) -> Result<String, String> {
    let text = serde_json::to_string_pretty(value).map_err(|error| error.to_string())?;
    Ok(text.replace('\n', &format!("\n{}", "  ".repeat(depth))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn everything_else_stays_in_its_order() {
        let entry = json!({ "command": "/bin/forklore", "args": ["mcp"] });
        let before = "{\n  \"z\": 1.50,\n  \"mcpServers\": {\n    \"other\": { \"command\" : \"o\" }\n  \
                      },\n  \"a\": [1,\n 2]\n}\n";
        let after = with(before, "mcpServers", "forklore", &entry).unwrap();
        let added = ",\n    \"forklore\": {\n      \"args\": [\n        \"mcp\"\n      ],\n      \
                     \"command\": \"/bin/forklore\"\n    }";
        assert_eq!(
            after,
            before.replace("{ \"command\" : \"o\" }", &format!("{{ \"command\" : \"o\" }}{added}"))
        );
        assert_eq!(with(&after, "mcpServers", "forklore", &entry).unwrap(), after);
        let other = with(&after, "mcpServers", "forklore", &json!({ "command": "x" })).unwrap();
        assert!(other.contains("\"x\"") && !other.contains("/bin/forklore"), "{other}");
        let new = with("", "mcpServers", "forklore", &json!({})).unwrap();
        assert_eq!(new, "{\n  \"mcpServers\": {\n    \"forklore\": {}\n  }\n}\n");
        for bad in ["[]", "{", "{ // a comment\n}", "{\"mcpServers\": 3}"] {
            assert!(with(bad, "mcpServers", "forklore", &entry).is_err(), "{bad}");
        }
    }
}
