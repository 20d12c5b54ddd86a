//! Builds the IRIs of the subjects in the graph. An id may contain letters of any script. A path or
//! a principal may contain any character. All bytes except ASCII letters, digits and `-._~` are
//! therefore percent-encoded.

use std::fmt::Write;

use forklore_core::{Origin, SessionId};
use oxigraph::model::NamedNode;

const SESSION: &str = "urn:forklore:session:";

/// Returns the IRI of a session, which is also the IRI of its named graph.
#[must_use]
pub fn session(id: &SessionId) -> NamedNode {
    named(SESSION, id.as_str(), "")
}

#[cfg(test)]
/// Parses the IRI of a session, and returns the session's id. Returns `None` for any other IRI.
pub(crate) fn session_id(iri: &str) -> Option<SessionId> {
    decoded(iri.strip_prefix(SESSION)?)?.parse().ok()
}

/// Returns the IRI of an event. It contains the event's origin (the session that wrote the event,
/// and its seq there), so it is the same in every session that inherits the event.
pub(crate) fn event(origin: &Origin) -> NamedNode {
    named("urn:forklore:event:", origin.session_id.as_str(), &format!(":{}", origin.seq))
}

/// Returns the IRI of the model call that generated an event. `origin` is the session that wrote
/// the event, and its seq there.
pub(crate) fn model_call(origin: &Origin) -> NamedNode {
    named("urn:forklore:model-call:", origin.session_id.as_str(), &format!(":{}", origin.seq))
}

/// Returns the IRI of a tool call that an event opens. `origin` is the session that wrote the
/// event, and its seq there. `number` is the position of the call in the event's `effect.calls`,
/// counted from 0.
pub(crate) fn tool_call(origin: &Origin, number: usize) -> NamedNode {
    let behind = format!(":{}:{number}", origin.seq);
    named("urn:forklore:tool-call:", origin.session_id.as_str(), &behind)
}

/// Returns the IRI of the fork that made a session.
pub(crate) fn fork(id: &SessionId) -> NamedNode {
    named("urn:forklore:fork:", id.as_str(), "")
}

/// Returns the IRI of the agent that runs a session.
pub(crate) fn agent(id: &SessionId) -> NamedNode {
    named("urn:forklore:agent:", id.as_str(), "")
}

/// Returns the IRI of a principal (on whose behalf a session acts). A decentralised identifier
/// (DID) is used unchanged, any other principal is percent-encoded.
pub(crate) fn principal(text: &str) -> NamedNode {
    if is_did(text) {
        return NamedNode::new_unchecked(text);
    }
    named("urn:forklore:principal:", text, "")
}

/// Returns the IRI of a file from which a session was imported.
pub(crate) fn file(path: &str) -> NamedNode {
    named("urn:forklore:file:", path, "")
}

/// Checks whether a string is a decentralised identifier (DID), `did:method:id`, by the syntax of
/// the W3C standard DID Core.
#[must_use]
pub fn is_did(text: &str) -> bool {
    let mut parts = text.splitn(3, ':');
    let scheme = parts.next() == Some("did");
    let method = parts.next().is_some_and(|method| {
        !method.is_empty() && method.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    });
    scheme && method && parts.next().is_some_and(is_specific_id)
}

fn is_specific_id(text: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let hex = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_hexdigit());
        let sound = match byte {
            b'%' => hex(bytes.next()) && hex(bytes.next()),
            b':' | b'.' | b'-' | b'_' => true,
            byte => byte.is_ascii_alphanumeric(),
        };
        if !sound {
            return false;
        }
    }
    !text.is_empty() && !text.ends_with(':')
}

/// Builds an IRI from a prefix, a percent-encoded string and a suffix. The prefix and the suffix
/// must be valid in an IRI; the result is then valid and is not checked.
fn named(before: &str, text: &str, behind: &str) -> NamedNode {
    let mut iri = String::with_capacity(before.len() + text.len() + behind.len());
    iri.push_str(before);
    for byte in text.bytes() {
        match byte {
            b'-' | b'.' | b'_' | b'~' => iri.push(byte.into()),
            byte if byte.is_ascii_alphanumeric() => iri.push(byte.into()),
            // Writing to a string cannot fail.
            byte => drop(write!(iri, "%{byte:02X}")),
        }
    }
    iri.push_str(behind);
    NamedNode::new_unchecked(iri)
}

#[cfg(test)]
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, behind) = rest.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = behind;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_id_makes_an_iri_and_comes_back() {
        for id in ["a", "a-1.b_c", "Ärger", "会話", "x\u{301}a\u{302}".trim_start_matches('x')] {
            let Ok(id) = id.parse::<SessionId>() else { continue };
            let iri = session(&id);
            assert!(NamedNode::new(iri.as_str()).is_ok(), "{iri}");
            assert!(iri.as_str().is_ascii(), "{iri}");
            assert_eq!(session_id(iri.as_str()), Some(id));
        }
        assert_eq!(session(&"Ä".parse().unwrap()).as_str(), "urn:forklore:session:%C3%84");
    }

    #[test]
    fn hostile_texts_make_no_second_triple() {
        for text in ["", "a> <b> <c> .", "a\"b", "\u{0}\n", "did:", "did:web:a b", "did:x:%zz"] {
            let iri = principal(text);
            assert!(iri.as_str().starts_with("urn:forklore:principal:"), "{iri}");
            assert!(NamedNode::new(iri.as_str()).is_ok(), "{iri}");
        }
        assert_eq!(principal("did:web:example.com").as_str(), "did:web:example.com");
        assert_eq!(principal("did:key:z6Mk%3A8000").as_str(), "did:key:z6Mk%3A8000");
    }
}
