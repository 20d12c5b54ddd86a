//! The definitions of the contract's JSON Schema, as types.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// A type of the contract.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// A type with a definition of its own.
    Named(String),
    /// A text. Timestamps and selectors are texts too.
    Text,
    /// A number without a fraction.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// `null`.
    Null,
    /// Any JSON value.
    Any,
    /// A list of items of one type.
    List(Box<Type>),
    /// An object with any names, and values of one type.
    Map(Box<Type>),
    /// One of several types.
    Union(Vec<Type>),
    /// One of some texts.
    Literal(Vec<String>),
    /// An object.
    Object(Vec<Field>),
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The name in JSON.
    pub name: String,
    /// What the field is, in sentences.
    pub doc: String,
    /// The type of the value.
    pub kind: Type,
    /// Whether the field is always present.
    pub is_required: bool,
}

/// A type with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// What the type is, in sentences.
    pub doc: String,
    /// The type.
    pub kind: Type,
}

/// The definitions of a schema by their names.
pub type Definitions = BTreeMap<String, Definition>;

/// Reads all definitions of a JSON Schema.
#[must_use]
pub fn definitions(schema: &Value) -> Definitions {
    let named = schema["$defs"].as_object().into_iter().flatten();
    named
        .map(|(name, value)| (name.clone(), Definition { doc: doc(value), kind: of(value) }))
        .collect()
}

/// Returns the definitions that the types in `from` need, directly or through others.
#[must_use]
pub fn reachable<'a>(
    all: &'a Definitions,
    from: impl IntoIterator<Item = &'a Type>,
) -> BTreeMap<&'a str, &'a Definition> {
    let mut found = BTreeMap::new();
    let mut open = BTreeSet::new();
    from.into_iter().for_each(|kind| names(kind, &mut open));
    while let Some(name) = open.pop_first() {
        let Some((name, definition)) = all.get_key_value(&name) else { continue };
        if found.insert(name.as_str(), definition).is_none() {
            names(&definition.kind, &mut open);
            open.retain(|name| !found.contains_key(name.as_str()));
        }
    }
    found
}

fn names(kind: &Type, into: &mut BTreeSet<String>) {
    match kind {
        Type::Named(name) => {
            into.insert(name.clone());
        }
        Type::List(item) | Type::Map(item) => names(item, into),
        Type::Union(kinds) => kinds.iter().for_each(|kind| names(kind, into)),
        Type::Object(fields) => fields.iter().for_each(|field| names(&field.kind, into)),
        _ => {}
    }
}

/// Reads the type that a schema describes.
#[must_use]
pub fn of(schema: &Value) -> Type {
    if let Some(name) = schema["$ref"].as_str() {
        return Type::Named(name.rsplit('/').next().unwrap_or(name).to_owned());
    }
    if let Some(text) = schema["const"].as_str() {
        return Type::Literal(vec![text.to_owned()]);
    }
    if let Some(texts) = schema["enum"].as_array() {
        return Type::Literal(texts.iter().filter_map(Value::as_str).map(str::to_owned).collect());
    }
    if let Some(kinds) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        return union(kinds.iter().map(of).collect());
    }
    match &schema["type"] {
        Value::Array(kinds) => union(kinds.iter().map(|kind| plain(kind, schema)).collect()),
        kind => plain(kind, schema),
    }
}

/// Joins the texts of several literals into one type.
fn union(kinds: Vec<Type>) -> Type {
    let mut texts = Vec::new();
    let mut others = Vec::new();
    for kind in kinds {
        match kind {
            Type::Literal(more) => texts.extend(more),
            kind => others.push(kind),
        }
    }
    if !texts.is_empty() {
        others.insert(0, Type::Literal(texts));
    }
    match others.len() {
        1 => others.remove(0),
        _ => Type::Union(others),
    }
}

fn plain(kind: &Value, schema: &Value) -> Type {
    match kind.as_str() {
        Some("string") => Type::Text,
        Some("integer") => Type::Integer,
        Some("number") => Type::Number,
        Some("boolean") => Type::Boolean,
        Some("null") => Type::Null,
        Some("array") => Type::List(Box::new(of(&schema["items"]))),
        Some("object") => object(schema),
        _ => Type::Any,
    }
}

fn object(schema: &Value) -> Type {
    let Some(properties) = schema["properties"].as_object() else {
        return match &schema["additionalProperties"] {
            values @ Value::Object(_) => Type::Map(Box::new(of(values))),
            _ => Type::Map(Box::new(Type::Any)),
        };
    };
    let required: Vec<_> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut fields: Vec<_> = properties
        .iter()
        .map(|(name, value)| Field {
            name: name.clone(),
            doc: doc(value),
            kind: of(value),
            is_required: required.contains(&name.as_str()),
        })
        .collect();
    // What is required comes first, in the order in which Rust declares it.
    let order = |field: &Field| required.iter().position(|name| *name == field.name);
    fields.sort_by_key(|field| order(field).unwrap_or(usize::MAX));
    Type::Object(fields)
}

/// Returns a description without the links of Rust's documentation.
#[must_use]
pub fn doc(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[`") {
        plain.push_str(before);
        let Some((name, link)) = after.split_once("`]") else {
            plain.push_str("[`");
            rest = after;
            continue;
        };
        plain.push_str(&format!("`{name}`"));
        rest =
            link.strip_prefix('(').and_then(|link| link.split_once(')')).map_or(link, |(_, r)| r);
    }
    plain.push_str(rest);
    plain
}
