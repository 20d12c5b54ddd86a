//! Answers as files, in the forms that the W3C has for them.

use std::io;
use std::str::FromStr;

use oxigraph::io::{JsonLdProfileSet, RdfFormat, RdfSerializer};
use oxigraph::sparql::results::{QueryResultsFormat, QueryResultsSerializer};

use crate::query::Answer;
use crate::vocabulary::PREFIXES;

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultForm {
    /// SPARQL's JSON; triples as JSON-LD.
    Json,
    /// CSV; triples as N-Triples.
    Csv,
    /// SPARQL's XML; triples as RDF/XML.
    Xml,
    /// Triples as Turtle, and everything else as CSV.
    Turtle,
}

/// A text that names no form.
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
    /// Whether more than the limit was there.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        match self {
            Self::Rows { more, .. } | Self::Triples { more, .. } => *more,
            Self::Truth(_) => false,
        }
    }

    /// Writes the answer.
    ///
    /// # Errors
    /// When `out` cannot be written.
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
