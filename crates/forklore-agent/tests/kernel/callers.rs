//! Tests of what a tool does in the session that calls it: it announces events, runs sub-agents,
//! and ends the session.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use forklore_agent::model::{AnswerStream, Model, ModelName, ModelResult, Request};
use forklore_agent::notify::event::{ApplicationEvent, ApplicationName};
use forklore_agent::notify::{Name, Received};
use forklore_agent::tool::{CallContext, ToolCall, ToolOutcome, ToolSpec, Tools};
use forklore_agent::{AgentSession, Delegate, Error, SessionConfig, Status};
use forklore_core::{Data, SessionId};
use forklore_engine::Fork;
use futures_util::future::{BoxFuture, FutureExt, join_all};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::Barrier;

use crate::each_store::on_each_store;
use crate::scripted::{Act, Scripted, calls, says};
use crate::world::{World, data, equipment, new_session};

on_each_store!(cleanup_called_from_the_turns_own_tool_ends_the_session_once);

/// A model that repeats its prompt as soon as as many requests are there as the barrier waits for.
struct Together {
    name: ModelName,
    barrier: Barrier,
}

impl Model for Together {
    fn name(&self) -> &ModelName {
        &self.name
    }

    fn context_window(&self) -> Option<u64> {
        None
    }

    fn stream<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, ModelResult<AnswerStream<'a>>> {
        let prompt = request.messages[0].plain_text();
        async move {
            self.barrier.wait().await;
            let acts = says(&prompt).into_iter().filter_map(|act| match act {
                Act::Say(piece) => Some(Ok(piece)),
                _ => None,
            });
            Ok(stream::iter(acts).boxed())
        }
        .boxed()
    }

    fn body(&self, _: &Request) -> ModelResult<Vec<u8>> {
        Ok(Vec::new())
    }
}

/// Tools that use the session that calls them.
struct Inside {
    /// The model of the sub-agents.
    model: Arc<dyn Model>,
    session: OnceLock<AgentSession>,
    /// Checks whether the sub-agent that the tool `leave` started is running.
    begun: Box<dyn Fn() -> bool + Send + Sync>,
}

impl Inside {
    async fn delegate(&self, on: &CallContext, prompt: &str) -> Result<String, Error> {
        let session_config = Some(SessionConfig::new(self.model.clone()));
        let delegate = Delegate { session_config, ..Delegate::new(prompt) };
        Ok(on.caller.delegate(delegate).await?.turn?.text)
    }
}

impl Tools for Inside {
    fn specs(&self) -> Vec<ToolSpec> {
        let spec = |name: &str| ToolSpec {
            name: name.into(),
            description: name.into(),
            parameters: Data::of(&json!({})).unwrap(),
        };
        ["announce", "delegate", "leave", "end"].map(spec).to_vec()
    }

    fn call<'a>(&'a self, call: &'a ToolCall, on: &'a CallContext) -> BoxFuture<'a, ToolOutcome> {
        async move {
            match call.name.as_str() {
                "announce" => {
                    let wrote = json!({"path": "plan.md"});
                    on.caller
                        .announce(ApplicationEvent::new(ApplicationName::ARTIFACT_WRITE, wrote));
                    ToolOutcome::text("announced")
                }
                "delegate" => {
                    let prompts: Vec<String> = call.arguments.read().unwrap();
                    let work = prompts.iter().map(|prompt| self.delegate(on, prompt));
                    let texts = join_all(work).await.into_iter().collect::<Result<Vec<_>, _>>();
                    ToolOutcome::text(&texts.unwrap().join(", "))
                }
                "leave" => {
                    let child = self.delegate(on, "never mind");
                    let works = async {
                        while !(self.begun)() {
                            tokio::time::sleep(Duration::from_millis(1)).await;
                        }
                    };
                    tokio::select! {
                        _ = child => ToolOutcome::failed("it was not left"),
                        () = works => ToolOutcome::text("left"),
                    }
                }
                _ => {
                    self.session.get().unwrap().cleanup(true).await;
                    ToolOutcome::text("ended")
                }
            }
        }
        .boxed()
    }
}

/// Returns a session whose model makes `call`. Its sub-agents have the model `below`.
fn session(world: &World, call: (&str, &str), below: Arc<dyn Model>) -> AgentSession {
    let model = Scripted::new(vec![calls(&[("a", call.0, call.1)])]);
    let ears = world.ears.clone();
    let begun = Box::new(move || ears.of(Name::ProviderRequest).len() > 1);
    let tools = Arc::new(Inside { model: below, session: OnceLock::new(), begun });
    let config = SessionConfig { tools: tools.clone(), ..equipment(&model) };
    let session = world.kernel.create(new_session(), config);
    let _ = tools.session.set(session.clone());
    session
}

fn of(world: &World, id: &SessionId, kind: &str) -> Vec<Value> {
    let events = world.events(id).into_iter().filter(|(is, _)| is == kind);
    events.map(|(_, data)| data).collect()
}

fn together(count: usize) -> Arc<dyn Model> {
    let name = ModelName { provider: "test".into(), model: "together".into() };
    Arc::new(Together { name, barrier: Barrier::new(count) })
}

#[tokio::test]
async fn an_event_of_the_application_has_the_lineage_of_its_session() {
    let world = World::new();
    let root = session(&world, ("announce", "1"), together(1));
    root.execute("go").await.unwrap();
    let child = root.fork(Fork::of(root.id())).await.unwrap().child;
    let mut received = child.subscribe(16);
    let name: ApplicationName = "plan:revised".parse().unwrap();
    child.announce(ApplicationEvent::new(name, json!([1])));
    let Some(Received::Event(notification)) = received.next().await else { panic!("nothing") };
    let mut sent = serde_json::to_value(&*notification).unwrap();
    sent.as_object_mut().unwrap().remove("ts");
    let expected = json!({"event": "plan:revised", "session_id": child.id(),
        "parent_id": root.id(), "root_id": root.id(), "data": [1]});
    assert_eq!(sent, expected);
    let all = world.ears.all();
    let by_tool = all.iter().find(|it| it.name() == "artifact:write").unwrap();
    assert_eq!((&by_tool.session_id, data(by_tool)), (&root.id(), json!({"path": "plan.md"})));
    let refused = "tool:pre".parse::<ApplicationName>().unwrap_err().to_string();
    assert_eq!(refused, "tool:pre is an event of the kernel, which no application announces");
}

#[tokio::test]
async fn a_tool_runs_several_sub_agents_side_by_side() {
    let world = World::new();
    let session = session(&world, ("delegate", r#"["one","two","three"]"#), together(3));
    assert_eq!(session.execute("go").await.unwrap().text, "done");
    let id = session.id();
    assert_eq!(of(&world, &id, "tool_result")[0]["content"], "one, two, three");
    let records = of(&world, &id, "subagent_event");
    let of_status = |status: &str| records.iter().filter(|it| it["status"] == status).count();
    assert_eq!((of_status("running"), of_status("finished"), records.len()), (3, 3, 6));
    for record in &records {
        assert_eq!((&record["call_id"], record.get("result")), (&json!("a"), None));
    }
    let types = world.types(&id);
    let last = |kind: &str| types.iter().rposition(|it| it == kind).unwrap();
    assert!(last("subagent_event") < last("tool_result"));
    assert_eq!(world.ears.of(Name::DelegateCompleted).len(), 3);
    for child in world.ears.of(Name::SessionFork) {
        assert_eq!(child.parent_id, Some(id.clone()));
        let names = world.ears.names(Some(&child.session_id));
        assert_eq!(names.last().unwrap(), "session:end");
        assert!(world.kernel.engine().show(&child.session_id).unwrap().lease.is_none());
    }
}

#[tokio::test]
async fn a_sub_agent_that_its_tool_leaves_is_interrupted_and_recorded() {
    let world = World::new();
    let session = session(&world, ("leave", "1"), together(2));
    session.execute("go").await.unwrap();
    assert_eq!(of(&world, &session.id(), "tool_result")[0]["content"], "left");
    let records = of(&world, &session.id(), "subagent_event");
    let sent: Vec<_> = records.iter().map(|it| (&it["status"], &it["error"])).collect();
    let interrupted = json!("it was interrupted");
    assert_eq!(sent, [(&json!("running"), &Value::Null), (&json!("failed"), &interrupted)]);
    assert_eq!(world.ears.of(Name::DelegateError).len(), 1);
}

#[tokio::test]
async fn an_interruption_reaches_the_sub_agents_of_a_tool() {
    let world = World::new();
    let session = session(&world, ("delegate", r#"["one","two"]"#), together(9));
    let running = session.clone();
    let turn = tokio::spawn(async move { running.execute("go").await });
    while world.ears.of(Name::ProviderRequest).len() < 3 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(session.interrupt());
    assert_eq!(turn.await.unwrap().unwrap().status, Status::Cancelled);
    let records = of(&world, &session.id(), "subagent_event");
    let failed = records.iter().filter(|it| it["error"] == "it was interrupted").count();
    assert_eq!((failed, records.len()), (2, 4));
    assert!(world.kernel.engine().inspect(&session.id()).unwrap().balanced);
}

#[tokio::test]
async fn the_application_lets_several_sub_agents_work_side_by_side() {
    let world = World::new();
    let session = session(&world, ("announce", "1"), together(3));
    let delegate = |prompt: &str| {
        let session_config = Some(SessionConfig::new(together(1)));
        Delegate { session_config, ..Delegate::new(prompt) }
    };
    let shared = together(2);
    let with_shared = |prompt: &str| Delegate {
        session_config: Some(SessionConfig::new(shared.clone())),
        ..Delegate::new(prompt)
    };
    let stranger = Delegate { resume: Some(session.id()), ..delegate("no") };
    let all = vec![with_shared("one"), stranger, with_shared("two")];
    let done = session.delegate_all(all).await.unwrap();
    let texts: Vec<_> = done
        .into_iter()
        .map(|it| it.and_then(|it| it.turn).map(|turn| turn.text).map_err(|it| it.kind().name()))
        .collect();
    let expected = [Ok("one".to_owned()), Err("invalid_args"), Ok("two".to_owned())];
    assert_eq!(texts, expected);
    let records = of(&world, &session.id(), "subagent_event");
    let results = records.iter().filter(|it| it["result"].is_string()).count();
    assert_eq!((results, records.len()), (2, 4));
}

#[tokio::test]
async fn a_tool_that_no_turn_calls_has_no_sub_agents() {
    let on = CallContext {
        session: "alone".parse().unwrap(),
        cancelled: tokio_util::sync::CancellationToken::new(),
        progress: forklore_agent::tool::Progress::default(),
        caller: forklore_agent::tool::Caller::default(),
    };
    let name = ApplicationName::PLAN_START;
    on.caller.announce(ApplicationEvent::new(name, Value::Null));
    let error = on.caller.delegate(Delegate::new("go")).await.unwrap_err();
    assert!(matches!(error, Error::NoCaller), "{error}");
}

async fn cleanup_called_from_the_turns_own_tool_ends_the_session_once(world: World) {
    let session = session(&world, ("end", "1"), together(1));
    // A tool that waited for the end of its own turn would be given up only after this time.
    session.equip(|config| config.settings.grace = Duration::from_secs(3600));
    let turn = session.execute("go").await.unwrap();
    assert_eq!(turn.status, Status::Cancelled);
    world.kernel.settle().await;
    let ends: Vec<_> = world.ears.of(Name::SessionEnd).iter().map(|it| data(it)).collect();
    assert_eq!(ends, [json!({"status": "cancelled"})]);
    assert_eq!(world.ears.names(None).last().unwrap(), "session:end");
    session.cleanup(true).await;
    assert_eq!(world.ears.of(Name::SessionEnd).len(), 1);
    assert!(matches!(session.execute("more").await.unwrap_err(), Error::Ended(_)));
}
