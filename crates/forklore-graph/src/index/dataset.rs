//! An index in the form in which the SPARQL library reads it: one state of the index, limited to
//! the sessions that a query is about.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use forklore_index::state;
use oxigraph::model::vocab::rdf;
use oxigraph::model::{Term, TermRef};
use rusqlite::Connection;
use spareval::{InternalQuad, QueryableDataset};

use super::scan::{Numbers, Pattern, Scan};
use super::sessions::{self, Selection};
use super::{Fault, Index, Result, terms};

/// Maximum number of terms that are cached while a query runs. A term of more than `SHORT` bytes is
/// not cached.
const RECENT: usize = 1 << 14;
const SHORT: usize = 256;

/// A term of a query: its number in the index, or the term if the index does not contain it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum IndexTerm {
    /// The number of a term in the index.
    Stored(i64),
    /// A term that the index does not contain, such as a computed number.
    Other(Term),
}

/// One state of an index, in which a query finds its quads.
pub(crate) struct Dataset(Rc<Snapshot>);

/// One state of an index: a read transaction, limited to the graphs of some sessions.
pub(super) struct Snapshot {
    index: Index,
    /// The numbers of the graphs of the sessions that the query is about, in ascending order.
    /// `None` means the graphs of all sessions.
    graphs: Option<Vec<i64>>,
    rdf_type: Option<i64>,
    predicates: Vec<i64>,
    recent: RefCell<HashMap<i64, Term>>,
    named: OnceCell<Vec<i64>>,
}

impl Dataset {
    /// Begins to read an index after it was brought up to date for the sessions of `selection`.
    /// `epoch` is how often the index had been emptied at that time.
    ///
    /// # Errors
    /// `Emptied` if another process emptied the index meanwhile.
    pub(crate) fn of(index: Index, epoch: i64, selection: &Selection) -> Result<Self> {
        index.0.renew();
        let conn = index.0.conn();
        // All later statements of the connection see the state that the first one sees.
        conn.execute_batch("BEGIN")?;
        if state(conn)?.epoch != epoch {
            return Err(Fault::Emptied);
        }
        let graphs = sessions::graphs(conn, selection)?;
        let rdf_type = terms::find(conn, rdf::TYPE.into())?;
        let predicates = predicates(conn)?;
        let (recent, named) = <_>::default();
        let snapshot = Snapshot { index, graphs, rdf_type, predicates, recent, named };
        Ok(Self(Rc::new(snapshot)))
    }
}

/// Returns the numbers of all predicates. There are few, and one search per predicate finds the
/// next one.
fn predicates(conn: &Connection) -> Result<Vec<i64>> {
    let sql = "SELECT p FROM quad INDEXED BY quad_by_predicate WHERE p > ? ORDER BY p LIMIT 1";
    let mut statement = conn.prepare_cached(sql)?;
    let mut found: Vec<i64> = Vec::new();
    loop {
        let last = found.last().copied().unwrap_or(i64::MIN);
        match statement.query_map([last], |row| row.get(0))?.next().transpose()? {
            Some(next) => found.push(next),
            None => return Ok(found),
        }
    }
}

impl Snapshot {
    pub(super) fn conn(&self) -> &Connection {
        self.index.0.conn()
    }

    pub(super) fn renew(&self) {
        self.index.0.renew();
    }

    pub(super) fn graphs(&self) -> Option<&[i64]> {
        self.graphs.as_deref()
    }

    pub(super) fn rdf_type(&self) -> Option<i64> {
        self.rdf_type
    }

    pub(super) fn predicates(&self) -> &[i64] {
        &self.predicates
    }

    /// Checks whether a quad of the index belongs to a session that the query is about.
    pub(super) fn contains(&self, [_, _, _, graph]: Numbers) -> bool {
        self.contains_graph(graph)
    }

    fn contains_graph(&self, graph: i64) -> bool {
        self.graphs.as_ref().is_none_or(|graphs| graphs.binary_search(&graph).is_ok())
    }

    fn read(&self, id: i64) -> Result<Term> {
        if let Some(term) = self.recent.borrow().get(&id) {
            return Ok(term.clone());
        }
        let term = terms::read(self.conn(), id)?;
        let length = match term.as_ref() {
            TermRef::NamedNode(name) => name.as_str().len(),
            TermRef::BlankNode(node) => node.as_str().len(),
            TermRef::Literal(literal) => literal.value().len(),
        };
        if length <= SHORT {
            let mut recent = self.recent.borrow_mut();
            if recent.len() >= RECENT {
                recent.clear();
            }
            recent.insert(id, term.clone());
        }
        Ok(term)
    }

    /// Returns the numbers of the named graphs of all sessions that the query is about.
    fn named_graphs(&self) -> Result<&[i64]> {
        if let Some(named) = self.named.get() {
            return Ok(named);
        }
        let mut statement = self.conn().prepare_cached("SELECT DISTINCT g FROM subject")?;
        let found = statement.query_map([], |row| row.get(0))?;
        let mut found: Vec<i64> = found.collect::<rusqlite::Result<_>>()?;
        found.retain(|graph| self.contains_graph(*graph));
        Ok(self.named.get_or_init(|| found))
    }
}

impl QueryableDataset<'static> for Dataset {
    type InternalTerm = IndexTerm;
    type Error = Fault;

    fn internal_quads_for_pattern(
        &self,
        subject: Option<&IndexTerm>,
        predicate: Option<&IndexTerm>,
        object: Option<&IndexTerm>,
        graph_name: Option<Option<&IndexTerm>>,
    ) -> impl Iterator<Item = Result<InternalQuad<IndexTerm>>> + use<> {
        let snapshot = Rc::clone(&self.0);
        let number = |term: Option<&IndexTerm>| match term {
            None => Ok(None),
            Some(IndexTerm::Stored(number)) => Ok(Some(*number)),
            Some(IndexTerm::Other(_)) => Err(()),
        };
        let pattern = || {
            // Every quad of an index is in a named graph.
            let graph = graph_name.map(|name| name.ok_or(())).transpose()?;
            let (s, p, o) = (number(subject)?, number(predicate)?, number(object)?);
            Ok::<_, ()>(Pattern { s, p, o, g: number(graph)? })
        };
        let scan = match pattern() {
            Ok(pattern) => Scan::new(snapshot, pattern),
            Err(()) => Scan::empty(snapshot),
        };
        scan.map(|quad| {
            let [s, p, o, g] = quad?.map(IndexTerm::Stored);
            Ok(InternalQuad { subject: s, predicate: p, object: o, graph_name: Some(g) })
        })
    }

    fn internal_named_graphs(&self) -> impl Iterator<Item = Result<IndexTerm>> + use<> {
        let (failed, found) = match self.0.named_graphs() {
            Ok(found) => (None, found.to_vec()),
            Err(fault) => (Some(Err(fault)), Vec::new()),
        };
        failed.into_iter().chain(found.into_iter().map(|graph| Ok(IndexTerm::Stored(graph))))
    }

    fn contains_internal_graph_name(&self, graph_name: &IndexTerm) -> Result<bool> {
        let IndexTerm::Stored(graph) = graph_name else { return Ok(false) };
        if !self.0.contains_graph(*graph) {
            return Ok(false);
        }
        let mut statement = self.0.conn().prepare_cached("SELECT 1 FROM subject WHERE g = ?")?;
        Ok(statement.exists([graph])?)
    }

    fn internalize_term(&self, term: Term) -> Result<IndexTerm> {
        Ok(match terms::find(self.0.conn(), term.as_ref())? {
            Some(number) => IndexTerm::Stored(number),
            None => IndexTerm::Other(term),
        })
    }

    fn externalize_term(&self, term: IndexTerm) -> Result<Term> {
        match term {
            IndexTerm::Stored(number) => self.0.read(number),
            IndexTerm::Other(term) => Ok(term),
        }
    }
}
