//! Cases: the store returns a payload byte for byte, and a timestamp with microsecond precision.

use jiff::Timestamp;

use crate::events::{Draft, turns, user};
use crate::scene::Scene;

/// Stores each payload in an event of a session. Checks that the payloads are read unchanged from
/// that session, from a child that shares its events, and from a child that copies them.
fn comes_back(scene: &Scene<'_>, payloads: &[String]) {
    let drafts = payloads.iter().map(|data| {
        let class = forklore_core::Class::Evidence;
        Draft::new("x.payload", data.as_str()).class(class)
    });
    scene.root("a", drafts.collect());
    let count = payloads.len() as u64;
    scene.fork("a", "shared", count, vec![]);
    scene.copy("a", "copied", count, vec![]);
    for (session, skip) in [("a", 0), ("shared", 1), ("copied", 1)] {
        let log = scene.log(session);
        let read: Vec<_> = log[skip..].iter().map(|stored| stored.event.data.get()).collect();
        assert!(read == payloads, "the payloads of {session} came back otherwise");
    }
    scene.assert_sound();
}

pub(super) fn numbers_come_back_as_written(scene: &Scene<'_>) {
    let numbers = [
        "0",
        "-0",
        "1.0",
        "1e+05",
        "1E5",
        "0.10",
        "1151155555151551151155555155",
        "1e999",
        "12345678901234567890.5",
    ];
    comes_back(scene, &numbers.map(|number| format!(r#"{{"n":{number}}}"#)));
}

pub(super) fn keys_come_back_in_order_with_duplicates(scene: &Scene<'_>) {
    let data = [
        r#"{"z":1,"a":2,"m":3}"#,
        r#"{"a":1,"a":2,"a":1}"#,
        r#"{"":{},"\u0061":1,"a":2}"#,
        r#"{ "a" : [ 1 ,2 ] }"#,
    ];
    comes_back(scene, &data.map(str::to_owned));
}

pub(super) fn strings_come_back_with_their_escapes(scene: &Scene<'_>) {
    let data = [
        r#"{"nul":"\u0000","lone":"\ud800","pair":"\ud83d\ude00"}"#,
        r#""\/ \b\f\n\r\t \" \\ \u00e9""#,
        "\"é e\u{301} \u{1f600} \u{2028} \u{202e} \u{feff} \u{7f}\"",
        r#"["\udc00\ud800"]"#,
    ];
    comes_back(scene, &data.map(str::to_owned));
}

pub(super) fn any_json_value_is_a_payload(scene: &Scene<'_>) {
    comes_back(scene, &["null", "true", "7", "\"\"", "[]", "{}"].map(str::to_owned));
}

pub(super) fn any_depth_is_stored(scene: &Scene<'_>) {
    let lists = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let objects = format!("{}1{}", r#"{"a":"#.repeat(10_000), "}".repeat(10_000));
    comes_back(scene, &[lists, objects]);
}

pub(super) fn a_megabyte_comes_back(scene: &Scene<'_>) {
    comes_back(scene, &[format!(r#"{{"text":"{}"}}"#, "é\\n".repeat(1 << 18))]);
}

pub(super) fn the_largest_event_comes_back(scene: &Scene<'_>) {
    let text = "x".repeat(forklore_core::limits::EVENT_BYTES - 2);
    scene.root("a", vec![Draft::new("x.large", format!("\"{text}\""))]);
    let stored = scene.log("a").remove(0);
    assert_eq!(stored.event.data.get().len(), forklore_core::limits::EVENT_BYTES);
    assert!(stored.event.data.get()[1..].starts_with(&text), "the payload came back otherwise");
}

pub(super) fn moments_come_back_to_the_microsecond(scene: &Scene<'_>) {
    let moments = [
        "0001-01-01T00:00:00Z",
        "0001-01-01T00:00:00.000001Z",
        "1969-12-31T23:59:59.999999Z",
        "1970-01-01T00:00:00Z",
        "2026-02-28T23:59:59.123456Z",
        "9999-12-30T21:59:59.999999Z",
    ];
    let moments = moments.map(|text| text.parse::<Timestamp>().unwrap());
    scene.root("a", moments.iter().map(|ts| user("when").ts(*ts)).collect());
    let read = |session: &str, skip: usize| {
        scene.log(session)[skip..].iter().map(|stored| stored.event.ts).collect::<Vec<_>>()
    };
    assert_eq!(read("a", 0), moments);
    scene.fork("a", "b", 6, vec![]);
    assert_eq!(read("b", 1), moments);
}

pub(super) fn headers_come_back_with_exact_times(scene: &Scene<'_>) {
    for (number, text) in
        ["0001-01-01T00:00:00.000001Z", "2026-01-01T00:00:00.999999Z"].iter().enumerate()
    {
        let session = format!("s{number}");
        let moment: Timestamp = text.parse().unwrap();
        let new =
            forklore_store::port::NewSession { created: moment, ..scene.draft(&session, vec![]) };
        scene.store().create(new).unwrap();
        let append = forklore_store::port::Append { now: moment, ..scene.appending(turns(1)) };
        scene.store().append(&session.parse().unwrap(), append).unwrap();
        let header = scene.header(&session);
        assert_eq!((header.created, header.updated), (moment, moment));
    }
}
