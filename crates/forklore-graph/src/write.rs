//! Serializes quads in one of five RDF formats.

use std::io;
use std::str::FromStr;

use oxigraph::io::{JsonLdProfileSet, RdfFormat, RdfSerializer};
use oxigraph::model::Quad;

use crate::vocabulary::PREFIXES;

/// The output format of a graph. A format without named graphs omits the graph of each triple. The
/// session of an event remains identifiable, because a triple of the event names the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Turtle: triples without named graphs, in the most readable form.
    Turtle,
    /// N-Quads: one quad per line, with its named graph.
    NQuads,
    /// TriG: Turtle with named graphs.
    TriG,
    /// JSON-LD, with named graphs.
    JsonLd,
    /// RDF/XML: triples without named graphs.
    RdfXml,
}

impl Format {
    /// The names of the formats, as [`FromStr`] parses them.
    pub const WORDS: [&'static str; 5] = ["turtle", "nquads", "trig", "jsonld", "rdfxml"];

    /// Returns the corresponding format of the RDF library.
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

/// The error for a string that is not in [`Format::WORDS`].
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

/// Writes quads to `out` one by one, and returns their number.
///
/// # Errors
/// The first error among the quads, or an error of writing to `out`.
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
