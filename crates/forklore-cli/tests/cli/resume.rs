//! Tests of `export` and `resume-in`: the formats of the files for agents, and the paths at which
//! agents find these files.

use std::path::Path;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, copy_folder, snapshot};

/// A session file of Pi with two answers to the same question. The user abandoned the first answer.
const PI: &str = r#"{"type":"session","version":3,"id":"01a1fff4-0000-7000-8000-000000000001","timestamp":"2026-11-21T21:13:17.950Z","cwd":"/demo"}
{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-11-21T21:13:18.000Z","message":{"role":"user","content":"plan A or plan B?","timestamp":1.0}}
{"type":"message","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"2026-11-21T21:13:19.000Z","message":{"role":"assistant","content":[{"type":"text","text":"A."},{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"plan.md"}}]}}
{"type":"message","id":"cccccccc","parentId":"aaaaaaaa","timestamp":"2026-11-21T21:13:20.000Z","message":{"role":"assistant","content":[{"type":"text","text":"B."}]}}
"#;

#[test]
fn every_agent_has_its_form() {
    let sandbox = Sandbox::with_a_plan();
    let agents = ["pi", "claude", "codex", "gemini", "opencode", "amplifier", "ak-coder", "pixir"];
    let forms = agents.map(|agent| {
        let ran = sandbox.run(&["export", "plan-1", "--to", agent, "-o", &format!("{agent}.json")]);
        assert_eq!(ran.code, 0, "{ran:?}");
        let text = std::fs::read_to_string(sandbox.path().join(format!("{agent}.json"))).unwrap();
        format!("{agent}\n{}{text}", ran.out)
    });
    snapshot!(forms.join("\n"));
}

#[test]
fn an_abandoned_branch_goes_on_behind_an_open_call() {
    let sandbox = Sandbox::new();
    sandbox.file("pi.jsonl", PI);
    let imported = sandbox.json(&["import", "pi.jsonl"]);
    let first = imported["sessions"][0]["session_id"].as_str().unwrap();
    let lines = sandbox.ok(&["export", first, "--to", "pi"]);
    let lines: Vec<&str> = lines.lines().collect();
    // The file has the original records of the branch, and then a result for its open call.
    let own: Vec<&str> = PI.lines().skip(1).take(2).collect();
    assert_eq!(lines.get(1..3).unwrap(), own);
    let result: Value = serde_json::from_str(lines[3]).unwrap();
    assert_eq!(result["parentId"], "bbbbbbbb");
    assert_eq!(result["message"]["toolCallId"], "c1");
    assert_eq!(result["message"]["isError"], true);
    let cut = sandbox.ok(&["export", first, "--to", "pi", "--at", "message:0"]);
    assert_eq!(cut.lines().nth(1), Some(own[0]));
    assert_eq!(cut.lines().count(), 2);
}

#[test]
fn what_an_agent_writes_into_its_file_goes_on_in_a_branch_of_the_session() {
    let sandbox = Sandbox::with_a_plan();
    let whole = sandbox.json(&["show", "plan-1"]);
    let messages = sandbox.json(&["inspect", "plan-1"])["messages"].clone();
    for agent in ["pi", "claude", "codex", "gemini", "amplifier", "ak-coder"] {
        let answer = sandbox.json(&["resume-in", agent, "plan-1"]);
        let branch = answer["branch"].as_str().unwrap();
        let header = sandbox.json(&["show", branch]);
        assert_eq!(header["parent_id"], whole["id"], "{agent}: {header}");
        let inherited = sandbox.json(&["inspect", branch])["messages"].clone();
        assert_eq!(inherited, messages, "{agent}");
        let path = answer["path"].as_str().unwrap();
        let again = sandbox.ok(&["import", path]);
        assert!(again.starts_with("Nothing new in 1 file"), "{agent}: {again}");
    }
    let answer = sandbox.json(&["resume-in", "pi", "plan-1", "--at", "turn:1"]);
    let (branch, path) = (answer["branch"].as_str().unwrap(), answer["path"].as_str().unwrap());
    let before = std::fs::read_to_string(path).unwrap();
    let last: Value = serde_json::from_str(before.lines().last().unwrap()).unwrap();
    let more = json!({"type": "message", "id": "aaaa0001", "parentId": last["id"],
        "message": {"role": "user", "content": "and with Pi?"}});
    std::fs::write(path, format!("{before}{more}\n")).unwrap();
    sandbox.ok(&["import", path]);
    let inspected = sandbox.json(&["inspect", branch]);
    let messages = inspected["messages"].as_array().unwrap();
    assert_eq!(messages.last().unwrap()["content"], "and with Pi?", "{inspected}");
}

#[test]
fn a_file_that_an_agent_copies_or_shares_has_no_branch() {
    let sandbox = Sandbox::with_a_plan();
    let before = sandbox.ok(&["tree", "plan-1"]);
    assert_eq!(sandbox.json(&["resume-in", "opencode", "plan-1"])["branch"], json!(null));
    assert_eq!(sandbox.json(&["resume-in", "pi", "plan-1", "--dry-run"])["branch"], json!(null));
    assert_eq!(sandbox.ok(&["tree", "plan-1"]), before);
}

#[cfg(unix)]
#[test]
fn the_file_is_put_where_the_agent_looks_for_it() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::with_a_plan();
    for agent in ["pi", "claude", "codex", "gemini", "amplifier", "ak-coder"] {
        let words = ["resume-in", agent, "plan-1"];
        let dry = sandbox.json(&[&words[..], &["--dry-run"]].concat());
        let path = Path::new(dry["path"].as_str().unwrap());
        assert!(!path.exists() && path.starts_with(sandbox.path().join("home")), "{dry}");
        let answer = sandbox.json(&words);
        let path = Path::new(answer["path"].as_str().unwrap());
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(path), mode(path.parent().unwrap())), (0o600, 0o700), "{answer}");
        assert!(answer["start"][0].as_str().unwrap().starts_with("cd /demo && "), "{answer}");
        assert_eq!((&answer["cwd"], &dry["events"]), (&json!("/demo"), &answer["events"]));
        let other = sandbox.json(&words);
        assert_ne!(other["path"], answer["path"], "a second session has a file of its own");
    }
    snapshot!(sandbox.ok(&["resume-in", "claude", "plan-1", "--home", "there", "--at", "turn:1"]));
}

#[test]
fn a_file_that_is_there_is_never_written_over() {
    let sandbox = Sandbox::with_a_plan();
    sandbox.file("there.jsonl", "mine");
    let (code, error) = sandbox.error(&["export", "plan-1", "--to", "claude", "-o", "there.jsonl"]);
    assert_eq!((code, &error["kind"]), (4, &json!("already_exists")));
    assert_eq!(std::fs::read_to_string(sandbox.path().join("there.jsonl")).unwrap(), "mine");
    let (code, error) = sandbox.error(&["resume-in", "nobody", "plan-1"]);
    assert_eq!((code, &error["kind"]), (2, &json!("invalid_args")));
}

#[cfg(unix)]
#[test]
fn a_folder_too_long_to_be_a_name_is_refused_before_anything_is_written() {
    let sandbox = Sandbox::new();
    for length in [300, 5_000] {
        let cwd = format!("/{}", "long/".repeat(length / 5));
        let name = format!("{length}.jsonl");
        sandbox
            .file(&name, &PI.replace("/demo", &cwd).replace("0001\"", &format!("{length:04}\"")));
        sandbox.ok(&["import", &name]);
        let name = format!("./{name}");
        for words in [&["resume-in", "pi", &name][..], &["resume-in", "pi", &name, "--dry-run"]] {
            let (code, error) = sandbox.error(words);
            assert_eq!((code, &error["kind"]), (2, &json!("invalid_args")), "{error}");
            let text = "pi names its sessions' folder after the one it works in, whose ";
            assert!(error["message"].as_str().unwrap().starts_with(text), "{error}");
        }
        assert!(!sandbox.path().join("home/.pi").exists());
        // Agents that shorten the folder's name accept the session. So does Pi with another
        // workspace.
        sandbox.ok(&["resume-in", "claude", &name]);
        sandbox.ok(&["resume-in", "codex", &name]);
        sandbox.ok(&["resume-in", "pi", &name, "--into-workspace", "short"]);
        std::fs::remove_dir_all(sandbox.path().join("home/.pi")).unwrap();
    }
}

#[test]
fn sec_s08_what_a_folder_says_of_itself_leads_nowhere_else() {
    let sandbox = Sandbox::with_a_plan();
    std::fs::create_dir_all(sandbox.path().join("gem/tmp")).unwrap();
    sandbox.file("gem/projects.json", r#"{"projects":{"/demo":"../../outside"}}"#);
    let answer = sandbox.json(&["resume-in", "gemini", "plan-1", "--home", "gem"]);
    assert!(answer["path"].as_str().unwrap().starts_with("gem/tmp/demo/chats/"), "{answer}");
    assert!(!sandbox.path().join("outside").exists());
}

/// Copies the sample folder of Pixir into the environment. Returns the copy's parent folder, in
/// which Pixir would work.
fn pixir(sandbox: &Sandbox) -> std::path::PathBuf {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/pixir/.pixir");
    let work = sandbox.path().join("work");
    copy_folder(&samples, &work.join(".pixir"));
    sandbox.ok(&["import", "work/.pixir"]);
    work
}

#[test]
fn pixir_finds_a_fork_with_its_resources_in_the_workspace() {
    const RESOURCE: &str = "resources/res_1/\
                            9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08.png";
    let sandbox = Sandbox::new();
    let work = pixir(&sandbox);
    let root = "20260302T090000-a1b2c3";
    sandbox.ok(&["fork", root, "--at", "turn:1", "--id", "fork"]);
    let into = ["--into-workspace", "work"];
    let dry = sandbox.json(&[&["resume-in", "pixir", "fork", "--dry-run"], &into[..]].concat());
    assert!(!Path::new(dry["path"].as_str().unwrap()).exists());
    let answer = sandbox.json(&[&["resume-in", "pixir", "fork"], &into[..]].concat());
    let path = Path::new(answer["path"].as_str().unwrap());
    assert_eq!(path.parent(), Some(work.canonicalize().unwrap().join(".pixir/sessions").as_path()));
    let resource = path.with_extension("").join(RESOURCE);
    let original = work.join(".pixir/sessions").join(root).join(RESOURCE);
    assert_eq!(std::fs::read(resource).unwrap(), std::fs::read(original).unwrap());
    // The fork was not imported from a file, but it has the resources of its parent's file.
    let listed = sandbox.json(&["restore", "fork", "--list"]);
    let names: Vec<_> = listed["files"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, [&json!(format!("{root}/{RESOURCE}"))]);
    let (code, error) = sandbox.error(&["resume-in", "pixir", "fork", "--into-workspace", "gone"]);
    assert_eq!((code, &error["kind"]), (2, &json!("not_found")));
    #[cfg(unix)]
    {
        let outside = sandbox.path().join("outside");
        std::fs::create_dir_all(sandbox.path().join("hostile/.pixir")).unwrap();
        std::fs::create_dir(&outside).unwrap();
        let link = sandbox.path().join("hostile/.pixir/sessions");
        std::os::unix::fs::symlink(&outside, link).unwrap();
        let (code, error) =
            sandbox.error(&["resume-in", "pixir", "fork", "--into-workspace", "hostile"]);
        assert_eq!((code, &error["kind"]), (2, &json!("invalid_args")), "{error}");
        assert_eq!(std::fs::read_dir(outside).unwrap().count(), 0);
    }
}

#[test]
fn what_is_typed_into_ak_coder_stands_behind_its_command() {
    let sandbox = Sandbox::with_a_plan();
    let answer = sandbox.json(&["resume-in", "ak-coder", "plan-1"]);
    let name = Path::new(answer["path"].as_str().unwrap()).file_stem().unwrap().to_string_lossy();
    let start = format!("cd /demo && ak-coder # then type: /resume {name}");
    assert_eq!(answer["start"], json!([start]));
}
