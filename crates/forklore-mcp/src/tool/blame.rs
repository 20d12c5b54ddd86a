//! `blame`: finds the tool calls that name a file.

use std::path::Path;

use forklore_api::Blame;
use forklore_search::SearchIndex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::search::{HitOut, fitting};
use super::verb::Verb;
use crate::answer::Noticed;
use crate::refusal::Refusal;
use crate::scope::Access;
use crate::since::since;

pub(super) struct BlameTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The file: an absolute path, or one relative to the folder in which the agent works. It need
    /// not exist any more.
    path: String,
    /// Find only calls since a date, a time, or 3h, 2d, 1w ago.
    #[serde(default)]
    since: Option<String>,
    /// How many calls to return, from 1 to 50. Default: 20.
    #[serde(default)]
    limit: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// The tool calls, the latest first.
    calls: Vec<HitOut>,
    /// Whether there are more calls. Pass a larger limit, or since, to choose others.
    more: bool,
}

impl Verb for BlameTool {
    type Input = Input;
    type Output = Noticed<Output>;
    const NAME: &'static str = "blame";
    const TITLE: &'static str = "Find who touched a file";
    const DESCRIPTION: &'static str = "Find the tool calls of earlier sessions, in all folders, \
        that name a file: edits, writes, reads. Use it to learn which session changed a file and \
        why, before you change or revert something that looks strange. The latest call comes \
        first; messages with from: index shows what led to it. Commands of a shell are not \
        understood: search finds words in them.";

    fn run(access: &Access<'_>, input: Input) -> Result<Noticed<Output>, Refusal> {
        let since =
            input.since.as_deref().map(|text| since(text, access.engine.now())).transpose()?;
        let folder = access.options.workspace.as_ref();
        let path = match folder {
            Some(folder) => Path::new(folder.as_str()).join(&input.path).to_string_lossy().into(),
            None => input.path,
        };
        let limit = input.limit.unwrap_or(20).clamp(1, 50);
        let request = Blame { since, limit, ..Blame::of(path) };
        let answer = SearchIndex::of(access.engine).blame(&request)?;
        let (calls, all) = fitting(&answer.hits);
        Ok(Noticed::of(Output { calls, more: answer.more || !all }))
    }
}
