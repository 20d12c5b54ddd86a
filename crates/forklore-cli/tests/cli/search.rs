//! Tests of `search`: what users see of the hits, and what scripts get.

use serde_json::json;

use crate::sandbox::{Sandbox, snapshot};

fn family() -> Sandbox {
    let sandbox = Sandbox::with_a_plan();
    sandbox.ok(&["fork", "plan-1", "--at", "turn:1", "--id", "plan-b", "--label", "plan-b"]);
    sandbox.append("plan-b", "{\"data\":{\"content\":\"No, plan \\u001b[2JA.\\u0007\"}}\n");
    sandbox
}

#[test]
fn hits_stand_under_their_sessions() {
    let sandbox = family();
    let shown = [
        sandbox.ok(&["search", "plan"]),
        sandbox.ok(&["search", "plan", "a", "--all", "--limit", "1", "--color", "always"]),
        sandbox.ok(&["search", "\"look\"", "--kind", "text"]),
        sandbox.ok(&["search", "plan*", "--tool", "read"]),
        sandbox.ok(&["search", "regex:[AB]: \\w+", "--role", "tool"]),
        sandbox.ok(&["search", "nowhere"]),
        sandbox.ok(&["search", "nowhere", "--all"]),
    ];
    snapshot!(shown.join("\n"));
}

#[test]
fn a_time_ago_may_have_a_minus_sign() {
    let sandbox = family();
    for words in [&["search", "plan"][..], &["list"], &["blame", "plan.md"]] {
        let since = |when: &str| {
            let when = format!("--since={when}");
            sandbox.ok(&[words, &[when.as_str()]].concat())
        };
        let apart = sandbox.ok(&[words, &["--since", "-1d"]].concat());
        assert_eq!((&apart, since("-1d")), (&since("1d"), since("1d")), "{words:?}");
    }
    let (code, error) = sandbox.error(&["list", "--since", "-1y"]);
    let message = error["message"].as_str().unwrap();
    assert!(code == 2 && message.contains("30m, 3h, 2d, 1w"), "{error}");
}

#[test]
fn scripts_get_the_position_of_a_hit() {
    let sandbox = family();
    let answer = sandbox.json(&["search", "let", "me", "look"]);
    let hit = &answer["hits"][0];
    assert_eq!(hit["snippet"]["text"], "Let me look.");
    let position = json!([hit["session_id"], hit["seq"], hit["index"], hit["turn"], hit["role"]]);
    assert_eq!(position, json!(["plan-1", 1, 1, 1, "assistant"]));
    let branches = hit["branches"].as_array().unwrap().iter().map(|it| it["session_id"].clone());
    assert_eq!(branches.collect::<Vec<_>>(), ["plan-1", "plan-b"]);
    assert_eq!((&answer["ok"], &answer["more"]), (&json!(true), &json!(false)));
}

#[test]
fn hints_name_other_folders_and_the_rest_of_the_hits() {
    let sandbox = family();
    let elsewhere = sandbox.run(&["search", "plan", "--workspace", "/other"]);
    assert_eq!(elsewhere.code, 0);
    assert!(elsewhere.err.contains("forklore search plan --all"), "{elsewhere:?}");
    let some = sandbox.run(&["search", "plan", "--limit", "1", "--kind", "text"]);
    assert!(some.err.contains("forklore search plan --kind text --limit 1 --after 1"), "{some:?}");
    assert!(some.err.contains("forklore fork plan-"), "{some:?}");
}

#[test]
fn a_query_without_a_word_is_refused() {
    let sandbox = family();
    for query in ["...", "regex:(", ""] {
        let (exit, error) = sandbox.error(&["search", query]);
        assert_eq!((exit, &error["kind"]), (2, &"invalid_args".into()), "{query}");
        assert_eq!(error["next_actions"], json!(["forklore search --help"]));
    }
}

#[test]
fn blame_lists_the_calls_that_name_a_file() {
    let sandbox = family();
    let shown = [
        sandbox.ok(&["blame", "plan.md"]),
        sandbox.ok(&["blame", "/demo/./todo.md"]),
        sandbox.ok(&["blame", "nothing.md"]),
    ];
    snapshot!(shown.join("\n"));
    let none = sandbox.run(&["blame", "a/no thing.md"]);
    assert!(none.err.contains("forklore search 'no thing.md' --all"), "{none:?}");
    let answer = sandbox.json(&["blame", "plan.md"]);
    assert_eq!(
        (&answer["path"], &answer["hits"][0]["tool"]),
        (&"/demo/plan.md".into(), &"read".into())
    );
}
