//! Tests of `explore --agent opencode`. A script acts as opencode: it has its sessions in an SQLite
//! database, and imports and continues them. The real one runs in `cargo xtask agents`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::answers;
use crate::rewind::Project;
use crate::sandbox::ran;

/// Writes down how it is called. Its import leaves a part of the session if it fails, and somebody
/// imports the database before it ends.
const OPENCODE: &str = r#"#!/usr/bin/env python3
import json, os, sqlite3, subprocess, sys, time
home, words = os.environ["HOME"], sys.argv[1:]
folder = home + "/.local/share/opencode"
os.makedirs(folder, exist_ok=True)
db = sqlite3.connect(folder + "/opencode.db", timeout=60, isolation_level=None)
db.execute("PRAGMA journal_mode = WAL")
for table in ("session(id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, revert TEXT,"
              " permission TEXT, time_created INTEGER, time_updated INTEGER)",
              "message(id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER,"
              " time_updated INTEGER, data TEXT)",
              "part(id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER,"
              " time_updated INTEGER, data TEXT)"):
    db.execute("CREATE TABLE IF NOT EXISTS " + table)
def now():
    return time.time_ns() // 1000000
def session(id, directory, **more):
    db.execute("INSERT INTO session VALUES(?, ?, ?, ?, NULL, ?, ?, ?)", (id, more.get("parent"),
        directory, "t", json.dumps(more.get("permission")), now(), now()))
def message(session, id, info, parts):
    info = {key: value for key, value in info.items() if key not in ("id", "sessionID")}
    at = info["time"]["created"]
    db.execute("INSERT INTO message VALUES(?, ?, ?, ?, ?)", (id, session, at, now(), json.dumps(info)))
    for number, part in enumerate(parts):
        part = {key: part[key] for key in part if key not in ("id", "sessionID", "messageID")}
        db.execute("INSERT INTO part VALUES(?, ?, ?, ?, ?, ?)",
            (f"prt_{id}_{number}", id, session, at + number, now(), json.dumps(part)))
def say(session, role, text):
    id = f"msg_z{time.time_ns():x}{os.getpid()}"
    times = {"created": now(), "completed": now()}
    message(session, id, {"role": role, "time": times}, [{"type": "text", "text": text}])
if words == ["db", "path"]:
    print(folder + "/opencode.db")
elif words == ["debug", "config"]:
    print(json.dumps({"model": "p/m"}))
elif words[0] == "import":
    mode = oct(os.stat(os.path.dirname(words[1])).st_mode & 0o777)
    with open(words[1]) as file:
        document = json.load(file)
    info = document["info"]
    session(info["id"], os.getcwd(), permission=info["permission"])
    with open(home + "/calls", "a") as file:
        print(json.dumps(["import", words[1], mode]), file=file)
    if os.path.exists(home + "/broken"):
        print("Missing key", file=sys.stderr)
        sys.exit(1)
    for number, entry in enumerate(document["messages"]):
        message(info["id"], entry["info"]["id"], entry["info"], entry["parts"])
        if number == 0:
            subprocess.run(json.loads(os.environ["MEANWHILE"]), check=True, stdout=subprocess.DEVNULL)
elif words[0] == "run":
    prompt, id = sys.stdin.read(), words[words.index("-s") + 1]
    with open(home + "/calls", "a") as file:
        print(json.dumps(words[:1] + [word for word in words[1:] if word != id]), file=file)
    say(id, "user", prompt)
    if prompt == "crash":
        print("the model is gone", file=sys.stderr)
        sys.exit(3)
    session(id + "_helper", os.getcwd(), parent=id)
    say(id + "_helper", "user", "help")
    with open(os.environ["PWD"] + "/new.txt", "w") as file:
        file.write("made\n")
    say(id, "assistant", prompt + " it is")
elif words[:2] == ["session", "delete"]:
    for table, key in ("session", "id"), ("message", "session_id"), ("part", "session_id"):
        db.execute(f"DELETE FROM {table} WHERE {key} = ?", (words[2],))
else:
    sys.exit(2)
"#;

struct Race(Project);

impl Race {
    fn new(kind: &str) -> Self {
        let project = Project::new(kind);
        project.turn("begin");
        let programs = project.sandbox.path().join("programs");
        fs::create_dir(&programs).unwrap();
        fs::create_dir_all(project.sandbox.path().join("home")).unwrap();
        let path = programs.join("opencode");
        fs::write(&path, OPENCODE).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Self(project)
    }

    fn home(&self) -> PathBuf {
        self.0.sandbox.path().join("home")
    }

    fn database(&self) -> PathBuf {
        self.home().join(".local/share/opencode/opencode.db")
    }

    fn explore(&self, prompts: &str, words: &[&str]) -> (i32, Value) {
        let prompts = self.0.sandbox.file("prompts.txt", prompts);
        let (store, folder) = (self.0.store(), self.0.folder());
        let globals = ["--json", "--store", store, "--workspace", folder.to_str().unwrap()];
        let fixed = ["explore", "work", "--agent", "opencode", "--prompts"];
        let words = [&globals, &fixed[..], &[prompts.to_str().unwrap()], words].concat();
        let mut command = self.0.sandbox.command(&words);
        let path = std::env::var("PATH").unwrap();
        let programs = self.0.sandbox.path().join("programs");
        command.env("PATH", format!("{}:{path}", programs.display()));
        let program = command.get_program().to_str().unwrap().to_owned();
        let database = self.database();
        let import = [&program, "--store", store, "import", database.to_str().unwrap()];
        command.env("MEANWHILE", json!(import).to_string());
        let ran = ran(command);
        answers::are_of_the_contract(&["--json", "explore"], &ran.out);
        (ran.code, serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}")))
    }

    /// Imports the whole database. Returns the number of all sessions, and of their events.
    fn import(&self) -> (usize, u64) {
        // Its exit code says whether a session is in the database.
        self.0.run(&["import", self.database().to_str().unwrap()]);
        let listed = self.0.json(&["list", "--all"]);
        let sessions = listed["sessions"].as_array().unwrap();
        (sessions.len(), sessions.iter().map(|it| it["own_events"].as_u64().unwrap()).sum())
    }

    fn texts(&self, session: &str) -> Vec<String> {
        let lines = self.0.run(&["--json", "replay", session]).out;
        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter_map(|line| line["content"].as_str().map(str::to_owned)).collect()
    }

    fn calls(&self) -> Vec<Value> {
        let calls = fs::read_to_string(self.home().join("calls")).unwrap();
        calls.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn sqlite(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.database()).unwrap()
    }
}

#[test]
fn sessions_of_a_database_become_branches_whoever_imports_them_first() {
    for kind in ["sqlite", "files"] {
        let race = Race::new(kind);
        let (code, answer) = race.explore("do \"it\" 2 times\ngood\ncrash\n", &["--allow", "*"]);
        assert_eq!(code, 0, "{answer}");
        let tries = answer["tries"].as_array().unwrap();
        let of = |at: usize| {
            let row: &Value = &tries[at];
            json!([row["state"], row["answer"], row["work"]["files"], row["error"]])
        };
        assert_eq!(of(0), json!(["done", "do \"it\" 2 times it is", 1, null]), "{answer}");
        assert_eq!(of(1), json!(["done", "good it is", 1, null]));
        let why = "opencode ended with exit status: 3: the model is gone";
        assert_eq!(of(2), json!(["failed", "", 0, why]));
        let session = |at: usize| tries[at]["session_id"].as_str().unwrap();
        assert_eq!(race.texts(session(1)), ["begin", "done", "good", "good it is"]);
        assert_eq!(race.texts(session(2)), ["begin", "done", "crash"]);
        let shown = race.0.json(&["show", session(1)]);
        // The fork, the question and the answer.
        assert_eq!(shown["session"]["own_events"], 3, "{shown}");

        // The documents were private, and are gone.
        let (imports, runs): (Vec<_>, Vec<_>) =
            race.calls().into_iter().partition(|call| call[0] == "import");
        assert_eq!(imports.len(), 3);
        for import in imports {
            assert_eq!(import[2], "0o700");
            assert!(!Path::new(import[1].as_str().unwrap()).exists());
        }
        assert_eq!(runs, vec![json!(["run", "-s", "--auto", "-m", "p/m"]); 3]);
        assert!(!race.0.folder().join("new.txt").exists());
        let asks = race.sqlite().query_row(
            "SELECT count(*) FROM session WHERE permission LIKE '%\"question\"%\"deny\"%'",
            [],
            |row| row.get::<_, i64>(0),
        );
        assert_eq!(asks.unwrap(), 3);

        // A session and three branches. The list has no helpers.
        let before = race.import();
        assert_eq!((before.0, race.import()), (4, before));
        // The user goes on by hand.
        race.sqlite()
            .execute_batch(&format!(
                "INSERT INTO message VALUES('msg_zz', '{0}', 9000000000000, 9, '{{\"role\":\"user\",\"time\":{{\"created\":9000000000000}}}}');
                 INSERT INTO part VALUES('prt_zz', 'msg_zz', '{0}', 9, 9, '{{\"type\":\"text\",\"text\":\"by hand\"}}');",
                session(1)
            ))
            .unwrap();
        assert_eq!(race.import().0, 4);
        assert_eq!(race.texts(session(1)), ["begin", "done", "good", "good it is", "by hand"]);
    }
}

#[test]
fn a_session_that_opencode_does_not_import_leaves_nothing() {
    let race = Race::new("sqlite");
    fs::write(race.home().join("broken"), "").unwrap();
    let (code, answer) = race.explore("good\n", &["-n", "1", "--models", "a/b"]);
    let row = &answer["tries"][0];
    assert_eq!((code, &row["state"]), (1, &json!("failed")), "{answer}");
    assert_eq!(row["error"], "opencode ended with exit status: 1: Missing key");
    assert_eq!(json!([row["session_id"], row["work"]["folder"]]), json!([null, null]));
    let count = "SELECT count(*) FROM session";
    assert_eq!(race.sqlite().query_row(count, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    assert_eq!(race.import().0, 1);
    assert_eq!(race.0.json(&["worktrees", "list"])["worktrees"], json!([]));
    assert!(!race.0.folder().with_file_name("project.worktrees").join("try-1").exists());
    assert!(!Path::new(race.calls()[0][1].as_str().unwrap()).exists());

    // Without --allow '*', and with a model of the user.
    fs::remove_file(race.home().join("broken")).unwrap();
    let (code, answer) = race.explore("good\n", &["-n", "1", "--models", "a/b"]);
    assert_eq!((code, &answer["tries"][0]["state"]), (0, &json!("done")), "{answer}");
    assert_eq!(race.calls().last().unwrap(), &json!(["run", "-s", "-m", "a/b"]));
}
