//! Compares two messages word by word, and formats them with the changed words marked.

use forklore_sanitize::terminal;
use similar::{ChangeTag, TextDiff};

use super::Tone;
use super::words::{Line, Word};

/// The minimum similarity, from 0 to 1, of two texts whose changed words are marked. If the
/// similarity is lower, nearly every word has changed.
const SIMILAR: f32 = 0.5;

/// The maximum length in bytes of a text whose changes are marked.
const LONGEST: usize = 20_000;

/// A text of a message, such as a paragraph of an answer or the line of a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) tone: Tone,
    pub(crate) text: String,
}

/// One of the two compared sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    A,
    B,
}

impl Side {
    /// Returns the color of the session's heading.
    pub(crate) fn tone(self) -> Tone {
        match self {
            Self::A => Tone::SideA,
            Self::B => Tone::SideB,
        }
    }

    /// Returns the name of the session in the comparison.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
        }
    }

    /// Returns a word that only this session has. The word is marked by a color, or without colors
    /// by the brackets of git's word diff.
    fn marked(self, piece: &str, color: bool) -> Word {
        match (color, self) {
            (true, Self::A) => Word { tone: Tone::ChangedA, text: piece.to_owned() },
            (true, Self::B) => Word { tone: Tone::ChangedB, text: piece.to_owned() },
            (false, Self::A) => Word { tone: Tone::Plain, text: format!("[-{piece}-]") },
            (false, Self::B) => Word { tone: Tone::Plain, text: format!("{{+{piece}+}}") },
        }
    }
}

/// Returns the lines of a message of the session `side`. `peer` is the message at the same position
/// in the other session. Each text is compared with the text at the same position in `peer`. If the
/// two are similar, the words that only this session has are marked.
pub(crate) fn lines(side: Side, blocks: &[Block], peer: &[Block], color: bool) -> Vec<Line> {
    let peers = peer.iter().map(Some).chain(std::iter::repeat(None));
    blocks
        .iter()
        .zip(peers)
        .flat_map(|(block, peer)| {
            let changed = peer.and_then(|peer| changed(side, block, peer, color));
            changed.unwrap_or_else(|| plain(block))
        })
        .collect()
}

fn plain(block: &Block) -> Vec<Line> {
    escaped(&block.text).lines().map(|line| words(line, block.tone)).collect()
}

/// Returns the lines of `block` with marked words. Returns `None` if the two texts are equal, not
/// similar, of different tones, or longer than [`LONGEST`].
fn changed(side: Side, block: &Block, peer: &Block, color: bool) -> Option<Vec<Line>> {
    let is_long = block.text.len().max(peer.text.len()) > LONGEST;
    if peer.tone != block.tone || peer.text == block.text || is_long {
        return None;
    }
    let (own, other) = (escaped(&block.text), escaped(&peer.text));
    let diff = TextDiff::from_words(&*other, &*own);
    if diff.ratio() < SIMILAR {
        return None;
    }
    let mut lines = vec![Line::new()];
    for change in diff.iter_all_changes().filter(|change| change.tag() != ChangeTag::Delete) {
        for (number, piece) in change.value().split('\n').enumerate() {
            if number > 0 {
                lines.push(Line::new());
            }
            let line = lines.last_mut()?;
            if change.tag() == ChangeTag::Insert && !piece.trim().is_empty() {
                line.push(side.marked(piece, color));
            } else {
                line.extend(words(piece, block.tone));
            }
        }
    }
    Some(lines)
}

fn escaped(text: &str) -> String {
    terminal::block(text.trim_end()).replace('\t', "    ")
}

/// Splits a line into words and runs of spaces.
fn words(line: &str, tone: Tone) -> Line {
    let mut words = Line::new();
    for c in line.chars() {
        match words.last_mut() {
            Some(word) if word.text.ends_with(' ') == (c == ' ') => word.text.push(c),
            _ => words.push(Word { tone, text: c.to_string() }),
        }
    }
    words
}
