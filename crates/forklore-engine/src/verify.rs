//! `verify`: reads and checks all data of a session or of the store.

use std::collections::{HashMap, HashSet};

use forklore_core::{ErrorKind, Header, SessionId};
use forklore_store::Error as StoreError;
use forklore_store::port::{Filter, Headers, Problem, Verification};

use crate::{Engine, Result};

impl Engine {
    /// Checks the stored data of one session, or of the whole store if `session` is `None`. Checks
    /// bytes, counts, inherited ranges, parent links, sidecar files (files that an agent stores
    /// with a session file) and mentioned attachments. Reports damage in `problems` instead of
    /// returning an error.
    ///
    /// # Errors
    /// `not_found` if the session does not exist, or the error of a store that cannot be read at
    /// all.
    pub fn verify(&self, session: Option<&SessionId>) -> Result<Verification> {
        let mut report = self.store.verify(session)?;
        let filter = Filter { deleted: true, ..Filter::default() };
        let headers = match session {
            Some(session) => self.store.header(session).map(|header| {
                let sound = vec![header];
                Headers { sound, damaged: Vec::new() }
            }),
            None => self.store.sessions(&filter, None, 0),
        };
        let Headers { sound, damaged } = match headers {
            Ok(headers) => headers,
            Err(error) if is_damage(&error) => Headers { sound: Vec::new(), damaged: vec![error] },
            Err(error) => return Err(error.into()),
        };
        let mut seen = HashSet::new();
        for header in sound.iter().filter(|header| header.source.is_some()) {
            report.problems.extend(self.sidecar_problems(header, &mut seen)?);
        }
        // The store has already reported damaged headers, if it could.
        let damaged = damaged.iter().map(|error| error.problem(session)).collect::<Vec<_>>();
        let attachments = self.attachment_problems(&sound)?;
        for problem in damaged.into_iter().chain(self.lineage_problems(&sound)?) {
            let same = |other: &Problem| {
                (&other.session_id, other.kind) == (&problem.session_id, problem.kind)
            };
            if !report.problems.iter().any(same) {
                report.problems.push(problem);
            }
        }
        report.problems.extend(attachments);
        Ok(report)
    }

    fn lineage_problems(&self, headers: &[Header]) -> Result<Vec<Problem>> {
        let mut parents: HashMap<SessionId, Option<SessionId>> =
            headers.iter().map(|h| (h.id.clone(), h.parent_id.clone())).collect();
        // The sessions whose path to the root was already walked.
        let mut sound: HashSet<SessionId> = HashSet::new();
        let mut problems = Vec::new();
        for header in headers {
            let mut way = HashSet::new();
            let mut at = header.id.clone();
            while !sound.contains(&at) {
                if !way.insert(at.clone()) {
                    problems.push(problem(
                        &header.id,
                        ErrorKind::LineageCycle,
                        "its ancestors run in a circle",
                    ));
                    break;
                }
                let parent = match parents.get(&at) {
                    Some(parent) => parent.clone(),
                    None => match self.store.header(&at) {
                        Ok(found) => {
                            parents.insert(at.clone(), found.parent_id.clone());
                            found.parent_id
                        }
                        Err(StoreError::NotFound(_) | StoreError::Lost { .. }) => {
                            let message = format!("its ancestor {at} is not in the store");
                            problems.push(problem(
                                &header.id,
                                ErrorKind::MissingAncestor,
                                &message,
                            ));
                            break;
                        }
                        // This is damage of the ancestor. The store has already reported it.
                        Err(error) if is_damage(&error) => break,
                        Err(error) => return Err(error.into()),
                    },
                };
                let Some(parent) = parent else { break };
                at = parent;
            }
            sound.extend(way);
        }
        Ok(problems)
    }
}

fn is_damage(error: &StoreError) -> bool {
    matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::MissingAncestor)
}

fn problem(session: &SessionId, kind: ErrorKind, message: &str) -> Problem {
    Problem {
        session_id: Some(session.clone()),
        seq: None,
        attachment: None,
        kind,
        message: message.to_owned(),
    }
}
