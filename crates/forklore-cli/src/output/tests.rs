//! Tests of the output to a terminal and of the output to a pipe.

use std::sync::{Arc, Mutex, PoisonError};

use forklore::Error;
use forklore::core::{
    Content, Data, ErrorKind, EventType, Message, Part, Role, Selector, SessionId,
};
use forklore::engine::{Record, RecordOrigin, ReplayedSummary};
use forklore::store::Error as StoreError;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::transcript::Transcript;
use super::*;
use crate::failure::Failure;

const HOSTILE: &str = "a\u{1b}[2Jb\u{202e}c\u{9b}d\u{200b}e";

/// An output whose contents a test can read.
#[derive(Clone, Default)]
struct Screen(Arc<Mutex<Vec<u8>>>);

impl Screen {
    fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        String::from_utf8(bytes).unwrap()
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn output(json: bool, is_terminal: bool) -> (Output, Screen, Screen) {
    let (out, err) = (Screen::default(), Screen::default());
    let now = "2026-03-10T12:00:00Z".parse().unwrap();
    let look = Look { color: false, width: 40, wrap: is_terminal, now, zone: Zone::Utc };
    let output = Output {
        json,
        silent: false,
        hints: true,
        verbose: true,
        look,
        error_look: look,
        is_terminal,
        commands: Hints::default(),
        also: Vec::new(),
        out: Out::Direct(Box::new(out.clone())),
        pages: false,
        err: Box::new(err.clone()),
    };
    (output, out, err)
}

fn is_harmless(text: &str) -> bool {
    !text.chars().any(|c| c != '\n' && forklore_sanitize::terminal::is_hostile(c))
}

#[test]
fn json_is_escaped_on_a_terminal_and_verbatim_in_a_pipe() {
    let answer = json!({ "title": HOSTILE });
    for is_terminal in [true, false] {
        let (mut output, out, _) = output(true, is_terminal);
        output.answer(&answer, |_| {}).unwrap();
        output.lines().write_all(format!("{{\"data\":\"{}\"}}\n", "\u{202e}x").as_bytes()).unwrap();
        let text = out.text();
        let (first, second) = text.split_once('\n').unwrap();
        assert_eq!(is_harmless(&text), is_terminal);
        let read: Value = serde_json::from_str(first).unwrap();
        assert_eq!(read, json!({"ok": true, "title": HOSTILE}));
        assert_eq!(serde_json::from_str::<Value>(second).unwrap(), json!({"data": "\u{202e}x"}));
    }
}

#[test]
fn a_list_is_written_up_to_its_error_which_has_a_line_of_its_own() {
    for is_terminal in [true, false] {
        let (mut output, out, _) = output(true, is_terminal);
        let list = List::of([Ok(HOSTILE), Ok("b"), Err("damage"), Ok("c")].into_iter());
        let answer = std::collections::BTreeMap::from([("list", &list)]);
        assert!(output.answer(&answer, |_| {}).is_err());
        assert_eq!(list.outcome(), Err("damage"));
        let text = out.text();
        let line = text.strip_suffix('\n').unwrap();
        let whole: Value = serde_json::from_str(&format!("{line}]}}")).unwrap();
        assert_eq!(whole, json!({"ok": true, "list": [HOSTILE, "b"]}));
    }
}

#[test]
fn a_line_without_end_is_escaped_in_stretches() {
    let (mut output, out, _) = output(true, true);
    let text = format!("é{HOSTILE}").repeat(40_000);
    let mut lines = output.lines();
    // Write chunks of 7 bytes, which end in the middle of characters.
    text.as_bytes().chunks(7).for_each(|bytes| lines.write_all(bytes).unwrap());
    let before = out.text().len();
    assert!(before > text.len() / 2, "{before} of {} bytes are out", text.len());
    drop(lines);
    let shown = out.text();
    assert!(is_harmless(&shown));
    assert_eq!(serde_json::from_str::<Value>(&format!("\"{shown}\"")).unwrap(), json!(text));
}

#[test]
fn pages_tables_hints_and_errors_are_escaped_everywhere() {
    let (mut output, out, err) = output(false, false);
    let record = Record {
        index: 0,
        seq: 0,
        role: Role::User,
        content: Content::Text(format!("{HOSTILE}\r\nline two")),
        partial: true,
        branch: None,
        origin: RecordOrigin { session_id: "s".parse().unwrap(), seq: 0, id: "e".parse().unwrap() },
        ts: Timestamp::UNIX_EPOCH,
    };
    output
        .page(|page| {
            page.fact("title", HOSTILE);
            let mut table = Table::new(&[Column::new("TITLE")]);
            table.row([Cell::new(Tone::Plain, HOSTILE)]);
            table.show(page);
            Transcript::default().record(page, &record);
        })
        .unwrap();
    output.hint(HOSTILE, HOSTILE);
    output.failure(&Failure::invalid(HOSTILE).or_try(HOSTILE)).unwrap();
    assert!(is_harmless(&out.text()) && is_harmless(&err.text()), "{}{}", out.text(), err.text());
    assert!(out.text().contains("line two\n") && out.text().contains("\\u{1b}[2J"));
}

/// Returns a record of the role `tool` or `assistant` with these parts.
fn spoken(index: u64, role: Role, parts: Vec<Part>) -> Record {
    let origin =
        RecordOrigin { session_id: "s".parse().unwrap(), seq: index, id: "e".parse().unwrap() };
    let (content, branch) = (Content::Parts(parts), Some("main".parse().unwrap()));
    let ts = Timestamp::UNIX_EPOCH;
    Record { index, seq: index, role, content, partial: false, branch, origin, ts }
}

#[test]
fn results_name_their_tools_and_images_are_one_line() {
    let data = |value: &Value| Data::of(value).unwrap();
    let image = json!({"type": "image", "source":
        {"type": "base64", "media_type": "image/png", "data": "A".repeat(16_000)}});
    let call = |id: &str, name: &str| Part::ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: data(&json!({})),
    };
    let result = |call_id: &str, content: &Value| Part::ToolResult {
        call_id: call_id.to_owned(),
        name: None,
        content: data(content),
        is_error: false,
        synthetic: false,
    };
    let several = json!([{"type": "text", "text": "done"}, image, {"type": "odd"}]);
    let records = [
        spoken(0, Role::User, vec![Part::Other { value: data(&image) }]),
        spoken(1, Role::Assistant, vec![call("toolu_1", "Read"), call("toolu_2", "Bash")]),
        spoken(2, Role::Tool, vec![result("toolu_2", &json!("ok")), result("toolu_1", &several)]),
        spoken(3, Role::Tool, vec![result("toolu_1", &image)]),
    ];
    let summary = ReplayedSummary {
        kind: EventType::HISTORY_COMPACTION,
        seq: 4,
        ts: Timestamp::UNIX_EPOCH,
        branch: Some("main".parse().unwrap()),
        messages: vec![Message::text(Role::User, "We read a picture.")],
    };
    let (mut output, out, _) = output(false, false);
    let mut transcript = Transcript::default();
    for record in &records {
        output.page(|page| transcript.record(page, record)).unwrap();
    }
    output.page(|page| transcript.summary(page, &summary)).unwrap();
    insta::assert_snapshot!(out.text(), @r#"
    ── main ──
      0  user  1970-01-01 00:00:00 UTC
         [image image/png, 12.0 kB]
      1  assistant  1970-01-01 00:00:00 UTC
         → Read {}
         → Bash {}
      2  tool  1970-01-01 00:00:00 UTC
         ← Bash: ok
         ← Read: done
         [image image/png, 12.0 kB]
         {"type":"odd"}
      3  tool  1970-01-01 00:00:00 UTC
         ← toolu_1: [image image/png, 12.0 kB]
         compaction  1970-01-01 00:00:00 UTC
         We read a picture.
    "#);
}

#[test]
fn tables_give_way_on_a_narrow_terminal() {
    let (mut output, out, _) = output(false, true);
    output
        .page(|page| {
            let mut table = Table::new(&[
                Column::new("ID"),
                Column::new("TITLE").gives_way(),
                Column::new("SIZE").right().optional(),
                Column::new("FOLDER").optional(),
            ]);
            let cell = |text: &str| Cell::new(Tone::Plain, text);
            let title = "a title far too long for a narrow screen";
            table.row([cell("plan-a"), cell(title), cell("1 B"), cell("/a/folder/of/a/long/name")]);
            table.row([cell("b"), cell("計画"), cell("1.5 kB"), cell("/b")]);
            table.show(page);
        })
        .unwrap();
    insta::assert_snapshot!(out.text(), @r"
    ID      TITLE                       SIZE
    plan-a  a title far too long fo…     1 B
    b       計画                      1.5 kB
    ");
}

#[test]
fn a_terminal_never_has_to_break_the_lines_of_a_table() {
    let id = "a-session-that-a-person-has-named";
    let shown = |is_terminal| {
        let (mut output, out, _) = output(false, is_terminal);
        output
            .page(|page| {
                let mut table = Table::new(&[
                    Column::new("SESSION"),
                    Column::new("TURNS").right(),
                    Column::new("UPDATED"),
                    Column::new("TITLE").gives_way(),
                ]);
                let cell = |text: &str| Cell::new(Tone::Plain, text);
                table.row([
                    cell(id),
                    cell("123456"),
                    cell("just now"),
                    cell("a long enough title"),
                ]);
                table.show(page);
            })
            .unwrap();
        out.text()
    };
    let text = shown(true);
    assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
    assert!(text.contains("a-session\u{2026}") && text.contains("  123456  "), "{text}");
    // Nothing breaks the lines in a pipe, so the id stays whole there.
    assert!(shown(false).contains(id), "{}", shown(false));
}

#[test]
fn long_texts_are_broken_at_words_and_counted() {
    let (mut output, out, _) = output(false, true);
    let text = "one two three four five six seven eight nine\n\nten\neleven\ntwelve";
    output.page(|page| page.block(Tone::Plain, text, 5, 3)).unwrap();
    insta::assert_snapshot!(out.text(), @r"
         one two three four five six seven
         eight nine

         ... 3 more lines
    ");
}

/// Returns one failure of every kind that a command can return.
fn failures() -> Vec<Failure> {
    let id: SessionId = "plan-1".parse().unwrap();
    let session = || id.clone();
    let io = || io::Error::other("the disk is full");
    let store = |error: StoreError| Failure::Engine(error.into());
    vec![
        store(StoreError::NotFound(session())),
        Failure::Engine(Error::Cut {
            session: session(),
            source: forklore::core::CutError::NothingToFork { requested: Selector::End },
        }),
        Failure::Engine(Error::Permission("shell".into())),
        store(StoreError::Conflict { session: session(), expected: 3, head: 5 }),
        store(StoreError::IdInUse(session())),
        store(StoreError::HasChildren { session: session(), children: vec![session()], count: 1 }),
        store(StoreError::Leased { session: session(), owner: "pid 7".into() }),
        store(StoreError::Unsupported("a newer program made the store".into())),
        store(StoreError::Corrupt {
            session: Some(session()),
            seq: Some(4),
            location: "event 4".into(),
            message: "its crc is wrong".into(),
        }),
        store(StoreError::MissingAncestor { session: session(), missing: "segment 3".into() }),
        Failure::Engine(Error::Cycle(session())),
        Failure::File { doing: "writing a.jsonl".into(), source: io() },
    ]
}

#[test]
fn every_kind_of_failure_has_its_envelope_and_exit_code() {
    let mut shown = String::new();
    for failure in failures() {
        let (mut output, out, _) = output(true, false);
        output.failure(&failure).unwrap();
        shown += &format!("{} {}", failure.kind().exit_code(), out.text());
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn people_get_a_line_the_causes_and_a_way_on() {
    let mut shown = String::new();
    for failure in failures() {
        let (mut output, out, err) = output(false, false);
        output.failure(&failure).unwrap();
        assert_eq!(out.text(), "");
        shown += &err.text();
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
    assert!(Failure::Answer(closed()).is_closed_pipe());
    let midway = Error::Io { doing: "writing the log".into(), source: closed() };
    assert!(Failure::Engine(midway).is_closed_pipe());
    assert!(!Failure::Answer(io::Error::other("full")).is_closed_pipe());
    assert_eq!(Failure::Answered(ErrorKind::Corrupt).kind().exit_code(), 6);
}
