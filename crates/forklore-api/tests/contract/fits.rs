//! Checks values against the generated JSON Schema.
//!
//! The check supports only the keywords that the schema uses, and fails at any other keyword.
//! `format` and `pattern` are not checked. The check is stricter than JSON Schema in one point:
//! where a schema lists properties, the value may have no others.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use forklore_api::reference;
use serde_json::{Map, Value};

pub(crate) static SCHEMA: LazyLock<Value> = LazyLock::new(reference::schema);

/// Checks whether the schema defines a type of this name.
pub(crate) fn defines(name: &str) -> bool {
    SCHEMA["$defs"][name].is_object()
}

/// Checks a value against the type of this name.
///
/// # Errors
/// The location in the value and the reason, if the value does not match the type.
pub(crate) fn fits(name: &str, value: &Value) -> Result<(), String> {
    let found = SCHEMA["$defs"].get(name).ok_or_else(|| format!("there is no type {name}"))?;
    whole(found, value).map_err(|why| format!("{name}{why}"))
}

/// The names of the properties that a schema lists. `None` if the schema lists no properties.
type Listed = Option<BTreeSet<String>>;

/// Checks a value against a schema, and checks that the value has only properties that the schema
/// lists.
fn whole(schema: &Value, value: &Value) -> Result<(), String> {
    let listed = part(schema, value)?;
    let (Some(listed), Some(fields)) = (listed, value.as_object()) else { return Ok(()) };
    match fields.keys().find(|name| !listed.contains(*name)) {
        Some(unlisted) => Err(format!(": `{unlisted}` is not listed")),
        None => Ok(()),
    }
}

/// Checks a value against a schema, and returns the properties that the schema lists. The value may
/// have further properties, which another schema lists.
fn part(schema: &Value, value: &Value) -> Result<Listed, String> {
    let keywords = match schema {
        Value::Bool(true) => return Ok(None),
        Value::Object(keywords) => keywords,
        _ => return Err(": is forbidden".to_owned()),
    };
    let mut listed = Listed::default();
    for (keyword, with) in keywords {
        let more = match keyword.as_str() {
            "$ref" => part(definition(with), value)?,
            "allOf" => all_of(list(with), value)?,
            "anyOf" => some_of(list(with), value, false)?,
            "oneOf" => some_of(list(with), value, true)?,
            "properties" => properties(with, value)?,
            _ => {
                only(keyword, with, value, keywords)?;
                None
            }
        };
        listed = match (listed, more) {
            (Some(listed), Some(more)) => Some(&listed | &more),
            (listed, more) => listed.or(more),
        };
    }
    Ok(listed)
}

fn list(schemas: &Value) -> &[Value] {
    schemas.as_array().unwrap()
}

fn definition(reference: &Value) -> &Value {
    let pointer = reference.as_str().unwrap().strip_prefix('#').unwrap();
    SCHEMA.pointer(pointer).unwrap_or_else(|| panic!("{pointer} does not exist"))
}

fn all_of(schemas: &[Value], value: &Value) -> Result<Listed, String> {
    let mut listed = Listed::default();
    for schema in schemas {
        if let Some(more) = part(schema, value)? {
            listed.get_or_insert_default().extend(more);
        }
    }
    Ok(listed)
}

fn some_of(schemas: &[Value], value: &Value, one: bool) -> Result<Listed, String> {
    let tried: Vec<_> = schemas.iter().map(|schema| part(schema, value)).collect();
    let fitting = tried.iter().filter(|tried| tried.is_ok()).count();
    if one && fitting > 1 {
        return Err(format!(": {fitting} variants fit, not one: {value}"));
    }
    let mut listed = Listed::default();
    for more in tried.iter().flatten().flatten() {
        listed.get_or_insert_default().extend(more.iter().cloned());
    }
    match fitting {
        0 => Err(format!(": no variant fits {value}: {tried:?}")),
        _ => Ok(listed),
    }
}

fn properties(schemas: &Value, value: &Value) -> Result<Listed, String> {
    let schemas = schemas.as_object().unwrap();
    for (name, value) in value.as_object().into_iter().flatten() {
        if let Some(schema) = schemas.get(name) {
            whole(schema, value).map_err(|why| format!(".{name}{why}"))?;
        }
    }
    Ok(Some(schemas.keys().cloned().collect()))
}

/// Checks a value against one keyword of a schema. The keyword is one that neither lists properties
/// nor refers to other schemas that do.
fn only(
    keyword: &str,
    with: &Value,
    value: &Value,
    keywords: &Map<String, Value>,
) -> Result<(), String> {
    let fits = match keyword {
        "title" | "description" | "default" | "format" | "pattern" => true,
        "const" => with == value,
        "not" => part(with, value).is_err(),
        "enum" => list(with).contains(value),
        "type" => match with {
            Value::Array(types) => types.iter().any(|name| is_a(name, value)),
            name => is_a(name, value),
        },
        "required" => list(with).iter().all(|name| value.get(name.as_str().unwrap()).is_some()),
        "minimum" => value.as_f64().is_none_or(|number| number >= with.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|number| number <= with.as_f64().unwrap()),
        "minLength" => length(value).is_none_or(|length| length >= with.as_u64().unwrap()),
        "maxLength" => length(value).is_none_or(|length| length <= with.as_u64().unwrap()),
        "uniqueItems" => {
            let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
            (1..items.len()).all(|at| !items[..at].contains(&items[at]))
        }
        "items" => {
            for (at, item) in value.as_array().into_iter().flatten().enumerate() {
                whole(with, item).map_err(|why| format!("[{at}]{why}"))?;
            }
            true
        }
        "additionalProperties" => {
            for (name, value) in value.as_object().into_iter().flatten() {
                if keywords.get("properties").is_none_or(|listed| listed.get(name).is_none()) {
                    whole(with, value).map_err(|why| format!(".{name}{why}"))?;
                }
            }
            true
        }
        other => return Err(format!(": the keyword {other} is not supported")),
    };
    if fits { Ok(()) } else { Err(format!(": {value} is not of {keyword} {with}")) }
}

fn length(value: &Value) -> Option<u64> {
    value.as_str().map(|text| text.chars().count() as u64)
}

fn is_a(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("there is no type {other}"),
    }
}
