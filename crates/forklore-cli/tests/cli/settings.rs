//! Tests of `-c KEY=VALUE`, which overrides the configuration file for one run.

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox, ran};
use crate::scripted::{Answer, Scripted};
use crate::signals::forklore;

/// Creates an environment whose configuration has the model `scripted`.
fn scripted(answers: &[Answer]) -> (Sandbox, Scripted) {
    let sandbox = Sandbox::new();
    let model = Scripted::start(answers);
    sandbox.file("config.toml", &model.config());
    (sandbox, model)
}

fn run(sandbox: &Sandbox, words: &[&str]) -> Ran {
    ran(forklore(sandbox, words))
}

fn error(ran: &Ran) -> Value {
    let last = ran.out.lines().last().unwrap_or_default();
    serde_json::from_str::<Value>(last).unwrap_or_else(|_| panic!("{ran:?}"))["error"].clone()
}

/// Returns the names of the models in the requests so far.
fn models_of(model: &Scripted) -> Vec<String> {
    model.bodies().iter().map(|body| body["model"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_turn_uses_the_settings_before_and_behind_the_command() {
    let (sandbox, model) = scripted(&[]);
    let before = std::fs::read(sandbox.path().join("config.toml")).unwrap();
    let words =
        ["-c", "models.scripted.model=other", "chat", "-p", "hello", "-c", "system=Be brief."];
    assert_eq!(run(&sandbox, &words).code, 0);
    let words = ["resume", "last", "-p", "and?", "--config", "models.scripted.model = \"third\""];
    assert_eq!(run(&sandbox, &words).code, 0);
    assert_eq!(run(&sandbox, &["resume", "last", "-p", "so?"]).code, 0);
    assert_eq!(models_of(&model), ["other", "third", "m"]);
    let message = |role: &str, text: &str| (role.to_owned(), text.to_owned());
    assert_eq!(model.requests()[0], [message("system", "Be brief."), message("user", "hello")]);
    assert_eq!(std::fs::read(sandbox.path().join("config.toml")).unwrap(), before);
}

#[test]
fn a_model_that_only_the_command_line_names_answers() {
    let sandbox = Sandbox::new();
    let model = Scripted::start(&[]);
    let config = model.config();
    let address = config.split("base_url = ").nth(1).unwrap().trim();
    let model_setting =
        format!("models.x={{ provider = \"openai\", model = \"m\", base_url = {address} }}");
    let ran = run(&sandbox, &["chat", "-p", "hello", "-c", &model_setting]);
    assert_eq!((ran.code, &*ran.out), (0, "done\n"), "{ran:?}");
}

#[test]
fn sub_agents_and_explorations_have_the_settings_too() {
    let task = Answer::Calls("delegate", "{\"task\": \"your part\"}");
    let (sandbox, model) = scripted(&[task, Answer::Says("my part")]);
    let other = ["-c", "models.scripted.model=other"];
    let given = ["-c", "delegate.depth=1", "-c", "policy.allow=[\"delegate\"]"];
    let words = [&other[..], &given, &["chat", "-p", "share it"]].concat();
    assert_eq!(run(&sandbox, &words).code, 0);
    assert_eq!(models_of(&model), ["other", "other", "other"]);
    assert_eq!(model.requests()[1].last().unwrap().1, "your part");
    let words = [&["explore", "last", "and?", "-n", "1"], &other[..]].concat();
    assert_eq!(run(&sandbox, &words).code, 0);
    assert_eq!(models_of(&model)[3..], ["other"]);
    let request = [&["--json", "inspect", "last", "--request"], &other[..]].concat();
    let request: Value = serde_json::from_str(&run(&sandbox, &request).out).unwrap();
    assert_eq!(request["body"]["model"], "other");
}

#[test]
fn what_is_wrong_is_named_by_its_key_and_nothing_is_sent() {
    let (sandbox, model) = scripted(&[]);
    let refused = |setting: &str| {
        let ran = run(&sandbox, &["--json", "chat", "-p", "hello", "-c", setting]);
        let error = error(&ran);
        assert_eq!((ran.code, &error["kind"]), (2, &json!("invalid_args")), "{ran:?}");
        error["message"].as_str().unwrap().to_owned()
    };
    let wrong = "the setting models.scripted.modell: unknown field `modell`, expected ";
    assert!(refused("models.scripted.modell=x").starts_with(wrong));
    let wrong = "the setting delegate.depth: invalid type: string ..., expected ";
    let message = refused("delegate.depth=sk-secret");
    assert!(message.starts_with(wrong), "{message}");
    let wrong =
        "the setting default_model: there is no [models.x], which is to be the default_model";
    assert_eq!(refused("default_model=x"), wrong);
    assert_eq!(refused("x"), "a setting is KEY=VALUE, with dots between the parts of the key");
    let message = refused("system=\"sk-secret");
    assert!(message.starts_with("the value of system is no TOML: "), "{message}");
    assert!(!message.contains("secret"), "{message}");
    assert!(model.bodies().is_empty() && !sandbox.store().exists());
}

#[test]
fn doctor_looks_at_the_configuration_with_its_settings() {
    let (sandbox, _model) = scripted(&[]);
    let config = |words: &[&str]| {
        let ran = run(&sandbox, &[&["--json", "doctor"], words].concat());
        let answer: Value = serde_json::from_str(&ran.out).unwrap();
        let mut checks = answer["checks"].as_array().unwrap().iter();
        let check = checks.find(|check| check["name"] == "config").unwrap();
        (ran.code, check["status"].clone(), check["message"].as_str().unwrap().to_owned())
    };
    let sound = |message: &str| (0, json!("ok"), message.to_owned());
    assert_eq!(config(&[]), sound("1 model, 0 tool servers"));
    assert_eq!(config(&["-c", "tools.x.command=x"]), sound("1 model, 1 tool server"));
    let (code, status, message) = config(&["-c", "tools.x=1"]);
    assert_eq!((code, status), (2, json!("problem")));
    assert!(message.starts_with("the setting tools.x: invalid type: "), "{message}");
    sandbox.file("config.toml", "[models.a\n");
    let (code, status, message) = config(&[]);
    assert_eq!((code, status), (2, json!("problem")));
    assert!(message.contains("config.toml, line 1: "), "{message}");
}
