//! The dictionary of an index: RDF terms and the numbers by which the quads refer to them.
//!
//! Each term is stored with its hash. The index finds the number of a term by this hash. When it
//! reads a term, it compares the hash with the term. If they differ, the stored term is damaged.

use std::collections::HashMap;

use oxigraph::model::vocab::xsd;
use oxigraph::model::{BlankNode, Literal, NamedNode, NamedNodeRef, Term, TermRef};
use rusqlite::{Connection, OptionalExtension, Row};

use super::{Fault, Result};

const IRI: u8 = 0;
const BLANK: u8 = 1;
const SIMPLE: u8 = 2;
const LANGUAGE: u8 = 3;
const TYPED: u8 = 4;
/// The kind of a literal whose datatype is the first of [`DATATYPES`]. The kinds for the other
/// datatypes follow, in the same order.
const COMMON: u8 = 5;
/// Frequent datatypes of the literals in a graph of sessions. A literal of one of them is stored
/// without the name of its datatype.
const DATATYPES: [NamedNodeRef<'static>; 5] =
    [xsd::INTEGER, xsd::DATE_TIME, xsd::BOOLEAN, xsd::DOUBLE, xsd::BASE_64_BINARY];

/// Length of a hash in bytes. The texts of sessions are untrusted, so a hash must be long enough
/// that nobody can make two terms with the same hash.
const HASH: usize = 16;

/// A hash that identifies a term.
pub(super) type Hash = [u8; HASH];

/// A term in the form in which the table `term` stores it.
#[derive(Clone, Copy, Debug)]
struct Stored<'a> {
    kind: u8,
    value: &'a str,
    extra: Option<&'a str>,
}

impl<'a> Stored<'a> {
    fn of(term: TermRef<'a>) -> Self {
        let (kind, value, extra) = match term {
            TermRef::NamedNode(name) => (IRI, name.as_str(), None),
            TermRef::BlankNode(node) => (BLANK, node.as_str(), None),
            TermRef::Literal(literal) => {
                let (value, datatype) = (literal.value(), literal.datatype());
                let common = (COMMON..).zip(DATATYPES).find(|(_, common)| *common == datatype);
                match (literal.language(), common) {
                    (Some(language), _) => (LANGUAGE, value, Some(language)),
                    (None, Some((kind, _))) => (kind, value, None),
                    (None, None) if datatype == xsd::STRING => (SIMPLE, value, None),
                    (None, None) => (TYPED, value, Some(datatype.as_str())),
                }
            }
        };
        Self { kind, value, extra }
    }

    fn hash(self) -> Hash {
        let mut hasher = blake3::Hasher::new();
        // Neither a language nor an IRI contains the byte 0.
        hasher.update(&[self.kind]).update(self.extra.unwrap_or_default().as_bytes());
        hasher.update(&[0]).update(self.value.as_bytes());
        let mut hash = [0; HASH];
        hasher.finalize_xof().fill(&mut hash);
        hash
    }

    fn term(self) -> Option<Term> {
        let value = self.value;
        Some(match (self.kind, self.extra) {
            (IRI, None) => NamedNode::new_unchecked(value).into(),
            (BLANK, None) => BlankNode::new_unchecked(value).into(),
            (SIMPLE, None) => Literal::new_simple_literal(value).into(),
            (LANGUAGE, Some(language)) => {
                Literal::new_language_tagged_literal_unchecked(value, language).into()
            }
            (TYPED, Some(datatype)) => {
                Literal::new_typed_literal(value, NamedNode::new_unchecked(datatype)).into()
            }
            (kind, None) => {
                let datatype = DATATYPES.get(usize::from(kind.checked_sub(COMMON)?))?;
                Literal::new_typed_literal(value, *datatype).into()
            }
            _ => return None,
        })
    }
}

/// Returns the number of a term, or `None` if the index does not contain the term.
pub(super) fn find(conn: &Connection, term: TermRef<'_>) -> Result<Option<i64>> {
    found(conn, &Stored::of(term).hash())
}

fn found(conn: &Connection, hash: &Hash) -> Result<Option<i64>> {
    let mut statement = conn.prepare_cached("SELECT id FROM term WHERE hash = ?")?;
    Ok(statement.query_row([hash], |row| row.get(0)).optional()?)
}

/// Returns the term whose number is `id`.
///
/// # Errors
/// `Damaged` if no term has this number, or if the term does not match its hash.
pub(super) fn read(conn: &Connection, id: i64) -> Result<Term> {
    let sql = "SELECT kind, value, extra, hash FROM term WHERE id = ?";
    let term = conn.prepare_cached(sql)?.query_row([id], |row| Ok(term_of(row))).optional()?;
    term.transpose()?.flatten().ok_or(Fault::Damaged("a term is not the one that was stored"))
}

fn term_of(row: &Row<'_>) -> Result<Option<Term>> {
    let text = |at| row.get_ref(at)?.as_str().map_err(rusqlite::Error::from);
    let optional = |at| row.get_ref(at)?.as_str_or_null().map_err(rusqlite::Error::from);
    let stored = Stored { kind: row.get(0)?, value: text(1)?, extra: optional(2)? };
    let hash: Hash = row.get(3)?;
    Ok(if stored.hash() == hash { stored.term() } else { None })
}

/// A writer that adds terms to an index and caches their numbers.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    recent: HashMap<Hash, i64>,
}

/// Maximum number of terms whose numbers are cached.
const RECENT: usize = 1 << 16;

impl Numbers {
    /// Returns the number of a term. Adds the term to the index if it is not there.
    pub(super) fn of<'a>(
        &mut self,
        conn: &Connection,
        term: impl Into<TermRef<'a>>,
    ) -> Result<i64> {
        let stored = Stored::of(term.into());
        let hash = stored.hash();
        if let Some(id) = self.recent.get(&hash) {
            return Ok(*id);
        }
        let sql = "INSERT INTO term (hash, kind, value, extra) VALUES (?, ?, ?, ?)
            ON CONFLICT (hash) DO NOTHING";
        let Stored { kind, value, extra } = stored;
        let added = conn.prepare_cached(sql)?.execute((hash, kind, value, extra))?;
        let id = match added {
            0 => found(conn, &hash)?.ok_or(Fault::Damaged("a term is missing"))?,
            _ => conn.last_insert_rowid(),
        };
        if self.recent.len() >= RECENT {
            self.recent.clear();
        }
        self.recent.insert(hash, id);
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index() -> Connection {
        let conn = Connection::open_in_memory().unwrap();
        super::super::LAYOUT.make(&conn).unwrap();
        conn
    }

    #[test]
    fn every_kind_of_term_comes_back_under_one_number() {
        let conn = index();
        let decimal = xsd::DECIMAL;
        let mut terms: Vec<Term> = vec![
            NamedNode::new_unchecked("urn:a").into(),
            BlankNode::new_unchecked("urn:a").into(),
            Literal::new_simple_literal("urn:a").into(),
            Literal::new_simple_literal("").into(),
            Literal::new_language_tagged_literal("urn:a", "en").unwrap().into(),
            Literal::new_typed_literal("1.5", decimal).into(),
        ];
        terms.extend(DATATYPES.map(|datatype| Literal::new_typed_literal("1", datatype).into()));
        let mut numbers = Numbers::default();
        let first: Vec<_> =
            terms.iter().map(|term| numbers.of(&conn, term.as_ref()).unwrap()).collect();
        let again = |term: &Term| Numbers::default().of(&conn, term.as_ref()).unwrap();
        assert_eq!(terms.iter().map(again).collect::<Vec<_>>(), first);
        let back: Vec<_> = first.iter().map(|id| read(&conn, *id).unwrap()).collect();
        assert_eq!(back, terms);
        let other = Literal::new_simple_literal("other");
        assert_eq!(find(&conn, other.as_ref().into()).unwrap(), None);
    }

    #[test]
    fn a_changed_term_is_damage() {
        let conn = index();
        let name = NamedNode::new_unchecked("urn:a");
        let id = Numbers::default().of(&conn, name.as_ref()).unwrap();
        conn.execute("UPDATE term SET value = 'urn:b'", []).unwrap();
        assert!(matches!(read(&conn, id), Err(Fault::Damaged(_))));
        assert!(matches!(read(&conn, id + 1), Err(Fault::Damaged(_))));
    }
}
