//! `inspect --request`: what would be sent, and how much of it a fork shares.

use serde_json::Value;

use crate::place::{Place, Ran, ran, snapshot};

/// A plan, and two models: one that cannot be asked, and the small one at `url`.
fn place(url: &str) -> Place {
    let place = Place::with_a_plan();
    let text = format!(
        "default_model = \"far\"\n[models.far]\nprovider = \"openai\"\nmodel = \"gpt\"\n\
         [models.here]\nprovider = \"anthropic\"\nmodel = \"{}\"\nbase_url = \"{url}\"\n",
        forklore_smollm::MODEL
    );
    place.file("config.toml", &text);
    place
}

fn inspect(place: &Place, words: &[&str]) -> Ran {
    let words = [&["--workspace", crate::place::WORKSPACE, "inspect", "plan-1"], words].concat();
    let mut command = place.command(&words);
    command.env("FORKLORE_CONFIG", place.path().join("config.toml"));
    ran(command)
}

#[test]
fn a_request_is_shown_without_being_sent() {
    let place = place("http://127.0.0.1:9/v1");
    let all = inspect(&place, &["--request"]);
    let fork = inspect(&place, &["--request", "--fork", "turn:1"]);
    snapshot!(format!("{}{}---\n{}{}", all.out, all.err, fork.out, fork.err));
}

#[test]
fn its_tokens_are_counted_by_a_server_that_counts() {
    let server = forklore_smollm::Server::start().unwrap();
    let place = place(&server.anthropic());
    let words = ["--json", "--request", "--model", "here", "--fork", "turn:1", "--count"];
    let told: Value = serde_json::from_str(&inspect(&place, &words).out).unwrap();
    assert_eq!(told["tokens"]["estimated"], false, "{told}");
    assert_eq!(told["fork"]["tokens"], told["tokens"], "nothing is said in the fork yet");
    assert!(told["fork"]["bytes"].as_u64() > Some(50), "{told}");
    assert_eq!(told["body"]["model"], forklore_smollm::MODEL);
}

#[test]
fn a_model_that_is_not_configured_is_named() {
    let ran = inspect(&place("http://127.0.0.1:9/v1"), &["--request", "--model", "none"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("there is no [models.none]"), "{}", ran.err);
}
