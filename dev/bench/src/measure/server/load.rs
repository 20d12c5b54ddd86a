//! Readers and writers that use a server at the same time, each over a connection of its own.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forklore::prelude::*;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Barrier;
use tokio::time::{Instant as At, sleep_until};

use super::client::{Client, Target};
use crate::error::{Doing, Error, Result};
use crate::samples::Samples;
use crate::scene::{Scene, message};

/// How long the clients use the server before they are measured.
const WARM_UP: Duration = Duration::from_secs(2);

/// How many clients there are, and how often they ask.
pub(super) struct Load {
    pub(super) readers: usize,
    pub(super) writers: usize,
    /// The time from one request of a client to its next.
    pub(super) pause: Duration,
    time: Duration,
}

/// How long the requests took.
#[derive(Default)]
pub(super) struct Found {
    pub(super) reads: Samples,
    pub(super) writes: Samples,
    pub(super) time: Duration,
    /// The appends that were answered, also those before the measurement.
    written: usize,
    failures: Vec<String>,
}

/// One client.
#[derive(Clone)]
struct Part {
    number: usize,
    session: SessionId,
    is_writer: bool,
    pause: Duration,
    time: Duration,
}

impl Load {
    /// Returns the clients that ask once per second, as people and agents do.
    pub(super) fn paced(scene: &Scene) -> Self {
        let (readers, writers, seconds) = match scene.sizes.millis < 1_000 {
            true => (20, 5, 1),
            false => (1_000, 200, 15),
        };
        Self { readers, writers, pause: Duration::from_secs(1), time: Duration::from_secs(seconds) }
    }

    /// Returns the clients that ask again as soon as they have an answer.
    pub(super) fn pressing(scene: &Scene) -> Self {
        Self { pause: Duration::ZERO, ..Self::paced(scene) }
    }

    /// Runs the clients. Calls `meanwhile` in the middle.
    pub(super) fn run(
        &self,
        target: &Target,
        sessions: &[SessionId],
        meanwhile: impl FnOnce() -> Result<()>,
    ) -> Result<Found> {
        let runtime = runtime()?;
        let barrier = Arc::new(Barrier::new(self.readers + self.writers));
        let writers = (0..self.writers).map(|number| (number, true));
        let readers = (0..self.readers).map(|number| (number, false));
        let mut clients = Vec::new();
        for ((number, is_writer), session) in writers.chain(readers).zip(sessions.iter().cycle()) {
            let (session, pause, time) = (session.clone(), self.pause, self.time);
            let part = Part { number, session, is_writer, pause, time };
            clients.push(runtime.spawn(part.run(target.clone(), Arc::clone(&barrier))));
        }
        std::thread::sleep(WARM_UP + self.time / 2);
        meanwhile()?;
        let mut found = Found { time: self.time, ..Found::default() };
        for client in clients {
            let one = runtime.block_on(client).map_err(|error| Error::Wrong(error.to_string()))?;
            found.reads.extend(&one.reads);
            found.writes.extend(&one.writes);
            found.written += one.written;
            found.failures.extend(one.failures);
        }
        Ok(found)
    }
}

impl Found {
    /// Fails if a request did.
    pub(super) fn is_clean(&self) -> Result<()> {
        match self.failures.first() {
            None => Ok(()),
            Some(first) => {
                let text = format!("{} clients failed, the first: {first}", self.failures.len());
                Err(Error::Wrong(text))
            }
        }
    }

    /// Returns the number of appends that were answered.
    pub(super) fn written(&self) -> usize {
        self.written
    }
}

impl Part {
    /// Asks until the time is over or the server ends.
    async fn run(self, target: Target, barrier: Arc<Barrier>) -> Found {
        let mut found = Found::default();
        let connected = Client::connect(&target).await;
        barrier.wait().await;
        let wanted = match connected {
            Ok(mut client) => self.ask(&mut client, &mut found).await,
            Err(error) => Err(error.into()),
        };
        found.failures.extend(wanted.err().map(|error| error.to_string()));
        found
    }

    async fn ask(
        &self,
        client: &mut Client,
        found: &mut Found,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let id = self.session.as_str();
        let begun = At::now();
        // The clients of a paced load do not ask all at the same moment.
        let mut next = begun + self.pause * (self.number as u32 % 1_000) / 1_000;
        for number in self.number.. {
            sleep_until(next).await;
            let body = self.is_writer.then(|| appended(number)).transpose()?;
            let path = match (&body, number % 3) {
                (Some(_), _) => format!("/api/v1/sessions/{id}/events"),
                (None, 0) => format!("/api/v1/sessions/{id}/events?backward=true&limit=50"),
                (None, 1) => format!("/api/v1/sessions/{id}"),
                (None, _) => "/api/v1/sessions?limit=50".to_owned(),
            };
            let start = Instant::now();
            client.ask(&path, body.as_deref()).await?;
            found.written += usize::from(self.is_writer);
            let age = begun.elapsed();
            if age > WARM_UP + self.time {
                return Ok(());
            }
            if age > WARM_UP {
                let samples = if self.is_writer { &mut found.writes } else { &mut found.reads };
                samples.add(start.elapsed());
            }
            next = (next + self.pause).max(At::now());
        }
        Ok(())
    }
}

/// Returns the body of an append of one message of 1 KB.
pub(super) fn appended(number: usize) -> Result<String> {
    let event = serde_json::to_string(&message(number)?);
    let event = event.map_err(|error| Error::Wrong(error.to_string()))?;
    Ok(format!("{{\"events\":[{event}]}}"))
}

/// Returns a runtime for the clients, which may have as many connections as the system allows.
pub(super) fn runtime() -> Result<Runtime> {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.doing("cannot start a runtime for", Path::new("the clients"))
}
