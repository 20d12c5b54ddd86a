//! Tests of `config show`, `check`, `init` and `edit`.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;
use std::thread;

use serde_json::{Value, json};

use crate::answers;
use crate::sandbox::{Ran, Sandbox, ran, snapshot};

const WORDS: &str = r#"system = "Answer briefly."

[models.local]
provider = "openai"
base_url = "http://127.0.0.1:8080/v1"
model = "default"

[models.claude]
provider = "anthropic"
model = "claude-sonnet-4-5"

[tools.files]
command = "/bin/cat"
args = ["--token", "hunter2"]
"#;

/// Returns a command with the configuration `config.toml` of the sandbox.
fn command(sandbox: &Sandbox, words: &[&str]) -> Command {
    let mut command = sandbox.command(words);
    command.env("FORKLORE_CONFIG", sandbox.path().join("config.toml"));
    command
}

fn run(sandbox: &Sandbox, words: &[&str]) -> Ran {
    let ran = ran(command(sandbox, words));
    if words.contains(&"--json") {
        answers::are_of_the_contract(words, &ran.out);
    }
    ran
}

fn json_of(sandbox: &Sandbox, words: &[&str]) -> (i32, Value) {
    let ran = run(sandbox, &[words, &["--json"]].concat());
    (ran.code, serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}")))
}

/// Returns the output with the folder of the sandbox replaced.
fn shown(sandbox: &Sandbox, ran: &Ran) -> String {
    let folder = sandbox.path().to_str().unwrap();
    let text = format!("[{}]\n{}{}", ran.code, ran.out, ran.err).replace(folder, "[dir]");
    // The width of a column depends on the length of the folder's name.
    let mut words = text.split("  ").map(str::trim_start).collect::<Vec<_>>();
    words.retain(|word| !word.is_empty());
    words.join("  ")
}

#[test]
fn settings_are_shown_with_their_origin_and_without_secrets() {
    let sandbox = Sandbox::new();
    sandbox.file("config.toml", WORDS);
    let words = ["config", "show", "-c", "models.local.model=other", "--workspace", "/demo"];
    let mut show = command(&sandbox, &words);
    show.env("ANTHROPIC_API_KEY", "sk-ant-hunter2");
    let ran = ran(show);
    assert!(!ran.out.contains("hunter2"), "{ran:?}");
    snapshot!(shown(&sandbox, &ran));
    let (code, answer) = json_of(&sandbox, &["config"]);
    let settings = answer["settings"].as_array().unwrap();
    let of = |key: &str| settings.iter().find(|setting| setting["key"] == key).unwrap().clone();
    assert_eq!(code, 0);
    let expected =
        json!({"key": "models.local.model", "value": "default", "from": "file", "line": 6});
    assert_eq!(of("models.local.model"), expected);
    let expected = json!({"key": "models.claude.key", "value": null, "from": "environment",
        "variable": "ANTHROPIC_API_KEY"});
    assert_eq!(of("models.claude.key"), expected);
    let expected = json!({"key": "tools.files.args", "value": null, "hidden": true, "from": "file", "line": 14});
    assert_eq!(of("tools.files.args"), expected);
}

#[test]
fn without_a_file_the_defaults_are_shown() {
    let sandbox = Sandbox::new();
    let ran = run(&sandbox, &["config"]);
    snapshot!(shown(&sandbox, &ran));
}

#[test]
fn every_problem_has_its_line_and_what_to_do() {
    let sandbox = Sandbox::new();
    let wrong = r#"default_model = "nobody"
sytem = "x"

[models.a]
provider = "openai"
modle = "m"
context_window = "sk-secret"

[models.b]
provider = "openai"
model = "m"
base_url = "ftp://here"
api_key = "sk-secret"

[models.c]
provider = "anthropic"
model = "m"

[tools.'bad name']
command = "x"

[tools.both]
command = "no-such-program"
url = "http://127.0.0.1/"

[policy]
allow = ["files"]
alow = ["*"]
"#;
    sandbox.file("config.toml", wrong);
    sandbox.file("forklore.toml", "");
    let ran = run(&sandbox, &["config", "check", "-c", "delegate.deep=1", "-c", "system.a=1"]);
    assert!(!ran.out.contains("sk-secret"), "{ran:?}");
    snapshot!(shown(&sandbox, &ran));
    let (code, answer) = json_of(&sandbox, &["config", "check"]);
    assert_eq!((code, &answer["ok"]), (2, &json!(false)));
    let problems = answer["problems"].as_array().unwrap();
    let lines: Vec<_> = problems.iter().map(|problem| problem["line"].clone()).collect();
    assert_eq!(answer["error"]["kind"], "invalid_args");
    assert!(lines.len() > 9 && lines.contains(&json!(13)), "{answer:#}");
}

#[test]
fn each_mistake_of_the_syntax_is_named() {
    let sandbox = Sandbox::new();
    sandbox.file("config.toml", "system = Answer\n[models.a\nprovider = \"openai\"\nmodel 'm'\n");
    snapshot!(shown(&sandbox, &run(&sandbox, &["config", "check"])));
    sandbox.file("config.toml", WORDS);
    assert_eq!(run(&sandbox, &["config", "check", "-c", "default_model=local"]).code, 0);
    let (code, answer) = json_of(&sandbox, &["config", "check", "--workspace", "/demo"]);
    assert_eq!((code, &answer["ok"]), (0, &json!(true)));
    let warnings = answer["problems"].as_array().unwrap();
    assert!(warnings.iter().all(|problem| problem["warning"] == true), "{answer:#}");
    assert_eq!(warnings.len(), 2, "{answer:#}");
}

#[test]
fn what_is_no_text_file_of_yours_is_a_problem_for_doctor_too() {
    let sandbox = Sandbox::new();
    let path = sandbox.path().join("config.toml");
    let checked = |code: i32, wrong: &str| {
        let (found, answer) = json_of(&sandbox, &["config", "check"]);
        let problem = &answer["problems"][0];
        assert_eq!(found, code, "{answer:#}");
        assert!(problem["message"].as_str().unwrap().contains(wrong), "{answer:#}");
        let (found, answer) = json_of(&sandbox, &["doctor"]);
        let mut checks = answer["checks"].as_array().unwrap().iter();
        let check = checks.find(|check| check["name"] == "config").unwrap();
        assert_eq!((found, &check["status"]), (code, &json!("problem")), "{answer:#}");
        assert!(check["message"].as_str().unwrap().contains(wrong), "{answer:#}");
        assert_eq!(check["hint"], problem["hint"]);
    };
    let advice = |hint: &str| {
        let (_, answer) = json_of(&sandbox, &["config", "check"]);
        assert_eq!(answer["problems"].as_array().unwrap().len(), 1, "{answer:#}");
        assert_eq!(answer["problems"][0]["hint"], hint, "{answer:#}");
        assert_eq!(answer["error"]["next_actions"], json!([hint]), "{answer:#}");
    };
    fs::create_dir(&path).unwrap();
    checked(2, "it is no regular file");
    advice("move the folder aside, then: forklore config init");
    fs::remove_dir(&path).unwrap();
    // Nobody is told to change the rights of a device.
    symlink("/dev/zero", &path).unwrap();
    checked(2, "it is no regular file");
    advice("name a text file in FORKLORE_CONFIG");
    fs::remove_file(&path).unwrap();
    symlink(&path, &path).unwrap();
    checked(1, "its links run in a circle");
    advice("remove the link, then: forklore config init");
    fs::remove_file(&path).unwrap();
    fs::write(&path, b"system = 'x'\n# \xff\n").unwrap();
    checked(2, "line 2 is not UTF-8");
    fs::write(&path, "system = 'x'\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    checked(3, "others may write to it");
    fs::remove_file(&path).unwrap();
    symlink(sandbox.path().join("nowhere"), &path).unwrap();
    let (code, answer) = json_of(&sandbox, &["config", "check"]);
    assert_eq!((code, answer["exists"].clone()), (1, json!(true)), "{answer:#}");
    advice("make the file that the link leads to, or remove the link");
}

/// Starts a server on this machine that lists these models, and returns its port.
fn serve_models(models: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut request = [0; 4096];
            let read = stream.read(&mut request).unwrap_or(0);
            assert!(request[..read].starts_with(b"GET /v1/models HTTP/1.1\r\n"));
            let length = models.len();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
            // Writing fails if the client has closed the connection.
            let _ = stream.write_all(format!("{head}{models}").as_bytes());
        }
    });
    port
}

/// Starts a server that accepts connections and never answers, and returns its port.
fn serve_nothing() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

#[test]
fn a_new_configuration_names_the_servers_and_keys_that_are_there() {
    let sandbox = Sandbox::new();
    let port = serve_models(r#"{"data":[{"id":"qwen3:0.6b"},{"id":"smol"},{"id":"x\"]\nevil"}]}"#);
    let (_listener, silent) = serve_nothing();
    let (port, silent) = (port.to_string(), silent.to_string());
    let words = ["config", "init", "--port", &port, "--port", &silent];
    let with_keys = |words: &[&str]| {
        let mut command = command(&sandbox, words);
        command.env("ANTHROPIC_API_KEY", "sk-ant-hunter2").env("GEMINI_API_KEY", " ");
        // A request to this machine never goes through a proxy.
        command.env("http_proxy", "http://127.0.0.1:9").env("HTTP_PROXY", "http://127.0.0.1:9");
        ran(command)
    };
    let planned = with_keys(&[&words[..], &["--dry-run"]].concat());
    assert!(!sandbox.path().join("config.toml").exists());
    let made = with_keys(&words);
    assert_eq!(planned.out.replace("Would write", "Wrote"), made.out);
    assert!(!made.out.contains("hunter2") && !made.out.contains("evil"), "{made:?}");
    snapshot!(shown(&sandbox, &made).replace(&port, "[port]"));
    let path = sandbox.path().join("config.toml");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let (code, answer) = json_of(&sandbox, &["config", "check"]);
    assert_eq!(code, 0, "{answer:#}");
}

#[test]
fn a_configuration_that_is_there_is_not_overwritten() {
    let sandbox = Sandbox::new();
    let path = sandbox.file("config.toml", "system = 'x'\n");
    let (_listener, silent) = serve_nothing();
    let silent = silent.to_string();
    let (code, answer) = json_of(&sandbox, &["config", "init", "--port", &silent]);
    assert_eq!((code, &answer["error"]["kind"]), (4, &json!("already_exists")));
    assert_eq!(fs::read_to_string(&path).unwrap(), "system = 'x'\n");
    let (code, answer) = json_of(&sandbox, &["config", "init", "--port", &silent, "--yes"]);
    assert_eq!((code, &answer["replaces"]), (0, &json!(true)));
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(answer["text"], text);
    let (code, answer) = json_of(&sandbox, &["config", "check"]);
    assert_eq!((code, &answer["problems"]), (0, &json!([])));
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let (code, _) = json_of(&sandbox, &["config", "init", "--port", &silent, "--yes"]);
    assert_eq!(code, 4);
    assert!(path.is_dir());
    // The folders above are made, for the owner only.
    let home = sandbox.path().join("home");
    let ran = ran(sandbox.command(&["config", "init", "--port", &silent]));
    assert_eq!(ran.code, 0, "{ran:?}");
    let folder = home.join(".config/forklore");
    assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

/// Writes an editor: a shell script with these lines.
fn editor(sandbox: &Sandbox, lines: &str) -> String {
    let path = sandbox.file("editor.sh", &format!("#!/bin/sh\n{lines}\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

fn edit(sandbox: &Sandbox, lines: &str) -> (i32, Value) {
    let editor = editor(sandbox, lines);
    let mut command = command(sandbox, &["config", "edit", "--json"]);
    command.env("VISUAL", format!("'{editor}' 'an option'")).env("EDITOR", "false");
    command.env("PATH", std::env::var_os("PATH").unwrap());
    let ran = ran(command);
    answers::are_of_the_contract(&["config"], &ran.out);
    (ran.code, serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}")))
}

/// Returns the names of the copies that edits left.
fn copies(sandbox: &Sandbox) -> Vec<String> {
    let entries = fs::read_dir(sandbox.path()).unwrap().map(Result::unwrap);
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("config-edit-")).collect()
}

#[test]
fn an_edit_replaces_the_file_only_if_it_is_sound() {
    let sandbox = Sandbox::new();
    let path = sandbox.file("config.toml", "system = 'x'\n");
    let text = || fs::read_to_string(&path).unwrap();
    let (code, answer) = edit(&sandbox, r#"[ "$1" = "an option" ] && echo "system = 'y'" > "$2""#);
    assert_eq!((code, &answer["changed"]), (0, &json!(true)), "{answer:#}");
    assert_eq!((text(), copies(&sandbox).len()), ("system = 'y'\n".to_owned(), 0));
    let (code, answer) = edit(&sandbox, "true");
    assert_eq!((code, &answer["changed"]), (0, &json!(false)), "{answer:#}");
    let (code, answer) = edit(&sandbox, "exit 3");
    assert_eq!((code, &answer["error"]["kind"]), (130, &json!("interrupted")), "{answer:#}");
    assert_eq!((text(), copies(&sandbox).len()), ("system = 'y'\n".to_owned(), 0));
    let (code, answer) = edit(&sandbox, r#"echo "sytem = 'z'" > "$2""#);
    let message = answer["error"]["message"].as_str().unwrap();
    assert_eq!(code, 2, "{answer:#}");
    assert!(message.contains("stays as it was: it has 1 problem; your text is in "), "{message}");
    let [copy] = &copies(&sandbox)[..] else { panic!("no copy") };
    let copy = sandbox.path().join(copy);
    assert_eq!(fs::read_to_string(&copy).unwrap(), "sytem = 'z'\n");
    assert_eq!(text(), "system = 'y'\n");
    fs::remove_file(copy).unwrap();
    // Somebody else writes the file meanwhile.
    let other_writer = format!("echo \"system = 'a'\" > \"$2\"; echo '#' > '{}'", path.display());
    let (code, answer) = edit(&sandbox, &other_writer);
    assert_eq!((code, &answer["error"]["kind"]), (4, &json!("conflict")), "{answer:#}");
    assert_eq!((text(), copies(&sandbox).len()), ("#\n".to_owned(), 1));
}

#[test]
fn an_edit_follows_a_link_and_mends_what_is_no_text() {
    let sandbox = Sandbox::new();
    let real = sandbox.file("real.toml", "");
    fs::write(&real, b"\xff").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o666)).unwrap();
    let link = sandbox.path().join("config.toml");
    symlink("real.toml", &link).unwrap();
    // Nobody mended it, so it is as unusable as before.
    let (code, answer) = edit(&sandbox, "true");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(code == 2 && message.ends_with("cannot be used: line 1 is not UTF-8"), "{answer:#}");
    assert_eq!((fs::read(&real).unwrap(), copies(&sandbox).len()), (b"\xff".to_vec(), 0));
    let (code, answer) = edit(&sandbox, r#"echo "system = 'y'" > "$2""#);
    assert_eq!((code, &answer["changed"]), (0, &json!(true)), "{answer:#}");
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "system = 'y'\n");
    assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o644);
    fs::remove_file(&real).unwrap();
    let (code, answer) = edit(&sandbox, "true");
    assert_eq!((code, &answer["error"]["kind"]), (2, &json!("not_found")), "{answer:#}");
    fs::remove_file(&link).unwrap();
    fs::create_dir(&link).unwrap();
    let (code, _) = edit(&sandbox, "true");
    assert_eq!(code, 2);
    fs::remove_dir(&link).unwrap();
    // Without a file, the editor opens a new one.
    let (code, answer) = edit(&sandbox, r#"grep -q '^# The configuration' "$2" && echo >> "$2""#);
    assert_eq!((code, &answer["changed"]), (0, &json!(true)), "{answer:#}");
    assert_eq!(link.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}
