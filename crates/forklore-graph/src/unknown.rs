//! Finds terms in a query that are in no graph of sessions, and suggests the terms that were
//! probably meant.

use std::collections::BTreeSet;
use std::fmt;

use oxigraph::model::{NamedNode, NamedNodeRef};
use spargebra::Query;

use crate::vocabulary::{self, PREFIXES};
use crate::walk::{self, Part};

/// How similar a term must be to be suggested, from 0 (nothing in common) to 1 (equal).
const SIMILAR: f64 = 0.7;

/// A term that a query uses but no graph of sessions contains, so nothing can match it. It has the
/// prefix `fl:` or `prov:`, but is not in the vocabulary of the graph.
///
/// [`Display`](fmt::Display) writes it as a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTerm {
    /// The term, with its prefix.
    pub term: String,
    /// The nearest term of the vocabulary, with its prefix. `None` if none is similar.
    pub nearest: Option<String>,
}

impl fmt::Display for UnknownTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no graph has {}", self.term)?;
        match &self.nearest {
            Some(nearest) => write!(f, "; the nearest term is {nearest}"),
            None => f.write_str("; forklore graph --ontology lists the terms"),
        }
    }
}

/// Returns the unknown terms of a query, each once, in the order of the query.
pub(crate) fn unknown_terms(query: &Query) -> Vec<UnknownTerm> {
    let terms: BTreeSet<&str> = vocabulary::terms().map(NamedNodeRef::as_str).collect();
    let mut found: Vec<UnknownTerm> = Vec::new();
    walk::visit(query, &mut |part| {
        let Part::Name(name) = part else { return };
        if terms.contains(name.as_str()) {
            return;
        }
        let Some(term) = own(name) else { return };
        if found.iter().all(|unknown| unknown.term != term) {
            let nearest = nearest(&term, &terms);
            found.push(UnknownTerm { term, nearest });
        }
    });
    found
}

/// Returns the name with its prefix if the prefix is `fl:` or `prov:`. Returns `None` for any other
/// name.
fn own(name: &NamedNode) -> Option<String> {
    prefixed(name.as_str()).filter(|term| term.starts_with("fl:") || term.starts_with("prov:"))
}

fn prefixed(iri: &str) -> Option<String> {
    let mut prefixes = PREFIXES.iter();
    prefixes.find_map(|(prefix, begin)| Some(format!("{prefix}:{}", iri.strip_prefix(begin)?)))
}

/// Returns the term of the vocabulary whose name is the most similar to that of `term`. The
/// returned term may have another prefix. Returns `None` if no term is similar enough.
fn nearest(term: &str, terms: &BTreeSet<&str>) -> Option<String> {
    let local = |term: &str| term.split_once(':').map_or("", |(_, local)| local).to_lowercase();
    let wanted = local(term);
    let candidates = terms.iter().filter_map(|iri| prefixed(iri));
    let rated = candidates.map(|candidate| {
        let same_prefix = candidate.split(':').next() == term.split(':').next();
        (strsim::jaro_winkler(&wanted, &local(&candidate)), same_prefix, candidate)
    });
    let best = rated
        .filter(|(rate, ..)| *rate >= SIMILAR)
        .max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then_with(|| b.2.cmp(&a.2)));
    best.map(|(.., candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use spargebra::SparqlParser;

    use super::*;

    fn found(text: &str) -> Vec<String> {
        let parser = PREFIXES.into_iter().fold(SparqlParser::new(), |parser, (name, iri)| {
            parser.with_prefix(name, iri).unwrap()
        });
        let query = parser.parse_query(text).unwrap();
        unknown_terms(&query).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn unknown_terms_are_named_with_the_nearest_one() {
        let none: [&str; 0] = [];
        assert_eq!(found("SELECT ?b { ?t a fl:Message ; prov:used ?b ; rdfs:label ?l }"), none);
        let text = "CONSTRUCT { ?t fl:brnach ?b } { ?t fl:brnach ?b ; a fl:Mesage
            FILTER EXISTS { ?t prov:startedAt|fl:used ?x . VALUES ?y { fl:qqq } } }";
        assert_eq!(
            found(text),
            [
                "no graph has fl:brnach; the nearest term is fl:branch",
                "no graph has fl:Mesage; the nearest term is fl:Message",
                "no graph has prov:startedAt; the nearest term is prov:startedAtTime",
                "no graph has fl:used; the nearest term is prov:used",
                "no graph has fl:qqq; forklore graph --ontology lists the terms",
            ]
        );
        assert_eq!(found("ASK { ?t fl:text \"fl:nothing\" } # fl:nobody"), none);
    }
}
