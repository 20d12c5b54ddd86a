//! Who wrote a message with the role of the user: a person, or the agent in the person's name.

use forklore_core::typed::is_for_model;
use serde::{Deserialize, Deserializer};

use crate::lenient::Text;

/// The author of one part of a user message. It is deserialized from the text of the part. A value
/// that is not text has the author `Nobody`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Author {
    /// The part contains no text.
    #[default]
    Nobody,
    /// The agent wrote all of the text, or the text is a command that the agent carries out without
    /// the model.
    Agent,
    /// A person wrote a part of the text for the model.
    Person,
}

impl Author {
    pub(crate) fn of(text: &str) -> Self {
        match text {
            text if is_for_model(text) => Self::Person,
            text if text.trim_start().is_empty() => Self::Nobody,
            _ => Self::Agent,
        }
    }

    /// Returns the author of a block in a user message. `kind` is the block's type, and `text` is
    /// the author of the text in it.
    pub(crate) fn of_block(kind: Option<&str>, text: Self) -> Self {
        match kind {
            Some("text" | "input_text") => text,
            Some("tool_result") | None => Self::Nobody,
            Some(_) => Self::Person,
        }
    }
}

impl<'de> Deserialize<'de> for Author {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = Text::deserialize(d)?;
        Ok(text.get().map_or(Self::Nobody, Self::of))
    }
}

/// Checks whether a user message with these parts begins a turn: if a person wrote one of them for
/// the model, or if the agent wrote none of them.
pub(crate) fn begins_turn(authors: impl IntoIterator<Item = Author>) -> bool {
    let mut by_agent = false;
    for author in authors {
        match author {
            Author::Person => return true,
            Author::Agent => by_agent = true,
            Author::Nobody => {}
        }
    }
    !by_agent
}
