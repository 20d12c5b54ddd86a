//! Generates session files like those of Claude Code, with the same bytes in every run. The files
//! consist of turns with thinking, text, tool calls and results of varying length. A record has 2
//! KB on average. Occasional rewinds start another path.

use std::fmt::Write;

use jiff::Timestamp;

use crate::numbers::Numbers;

/// The session id in every record of the generated session file.
const SESSION: &str = "4a9e7c10-5b7d-4c55-9d0e-2f6a1c8b3d24";

/// The time when the generated session begins, in seconds since 1970.
const BEGIN: i64 = 1_780_000_000;

/// The number of records between two rewinds. A rewind returns to an earlier prompt, where the next
/// records begin another branch.
const REWIND: u64 = 2_000;

/// The maximum number of turns by which a rewind goes back to an earlier prompt.
const BACK: usize = 40;

const WORDS: [&str; 16] = [
    "session", "the", "branch", "of", "parser", "is", "cached", "when", "a", "token", "returns",
    "without", "index", "and", "schema", "lease",
];

/// A generator of the records of a session file in the format of Claude Code.
pub(crate) struct Transcript {
    numbers: Numbers,
    prose: String,
    line: String,
    records: u64,
    parent: Option<String>,
    /// For each of the latest prompts, the id of the record that precedes it. A rewind goes back to
    /// one of these records. The latest prompt is last.
    prompts: Vec<Option<String>>,
    step: Step,
}

/// The kind of the record that the generator writes next.
#[derive(Clone, Debug)]
enum Step {
    Prompt,
    Think,
    Call,
    Result { call: String },
    Answer,
}

fn uuid(numbers: &mut Numbers) -> String {
    let (a, b) = (numbers.next(), numbers.next());
    let [low, middle] = [(a >> 16) & 0xffff, a & 0xfff];
    let (variant, node) = (0x8000 | (b >> 48) & 0x3fff, b & 0xffff_ffff_ffff);
    format!("{:08x}-{low:04x}-4{middle:03x}-{variant:04x}-{node:012x}", a >> 32)
}

impl Transcript {
    pub(crate) fn new() -> Self {
        let mut numbers = Numbers::new(0);
        let mut prose = String::new();
        while prose.len() < 64 << 10 {
            prose.push_str(WORDS.get(numbers.below(WORDS.len())).unwrap_or(&"a"));
            prose.push(' ');
        }
        Self {
            numbers,
            prose,
            line: String::new(),
            records: 0,
            parent: None,
            prompts: Vec::new(),
            step: Step::Prompt,
        }
    }

    /// Generates the next record of the session file. Returns it as a line with its line break.
    pub(crate) fn next_line(&mut self) -> &str {
        if self.records % REWIND == REWIND - 1 {
            self.rewind();
        }
        self.records += 1;
        let (kind, message, next) = self.message();
        if matches!(self.step, Step::Prompt) {
            self.prompts.push(self.parent.clone());
            let surplus = self.prompts.len().saturating_sub(BACK);
            self.prompts.drain(..surplus);
        }
        self.step = next;
        let uuid = uuid(&mut self.numbers);
        let parent = self.parent.as_ref().map_or("null".into(), |parent| format!("\"{parent}\""));
        let seconds = BEGIN.saturating_add_unsigned(self.records);
        let ts = Timestamp::from_second(seconds).unwrap_or_default();
        self.line.clear();
        let written = writeln!(
            self.line,
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"userType\":\"external\",\
             \"cwd\":\"/home/dev/demo\",\"sessionId\":\"{SESSION}\",\"version\":\"2.1.226\",\
             \"gitBranch\":\"main\",\"type\":\"{kind}\",{message},\"uuid\":\"{uuid}\",\
             \"timestamp\":\"{ts:.3}\"}}"
        );
        debug_assert!(written.is_ok(), "a string takes every text");
        self.parent = Some(uuid);
        &self.line
    }

    /// Goes back to the record that precedes an earlier prompt. The next prompt begins another
    /// branch of the session there.
    fn rewind(&mut self) {
        let back = self.numbers.below(self.prompts.len());
        self.prompts.truncate(self.prompts.len() - back);
        if let Some(parent) = self.prompts.pop() {
            self.parent = parent;
        }
        self.step = Step::Prompt;
    }

    /// Generates the content of the next record. Returns the record's type, its message field, and
    /// the step that follows.
    fn message(&mut self) -> (&'static str, String, Step) {
        match self.step.clone() {
            Step::Prompt => {
                let text = self.text(20, 600);
                let message = format!(r#""message":{{"role":"user","content":"{text}"}}"#);
                ("user", message, Step::Think)
            }
            Step::Think => {
                let (text, signature) = (self.text(200, 2_500), self.text(300, 900));
                let block = format!(
                    r#"{{"type":"thinking","thinking":"{text}","signature":"{signature}"}}"#
                );
                ("assistant", self.assistant(&block), Step::Call)
            }
            Step::Call => {
                let call = format!("toolu_{:016x}", self.numbers.next());
                let text = self.text(20, 1_600);
                let block = format!(
                    r#"{{"type":"tool_use","id":"{call}","name":"Bash","input":{{"command":"{text}"}}}}"#
                );
                ("assistant", self.assistant(&block), Step::Result { call })
            }
            Step::Result { call } => ("user", self.result(&call), self.after_result()),
            Step::Answer => {
                let text = self.text(100, 2_000);
                let block = format!(r#"{{"type":"text","text":"{text}"}}"#);
                ("assistant", self.assistant(&block), Step::Prompt)
            }
        }
    }

    /// Returns the step after a tool result: another tool call, or the answer that ends the turn. A
    /// turn makes six calls on average.
    fn after_result(&mut self) -> Step {
        if self.numbers.below(6) == 0 { Step::Answer } else { Step::Call }
    }

    fn assistant(&mut self, block: &str) -> String {
        let (request, id) = (self.numbers.next(), self.numbers.next());
        let (cached, output) = (self.numbers.below(90_000), self.numbers.below(2_000));
        format!(
            "\"requestId\":\"req_{request:016x}\",\"message\":{{\"id\":\"msg_{id:016x}\",\
             \"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-sonnet-4-5\",\
             \"content\":[{block}],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":\
             {{\"input_tokens\":12,\"cache_read_input_tokens\":{cached},\
             \"output_tokens\":{output},\"service_tier\":\"standard\"}}}}"
        )
    }

    /// Returns the fields of a record with a generated result of the tool call `call`. They contain
    /// the text of the result twice: once for the model, and once as Claude Code stores it.
    fn result(&mut self, call: &str) -> String {
        // Most outputs are short; one in eight is long.
        let most = if self.numbers.below(8) == 0 { 10_000 } else { 1_200 };
        let text = self.text(20, most);
        format!(
            "\"message\":{{\"role\":\"user\",\"content\":[{{\"tool_use_id\":\"{call}\",\
             \"type\":\"tool_result\",\"content\":\"{text}\",\"is_error\":false}}]}},\
             \"toolUseResult\":{{\"stdout\":\"{text}\",\"stderr\":\"\",\"interrupted\":false}}"
        )
    }

    /// Returns prose with a random length from `least` to `most - 1` bytes. Adds a line break after
    /// every 100 bytes.
    fn text(&mut self, least: usize, most: usize) -> String {
        let mut left = least + self.numbers.below(most - least);
        let mut text = String::with_capacity(left + left / 50);
        while left > 0 {
            let part = left.min(100);
            let from = self.numbers.below(self.prose.len() - part);
            text.push_str(self.prose.get(from..from + part).unwrap_or_default());
            left -= part;
            text.push_str(if left > 0 { "\\n" } else { "" });
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use forklore::core::Data;

    use super::*;

    #[test]
    fn records_are_json_of_about_two_kilobytes() {
        let mut transcript = Transcript::new();
        let bytes: usize = (0..5_000)
            .map(|_| {
                let line = transcript.next_line();
                Data::parse(line).unwrap();
                assert_eq!(line.matches('\n').count(), 1);
                line.len()
            })
            .sum();
        let mean = bytes / 5_000;
        assert!((1_800..2_200).contains(&mean), "{mean} bytes a record");
    }

    #[test]
    fn two_runs_write_the_same_bytes() {
        let write = || {
            let mut transcript = Transcript::new();
            (0..100).map(|_| transcript.next_line().to_owned()).collect::<String>()
        };
        assert_eq!(write(), write());
    }

    #[test]
    fn a_rewind_leaves_a_parent_with_two_children() {
        let mut transcript = Transcript::new();
        let mut children = BTreeMap::new();
        for _ in 0..5_000 {
            transcript.next_line();
            let parent = transcript.line.split('"').nth(3).unwrap().to_owned();
            *children.entry(parent).or_insert(0) += 1;
        }
        let forks: Vec<_> = children.into_values().filter(|count| *count > 1).collect();
        assert_eq!(forks, [2, 2]);
    }
}
