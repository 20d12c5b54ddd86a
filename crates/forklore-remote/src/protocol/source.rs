//! Sources and import steps as messages. Their bytes are in base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use forklore_store::Error;
use forklore_store::sources::{
    Progress, RecordKey, RecordLocation, SeenFile, Source, SourceId, SourceSession, SourceSpan,
    SourceStep, Target, decode, encode,
};
use serde::{Deserialize, Serialize};

/// The spans of a step, in the compact encoding of the stores, in base64.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RangeList(String);

impl RangeList {
    /// Encodes spans.
    #[must_use]
    pub fn of(spans: &[SourceSpan]) -> Self {
        Self(STANDARD.encode(encode(spans)))
    }

    /// Decodes the spans.
    ///
    /// # Errors
    /// `Invalid` if the text is no list of spans.
    pub fn spans(&self) -> Result<Vec<SourceSpan>, Error> {
        let bytes = STANDARD.decode(&self.0).map_err(invalid)?;
        decode(&bytes).map_err(invalid)
    }
}

fn invalid(error: impl std::fmt::Display) -> Error {
    Error::Invalid(format!("a message about an imported file is not valid: {error}"))
}

/// How far a file was read.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ProgressMessage {
    offset: u64,
    sha256: String,
    state: String,
}

impl From<Progress> for ProgressMessage {
    fn from(from: Progress) -> Self {
        let Progress { offset, sha256, state } = from;
        Self { offset, sha256: STANDARD.encode(sha256), state }
    }
}

impl TryFrom<ProgressMessage> for Progress {
    type Error = Error;

    fn try_from(from: ProgressMessage) -> Result<Self, Error> {
        let ProgressMessage { offset, sha256, state } = from;
        let bytes = STANDARD.decode(sha256).map_err(invalid)?;
        let sha256 = bytes.try_into().map_err(|_| invalid("a SHA-256 has 32 bytes"))?;
        Ok(Self { offset, sha256, state })
    }
}

/// A step of an import.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StepMessage {
    target: Target,
    native_id: String,
    seen: SeenFile,
    ranges: RangeList,
    locations: Vec<(RecordKey, RecordLocation)>,
    names: Vec<RecordKey>,
    sidecar_of: Option<String>,
    read: ProgressMessage,
    last: bool,
}

impl From<SourceStep> for StepMessage {
    fn from(from: SourceStep) -> Self {
        let SourceStep {
            target,
            native_id,
            seen,
            ranges,
            locations,
            names,
            sidecar_of,
            read,
            last,
        } = from;
        let (ranges, read) = (RangeList::of(&ranges), read.into());
        Self { target, native_id, seen, ranges, locations, names, sidecar_of, read, last }
    }
}

impl TryFrom<StepMessage> for SourceStep {
    type Error = Error;

    fn try_from(from: StepMessage) -> Result<Self, Error> {
        let StepMessage {
            target,
            native_id,
            seen,
            ranges,
            locations,
            names,
            sidecar_of,
            read,
            last,
        } = from;
        let (ranges, read) = (ranges.spans()?, read.try_into()?);
        Ok(Self { target, native_id, seen, ranges, locations, names, sidecar_of, read, last })
    }
}

/// A source.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SourceMessage {
    id: SourceId,
    dialect: String,
    native_id: String,
    revision: u64,
    first_line: RecordKey,
    names: Vec<RecordKey>,
    paths: Vec<SeenFile>,
    sessions: Vec<SourceSession>,
    read: ProgressMessage,
}

impl From<Source> for SourceMessage {
    fn from(from: Source) -> Self {
        let Source { id, dialect, native_id, revision, first_line, names, paths, sessions, read } =
            from;
        let read = read.into();
        Self { id, dialect, native_id, revision, first_line, names, paths, sessions, read }
    }
}

impl TryFrom<SourceMessage> for Source {
    type Error = Error;

    fn try_from(from: SourceMessage) -> Result<Self, Error> {
        let SourceMessage {
            id,
            dialect,
            native_id,
            revision,
            first_line,
            names,
            paths,
            sessions,
            read,
        } = from;
        let read = read.try_into()?;
        Ok(Self { id, dialect, native_id, revision, first_line, names, paths, sessions, read })
    }
}
