//! Serves the pages of an SQLite store on loopback, without login: for looking at them.
//!
//! `cargo run -p forklore-web --example pages -- STORE.db PORT`

#[path = "../tests/pages/server.rs"]
mod server;

use std::sync::Arc;

use forklore_engine::Engine;
use forklore_formats::AGENT_FORMATS;
use forklore_sqlite::{Options, SqliteStore};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(path), Some(port)) = (arguments.next(), arguments.next()) else {
        return Err("usage: pages STORE.db PORT".into());
    };
    let store = SqliteStore::open(std::path::Path::new(&path), Options::default())?;
    let engine = Engine::new(Arc::new(store)).with_agent_formats(AGENT_FORMATS);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port.parse()?)).await?;
    axum::serve(listener, server::served(engine)).await?;
    Ok(())
}
