//! Tests of attachments, from the command line to the bytes that a model's server receives.

use serde_json::Value;

use crate::sandbox::{Ran, Sandbox, WORKSPACE, ran, snapshot};
use crate::scripted::{Answer, Scripted};

/// Returns 3,000 bytes that begin like a PNG of 2 by 3 pixels, which is enough to detect the media
/// type.
fn png() -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03\x08\x06\0\0\0".to_vec();
    bytes.resize(3_000, b'x');
    bytes
}

const BEGIN: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAB4eHh4";

fn chat(sandbox: &Sandbox, words: &[&str]) -> Ran {
    let mut command = sandbox.command(&[&["--workspace", WORKSPACE], words].concat());
    command.env("FORKLORE_CONFIG", sandbox.path().join("config.toml"));
    ran(command)
}

#[test]
fn a_file_goes_with_its_message_and_every_later_request() {
    let sandbox = Sandbox::new();
    let model = Scripted::start(&[Answer::Says("A cat."), Answer::Says("Two.")]);
    sandbox.file("config.toml", &format!("{}images = true\n", model.config()));
    std::fs::write(sandbox.path().join("shot"), png()).unwrap();
    sandbox.file("note.md", "A note.\n");
    let path = |name: &str| sandbox.path().join(name).to_str().unwrap().to_owned();
    let (shot, note) = (path("shot"), path("note.md"));
    let words = ["chat", "-p", "What is this?", "--attach", &shot, "--attach", &note];
    let ran = chat(&sandbox, &words);
    assert_eq!((ran.code, &*ran.out), (0, "A cat.\n"), "{}", ran.err);
    assert!(!ran.err.contains("does not get it"), "{}", ran.err);
    // The request contains the copy in the store, so the file is no longer needed.
    std::fs::remove_file(&shot).unwrap();
    assert_eq!(chat(&sandbox, &["chat", "last", "-p", "How many?"]).out, "Two.\n");
    let bodies = model.bodies();
    let content = &bodies[0]["messages"][0]["content"];
    assert_eq!(content[0]["text"], "What is this?");
    let url = content[1]["image_url"]["url"].as_str().unwrap();
    assert!(url.starts_with(BEGIN) && url.len() == 22 + 4_000, "{url}");
    assert_eq!(content[2]["text"], "[note.md (text/markdown)]\nA note.\n");
    assert_eq!(bodies[0]["messages"][0], bodies[1]["messages"][0]);

    // The output for users shows only the beginning of an image. The JSON output contains the whole
    // image.
    let shown = chat(&sandbox, &["inspect", "last", "--request"]);
    let begin = format!("{}... (4000 characters)", &BEGIN[22..62]);
    assert!(shown.out.contains(&begin) && !shown.out.contains("eHh4eHh4eHh4eHh4"), "{}", shown.out);
    let json = chat(&sandbox, &["--json", "inspect", "last", "--request", "--fork", "turn:1"]);
    let json: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["body"]["messages"][0], bodies[0]["messages"][0]);
    assert!(json["fork"]["bytes"].as_u64().unwrap() > 4_000, "{}", json["fork"]);
}

#[test]
fn a_file_that_the_model_does_not_get_is_reported() {
    let sandbox = Sandbox::new();
    let model = Scripted::start(&[]);
    sandbox.file("config.toml", &model.config());
    std::fs::write(sandbox.path().join("shot.png"), png()).unwrap();
    let shot = sandbox.path().join("shot.png").to_str().unwrap().to_owned();
    let ran = chat(&sandbox, &["chat", "-p", "What is this?", "--attach", &shot]);
    assert_eq!((ran.code, &*ran.out), (0, "done\n"), "{}", ran.err);
    assert!(ran.err.contains("the model is told of shot.png (image/png)"), "{}", ran.err);
    let note = "What is this?\n\n[attachment, not sent: shot.png (image/png)]";
    assert_eq!(model.requests(), [[("user".to_owned(), note.to_owned())]]);
    let gone = chat(&sandbox, &["chat", "-p", "And this?", "--attach", "no such file"]);
    assert_eq!((gone.code, &*gone.out), (2, ""));
    snapshot!(gone.err);
    assert_eq!(model.requests().len(), 1);
}
