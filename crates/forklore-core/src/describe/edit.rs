//! Finds the changes of files in the arguments of a tool call: replaced texts, written files, and
//! patches in the form of Codex.

use serde_json::{Map, Value};

use super::call::{path, text};

/// The names of the arguments with the old and the new text of an edit, in each spelling that
/// agents use.
const OLD_NEW: [(&str, &str); 4] = [
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("oldText", "newText"),
    ("old_str", "new_str"),
];
const WRITTEN: [&str; 3] = ["content", "file_text", "contents"];
const PATCHES: [&str; 4] = ["patch", "patchText", "input", "command"];
const BEGIN_PATCH: &str = "*** Begin Patch";

/// The changes that a tool call makes to one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileEdit {
    /// The path of the file, as the call names it.
    pub path: String,
    /// The changes, in the order of the call.
    pub changes: Vec<Change>,
}

impl FileEdit {
    /// Returns the sum of `of` over the changes.
    pub(super) fn lines(&self, of: fn(&Change) -> usize) -> usize {
        self.changes.iter().map(of).sum()
    }
}

/// A change of a file: the lines in their order. Each line is kept, removed or added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change(Vec<(char, String)>);

impl Change {
    /// Returns the lines, each with its mark: `-` if the change removes the line, `+` if the change
    /// adds it, and a space if it stays.
    #[must_use]
    pub fn marked(&self) -> &[(char, String)] {
        &self.0
    }

    pub(super) fn added(&self) -> Vec<&str> {
        self.with('+')
    }

    pub(super) fn removed(&self) -> Vec<&str> {
        self.with('-')
    }

    fn with(&self, mark: char) -> Vec<&str> {
        self.0.iter().filter(|(it, _)| *it == mark).map(|(_, line)| line.as_str()).collect()
    }

    /// Creates the change from one text to another. Equal lines at the beginning and at the end
    /// stay.
    fn between(old: &str, new: &str) -> Self {
        let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
        let before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let rest = |lines: &[&str]| lines.len() - before;
        let most = rest(&old).min(rest(&new));
        let after =
            old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
        let marked = |mark: char, lines: &[&str], from: usize, end: usize| {
            let lines = lines.iter().take(end).skip(from);
            lines.map(|line| (mark, (*line).to_owned())).collect::<Vec<_>>()
        };
        let mut lines = marked(' ', &old, 0, before);
        lines.extend(marked('-', &old, before, old.len() - after));
        lines.extend(marked('+', &new, before, new.len() - after));
        lines.extend(marked(' ', &old, old.len() - after, old.len()));
        Self(lines)
    }
}

/// Returns the changes of files that a call with these arguments makes. Empty if the call changes
/// no file, or if its arguments do not show the changes, as with a command.
#[must_use]
pub fn file_edits(arguments: &Value) -> Vec<FileEdit> {
    match arguments {
        Value::Object(fields) => of_fields(fields),
        Value::String(text) => of_patch(text),
        _ => Vec::new(),
    }
}

pub(super) fn of_fields(fields: &Map<String, Value>) -> Vec<FileEdit> {
    let patches = PATCHES.iter().filter_map(|name| fields.get(*name));
    for patch in patches {
        let text = match patch {
            Value::String(text) => Some(text.as_str()),
            Value::Array(words) => words.last().and_then(Value::as_str),
            _ => None,
        };
        let edits = text.map(of_patch).unwrap_or_default();
        if !edits.is_empty() {
            return edits;
        }
    }
    let Some(path) = path(fields) else { return Vec::new() };
    let mut changes = Vec::from_iter(replaced(fields));
    if let Some(edits) = fields.get("edits").and_then(Value::as_array) {
        changes.extend(edits.iter().filter_map(|edit| replaced(edit.as_object()?)));
    }
    if changes.is_empty() {
        changes.extend(text(fields, &WRITTEN).map(|text| Change::between("", text)));
    }
    if changes.is_empty() {
        return Vec::new();
    }
    vec![FileEdit { path: path.to_owned(), changes }]
}

fn replaced(fields: &Map<String, Value>) -> Option<Change> {
    OLD_NEW.iter().find_map(|(old, new)| {
        let new = fields.get(*new)?.as_str()?;
        let old = fields.get(*old).and_then(Value::as_str).unwrap_or_default();
        Some(Change::between(old, new))
    })
}

/// Parses a patch in the form of Codex: files, each with lines that begin with ` `, `-` or `+`.
fn of_patch(text: &str) -> Vec<FileEdit> {
    let mut edits: Vec<FileEdit> = Vec::new();
    let Some((_, patch)) = text.split_once(BEGIN_PATCH) else { return edits };
    for line in patch.lines().take_while(|line| !line.starts_with("*** End Patch")) {
        let file = ["*** Update File: ", "*** Add File: ", "*** Delete File: "]
            .iter()
            .find_map(|head| line.strip_prefix(head));
        if let Some(path) = file {
            edits.push(FileEdit { path: path.trim().to_owned(), changes: Vec::new() });
            continue;
        }
        let Some(edit) = edits.last_mut() else { continue };
        let mut chars = line.chars();
        let mark = chars.next().filter(|mark| [' ', '-', '+'].contains(mark));
        match (mark, edit.changes.last_mut()) {
            (None, _) if line.starts_with("@@") => edit.changes.push(Change::default()),
            (None, _) => {}
            (Some(mark), Some(change)) => change.0.push((mark, chars.as_str().to_owned())),
            (Some(mark), None) => {
                edit.changes.push(Change(vec![(mark, chars.as_str().to_owned())]));
            }
        }
    }
    edits
}
