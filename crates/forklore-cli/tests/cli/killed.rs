//! Servers that are killed while programs write and others follow: nothing that was acknowledged is
//! missing, and nothing comes twice.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc};

use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use crate::scripted::{Answer, Scripted};
use crate::serve::Serving;

/// How many programs write, each into its own session.
const WRITERS: usize = 3;
/// How many follow each session.
const FOLLOWERS: usize = 2;
/// How many events each program writes.
const EACH: usize = 40;
/// How many servers are killed.
const KILLS: usize = 3;

/// The server that runs now, and what its clients have done.
struct Load {
    now: Mutex<Now>,
    changed: Condvar,
}

struct Now {
    server: Serving,
    /// How many servers were killed.
    number: usize,
    /// How many events servers have acknowledged.
    acknowledged: usize,
    /// Whether a client has panicked: the others would wait for it.
    has_failed: bool,
}

impl Load {
    fn new(server: Serving) -> Self {
        let now = Now { server, number: 0, acknowledged: 0, has_failed: false };
        Self { now: Mutex::new(now), changed: Condvar::new() }
    }

    /// Waits as long as this is so.
    fn wait_while(&self, is_so: impl Fn(&Now) -> bool) -> MutexGuard<'_, Now> {
        let now = self.now.lock().unwrap();
        let mut now = self.changed.wait_while(now, |now| !now.has_failed && is_so(now)).unwrap();
        if !now.has_failed {
            return now;
        }
        // Those who follow wait for the server.
        now.server.kill();
        drop(now);
        panic!("another client has failed")
    }

    /// Returns the server that runs, once it is another than the one with this number.
    fn server(&self, other_than: Option<usize>) -> (usize, Serving) {
        let now = self.wait_while(|now| Some(now.number) == other_than);
        (now.number, now.server.address())
    }

    fn acknowledged(&self) {
        self.now.lock().unwrap().acknowledged += 1;
        self.changed.notify_all();
    }

    /// Kills the server as soon as this many events are acknowledged, and starts another.
    fn kill_at(&self, acknowledged: usize, start: impl Fn() -> Serving) {
        let mut now = self.wait_while(|now| now.acknowledged < acknowledged);
        now.server.kill();
        now.server = start();
        now.number += 1;
        self.changed.notify_all();
    }

    /// Writes the events of a session. What a killed server did not acknowledge is sent again.
    fn write(&self, session: &str) {
        let _client = Client(self);
        let (mut number, mut server) = self.server(None);
        for at in 0..EACH {
            let event = json!({"type": "user_message", "id": format!("{session}-{at}"),
                "data": {"content": format!("{session} {at}")}});
            let body =
                json!({"events": [event], "expect": i64::try_from(at).unwrap() - 1}).to_string();
            let path = format!("/sessions/{session}/events");
            loop {
                match server.ask("POST", &path, server.token(), &body) {
                    Ok((201, _)) => break,
                    Ok(other) => panic!("{other:?}"),
                    Err(_) => (number, server) = self.server(Some(number)),
                }
            }
            self.acknowledged();
        }
    }

    /// Follows a session until all of its events came. Returns their texts.
    fn follow(&self, session: &str) -> Vec<String> {
        let _client = Client(self);
        let (mut number, mut server) = self.server(None);
        let mut texts = Vec::new();
        loop {
            let mut path = format!("/sessions/{session}/events/live");
            if let Some(last) = texts.len().checked_sub(1) {
                path = format!("{path}?after={last}");
            }
            if let Ok(stream) = server.open("GET", &path, server.token(), "") {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    let Some(data) = line.strip_prefix("data: ") else { continue };
                    let event: Value = serde_json::from_str(data).unwrap();
                    assert_eq!(event["seq"], texts.len(), "{session}");
                    texts.push(event["data"]["content"].as_str().unwrap().to_owned());
                    if texts.len() == EACH {
                        return texts;
                    }
                }
            }
            (number, server) = self.server(Some(number));
        }
    }
}

/// Somebody for whom others wait.
struct Client<'a>(&'a Load);

impl Drop for Client<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.now.lock().unwrap_or_else(PoisonError::into_inner).has_failed = true;
            self.0.changed.notify_all();
        }
    }
}

fn survives(sandbox: &Sandbox, store: &str) {
    let sessions: Vec<_> = (0..WRITERS).map(|number| format!("plan-{number}")).collect();
    for session in &sessions {
        sandbox.ok(&["--store", store, "new", "--id", session]);
    }
    let start = || Serving::with(sandbox, &["--store", store]);
    let load = Load::new(start());
    let seen = std::thread::scope(|scope| {
        let load = &load;
        let followers = sessions.iter().flat_map(|session| [session; FOLLOWERS]);
        let followers: Vec<_> =
            followers.map(|session| scope.spawn(move || (session, load.follow(session)))).collect();
        sessions.iter().for_each(|session| drop(scope.spawn(move || load.write(session))));
        for kill in 1..=KILLS {
            load.kill_at(kill * WRITERS * EACH / (KILLS + 1), start);
        }
        followers.into_iter().map(|it| it.join().unwrap()).collect::<Vec<_>>()
    });
    for (session, texts) in seen {
        let all: Vec<_> = (0..EACH).map(|at| format!("{session} {at}")).collect();
        assert_eq!(texts, all, "{store}");
    }
    sandbox.ok(&["--store", store, "verify"]);
}

#[test]
fn followers_of_servers_that_are_killed_under_load_miss_nothing_and_repeat_nothing() {
    let sandbox = Sandbox::new();
    survives(&sandbox, &format!("sqlite:{}", sandbox.store().display()));
}

#[test]
#[cfg(feature = "postgres")]
fn the_same_holds_of_servers_on_postgresql() {
    let sandbox = Sandbox::new();
    let tenant = crate::tier::tenant();
    sandbox.ok(&["--store", &tenant.url(), "tier", "init"]);
    survives(&sandbox, &tenant.url());
}

/// The id, the name and the data of an event.
type Sent = (String, String, Value);

/// Follows the turns of a session from the event after the one with this id, up to and including the
/// first that matches. Returns the ids and the data of the events.
fn follow(
    server: &Serving,
    last: Option<&str>,
    is_last: impl Fn(&str, &Value) -> bool,
) -> Vec<Sent> {
    let header = last.map(|last| format!("Last-Event-ID: {last}\r\n")).unwrap_or_default();
    let stream = server.open_with("GET", "/sessions/plan/turns/live", &header, "").unwrap();
    let (mut seen, mut id, mut name) = (Vec::new(), String::new(), String::new());
    for line in BufReader::new(stream).lines() {
        let line = line.unwrap();
        if let Some(of) = line.strip_prefix("id: ") {
            id = of.to_owned();
        } else if let Some(event) = line.strip_prefix("event: ") {
            name = event.to_owned();
        } else if let Some(data) = line.strip_prefix("data: ") {
            let data: Value = serde_json::from_str(data).unwrap();
            let found = is_last(&name, &data);
            seen.push((id.clone(), name.clone(), data));
            if found {
                return seen;
            }
        }
    }
    panic!("the stream ended: {seen:?}");
}

fn send(server: &Serving, turn: &Value) {
    let path = "/sessions/plan/turns";
    let begun = server.ask("POST", path, server.token(), &turn.to_string()).unwrap();
    assert_eq!(begun.0, 202, "{begun:?}");
}

/// Begins a turn that is followed from each of these positions. Returns what each follower received.
fn followed(server: &Serving, from: &[Option<&str>], turn: &Value) -> Vec<Vec<Sent>> {
    std::thread::scope(|scope| {
        let (ready, connected) = mpsc::channel();
        let followers = from.iter().map(|last| {
            let ready = ready.clone();
            let is_last = move |name: &str, _: &Value| {
                if name == "state" {
                    ready.send(()).unwrap();
                }
                name == "end"
            };
            scope.spawn(move || follow(server, *last, is_last))
        });
        let followers: Vec<_> = followers.collect();
        followers.iter().for_each(|_| connected.recv().unwrap());
        send(server, turn);
        followers.into_iter().map(|it| it.join().unwrap()).collect()
    })
}

/// Returns the streamed text of an answer.
fn streamed(seen: &[Sent]) -> String {
    let pieces = seen.iter().filter(|(.., data)| data["event"] == "content_block:delta");
    pieces.map(|(.., data)| data["data"]["delta"].as_str().unwrap()).collect()
}

#[test]
fn a_turn_whose_server_was_killed_is_interrupted_for_all_and_gone_on_with() {
    let sandbox = Sandbox::new();
    let model = Scripted::start(&[Answer::Begins("one two"), Answer::Says("one two three")]);
    sandbox.file("config.toml", &model.config());
    sandbox.ok(&["new", "--id", "plan"]);
    let mut server = Serving::with(&sandbox, &["--chat"]);
    send(&server, &json!({ "prompt": "count" }));
    let is_delta = |_: &str, data: &Value| data["event"] == "content_block:delta";
    let ids: Vec<_> = (0..2)
        .map(|_| {
            let seen = follow(&server, None, is_delta);
            assert_eq!(streamed(&seen), "one two");
            seen.last().unwrap().0.clone()
        })
        .collect();
    server.kill();

    let server = Serving::with(&sandbox, &["--chat"]);
    for last in &ids {
        // A number of the server before names nothing here, and its turn is over.
        let seen = follow(&server, Some(last), |name, _| name == "state");
        assert_eq!((seen.len(), &seen[0].2["turn_id"]), (1, &json!(null)), "{seen:?}");
    }
    let page = server.page("/s/plan/chat").unwrap();
    assert!(page.contains("<div class=\"notice\" id=\"broken\">"), "{page}");
    let messages = || {
        let log = sandbox.ok(&["--json", "replay", "plan"]);
        log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(messages().len(), 1, "the prompt was acknowledged");

    let all = followed(
        &server,
        &[Some(ids[0].as_str()), Some(ids[1].as_str())],
        &json!({ "prompt": null }),
    );
    for seen in &all {
        let end = &seen.last().unwrap().2["turn"];
        assert_eq!((&end["status"], &end["text"]), (&json!("success"), &json!("one two three")));
        let numbered = seen.iter().filter(|(_, name, _)| name != "state").map(|(id, ..)| id);
        let unique: BTreeSet<_> = numbered.clone().collect();
        assert_eq!(unique.len(), numbered.count(), "{seen:?}");
    }
    let roles: Vec<_> = messages().iter().map(|it| it["role"].clone()).collect();
    assert_eq!(roles, [json!("user"), json!("assistant")]);
}

#[test]
fn a_small_model_is_talked_to_through_the_server() {
    let model = forklore_smollm::Server::start().unwrap();
    let sandbox = Sandbox::new();
    let config = format!(
        "[models.small]\nprovider = \"openai\"\nmodel = \"{}\"\nbase_url = \"{}\"\n\
         context_window = {}\nmax_output_tokens = 32\n",
        forklore_smollm::MODEL,
        model.openai(),
        forklore_smollm::CONTEXT
    );
    sandbox.file("config.toml", &config);
    sandbox.ok(&["new", "--id", "plan"]);
    let server = Serving::with(&sandbox, &["--chat"]);
    let seen = followed(&server, &[None], &json!({ "prompt": "Name three colours." })).remove(0);
    let end = &seen.last().unwrap().2["turn"];
    assert_eq!(end["status"], "success", "{end}");
    let text = end["text"].as_str().unwrap();
    assert!(!text.trim().is_empty());
    assert!(end["usage"]["input"].as_u64().unwrap() > 0, "{end}");
    let stored = sandbox.ok(&["--json", "replay", "plan"]);
    let last: Value = serde_json::from_str(stored.lines().last().unwrap()).unwrap();
    assert_eq!(last["role"], "assistant");
    let page = server.page("/s/plan").unwrap();
    assert!(page.contains("Name three colours."), "{page}");
}
