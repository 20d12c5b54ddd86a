//! Creates hosts with models that repeat the prompt.

use std::sync::{Arc, Mutex, MutexGuard};

use forklore_agent::model::{
    AnswerStream, End, Model, ModelError, ModelErrorKind, ModelName, ModelResult, Request,
    StreamEvent, TokenUsage,
};
use forklore_agent::tool::ToolCall;
use forklore_core::workspace::Workspace;
use forklore_core::{Data, Header, Role};
use forklore_engine::{Engine, Fork, Forked, Summarize};
use forklore_host::explore::{Plan, Row, explore};
use forklore_host::{CancellationToken, Configured, Host, Result, Start};
use forklore_store::memory::MemoryStore;
use futures_util::future::BoxFuture;
use futures_util::{StreamExt, stream};
use tokio::runtime::Runtime;

const CONFIG: &str = "default_model = 'one'\n\
    [models.one]\nprovider = 'openai'\nmodel = 'm1'\nbase_url = 'http://127.0.0.1:9/v1'\n\
    [models.two]\nprovider = 'openai'\nmodel = 'm2'\nbase_url = 'http://127.0.0.1:9/v1'\n";

/// A model that answers `<model> read: <prompt>`. It fails for the prompt `fail`. For `hang`, it
/// never ends its answer. For `call` and `hand over`, it calls the tool `delegate`, for `call` with
/// wrong arguments.
struct Echo {
    name: ModelName,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Model for Echo {
    fn name(&self) -> &ModelName {
        &self.name
    }

    fn context_window(&self) -> Option<u64> {
        None
    }

    fn stream<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, ModelResult<AnswerStream<'a>>> {
        self.requests.lock().unwrap().push(request.clone());
        let asks = request.messages.last().is_some_and(|message| message.role == Role::User);
        let last = request.messages.iter().rev().find(|message| message.role == Role::User);
        let last = last.map(forklore_core::Message::plain_text).unwrap_or_default();
        Box::pin(async move {
            if last.contains("fail") {
                let (provider, message) = ("test".to_owned(), "it fails".to_owned());
                let kind = ModelErrorKind::Invalid;
                return Err(ModelError { provider, message, kind, status: None, source: None });
            }
            let begin = Ok(StreamEvent::Text(format!("{} read: ", self.name.model)));
            if last.contains("hang") {
                return Ok(stream::iter([begin]).chain(stream::pending()).boxed());
            }
            let usage = TokenUsage {
                input: Some(100),
                output: Some(5),
                cached: Some(80),
                ..TokenUsage::default()
            };
            let mut pieces = vec![begin, Ok(StreamEvent::Text(last.clone()))];
            if asks && (last.contains("call") || last.contains("hand over")) {
                let wrong = last.contains("call");
                let arguments = if wrong { r#"{"prompt":"count"}"# } else { r#"{"task":"count"}"# };
                let arguments = Data::parse(arguments).unwrap();
                let call = ToolCall { id: "c1".to_owned(), name: "delegate".to_owned(), arguments };
                pieces = vec![Ok(StreamEvent::Call(call))];
            }
            pieces.push(Ok(StreamEvent::End(End { usage, ..End::default() })));
            Ok(stream::iter(pieces).boxed())
        })
    }

    fn body(&self, _: &Request) -> ModelResult<Vec<u8>> {
        Ok(Vec::new())
    }
}

pub(crate) struct World {
    pub(crate) host: Arc<Host>,
    pub(crate) requests: Arc<Mutex<Vec<Request>>>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::configured("")
    }

    /// Creates a host. Adds `more` to its configuration.
    pub(crate) fn configured(more: &str) -> Self {
        Self::over(more, Engine::new(Arc::new(MemoryStore::default())))
    }

    /// Creates a host that refuses forks of more than this many links.
    pub(crate) fn limited(links: u64) -> Self {
        let engine = Engine::new(Arc::new(MemoryStore::default()));
        Self::over("", engine.with_max_fork_depth(Some(links)))
    }

    fn over(more: &str, engine: Engine) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        std::fs::write(&path, format!("{CONFIG}{more}")).unwrap();
        let configured = Configured::read(&path).unwrap();
        let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
        let all = requests.clone();
        let make = move |config: &forklore_llm::ModelConfig| {
            let name = ModelName { provider: "test".into(), model: config.model.clone() };
            Ok(Arc::new(Echo { name, requests: all.clone() }) as Arc<dyn Model>)
        };
        let host = Host::with_models(engine, configured, Box::new(make)).unwrap();
        Self { host: Arc::new(host), requests }
    }

    pub(crate) fn start() -> Start {
        Start::in_workspace(Workspace::new("/demo"))
    }
}

/// A world with an async runtime of its own, for tests that are not async.
pub(crate) struct Blocking {
    world: World,
    runtime: Runtime,
}

impl Blocking {
    pub(crate) fn new() -> Self {
        Self::configured("")
    }

    pub(crate) fn configured(more: &str) -> Self {
        Self::over(more, Engine::new(Arc::new(MemoryStore::default())))
    }

    /// Creates a host that refuses forks of more than this many links.
    pub(crate) fn limited(links: u64) -> Self {
        let engine = Engine::new(Arc::new(MemoryStore::default()));
        Self::over("", engine.with_max_fork_depth(Some(links)))
    }

    fn over(more: &str, engine: Engine) -> Self {
        let runtime = Runtime::new().unwrap();
        let world = {
            let _inside = runtime.enter();
            World::over(more, engine)
        };
        Self { world, runtime }
    }

    pub(crate) fn host(&self) -> &Host {
        &self.world.host
    }

    pub(crate) fn engine(&self) -> &Engine {
        self.world.host.engine()
    }

    pub(crate) fn requests(&self) -> MutexGuard<'_, Vec<Request>> {
        self.world.requests.lock().unwrap()
    }

    /// Sends these prompts in a new session. Returns the header of the session.
    pub(crate) fn talk(&self, prompts: &[&str]) -> Header {
        self.runtime.block_on(async {
            let conversation = self.world.host.open_unattended(World::start()).await.unwrap();
            for prompt in prompts {
                conversation.say(prompt, &CancellationToken::new()).await.unwrap();
            }
            conversation.close().await;
            conversation.header().await.unwrap()
        })
    }

    pub(crate) fn explore(
        &self,
        plan: &Plan,
        cancel: &CancellationToken,
        changed: &mut impl FnMut(usize, &Row),
    ) -> Result<Vec<Row>> {
        self.runtime.block_on(explore(&self.world.host, plan, cancel, changed))
    }

    pub(crate) fn fork_with_summary(&self, model: &str, fork: Fork) -> (Forked, Summarize) {
        let forking = self.world.host.fork_with_summary(Some(model), fork);
        let (forked, summary) = self.runtime.block_on(forking).unwrap();
        (forked, summary.unwrap())
    }

    pub(crate) fn close(&self) {
        self.runtime.block_on(self.world.host.close());
    }
}
