//! Finds model servers that run on this machine.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Client;
use serde::Deserialize;

use crate::http;

/// The default ports of programs that serve models, each with the name of the program.
pub const LOCAL_PORTS: [(u16, &str); 4] =
    [(8080, "llama.cpp"), (11434, "ollama"), (1234, "LM Studio"), (8000, "vLLM")];

/// The maximum time to wait for a server on this machine.
const PATIENCE: Duration = Duration::from_millis(700);
/// The maximum length of a list of models, in bytes.
const MOST_BYTES: usize = 1 << 20;

/// A model server that answered on a port of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listening {
    /// The port on which the server listens.
    pub port: u16,
    /// The base URL of the server's OpenAI API.
    pub base_url: String,
    /// The names of the models that the server offers. A name that is not plain text is omitted.
    pub models: Vec<String>,
}

#[derive(Deserialize)]
struct Models {
    data: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    id: String,
}

/// Looks for model servers at these ports of this machine. Returns those that answer with a list of
/// models. Connects to the loopback address only, never through a proxy, and sends no key. Waits
/// less than a second.
pub async fn listening(ports: &[u16]) -> Vec<Listening> {
    let Ok(client) = http::client_without_proxy() else { return Vec::new() };
    let looks = ports.iter().map(|port| at(&client, *port));
    join_all(looks).await.into_iter().flatten().collect()
}

/// Looks for model servers as [`listening`] does, for callers without an async runtime.
#[must_use]
pub fn listening_blocking(ports: &[u16]) -> Vec<Listening> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map(|runtime| runtime.block_on(listening(ports))).unwrap_or_default()
}

async fn at(client: &Client, port: u16) -> Option<Listening> {
    let base_url = format!("http://{}:{port}/v1", Ipv4Addr::LOCALHOST);
    let read = async {
        let mut answer = client.get(format!("{base_url}/models")).send().await.ok()?;
        if !answer.status().is_success() {
            return None;
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = answer.chunk().await.ok()? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > MOST_BYTES {
                return None;
            }
        }
        serde_json::from_slice::<Models>(&bytes).ok()
    };
    let models = tokio::time::timeout(PATIENCE, read).await.ok()??;
    let is_plain = |name: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/@+ ".contains(c);
        !name.is_empty() && name.len() <= 200 && name.chars().all(plain)
    };
    let models = models.data.into_iter().map(|model| model.id).filter(is_plain).collect();
    Some(Listening { port, base_url, models })
}
