//! Tests that names use the field's terms, and that comments cite existing sections.

use crate::assert_none;
use crate::tree::{self, sources};

/// Words that are too vague for a name, because they fit everything.
const VAGUE: [&str; 20] = [
    "told", "said", "asked", "kept", "heard", "held", "known", "taken", "spent", "place", "places",
    "room", "matter", "standing", "vain", "beside", "keep", "spelled", "ahead", "quiet",
];

/// Names of other crates that contain a vague word and may therefore be used, and how they are used.
const OF_OTHERS: [(&str, &str); 2] =
    [("tempfile::TempDir::keep", ".keep()"), ("tokio::task::block_in_place", "block_in_place(")];

/// Returns the length of the comment or literal at the beginning of `rest`, in bytes. `None` if
/// `rest` begins with neither.
fn end_of_text(rest: &str) -> Option<usize> {
    let until = |from: usize, end: &str| {
        let found = rest.get(from..).and_then(|text| text.find(end));
        found.map_or(rest.len(), |at| from + at + end.len())
    };
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if let Some(hashes) =
        rest.strip_prefix('r').map(|raw| raw.len() - raw.trim_start_matches('#').len())
        && rest[1 + hashes..].starts_with('"')
    {
        return Some(until(hashes + 2, &format!("\"{}", "#".repeat(hashes))));
    }
    if rest.starts_with("'\\") {
        return Some(until(3, "'"));
    }
    if rest.starts_with('\'') {
        // A quote that begins a lifetime has no closing quote. A character literal has one two
        // characters later.
        return rest
            .chars()
            .nth(2)
            .filter(|c| *c == '\'')
            .and(rest.char_indices().nth(3))
            .map(|it| it.0);
    }
    if !rest.starts_with('"') {
        return None;
    }
    let mut escaped = false;
    let end = rest.char_indices().skip(1).find(|(_, c)| {
        let is_end = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        is_end
    });
    Some(end.map_or(rest.len(), |(at, _)| at + 1))
}

/// Returns the identifiers of a source file, each with its line number. Comments and literals are
/// ignored.
fn identifiers(text: &str) -> Vec<(usize, &str)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let (mut found, mut at, mut line) = (Vec::new(), 0, 1);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let length = if let Some(end) = end_of_text(rest) {
            end
        } else if rest.starts_with(is_part) {
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            found.push((line, &rest[..end]));
            end
        } else {
            rest.chars().next().map_or(1, char::len_utf8)
        };
        line += rest[..length].matches('\n').count();
        at += length;
    }
    found
}

/// Splits a name in snake case or camel case into its words, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut separated = String::new();
    for c in name.chars() {
        if c.is_uppercase() && separated.ends_with(char::is_lowercase) {
            separated.push('_');
        }
        separated.push(c);
    }
    separated.to_lowercase().split('_').map(str::to_owned).collect()
}

fn is_vague(name: &str) -> bool {
    words(name).iter().any(|word| VAGUE.contains(&word.as_str()))
}

#[test]
fn names_use_the_fields_terms() {
    let mut vague = Vec::new();
    for file in sources() {
        for part in file.path.split(['/', '.']).filter(|part| is_vague(part)) {
            vague.push(format!("{}: {part}", file.path));
        }
        let others = OF_OTHERS.map(|(path, usage)| (path.rsplit("::").next().unwrap(), usage));
        for (line, name) in identifiers(&file.text) {
            let is_of_others =
                others.iter().any(|(other, usage)| *other == name && file.text.contains(usage));
            if is_vague(name) && !is_of_others {
                vague.push(format!("{}:{line}: {name}", file.path));
            }
        }
    }
    assert_none(&vague);
}

#[test]
fn names_are_read_without_comments_and_literals() {
    let text =
        "let a_b = \"said \\\" told\"; // kept\nlet c: &'x str = r#\"held\"#; 'q'; '\\'';\nFoo::d";
    let names =
        [(1, "let"), (1, "a_b"), (2, "let"), (2, "c"), (2, "x"), (2, "str"), (3, "Foo"), (3, "d")];
    assert_eq!(identifiers(text), names);
    assert_eq!(words("LabelInUse_of2"), ["label", "in", "use", "of2"]);
    assert!(is_vague("LastKept") && is_vague("KEPT_PART") && !is_vague("keeper"));
}

/// Returns the sections of docs/semantics.md that the comments of a file cite.
fn cited(text: &str) -> Vec<String> {
    let comments: String = text
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("//"))
        .map(|line| format!("{} ", line.trim_start_matches(['/', '!']).trim()))
        .collect();
    let parts = comments.split("(docs/semantics.md, ").skip(1);
    parts.filter_map(|part| part.split([')', ';']).next()).map(str::to_owned).collect()
}

#[test]
fn cited_sections_exist() {
    let page = std::fs::read_to_string(tree::root().join("docs/semantics.md")).unwrap();
    let title = |line: &str| {
        let title = line.trim_start_matches('#').trim();
        title.trim_start_matches(|c: char| c.is_ascii_digit()).trim().to_owned()
    };
    let sections: Vec<_> = page.lines().filter(|line| line.starts_with("##")).map(title).collect();
    let mut wrong = Vec::new();
    for file in sources() {
        let is_there = |section: &str| {
            let is_one = |name: &str| sections.iter().any(|section| section == name);
            is_one(section) || section.split(" and ").flat_map(|part| part.split(", ")).all(is_one)
        };
        let missing = cited(&file.text).into_iter().filter(|section| !is_there(section));
        wrong.extend(
            missing.map(|section| format!("{}: docs/semantics.md has no {section:?}", file.path)),
        );
    }
    assert_none(&wrong);
}

/// Tests that comments cite no document outside the repository, because readers could not find it.
#[test]
fn comments_cite_only_the_repository() {
    let outside = ["SPEC", "CRAFT", "DESIGN", "ACCEPTANCE"];
    let mut wrong = Vec::new();
    for file in sources() {
        for (number, line) in file.text.lines().enumerate() {
            let comment = line.split("//").nth(1).unwrap_or_default();
            if comment.split([' ', '(', ',']).any(|word| outside.contains(&word)) {
                wrong.push(format!("{}:{}: {}", file.path, number + 1, comment.trim()));
            }
        }
    }
    assert_none(&wrong);
}
