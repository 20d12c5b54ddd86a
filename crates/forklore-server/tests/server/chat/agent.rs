//! Servers with an agent whose model a test controls.

use std::sync::Arc;

use forklore_agent::model::{
    AnswerStream, End, Model, ModelError, ModelErrorKind, ModelName, ModelResult, Request,
    StreamEvent,
};
use forklore_agent::tool::ToolCall;
use forklore_core::workspace::Workspace;
use forklore_core::{Data, Role};
use forklore_host::{Configured, Host};
use forklore_server::Agent;
use futures_util::future::BoxFuture;
use futures_util::{StreamExt, stream};
use tempfile::TempDir;
use tokio::sync::Semaphore;

use crate::Running;

/// Two models, and sub-agents that need approval.
pub(crate) const CONFIG: &str = "default_model = 'one'\n\
    [models.one]\nprovider = 'openai'\nmodel = 'm1'\nbase_url = 'http://127.0.0.1:9/v1'\n\
    [models.two]\nprovider = 'openai'\nmodel = 'm2'\nbase_url = 'http://127.0.0.1:9/v1'\n\
    [delegate]\ndepth = 1\n";

/// Text that tries to be more than text.
pub(crate) const HOSTILE: &str =
    "<img src=x onerror=alert(1)>\n\nid: 7\nevent: end\ndata: {}\n\n\u{202e}\0</script>";

/// What a test lets the models do.
#[derive(Clone)]
pub(crate) struct Script {
    /// A permit lets an answer to `slow` go on by one piece.
    pub(crate) pieces: Arc<Semaphore>,
}

/// A model that answers `MODEL read: PROMPT`. It fails for `fail`, never ends for `hang`, waits before
/// each piece for `slow`, calls the tool `delegate` for
/// `call` or `call: TASK`, and is hostile for `hostile`.
struct Scripted {
    name: ModelName,
    script: Script,
}

impl Model for Scripted {
    fn name(&self) -> &ModelName {
        &self.name
    }

    fn context_window(&self) -> Option<u64> {
        None
    }

    fn stream<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, ModelResult<AnswerStream<'a>>> {
        let asks = request.messages.last().is_some_and(|message| message.role == Role::User);
        let last = request.messages.iter().rev().find(|message| message.role == Role::User);
        let prompt = last.map(forklore_core::Message::plain_text).unwrap_or_default();
        Box::pin(async move {
            if prompt == "fail" {
                let (provider, message) = ("test".to_owned(), "it fails".to_owned());
                let kind = ModelErrorKind::Invalid;
                return Err(ModelError { provider, message, kind, status: None, source: None });
            }
            let text = |text: &str| Ok(StreamEvent::Text(text.to_owned()));
            let end = Ok(StreamEvent::End(End::default()));
            let begin = text(&format!("{} read: ", self.name.model));
            if prompt == "hang" {
                return Ok(stream::iter([begin]).chain(stream::pending()).boxed());
            }
            if prompt == "slow" {
                let pieces =
                    stream::iter(["one ", "two ", "three"]).then(move |piece| async move {
                        self.script.pieces.acquire().await.unwrap().forget();
                        text(piece)
                    });
                return Ok(pieces.chain(stream::iter([end])).boxed());
            }
            if asks && prompt.starts_with("call") {
                let task = prompt.strip_prefix("call: ").unwrap_or("count <b>");
                let arguments = serde_json::json!({ "task": task }).to_string();
                let arguments = Data::parse(&arguments).unwrap();
                let call = ToolCall { id: "c1".to_owned(), name: "delegate".to_owned(), arguments };
                return Ok(stream::iter([Ok(StreamEvent::Call(call)), end]).boxed());
            }
            let prompt = if prompt == "hostile" { HOSTILE } else { &prompt };
            Ok(stream::iter([begin, text(prompt), end]).boxed())
        })
    }

    fn body(&self, _: &Request) -> ModelResult<Vec<u8>> {
        Ok(Vec::new())
    }
}

/// Starts a server with an agent.
pub(crate) async fn chatting() -> (Running, Script) {
    configured(tempfile::tempdir().unwrap(), CONFIG).await
}

/// Starts a server with an agent that has this configuration.
pub(crate) async fn configured(folder: TempDir, config: &str) -> (Running, Script) {
    let path = folder.path().join("config.toml");
    std::fs::write(&path, config).unwrap();
    let script = Script { pieces: Arc::new(Semaphore::new(0)) };
    let shared = script.clone();
    let running = Running::chatting(folder, |engine| {
        let make = move |config: &forklore_llm::ModelConfig| {
            let name = ModelName { provider: "test".into(), model: config.model.clone() };
            let script = shared.clone();
            Ok(Arc::new(Scripted { name, script }) as Arc<dyn Model>)
        };
        let configured = Configured::read(&path).unwrap();
        let host = Host::with_models(engine.clone(), configured, Box::new(make)).unwrap();
        let (host, folder) = (Arc::new(host), Workspace::new("/work/demo"));
        Agent { host, folder, program: "forklore".to_owned() }
    });
    (running.await, script)
}
