//! `verify`: everything stored is read and checked (SPEC 6, 9).

use std::collections::{HashMap, HashSet};

use forklore_model::{ErrorKind, Header, SessionId};
use forklore_store::port::{Filter, Problem, Verification};

use crate::{Engine, Result};

impl Engine {
    /// Checks one session, or the whole store: bytes, counts, spans, and the links to parents.
    ///
    /// # Errors
    /// `not_found`, or when the store cannot be read at all. Damage is a problem, no error.
    pub fn verify(&self, session: Option<&SessionId>) -> Result<Verification> {
        let mut report = self.store.verify(session)?;
        let filter = Filter { deleted: true, ..Filter::default() };
        let headers = match session {
            Some(session) => self.store.header(session).map(|header| vec![header]),
            None => self.store.sessions(&filter, None, 0),
        };
        let headers = match headers {
            Ok(headers) => headers,
            // A damaged header, which the store has named above where it could.
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                if report.problems.is_empty() {
                    let (session_id, seq, kind) = (session.cloned(), None, error.kind());
                    let message = error.to_string();
                    report.problems.push(Problem { session_id, seq, kind, message });
                }
                return Ok(report);
            }
            Err(error) => return Err(error.into()),
        };
        for problem in self.lineage_problems(&headers)? {
            let same = |other: &Problem| {
                (&other.session_id, other.kind) == (&problem.session_id, problem.kind)
            };
            if !report.problems.iter().any(same) {
                report.problems.push(problem);
            }
        }
        Ok(report)
    }

    fn lineage_problems(&self, headers: &[Header]) -> Result<Vec<Problem>> {
        let mut parents: HashMap<SessionId, Option<SessionId>> =
            headers.iter().map(|h| (h.id.clone(), h.parent_id.clone())).collect();
        // Sessions whose way to the root was walked already.
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
                        Err(forklore_store::Error::NotFound(_)) => {
                            let message = format!("its ancestor {at} is not in the store");
                            problems.push(problem(
                                &header.id,
                                ErrorKind::MissingAncestor,
                                &message,
                            ));
                            break;
                        }
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

fn problem(session: &SessionId, kind: ErrorKind, message: &str) -> Problem {
    Problem { session_id: Some(session.clone()), seq: None, kind, message: message.to_owned() }
}
