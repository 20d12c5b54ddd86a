//! Converts a recorded summary to the plain text that a model reads.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;

use super::excerpt;
use crate::Data;

/// The maximum number of tool calls that the plain text of a summary lists. If there are more, the
/// text lists the last ones.
const CALLS: usize = 10;

/// The fields of a stored summary from which its plain text is written. A field that an older
/// version of forklore did not store is empty.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Recorded {
    counts: BTreeMap<String, u64>,
    tools: BTreeMap<String, u64>,
    last_calls: Vec<Named>,
    files: Vec<String>,
    open_calls: Vec<Named>,
    open_tasks: Vec<String>,
    facts: Vec<Excerpt>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Excerpt {
    role: String,
    text: String,
}

/// Converts a stored summary to plain text; `None` if `recorded` does not have the form of a
/// summary made without a model. A caller that also shows the model's last answer in full passes it
/// as `answer`; the text then omits the excerpt of that answer.
#[must_use]
pub fn prose(recorded: &Data, answer: Option<&str>) -> Option<String> {
    let recorded: Recorded = recorded.read().ok()?;
    let mut text = "Gathered from the log without a model: counts and excerpts.\n".to_owned();
    recorded.messages(&mut text);
    recorded.calls(&mut text);
    if !recorded.files.is_empty() {
        let _ = writeln!(text, "Files named: {}.", recorded.files.join(", "));
    }
    recorded.unfinished(&mut text);
    recorded.excerpts(&mut text, answer);
    text.truncate(text.trim_end().len());
    Some(text)
}

// The methods ignore the result of `writeln!`, because writing to a String cannot fail.
impl Recorded {
    fn messages(&self, text: &mut String) {
        let count = |kind: &str| self.counts.get(kind).copied().unwrap_or(0);
        let (user, assistant) = (count("user_message"), count("assistant_message"));
        let _ = writeln!(text, "Messages: {user} from the user, {assistant} from the assistant.");
    }

    fn calls(&self, text: &mut String) {
        if self.tools.is_empty() {
            return;
        }
        let times = |(name, count): (&String, &u64)| match count {
            1 => format!("{name} once"),
            count => format!("{name} {count} times"),
        };
        let tools: Vec<_> = self.tools.iter().map(times).collect();
        let _ = writeln!(text, "Tools called: {}.", tools.join(", "));
        let skipped = self.last_calls.len().saturating_sub(CALLS);
        let last: Vec<_> = self.last_calls.iter().skip(skipped).map(|call| &*call.name).collect();
        if last.len() > 1 {
            let _ = writeln!(text, "The last calls, in order: {}.", last.join(", "));
        }
    }

    fn unfinished(&self, text: &mut String) {
        if !self.open_calls.is_empty() {
            let calls: Vec<_> = self.open_calls.iter().map(|call| &*call.name).collect();
            let _ = writeln!(text, "Calls without a result: {}.", calls.join(", "));
        }
        if !self.open_tasks.is_empty() {
            text.push_str("Tasks that are not done:\n");
            for task in &self.open_tasks {
                let _ = writeln!(text, "- {task}");
            }
        }
    }

    fn excerpts(&self, text: &mut String, answer: Option<&str>) {
        let answer = answer.map(excerpt);
        let repeats =
            |fact: &&Excerpt| fact.role == "assistant" && Some(&fact.text) == answer.as_ref();
        let shown: Vec<_> = self.facts.iter().filter(|fact| !repeats(fact)).collect();
        if shown.is_empty() {
            return;
        }
        text.push_str("The last messages begin:\n");
        for fact in shown {
            let _ = writeln!(text, "{}: {}", fact.role, fact.text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(text: &str) -> Data {
        Data::parse(text).unwrap()
    }

    #[test]
    fn everything_recorded_becomes_a_sentence() {
        let recorded = data(
            r#"{"counts":{"assistant_message":1,"tool_call":3,"user_message":2},
            "tools":{"edit":1,"read":2},
            "last_calls":[{"index":1,"name":"read"},{"index":2,"name":"read"},{"index":3,"name":"edit"}],
            "files":["src/a.rs","b/c"],"open_calls":[{"id":"e1","name":"edit"}],
            "open_tasks":["ship"],
            "facts":[{"index":0,"role":"user","text":"mend it"},{"index":5,"role":"assistant","text":"done it"}],
            "limitations":["x"]}"#,
        );
        assert_eq!(
            prose(&recorded, None).unwrap(),
            "Gathered from the log without a model: counts and excerpts.\n\
             Messages: 2 from the user, 1 from the assistant.\n\
             Tools called: edit once, read 2 times.\n\
             The last calls, in order: read, read, edit.\n\
             Files named: src/a.rs, b/c.\n\
             Calls without a result: edit.\n\
             Tasks that are not done:\n- ship\n\
             The last messages begin:\nuser: mend it\nassistant: done it"
        );
    }

    #[test]
    fn an_answer_that_follows_whole_has_no_excerpt() {
        let recorded = data(
            r#"{"facts":[{"role":"user","text":"yes"},{"role":"assistant","text":"a b"},
            {"role":"user","text":"a b"}]}"#,
        );
        let text = prose(&recorded, Some("a\n  b")).unwrap();
        assert!(text.ends_with("begin:\nuser: yes\nuser: a b"), "{text}");
    }

    #[test]
    fn what_is_no_object_is_no_summary() {
        assert_eq!(prose(&data(r#""text""#), None), None);
        assert_eq!(prose(&data("[1]"), None), None);
    }
}
