//! Serializes quads in one of five RDF formats.

use std::io;

use forklore_api::GraphFormat as Format;
use oxigraph::io::{JsonLdProfileSet, RdfFormat, RdfSerializer};
use oxigraph::model::Quad;

use crate::vocabulary::PREFIXES;

/// Returns the RDF library's value for an output format.
#[must_use]
pub fn rdf_format(format: Format) -> RdfFormat {
    match format {
        Format::Turtle => RdfFormat::Turtle,
        Format::NQuads => RdfFormat::NQuads,
        Format::TriG => RdfFormat::TriG,
        Format::JsonLd => RdfFormat::JsonLd { profile: JsonLdProfileSet::empty() },
        Format::RdfXml => RdfFormat::RdfXml,
    }
}

/// Writes RDF quads to `out` one by one, in the given format. Returns the number of quads.
///
/// # Errors
/// The first error among the quads, or an error of writing to `out`.
pub fn write<E: From<io::Error>>(
    quads: impl IntoIterator<Item = Result<Vec<Quad>, E>>,
    format: Format,
    out: impl io::Write,
) -> Result<u64, E> {
    let rdf = rdf_format(format);
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
