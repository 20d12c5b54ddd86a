//! An in-memory graph that is updated from the change feed of the journal.
//!
//! Before each query, the graph applies the changes since the last query. If a session grew, the
//! graph gets the triples of the new events. If the label of a session changed, all triples of the
//! session are replaced. If a session was deleted, all triples of its family are replaced. The cost
//! of an update therefore depends only on the sessions that changed since the last query.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use forklore_core::{Header, SessionId};
use forklore_engine::{Engine, Result as Read};
use forklore_store::Error as StoreError;
use forklore_store::port::{Changes, Filter, Since};
use oxigraph::model::{GraphNameRef, NamedOrBlankNodeRef, Quad};
use oxigraph::store::Transaction;

use crate::graph::{Graph, LoadError};
use crate::projection::{Projection, check_parents};
use crate::{iri, session};

/// A graph of all sessions that is updated as the sessions change, and the headers of the sessions
/// in it.
pub(crate) struct LiveGraph {
    pub(crate) graph: Graph,
    projected: BTreeMap<SessionId, Header>,
    /// The root ids of families (all sessions with one root) in which at least one session was
    /// deleted.
    buried: BTreeSet<SessionId>,
    /// The position in the store's change feed up to which the graph contains all changes.
    since: Since,
}

impl LiveGraph {
    /// Builds the graph of all sessions in the store of `engine`.
    pub(crate) fn of(engine: &Engine) -> Result<Self, LoadError> {
        // The feed's mark is read before the sessions, so that the next update includes every
        // change during the build.
        let since = Since::Mark(changes(engine, &Since::Now)?.mark);
        let headers = everybody(engine)?;
        check_parents(&headers)?;
        let mut live = Self {
            graph: Graph::of(Projection::of(engine, headers.clone()))?,
            projected: BTreeMap::new(),
            buried: BTreeSet::new(),
            since,
        };
        headers.into_iter().for_each(|header| live.note(header));
        Ok(live)
    }

    /// Updates the graph with all changes of the store since its last update.
    pub(crate) fn catch_up(&mut self, engine: &Engine) -> Result<(), LoadError> {
        let changes = match changes(engine, &self.since) {
            Ok(changes) => changes,
            // Another store, or an older copy of this store, has replaced the store.
            Err(forklore_engine::Error::Store(
                StoreError::ForeignMark(_) | StoreError::MarkExpired { .. },
            )) => {
                *self = Self::of(engine)?;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        if self.lost_events(engine, &changes) {
            *self = Self::of(engine)?;
            return Ok(());
        }
        if !changes.sessions.is_empty() {
            let ids = changes.sessions.into_iter().map(|change| change.session);
            let headers =
                ids.map(|id| Ok(engine.store().header(&id)?)).collect::<Read<Vec<_>>>()?;
            self.tell(engine, headers)?;
        }
        self.since = Since::Mark(changes.mark);
        Ok(())
    }

    /// Checks whether events of a session in the graph may have been redacted.
    fn lost_events(&self, engine: &Engine, changes: &Changes) -> bool {
        let again = changes.sessions.iter().filter(|change| change.created);
        let mut again = again.filter(|change| self.projected.contains_key(&change.session));
        again.any(|change| {
            engine.store().redacted(&change.session).is_ok_and(|redacted| !redacted.is_empty())
        })
    }

    /// Updates the triples of the sessions that changed. `headers` are the new headers of these
    /// sessions.
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
        let mut reported: BTreeMap<_, _> =
            headers.into_iter().map(|header| (header.id.clone(), header)).collect();
        for root in anew {
            // `projected` and `reported` together contain every session of the family, because the
            // feed has reported all of them.
            let family =
                self.projected.values().chain(reported.values()).filter(|it| it.root_id == root);
            let ids: BTreeSet<_> = family.map(|header| header.id.clone()).collect();
            let family = ids.iter().map(|id| Ok(engine.store().header(id)?));
            let family = family.collect::<Read<Vec<_>>>()?;
            for header in &family {
                forget(&header.id, &mut transaction)?;
            }
            tell(Projection::of(engine, family.clone()), &mut transaction)?;
            reported.extend(family.into_iter().map(|header| (header.id.clone(), header)));
        }
        for principal in self.lost_principals(&reported) {
            transaction.clear_graph(iri::principal(principal).as_ref())?;
        }
        transaction.commit()?;
        reported.into_values().for_each(|header| self.note(header));
        Ok(())
    }

    /// Returns the principals that no session has any more. Sessions that were erased have none.
    fn lost_principals(&self, reported: &BTreeMap<SessionId, Header>) -> BTreeSet<&str> {
        let before = |header: &Header| self.projected.get(&header.id)?.principal.as_deref();
        let changed = reported.values().filter(|it| it.principal.as_deref() != before(it));
        let mut lost: BTreeSet<_> = changed.filter_map(before).collect();
        if !lost.is_empty() {
            let others = self.projected.values().filter(|it| !reported.contains_key(&it.id));
            for header in others.chain(reported.values()) {
                if let Some(principal) = &header.principal {
                    lost.remove(principal.as_str());
                }
            }
        }
        lost
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

/// Checks whether the triples of a session's earlier events are still correct. In this case an
/// update needs to add only the new events.
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

/// Updates the graph after a session got new events or a new header. Replaces the triples of the
/// header, and adds those of the new events.
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
        let texts: Vec<_> =
            transaction.quads_for_pattern(about, None, None, there).collect::<Result<_, _>>()?;
        texts.iter().for_each(|quad| transaction.remove(quad));
    }
    let mut out = Vec::new();
    let usage = Projection::usage(engine, new)?;
    session::describe(new, usage, &mut session::Principals::new(), &mut out);
    transaction.extend(&out);
    if new.own_events == old.own_events {
        return Ok(());
    }
    tell(Projection::since(engine, new.clone(), old.own_events)?, transaction)
}

/// Removes all triples from the named graph of a session.
fn forget(id: &SessionId, transaction: &mut Transaction<'_>) -> Result<(), LoadError> {
    let graph = iri::session(id);
    transaction.clear_graph(graph.as_ref())?;
    Ok(())
}
