//! Tests of the policy: which patterns match a tool, and which rule applies if several patterns
//! match.

use std::sync::Arc;

use forklore_agent::approve::{Policy, Rule};
use forklore_mcp_client::{Pattern, Rules, UserPolicy};
use serde_json::json;

use crate::given::{a_call, double, started};

fn rules(text: &str) -> Rules {
    toml::from_str(text).unwrap()
}

#[test]
fn the_most_restrictive_pattern_that_fits_decides() {
    let rules = rules(
        "allow = ['files.*', 'time.get_*', '*.help']\n\
         ask = ['files.write_*']\n\
         deny = ['files.write_secret', 'evil.*']",
    );
    let decided = [
        ("files.read", Rule::Allow),
        ("files.write_note", Rule::Ask),
        ("files.write_secret", Rule::Deny),
        ("time.get_zone", Rule::Allow),
        ("time.set_zone", Rule::Ask),
        ("evil.help", Rule::Deny),
        ("any.help", Rule::Allow),
        ("delegate", Rule::Ask),
        ("filesX.read", Rule::Ask),
    ];
    for (tool, rule) in decided {
        assert_eq!(rules.of(tool), rule, "{tool}");
    }
    assert_eq!(Rules::default().of("any.thing"), Rule::Ask);
}

#[test]
fn a_star_stands_for_any_text() {
    let fits = |pattern: &str, tool: &str| pattern.parse::<Pattern>().unwrap().fits(tool);
    for (pattern, tool) in [
        ("*", ""),
        ("*", "a.b"),
        ("a.*", "a."),
        ("a.*b*c", "a.bc"),
        ("a.*b*c", "a.xbyc"),
        ("a.*bc*bc", "a.bcbc"),
        ("*.*", "a.b.c"),
        ("**", "a"),
        ("delegate", "delegate"),
    ] {
        assert!(fits(pattern, tool), "{pattern} {tool}");
    }
    for (pattern, tool) in [
        ("a.b", "a.bc"),
        ("a.b", "xa.b"),
        ("a.*bc*bc", "a.bc"),
        ("a.*a", "a."),
        ("*.x", "a.y"),
        ("a.*b*c", "a.cb"),
    ] {
        assert!(!fits(pattern, tool), "{pattern} {tool}");
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let wrong = ["allow = ['files']", "allow = ['']", "permit = ['a.b']", "allow = 'a.b'"];
    let output = wrong.map(|text| toml::from_str::<Rules>(text).unwrap_err().to_string());
    insta::assert_snapshot!(output.join("\n"));
}

#[tokio::test]
async fn rules_speak_of_tools_by_the_names_that_servers_give_them() {
    let tools = Arc::new(started([("evil", double(&["hostile"]))]).await);
    let rules = rules("allow = ['evil.a.*', 'delegate']\ndeny = ['evil.x*y']");
    let policy = UserPolicy::new(rules, tools.clone());
    let mut texts = Vec::new();
    for spec in forklore_agent::tool::Tools::specs(&*tools) {
        let call = a_call(&spec.name, &json!({}));
        texts.push((policy.rule(&call), policy.permission(&call)));
    }
    for other in ["delegate", "evil__unknown"] {
        let call = a_call(other, &json!({}));
        texts.push((policy.rule(&call), policy.permission(&call)));
    }
    insta::assert_json_snapshot!(texts);
    tools.end().await;
}
