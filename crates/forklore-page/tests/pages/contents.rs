//! Tests of what a page contains.

use forklore_core::ErrorKind;
use forklore_page::Format;
use serde_json::json;

use crate::world::{PNG, World, png};

const TIMES: [(&str, &str); 2] =
    [(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", "[time]"), (r"(?s)<style>.*</style>", "<style>")];

/// Creates a session with everything that a page shows, and the branch `other`.
pub(crate) fn everything() -> World {
    let world = World::new("Mend the test");
    let user = |text: &str| json!({ "content": text });
    world.append("main", "system_message", &user("You are brief."));
    world.append("main", "user_message", &user("Why does **it** fail?\n  Please <look>."));
    world.says(
        "main",
        &json!([
            {"type": "reasoning", "text": "The list is *empty*.\nLet me look."},
            {"type": "text", "text": "I look:\n\n1. at the [docs](https://a.org/x?a=1&b=2)\n2. at `a.rs`\n\n| a | b |\n| - | - |\n| 1 | 2 |\n"},
            {"type": "tool_call", "id": "1", "name": "Bash", "arguments": {"command": "cargo test"}},
            {"type": "tool_call", "id": "2", "name": "Edit", "arguments": {"file_path": "/demo/src/a.rs",
                "old_string": "fn a() {\n    1\n}", "new_string": "fn a() {\n    2 // <b>\n}"}},
            {"type": "tool_call", "id": "3", "name": "Read", "arguments": {"file_path": "b.png"}},
        ]),
    );
    world.result("main", "2", &json!("done"), false);
    world.result("main", "1", &json!("error: it\nfailed\n```\n"), true);
    let image = json!({"type": "image", "source":
        {"type": "base64", "media_type": "image/png", "data": PNG}});
    world.result("main", "3", &json!([{"type": "text", "text": "here"}, image]), false);
    world.says("main", &json!("It is **mended**."));
    world.attach("main", "shot.png", "image/png", &png());
    world.attach("main", "note.md", "text/markdown", b"# A note");
    let compaction = json!({"from_index": 0, "to_index": 7, "content": "We *mended* it."});
    world.append("main", "history_compaction", &compaction);
    world.append("main", "user_message", &user("Thanks."));
    world.says("main", &json!([{"type": "tool_call", "id": "4", "name": "ls", "arguments": {}}]));
    world.fork("other", "turn:-1");
    world.append("other", "user_message", &user("In the other branch."));
    world
}

#[test]
fn a_page_of_html_has_everything() {
    let (html, messages) = everything().page("other", Format::Html, None);
    assert_eq!(messages, 13);
    insta::with_settings!({ omit_expression => true, filters => TIMES }, {
        insta::assert_snapshot!(html);
    });
}

#[test]
fn a_page_of_markdown_has_everything() {
    let (markdown, messages) = everything().page("other", Format::Markdown, None);
    assert_eq!(messages, 13);
    insta::with_settings!({ omit_expression => true, filters => TIMES }, {
        insta::assert_snapshot!(markdown);
    });
}

#[test]
fn a_page_ends_at_the_cut_and_begins_with_the_title_or_the_first_words() {
    let world = everything();
    let (html, messages) = world.page("main", Format::Html, Some("message:1"));
    assert!(messages == 2 && html.contains("Please &lt;look&gt;") && !html.contains("I look"));
    let (html, messages) = world.page("main", Format::Html, Some("start"));
    assert!(messages == 0 && html.contains("<h1>Mend the test</h1>"));
    let untitled = World::new("  ");
    untitled.append("main", "user_message", &json!({"content": "first  words"}));
    assert!(untitled.page("main", Format::Markdown, None).0.starts_with("# first words\n"));
    let session = "main".parse().unwrap();
    let beyond = "turn:9".parse().unwrap();
    let mut out = Vec::new();
    let refused =
        forklore_page::write(&world.engine, &session, Format::Html, Some(&beyond), &mut out);
    assert_eq!((refused.unwrap_err().kind(), out.len()), (ErrorKind::InvalidArgs, 0));
}

#[test]
fn a_result_stands_with_its_call_also_in_one_message_and_after_others() {
    let world = World::new("calls");
    let call = |id: &str, name: &str| json!({"type": "tool_call", "id": id, "name": name, "arguments": {}});
    let result =
        |id: &str, content: &str| json!({"type": "tool_result", "call_id": id, "content": content});
    world.says("main", &json!([call("1", "one"), result("1", "first"), call("2", "two")]));
    world.says("main", &json!([call("3", "three")]));
    world.result("main", "3", &json!("third"), false);
    world.append("main", "user_message", &json!({"content": [result("2", "second")]}));
    world.append("main", "user_message", &json!({"content": "Next."}));
    world.result("main", "2", &json!("late"), false);
    let (html, messages) = world.page("main", Format::Html, None);
    let summaries = html.split("<summary>").skip(1);
    let summaries: Vec<_> = summaries.map(|it| it.split("</summary>").next().unwrap()).collect();
    let expected = [
        "<code>→ one</code> <span>← one: first</span>",
        "<code>→ two</code> <span>← two: second</span>",
        "<code>→ three</code> <span>← three: third</span>",
        "← result: late",
    ];
    assert_eq!((messages, summaries), (6, expected.to_vec()));
}

#[test]
fn a_result_that_comes_very_late_stands_alone() {
    let world = World::new("late");
    world.says("main", &json!([{"type": "tool_call", "id": "1", "name": "one", "arguments": {}}]));
    for _ in 0..600 {
        world.says("main", &json!("Still working."));
    }
    world.result("main", "1", &json!("done"), false);
    let (html, messages) = world.page("main", Format::Html, None);
    assert_eq!(messages, 602);
    let (begin, end) = html.split_once("Still working.").unwrap();
    assert!(begin.contains("<summary><code>→ one</code></summary>"), "{begin}");
    assert!(end.contains("<summary>← one: done</summary>"), "{end}");
}

#[test]
fn what_is_large_is_named_instead() {
    let world = World::new("large");
    let image = |media_type: &str, data: &str| {
        json!({"type": "image", "source":
            {"type": "base64", "media_type": media_type, "data": data}})
    };
    let large = "A".repeat(5 << 20);
    let content = json!({"content": [
        image("image/png", &large), image("image/svg+xml", "AAAA"), image("image/png", "A\" x=\"")]});
    world.append("main", "user_message", &content);
    world.attach("main", "large.png", "image/png", &vec![0; 4 << 20]);
    world.says("main", &json!([{"type": "tool_call", "id": "1", "name": "cat", "arguments": {}}]));
    world.result("main", "1", &json!("é".repeat(100_000)), false);
    let (html, _) = world.page("main", Format::Html, None);
    assert!(!html.contains("<img") && html.len() < 100_000, "{} bytes", html.len());
    for named in ["[image image/png, 3.9 MB]", "image/svg+xml", "large.png", "... 134.5 kB more"] {
        assert!(html.contains(named), "{named}");
    }
}
