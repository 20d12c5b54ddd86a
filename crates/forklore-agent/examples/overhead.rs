//! Measures the time that the kernel adds to a turn, and the memory that 64 sessions in one process
//! use. The model answers at once, and the store is in memory.
//!
//! `cargo run --release -p forklore-agent --example overhead`

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use forklore_agent::model::{
    AnswerStream, End, EndReason, Model, ModelName, ModelResult, Request, StreamEvent, TokenUsage,
};
use forklore_agent::tool::{CallContext, ToolCall, ToolOutcome, ToolSpec, Tools};
use forklore_agent::{AgentSession, Kernel, NewSession, SessionConfig};
use forklore_core::workspace::Workspace;
use forklore_core::{Data, Role};
use forklore_engine::Engine;
use forklore_store::memory::MemoryStore;
use futures_util::future::{BoxFuture, join_all};
use futures_util::{FutureExt, StreamExt, stream};

const TURNS: usize = 400;
const SESSIONS: usize = 64;
/// The size in bytes of each answer and of each tool result.
const BYTES: usize = 2_000;

/// A model that calls a tool once in each turn and then answers in pieces, without delay.
struct AtOnce(ModelName);

impl Model for AtOnce {
    fn name(&self) -> &ModelName {
        &self.0
    }

    fn context_window(&self) -> Option<u64> {
        Some(1_000_000_000)
    }

    fn stream<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, ModelResult<AnswerStream<'a>>> {
        let last = request.messages.last().map(|message| message.role);
        let usage = TokenUsage { input: Some(1_000), output: Some(100), ..TokenUsage::default() };
        let end = |reason| StreamEvent::End(End { reason, usage, request_id: None });
        let pieces = if last == Some(Role::Tool) {
            let words = (0..50).map(|_| StreamEvent::Text("x".repeat(BYTES / 50)));
            words.chain([end(EndReason::Done)]).collect::<Vec<_>>()
        } else {
            let (id, name) = (request.messages.len().to_string(), "read".to_owned());
            let call = ToolCall { id, name, arguments: Data::from_checked("{}") };
            vec![StreamEvent::Call(call), end(EndReason::Calls)]
        };
        async move { Ok(stream::iter(pieces.into_iter().map(Ok)).boxed()) }.boxed()
    }

    fn body(&self, _: &Request) -> ModelResult<Vec<u8>> {
        Ok(Vec::new())
    }
}

struct Read;

impl Tools for Read {
    fn specs(&self) -> Vec<ToolSpec> {
        let parameters = Data::from_checked(r#"{"type":"object"}"#);
        vec![ToolSpec { name: "read".into(), description: "reads".into(), parameters }]
    }

    fn call<'a>(&'a self, _: &'a ToolCall, _: &'a CallContext) -> BoxFuture<'a, ToolOutcome> {
        async { ToolOutcome::text(&"y".repeat(BYTES)) }.boxed()
    }
}

fn session(kernel: &Kernel) -> AgentSession {
    let model = AtOnce(ModelName { provider: "none".into(), model: "at-once".into() });
    let equipment = SessionConfig { tools: Arc::new(Read), ..SessionConfig::new(Arc::new(model)) };
    kernel.create(NewSession::in_workspace(Workspace::new("/tmp/demo")), equipment)
}

async fn turns(
    session: &AgentSession,
    count: usize,
) -> Result<Vec<Duration>, forklore_agent::Error> {
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let began = Instant::now();
        session.execute("go on").await?;
        times.push(began.elapsed());
    }
    times.sort_unstable();
    Ok(times)
}

/// Returns the maximum memory use of this process so far, in MB. Returns `None` if the system has
/// no `/proc`.
fn most_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kb| kb / 1_000)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let kernel = Kernel::builder(Engine::new(Arc::new(MemoryStore::default()))).build();
    let one = session(&kernel);
    let mut received = one.subscribe(64);
    tokio::spawn(async move { while received.next().await.is_some() {} });
    let times = turns(&one, TURNS).await?;
    let at = |part: usize| times.get(times.len() * part / 100).copied().unwrap_or_default();
    println!("{TURNS} turns of two answers, a call and a result each, one listener");
    println!("a turn: p50 {:?}, p99 {:?}", at(50), at(99));

    let kernel = Kernel::builder(Engine::new(Arc::new(MemoryStore::default()))).build();
    let sessions: Vec<_> = (0..SESSIONS).map(|_| session(&kernel)).collect();
    let began = Instant::now();
    let all = join_all(sessions.iter().map(|session| turns(session, 50))).await;
    all.into_iter().collect::<Result<Vec<_>, _>>()?;
    println!("{SESSIONS} sessions of 50 turns side by side: {:?}", began.elapsed());
    if let Some(most) = most_memory() {
        println!("the most memory, with the memory store and all it holds: {most} MB");
    }
    Ok(())
}
