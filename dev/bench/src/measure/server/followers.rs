//! Clients that follow one session: the memory that they cost, and how late an event reaches them.

use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use super::client::{Client, Target};
use super::load::{appended, runtime};
use super::serving::Serving;
use crate::error::{Doing, Error, Result};
use crate::figure::{Figure, Goal, Unit};
use crate::samples::{Samples, formatted};
use crate::scene::Scene;
use crate::thousands::grouped;

/// How many events are appended, one after the other.
const APPENDS: usize = 20;
/// How many followers connect at the same time.
const AT_ONCE: usize = 100;
/// How long all followers may take to receive an event.
const PATIENCE: Duration = Duration::from_secs(60);
const SESSIONS: &str = "/api/v1/sessions";
const EVENTS: &str = "/api/v1/sessions/followed/events";
const LIVE: &str = "/api/v1/sessions/followed/events/live";

pub(super) fn measure(scene: &Scene, serving: &Serving) -> Result<Vec<Figure>> {
    let followers = if scene.sizes.millis < 1_000 { 100 } else { 10_000 };
    let io = |result: std::io::Result<()>| {
        result.doing("cannot ask", serving.target.host.as_ref().as_ref())
    };
    let runtime = runtime()?;
    let before = serving.memory();
    runtime.block_on(async {
        let mut writer =
            Client::connect(&serving.target).await.doing("cannot reach", SESSIONS.as_ref())?;
        io(writer.ask(SESSIONS, Some(r#"{"id":"followed","workspace":"/w"}"#)).await)?;
        let (sender, mut received) = mpsc::unbounded_channel();
        for first in (0..followers).step_by(AT_ONCE) {
            let some = AT_ONCE.min(followers - first);
            for _ in 0..some {
                tokio::spawn(follow(serving.target.clone(), sender.clone()));
            }
            wait(&mut received, some).await?;
        }
        let idle = serving.memory();
        let (mut middle, mut last) = (Samples::default(), Samples::default());
        for number in 0..APPENDS {
            // The server closes a connection that asks nothing for 10 s.
            let mut writer =
                Client::connect(&serving.target).await.doing("cannot reach", SESSIONS.as_ref())?;
            let start = Instant::now();
            io(writer.ask(EVENTS, Some(&appended(number)?)).await)?;
            let at = wait(&mut received, followers).await?;
            let delay = |at: Option<&Instant>| at.map(|at| at.saturating_duration_since(start));
            middle.add(delay(at.get(followers / 2)).unwrap_or_default());
            last.add(delay(at.last()).unwrap_or_default());
        }
        let (busy, threads) = (serving.memory(), serving.threads());
        let named = |what: &str| format!("{} followers of a session: {what}", grouped(followers));
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        let memory = |what: &str, goal, bytes| {
            Figure::alone(named(what), goal, megabytes(bytes), Unit::Megabytes)
                .from(format!("{:.1} MB before they came", megabytes(before)), "")
        };
        let delay = |what: &str, samples: &Samples| {
            let median = samples.median().as_secs_f64() * 1e3;
            Figure::alone(named(what), Goal::None, median, Unit::Milliseconds)
                .from(samples.to_string(), formatted(samples.percentile(99)))
        };
        Ok(vec![
            memory("memory of the server, idle", Goal::AtMost(200.0), idle),
            memory("memory of the server, after 20 events", Goal::AtMost(200.0), busy),
            Figure::alone(named("threads of the server"), Goal::None, threads as f64, Unit::Count),
            delay("from the append to half of them", &middle),
            delay("from the append to the last of them", &last),
        ])
    })
}

/// Follows the session. Sends the time of the answer, and of each event.
async fn follow(target: Target, sender: mpsc::UnboundedSender<Instant>) -> std::io::Result<()> {
    let mut client = Client::connect(&target).await?;
    client.send(LIVE, None).await?;
    client.piece().await?;
    let _ = sender.send(Instant::now());
    loop {
        // An event of this size comes in one piece, or its first piece has its id.
        let piece = client.piece().await?;
        if piece.windows(4).any(|bytes| bytes == b"id: ") {
            let _ = sender.send(Instant::now());
        }
    }
}

/// Waits until this many followers have received something. Returns when they did, in order.
async fn wait(
    received: &mut mpsc::UnboundedReceiver<Instant>,
    count: usize,
) -> Result<Vec<Instant>> {
    let mut at = Vec::with_capacity(count);
    while at.len() < count {
        let next = tokio::time::timeout(PATIENCE, received.recv()).await;
        let missing = || Error::Wrong(format!("{} of {count} followers received it", at.len()));
        at.push(next.ok().flatten().ok_or_else(missing)?);
    }
    at.sort_unstable();
    Ok(at)
}
