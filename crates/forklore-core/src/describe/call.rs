//! Finds what a tool call is about, by the names of its arguments. The tools of all agents use
//! nearly the same names.

use serde_json::{Map, Value};

use super::edit::{self, Change};
use super::{LONGEST, one_line};
use crate::data::Data;
use crate::summary::{beginning, is_done};
use crate::units::count;

const COMMANDS: [&str; 4] = ["command", "cmd", "script", "code"];
pub(super) const PATHS: [&str; 11] = [
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "notebook_path",
    "directory_path",
    "dir_path",
    "directory",
    "filename",
    "file",
    "folder",
];
const PATTERNS: [&str; 4] = ["pattern", "regex", "glob", "glob_pattern"];
const SUBJECTS: [&str; 2] = ["url", "query"];
const WORDS: [&str; 10] = [
    "description",
    "title",
    "name",
    "skill",
    "task",
    "prompt",
    "message",
    "question",
    "subject",
    "text",
];

/// Returns what a call with these arguments is about, in one line. Empty if it has no arguments.
pub(super) fn essence(arguments: &Data, folder: Option<&str>) -> String {
    let read = arguments.readable();
    let value = match read.read::<Value>() {
        // Some agents record the arguments as JSON text in a string.
        Ok(Value::String(text)) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        Ok(value) => value,
        Err(_) => return one_line(arguments.get()),
    };
    let found = match &value {
        Value::Object(fields) if fields.is_empty() => String::new(),
        Value::Object(fields) => of_fields(fields, folder),
        Value::Null => String::new(),
        Value::String(text) => {
            changes(&edit::file_edits(&value), folder).unwrap_or_else(|| first_line(text))
        }
        other => one_line(&other.to_string()),
    };
    beginning(&found, LONGEST).to_owned()
}

fn of_fields(fields: &Map<String, Value>, folder: Option<&str>) -> String {
    let path = path(fields).map(|path| within(path, folder));
    tasks(fields)
        .or_else(|| changes(&edit::of_fields(fields), folder))
        .or_else(|| command(fields, path))
        .or_else(|| searched(fields, path))
        .or_else(|| text(fields, &SUBJECTS).map(one_line))
        .or_else(|| path.map(one_line))
        .or_else(|| text(fields, &WORDS).map(first_line))
        .unwrap_or_else(|| pairs(fields))
}

/// Returns the path that the arguments name.
pub(super) fn path(fields: &Map<String, Value>) -> Option<&str> {
    text(fields, &PATHS)
}

/// Returns the first non-empty text among the fields with these names.
pub(super) fn text<'a>(fields: &'a Map<String, Value>, names: &[&str]) -> Option<&'a str> {
    let found = names.iter().filter_map(|name| fields.get(*name)?.as_str());
    found.map(str::trim).find(|text| !text.is_empty())
}

/// Describes a plan or a todo list: the number of its items, and how many are done.
fn tasks(fields: &Map<String, Value>) -> Option<String> {
    let items = ["todos", "plan"].iter().find_map(|name| fields.get(*name)?.as_array())?;
    let done = items.iter().filter(|item| is_done(item)).count();
    Some(format!("{}, {done} done", count(items.len() as u64, "item")))
}

/// Describes changes of files: the first file, and the numbers of lines.
fn changes(edits: &[edit::FileEdit], folder: Option<&str>) -> Option<String> {
    let first = edits.first()?;
    let others = match edits.len() - 1 {
        0 => String::new(),
        more => format!(" and {}", count(more as u64, "more file")),
    };
    let lines = |of: fn(&Change) -> usize| edits.iter().map(|edit| edit.lines(of)).sum::<usize>();
    let (added, removed) = (lines(|change| change.added().len()), lines(|it| it.removed().len()));
    let mut line = format!("{}{others}", within(&first.path, folder));
    if added > 0 {
        line += &format!(" +{added}");
    }
    if removed > 0 {
        line += &format!(" -{removed}");
    }
    Some(line)
}

/// Returns the command that a call executes. If the command is a single word, such as `view`, and
/// the call also names a file, adds the file.
fn command(fields: &Map<String, Value>, path: Option<&str>) -> Option<String> {
    if let Some(command) = text(fields, &COMMANDS) {
        let is_word = !command.contains(char::is_whitespace);
        return Some(match path.filter(|_| is_word) {
            Some(path) => format!("{command} {path}"),
            None => first_line(command),
        });
    }
    let words = COMMANDS.iter().find_map(|name| fields.get(*name)?.as_array())?;
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    match words.as_slice() {
        // `bash -lc COMMAND`
        [_, option, command] if option.starts_with('-') && option.ends_with('c') => {
            Some(first_line(command))
        }
        words => Some(first_line(&words.join(" "))),
    }
}

fn searched(fields: &Map<String, Value>, path: Option<&str>) -> Option<String> {
    let pattern = one_line(text(fields, &PATTERNS)?);
    Some(match path {
        Some(path) => format!("{pattern} in {path}"),
        None => pattern,
    })
}

/// Returns the arguments whose values are strings, numbers or booleans, as `name=value`. If there
/// are no such arguments, returns all arguments as JSON.
fn pairs(fields: &Map<String, Value>) -> String {
    let short = fields.iter().filter_map(|(name, value)| match value {
        Value::String(text) => Some(format!("{name}={}", one_line(text))),
        Value::Number(_) | Value::Bool(_) => Some(format!("{name}={value}")),
        _ => None,
    });
    let short = short.collect::<Vec<_>>().join(" ");
    if short.is_empty() { one_line(&Value::Object(fields.clone()).to_string()) } else { short }
}

/// Returns the first line of `text`, with the number of further lines.
fn first_line(text: &str) -> String {
    let mut lines = text.trim().lines();
    let first = one_line(lines.next().unwrap_or_default());
    match lines.count() {
        0 => first,
        more => format!("{first} (+{})", count(more as u64, "line")),
    }
}

/// Returns `path` relative to `folder`, if the path is in that folder. Returns any other path
/// unchanged.
pub(super) fn within<'a>(path: &'a str, folder: Option<&str>) -> &'a str {
    let below = folder.and_then(|folder| path.strip_prefix(folder)?.strip_prefix('/'));
    below.filter(|below| !below.is_empty()).unwrap_or(path)
}
