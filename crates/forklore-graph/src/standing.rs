//! A graph that is kept in step with its journal.
//!
//! Before a question it looks at every header: of a session that grew it tells what was added, of
//! one that was renamed everything, and where a session was deleted its whole family.

use std::collections::{BTreeMap, BTreeSet};

use forklore_core::{Header, SessionId};
use forklore_engine::{Engine, Result as Read};
use forklore_store::port::Filter;
use oxigraph::model::{GraphNameRef, NamedOrBlankNodeRef, Quad};
use oxigraph::store::Transaction;

use crate::graph::{Graph, LoadError};
use crate::projection::Projection;
use crate::{iri, session};

/// The graph, and the headers that it tells.
pub(crate) struct Standing {
    pub(crate) graph: Graph,
    told: BTreeMap<SessionId, Header>,
}

impl Standing {
    /// The graph of everything in a store.
    pub(crate) fn of(engine: &Engine) -> Result<Self, LoadError> {
        let headers = everybody(engine)?;
        let told = headers.iter().map(|header| (header.id.clone(), header.clone())).collect();
        Ok(Self { graph: Graph::of(Projection::of(engine, headers))?, told })
    }

    /// Tells what happened since.
    pub(crate) fn catch_up(&mut self, engine: &Engine) -> Result<(), LoadError> {
        let headers = everybody(engine)?;
        let changed: Vec<_> =
            headers.iter().filter(|header| self.told.get(&header.id) != Some(*header)).collect();
        if changed.is_empty() && headers.len() == self.told.len() {
            return Ok(());
        }
        let buried: BTreeSet<_> = headers
            .iter()
            .filter(|header| header.deleted.is_some())
            .map(|header| &header.root_id)
            .collect();
        let mut anew = BTreeSet::new();
        let mut transaction = self.graph.store.start_transaction()?;
        for header in changed {
            match self.told.get(&header.id) {
                _ if buried.contains(&header.root_id) => {
                    anew.insert(header.root_id.clone());
                }
                Some(old) if only_grew(old, header) => {
                    tell_growth(engine, old, header, &mut transaction)?;
                }
                _ => {
                    forget(&header.id, &mut transaction)?;
                    tell(Projection::of(engine, vec![header.clone()]), &mut transaction)?;
                }
            }
        }
        for root in anew {
            let family = headers.iter().filter(|header| header.root_id == root).cloned();
            let family: Vec<_> = family.collect();
            for header in &family {
                forget(&header.id, &mut transaction)?;
            }
            tell(Projection::of(engine, family), &mut transaction)?;
        }
        transaction.commit()?;
        self.told = headers.into_iter().map(|header| (header.id.clone(), header)).collect();
        Ok(())
    }
}

fn everybody(engine: &Engine) -> Read<Vec<Header>> {
    let filter = Filter { deleted: true, ..Filter::default() };
    Ok(engine.store().sessions(&filter, None, 0)?.all()?)
}

/// Whether its events are told rightly, as far as they are told.
fn only_grew(old: &Header, new: &Header) -> bool {
    old.label == new.label && old.deleted == new.deleted && old.own_events <= new.own_events
}

fn tell(
    quads: impl Iterator<Item = Read<Vec<Quad>>>,
    transaction: &mut Transaction<'_>,
) -> Result<(), LoadError> {
    for some in quads {
        transaction.extend(&some?);
    }
    Ok(())
}

/// Tells a header again, and the events since.
fn tell_growth(
    engine: &Engine,
    old: &Header,
    new: &Header,
    transaction: &mut Transaction<'_>,
) -> Result<(), LoadError> {
    let graph = iri::session(&new.id);
    for subject in [graph.clone(), iri::agent(&new.id)] {
        let about = Some(NamedOrBlankNodeRef::from(subject.as_ref()));
        let there = Some(GraphNameRef::from(graph.as_ref()));
        let said: Vec<_> =
            transaction.quads_for_pattern(about, None, None, there).collect::<Result<_, _>>()?;
        said.iter().for_each(|quad| transaction.remove(quad));
    }
    let mut out = Vec::new();
    let spent = Projection::spent(engine, new)?;
    session::describe(new, spent, &mut session::Principals::new(), &mut out);
    transaction.extend(&out);
    if new.own_events == old.own_events {
        return Ok(());
    }
    tell(Projection::since(engine, new.clone(), old.own_events)?, transaction)
}

/// Takes everything away that stands in the graph of a session.
fn forget(id: &SessionId, transaction: &mut Transaction<'_>) -> Result<(), LoadError> {
    let graph = iri::session(id);
    transaction.clear_graph(graph.as_ref())?;
    Ok(())
}
