//! A small agent: its model repeats the prompt. It runs a turn, forks the session, and continues
//! both sessions.
//!
//! `cargo run -p forklore-agent --example echo`

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use forklore_agent::model::{
    AnswerStream, End, Model, ModelName, ModelResult, Request, StreamEvent, TokenUsage,
};
use forklore_agent::{Kernel, NewSession, SessionConfig};
use forklore_core::workspace::Workspace;
use forklore_engine::{Engine, Fork};
use forklore_store::memory::MemoryStore;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, stream};

struct Echo(ModelName);

impl Model for Echo {
    fn name(&self) -> &ModelName {
        &self.0
    }

    fn context_window(&self) -> Option<u64> {
        None
    }

    fn stream<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, ModelResult<AnswerStream<'a>>> {
        let received = request.messages.last().map(forklore_core::Message::plain_text);
        let usage =
            TokenUsage { input: Some(request.messages.len() as u64), ..TokenUsage::default() };
        let end = StreamEvent::End(End { usage, ..End::default() });
        let pieces =
            [StreamEvent::Text(format!("You said: {}", received.unwrap_or_default())), end];
        async move { Ok(stream::iter(pieces.map(Ok)).boxed()) }.boxed()
    }

    fn body(&self, request: &Request) -> ModelResult<Vec<u8>> {
        Ok(format!("{:?}", request.messages).into_bytes())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let kernel = Kernel::builder(Engine::new(Arc::new(MemoryStore::default()))).build();
    let model = Echo(ModelName { provider: "example".into(), model: "echo".into() });
    let new = NewSession::in_workspace(Workspace::new("/tmp/demo"));
    let session = kernel.create(new, SessionConfig::new(Arc::new(model)));

    session.execute("plan A or plan B?").await?;
    let other = session.fork(Fork::of(session.id())).await?.child;
    let (a, b) = tokio::join!(session.execute("let us take A"), other.execute("let us take B"));
    println!("{}\n{}", a?.text, b?.text);
    println!("in common: {}", kernel.engine().diff(&session.id(), &other.id())?.common);
    Ok(())
}
