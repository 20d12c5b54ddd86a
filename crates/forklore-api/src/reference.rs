//! The contract's JSON Schema, and the reference page in Markdown that is generated from it.
//!
//! The schema and the page are stored in `docs/reference`. A test generates both again and compares
//! them with the files.

use std::fmt::Write;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::event::Notification;
use crate::verbs::with_answers;
use crate::{
    ANSWERS, AccessToken, AccessTokens, AgentHooks, AnchorReport, Anchored, Appended,
    AppliedRetention, Attached, AttachmentFile, Attachments, BackedUp, BlameAnswer, Branches,
    Brought, Collected, CollectedFiles, CompletionScript, ConfigCheck, ConfigCreated, ConfigEdited,
    ConfigSettings, Deleted, Detached, Difference, DifferenceStats, Discovery, Doctor, Envelope,
    EventLine, Exploration, ExportedFile, FilesCompared, FlatNode, Forked, Form, GraphFile,
    HandedOff, HelpText, Imported, Inspection, Installed, Lineage, Listening, ManPage, ManPages,
    NewAccessToken, OperationAnswer, OperationPage, Packed, ProgramVersion, QueryAnswer, Record,
    RecordedSnapshot, Recovered, Redacted, Refusal, Remote, Remotes, Request, RequestPreview,
    RestoredFile, RestoredFiles, RestoredStore, ResumeIn, RewindUndone, Rewound, SearchAnswer,
    SessionAnswer, SessionFiles, SessionPage, ShownSnapshot, StatsAnswer, TierStatus, TierTables,
    Transferred, Tree, TurnAnswer, Undeleted, Undone, Verification, VerifiedSample, Vocabulary,
    WatchLine, WorktreeRemoved, Worktrees,
};

/// A placeholder in the JSON Schema. It stands for the fields of any answer of a verb (forklore
/// command).
#[derive(JsonSchema)]
struct AnyAnswer {}

fn generated() -> Map<String, Value> {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    macro_rules! add {
        ($($usage:literal, $request:tt => $answer:ident, $form:ident;)*) => {
            $(generator.subschema_for::<$answer>();)*
        };
    }
    with_answers!(add);
    generator.subschema_for::<Request>();
    generator.subschema_for::<Envelope<AnyAnswer>>();
    generator.subschema_for::<Refusal>();
    generator.take_definitions(true)
}

/// Returns the JSON Schema of all requests and answers.
#[must_use]
pub fn schema() -> Value {
    let of = |name: &str| json!({"$ref": format!("#/$defs/{name}")});
    let verbs = ANSWERS.iter().map(|verb| (verb.usage, verb.answer)).chain([FAILURE]);
    let verbs: Map<String, Value> =
        verbs.map(|(usage, answer)| (usage.to_owned(), of(answer))).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "forklore",
        "description": "What forklore's verbs take and answer. An answer may gain fields.",
        "oneOf": [{"$ref": "#/$defs/Request"}],
        "answers": verbs,
        "$defs": generated(),
    })
}

/// Returns the reference page of all requests and answers, in Markdown.
#[must_use]
pub fn page() -> String {
    let mut page = String::from(HEAD);
    let form = |form| match form {
        Form::Object => "one object",
        Form::Lines => "a line each, without `ok`",
    };
    let request = |name: Option<&str>| name.map(|name| format!("`{name}`")).unwrap_or_default();
    let verbs = ANSWERS
        .iter()
        .map(|verb| (verb.usage, request(verb.request), verb.answer, form(verb.form)));
    let (usage, answer) = FAILURE;
    let failure = (usage, String::new(), answer, form(Form::Object));
    for (usage, request, answer, form) in verbs.chain([failure]) {
        // Writing to a String cannot fail.
        let _ = writeln!(page, "| `{usage}` | {request} | {} | {form} |", link(answer));
    }
    page.push_str(MIDDLE);
    for (name, definition) in &generated() {
        describe(&mut page, name, definition);
    }
    page
}

/// The row for failed verbs (forklore commands) in the reference page's table of answers: the text
/// for the verb, and the type of its answer.
const FAILURE: (&str, &str) = ("any verb that fails", "Refusal");

const HEAD: &str = "\
# JSON reference

This page and [forklore.schema.json](forklore.schema.json) are generated from the crate
`forklore-api`: `FORKLORE_WRITE_REFERENCE=1 cargo test -p forklore-api --features schema`.

With `--json` a verb prints one object, an [Envelope](#envelope) with the fields of its answer's
type, or a line for each item. A verb that fails prints a [Refusal](#refusal). A verb that fails in
part prints its answer with `ok` `false` and the field `error`, an [ErrorObject](#errorobject): a
turn that was interrupted, an import in which a named path gave no session, a list without the
sessions that are damaged. Only `doctor` prints `false` without `error`; its checks say what
is wrong. Answers may gain fields, so ignore fields that you do not know.

A program that receives verbs as JSON receives a [Request](#request). The column *request* has the
verb's name in it; verbs without one exist only in a terminal. A request with an unknown field is
refused.

| verb | request | answer | form |
| --- | --- | --- | --- |
";

const MIDDLE: &str = "\n## Types\n\nA field marked with `?` may be absent.\n";

fn link(name: &str) -> String {
    format!("[{name}](#{})", name.to_lowercase())
}

fn text(schema: &Value) -> String {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

fn describe(page: &mut String, name: &str, definition: &Value) {
    let _ = write!(page, "\n### {name}\n\n{}\n", without_links(&text(definition)));
    fields(page, definition);
    for variants in ["oneOf", "anyOf"] {
        let variants = definition.get(variants).and_then(Value::as_array);
        for variant in variants.into_iter().flatten() {
            let _ = write!(page, "\n- {}", one_of(variant));
            let does = without_links(&text(variant));
            if !does.is_empty() {
                let _ = write!(page, ": {does}");
            }
        }
        if variants.is_some() {
            page.push('\n');
        }
    }
}

/// Appends to `page` a table of the fields in `definition`, the schema of an object.
fn fields(page: &mut String, definition: &Value) {
    let Some(properties) = definition.get("properties").and_then(Value::as_object) else { return };
    let required: Vec<_> =
        definition.get("required").and_then(Value::as_array).into_iter().flatten().collect();
    page.push_str("\n| field | type | |\n| --- | --- | --- |\n");
    for (field, schema) in properties {
        let mark = if required.iter().any(|name| *name == field) { "" } else { "?" };
        let does = without_links(&text(schema));
        let _ = writeln!(page, "| `{field}`{mark} | {} | {does} |", kind(schema));
    }
}

/// Describes one variant of a type in a few words, from the schema of the variant.
fn one_of(variant: &Value) -> String {
    if let Some(word) = variant.get("const") {
        return format!("`{word}`");
    }
    if let Some(words) = variant.get("enum").and_then(Value::as_array) {
        return words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    }
    let Some(properties) = variant.get("properties").and_then(Value::as_object) else {
        return kind(variant);
    };
    let field = |(name, schema): (&String, &Value)| match schema.get("const") {
        Some(word) => format!("`{name}`: `{word}`"),
        None => format!("`{name}`: {}", kind(schema)),
    };
    let others = reference(variant).map(|name| format!("the fields of {}", link(name)));
    properties.iter().map(field).chain(others).collect::<Vec<_>>().join(", ")
}

/// Returns the name of the type to which `schema` refers. `None` if `schema` is not a reference.
fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.rsplit('/').next()
}

/// Describes the type of a value in a few words, from the schema of the value.
fn kind(schema: &Value) -> String {
    if let Some(name) = reference(schema) {
        return link(name);
    }
    for variants in ["anyOf", "oneOf", "allOf"] {
        if let Some(variants) = schema.get(variants).and_then(Value::as_array) {
            return variants.iter().map(kind).collect::<Vec<_>>().join(" or ");
        }
    }
    let items = || schema.get("items").map_or_else(|| "any value".to_owned(), kind);
    let named = |name: &str| match (name, schema.get("format").and_then(Value::as_str)) {
        ("array", _) => format!("list of {}", items()),
        ("string", Some("date-time")) => "time".to_owned(),
        ("object", _) if schema.get("properties").is_some() => format!("{{{}}}", one_of(schema)),
        (name, _) => name.to_owned(),
    };
    match schema.get("type") {
        Some(Value::String(name)) => named(name),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).map(named).collect::<Vec<_>>().join(" or ")
        }
        _ => "any value".to_owned(),
    }
}

/// Replaces each rustdoc link in `text` by its label, because the link's target does not exist on
/// the reference page.
fn without_links(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, link)) = rest.split_once("[`") {
        out.push_str(before);
        let (name, after) = link.split_once("`]").unwrap_or((link, ""));
        let _ = write!(out, "`{name}`");
        rest = after
            .strip_prefix("(crate")
            .map_or(after, |target| target.split_once(')').map_or(after, |(_, after)| after));
    }
    out.push_str(rest);
    out.replace('|', "\\|")
}
