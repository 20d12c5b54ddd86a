//! Generates payloads like those of agents: prose, code, paths and command output. They are the
//! same in every run. Words are distributed as in English: the nth is about 1/n as frequent as the
//! first. Some lines repeat. The payloads compress about as little as the least compressible real
//! sessions.

use std::collections::VecDeque;

use crate::numbers::Numbers;

const WORDS: &str = "the to a of and is in it that this for be on with not as have file are by if \
    when was from test we or but will error at can line code which function all now run there an \
    one into value only after then before new read so type call than store session does your \
    write event first message has return because its up check change these where other each no \
    state should parser still out set order case while both same branch again request thread been \
    would more name index result cache commit every path list key without lock number between \
    over text how use two time does string bytes add what already query table build until look \
    held user schema like back client update here output field last open task under page batch \
    version wait retry server option connection behind response failing module loop format side \
    passes keep begin follow compare missing buffer default token config instead handle process \
    expected history wrong column stream memory right move cursor limit long assert found small \
    whole several reader handler import report warning assistant copy split match print header \
    explain agree decide remember suggest prefer notice measure improve careful probably simple";

const NAMES: &str = "parse_header read_page next_event cut_at fork_plan retry_count max_depth \
    SessionId EventKind StoreError open_store append_batch workspace_root flush_pending load_all \
    user_id created_at tool_call content_block cache_key with_timeout as_bytes unwrap_or_default";

const FOLDERS: &str = "src/main.rs src/store/read.rs tests/fork.rs lib/session.py app/models.ts \
    docs/semantics.md crates/engine/src/cut.rs web/components/Tree.tsx Cargo.toml package.json";

/// The number of recent lines from which the generator picks lines to repeat.
const BEFORE: usize = 100;

/// An endless generator of event payloads that resemble the prose and code of an agent's session.
pub(crate) struct Prose {
    numbers: Numbers,
    words: Vec<&'static str>,
    names: Vec<&'static str>,
    paths: Vec<&'static str>,
    /// The latest generated lines, one of which can be repeated in a payload.
    before: VecDeque<String>,
}

impl Prose {
    pub(crate) fn new() -> Self {
        let list = |text: &'static str| text.split_ascii_whitespace().collect();
        Self {
            numbers: Numbers::new(7),
            words: list(WORDS),
            names: list(NAMES),
            paths: list(FOLDERS),
            before: VecDeque::new(),
        }
    }

    /// Returns a JSON payload of exactly `bytes` bytes, whose field `content` contains generated
    /// text.
    pub(crate) fn payload(&mut self, bytes: usize) -> String {
        let mut text = String::from("{\"content\":\"");
        let end = bytes - 2;
        while text.len() < end {
            match self.numbers.below(11) {
                10 => self.quote(&mut text),
                0..=5 => self.sentence(&mut text),
                6 | 7 => self.code(&mut text),
                8 => self.output(&mut text),
                _ => self.reference(&mut text),
            }
        }
        text.truncate(end);
        // A truncated escape sequence would not be valid JSON.
        while text.ends_with('\\') {
            text.pop();
        }
        while text.len() < end {
            text.push('.');
        }
        self.remember(text.get(12..).unwrap_or_default());
        text.push_str("\"}");
        text
    }

    /// Picks a random element of `list`. Picks the earlier elements more often than the later ones.
    fn often(numbers: &mut Numbers, list: &[&'static str]) -> &'static str {
        // With a uniform exponent, the power yields rank r about 1/r as often as the first.
        let uniform = numbers.below(1 << 20) as f64 / f64::from(1 << 20);
        let rank = ((list.len() as f64 + 1.0).powf(uniform) - 1.0) as usize;
        list.get(rank).copied().unwrap_or("a")
    }

    fn any(&mut self, list: fn(&Self) -> &[&'static str]) -> &'static str {
        let at = self.numbers.below(list(self).len());
        list(self).get(at).copied().unwrap_or("a")
    }

    fn sentence(&mut self, text: &mut String) {
        for at in 0..6 + self.numbers.below(14) {
            let word = Self::often(&mut self.numbers, &self.words);
            match at {
                0 => text.extend(word.chars().next().map(|first| first.to_ascii_uppercase())),
                _ => text.push(' '),
            }
            text.push_str(if at == 0 { word.get(1..).unwrap_or_default() } else { word });
            if self.numbers.below(12) == 0 {
                text.push(',');
            }
        }
        text.push_str(". ");
    }

    fn code(&mut self, text: &mut String) {
        let (a, b) = (self.any(|it| &it.names), self.any(|it| &it.names));
        let word = Self::often(&mut self.numbers, &self.words);
        let number = self.numbers.below(5_000);
        text.push_str(&match self.numbers.below(4) {
            0 => format!("let {word} = {a}({b}, {number})?;\\n"),
            1 => format!("    if {word}.{a}() > {number} {{ return {b}; }}\\n"),
            2 => format!("fn {a}({word}: &{b}) -> Result<{word}> {{\\n"),
            _ => format!("    assert_eq!({a}(\\\"{word}\\\"), {number}); // {b}\\n"),
        });
    }

    fn output(&mut self, text: &mut String) {
        let (path, word) = (self.any(|it| &it.paths), Self::often(&mut self.numbers, &self.words));
        let (line, column) = (self.numbers.below(900), self.numbers.below(90));
        let hash = self.numbers.next() >> 36;
        text.push_str(&format!(
            "{path}:{line}:{column}: {word} ({hash:07x}) ok in {line}.{column}s\\n"
        ));
    }

    /// Appends a random one of the latest lines of earlier payloads to `text`, because agents
    /// repeat text that they have read.
    fn quote(&mut self, text: &mut String) {
        let at = self.numbers.below(self.before.len());
        if let Some(line) = self.before.get(at) {
            text.push_str(line);
            text.push_str("\\n");
        }
    }

    fn remember(&mut self, text: &str) {
        self.before.extend(text.split("\\n").map(str::to_owned));
        let surplus = self.before.len().saturating_sub(BEFORE);
        self.before.drain(..surplus);
    }

    fn reference(&mut self, text: &mut String) {
        let (path, id) = (self.any(|it| &it.paths), self.numbers.next());
        text.push_str(&format!("`{path}` call_{id:016x} "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_are_json_of_the_requested_length() {
        let mut prose = Prose::new();
        let mut again = Prose::new();
        for bytes in (200..1_200).chain([1_024; 100]) {
            let payload = prose.payload(bytes);
            assert_eq!(payload.len(), bytes);
            let value: serde_json::Value = serde_json::from_str(&payload).unwrap();
            assert!(value["content"].is_string());
            assert_eq!(again.payload(bytes), payload);
        }
    }
}
