//! The record of a source, as JSON.

use forklore_core::SessionId;
use forklore_store::sources::{Progress, RecordKey, SeenFile, Source, SourceId, SourceSession};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(super) struct Record {
    dialect: String,
    native_id: String,
    revision: u64,
    first_line: RecordKey,
    names: Vec<RecordKey>,
    paths: Vec<Seen>,
    sessions: Vec<(SessionId, u64)>,
    offset: u64,
    sha256: [u8; 32],
    state: String,
}

#[derive(Serialize, Deserialize)]
struct Seen {
    path: String,
    size: u64,
    modified: i64,
}

impl Record {
    pub(super) fn of(source: &Source) -> Self {
        let seen = |seen: &SeenFile| {
            let SeenFile { path, size, modified } = seen.clone();
            Seen { path, size, modified }
        };
        let session = |session: &SourceSession| (session.id.clone(), session.events);
        let Progress { offset, sha256, state } = source.read.clone();
        Self {
            dialect: source.dialect.clone(),
            native_id: source.native_id.clone(),
            revision: source.revision,
            first_line: source.first_line,
            names: source.names.clone(),
            paths: source.paths.iter().map(seen).collect(),
            sessions: source.sessions.iter().map(session).collect(),
            offset,
            sha256,
            state,
        }
    }

    pub(super) fn into_source(self, id: SourceId) -> Source {
        let seen = |seen: Seen| {
            let Seen { path, size, modified } = seen;
            SeenFile { path, size, modified }
        };
        let Self { offset, sha256, state, .. } = self;
        Source {
            id,
            dialect: self.dialect,
            native_id: self.native_id,
            revision: self.revision,
            first_line: self.first_line,
            names: self.names,
            paths: self.paths.into_iter().map(seen).collect(),
            sessions: self
                .sessions
                .into_iter()
                .map(|(id, events)| SourceSession { id, events })
                .collect(),
            read: Progress { offset, sha256, state },
        }
    }
}
