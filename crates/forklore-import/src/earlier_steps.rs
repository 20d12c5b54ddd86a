//! The steps of a file that one import wrote in earlier, failed attempts. An attempt may fail after
//! it has written some steps, for example because another writer was faster. The next attempt
//! continues after these steps, and the report of the file includes them.

use std::collections::HashMap;

use forklore_core::SessionId;

use crate::file_session::FileSession;
use crate::report::Problem;

/// The steps of a file that one attempt stored: where they end, and how many events they contain.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoredSteps {
    /// The byte offset in the file after the last step that this attempt stored. `None` if it
    /// stored none.
    pub(crate) end: Option<u64>,
    /// The number of events that this attempt stored in each session of the file.
    pub(crate) appended: Vec<u64>,
}

/// Where an attempt begins to read a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// The byte offset in the file.
    pub(crate) offset: u64,
    /// Whether sessions were read from the bytes before the offset.
    pub(crate) continued: bool,
}

/// What an import stored of a file in earlier attempts.
#[derive(Clone, Debug, Default)]
pub(crate) struct EarlierSteps {
    bytes: u64,
    appended: HashMap<SessionId, u64>,
    problems: Vec<Problem>,
    continued: Option<bool>,
}

impl EarlierSteps {
    /// Adds the steps that an attempt stored. `sessions` are the sessions of the file. `problems`
    /// are the problems that the attempt found in the file.
    pub(crate) fn add(
        &mut self,
        stored: &StoredSteps,
        start: Start,
        sessions: &[FileSession],
        problems: &[Problem],
    ) {
        let Some(end) = stored.end else { return };
        self.bytes += end.saturating_sub(start.offset);
        self.continued.get_or_insert(start.continued);
        for (session, appended) in sessions.iter().zip(&stored.appended) {
            *self.appended.entry(session.id.clone()).or_default() += appended;
        }
        // The next attempt finds the problems after the last stored step again.
        let before_end = |problem: &&Problem| problem.offset.is_some_and(|offset| offset < end);
        self.problems.extend(problems.iter().filter(before_end).cloned());
    }

    /// Returns the number of bytes that the earlier attempts read and stored.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the number of events that the earlier attempts stored in a session.
    pub(crate) fn appended(&self, session: &SessionId) -> u64 {
        self.appended.get(session).copied().unwrap_or_default()
    }

    /// Returns whether sessions had been read from the file before the first attempt that stored a
    /// step, or `None` if no attempt stored a step.
    pub(crate) fn continued(&self) -> Option<bool> {
        self.continued
    }

    /// Returns the problems in the bytes that the earlier attempts stored.
    pub(crate) fn into_problems(self) -> Vec<Problem> {
        self.problems
    }
}
