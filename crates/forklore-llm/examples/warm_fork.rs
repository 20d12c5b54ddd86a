//! Measures the time to the first event of a response: for a new conversation, and for a fork of a
//! conversation that the server has cached. Uses a real small model, in both API formats that its
//! server supports:
//!
//! ```console
//! $ FORKLORE_SMOLLM=target/smollm cargo run --example warm_fork -p forklore-llm
//! ```
#![allow(clippy::print_stdout, reason = "a measurement prints its table")]

use std::error::Error;
use std::time::{Duration, Instant};

use forklore_agent::media::Attached;
use forklore_agent::model::{Model as _, Options, Request, StreamEvent, TokenUsage};
use forklore_core::{Message, Role};
use forklore_llm::{HttpModel, ModelConfig, Provider};
use forklore_smollm::{MODEL, Server};
use futures_util::StreamExt as _;

/// Returns a conversation of about 1,000 tokens.
fn conversation() -> Vec<Message> {
    let text = "The harbour lies in the north of the bay, where ships from many countries wait. ";
    let question =
        |part: usize| Message::text(Role::User, format!("Part {part}. {}", text.repeat(4)));
    let answered = || Message::text(Role::Assistant, "I have read this part.");
    (0..11).flat_map(|part| [question(part), answered()]).collect()
}

fn request(question: &str) -> Request {
    let mut messages = conversation();
    let shared = messages.len();
    messages.push(Message::text(Role::User, question));
    let options = Options { max_output_tokens: Some(4), ..Options::default() };
    Request {
        messages,
        attached: Attached::default(),
        shared,
        forks: vec![shared],
        tools: Vec::new(),
        cache_key: "family".to_owned(),
        options,
    }
}

/// Returns the time to the first event of a response, and its token usage.
async fn ask(model: &HttpModel, question: &str) -> Result<(Duration, TokenUsage), Box<dyn Error>> {
    let request = request(question);
    let began = Instant::now();
    let mut pieces = model.stream(&request).await?;
    let mut first = None;
    while let Some(piece) = pieces.next().await {
        first.get_or_insert_with(|| began.elapsed());
        if let StreamEvent::End(end) = piece? {
            return Ok((first.unwrap_or_default(), end.usage));
        }
    }
    Err("the answer has no end".into())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "{:<10} {:>6} {:>7} {:>9} {:>9} {:>7}",
        "form", "tokens", "cached", "cold", "warm", "ratio"
    );
    for provider in [Provider::OpenAi, Provider::Anthropic] {
        let server = Server::start()?;
        let base_url = Some(server.openai());
        let model = HttpModel::new(ModelConfig { base_url, ..ModelConfig::new(provider, MODEL) })?;
        // Send a warm-up request first, so that one-time initialisation of the program and the
        // server is not measured.
        ask_short(&model).await?;
        let (cold, _) = ask(&model, "What is this about?").await?;
        let (warm, usage) = ask(&model, "Which ships are there?").await?;
        println!(
            "{:<10} {:>6} {:>7} {:>6} ms {:>6} ms {:>7.1}",
            provider.as_str(),
            usage.input.unwrap_or_default(),
            usage.cached.unwrap_or_default(),
            cold.as_millis(),
            warm.as_millis(),
            cold.as_secs_f64() / warm.as_secs_f64(),
        );
    }
    Ok(())
}

async fn ask_short(model: &HttpModel) -> Result<(), Box<dyn Error>> {
    let messages = vec![Message::text(Role::User, "Hello")];
    let request = Request { messages, shared: 0, forks: Vec::new(), ..request("") };
    let mut pieces = model.stream(&request).await?;
    while let Some(piece) = pieces.next().await {
        piece?;
    }
    Ok(())
}
