//! Serializes the answers to queries in the result formats of the W3C.

use std::io;
use std::str::FromStr;

use oxigraph::io::{JsonLdProfileSet, RdfFormat, RdfSerializer};
use oxigraph::sparql::results::{QueryResultsFormat, QueryResultsSerializer};

use crate::query::Answer;
use crate::vocabulary::PREFIXES;

/// The output format of the answer to a SPARQL query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultForm {
    /// Rows and truth values in the format SPARQL Query Results JSON; triples as JSON-LD.
    Json,
    /// Rows and truth values as CSV; triples as N-Triples.
    Csv,
    /// Rows and truth values in the format SPARQL Query Results XML; triples as RDF/XML.
    Xml,
    /// Rows and truth values as CSV; triples as Turtle.
    Turtle,
}

/// The error for an unknown output format: a string that is not `json`, `csv` or `xml`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an answer is written as a table, json, csv or xml")]
pub struct NotAResultForm;

impl FromStr for ResultForm {
    type Err = NotAResultForm;

    fn from_str(word: &str) -> Result<Self, NotAResultForm> {
        match word {
            "json" => Ok(Self::Json),
            "csv" => Ok(Self::Csv),
            "xml" => Ok(Self::Xml),
            _ => Err(NotAResultForm),
        }
    }
}

impl Answer {
    /// Checks whether the answer is incomplete, because there are more rows or triples than
    /// [`Query::limit`](crate::Query::limit) allows.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        match self {
            Self::Rows { more, .. } | Self::Triples { more, .. } => *more,
            Self::Truth(_) => false,
        }
    }

    /// Writes the answer to `out` in the format `form`.
    ///
    /// # Errors
    /// If writing to `out` fails.
    pub fn write(&self, form: ResultForm, out: &mut dyn io::Write) -> io::Result<()> {
        let serializer = QueryResultsSerializer::from_format(match form {
            ResultForm::Json => QueryResultsFormat::Json,
            ResultForm::Csv | ResultForm::Turtle => QueryResultsFormat::Csv,
            ResultForm::Xml => QueryResultsFormat::Xml,
        });
        match self {
            Self::Truth(truth) => serializer.serialize_boolean_to_writer(out, *truth).map(drop),
            Self::Rows { variables, rows, .. } => {
                let mut to = serializer.serialize_solutions_to_writer(out, variables.clone())?;
                for row in rows {
                    let cells = variables.iter().zip(row);
                    to.serialize(cells.filter_map(|(name, cell)| Some((name, cell.as_ref()?))))?;
                }
                to.finish().map(drop)
            }
            Self::Triples { triples, .. } => {
                let mut serializer = RdfSerializer::from_format(match form {
                    ResultForm::Json => RdfFormat::JsonLd { profile: JsonLdProfileSet::empty() },
                    ResultForm::Csv => RdfFormat::NTriples,
                    ResultForm::Xml => RdfFormat::RdfXml,
                    ResultForm::Turtle => RdfFormat::Turtle,
                });
                for (name, iri) in PREFIXES {
                    serializer = serializer.with_prefix(name, iri).map_err(io::Error::other)?;
                }
                let mut to = serializer.for_writer(out);
                for triple in triples {
                    to.serialize_triple(triple)?;
                }
                to.finish().map(drop)
            }
        }
    }
}
