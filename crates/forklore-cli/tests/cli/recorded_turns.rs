//! Tests of the snapshots that forklore's own agent takes, and of `/rewind` and `/undo` with files.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox, ran};
use crate::scripted::{Answer, Scripted};
use crate::terminal::Terminal;
use crate::typing::{keys, says};

/// An MCP server with one tool, which writes its text into a file.
const SERVER: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([^,}]*\).*/\1/')
  answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
  case $line in
    *'"initialize"'*) answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}' ;;
    *'"tools/list"'*) answer '{"tools":[{"name":"put","inputSchema":{"type":"object"}}]}' ;;
    *'"tools/call"'*)
      printf '%s' "$line" | sed 's/.*"text":"\([^"]*\)".*/\1/' > "$1"
      answer '{"content":[{"type":"text","text":"done"}]}' ;;
  esac
done
"#;

const FIRST: Answer = Answer::Calls("files__put", "{\"text\":\"level 1\"}");
const SECOND: Answer = Answer::Calls("files__put", "{\"text\":\"level 2\"}");

struct Project {
    sandbox: Sandbox,
    _model: Scripted,
}

impl Project {
    fn new(answers: &[Answer], more: &str) -> Self {
        let (sandbox, model) = (Sandbox::new(), Scripted::start(answers));
        let project = Self { sandbox, _model: model };
        fs::create_dir(project.folder()).unwrap();
        fs::write(project.folder().join("level"), "level 0\n").unwrap();
        let server = project.sandbox.file("server.sh", SERVER);
        let words = json!([server, project.folder().join("level")]);
        let tools = format!("[tools.files]\ncommand = \"sh\"\nargs = {words}\n");
        let policy = "[policy]\nallow = [\"*\"]\n";
        let config = format!("{more}{}{tools}{policy}", project._model.config());
        project.sandbox.file("config.toml", &config);
        project
    }

    fn folder(&self) -> PathBuf {
        self.sandbox.path().join("project")
    }

    fn level(&self) -> String {
        let text = fs::read_to_string(self.folder().join("level")).unwrap();
        text.trim_end().to_owned() + "\n"
    }

    fn run(&self, words: &[&str]) -> Ran {
        let folder = self.folder();
        let words = [&["--workspace", folder.to_str().unwrap()], words].concat();
        let mut command = self.sandbox.command(&words);
        command.env("FORKLORE_CONFIG", self.sandbox.path().join("config.toml"));
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        ran(command)
    }

    fn types(&self, session: &str) -> Vec<String> {
        let log = self.run(&["--json", "log", session]);
        let events = log.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let kinds = events.map(|event| event["type"].as_str().unwrap().to_owned());
        kinds.filter(|kind| kind != "provider_usage" && kind != "permission_decision").collect()
    }
}

#[test]
fn a_turn_with_tools_records_the_files_before_and_after() {
    let done = Answer::Says("done");
    let project = Project::new(&[FIRST, done, SECOND, done, done], "");
    for prompt in ["to 1", "to 2", "nothing"] {
        let words: &[&str] = match prompt {
            "to 1" => &["chat", "-p", prompt],
            _ => &["resume", "last", "-p", prompt],
        };
        let ran = project.run(words);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let turn = ["user_message", "tool_call", "tool_result", "assistant_message"];
    let (snapshot, talk) = (["workspace_snapshot"], ["user_message", "assistant_message"]);
    // The begin of the second turn, and the third turn, find what was recorded already.
    let expected = [&snapshot[..], &turn, &snapshot, &turn, &snapshot, &talk].concat();
    assert_eq!(project.types("last"), expected);
    assert_eq!(project.level(), "level 2\n");
    for (at, level) in [("turn:1", "level 1\n"), ("start", "level 0\n"), ("end", "level 2\n")] {
        let ran = project.run(&["rewind", "last", "--at", at, "--files", "--yes"]);
        assert_eq!((ran.code, project.level()), (0, level.to_owned()), "{at}: {ran:?}");
    }
}

#[test]
fn there_is_no_snapshot_where_none_is_wanted_or_possible() {
    let script = [FIRST, Answer::Says("done")];
    let project = Project::new(&script, "snapshots = false\n");
    assert_eq!(project.run(&["chat", "-p", "to 1"]).code, 0);
    assert!(!project.types("last").contains(&"workspace_snapshot".to_owned()));
    // Something is where the snapshots belong: that is announced once, and the turn goes on.
    let project = Project::new(&script, "");
    project.sandbox.file("store.db-snapshots", "");
    let ran = project.run(&["--json", "chat", "-p", "to 1"]);
    assert_eq!((ran.code, project.level()), (0, "level 1\n".to_owned()), "{ran:?}");
    assert_eq!(ran.out.matches("\"hook:error\"").count(), 1, "{ran:?}");
}

#[test]
fn conversation_and_files_go_back_while_one_talks() {
    let done = Answer::Says("done");
    let project = Project::new(&[FIRST, done, SECOND, done], "");
    let folder = project.folder();
    let program = [env!("CARGO_BIN_EXE_forklore"), "--workspace", folder.to_str().unwrap(), "chat"];
    let terminal = Terminal::running(&project.sandbox, "files", &program);
    terminal.ready("main>");
    terminal.line("to 1", "main>");
    terminal.line("to 2", "main>");
    says(&terminal, "/rewind turn:1");
    let question = terminal.until("question", |screen| screen.ends_with("[Y/n]"));
    assert!(question.contains("level  modified"), "{question}");
    says(&terminal, "y");
    let screen = terminal.until("rewind", |screen| screen.contains("Rewound to "));
    assert!(screen.contains("Took the files back: 1 file written, 0 removed"), "{screen}");
    assert_eq!(project.level(), "level 1\n");
    // The question of the turn that was taken back is in the prompt again.
    keys(&terminal, &["C-u"]);
    says(&terminal, "/undo");
    terminal.until("question", |screen| screen.ends_with("[Y/n]"));
    says(&terminal, "y");
    terminal.until("undo", |screen| screen.contains("Undone; now on main"));
    assert_eq!(project.level(), "level 2\n");
}
