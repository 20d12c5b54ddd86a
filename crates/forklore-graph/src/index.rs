//! A persistent index: the quads of a store's sessions in a SQLite file of its own, in the cache
//! folder of the store ([`forklore_index`]).
//!
//! Before each query, the module `update` brings the index up to date: it reads the sessions that
//! changed since the last query.

mod dataset;
mod quads;
mod scan;
mod sessions;
mod terms;
mod update;

use forklore_index::{IndexFile, Layout};

pub(crate) use dataset::Dataset;
pub(crate) use forklore_index::Fault;
pub(crate) use sessions::Selection;

use forklore_index::Result;

/// The tables of the index. `form` is the version of the tables. The version must change when the
/// tables change, or when a projection makes other quads. It contains the version of forklore, so
/// it also changes with each release.
pub(crate) static LAYOUT: Layout = Layout {
    file: "graph.db",
    form: concat!("2 ", env!("CARGO_PKG_VERSION")),
    tables: SCHEMA,
    clear: "DELETE FROM quad; DELETE FROM subject; DELETE FROM session; DELETE FROM term;",
};

const SCHEMA: &str = "
CREATE TABLE term (
    id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, kind INTEGER NOT NULL, value TEXT NOT NULL,
    extra TEXT);
CREATE TABLE quad (
    s INTEGER NOT NULL, p INTEGER NOT NULL, o INTEGER NOT NULL, g INTEGER NOT NULL,
    PRIMARY KEY (s, p, o, g)) WITHOUT ROWID;
CREATE INDEX quad_by_predicate ON quad (p, o, s, g);
CREATE TABLE subject (
    g INTEGER NOT NULL, s INTEGER NOT NULL, PRIMARY KEY (g, s)) WITHOUT ROWID;
CREATE TABLE session (
    id TEXT PRIMARY KEY, graph INTEGER NOT NULL, principal INTEGER, root TEXT NOT NULL,
    parent TEXT, workspace TEXT NOT NULL, deleted INTEGER NOT NULL, pending INTEGER NOT NULL,
    indexed_events INTEGER, indexed_label TEXT, indexed_deleted INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID;
CREATE INDEX session_by_root ON session (root);
CREATE INDEX session_by_parent ON session (parent);
CREATE INDEX session_by_workspace ON session (workspace);
CREATE INDEX session_by_principal ON session (principal) WHERE principal NOT NULL;
CREATE INDEX session_pending ON session (root) WHERE pending;
";

/// An open index.
pub(crate) struct Index(pub(crate) IndexFile);
