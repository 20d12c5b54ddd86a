//! The syntax of a reference to a session.

use std::str::FromStr;

use forklore_core::id::IdError;
use forklore_core::limits::TITLE_BYTES;
use forklore_core::{Label, SessionId};

/// A reference to a session, parsed but not looked up yet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reference {
    /// `last`: the most recently updated session.
    Last,
    /// An id, a part of an id, a label or a title.
    Name(SessionId),
    /// `@label`, `REF@label`, or with further labels `REF@label@label`.
    Label {
        /// The session in whose family the label is looked up: `last` or a name. `None` looks in
        /// all families.
        of: Option<Box<Self>>,
        /// The label to look up.
        label: Label,
        /// Further labels, each to be looked up in the family of the session found before.
        further: Vec<Label>,
    },
    /// Text that can only be a title, because it is not a valid session id.
    Title(String),
}

impl FromStr for Reference {
    type Err = IdError;

    /// Parses a reference. The error does not repeat the text, which may be hostile.
    fn from_str(text: &str) -> Result<Self, IdError> {
        if text == "last" {
            return Ok(Self::Last);
        }
        if let Some(reference) = labelled(text) {
            return Ok(reference);
        }
        match text.parse::<SessionId>() {
            Ok(id) => Ok(Self::Name(id)),
            Err(_) if is_title(text) => Ok(Self::Title(text.trim().to_owned())),
            Err(error) => Err(error),
        }
    }
}

/// Parses `@label` and `REF@label`. Returns `None` for other text, which may be a title.
fn labelled(text: &str) -> Option<Reference> {
    let mut parts = text.split('@');
    let of = match parts.next()? {
        "" => None,
        "last" => Some(Reference::Last),
        name => Some(Reference::Name(name.parse().ok()?)),
    };
    let label = parts.next()?.parse().ok()?;
    let further = parts.map(|label| label.parse().ok()).collect::<Option<_>>()?;
    Some(Reference::Label { of: of.map(Box::new), label, further })
}

/// Checks whether text can be a title that a person typed: not too long, no option, no path, and no
/// character that is invisible or changes the direction of the text around it.
fn is_title(text: &str) -> bool {
    let hidden = |c: char| {
        matches!(u32::from(c), 0xad | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f
            | 0xfeff | 0xfff9..=0xfffb | 0xe0000..=0xe007f)
    };
    let is_visible = |c: char| !c.is_control() && !hidden(c) && !matches!(c, '/' | '\\');
    !text.trim().is_empty()
        && text.len() <= TITLE_BYTES
        && !text.starts_with('-')
        && text.chars().all(is_visible)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Reference {
        Reference::Name(text.parse().unwrap())
    }

    #[test]
    fn each_form_is_recognised() {
        let label = |of: Option<Reference>, label: &str, further: &[&str]| Reference::Label {
            of: of.map(Box::new),
            label: label.parse().unwrap(),
            further: further.iter().map(|label| label.parse().unwrap()).collect(),
        };
        let title = |text: &str| Reference::Title(text.into());
        for (text, parsed) in [
            ("last", Reference::Last),
            ("0198aaaa", name("0198aaaa")),
            ("@plan-b", label(None, "plan-b", &[])),
            ("last@plan-b", label(Some(Reference::Last), "plan-b", &[])),
            ("0198@a@b", label(Some(name("0198")), "a", &["b"])),
            (" Fix the parser ", title("Fix the parser")),
            ("mail to a@b.org, urgent", title("mail to a@b.org, urgent")),
            ("déjà vu?", title("déjà vu?")),
        ] {
            assert_eq!(text.parse(), Ok(parsed), "{text:?}");
        }
    }

    #[test]
    fn hostile_text_is_no_reference() {
        let long = "x ".repeat(TITLE_BYTES);
        for text in ["", " ", "-x y", "../p", "a\\b c", "a\u{202e} b", "\u{1b}[31m", "a\nb", &long]
        {
            assert!(text.parse::<Reference>().is_err(), "{text:?}");
        }
    }
}
