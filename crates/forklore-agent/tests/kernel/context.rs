//! Tests of what the model receives: the gauge, compaction, caches, results for open calls.

use std::sync::Arc;

use forklore_agent::model::{EndReason, ModelErrorKind, StreamEvent};
use forklore_agent::notify::Name;
use forklore_agent::tool::ToolCall;
use forklore_agent::{Settings, cache_key};
use forklore_core::{Data, EventType, Part, Role, SessionId};
use forklore_engine::{Engine, Fork, NewEvent, Summarize};
use forklore_sqlite::{Options, SqliteStore};
use serde_json::json;

use crate::each_store::on_each_store;
use crate::scripted::{Act, Scripted, calls, end, says};
use crate::world::{World, data, equipment};

on_each_store!(
    the_gauge_is_what_the_model_reported_and_forks_inherit_it,
    a_full_context_is_compacted_and_nothing_is_lost,
    a_request_that_is_too_long_is_compacted_and_sent_again,
    what_cannot_be_made_shorter_fails,
    open_calls_are_answered_in_the_request,
    reasoning_that_nothing_follows_is_not_sent,
    reasoning_bound_to_another_conversation_is_left_out_once_and_that_is_recorded,
    a_fork_inherits_no_id_of_the_provider,
    a_family_has_one_cache_key_and_it_tells_nothing,
    requests_of_forks_begin_with_the_same_bytes,
    the_cost_of_a_family_is_that_of_the_calls_made,
);

fn long(word: &str) -> String {
    word.repeat(400)
}

async fn the_gauge_is_what_the_model_reported_and_forks_inherit_it(world: World) {
    let model = Scripted::named("small", Some(1_000), vec![]);
    let session = world.root(&model);
    session.execute("go").await.unwrap();
    let gauge = session.gauge().await.unwrap();
    assert_eq!((gauge.tokens, gauge.estimated, gauge.fraction()), (110, 0, Some(0.11)));
    let notification = world.ears.of(Name::ContextGauge);
    assert_eq!(data(&notification[0])["tokens"], 110);

    let child = session.fork(Fork::of(session.id())).await.unwrap().child;
    assert_eq!(child.gauge().await.unwrap(), gauge);
    let grandchild = child.fork(Fork::of(child.id())).await.unwrap().child;
    assert_eq!(grandchild.gauge().await.unwrap(), gauge);
    // The size of events after the last model call is estimated.
    let text = NewEvent::user(&long("word")).unwrap();
    let bytes = text.data.get().len() as u64;
    world.kernel.engine().append(&child.id(), &text.into()).unwrap();
    let gauge = child.gauge().await.unwrap();
    assert_eq!((gauge.tokens, gauge.estimated), (110 + bytes / 4, bytes / 4));
    // At a cut before the first model call, all tokens are estimated from the length of the
    // messages.
    let early = session.fork(Fork::of(session.id()).at("index:1".parse().unwrap())).await.unwrap();
    let gauge = early.child.gauge().await.unwrap();
    assert_eq!(gauge.tokens, gauge.estimated);
}

async fn a_full_context_is_compacted_and_nothing_is_lost(world: World) {
    let model = Scripted::named(
        "small",
        Some(120),
        vec![says(&long("first")), says("a summary"), says("after it")],
    );
    let session = world.root(&model);
    session.equip(|equipment| equipment.system = Some("be brief".into()));
    session.execute("one").await.unwrap();
    let before = world.events(&session.id());
    let turn = session.execute("two").await.unwrap();
    assert_eq!(turn.text, "after it");

    let events = world.events(&session.id());
    assert_eq!(events[..before.len()], before);
    let (kind, compaction) = &events[before.len() + 1];
    assert_eq!(kind, "history_compaction");
    let expected = json!({
        "from_index": 1, "to_index": 3, "strategy": "model_summary_v1", "model": "small",
        "reason": "threshold", "content": "[Summary of the conversation so far]\na summary",
    });
    assert_eq!(*compaction, expected);
    let requests = model.requests();
    let texts: Vec<_> =
        requests[2].messages.iter().map(forklore_core::Message::plain_text).collect();
    let summary = "[Summary of the conversation so far]\na summary";
    assert_eq!(texts, ["be brief", summary, "two"]);
    // The usage of the summary call counts for the session. The summary is not announced as an
    // answer.
    let usage = world.kernel.engine().show(&session.id()).unwrap().usage;
    assert_eq!(usage.input, 300);
    let names = world.ears.names(None);
    let location = |name: &str| names.iter().position(|report| *report == name).unwrap();
    assert!(location("context:pre_compact") < location("context:post_compact"));
    assert_eq!(world.ears.of(Name::ContentBlockEnd).len(), 2);
}

async fn a_request_that_is_too_long_is_compacted_and_sent_again(world: World) {
    let model = Scripted::new(vec![
        says(&long("first")),
        vec![Act::Fail(ModelErrorKind::TooLong)],
        vec![Act::Fail(ModelErrorKind::Key)],
        says("after it"),
    ]);
    let session = world.root(&model);
    session.execute("one").await.unwrap();
    assert_eq!(session.execute("two").await.unwrap().text, "after it");
    let events = world.events(&session.id());
    let compaction = events.iter().find(|(kind, _)| kind == "history_compaction").unwrap();
    // The model gave no summary. The kernel used the deterministic summary and recorded the reason.
    assert_eq!(compaction.1["strategy"], "deterministic_operational_summary_v2");
    assert_eq!(compaction.1["reason"], "too_long");
    let why = compaction.1["limitations"].as_str().unwrap();
    assert!(why.contains("scripted"), "{why}");
}

async fn what_cannot_be_made_shorter_fails(world: World) {
    let model = Scripted::new(vec![vec![Act::Fail(ModelErrorKind::TooLong)]]);
    let session = world.root(&model);
    let error = session.execute(&long("one")).await.unwrap_err();
    assert_eq!(error.kind(), forklore_core::ErrorKind::InvalidArgs);
    assert_eq!(world.types(&session.id()), ["user_message", "turn_failed"]);
    assert_eq!(session.compact().await.unwrap(), None);
}

#[tokio::test]
async fn a_fork_after_a_compaction_is_complete_in_a_fresh_process() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.db");
    let open = || Engine::new(Arc::new(SqliteStore::open(&path, Options::default()).unwrap()));
    let model = Scripted::new(vec![
        says(&long("first")),
        calls(&[("c", "echo", "1")]),
        says(&long("second")),
        says("a summary"),
        says("third"),
    ]);
    let (child, seen) = {
        let world = World::over(open());
        let session = world.root(&model);
        session.execute("one").await.unwrap();
        session.execute("two").await.unwrap();
        let compacted = session.compact().await.unwrap().unwrap();
        assert_eq!((compacted.from_index, compacted.to_index), (0, 6));
        session.execute("three").await.unwrap();
        let child = session.fork(Fork::of(session.id())).await.unwrap().child;
        let seen = world.kernel.engine().inspect(&child.id()).unwrap().messages;
        (child.id(), seen)
    };
    let world = World::over(open());
    let model = Scripted::new(vec![]);
    let session = world.kernel.open(&child, equipment(&model)).await.unwrap();
    session.execute("four").await.unwrap();
    let requests = model.requests();
    assert_eq!(requests[0].messages[..seen.len()], seen);
    let first = requests[0].messages[0].plain_text();
    assert_eq!(first, "[Summary of the conversation so far]\na summary");
    assert_eq!(world.kernel.engine().replay(&child, None).unwrap().count(), 11);
}

async fn open_calls_are_answered_in_the_request(world: World) {
    let model = Scripted::new(vec![]);
    let session = world.root(&model);
    session.initialize().await.unwrap();
    let call = ToolCall { id: "c".into(), name: "echo".into(), arguments: Data::null() };
    let call = NewEvent::new(EventType::TOOL_CALL, Data::of(&call).unwrap());
    let engine = world.kernel.engine();
    engine.append(&session.id(), &NewEvent::user("go").unwrap().into()).unwrap();
    engine.append(&session.id(), &call.into()).unwrap();
    session.execute("go on").await.unwrap();
    let roles: Vec<_> = model.requests()[0].messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool, Role::User]);
    let kinds = world.types(&session.id());
    assert!(!kinds.iter().any(|kind| kind == "tool_result"), "{kinds:?}");
}

async fn reasoning_that_nothing_follows_is_not_sent(world: World) {
    let thought =
        || StreamEvent::Thought { text: "hm".into(), opaque: Some(Data::parse("[1]").unwrap()) };
    let model = Scripted::new(vec![
        vec![Act::Say(thought()), end(EndReason::Done)],
        vec![
            Act::Say(StreamEvent::Thinking("h".into())),
            Act::Say(thought()),
            Act::Say(StreamEvent::Text("yes".into())),
            end(EndReason::Done),
        ],
        says("done"),
    ]);
    let session = world.root(&model);
    for prompt in ["one", "two", "three"] {
        session.execute(prompt).await.unwrap();
    }
    let requests = model.requests();
    let thoughts = |at: usize| {
        let parts = requests[at].messages.iter().flat_map(forklore_core::Message::to_parts);
        parts.filter(|part| matches!(part, Part::Reasoning { .. })).count()
    };
    assert_eq!((thoughts(1), thoughts(2)), (0, 1));
    let all = world.kernel.engine().inspect(&session.id()).unwrap().messages;
    assert_eq!(requests[2].messages, all[..all.len() - 1]);
    // A request to another model contains no reasoning.
    let other = Scripted::named("other", None, vec![]);
    session.set_model(other.clone());
    session.execute("four").await.unwrap();
    let parts = other.requests()[0]
        .messages
        .iter()
        .flat_map(forklore_core::Message::to_parts)
        .collect::<Vec<_>>();
    assert!(!parts.iter().any(|part| matches!(part, Part::Reasoning { .. })));
    let kinds = world.types(&session.id());
    assert_eq!(kinds.iter().filter(|kind| *kind == "reasoning").count(), 2);
}

async fn a_family_has_one_cache_key_and_it_tells_nothing(world: World) {
    let model = Scripted::new(vec![]);
    let session = world.root(&model);
    session.execute("one").await.unwrap();
    let child = session.fork(Fork::of(session.id())).await.unwrap().child;
    child.execute("two").await.unwrap();
    let other = world.root(&model);
    other.execute("three").await.unwrap();
    let keys: Vec<_> = model.requests().into_iter().map(|request| request.cache_key).collect();
    assert_eq!(keys[0], keys[1]);
    assert_ne!(keys[0], keys[2]);
    let private: SessionId = "ada-lovelace-payroll".parse().unwrap();
    let key = cache_key(&private);
    assert!(key.len() <= 96 && !key.contains("ada") && !key.contains("payroll"), "{key}");
}

async fn requests_of_forks_begin_with_the_same_bytes(world: World) {
    let model = Scripted::new(vec![says("one"), calls(&[("c", "echo", "1")]), says("two")]);
    let session = world.root(&model);
    session.equip(|equipment| equipment.system = Some("be brief".into()));
    session.execute("first").await.unwrap();
    session.execute("second").await.unwrap();
    let summed = Fork { summarize: Some(Summarize::Deterministic), ..Fork::of(session.id()) };
    let child = session.fork(summed).await.unwrap().child;
    child.execute("third").await.unwrap();
    let grandchild = child.fork(Fork::of(child.id())).await.unwrap().child;
    grandchild.execute("fourth").await.unwrap();

    let requests = model.requests();
    let bytes = |at: usize| {
        let body = serde_json::to_string(&requests[at].messages).unwrap();
        body.trim_end_matches(']').to_owned()
    };
    // Each request begins with all messages of the previous request. Tools and cache key are equal.
    for later in 1..requests.len() {
        assert!(bytes(later).starts_with(&bytes(later - 1)), "{}", bytes(later));
        assert_eq!(requests[later].tools, requests[0].tools);
        assert_eq!(requests[later].cache_key, requests[0].cache_key);
    }
    let shared: Vec<_> = requests.iter().map(|request| request.shared).collect();
    assert_eq!(shared, [0, 0, 0, 8, 11]);
}

async fn the_cost_of_a_family_is_that_of_the_calls_made(world: World) {
    let model = Scripted::new(vec![]);
    let session = world.root(&model);
    session.equip(|equipment| {
        let prices = forklore_agent::Prices {
            input: 10.0,
            output: 100.0,
            cached: Some(1.0),
            cache_written: None,
        };
        equipment.settings = Settings { prices: Some(prices), ..equipment.settings.clone() };
    });
    session.execute("one").await.unwrap();
    session.execute("two").await.unwrap();
    let child = session.fork(Fork::of(session.id())).await.unwrap().child;
    child.execute("three").await.unwrap();
    let _ = child.delegate(forklore_agent::Delegate::new("four")).await.unwrap();
    assert_eq!(model.requests().len(), 4);
    let family = forklore_engine::UsageScope::Family(session.id());
    let usage = world.kernel.engine().usage_report(&family).unwrap().usage;
    assert_eq!((usage.input, usage.output, usage.cached), (400, 40, 160));
    let one = (60.0 * 10.0 + 40.0 * 1.0 + 10.0 * 100.0) / 1e6;
    assert!((usage.cost - 4.0 * one).abs() < 1e-12, "{}", usage.cost);
}

/// Returns an answer with a block of reasoning that has a signature.
fn thinks(thought: &str, text: &str) -> Vec<Act> {
    let opaque = Some(Data::parse(r#"{"signature":"s"}"#).unwrap());
    let mut acts = vec![Act::Say(StreamEvent::Thought { text: thought.into(), opaque })];
    acts.extend(says(text));
    acts
}

async fn reasoning_bound_to_another_conversation_is_left_out_once_and_that_is_recorded(
    world: World,
) {
    let refused = || vec![Act::Fail(ModelErrorKind::ForeignReasoning)];
    let model = Scripted::new(vec![
        thinks("hm", "one"),
        refused(),
        thinks("ha", "two"),
        says("three"),
        refused(),
        refused(),
    ]);
    let session = world.root(&model);
    session.execute("a").await.unwrap();
    let child = session.fork(Fork::of(session.id())).await.unwrap().child;
    assert_eq!(child.execute("b").await.unwrap().text, "two");
    child.execute("c").await.unwrap();
    let thoughts: Vec<Vec<String>> = model
        .requests()
        .iter()
        .map(|request| {
            let parts = request.messages.iter().flat_map(forklore_core::Message::to_parts);
            let thoughts = parts.filter_map(|part| match part {
                Part::Reasoning { text, .. } => Some(text),
                _ => None,
            });
            thoughts.collect()
        })
        .collect();
    let counts: Vec<_> = thoughts.iter().map(Vec::len).collect();
    assert_eq!(counts, [0, 1, 0, 1]);
    assert_eq!((thoughts[1][0].as_str(), thoughts[3][0].as_str()), ("hm", "ha"));
    let events = world.events(&child.id());
    let dropped: Vec<_> =
        events.iter().filter(|(kind, _)| kind == "x.kernel.reasoning_dropped").collect();
    let expected = json!({"provider": "test", "model": "small", "blocks": 1, "error": "scripted"});
    assert_eq!(dropped.iter().map(|(_, data)| data).collect::<Vec<_>>(), [&expected]);
    let retries = world.ears.of(Name::ProviderRetry);
    assert_eq!(retries.iter().map(|it| data(it)["pause_ms"].clone()).collect::<Vec<_>>(), [0]);
    // A request that is refused without any reasoning fails.
    let error = child.execute("d").await.unwrap_err();
    assert_eq!(error.kind(), forklore_core::ErrorKind::InvalidArgs);
    assert_eq!(model.requests().len(), 6);
}

async fn a_fork_inherits_no_id_of_the_provider(world: World) {
    let model = Scripted::new(vec![]);
    let session = world.root(&model);
    session.execute("a").await.unwrap();
    let has_id = |id: &SessionId| {
        let events = world.events(id);
        events.iter().any(|(_, data)| data.get("request_id").is_some())
    };
    assert!(has_id(&session.id()));
    let child = session.fork(Fork::of(session.id())).await.unwrap().child;
    assert!(!has_id(&child.id()));
}
