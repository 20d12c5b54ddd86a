//! Checks that the sidecar files of sessions still have the bytes that were imported.

use std::collections::HashSet;
use std::io;

use forklore_core::{ErrorKind, Header, SessionId};
use forklore_store::port::Problem;
use forklore_store::sources::FindSource;

use super::is_erased;
use crate::{Engine, Error, Result};

impl Engine {
    /// Checks the sidecar files (files that an agent stores with a session file) of a session, and
    /// returns their damage. If several sessions come from the same session file, only the call for
    /// the first of them checks the sidecars, so that damage is reported once. The method adds the
    /// other sessions of the file to `others`. It reads nothing for a session in `others`, because
    /// a file may have very many sessions.
    pub(crate) fn sidecar_problems(
        &self,
        header: &Header,
        others: &mut HashSet<SessionId>,
    ) -> Result<Vec<Problem>> {
        if others.contains(&header.id) {
            return Ok(Vec::new());
        }
        let Ok(sources) = self.sources() else { return Ok(Vec::new()) };
        let mut problems = Vec::new();
        let mut tell = |error: Error, what: &str| match error.kind() {
            kind @ (ErrorKind::Corrupt | ErrorKind::MissingAncestor) => {
                let session_id = Some(header.id.clone());
                let message = format!("{what}: {error}");
                problems.push(Problem { session_id, seq: None, attachment: None, kind, message });
                Ok(())
            }
            _ => Err(error),
        };
        let own = match sources.sources(&FindSource::Session(header.id.clone())) {
            Ok(found) => found.into_iter().next(),
            // The store has already reported this damage.
            Err(error) => {
                return tell(error.into(), "the file it was read from").map(|()| problems);
            }
        };
        let Some(own) = own else { return Ok(problems) };
        let mut sessions = own.sessions.iter();
        let first = sessions.next().is_some_and(|first| first.id == header.id);
        others.extend(sessions.map(|session| session.id.clone()));
        if !first {
            return Ok(problems);
        }
        let sidecars = match self.sidecars_of(&own) {
            Ok(sidecars) => sidecars,
            Err(error) => return tell(error, "the files beside its own").map(|()| problems),
        };
        let mut seen = HashSet::new();
        for source in sidecars.into_iter().filter(|source| seen.insert(source.id)) {
            let path = source.paths.first().map(|seen| seen.path.clone()).unwrap_or_default();
            let checked = match is_erased(sources, &source) {
                Ok(true) => Ok(()),
                Ok(false) => self.restore_source(source, &mut io::sink()).map(drop),
                Err(error) => Err(error),
            };
            if let Err(error) = checked {
                tell(error, &format!("the file beside its own, {path}"))?;
            }
        }
        Ok(problems)
    }
}
