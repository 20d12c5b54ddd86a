//! The lines of the import log.

use std::collections::BTreeMap;

use forklore_core::SessionId;
use forklore_store::sources::{
    LineEnd, Patch, Progress, RecordKey, RecordLocation, SeenFile, SourceSession, SourceSpan,
    SourceStep, Target, sidecar_key,
};
use serde::{Deserialize, Serialize};

use crate::record::{VERSION, hex, unhex};

/// The first line of the import log.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct First {
    pub(super) forklore: u32,
    /// How many times the import log was rewritten.
    pub(super) sources: u64,
}

impl First {
    pub(super) fn new(generation: u64) -> Self {
        Self { forklore: VERSION, sources: generation }
    }
}

/// The record of how many bytes of the import log are durable. The number has 20 decimal digits, so
/// that a write does not change the length of the file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DurableTo {
    durable: String,
}

impl DurableTo {
    pub(super) fn new(durable: u64) -> Self {
        Self { durable: format!("{durable:020}") }
    }

    pub(super) fn durable(&self) -> u64 {
        self.durable.parse().unwrap_or_default()
    }
}

/// A line of the import log that hides the stored bytes of a source (an imported file). It applies
/// to all import steps of the source that come before it in the log.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Forgotten {
    pub(super) forgotten: u64,
}

/// The line of one import step in the import log.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StepLine {
    pub(super) source: u64,
    /// The properties of the imported file, if this is its first import step; otherwise `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) new: Option<NewSource>,
    pub(super) native_id: String,
    path: String,
    size: u64,
    modified: i64,
    offset: u64,
    sha256: String,
    state: String,
    /// The sessions that the step created or to which it appended. Each entry has three values: the
    /// index of the session among the sessions of the file, the session's id, and the number of its
    /// events that came from the file.
    pub(super) sessions: Vec<(usize, forklore_core::SessionId, u64)>,
    ranges: Vec<RangeRecord>,
    /// The locations of records whose event a session wrote itself. The values are the record's
    /// key, the index of the session, and the event's position among the session's own events.
    #[serde(rename = "places")]
    locations: Vec<(RecordKey, u32, u64)>,
    /// The locations of records whose event a session inherits. The values are the record's key,
    /// the index of the session, and the event's seq in the session's history.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    inherited: Vec<(RecordKey, u32, u64)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) names: Vec<RecordKey>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct NewSource {
    pub(super) dialect: String,
    pub(super) revision: u64,
    pub(super) first_line: RecordKey,
}

/// A byte range of an imported file, as a log line stores it. `Text` contains UTF-8 bytes as a
/// string. `Hex` and the fields named `hex` contain bytes as hexadecimal digits.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RangeRecord {
    Events {
        session: u32,
        from: u64,
        count: u64,
        end: End,
    },
    #[serde(rename = "kept")]
    Text(String),
    #[serde(rename = "kept_hex")]
    Hex(String),
    Raw {
        session: u32,
        position: u64,
        hex: String,
    },
    Spread {
        session: u32,
        position: u64,
        margin: String,
        indent: String,
        end: End,
    },
    Gone(u64),
    Shared {
        session: SessionId,
        seq: u64,
        count: u64,
        end: End,
    },
    SharedSpread {
        session: SessionId,
        seq: u64,
        margin: String,
        indent: String,
        end: End,
    },
    Inherited {
        session: u32,
        seq: u64,
        count: u64,
        end: End,
    },
    Patched {
        session: u32,
        seq: u64,
        at: u64,
        removed: u64,
        hex: String,
        end: End,
    },
    PatchedOften {
        session: u32,
        seq: u64,
        patches: Vec<PatchRecord>,
        end: End,
    },
    Waiting {
        after: u64,
        hex: String,
        sha256: String,
    },
}

/// A replacement in a payload: its position, the number of removed bytes, and the inserted bytes
/// as hexadecimal digits.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct PatchRecord {
    at: u64,
    removed: u64,
    hex: String,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum End {
    None,
    Lf,
    CrLf,
}

impl End {
    fn of(end: LineEnd) -> Self {
        match end {
            LineEnd::None => Self::None,
            LineEnd::Lf => Self::Lf,
            LineEnd::CrLf => Self::CrLf,
        }
    }

    fn line_end(self) -> LineEnd {
        match self {
            Self::None => LineEnd::None,
            Self::Lf => LineEnd::Lf,
            Self::CrLf => LineEnd::CrLf,
        }
    }
}

impl StepLine {
    pub(super) fn new(
        number: u64,
        step: &SourceStep,
        sessions: &BTreeMap<usize, SourceSession>,
    ) -> Self {
        let new = match &step.target {
            Target::New { dialect, revision, first_line, .. } => Some(NewSource {
                dialect: dialect.clone(),
                revision: *revision,
                first_line: *first_line,
            }),
            Target::State { .. } => None,
        };
        let sidecar = step.sidecar_of.as_deref().map(sidecar_key);
        let session = |(at, found): (&usize, &SourceSession)| (*at, found.id.clone(), found.events);
        let locations = |inherited| {
            let those =
                step.locations.iter().filter(move |(_, location)| location.inherited == inherited);
            those.map(|(key, location)| (*key, location.session, location.position)).collect()
        };
        Self {
            source: number,
            new,
            native_id: step.native_id.clone(),
            path: step.seen.path.clone(),
            size: step.seen.size,
            modified: step.seen.modified,
            offset: step.read.offset,
            sha256: hex(&step.read.sha256),
            state: step.read.state.clone(),
            sessions: sessions.iter().map(session).collect(),
            ranges: step.ranges.iter().map(RangeRecord::of).collect(),
            locations: locations(false),
            inherited: locations(true),
            names: step.names.iter().copied().chain(sidecar).collect(),
        }
    }

    pub(super) fn seen(&self) -> SeenFile {
        SeenFile { path: self.path.clone(), size: self.size, modified: self.modified }
    }

    pub(super) fn read(&self) -> Result<Progress, &'static str> {
        let sha256 = unhex(&self.sha256).and_then(|bytes| bytes.try_into().ok());
        Ok(Progress {
            offset: self.offset,
            sha256: sha256.ok_or("its sha256 is none")?,
            state: self.state.clone(),
        })
    }

    /// Returns the locations of all records of the step, the inherited ones first. If a key occurs
    /// twice, the later location is valid: that of the session's own event, because copied records
    /// are at the beginning of a file.
    pub(super) fn locations(&self) -> impl Iterator<Item = (RecordKey, RecordLocation)> {
        placed(&self.inherited, true).chain(placed(&self.locations, false))
    }

    pub(super) fn has_ranges(&self) -> bool {
        !self.ranges.is_empty()
    }

    pub(super) fn ranges(&self) -> Result<Vec<SourceSpan>, &'static str> {
        self.ranges.iter().map(|range| range.range().ok_or("a range of it is none")).collect()
    }

    /// Erases the stored bytes of the ranges. Replaces each range that contains bytes by a range
    /// that says only how many they were.
    pub(super) fn forget(&mut self) -> Result<(), &'static str> {
        for range in &mut self.ranges {
            let span = range.range().ok_or("a range of it is none")?;
            if let Some(left) = span.forgotten() {
                *range = RangeRecord::of(&left);
            }
        }
        Ok(())
    }
}

fn placed(
    list: &[(RecordKey, u32, u64)],
    inherited: bool,
) -> impl Iterator<Item = (RecordKey, RecordLocation)> {
    let location = move |session, position| RecordLocation { session, position, inherited };
    list.iter().map(move |(key, session, position)| (*key, location(*session, *position)))
}

impl RangeRecord {
    fn of(range: &SourceSpan) -> Self {
        match range {
            SourceSpan::Events { session, from, count, end } => {
                let end = End::of(*end);
                Self::Events { session: *session, from: *from, count: *count, end }
            }
            SourceSpan::Other(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Self::Text(text.to_owned()),
                Err(_) => Self::Hex(hex(bytes)),
            },
            SourceSpan::Raw { session, position, bytes } => {
                Self::Raw { session: *session, position: *position, hex: hex(bytes) }
            }
            SourceSpan::Spread { session, position, margin, indent, end } => Self::Spread {
                session: *session,
                position: *position,
                margin: String::from_utf8_lossy(margin).into_owned(),
                indent: String::from_utf8_lossy(indent).into_owned(),
                end: End::of(*end),
            },
            SourceSpan::Shared { session, seq, count, end } => {
                let (session, end) = (session.clone(), End::of(*end));
                Self::Shared { session, seq: *seq, count: *count, end }
            }
            SourceSpan::SharedSpread { session, seq, margin, indent, end } => Self::SharedSpread {
                session: session.clone(),
                seq: *seq,
                margin: String::from_utf8_lossy(margin).into_owned(),
                indent: String::from_utf8_lossy(indent).into_owned(),
                end: End::of(*end),
            },
            SourceSpan::Gone(bytes) => Self::Gone(*bytes),
            SourceSpan::Waiting { after, bytes, sha256 } => {
                Self::Waiting { after: *after, hex: hex(bytes), sha256: hex(sha256) }
            }
            SourceSpan::Inherited { session, seq, count, end } => {
                let end = End::of(*end);
                Self::Inherited { session: *session, seq: *seq, count: *count, end }
            }
            SourceSpan::Patched { session, seq, at, removed, inserted, end } => Self::Patched {
                session: *session,
                seq: *seq,
                at: *at,
                removed: *removed,
                hex: hex(inserted),
                end: End::of(*end),
            },
            SourceSpan::PatchedOften { session, seq, patches, end } => Self::PatchedOften {
                session: *session,
                seq: *seq,
                patches: patches.iter().map(PatchRecord::of).collect(),
                end: End::of(*end),
            },
        }
    }

    fn range(&self) -> Option<SourceSpan> {
        Some(match self {
            Self::Events { session, from, count, end } => {
                let end = end.line_end();
                SourceSpan::Events { session: *session, from: *from, count: *count, end }
            }
            Self::Text(text) => SourceSpan::Other(text.clone().into_bytes()),
            Self::Hex(hex) => SourceSpan::Other(unhex(hex)?),
            Self::Raw { session, position, hex } => {
                SourceSpan::Raw { session: *session, position: *position, bytes: unhex(hex)? }
            }
            Self::Spread { session, position, margin, indent, end } => SourceSpan::Spread {
                session: *session,
                position: *position,
                margin: margin.clone().into_bytes(),
                indent: indent.clone().into_bytes(),
                end: end.line_end(),
            },
            Self::Shared { session, seq, count, end } => {
                let (session, end) = (session.clone(), end.line_end());
                SourceSpan::Shared { session, seq: *seq, count: *count, end }
            }
            Self::SharedSpread { session, seq, margin, indent, end } => SourceSpan::SharedSpread {
                session: session.clone(),
                seq: *seq,
                margin: margin.clone().into_bytes(),
                indent: indent.clone().into_bytes(),
                end: end.line_end(),
            },
            Self::Gone(bytes) => SourceSpan::Gone(*bytes),
            Self::Waiting { after, hex, sha256 } => {
                let sha256 = unhex(sha256)?.try_into().ok()?;
                SourceSpan::Waiting { after: *after, bytes: unhex(hex)?, sha256 }
            }
            Self::Inherited { session, seq, count, end } => {
                let end = end.line_end();
                SourceSpan::Inherited { session: *session, seq: *seq, count: *count, end }
            }
            Self::Patched { session, seq, at, removed, hex, end } => SourceSpan::Patched {
                session: *session,
                seq: *seq,
                at: *at,
                removed: *removed,
                inserted: unhex(hex)?,
                end: end.line_end(),
            },
            Self::PatchedOften { session, seq, patches, end } => SourceSpan::PatchedOften {
                session: *session,
                seq: *seq,
                patches: patches.iter().map(PatchRecord::patch).collect::<Option<_>>()?,
                end: end.line_end(),
            },
        })
    }
}

impl PatchRecord {
    fn of(patch: &Patch) -> Self {
        Self { at: patch.at, removed: patch.removed, hex: hex(&patch.inserted) }
    }

    fn patch(&self) -> Option<Patch> {
        Some(Patch { at: self.at, removed: self.removed, inserted: unhex(&self.hex)? })
    }
}
