//! Reads the log of the feed.

use std::collections::BTreeMap;

use forklore_core::SessionId;
use forklore_store::Result;
use forklore_store::disk::os;
use forklore_store::feed::{Stamp, What};

use super::{Entry, Feed, First, damaged};
use crate::fs::{Disk, File, Fs, Open};
use crate::line;
use crate::lines::Lines;

/// The feed's log, opened for reading.
pub(super) struct Log {
    pub(super) first: First,
    file: Box<dyn File>,
    /// The offset in bytes at which the second line of the feed's log begins.
    start: u64,
    pub(super) len: u64,
}

/// The content of the feed's log from some offset on. All offsets are in bytes.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// All announced writes: the offset at which the announcing line ends, the kind of change, and
    /// the session.
    begun: Vec<(u64, What, SessionId)>,
    /// The announced writes without a recorded end: the offset at which the announcing line begins,
    /// and the session.
    pub(super) open: Vec<(u64, SessionId)>,
    /// The end of the last line that means that any session may have changed: a line
    /// [`Entry::Everything`], or one that cannot be read. 0 if there is no such line.
    pub(super) everything: u64,
    /// The byte offset up to which the feed's log was read.
    pub(super) end: u64,
}

impl Feed {
    /// Opens the feed's log. Returns `None` if it does not exist.
    pub(super) fn log(&self) -> Result<Option<Log>> {
        let file = match Disk.open(&self.path, Open::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(os("opening", &self.path)(error)),
        };
        let len = file.len().map_err(os("reading", &self.path))?;
        let mut lines = Lines::of(&*file);
        let first = lines.forward(0, len).map_err(os("reading", &self.path))?.unwrap_or_default();
        let text = line::checked(first).map_err(|wrong| damaged(&self.path, wrong))?;
        let start = first.len() as u64;
        let first = serde_json::from_str(text);
        let first = first.map_err(|error| damaged(&self.path, &error.to_string()))?;
        Ok(Some(Log { first, file, start, len }))
    }

    /// Reads the feed's log from the offset `from` on.
    pub(super) fn scan(&self, log: &Log, from: u64) -> Result<Scan> {
        let mut scan = Scan { end: from.max(log.start), ..Scan::default() };
        let mut lines = Lines::of(&*log.file);
        while let Some(line) =
            lines.forward(scan.end, log.len).map_err(os("reading", &self.path))?
        {
            if !line.ends_with(b"\n") {
                break;
            }
            let begin = scan.end;
            scan.end += line.len() as u64;
            let entry = line::checked(line).ok();
            match entry.and_then(|text| serde_json::from_str::<Sealed>(text).ok()) {
                Some(Sealed { entry: Entry::Begin(what, session) }) => {
                    scan.open.push((begin, session.clone()));
                    scan.begun.push((scan.end, what, session));
                }
                Some(Sealed { entry: Entry::Done(done) }) => {
                    scan.open.retain(|(_, session)| *session != done);
                }
                // A line that cannot be read may have announced any session.
                Some(Sealed { entry: Entry::Everything(_) }) | None => scan.everything = scan.end,
            }
        }
        Ok(scan)
    }
}

/// A line of the feed's log, parsed without its checksum. The checksum was checked before.
#[derive(serde::Deserialize)]
struct Sealed {
    #[serde(flatten)]
    entry: Entry,
}

impl Scan {
    /// Returns each session to which a write was announced, with the offsets of its last
    /// announcements. Only announcements whose line ends at or before the offset `to` count.
    pub(super) fn stamps(&self, to: u64) -> BTreeMap<&SessionId, Stamp> {
        let mut stamps = BTreeMap::<_, Stamp>::new();
        for (at, what, session) in self.begun.iter().filter(|(at, ..)| *at <= to) {
            stamps.entry(session).or_default().note(*what, *at);
        }
        stamps
    }
}
