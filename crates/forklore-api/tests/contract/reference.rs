//! Tests that the pages in `docs/reference` match the types.

use std::fs;
use std::path::Path;

use forklore_api::ANSWERS;
use forklore_api::event::{KernelEvent, Name, Notification};
use forklore_api::reference::{page, schema};
use serde_json::{Value, json};

use crate::fits::{defines, fits};
use crate::round_trip::any::{Dice, any, event};

fn is_current(name: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name);
    if std::env::var_os("FORKLORE_WRITE_REFERENCE").is_some() {
        fs::write(&path, made).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == made,
        "{name} is not what the types say; \
         FORKLORE_WRITE_REFERENCE=1 cargo test -p forklore-api --features schema writes it"
    );
}

#[test]
fn the_schema_is_what_the_types_say() {
    is_current("forklore.schema.json", &format!("{:#}\n", schema()));
}

#[test]
fn the_page_is_what_the_types_say() {
    is_current("json.md", &page());
}

#[test]
fn every_type_and_every_field_says_what_it_is() {
    let schema = schema();
    let mut silent = Vec::new();
    let definitions = schema["$defs"].as_object().unwrap().iter();
    // The types of the standard library have no doc comment in this crate.
    for (name, definition) in definitions.filter(|(name, _)| !name.starts_with("Range_of")) {
        if !definition["description"].is_string() {
            silent.push(name.clone());
        }
        for (field, value) in definition["properties"].as_object().into_iter().flatten() {
            if !value["description"].is_string() && !value["$ref"].is_string() {
                silent.push(format!("{name}.{field}"));
            }
        }
    }
    assert_eq!(silent, Vec::<String>::new());
}

#[test]
fn every_answer_has_a_schema() {
    let schema = schema();
    for answer in ANSWERS {
        assert!(defines(answer.answer), "{answer:?}");
        let reference = json!({"$ref": format!("#/$defs/{}", answer.answer)});
        assert_eq!(schema["answers"][answer.usage], reference);
    }
    assert_eq!(schema["answers"].as_object().unwrap().len(), ANSWERS.len() + 1, "and `Refusal`");
}

/// Returns the JSON of a notification with this event name, for a child session.
fn sent(name: Name, dice: &mut Dice) -> Value {
    let parent: Notification = any(dice);
    let sent =
        Notification { parent_id: Some(parent.session_id), event: event(name, dice), ..any(dice) };
    serde_json::to_value(&sent).unwrap()
}

#[test]
fn notifications_of_every_event_fit_their_schema() {
    for (at, name) in Name::ALL.iter().enumerate() {
        for round in 0..20 {
            let sent = sent(*name, &mut Dice::new(at as u64 * 1_000 + round));
            assert_eq!(fits("Notification", &sent), Ok(()), "{sent}");
            assert_eq!(sent.get("ephemeral"), name.is_ephemeral().then_some(&Value::Bool(true)));
            let parent = sent.get("parent_id").filter(|_| *name == Name::SessionFork);
            assert_eq!(sent.get("parent"), parent);
        }
    }
}

#[test]
fn what_is_not_sent_does_not_fit_the_schema() {
    let delta = sent(Name::ContentBlockDelta, &mut Dice::new(1));
    let mut without = delta.clone();
    without.as_object_mut().unwrap().remove("ephemeral");
    let wrong = [
        without,
        with(&delta, "ephemeral", json!(false)),
        with(&delta, "event", json!(7)),
        with(&delta, "data", json!({})),
        with(&delta, "colour", json!("green")),
        with(&delta, "ts", Value::Null),
    ];
    for wrong in wrong {
        assert!(fits("Notification", &wrong).is_err(), "{wrong}");
    }
}

#[test]
fn events_of_the_application_fit_the_schema_and_are_read_as_written() {
    for round in 0..20 {
        let event = KernelEvent::Application(any(&mut Dice::new(round)));
        let sent = Notification { event, ..any(&mut Dice::new(round)) };
        let value = serde_json::to_value(&sent).unwrap();
        assert_eq!(fits("Notification", &value), Ok(()), "{value}");
        assert_eq!(serde_json::from_value::<Notification>(value.clone()).unwrap(), sent);
        // An event with a name of the kernel has the kernel's data, and is never the application's.
        let other = with(&value, "event", json!("tool:pre"));
        assert!(serde_json::from_value::<Notification>(other.clone()).is_err(), "{other}");
        assert!(fits("Notification", &other).is_err(), "{other}");
    }
}

fn with(object: &Value, field: &str, value: Value) -> Value {
    let mut changed = object.clone();
    changed[field] = value;
    changed
}
