//! Tests of the envelope: one JSON line, with its fields in the documented order and `data` byte
//! for byte.
#![allow(clippy::unwrap_used)]

use forklore_core::Usage;
use forklore_core::envelope::write_envelope;
use forklore_core::workspace::Workspace;
use forklore_core::{
    Class, Counts, Data, Effect, Event, Header, Label, Origin, SessionId, SessionKind,
};
use jiff::Timestamp;
use proptest::prelude::*;

fn header(id: &str, parent: Option<&str>) -> Header {
    let id: SessionId = id.parse().unwrap();
    let parent: Option<SessionId> = parent.map(|parent| parent.parse().unwrap());
    Header {
        root_id: parent.clone().unwrap_or_else(|| id.clone()),
        kind: if parent.is_some() { SessionKind::Branch } else { SessionKind::Root },
        id,
        depth: u64::from(parent.is_some()),
        parent_id: parent,
        label: Label::main(),
        title: None,
        cut: None,
        strategy: None,
        tool_calls: None,
        inherited: Counts::default(),
        counts: Counts::default(),
        own_events: 0,
        own_bytes: 0,
        usage: Usage::default(),
        workspace: Workspace::new("/home/me/demo"),
        principal: None,
        permissions: None,
        metadata: None,
        config: None,
        dialect: None,
        created: Timestamp::UNIX_EPOCH,
        updated: Timestamp::UNIX_EPOCH,
        lease: None,
        detached: false,
        leaf: None,
        source: None,
        copy_of: None,
        deleted: None,
    }
}

fn event(kind: &str, class: Class, data: &str) -> Event {
    Event {
        id: "e1".parse().unwrap(),
        ts: "2026-01-02T03:04:05.000006Z".parse().unwrap(),
        kind: kind.parse().unwrap(),
        class,
        dialect: None,
        effect: Effect::default(),
        data: Data::parse(data).unwrap(),
    }
}

fn line(header: &Header, seq: u64, origin: Option<&Origin>, event: &Event) -> String {
    let mut out = Vec::new();
    write_envelope(&mut out, header, seq, origin, event).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn an_event_of_a_root_has_a_null_parent() {
    let event = event("user_message", Class::Conversation, r#"{"content":"hi"}"#);
    let want = concat!(
        r#"{"id":"e1","session_id":"a","parent_id":null,"root_id":"a","seq":0,"#,
        r#""ts":"2026-01-02T03:04:05.000006Z","type":"user_message","data":{"content":"hi"}}"#,
    );
    assert_eq!(line(&header("a", None), 0, None, &event), want);
}

#[test]
fn an_inherited_event_names_parent_and_origin() {
    let mut event = event("x.note", Class::Evidence, "{ }");
    event.dialect = Some("pi".into());
    let origin = Origin { session_id: "a".parse().unwrap(), seq: 7 };
    let want = concat!(
        r#"{"id":"e1","session_id":"b","parent_id":"a","root_id":"a","seq":3,"#,
        r#""ts":"2026-01-02T03:04:05.000006Z","type":"x.note","class":"evidence","#,
        r#""origin":{"session_id":"a","seq":7},"dialect":"pi","data":{ }}"#,
    );
    assert_eq!(line(&header("b", Some("a")), 3, Some(&origin), &event), want);
}

/// Generates JSON values written in ways that a parse and a print might change.
fn spelling() -> impl Strategy<Value = String> {
    let text = any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap());
    let token = prop_oneof![
        prop::sample::select(vec![
            "1.0",
            "-0",
            "1e+05",
            "1151155555151551151155555155",
            "null",
            "\"\\ud800\"",
            "\"\\u0000\"",
            "[ ]",
        ])
        .prop_map(str::to_owned),
        text.clone(),
    ];
    token.prop_recursive(4, 32, 4, move |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4);
        let fields = prop::collection::vec((text.clone(), inner), 0..4);
        prop_oneof![
            list.prop_map(|items| format!("[{}]", items.join(" , "))),
            fields.prop_map(|fields| {
                let fields: Vec<_> =
                    fields.iter().map(|(key, value)| format!("{key} :{value}")).collect();
                format!("{{{}}}", fields.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn data_is_the_last_field_as_it_was_written(data in spelling(), seq: u64) {
        let event = event("x.note", Class::Audit, &data);
        let line = line(&header("a", None), seq, None, &event);
        let tail = format!(",\"data\":{data}}}");
        prop_assert!(line.ends_with(&tail), "{line}");
        prop_assert!(!line.contains(['\n', '\r']));
        let whole = Data::parse(&line).unwrap();
        prop_assert_eq!(whole.get(), line);
    }

    #[test]
    fn payloads_parse_to_themselves(data in spelling()) {
        let parsed = Data::parse(&data).unwrap();
        prop_assert_eq!(parsed.get(), &data);
        prop_assert_eq!(serde_json::to_string(&parsed).unwrap(), data);
    }

    #[test]
    fn what_is_no_json_is_refused(data in spelling(), junk in "[}\\]x,:\"]{1,3}") {
        let text = format!("{data}{junk}");
        prop_assert!(Data::parse(&text).is_err());
    }
}
