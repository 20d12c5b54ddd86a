//! The forks in which continuations run, and what they are called.

use std::sync::Arc;

use forklore_agent::AgentSession;
use forklore_agent::Branched;
use forklore_agent::approve::Nobody;
use forklore_core::{Header, Label};
use forklore_engine::{Error as EngineError, Fork};
use forklore_store::Error as StoreError;

use super::{Explore, Row};
use crate::{Error, Result, Supplies};

/// The longest label that leaves room for a number behind it.
const LONGEST: usize = 56;

/// Makes the forks: first the plan of one, so that a place that does not exist makes none.
pub(super) fn all(
    supplies: &Supplies,
    explore: &Explore,
    rows: &mut [Row],
) -> Result<Vec<Option<AgentSession>>> {
    let equipped = explore
        .tries
        .iter()
        .map(|tried| supplies.equipment(&tried.model, Arc::new(Nobody)))
        .collect::<Result<Vec<_>>>()?;
    for equipment in &equipped {
        equipment.model.ready().map_err(forklore_agent::Error::NotReady)?;
    }
    let engine = supplies.kernel().engine();
    let request = Fork { at: explore.at.clone(), ..Fork::of(explore.session.id.clone()) };
    // All begin at one place, also when the session goes on meanwhile.
    let planned = engine.fork(&Fork { dry_run: true, ..request.clone() })?;
    let request = Fork { at: Some(planned.cut.selector()), ..request };
    let mut names = Names::of(supplies, explore)?;
    let mut branches = Vec::new();
    for (row, equipment) in rows.iter_mut().zip(equipped) {
        let opening = supplies.kernel().open(&explore.session.id, equipment);
        let parent = supplies.runtime().block_on(opening);
        let made = parent.map_err(Error::from).and_then(|parent| {
            names.give(|label| {
                let request = Fork { label: Some(label), ..request.clone() };
                Ok(supplies.runtime().block_on(parent.fork(request))?)
            })
        });
        match made {
            Ok(Branched { forked, child }) => {
                row.session_id = Some(forked.child_session_id);
                row.label = Some(forked.label);
                branches.push(Some(child));
            }
            Err(error) => {
                row.fail(&error);
                branches.push(None);
            }
        }
    }
    Ok(branches)
}

/// Labels that are free, one after the other.
struct Names {
    begin: String,
    number: u64,
    taken: Vec<Label>,
}

impl Names {
    fn of(supplies: &Supplies, explore: &Explore) -> Result<Self> {
        let branches = supplies.kernel().engine().branches(&explore.session.id)?.branches;
        let taken = branches.into_iter().map(|branch| branch.label).collect();
        let begin = match &explore.label {
            Some(label) => format!("{label}-"),
            None => usual(&explore.session),
        };
        let names = Self { begin, number: 0, taken };
        // What cannot begin a label is told before anything is made.
        names.numbered(1)?;
        Ok(names)
    }

    /// Makes something under the next free label. One that another program takes meanwhile is
    /// passed over.
    fn give<T>(&mut self, mut make: impl FnMut(Label) -> Result<T>) -> Result<T> {
        loop {
            self.number += 1;
            let label = self.numbered(self.number)?;
            if self.taken.contains(&label) {
                continue;
            }
            match make(label) {
                Err(error) if is_taken(&error) => {}
                made => return made,
            }
        }
    }

    fn numbered(&self, number: u64) -> Result<Label> {
        let label = format!("{}{number}", self.begin).parse();
        Ok(label.map_err(|source| EngineError::Name { what: "label", source })?)
    }
}

/// What labels begin with where nobody says it: a fork's continuations bear its name.
fn usual(session: &Header) -> String {
    let label = session.label.as_str();
    match session.parent_id {
        Some(_) if label.len() <= LONGEST => format!("{label}."),
        _ => "try-".to_owned(),
    }
}

fn is_taken(error: &Error) -> bool {
    matches!(
        error,
        Error::Agent(forklore_agent::Error::Engine(EngineError::Store(
            StoreError::LabelTaken { .. }
        )))
    )
}
