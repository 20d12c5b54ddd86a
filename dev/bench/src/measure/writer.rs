//! One writer process of `writers`: its arguments, its work and its report.

use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Args;
use forklore::prelude::*;

use crate::error::{Doing, Error, Result};
use crate::scene::message;

/// What one writer is told.
#[derive(Debug, Args)]
pub(crate) struct Writer {
    /// The store, as a URL
    #[arg(long)]
    pub(crate) store: String,
    /// The session to append to
    #[arg(long)]
    pub(crate) session: String,
    /// When to begin, in milliseconds since 1970
    #[arg(long)]
    pub(crate) begin: u64,
    /// For how many milliseconds to write
    #[arg(long)]
    pub(crate) millis: u64,
    /// The file to put the result in
    #[arg(long)]
    pub(crate) report: PathBuf,
}

/// The report of one writer process: the number of its appends, and the duration of the longest
/// one.
pub(super) struct Written {
    pub(super) appends: u64,
    pub(super) longest: Duration,
}

/// Does the work of a writer process: appends messages of 1 KB for the requested time.
pub(crate) fn write(writer: &Writer) -> Result<()> {
    let session: SessionId = writer.session.parse()?;
    let engine =
        forklore::blocking::open(&writer.store).map_err(|error| Error::Wrong(error.to_string()))?;
    let request = Batch::from(vec![message(0)?]);
    sleep(Duration::from_millis(writer.begin).saturating_sub(now()));
    let start = Instant::now();
    let mut done = Written { appends: 0, longest: Duration::ZERO };
    while start.elapsed() < Duration::from_millis(writer.millis) {
        let before = Instant::now();
        engine.append(&session, &request)?;
        done.longest = done.longest.max(before.elapsed());
        done.appends += 1;
    }
    let report = format!("{} {}", done.appends, done.longest.as_micros());
    fs::write(&writer.report, report).doing("cannot write", &writer.report)
}

impl Written {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let numbers = text.split_once(' ').and_then(|(appends, micros)| {
            let longest = Duration::from_micros(micros.parse().ok()?);
            Some(Self { appends: appends.parse().ok()?, longest })
        });
        numbers.ok_or_else(|| Error::Wrong(format!("a writer reported {text:?}")))
    }
}

/// Returns the time since 1970.
pub(super) fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
