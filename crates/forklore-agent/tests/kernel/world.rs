//! The environment of the kernel tests: a store, a kernel, tools and a listener.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use forklore_agent::notify::{Name, Notification, Sink};
use forklore_agent::tool::{CallContext, Step, ToolCall, ToolOutcome, ToolSpec, Tools};
use forklore_agent::{AgentSession, Kernel, NewSession, SessionConfig};
use forklore_core::workspace::Workspace;
use forklore_core::{Data, SessionId};
use forklore_engine::Engine;
use forklore_store::memory::MemoryStore;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::scripted::Scripted;

/// A sink that records every notification.
#[derive(Default)]
pub(crate) struct Ears(Mutex<Vec<Arc<Notification>>>);

impl Sink for Ears {
    fn take(&self, notification: &Arc<Notification>) {
        self.0.lock().unwrap().push(notification.clone());
    }
}

impl Ears {
    pub(crate) fn all(&self) -> Vec<Arc<Notification>> {
        self.0.lock().unwrap().clone()
    }

    /// Returns the names of all notifications that are not ephemeral, in order. `session` limits
    /// them to one session.
    pub(crate) fn names(&self, session: Option<&SessionId>) -> Vec<String> {
        let all = self.all();
        let lasting = all.iter().filter(|reported| !reported.is_ephemeral());
        let of = lasting.filter(|reported| session.is_none_or(|id| reported.session_id == *id));
        of.map(|reported| reported.name().to_owned()).collect()
    }

    pub(crate) fn of(&self, name: Name) -> Vec<Arc<Notification>> {
        self.all().into_iter().filter(|reported| reported.is(name)).collect()
    }
}

/// Returns the `data` of a notification as JSON.
pub(crate) fn data(notification: &Notification) -> Value {
    notification.event.data().unwrap()
}

/// A kernel over a store that no other test uses, and the notifications of this kernel.
pub(crate) struct World {
    pub(crate) kernel: Kernel,
    pub(crate) ears: Arc<Ears>,
}

impl World {
    pub(crate) fn new() -> Self {
        let store = Arc::new(MemoryStore::default());
        Self::over(Engine::new(store.clone()))
    }

    pub(crate) fn over(engine: Engine) -> Self {
        let ears = Arc::new(Ears::default());
        let kernel = Kernel::builder(engine).sink(ears.clone()).application("test").build();
        Self { kernel, ears }
    }

    /// Creates a root with this model and [`TestTools`].
    pub(crate) fn root(&self, model: &Arc<Scripted>) -> AgentSession {
        self.kernel.create(new_session(), equipment(model))
    }

    /// Returns the types of the events in a session's log.
    pub(crate) fn types(&self, id: &SessionId) -> Vec<String> {
        self.events(id).into_iter().map(|(kind, _)| kind).collect()
    }

    /// Returns the events in a session's log, each as its type and its payload.
    pub(crate) fn events(&self, id: &SessionId) -> Vec<(String, Value)> {
        let loaded = self.kernel.engine().load(id).unwrap();
        let events = loaded.events.into_iter().map(|stored| {
            (stored.event.kind.to_string(), stored.event.data.read::<Value>().unwrap())
        });
        events.collect()
    }
}

pub(crate) fn new_session() -> NewSession {
    NewSession::in_workspace(Workspace::new("/tmp/demo"))
}

pub(crate) fn equipment(model: &Arc<Scripted>) -> SessionConfig {
    let mut equipment =
        SessionConfig { tools: Arc::new(TestTools), ..SessionConfig::new(model.clone()) };
    equipment.settings.backoff = Duration::from_millis(1);
    // A tool that never ends is waited for in tests whose clock stands still.
    equipment.settings.grace = Duration::from_secs(3_600);
    equipment
}

/// The tools of the tests. `echo` returns its arguments. `slow` waits for the given number of
/// milliseconds. `steps` reports the given number of steps. `fail` fails, and `crash` panics.
/// `hang` ends only when it is cancelled, and `deaf` never ends. `flood` returns many bytes.
pub(crate) struct TestTools;

const NAMES: [&str; 8] = ["echo", "slow", "steps", "fail", "crash", "hang", "deaf", "flood"];

impl Tools for TestTools {
    fn specs(&self) -> Vec<ToolSpec> {
        let spec = |name: &str| ToolSpec {
            name: name.into(),
            description: name.into(),
            parameters: Data::of(&json!({"type": "object"})).unwrap(),
        };
        NAMES.iter().map(|name| spec(name)).collect()
    }

    fn call<'a>(&'a self, call: &'a ToolCall, on: &'a CallContext) -> BoxFuture<'a, ToolOutcome> {
        async move {
            match call.name.as_str() {
                "echo" => ToolOutcome::text(call.arguments.get()),
                "slow" => {
                    let ms = call.arguments.read().unwrap();
                    tokio::time::sleep(Duration::from_millis(ms)).await;
                    ToolOutcome::text(&format!("after {ms}"))
                }
                "steps" => {
                    let steps: u32 = call.arguments.read().unwrap();
                    for done in 0..steps {
                        let (done, total) = (f64::from(done), Some(f64::from(steps)));
                        on.progress.tell(Step { done, total, message: None });
                    }
                    ToolOutcome::text("done")
                }
                "fail" => ToolOutcome::failed("it failed"),
                "crash" => panic!("scripted crash"),
                "hang" => {
                    on.cancelled.cancelled().await;
                    ToolOutcome::failed("stopped by itself")
                }
                "deaf" => std::future::pending().await,
                "flood" => ToolOutcome::text(&"x".repeat(call.arguments.read().unwrap())),
                other => ToolOutcome::failed(&format!("there is no tool {other}")),
            }
        }
        .boxed()
    }
}
