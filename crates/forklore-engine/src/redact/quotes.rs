//! Finds the summaries, compactions and titles that quote a redacted event.

use std::collections::BTreeSet;

use forklore_api::RedactionCause;
use forklore_core::{Data, EventType, SessionId};

use super::is_quoted;
use super::matcher::{Matcher, texts};
use super::scan::Scan;
use crate::Result;

/// The number of characters of a text by which a quotation is recognised.
const PROBE: usize = 48;
/// The number of characters that a text must have. Shorter ones are in many summaries by chance.
const SHORTEST: usize = 16;

/// Checks whether events of this type may quote others.
pub(super) fn may_quote(kind: &EventType) -> bool {
    *kind == EventType::BRANCH_SUMMARY || *kind == EventType::HISTORY_COMPACTION
}

/// The texts of the redacted events, with white space collapsed.
struct Quoted {
    texts: Vec<String>,
    /// The beginnings of these texts.
    probes: BTreeSet<String>,
}

impl Quoted {
    fn of<'d>(payloads: impl Iterator<Item = &'d Data>) -> Self {
        let texts = payloads.flat_map(texts).map(|text| collapsed(&text));
        let texts: Vec<_> = texts.filter(|text| text.chars().count() >= SHORTEST).collect();
        let probes = texts.iter().map(|text| text.chars().take(PROBE).collect()).collect();
        Self { texts, probes }
    }

    /// Checks whether a text of a summary or a title contains the beginning of one of the texts.
    fn is_in(&self, text: &str) -> bool {
        let text = collapsed(text);
        self.probes.iter().any(|probe| text.contains(probe.as_str()))
    }

    /// Checks whether a title is a part of one of the texts, as titles made from a message are.
    fn contain(&self, title: &str) -> bool {
        let title = collapsed(title);
        let title = title.trim_end_matches(['.', '\u{2026}']).trim_end();
        title.chars().count() >= SHORTEST && self.texts.iter().any(|text| text.contains(title))
    }
}

fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Scan<'_> {
    /// Adds the summaries and compactions that quote a redacted event or contain the text to find,
    /// in the families that have such events. Returns the sessions whose titles do so.
    pub(super) fn quotes(&mut self, matcher: Option<&Matcher>) -> Result<Vec<SessionId>> {
        let own = self.targets.values().filter(|target| is_quoted(target.why));
        let quoted = Quoted::of(own.map(|target| &target.event.data));
        let roots: BTreeSet<_> = self
            .targets
            .keys()
            .chain(&self.already)
            .filter_map(|origin| Some(self.sessions.get(&origin.session_id)?.root_id.clone()))
            .collect();
        let finds = |text: &str| matcher.is_some_and(|matcher| matcher.finds(text));
        for (session, seq) in std::mem::take(&mut self.summaries) {
            if !self.sessions.get(&session).is_some_and(|it| roots.contains(&it.root_id)) {
                continue;
            }
            let Some(entry) = self.entry(&session, seq)? else { continue };
            let data = &entry.event.data;
            let is_found = matcher.is_some_and(|matcher| matcher.finds_in(data));
            if is_found || texts(data).iter().any(|text| quoted.is_in(text)) {
                self.add(entry, RedactionCause::Quote);
            }
        }
        let titled = self.sessions.values().filter(|header| roots.contains(&header.root_id));
        let quotes = |title: &str| finds(title) || quoted.is_in(title) || quoted.contain(title);
        let titled = titled.filter(|header| header.title.as_deref().is_some_and(quotes));
        Ok(titled.map(|header| header.id.clone()).collect())
    }
}
