//! Tests of the costs that `stats` shows: from records, from the prices in the configuration, by day
//! and by other groups.

use std::process::Command;

use serde_json::{Value, json};

use crate::answers;
use crate::discover::sample;
use crate::endpoint::Endpoint;
use crate::sandbox::{Ran, Sandbox, WORKSPACE, ran, snapshot};

/// Calls of three models: one with a recorded cost, one with the cost of one of its two calls, and
/// one without. They are on both sides of a midnight and of a week.
const CALLS: &str = r#"{"type":"user_message","ts":"2026-03-01T10:00:00Z","data":{"content":"hello"}}
{"type":"provider_usage","ts":"2026-03-01T10:00:01Z","data":{"model":"big-1","input":1000000,"output":100000,"cached":400000,"cache_written":100000}}
{"type":"provider_usage","ts":"2026-03-01T23:30:00Z","data":{"model":"big-1","input":1000,"output":10,"cost":0.007}}
{"type":"provider_usage","ts":"2026-03-02T00:30:00Z","data":{"model":"small","input":2000,"output":20,"cost":0.25}}
{"type":"provider_usage","ts":"2026-03-09T12:00:00Z","data":{"model":"own","input":3000,"output":30,"cost":0}}
{"type":"provider_usage","ts":"2026-03-09T12:00:01Z","data":{"model":"other","input":4000,"output":40}}
"#;

fn with_calls() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok(&["new", "--id", "plan-1"]);
    assert_eq!(sandbox.append("plan-1", CALLS).code, 0);
    sandbox
}

fn command(sandbox: &Sandbox, words: &[&str]) -> Command {
    let mut command = sandbox.command(&[&["--workspace", WORKSPACE], words].concat());
    command.env("FORKLORE_CONFIG", sandbox.path().join("config.toml"));
    command
}

fn run(sandbox: &Sandbox, words: &[&str]) -> Ran {
    let ran = ran(command(sandbox, words));
    assert_eq!(ran.code, 0, "{ran:?}");
    ran
}

fn stats(sandbox: &Sandbox, words: &[&str]) -> Value {
    let words = [&["--json", "stats"], words].concat();
    let ran = run(sandbox, &words);
    answers::are_of_the_contract(&words, &ran.out);
    serde_json::from_str(&ran.out).unwrap()
}

/// Returns the key, the cost and the unpriced tokens of each model or group.
fn costs(list: &Value) -> Vec<(Value, f64, u64)> {
    let key = |group: &Value| group.get("key").or(group.get("model")).cloned().unwrap();
    let cost = |group: &Value| group["cost"].as_f64().unwrap();
    let tokens = |group: &Value| group["unpriced_tokens"].as_u64().unwrap();
    list.as_array().unwrap().iter().map(|group| (key(group), cost(group), tokens(group))).collect()
}

#[test]
fn a_cost_that_lacks_a_part_is_marked() {
    let sandbox = with_calls();
    let answer = stats(&sandbox, &["plan-1"]);
    let expected = [
        (json!("small"), 0.25, 0),
        (json!("big-1"), 0.007, 1_100_000),
        (json!("other"), 0.0, 4040),
        (json!("own"), 0.0, 0),
    ];
    assert_eq!(costs(&answer["models"]), expected);
    assert_eq!(answer["unpriced_models"], json!(["big-1", "other"]));
    assert_eq!(
        (&answer["unpriced_tokens"], &answer["currency"]),
        (&json!(1_104_040), &json!("USD"))
    );
    assert_eq!(answer["usage"]["cost"], 0.257);
    let shown = [&["stats", "plan-1"][..], &["stats"]].map(|words| run(&sandbox, words));
    let [models, store] = shown.map(|ran| format!("{}{}", ran.out, ran.err));
    snapshot!(format!("{models}---\n{store}"));
}

#[test]
fn prices_of_the_configuration_apply_where_no_record_has_a_cost() {
    let sandbox = with_calls();
    let prices = "[prices.\"big-*\"]\ninput = 3\noutput = 15\ncached = 0.3\ncache_written = 3.75\n\
                  [prices.small]\ninput = 99\noutput = 99\n";
    sandbox.file("config.toml", prices);
    let answer = stats(&sandbox, &["plan-1"]);
    // 500,000 tokens at 3, 400,000 at 0.3, 100,000 at 3.75, and 100,000 at 15 of a million.
    let big = 3.502;
    assert_eq!(costs(&answer["models"])[0], (json!("big-1"), big, 0));
    assert_eq!(costs(&answer["models"])[1], (json!("small"), 0.25, 0));
    assert_eq!(answer["unpriced_models"], json!(["other"]));
    let model =
        "[models.x]\nprovider = 'openai'\nmodel = 'other'\nprice = { input = 1000, output = 0 }\n";
    sandbox.file("config.toml", &format!("currency = 'EUR'\n{prices}{model}"));
    let answer = stats(&sandbox, &["plan-1"]);
    assert_eq!((&answer["unpriced_models"], &answer["currency"]), (&json!([]), &json!("EUR")));
    snapshot!(run(&sandbox, &["stats", "plan-1"]).out);
}

#[test]
fn what_is_no_price_is_refused_with_its_line() {
    let sandbox = with_calls();
    for (wrong, line) in [
        ("[prices.a]\ninput = -1\noutput = 1\n", 2),
        ("[prices.a]\ninput = 1\noutput = nan\n", 3),
        ("[prices.a]\ninput = 1\noutput = 1\ncached = inf\n", 4),
        ("\n[prices.a]\ninput = 1\n", 2),
        ("[models.a]\nprovider = 'openai'\nmodel = 'm'\nprice = { input = -0.1, output = 1 }\n", 4),
        ("\n\ncurrency = 'US dollars'\n", 3),
    ] {
        sandbox.file("config.toml", wrong);
        let ran = ran(command(&sandbox, &["--json", "config", "check"]));
        let answer: Value = serde_json::from_str(&ran.out).unwrap();
        let problem = &answer["problems"][0];
        assert_eq!((ran.code, &problem["line"]), (2, &json!(line)), "{answer:#}");
        let ran = self::ran(command(&sandbox, &["chat", "-p", "hello"]));
        assert!(ran.code == 2 && ran.err.contains(&format!("line {line}: ")), "{ran:?}");
        // Statistics are shown, without prices.
        assert_eq!(stats(&sandbox, &["plan-1"])["usage"]["cost"], 0.257);
    }
}

#[test]
fn days_and_weeks_are_local_and_each_call_is_in_one_group() {
    let sandbox = with_calls();
    let by = |words: &[&str], zone: &str| {
        let mut command = command(&sandbox, &[&["--json", "stats", "--by"], words].concat());
        command.env("TZ", zone);
        let answer = ran(command);
        serde_json::from_str::<Value>(&answer.out).unwrap_or_else(|_| panic!("{answer:?}"))
    };
    let keys = |answer: &Value| {
        let groups = costs(&answer["groups"]).into_iter();
        groups.map(|(key, cost, _)| (key.as_str().unwrap().to_owned(), cost)).collect::<Vec<_>>()
    };
    let key = |key: &str, cost: f64| (key.to_owned(), cost);
    let utc = [key("2026-03-01", 0.007), key("2026-03-02", 0.25), key("2026-03-09", 0.0)];
    assert_eq!(keys(&by(&["day"], "UTC0")), utc);
    assert_eq!(keys(&by(&["day", "--utc"], "EAST-2")), utc);
    // Two hours east of Greenwich, the day begins before the second call.
    let east = [key("2026-03-01", 0.0), key("2026-03-02", 0.257), key("2026-03-09", 0.0)];
    assert_eq!(keys(&by(&["day"], "EAST-2")), east);
    let weeks = [key("2026-W09", 0.007), key("2026-W10", 0.25), key("2026-W11", 0.0)];
    assert_eq!(keys(&by(&["week"], "UTC0")), weeks);
    assert_eq!(keys(&by(&["workspace"], "UTC0")), [key(WORKSPACE, 0.257)]);
    assert_eq!(keys(&by(&["agent", "plan-1"], "UTC0")), [key("forklore", 0.257)]);
    let mut shown = String::new();
    for words in [&["stats", "--by", "day", "--utc"][..], &["stats", "plan-1", "--by", "model"]] {
        shown += &run(&sandbox, words).out;
    }
    snapshot!(shown);
}

#[test]
fn the_groups_of_agents_sessions_add_up_to_the_total() {
    let sandbox = Sandbox::with_default_store();
    for (from, to) in [
        ("pi/sessions", ".pi/agent/sessions"),
        ("claude/projects", ".claude/projects"),
        ("codex/home", ".codex"),
    ] {
        sample(&sandbox, from, to);
    }
    sandbox.ok(&["import"]);
    sandbox.file("config.toml", "[prices.'*']\ninput = 2\noutput = 4\ncached = 1\n");
    let total = stats(&sandbox, &["--models"]);
    assert!(total["usage"]["input"].as_u64().unwrap() > 100_000, "{total:#}");
    for by in ["day", "week", "model", "workspace", "agent"] {
        let answer = stats(&sandbox, &["--by", by]);
        assert_eq!(answer["usage"], total["usage"], "{by}");
        let groups = answer["groups"].as_array().unwrap();
        for field in ["input", "output", "cached", "calls", "unpriced_tokens"] {
            let sum = |list: &Value| {
                let numbers =
                    list.as_array().unwrap().iter().map(|one| one[field].as_u64().unwrap());
                numbers.sum::<u64>()
            };
            assert_eq!(sum(&answer["groups"]), sum(&answer["models"]), "{by} {field}");
        }
        let cost: f64 = groups.iter().map(|group| group["cost"].as_f64().unwrap()).sum();
        assert!((cost - total["usage"]["cost"].as_f64().unwrap()).abs() < 1e-9, "{by}");
    }
    let agents = costs(&stats(&sandbox, &["--by", "agent"])["groups"]);
    let mut names: Vec<_> = agents.iter().map(|(key, _, _)| key.as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["claude", "codex", "pi"]);
}

#[test]
fn a_turn_has_the_price_of_a_pattern() {
    let endpoint = Endpoint::echo();
    let sandbox = Sandbox::new();
    let prices = "[prices.\"m-*\"]\ninput = 1000\noutput = 10000\ncached = 0\n";
    sandbox.file("config.toml", &format!("{}{prices}", endpoint.model("small")));
    let ran = run(&sandbox, &["--json", "chat", "-p", "hello"]);
    let answer: Value = serde_json::from_str(ran.out.lines().last().unwrap()).unwrap();
    assert_eq!(answer["usage"]["cost"], json!(0.07));
}
