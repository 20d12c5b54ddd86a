//! What completes a line: commands, and behind a command what it takes.

use crate::command::{COMMANDS, Takes};

/// What there is to name.
#[derive(Clone, Debug, Default)]
pub struct Offered {
    /// Sessions of this folder: labels and ids.
    pub sessions: Vec<String>,
    /// Places of this session.
    pub cuts: Vec<String>,
    /// Models that are configured.
    pub models: Vec<String>,
    /// Agents in whose form a session can be written.
    pub forms: Vec<String>,
}

impl Offered {
    /// Where the word at the end of `line` begins, and what it may become: each with what is shown.
    pub(super) fn fitting(&self, line: &str) -> (usize, Vec<(String, String)>) {
        let start = line.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let typed = line.get(start..).unwrap_or_default();
        if !line.starts_with('/') {
            return (line.len(), Vec::new());
        }
        let fits = |word: &str| {
            word.starts_with(typed) || word.strip_prefix('@').is_some_and(|l| l.starts_with(typed))
        };
        if start == 0 {
            let commands = COMMANDS.iter().map(|command| {
                let name = format!("/{}", command.name);
                let shown = format!("{name:<12} {}", command.does);
                (name, shown)
            });
            return (0, commands.filter(|(name, _)| fits(name)).collect());
        }
        let words = self.words(line);
        let fitting = words.into_iter().filter(|word| fits(word) && is_plain(word));
        (start, fitting.map(|word| (word.clone(), word)).collect())
    }

    fn words(&self, line: &str) -> Vec<String> {
        let mut before = line.split_whitespace();
        let name = before.next().unwrap_or_default().trim_start_matches('/');
        let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
            return Vec::new();
        };
        let typed_last = line.ends_with(char::is_whitespace);
        let last = if typed_last {
            line.split_whitespace().next_back()
        } else {
            line.split_whitespace().rev().nth(1)
        };
        match last {
            Some("--into") => return self.sessions.clone(),
            Some("--at") => return self.cuts.clone(),
            Some("--to") => return self.forms.clone(),
            Some("--models") => return self.models.clone(),
            _ => {}
        }
        let mut words: Vec<String> =
            command.options.iter().map(|option| (*option).to_owned()).collect();
        let offered: &[String] = match command.takes {
            Takes::Session => &self.sessions,
            Takes::Cut => &self.cuts,
            Takes::Model => &self.models,
            Takes::Text => &[],
        };
        words.extend_from_slice(offered);
        words
    }
}

/// Stored text becomes part of a line that somebody enters.
fn is_plain(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_alphanumeric() || "@-_.:=".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitting(line: &str) -> Vec<String> {
        let offered = Offered {
            sessions: vec!["@main".into(), "@plan-b".into(), "@bad\u{202e}".into()],
            cuts: vec!["turn:1".into(), "turn:2".into(), "end".into()],
            models: vec!["local".into()],
            forms: vec!["claude".into()],
        };
        offered.fitting(line).1.into_iter().map(|(word, _)| word).collect()
    }

    #[test]
    fn commands_and_what_they_take_are_offered() {
        assert_eq!(fitting("/fo"), ["/fork"]);
        assert_eq!(fitting("/switch @"), ["@main", "@plan-b"]);
        assert_eq!(fitting("/switch pl"), ["@plan-b"]);
        assert_eq!(fitting("/fork t"), ["turn:1", "turn:2"]);
        assert_eq!(fitting("/fork turn:1 --s"), ["--stay"]);
        assert_eq!(fitting("/bring @plan-b --into @m"), ["@main"]);
        assert_eq!(fitting("/model "), ["local"]);
        assert_eq!(fitting("/export x.jsonl --to c"), ["claude"]);
        assert_eq!(fitting("what /fo"), Vec::<String>::new());
    }
}
