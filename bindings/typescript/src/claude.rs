//! The core of the session store for the Claude Agent SDK, as a class of JavaScript.

use forklore_bindings::{
    ClaudeKey, ClaudeSessions as Sessions, Failure, Listed, NewFork, SummaryOf,
};
use forklore_core::workspace::Workspace;
use napi::Result;
use napi::bindgen_prelude::AsyncTask;
use napi_derive::napi;

use crate::connection::Connection;
use crate::framework::Face;
use crate::work::Work;

/// Stores the transcripts of Claude Agent SDKs. Several calls may run at once.
#[napi]
pub struct ClaudeSessions {
    face: Face<Sessions>,
}

/// Names a transcript.
#[napi(object)]
pub struct TranscriptKey {
    /// The key of the project's folder.
    pub project_key: String,
    /// The id of the session.
    pub session_id: String,
    /// The path of a sub-agent's transcript below the session's folder.
    pub subpath: Option<String>,
}

/// A transcript in a list.
#[napi(object)]
pub struct Transcript {
    /// The id of the session, or the subpath of a sub-agent.
    pub name: String,
    /// When a record was last added, in milliseconds since the Unix epoch.
    pub modified: f64,
    /// The summary of the whole transcript, if there is one.
    pub summary: Option<String>,
}

/// A summary to store with records, if the transcript is what it was made from.
#[napi(object)]
pub struct Folded {
    /// The stored summary from which it was made.
    pub before: Option<String>,
    /// The summary.
    pub after: String,
}

#[napi]
impl ClaudeSessions {
    /// Uses the store of a connection. Sessions whose records name no folder belong to `workspace`.
    #[napi(constructor)]
    pub fn new(connection: &Connection, workspace: String) -> Result<Self> {
        let workspace = Workspace::new(&workspace);
        let face = Face::new(connection, |engine| Sessions::new(engine, workspace))?;
        Ok(Self { face })
    }

    /// Appends records to a transcript, each as JSON. Returns how many were new. The summary is stored
    /// if all of them were new and the stored summary is still the one from which it was made.
    #[napi]
    pub fn append(
        &self,
        key: TranscriptKey,
        lines: Vec<String>,
        folded: Option<Folded>,
    ) -> AsyncTask<Work<u32>> {
        self.face.answer(move |sessions| {
            let count = lines.len();
            let mut summary = |of: SummaryOf<'_>| {
                let fits = |folded: &&Folded| {
                    of.before == folded.before.as_deref() && of.fresh.len() == count
                };
                Ok(folded.as_ref().filter(fits).map(|folded| folded.after.clone()))
            };
            let added = sessions.append(&named(&key)?, lines, &mut summary)?;
            Ok(u32::try_from(added).unwrap_or(u32::MAX))
        })
    }

    /// Returns the records of a transcript as a JSON list.
    #[napi]
    pub fn load(&self, key: TranscriptKey) -> AsyncTask<Work<Option<String>>> {
        self.face.answer(move |sessions| sessions.load(&named(&key)?))
    }

    /// Lists the sessions of a project.
    #[napi]
    pub fn sessions(&self, project: String) -> AsyncTask<Work<Vec<Transcript>>> {
        self.face.answer(move |sessions| Ok(transcripts(sessions.sessions(&project)?)))
    }

    /// Returns the summary of a session, if there is one of the whole transcript.
    #[napi]
    pub fn summary(&self, key: TranscriptKey) -> AsyncTask<Work<Option<String>>> {
        self.face.answer(move |sessions| sessions.summary(&named(&key)?))
    }

    /// Lists the sub-agents of a session.
    #[napi]
    pub fn sub_agents(&self, key: TranscriptKey) -> AsyncTask<Work<Vec<Transcript>>> {
        self.face.answer(move |sessions| Ok(transcripts(sessions.sub_agents(&named(&key)?)?)))
    }

    /// Deletes a transcript.
    #[napi]
    pub fn delete(&self, key: TranscriptKey, erase: bool) -> AsyncTask<Work<()>> {
        self.face.answer(move |sessions| sessions.delete(&named(&key)?, erase))
    }

    /// Forks a session. Returns the id of the fork for the verbs of the store.
    #[napi]
    pub fn fork(
        &self,
        key: TranscriptKey,
        new_id: String,
        record: Option<String>,
        title: Option<String>,
        summary: Option<String>,
    ) -> AsyncTask<Work<Option<String>>> {
        self.face.answer(move |sessions| {
            let (record, summary) = (record.as_deref(), summary.as_deref());
            let fork = NewFork { session_id: &new_id, record, title, summary };
            Ok(sessions.fork(&named(&key)?, fork)?.map(|id| id.to_string()))
        })
    }

    /// Returns the id of a transcript's session for the verbs of the store.
    #[napi]
    pub fn session(&self, key: TranscriptKey) -> AsyncTask<Work<Option<String>>> {
        self.face
            .answer(move |sessions| Ok(sessions.session(&named(&key)?)?.map(|id| id.to_string())))
    }
}

fn named(key: &TranscriptKey) -> std::result::Result<ClaudeKey<'_>, Failure> {
    ClaudeKey::new(&key.project_key, &key.session_id, key.subpath.as_deref())
}

fn transcripts(listed: Vec<Listed>) -> Vec<Transcript> {
    let transcript = |Listed { name, modified, summary }| {
        // Exact until the year 287396.
        #[allow(clippy::cast_precision_loss)]
        let modified = modified as f64;
        Transcript { name, modified, summary }
    };
    listed.into_iter().map(transcript).collect()
}
