//! Quads as files, in five forms.

use std::io;
use std::str::FromStr;

use oxigraph::io::{JsonLdProfileSet, RdfFormat, RdfSerializer};
use oxigraph::model::Quad;

use crate::vocabulary::PREFIXES;

/// How a graph is written. Forms without named graphs leave out in which session's graph a triple
/// stands, which its events tell too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Turtle: triples, the easiest to read.
    Turtle,
    /// N-Quads: a line each, with its named graph.
    NQuads,
    /// TriG: Turtle with named graphs.
    TriG,
    /// JSON-LD, with named graphs.
    JsonLd,
    /// RDF/XML: triples.
    RdfXml,
}

impl Format {
    /// The words that name them.
    pub const WORDS: [&'static str; 5] = ["turtle", "nquads", "trig", "jsonld", "rdfxml"];

    /// As the library knows it.
    #[must_use]
    pub fn rdf(self) -> RdfFormat {
        match self {
            Self::Turtle => RdfFormat::Turtle,
            Self::NQuads => RdfFormat::NQuads,
            Self::TriG => RdfFormat::TriG,
            Self::JsonLd => RdfFormat::JsonLd { profile: JsonLdProfileSet::empty() },
            Self::RdfXml => RdfFormat::RdfXml,
        }
    }
}

/// A text that names no form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a graph is written as turtle, nquads, trig, jsonld or rdfxml")]
pub struct NotAFormat;

impl FromStr for Format {
    type Err = NotAFormat;

    fn from_str(word: &str) -> Result<Self, NotAFormat> {
        match word {
            "turtle" => Ok(Self::Turtle),
            "nquads" => Ok(Self::NQuads),
            "trig" => Ok(Self::TriG),
            "jsonld" => Ok(Self::JsonLd),
            "rdfxml" => Ok(Self::RdfXml),
            _ => Err(NotAFormat),
        }
    }
}

/// Writes quads as they come; how many there were.
///
/// # Errors
/// The first error of the quads, or that `out` cannot be written.
pub fn write<E: From<io::Error>>(
    quads: impl IntoIterator<Item = Result<Vec<Quad>, E>>,
    format: Format,
    out: impl io::Write,
) -> Result<u64, E> {
    let rdf = format.rdf();
    let mut serializer = RdfSerializer::from_format(rdf);
    for (name, iri) in PREFIXES {
        serializer = serializer.with_prefix(name, iri).map_err(io::Error::other)?;
    }
    let mut to = serializer.for_writer(out);
    let mut count = 0;
    for some in quads {
        for quad in some? {
            if rdf.supports_datasets() {
                to.serialize_quad(&quad)?;
            } else {
                to.serialize_triple(quad.as_ref())?;
            }
            count += 1;
        }
    }
    to.finish()?;
    Ok(count)
}
