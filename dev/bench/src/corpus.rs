//! Generates sessions to search in: messages, tool calls and results like those of coding agents, the
//! same in every run. Besides the common words of [`Prose`], they contain many thousand names, of which
//! the nth is about 1/n as frequent as the first.

use forklore::core::{Data, EventType};
use forklore::prelude::*;

use crate::error::{Error, Result};
use crate::numbers::Numbers;
use crate::prose::Prose;

/// The kinds of the events of a turn, each with the least and the largest number of bytes of its text.
const TURN: [(Kind, usize, usize); 12] = [
    (Kind::User, 60, 800),
    (Kind::Assistant, 200, 1_200),
    (Kind::Call, 40, 400),
    (Kind::Result, 200, 6_000),
    (Kind::Call, 40, 400),
    (Kind::Result, 200, 6_000),
    (Kind::Assistant, 60, 600),
    (Kind::Call, 40, 2_000),
    (Kind::Result, 40, 400),
    (Kind::Call, 40, 400),
    (Kind::Result, 200, 6_000),
    (Kind::Assistant, 400, 3_000),
];

const TOOLS: [&str; 4] = ["bash", "read", "edit", "grep"];

/// The first and the second halves of the names. Each pair of them, with one of the numbers below
/// [`COPIES`] behind it, is a name.
const HALVES: [&str; 24] = [
    "Alpha", "Border", "Cursor", "Drift", "Ember", "Filter", "Grain", "Harbor", "Inlet", "Jigsaw",
    "Kernel", "Ledger", "Marker", "Needle", "Orbit", "Pillar", "Quartz", "Ribbon", "Socket",
    "Tunnel", "Umbra", "Vector", "Window", "Zenith",
];
const COPIES: usize = 80;
/// The number of different names.
pub(crate) const NAMES: usize = HALVES.len() * HALVES.len() * COPIES;
/// There is a name in every so many bytes of text.
const NAME_EVERY: usize = 120;

#[derive(Clone, Copy)]
enum Kind {
    User,
    Assistant,
    Call,
    Result,
}

/// A generator of the events of one session after the other.
pub(crate) struct Corpus {
    numbers: Numbers,
    prose: Prose,
    events: usize,
}

impl Corpus {
    pub(crate) fn new() -> Self {
        Self { numbers: Numbers::new(11), prose: Prose::new(), events: 0 }
    }

    /// Generates a title of a few names.
    pub(crate) fn title(&mut self) -> String {
        let names: Vec<_> = (0..3).map(|_| self.any_name()).collect();
        names.join(" ")
    }

    /// Generates the next event, and returns it with the size of its payload in bytes.
    pub(crate) fn event(&mut self) -> Result<(NewEvent, u64)> {
        let at = self.events;
        self.events += 1;
        let (kind, least, most) = TURN.get(at % TURN.len()).copied().unwrap_or((Kind::User, 9, 99));
        // Most texts are much shorter than the longest one.
        let share = self.numbers.below(1_000) * self.numbers.below(1_000);
        let text = self.text(least + (most - least) * share / 1_000_000);
        let tool = TOOLS.get(at / 2 % TOOLS.len()).copied().unwrap_or("bash");
        let (kind, payload) = match kind {
            Kind::User => (EventType::USER_MESSAGE, format!(r#"{{"content":"{text}"}}"#)),
            Kind::Assistant => (EventType::ASSISTANT_MESSAGE, format!(r#"{{"content":"{text}"}}"#)),
            Kind::Call => {
                let arguments = format!(r#"{{"command":"{text}"}}"#);
                let call = format!(r#"{{"id":"c{at}","name":"{tool}","arguments":{arguments}}}"#);
                (EventType::TOOL_CALL, call)
            }
            Kind::Result => {
                let call = at.saturating_sub(1);
                (EventType::TOOL_RESULT, format!(r#"{{"call_id":"c{call}","content":"{text}"}}"#))
            }
        };
        let data = Data::parse(&payload).map_err(|error| Error::Wrong(error.to_string()))?;
        Ok((NewEvent::new(kind, data), payload.len() as u64))
    }

    /// Generates a text of about `bytes` bytes, as the inside of a JSON string.
    fn text(&mut self, bytes: usize) -> String {
        let payload = self.prose.payload(bytes.max(40) + r#"{"content":""}"#.len());
        let inside = payload.get(r#"{"content":""#.len()..payload.len() - 2).unwrap_or_default();
        let mut text = String::with_capacity(payload.len() + payload.len() / 4);
        for _ in 0..=bytes / NAME_EVERY {
            text.push_str(&self.any_name());
            text.push(' ');
        }
        text.push_str(inside);
        text
    }

    fn any_name(&mut self) -> String {
        // With a uniform exponent, the power yields rank r about 1/r as often as the first.
        let uniform = self.numbers.below(1 << 20) as f64 / f64::from(1 << 20);
        name(((NAMES as f64 + 1.0).powf(uniform) - 1.0) as usize)
    }
}

/// Returns the name with this rank; the name of rank 0 is the most frequent one.
pub(crate) fn name(rank: usize) -> String {
    let half = |at: usize| HALVES.get(at % HALVES.len()).copied().unwrap_or("Alpha");
    let count = HALVES.len();
    format!("{}{}{}", half(rank), half(rank / count), rank / count / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_generate_the_same_events() {
        let generate = || {
            let mut corpus = Corpus::new();
            let mut events = (0..200).map(|_| corpus.event().unwrap());
            (events.all(|(_, bytes)| bytes > 40), corpus.title())
        };
        assert_eq!(generate(), generate());
        assert!(generate().0);
    }

    #[test]
    fn names_differ() {
        let names: std::collections::BTreeSet<_> = (0..NAMES).map(name).collect();
        assert_eq!(names.len(), NAMES);
    }
}
