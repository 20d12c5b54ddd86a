//! Tests of turns that are interrupted while tools run, and of tools that do not end or fail.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use forklore_agent::model::StreamEvent;
use forklore_agent::notify::{Name, Notification, Sink};
use forklore_agent::{AgentSession, Kernel, Status, Turn};
use forklore_core::{Data, EventType};
use forklore_engine::{Engine, Fork, NewEvent};
use forklore_sqlite::{Options, SqliteStore};
use forklore_store::memory::MemoryStore;
use serde_json::{Value, json};

use crate::each_store::on_each_store;
use crate::scripted::{Act, Scripted, calls, says};
use crate::world::{World, equipment, new_session};

on_each_store!(attachments_are_read_from_the_child_and_missing_ones_fail_nothing,);

async fn interrupted(world: &World, session: &AgentSession, tools: usize) -> Turn {
    let running = session.clone();
    let turn = tokio::spawn(async move { running.execute("go").await });
    while world.ears.of(Name::ToolPre).len() < tools {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(session.interrupt());
    turn.await.unwrap().unwrap()
}

fn results(world: &World, session: &AgentSession) -> Vec<Value> {
    let events = world.events(&session.id()).into_iter();
    let results = events.filter(|(kind, _)| kind == "tool_result");
    results.map(|(_, data)| data["content"].clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn cancelled_calls_are_answered_in_the_log() {
    let world = World::new();
    let all = [("1", "echo", "1"), ("2", "hang", "1"), ("3", "deaf", "1"), ("4", "echo", "4")];
    let model = Scripted::new(vec![calls(&all), says("again")]);
    let session = world.root(&model);
    let turn = interrupted(&world, &session, 4).await;
    assert_eq!((turn.status, turn.tool_calls), (Status::Cancelled, 4));
    let cancelled = "Cancelled: the turn was interrupted.";
    assert_eq!(results(&world, &session), ["1", "stopped by itself", cancelled, "4"]);
    let seen = world.kernel.engine().inspect(&session.id()).unwrap();
    assert!(seen.balanced);
    assert_eq!(session.execute("go on").await.unwrap().text, "again");
}

#[tokio::test]
async fn a_tool_that_crashes_is_an_outcome() {
    let world = World::new();
    let model = Scripted::new(vec![
        calls(&[("1", "crash", "1"), ("2", "echo", "2"), ("3", "missing", "3")]),
        says("so be it"),
    ]);
    let session = world.root(&model);
    assert_eq!(session.execute("go").await.unwrap().text, "so be it");
    let missing = "there is no tool missing; there are: \
                   echo, slow, steps, fail, crash, hang, deaf, flood";
    let expected = ["the tool crashed: scripted crash", "2", missing];
    assert_eq!(results(&world, &session), expected);
    assert_eq!(world.ears.of(Name::ToolError).len(), 2);
}

#[tokio::test]
async fn a_flood_of_output_is_cut_with_a_note() {
    let world = World::new();
    let hundred = (100 << 20).to_string();
    let model = Scripted::new(vec![calls(&[("1", "flood", &hundred)]), says("much")]);
    let session = world.root(&model);
    session.execute("go").await.unwrap();
    let content = results(&world, &session).remove(0);
    let content = content.as_str().unwrap();
    assert!(content.len() <= 256 << 10 && content.len() > 128 << 10, "{}", content.len());
    assert!(content.contains(" of 104857600 bytes left out]"));
    let engine = world.kernel.engine();
    assert!(engine.show(&session.id()).unwrap().own_bytes < 300 << 10);
    // The complete result is stored as an attachment.
    let attachment = engine.attachments(&session.id()).unwrap();
    assert_eq!((attachment.len(), attachment[0].bytes), (1, Some(100 << 20)));
}

#[tokio::test]
async fn calls_of_one_answer_have_ids_of_their_own() {
    let world = World::new();
    let model = Scripted::new(vec![
        calls(&[("same", "echo", "1"), ("same", "echo", "2"), ("", "echo", "3")]),
        calls(&[("same", "echo", "4")]),
        says("done"),
    ]);
    let session = world.root(&model);
    session.execute("go").await.unwrap();
    assert_eq!(results(&world, &session), ["1", "2", "3", "4"]);
    let seen = world.kernel.engine().inspect(&session.id()).unwrap();
    assert!(seen.balanced);
    let events = world.events(&session.id());
    let ids: Vec<_> = events
        .iter()
        .filter(|(kind, _)| kind == "tool_call")
        .map(|(_, data)| &data["id"])
        .collect();
    assert_eq!(ids[..2], [&json!("same"), &json!("same-2")]);
    assert!(ids[2].as_str().unwrap().starts_with("call_"));
}

async fn attachments_are_read_from_the_child_and_missing_ones_fail_nothing(world: World) {
    let model = Scripted::new(vec![calls(&[("1", "flood", "300000")]), says("much")]);
    let session = world.root(&model);
    session.execute("go").await.unwrap();
    let child = session.fork(Fork::of(session.id())).await.unwrap().child;
    let engine = world.kernel.engine();
    let attachment = engine.attachments(&child.id()).unwrap();
    let mut bytes = Vec::new();
    engine.read_attachment(&attachment[0].id, &mut bytes).unwrap();
    assert_eq!(bytes, vec![b'x'; 300_000]);

    let missing = json!({"content": [{"type": "attachment", "media_type": "text/plain",
        "ref": format!("sha256:{}", "0".repeat(64))}]});
    let missing = NewEvent::new(EventType::USER_MESSAGE, Data::of(&missing).unwrap());
    engine.append(&child.id(), &missing.into()).unwrap();
    assert_eq!(child.execute("what is in it?").await.unwrap().text, "done");
    let requests = serde_json::to_string(&model.requests().last().unwrap().messages).unwrap();
    assert!(requests.contains("\"missing\":true"), "{requests}");
}

/// Interrupts the session when the notification with the number `at` arrives.
#[derive(Default)]
struct Interrupts {
    at: usize,
    delivered: AtomicUsize,
    session: OnceLock<AgentSession>,
}

impl Sink for Interrupts {
    fn take(&self, _: &Arc<Notification>) {
        let number = self.delivered.fetch_add(1, Ordering::SeqCst) + 1;
        if number == self.at {
            self.session.get().unwrap().interrupt();
        }
    }
}

#[tokio::test]
async fn an_interruption_at_any_point_leaves_a_log_to_go_on_with() {
    // The last one is about the result of the call `a`. The call `b` never ends, so only an
    // interruption can end the turn.
    const NOTIFICATIONS: usize = 16;
    for at in 1..=NOTIFICATIONS {
        let sink = Arc::new(Interrupts { at, ..Interrupts::default() });
        let engine = Engine::new(Arc::new(MemoryStore::default()));
        let kernel = Kernel::builder(engine).sink(sink.clone()).build();
        let mut first = vec![Act::Say(StreamEvent::Thought { text: "hm".into(), opaque: None })];
        first.extend(calls(&[("a", "echo", "1"), ("b", "hang", "2")]));
        let model = Scripted::new(vec![first]);
        let session = kernel.create(new_session(), equipment(&model));
        sink.session.set(session.clone()).ok().unwrap();
        assert_eq!(session.execute("go").await.unwrap().status, Status::Cancelled, "at {at}");
        let engine = kernel.engine();
        assert!(engine.inspect(&session.id()).unwrap().balanced, "at {at}");
        assert!(engine.show(&session.id()).unwrap().lease.is_none(), "at {at}");
        // The next turn has a script that does not depend on how far the first answer came.
        session.set_model(Scripted::new(vec![says("on it goes"), says("and on")]));
        let broken_off = engine.interrupted_turn(&session.id()).unwrap().is_some();
        assert!(broken_off || engine.is_cut_short(&session.id()).unwrap(), "at {at}");
        assert_eq!(session.resume().await.unwrap().text, "on it goes", "at {at}");
        assert_eq!(engine.interrupted_turn(&session.id()).unwrap(), None, "at {at}");
        assert_eq!(session.execute("go on").await.unwrap().text, "and on", "at {at}");
        assert!(engine.inspect(&session.id()).unwrap().balanced, "at {at}");
    }
}

#[tokio::test]
async fn sixty_four_sessions_run_side_by_side_in_one_process() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&dir.path().join("store.db"), Options::default()).unwrap();
    let world = World::over(Engine::new(Arc::new(store)));
    let sessions: Vec<_> = (0..64)
        .map(|_| world.root(&Scripted::new(vec![calls(&[("1", "echo", "1")]), says("done")])))
        .collect();
    let turns = sessions.iter().map(|session| async {
        session.execute("one").await.unwrap();
        session.execute("two").await.unwrap()
    });
    let turns = futures_util::future::join_all(turns).await;
    assert!(turns.iter().all(|turn| turn.status == Status::Success && turn.head_seq == 10));
    assert_eq!(world.kernel.engine().verify(None).unwrap().problems, []);
    for session in &sessions {
        assert_eq!(world.ears.names(Some(&session.id())).len(), 22);
    }
}
