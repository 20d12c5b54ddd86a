//! The vocabulary of the graph. `ontology.ttl` defines its terms. A test checks that both contain
//! the same terms.

use oxigraph::model::NamedNodeRef;

/// The RDF vocabulary of forklore's graphs in Turtle: the definition of every class and predicate.
pub const ONTOLOGY: &str = include_str!("ontology.ttl");

/// The form that a graph of sessions must have, as SHACL shapes in Turtle.
pub const SHAPES: &str = include_str!("shapes.ttl");

/// The namespace of the RDF terms that forklore defines.
pub const NAMESPACE: &str = "https://github.com/forklore/forklore/ns#";

/// The prefixes of RDF namespaces: each name with its IRI. Outputs declare them, and queries may
/// use them without a declaration.
pub const PREFIXES: [(&str, &str); 6] = [
    ("fl", NAMESPACE),
    ("prov", "http://www.w3.org/ns/prov#"),
    ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
    ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
    ("owl", "http://www.w3.org/2002/07/owl#"),
];

macro_rules! words {
    ($($name:ident = $word:literal;)*) => {
        $(pub(crate) const $name: NamedNodeRef<'static> = NamedNodeRef::new_unchecked(
            concat!("https://github.com/forklore/forklore/ns#", $word),
        );)*

        const OWN: &[NamedNodeRef<'static>] = &[$($name),*];

        #[cfg(test)]
        const WORDS: &[&str] = &[$($word),*];
    };
}

macro_rules! prov {
    ($($name:ident = $word:literal;)*) => {
        $(pub(crate) const $name: NamedNodeRef<'static> = NamedNodeRef::new_unchecked(
            concat!("http://www.w3.org/ns/prov#", $word),
        );)*

        const PROV: &[NamedNodeRef<'static>] = &[$($name),*];
    };
}

words! {
    // Classes.
    SESSION = "Session";
    EVENT = "Event";
    MESSAGE = "Message";
    MODEL_CALL = "ModelCall";
    TOOL_CALL = "ToolCall";
    FORK = "Fork";
    // Predicates of sessions.
    SESSION_ID = "sessionId";
    FAMILY = "family";
    PARENT_SESSION = "parentSession";
    KIND = "kind";
    BRANCH = "branch";
    TITLE = "title";
    FORKED_AT_INDEX = "forkedAtIndex";
    FORKED_AT_SEQ = "forkedAtSeq";
    FORKED_AT_MESSAGE = "forkedAtMessage";
    FORKED_AT_TURN = "forkedAtTurn";
    FORKED_AT_EVENT_ID = "forkedAtEventId";
    INHERITED_EVENTS = "inheritedEvents";
    STRATEGY = "strategy";
    TOOL_CALL_POLICY = "toolCallPolicy";
    WORKSPACE = "workspace";
    PRINCIPAL = "principal";
    PERMISSION_CEILING = "permissionCeiling";
    PERMISSION = "permission";
    METADATA = "metadata";
    CONFIG = "config";
    DIALECT = "dialect";
    UPDATED = "updated";
    DEPTH = "depth";
    DETACHED = "detached";
    LEAF = "leaf";
    SOURCE = "source";
    COPY_OF = "copyOf";
    COPY_OF_INDEX = "copyOfIndex";
    OWN_EVENTS = "ownEvents";
    INPUT_TOKENS = "inputTokens";
    OUTPUT_TOKENS = "outputTokens";
    CACHED_TOKENS = "cachedTokens";
    COST = "cost";
    // Predicates of events.
    IN_SESSION = "session";
    SEQ = "seq";
    EVENT_ID = "eventId";
    EVENT_TYPE = "eventType";
    EVENT_CLASS = "eventClass";
    INDEX = "index";
    IN_TURN = "turn";
    STARTS_TURN = "startsTurn";
    ROLE = "role";
    TEXT = "text";
    DATA = "data";
    STEPS = "steps";
    ASKS = "asks";
    ANSWERS = "answers";
    IS_ERROR = "isError";
    SYNTHETIC = "synthetic";
    MODEL = "model";
    MODEL_CALL_ID = "modelCallId";
    // Predicates of tool calls and agents.
    CALL_ID = "callId";
    TOOL = "tool";
    NAME = "name";
}

prov! {
    ENTITY = "Entity";
    ACTIVITY = "Activity";
    AGENT = "Agent";
    SOFTWARE_AGENT = "SoftwareAgent";
    WAS_DERIVED_FROM = "wasDerivedFrom";
    WAS_GENERATED_BY = "wasGeneratedBy";
    WAS_ATTRIBUTED_TO = "wasAttributedTo";
    WAS_ASSOCIATED_WITH = "wasAssociatedWith";
    ACTED_ON_BEHALF_OF = "actedOnBehalfOf";
    HAD_PRIMARY_SOURCE = "hadPrimarySource";
    GENERATED_AT_TIME = "generatedAtTime";
    INVALIDATED_AT_TIME = "invalidatedAtTime";
    STARTED_AT_TIME = "startedAtTime";
    ENDED_AT_TIME = "endedAtTime";
    USED = "used";
}

/// Returns all terms of forklore and of PROV-O that a graph of sessions can contain.
pub(crate) fn terms() -> impl Iterator<Item = NamedNodeRef<'static>> {
    OWN.iter().chain(PROV).copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use oxigraph::io::{RdfFormat, RdfParser};
    use oxigraph::model::vocab::rdf;

    use super::*;

    /// Returns the names of forklore's terms that have an `rdf:type` in the text `turtle`, without
    /// their namespace.
    fn typed(turtle: &str) -> BTreeSet<String> {
        let parsed = RdfParser::from_format(RdfFormat::Turtle).for_slice(turtle);
        let quads = parsed.map(|quad| quad.expect("it is Turtle"));
        quads
            .filter(|quad| quad.predicate == rdf::TYPE)
            .filter_map(|quad| {
                Some(quad.subject.to_string().strip_prefix('<')?.strip_suffix('>')?.to_owned())
            })
            .filter_map(|iri| Some(iri.strip_prefix(NAMESPACE)?.to_owned()))
            .collect()
    }

    #[test]
    fn the_ontology_says_what_every_word_means_and_no_other() {
        let used: BTreeSet<String> = WORDS.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(typed(ONTOLOGY), used);
    }

    #[test]
    fn every_word_of_the_shapes_is_in_the_ontology() {
        let defined = typed(ONTOLOGY);
        let parsed = RdfParser::from_format(RdfFormat::Turtle).for_slice(SHAPES);
        for quad in parsed.map(|quad| quad.expect("it is Turtle")) {
            let object = quad.object.to_string();
            let word = object
                .strip_prefix('<')
                .and_then(|rest| rest.strip_prefix(NAMESPACE))
                .and_then(|rest| rest.strip_suffix('>'));
            if let Some(word) = word.filter(|word| !word.ends_with("Shape")) {
                assert!(defined.contains(word), "{word}");
            }
        }
    }
}
