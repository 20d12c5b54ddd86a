//! `/explore`: runs several continuations of this session at once.

use std::num::NonZeroU16;
use std::path::{Path, PathBuf};

use forklore_core::{Label, SessionId};
use forklore_host::Error as HostError;
use forklore_host::explore::{Explore, Judge, Plan, Row};
use forklore_host::text_file::{self, Unread};

use super::arguments::{arguments_of, words};
use super::definition::{Command, Next};
use crate::chat::Chat;
use crate::input::Argument;
use crate::screen::Tone;
use crate::{Explored, Result, Selected, View};

pub(super) const COMMAND: Command = Command {
    name: "explore",
    usage: "PROMPT [-n 4] [--at CUT] [--models A,B] [--prompts FILE] [--judge CMD]",
    help: "try several continuations at once, and compare them",
    argument: Argument::Text,
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

/// The options of an exploration, for `/explore` and for the subcommand `explore` of a program.
#[derive(Clone, Debug, clap::Args)]
pub struct ExploreOptions {
    /// Where: turn:N, message:N, index:N, seq:N, event:ID, start, end [default: end]
    #[arg(long, value_name = "CUT", allow_hyphen_values = true)]
    at: Option<String>,
    /// How many continuations [default: 4, or one for each pair of a prompt and a model]
    #[arg(short, value_name = "N")]
    n: Option<usize>,
    /// The prompt of each continuation
    #[arg(value_name = "PROMPT", conflicts_with_all = ["prompt", "prompts"],
        required_unless_present_any = ["prompt", "prompts"])]
    words: Vec<String>,
    /// The same as PROMPT
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    prompt: Option<String>,
    /// A file with one prompt per line
    #[arg(long, value_name = "FILE", conflicts_with = "prompt")]
    prompts: Option<PathBuf>,
    /// The models that answer, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    models: Vec<String>,
    /// The model that answers
    #[arg(long, value_name = "NAME", conflicts_with = "models")]
    model: Option<String>,
    /// A command that reads an answer and prints its score, a number
    #[arg(long, value_name = "CMD")]
    judge: Option<String>,
    /// How long the judge may take to score one answer
    #[arg(long, value_name = "SECONDS", requires = "judge",
        default_value_t = Explore::JUDGE_TIMEOUT_SECONDS,
        value_parser = clap::value_parser!(u64).range(1..=86_400))]
    judge_timeout: u64,
    /// How many continuations run at once [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// What the labels of the forks begin with [default: try, or the label of the fork]
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
}

impl ExploreOptions {
    /// Returns the first model that the options name, or `None` if they name none.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.models.first().or(self.model.as_ref()).map(String::as_str)
    }

    /// Checks the options that need no session. Parses the cut and the judge (the command that
    /// scores answers), and reads the prompts.
    ///
    /// # Errors
    /// `invalid_args` when an option is invalid; `internal` when the file of prompts cannot be
    /// read.
    pub fn check(&self) -> Result<()> {
        self.cut()?;
        self.judge.as_deref().map(Judge::parse).transpose()?;
        self.prompts()?;
        Ok(())
    }

    /// Builds the request to explore a session. If the options name no model, `model` answers. If
    /// `model` is `None` too, the default model answers.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check), except those of the judge.
    pub fn request(&self, session: SessionId, model: Option<&str>) -> Result<Explore> {
        let models = match self.models.as_slice() {
            [] => self.model.as_deref().or(model).map(str::to_owned).into_iter().collect(),
            names => names.iter().map(|name| name.trim().to_owned()).collect(),
        };
        Ok(Explore {
            at: self.cut()?,
            models,
            n: self.n,
            judge: self.judge.clone(),
            judge_timeout_seconds: self.judge_timeout,
            label: self.label.clone(),
            jobs: self.jobs.and_then(NonZeroU16::new),
            ..Explore::of(session, self.prompts()?)
        })
    }

    fn cut(&self) -> Result<Option<forklore_core::Selector>> {
        let parse = |text: &String| {
            text.parse().map_err(|error| HostError::invalid(format!("{error}")).into())
        };
        self.at.as_ref().map(parse).transpose()
    }

    fn prompts(&self) -> Result<Vec<String>> {
        let texts = match (&self.prompt, &self.prompts) {
            (Some(prompt), _) => vec![prompt.trim().to_owned()],
            (None, Some(path)) => lines_of(path)?,
            (None, None) => vec![self.words.join(" ").trim().to_owned()],
        };
        let texts: Vec<String> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        if texts.is_empty() {
            let message = "there is nothing to say: write it behind the session";
            return Err(HostError::invalid(message).into());
        }
        Ok(texts)
    }
}

fn lines_of(path: &Path) -> Result<Vec<String>> {
    let shown = path.display();
    let text = text_file::read(path).map_err(|unread| match unread {
        Unread::Io(source) => HostError::Io { doing: format!("reading {shown}"), source },
        unread => HostError::invalid(format!("--prompts {shown}: {unread}")),
    })?;
    Ok(text.lines().map(|line| line.trim().to_owned()).collect())
}

#[derive(clap::Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Arguments {
    #[command(flatten)]
    options: ExploreOptions,
}

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let here = chat.header()?;
    let (prompt, mut words) = parted(rest)?;
    if let Some(prompt) = prompt {
        words.splice(0..0, ["--prompt".to_owned(), prompt]);
    }
    let Arguments { options } = arguments_of(&COMMAND, words)?;
    let model = chat.conversation.model();
    let request = options.request(here.id.clone(), Some(&model))?;
    let plan = Plan::of(chat.foreground.host(), here, &request)?;
    chat.screen.end_answer();
    let mut follow = chat.views.follow(plan.tries.len());
    let explored = chat.foreground.explore(&plan, &mut follow);
    drop(follow);
    let Explored { rows, stopped } = explored?;
    let selected = match stopped {
        None if chat.screen.is_terminal() => chat.foreground.select_answer(&rows, best(&rows))?,
        _ => None,
    };
    let any = rows.iter().any(|row| row.session_id.is_some());
    let compared = rows.clone();
    chat.view(View::Explored(Box::new(plan), Explored { rows, stopped }));
    if let Some(selected) = selected {
        go_on_in(chat, &compared, selected)?;
    } else if any {
        let text =
            "/switch LABEL goes on in one, /diff LABEL compares it, /bring LABEL tells it here";
        chat.screen.line(Tone::Dim, text);
    }
    Ok(Next::Line)
}

/// Moves the conversation into the fork of the row that the user keeps. Puts the other forks into
/// the trash if the user keeps that row alone.
fn go_on_in(chat: &mut Chat<'_>, rows: &[Row], selected: Selected) -> Result<()> {
    let Some(id) = rows.get(selected.row).and_then(|row| row.session_id.clone()) else {
        return Ok(());
    };
    chat.foreground.block_on(chat.conversation.switch(&id))?;
    let label = chat.label();
    chat.screen.words(&[
        (Tone::Good, "Now on "),
        (Tone::Label, &label),
        (Tone::Dim, "; /back returns"),
    ]);
    let deleted = chat.foreground.discard_others(rows, selected)?;
    if !deleted.is_empty() {
        chat.screen.line(Tone::Dim, &in_trash(&deleted));
    }
    Ok(())
}

/// Returns a message that the forks with these labels are in the trash, and how to bring one back.
#[must_use]
pub fn in_trash(labels: &[Label]) -> String {
    let labels = labels.iter().map(Label::to_string).collect::<Vec<_>>().join(", ");
    format!("in the trash: {labels}; forklore list --deleted shows them, undelete brings one back")
}

/// Returns the index of the row with the highest score. If several have that score, returns the
/// first of them. Rows with an error do not count: a judge that failed did not choose them. Returns
/// `None` if no other row has a score.
#[must_use]
pub fn best(rows: &[Row]) -> Option<usize> {
    let rows = rows.iter().enumerate().filter(|(_, row)| row.error.is_none());
    let scored = rows.filter_map(|(at, row)| Some((row.score?, at)));
    scored.rev().max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, at)| at)
}

/// Splits the text after `/explore` into the prompt and the options that follow the prompt. The
/// prompt stays as typed, except that quotes around the whole prompt are removed. Any other quote,
/// such as an apostrophe, belongs to the prompt.
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
    let (prompt, options) = rest.split_at(end);
    let prompt = Some(prompt.trim().to_owned()).filter(|prompt| !prompt.is_empty());
    Ok((prompt, words(options)?))
}

fn is_option(word: &str) -> bool {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    COMMAND.options.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::parted;

    #[test]
    fn the_prompt_ends_where_the_options_begin() {
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
        for (typed, expected, options) in cases {
            let (prompt, rest) = parted(typed).unwrap();
            assert_eq!(prompt.as_deref(), expected, "{typed}");
            assert_eq!(rest, options, "{typed}");
        }
        assert!(parted("say it --judge 'wc").is_err());
    }
}
