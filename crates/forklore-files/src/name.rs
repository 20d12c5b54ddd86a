//! File names for ids and labels. The names are safe on all file systems.

use std::fmt;

use forklore_core::{Label, SessionId};

/// Maximum length in bytes of an id or label that is used as a file name unchanged.
const PLAIN_BYTES: usize = 64;

/// File names that mean a device on some systems, with any extension. They are not used for
/// sessions and labels.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// A file name without extension for a session id or a label. It is the id or label itself if that
/// is short and contains only plain characters, otherwise a hash. Ids that differ only in case or
/// Unicode composition have the same name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Name(String);

impl Name {
    pub(crate) fn of_session(id: &SessionId) -> Self {
        Self::of(id.fold())
    }

    /// Returns the file name for a label. Labels that differ in case have different names.
    pub(crate) fn of_label(label: &Label) -> Self {
        Self::of(label.as_str().to_owned())
    }

    fn of(text: String) -> Self {
        let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
        if (1..=PLAIN_BYTES).contains(&text.len()) && text.bytes().all(plain) && !is_device(&text) {
            return Self(text);
        }
        let mut hash = blake3::hash(text.as_bytes()).to_hex().to_string();
        hash.truncate(32);
        Self(format!("~{hash}"))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_device(text: &str) -> bool {
    let numbered = ["com", "lpt"].iter().any(|port| {
        text.strip_prefix(port)
            .is_some_and(|digits| digits.len() == 1 && digits.bytes().all(|b| b.is_ascii_digit()))
    });
    DEVICES.contains(&text) || numbered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(id: &str) -> String {
        Name::of_session(&id.parse().unwrap()).to_string()
    }

    #[test]
    fn plain_ids_are_names_and_others_are_hashed() {
        assert_eq!(name("fix-parser_2"), "fix-parser_2");
        assert_eq!(name("FIX-Parser_2"), "fix-parser_2");
        for id in ["a.b", "con", "com1", "é", &"x".repeat(65)] {
            let name = name(id);
            assert!(name.starts_with('~') && name.len() == 33, "{id}: {name}");
        }
        assert_eq!(name("com10"), "com10");
        assert_eq!(name(&"x".repeat(64)), "x".repeat(64));
    }

    #[test]
    fn ids_that_differ_in_case_have_one_name() {
        assert_eq!(name("É"), name("é"));
        assert_ne!(name("a.b"), name("a.c"));
        let label = |label: &str| Name::of_label(&label.parse().unwrap());
        assert_ne!(label("Main"), label("main"));
    }
}
