//! Tests of servers that misbehave.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use forklore_agent::tool::{Step, Tools};
use forklore_mcp_client::ServerConfig;
use serde_json::{Value, json};

use crate::given::{
    Notes, a_call, call, came, context, double, listening, names, set, started, stop_clock_until,
};

async fn problems(config: ServerConfig) -> Vec<String> {
    let tools = set([("bad", config)]);
    let problems = tools.start().await;
    assert_eq!(names(&tools), Vec::<String>::new());
    tools.end().await;
    problems.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn one_that_does_not_start_is_named_with_its_last_words() {
    let missing = ServerConfig {
        command: Some("no-such-program-here".to_owned()),
        ..ServerConfig::default()
    };
    let unset = ServerConfig { env_from: vec!["FORKLORE_NOT_SET".to_owned()], ..double(&["well"]) };
    let mut texts = Vec::new();
    for how in ["hang", "listless"] {
        let folder = tempfile::tempdir().unwrap();
        let notes = Notes::in_folder(&folder);
        let waiting = double(&[how, notes.path()]);
        stop_clock_until(move || notes.count("waiting") == 1);
        texts.extend(problems(ServerConfig { start_seconds: Some(1), ..waiting }).await);
        tokio::time::resume();
    }
    for config in [double(&["exit"]), double(&["strange"]), missing, unset] {
        texts.extend(problems(config).await);
    }
    insta::assert_snapshot!(texts.join("\n"));
}

#[tokio::test]
async fn one_that_fails_leaves_the_others() {
    let tools = set([("bad", double(&["exit"])), ("good", double(&["well"]))]);
    assert_eq!(tools.start().await.len(), 1);
    assert_eq!(names(&tools), ["good__do"]);
    assert_eq!(call(&tools, "good__do", json!({})).await, (false, json!("done")));
    tools.end().await;
}

#[tokio::test]
async fn one_that_dies_in_a_call_says_so_and_is_started_for_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let dying = double(&["die"]);
    let once = double(&["once", mark.to_str().unwrap()]);
    let tools = started([("dying", dying), ("once", once)]).await;
    let mut came = Vec::new();
    for name in ["dying__do", "dying__do", "once__do", "once__do"] {
        came.push(call(&tools, name, json!({})).await);
    }
    insta::assert_json_snapshot!(came);
    tools.end().await;
}

#[tokio::test]
async fn one_that_is_killed_between_calls_is_started_for_the_next() {
    let tools = started([("kin", double(&["family"]))]).await;
    let first = family(&tools).await;
    kill(first.0);
    gone(first).await;
    let second = family(&tools).await;
    assert_ne!(first, second);
    tools.end().await;
    gone(second).await;
}

/// Calls the tool of the server `kin`. Returns the process ids of the server and of a process that
/// the server started.
async fn family(tools: &forklore_mcp_client::McpTools) -> (i32, i32) {
    let (failed, text) = call(tools, "kin__do", json!({})).await;
    assert!(!failed, "{text}");
    serde_json::from_str(text.as_str().unwrap()).unwrap()
}

fn kill(id: i32) {
    let id = rustix::process::Pid::from_raw(id).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
}

/// Waits until neither process runs.
async fn gone((server, child): (i32, i32)) {
    for id in [server, child] {
        let id = rustix::process::Pid::from_raw(id).unwrap();
        while rustix::process::test_kill_process(id).is_ok() && !is_zombie(id) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Checks whether a process is a zombie: it has ended, but its parent has not collected its exit
/// status. A process that the server started can stay a zombie, because in a container it may have
/// no parent that collects the status.
fn is_zombie(id: rustix::process::Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", id.as_raw_nonzero()));
    stat.is_ok_and(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z')))
}

#[tokio::test]
async fn a_set_that_is_dropped_ends_its_servers() {
    let tools = started([("kin", double(&["family"]))]).await;
    let both = family(&tools).await;
    drop(tools);
    gone(both).await;
}

#[test]
fn a_runtime_that_is_shut_down_ends_its_servers() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (tools, both) = runtime.block_on(async {
        let tools = started([("kin", double(&["family"]))]).await;
        let both = family(&tools).await;
        (tools, both)
    });
    drop(runtime);
    drop(tools);
    tokio::runtime::Runtime::new().unwrap().block_on(gone(both));
}

#[tokio::test]
async fn one_that_does_not_want_to_end_is_killed() {
    let tools = started([("bad", double(&["stubborn"]))]).await;
    tools.end().await;
    // After `end`, the server has stopped. The next call starts the server again.
    assert_eq!(call(&tools, "bad__do", json!({})).await, (false, json!("done")));
    tools.end().await;
}

#[tokio::test]
async fn one_whose_start_is_cancelled_has_time_to_exit() {
    let folder = tempfile::tempdir().unwrap();
    let notes = Notes::in_folder(&folder);
    let tools = set([("bad", double(&["mute", notes.path()]))]);
    tokio::select! {
        problems = tools.start() => panic!("{problems:?}"),
        () = notes.reach("waiting", 1) => {}
    }
    tools.end().await;
    assert_eq!(notes.count("left"), 1);
}

#[tokio::test]
async fn one_that_says_nothing_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let notes = Notes::in_folder(&folder);
    let tools = started([("bad", double(&["silent", notes.path()]))]).await;
    let called = notes.clone();
    stop_clock_until(move || called.count("called") == 1);
    let outcome = call(&tools, "bad__do", json!({})).await;
    tokio::time::resume();
    assert_eq!(outcome, (true, json!("nothing was heard of it for 600 seconds")));
    notes.reach("cancelled", 1).await;

    // A call that is dropped or interrupted is also cancelled at the server.
    let (call, context) = (a_call("bad__do", &json!({})), context());
    tokio::select! {
        outcome = tools.call(&call, &context) => panic!("{outcome:?}"),
        () = notes.reach("called", 2) => {}
    }
    notes.reach("cancelled", 2).await;
    let interrupt = async {
        notes.reach("called", 3).await;
        context.cancelled.cancel();
    };
    let (outcome, ()) = tokio::join!(tools.call(&call, &context), interrupt);
    assert_eq!(came(&outcome), (true, json!("interrupted")));
    notes.reach("cancelled", 3).await;
    tools.end().await;
}

#[tokio::test]
async fn a_sign_of_life_gives_a_call_more_time() {
    let folder = tempfile::tempdir().unwrap();
    let notes = Notes::in_folder(&folder);
    let config = ServerConfig { call_seconds: Some(1), ..double(&["slow", notes.path()]) };
    let tools = started([("slow", config)]).await;
    let (context, steps) = listening();
    let (call, over) = (a_call("slow__do", &json!({})), Arc::new(AtomicBool::new(false)));
    let is_over = over.clone();
    stop_clock_until(move || is_over.load(Ordering::SeqCst));
    // Each step comes after 0.9 seconds, so the call ends 3.6 seconds after it began.
    let advance = async {
        for step in 0..4 {
            tokio::time::advance(Duration::from_millis(900)).await;
            std::fs::write(format!("{}-{step}", notes.path()), "").unwrap();
            while steps.lock().unwrap().len() <= step {
                std::thread::sleep(Duration::from_millis(1));
                tokio::task::yield_now().await;
            }
        }
    };
    let (outcome, ()) = tokio::join!(tools.call(&call, &context), advance);
    over.store(true, Ordering::SeqCst);
    tokio::time::resume();
    assert_eq!(came(&outcome), (false, json!("done")));
    let step =
        |n: u8| Step { done: n.into(), total: Some(4.0), message: Some(format!("step {n}")) };
    assert_eq!(*steps.lock().unwrap(), [0, 1, 2, 3].map(step));
    tools.end().await;
}

#[tokio::test]
async fn endless_answers_are_cut_and_cost_little_memory() {
    let tools = started([("big", double(&["large"]))]).await;
    for sort in ["one text", "id first, escapes", "many texts", "deep", "no end"] {
        let (failed, message) = call(&tools, "big__do", json!({"sort": sort})).await;
        let text = message.as_str().unwrap_or_else(|| panic!("{sort}: {message}"));
        assert!(text.len() < 140_000, "{sort}: {} bytes", text.len());
        insta::assert_json_snapshot!(sort.replace([' ', ','], "_"), (failed, shortened(text)));
    }
    // A large image is not truncated, because the kernel stores it as an attachment.
    let (failed, message) = call(&tools, "big__do", json!({"sort": "image"})).await;
    let image = (&message[0]["type"], message[0]["data"].as_str().map(str::len));
    assert_eq!((failed, image), (false, (&json!("image"), Some(3_000_000))));
    let most = peak_memory();
    assert!(most < 200 << 20, "{most} bytes of memory at most");
    tools.end().await;
}

/// Replaces each run of at least 20 equal characters by the character and the length of the run.
fn shortened(text: &str) -> String {
    let mut out = String::new();
    let chars: Vec<char> = text.chars().collect();
    for run in chars.chunk_by(|a, b| a == b) {
        match run.len() {
            0..20 => out.extend(run),
            len => out.push_str(&format!("{{{} x {len}}}", run[0])),
        }
    }
    out
}

fn peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").trim().parse::<usize>().unwrap() << 10
}

#[tokio::test]
async fn lines_that_are_no_frames_are_passed_over() {
    let tools = started([("bad", double(&["malformed"]))]).await;
    for _ in 0..2 {
        assert_eq!(call(&tools, "bad__do", json!({})).await, (false, json!("all the same")));
    }
    tools.end().await;
}

#[tokio::test]
async fn a_refusal_is_what_came_of_the_call() {
    let tools = started([("bad", double(&["refuse"]))]).await;
    assert_eq!(call(&tools, "bad__do", json!({})).await, (true, json!("the city is unknown")));
    tools.end().await;
}

#[tokio::test]
async fn hostile_names_and_descriptions_stay_data() {
    let tools = started([("evil", double(&["hostile"])), ("e", double(&["pages"]))]).await;
    let specs: Vec<_> =
        tools.specs().into_iter().map(|spec| (spec.name, spec.description)).collect();
    insta::assert_json_snapshot!(specs);
    let fits = |name: &String| {
        name.len() <= 64 && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
    };
    assert!(specs.iter().all(|(name, _)| fits(name)));
    // Each name by which a model calls a tool resolves to that tool.
    let found: Vec<_> =
        specs.iter().map(|(name, _)| tools.find(name).unwrap().to_string()).collect();
    insta::assert_json_snapshot!(found);
    tools.end().await;
}

#[tokio::test]
async fn tools_of_one_name_in_two_servers_are_two() {
    let tools = started([("b", double(&["well"])), ("a", double(&["refuse"]))]).await;
    assert_eq!(names(&tools), ["a__do", "b__do"]);
    assert_eq!(call(&tools, "a__do", json!({})).await, (true, json!("the city is unknown")));
    assert_eq!(call(&tools, "b__do", json!({})).await, (false, json!("done")));
    tools.end().await;
}

#[tokio::test]
async fn a_list_that_changes_is_read_again() {
    let tools = started([("more", double(&["more"]))]).await;
    assert_eq!(names(&tools), ["more__do"]);
    assert_eq!(call(&tools, "more__do", json!({})).await, (false, json!("there are more")));
    while names(&tools) != ["more__again", "more__do"] {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    tools.end().await;
}

#[tokio::test]
async fn results_of_every_kind_have_a_form() {
    let tools = started([("k", ServerConfig { max_output: Some(40), ..double(&["kinds"]) })]).await;
    let results = [
        json!({"content": []}),
        json!({}),
        json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}),
        json!({"content": [{"type": "text", "text": "wrong"}], "isError": true}),
        json!({"content": [], "structuredContent": {"n": 1}}),
        json!({"content": [{"type": "text", "text": "{\"n\": 1}"}], "structuredContent": {"n": 1}}),
        json!({"content": [{"type": "text", "text": "one"}], "structuredContent": {"n": 1}}),
        json!({"content": [{"type": "text", "text": "one"}], "structuredContent": {"x": "one"}}),
        json!({"content": [{"type": "text", "text": "7"}], "structuredContent": {"x": 7}}),
        json!({"content": [{"type": "audio", "mimeType": "audio/wav", "data": "AAAA"}]}),
        json!({"content": [{"type": "resource", "resource": {"uri": "u:1", "text": "t"}}]}),
        json!({"content": [{"type": "resource", "resource":
            {"uri": "u:2", "mimeType": "image/gif", "blob": "AAAA"}}]}),
        json!({"content": [{"type": "resource_link", "uri": "u:3", "name": "n"}]}),
        json!({"content": [{"type": "text", "text": "ä".repeat(50)}]}),
        json!({"content": [{"type": "from the future", "x": 1}]}),
    ];
    let mut came: Vec<(Value, Value)> = Vec::new();
    for result in results {
        let (failed, content) = call(&tools, "k__do", json!({"result": result})).await;
        came.push((result, if failed { json!({"failed": content}) } else { content }));
    }
    insta::assert_json_snapshot!(came);
    tools.end().await;
}

#[tokio::test]
async fn a_server_knows_little_of_its_surroundings() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let config = ServerConfig {
        env_from: vec!["CARGO_PKG_NAME".to_owned()],
        folder: Some(root.clone()),
        ..double(&["env"])
    };
    let tools = started([("env", config)]).await;
    let (_, message) = call(&tools, "env__do", json!({})).await;
    let text: Value = serde_json::from_str(message.as_str().unwrap()).unwrap();
    assert_eq!(text["folder"], root.to_str().unwrap());
    let env = text["env"].as_object().unwrap();
    assert_eq!(env["CARGO_PKG_NAME"], "forklore-mcp-client");
    let found = "HOME LANG LC_ALL LC_CTYPE LOGNAME PATH SHELL TERM TMPDIR TZ USER CARGO_PKG_NAME";
    // Ignore further variables, which the launcher of Python may set.
    let ours =
        env.keys().filter(|name| std::env::var_os(name).is_some() && !name.contains("PYENV"));
    let more = ["PWD", "SHLVL", "_"];
    let strange: Vec<_> = ours
        .filter(|name| !found.contains(name.as_str()) && !more.contains(&name.as_str()))
        .collect();
    assert_eq!(strange, Vec::<&String>::new());
    tools.end().await;
}
