//! `/explore`: several continuations at once.

use super::{Command, Next, Takes, words};
use crate::Result;
use crate::chat::Chat;
use crate::screen::Tone;

pub(super) const COMMAND: Command = Command {
    name: "explore",
    usage: "PROMPT [-n 4] [--at CUT] [--models A,B] [--prompts FILE] [--judge CMD]",
    does: "try several continuations at once, and compare them",
    takes: Takes::Text,
    options: &[
        "-n",
        "-p",
        "--at",
        "--models",
        "--model",
        "--prompt",
        "--prompts",
        "--judge",
        "--judge-timeout",
        "--jobs",
        "--label",
    ],
    examples: &[
        ("/explore Say it in one word. -n 4", "four answers to one prompt"),
        ("/explore Try. --models small,large", "one of each model"),
        ("/explore --prompts ways.txt --judge 'wc -c'", "a line each, with marks"),
    ],
    run,
};

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let id = chat.header()?.id;
    let (prompt, options) = parted(rest)?;
    let mut line = vec!["explore".to_owned(), id.to_string()];
    if let Some(prompt) = prompt {
        line.extend(["--prompt".to_owned(), prompt]);
    }
    if !options.iter().any(|word| word == "--models" || word == "--model") {
        line.extend(["--model".to_owned(), chat.model.clone()]);
    }
    line.extend(options);
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    chat.verb(&line);
    let text = "/switch LABEL goes on in one, /diff LABEL compares it, /bring LABEL tells it here";
    chat.screen.line(Tone::Dim, text);
    Ok(Next::Line)
}

/// What is said, as it was typed, and the options behind it. Quotes around all of it go; others,
/// such as an apostrophe, belong to it.
fn parted(rest: &str) -> Result<(Option<String>, Vec<String>)> {
    if rest.starts_with(['"', '\''])
        && let Some(mut words) = shlex::split(rest)
        && words.get(1).is_none_or(|next| is_option(next))
    {
        let options = words.split_off(words.len().min(1));
        return Ok((words.pop(), options));
    }
    let mut end = 0;
    for word in rest.split_inclusive(char::is_whitespace) {
        if is_option(word.trim_end()) {
            break;
        }
        end += word.len();
    }
    let (said, options) = rest.split_at(end);
    let said = Some(said.trim().to_owned()).filter(|said| !said.is_empty());
    Ok((said, words(options)?))
}

fn is_option(word: &str) -> bool {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    COMMAND.options.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::parted;

    #[test]
    fn what_is_said_is_told_apart_from_options() {
        let cases: [(&str, Option<&str>, &[&str]); 8] = [
            ("Which is best? -n 4", Some("Which is best?"), &["-n", "4"]),
            ("what's 3 - 2, or -5? --jobs=1", Some("what's 3 - 2, or -5?"), &["--jobs=1"]),
            ("\"say -n\" --judge 'wc -c'", Some("say -n"), &["--judge", "wc -c"]),
            ("'in quotes'", Some("in quotes"), &[]),
            ("\"she said\" and left", Some("\"she said\" and left"), &[]),
            ("'tis so -n 2", Some("'tis so"), &["-n", "2"]),
            ("--prompts 'my file'", None, &["--prompts", "my file"]),
            ("", None, &[]),
        ];
        for (typed, said, options) in cases {
            let (prompt, rest) = parted(typed).unwrap();
            assert_eq!(prompt.as_deref(), said, "{typed}");
            assert_eq!(rest, options, "{typed}");
        }
        assert!(parted("say it --judge 'wc").is_err());
    }
}
