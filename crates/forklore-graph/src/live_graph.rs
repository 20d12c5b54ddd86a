//! A graph that follows the feed of its journal.
//!
//! Before a question it reads what was committed since the last one: of a session that grew it
//! adds what was appended, of one that was renamed it replaces everything, and where a session was
//! deleted its whole family. So a question costs the question, and what was written since.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use forklore_core::{Header, SessionId};
use forklore_engine::{Engine, Result as Read};
use forklore_store::Error as StoreError;
use forklore_store::port::{Changes, Filter, Since};
use oxigraph::model::{GraphNameRef, NamedOrBlankNodeRef, Quad};
use oxigraph::store::Transaction;

use crate::graph::{Graph, LoadError};
use crate::projection::Projection;
use crate::{iri, session};

/// The graph, and the headers that it tells.
pub(crate) struct LiveGraph {
    pub(crate) graph: Graph,
    projected: BTreeMap<SessionId, Header>,
    /// The roots of the families in which a session was deleted.
    buried: BTreeSet<SessionId>,
    /// How far it follows the feed of the store.
    since: Since,
}

impl LiveGraph {
    /// The graph of everything in a store.
    pub(crate) fn of(engine: &Engine) -> Result<Self, LoadError> {
        // From before the first look on, so that nothing is missed.
        let since = Since::Mark(changes(engine, &Since::Now)?.mark);
        let headers = everybody(engine)?;
        let mut standing = Self {
            graph: Graph::of(Projection::of(engine, headers.clone()))?,
            projected: BTreeMap::new(),
            buried: BTreeSet::new(),
            since,
        };
        headers.into_iter().for_each(|header| standing.note(header));
        Ok(standing)
    }

    /// Tells what happened since.
    pub(crate) fn catch_up(&mut self, engine: &Engine) -> Result<(), LoadError> {
        let changes = match changes(engine, &self.since) {
            Ok(changes) => changes,
            // Another store is in its place, or an older copy.
            Err(forklore_engine::Error::Store(
                StoreError::ForeignMark(_) | StoreError::MarkExpired { .. },
            )) => {
                *self = Self::of(engine)?;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        if !changes.sessions.is_empty() {
            let ids = changes.sessions.into_iter().map(|change| change.session);
            let headers =
                ids.map(|id| Ok(engine.store().header(&id)?)).collect::<Read<Vec<_>>>()?;
            self.tell(engine, headers)?;
        }
        self.since = Since::Mark(changes.mark);
        Ok(())
    }

    /// Tells of sessions that were written to: what was added to them, or all of them, or their
    /// whole family where one of it was deleted.
    fn tell(&mut self, engine: &Engine, headers: Vec<Header>) -> Result<(), LoadError> {
        let dead = headers.iter().filter(|header| header.deleted.is_some());
        let mut buried = self.buried.clone();
        buried.extend(dead.map(|header| header.root_id.clone()));
        let mut anew = BTreeSet::new();
        let mut transaction = self.graph.store.start_transaction()?;
        for header in &headers {
            match self.projected.get(&header.id) {
                _ if buried.contains(&header.root_id) => {
                    anew.insert(header.root_id.clone());
                }
                Some(old) if old == header => {}
                Some(old) if only_grew(old, header) => {
                    tell_growth(engine, old, header, &mut transaction)?;
                }
                _ => {
                    forget(&header.id, &mut transaction)?;
                    tell(Projection::of(engine, vec![header.clone()]), &mut transaction)?;
                }
            }
        }
        let mut told: BTreeMap<_, _> =
            headers.into_iter().map(|header| (header.id.clone(), header)).collect();
        for root in anew {
            // The feed has named all of them.
            let family =
                self.projected.values().chain(told.values()).filter(|it| it.root_id == root);
            let ids: BTreeSet<_> = family.map(|header| header.id.clone()).collect();
            let family = ids.iter().map(|id| Ok(engine.store().header(id)?));
            let family = family.collect::<Read<Vec<_>>>()?;
            for header in &family {
                forget(&header.id, &mut transaction)?;
            }
            tell(Projection::of(engine, family.clone()), &mut transaction)?;
            told.extend(family.into_iter().map(|header| (header.id.clone(), header)));
        }
        transaction.commit()?;
        told.into_values().for_each(|header| self.note(header));
        Ok(())
    }

    fn note(&mut self, header: Header) {
        if header.deleted.is_some() {
            self.buried.insert(header.root_id.clone());
        }
        self.projected.insert(header.id.clone(), header);
    }
}

fn everybody(engine: &Engine) -> Read<Vec<Header>> {
    let filter = Filter { deleted: true, ..Filter::default() };
    Ok(engine.store().sessions(&filter, None, 0)?.all()?)
}

fn changes(engine: &Engine, since: &Since) -> Read<Changes> {
    Ok(engine.store().changes(since, 0, Duration::ZERO)?)
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
    let spent = Projection::usage(engine, new)?;
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
