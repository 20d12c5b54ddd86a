//! The tables of the index.
//!
//! The index contains the position and the words of each message, but not its text: for each word,
//! the table `words` (FTS5, contentless) has only the positions at which the word occurs.

use forklore_index::Layout;

pub(crate) static LAYOUT: Layout = Layout {
    file: "search.db",
    form: concat!("3 ", env!("CARGO_PKG_VERSION")),
    tables: TABLES,
    clear: "DELETE FROM document; DELETE FROM path; DELETE FROM touch; DELETE FROM facet; DELETE FROM open_call; DELETE FROM session;
        INSERT INTO words (words) VALUES ('delete-all');",
};

/// The statements that create the tables.
///
/// SQLite collects the words of a transaction in memory (`hashsize`) and writes them at its end as
/// one segment. SQLite merges 16 segments at once (`automerge`; the default is 4). So it merges
/// each word less often, and a search looks a word up in a few more segments. A row of a segment
/// (`pgsz`) fits into a page of the file. The tokenizer only separates words at ASCII characters
/// that are neither letters nor digits; any other character is folded or separated before
/// ([`crate::document`]).
///
/// `document.ordinal` is the number of inheritable events up to the document's event. A descendant
/// that inherits at least as many events has this event in its history. `session.read_to` is the
/// ordinal of the last event that was read. `session.next_seq` is the seq of the next event to
/// read, in the session's own log. `document.part` is 0 for a conversation event, 1 for the title
/// and the label of a session, and 2 for a summary. `document.position` is the conversation index.
const TABLES: &str = "
CREATE TABLE session (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, root TEXT NOT NULL, parent TEXT,
    is_branch INTEGER NOT NULL, inherits INTEGER NOT NULL, workspace TEXT NOT NULL,
    label TEXT NOT NULL, title TEXT, agent TEXT, updated INTEGER NOT NULL, deleted INTEGER NOT NULL,
    copy_of TEXT, copy_index INTEGER, bytes INTEGER NOT NULL, pending INTEGER NOT NULL,
    next_seq INTEGER NOT NULL, read_to INTEGER NOT NULL, read_bytes INTEGER NOT NULL DEFAULT 0,
    head_row INTEGER);
CREATE INDEX session_by_root ON session (root);
CREATE INDEX session_by_parent ON session (parent);
CREATE INDEX session_by_workspace ON session (workspace);
CREATE INDEX session_pending ON session (number) WHERE pending;
CREATE TABLE document (
    number INTEGER PRIMARY KEY, session INTEGER NOT NULL, part INTEGER NOT NULL,
    ordinal INTEGER NOT NULL, seq INTEGER NOT NULL, position INTEGER NOT NULL, ts INTEGER NOT NULL,
    tool INTEGER);
CREATE INDEX document_by_session ON document (session, part, position);
CREATE TABLE facet (
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, value TEXT NOT NULL COLLATE NOCASE,
    UNIQUE (kind, value));
CREATE TABLE open_call (
    session INTEGER NOT NULL, call TEXT NOT NULL, tool TEXT NOT NULL, PRIMARY KEY (session, call)
    ) WITHOUT ROWID;
CREATE TABLE path (number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
CREATE TABLE touch (
    path INTEGER NOT NULL, document INTEGER NOT NULL, PRIMARY KEY (path, document)) WITHOUT ROWID;
CREATE INDEX touch_by_document ON touch (document);
CREATE VIRTUAL TABLE words USING fts5(
    text, reasoning, call, result, title, label, summary, facet, content = '', contentless_delete = 1,
    tokenize = \"ascii\");
INSERT INTO words (words, rank) VALUES ('hashsize', 67108864);
INSERT INTO words (words, rank) VALUES ('pgsz', 16200);
INSERT INTO words (words, rank) VALUES ('automerge', 16);
INSERT INTO words (words, rank) VALUES ('crisismerge', 32);
";
