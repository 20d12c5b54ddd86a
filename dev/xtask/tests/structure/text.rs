//! Tests that files do not contain too many lines, meaningless names, or leftovers.

use std::fs;
use std::path::{Path, PathBuf};

use crate::assert_none;
use crate::tree::{self, File, files, sources};

const MOST_LINES: usize = 500;

const EMPTY_NAMES: [&str; 7] = ["util", "utils", "helper", "helpers", "common", "misc", "manager"];

/// Texts that must not remain in a file. Each is split in two here, because this test also searches
/// its own file.
const LEFT_BEHIND: [&str; 5] = [
    concat!("#[ig", "nore"),
    concat!("to", "do!("),
    concat!("unimple", "mented!("),
    concat!("FIX", "ME"),
    concat!("db", "g!("),
];

/// Texts that write to standard output or error. The files in `OUTPUT` are the only ones that may
/// contain them.
const PRINTS: [&str; 4] = ["println!(", "print!(", "stdout()", "stderr()"];
const OUTPUT: [&str; 9] = [
    "dev/agent-compat/src/output.rs",
    "crates/forklore-chat/src/input/terminal.rs",
    "dev/faults/src/process.rs",
    "crates/forklore-cli/src/output",
    // The interface draws on the terminal; everything it draws is escaped when it is loaded.
    "crates/forklore-ui/src/terminal.rs",
    // The protocol is spoken over standard output.
    "crates/forklore-mcp/src/stdio.rs",
    "dev/bench/src/output.rs",
    "dev/xtask/src/",
    "crates/forklore-conformance/src/",
];

/// Texts that access files, the network or other parts of the outside world. Pure crates must not
/// contain them.
const REACHES_OUT: [&str; 11] = [
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
    "std::thread",
    "File::",
    "SystemTime::now",
    "Instant::now",
    "Timestamp::now",
    "Zoned::now",
    "now_v7",
];

/// Directories that exist on every machine, so that their names reveal nothing.
const EVERYWHERE: [&str; 8] = ["/", "/home", "/media", "/mnt", "/opt", "/tmp", "/usr", "/var"];

/// Returns the position and the word for each line of the files that contains one of the words.
fn lines_with(files: &[File], words: &[&str]) -> Vec<String> {
    let hits = files.iter().flat_map(|file| {
        file.text.lines().enumerate().filter_map(|(number, line)| {
            let word = words.iter().find(|word| line.contains(**word))?;
            Some(format!("{}:{}: {word}", file.path, number + 1))
        })
    });
    hits.collect()
}

/// Returns the files in `src` directories whose paths begin with `crates`, with comments removed.
fn code_of(crates: &str) -> Vec<File> {
    let mut code = sources();
    code.retain(|file| file.path.starts_with(crates) && file.path.contains("/src/"));
    assert!(!code.is_empty(), "no code in {crates}");
    for file in &mut code {
        let lines = file.text.lines().map(|line| line.split("//").next().unwrap_or_default());
        file.text = lines.collect::<Vec<_>>().join("\n");
    }
    code
}

fn has_empty_name(path: &str) -> bool {
    path.split('/').any(|part| EMPTY_NAMES.contains(&part.trim_end_matches(".rs")))
}

#[test]
fn a_file_is_one_idea() {
    let long = sources().into_iter().filter_map(|file| {
        let lines = file.text.lines().count();
        (lines > MOST_LINES).then(|| format!("{}: {lines} lines, {MOST_LINES} at most", file.path))
    });
    assert_none(&long.collect::<Vec<_>>());
}

#[test]
fn a_name_says_what_a_file_is() {
    let empty = sources().into_iter().filter(|file| has_empty_name(&file.path));
    assert_none(&empty.map(|file| format!("{}: says nothing", file.path)).collect::<Vec<_>>());
}

#[test]
fn nothing_is_left_behind() {
    assert_none(&lines_with(&sources(), &LEFT_BEHIND));
}

#[test]
fn only_the_output_prints() {
    let mut code = [code_of("crates/"), code_of("dev/")].concat();
    code.retain(|file| !OUTPUT.iter().any(|output| file.path.starts_with(output)));
    assert_none(&lines_with(&code, &PRINTS));
}

/// Tests that only front ends suggest commands, because only a front end knows how its user enters
/// them.
#[test]
fn no_library_proposes_a_command_line() {
    let faces = [
        "crates/forklore-cli/",
        "crates/forklore-chat/",
        "crates/forklore-host/",
        "crates/forklore-mcp/",
        "crates/forklore-ui/",
        "crates/forklore-web/",
    ];
    let mut code = code_of("crates/");
    code.retain(|file| !faces.iter().any(|face| file.path.starts_with(face)));
    let verbs = [
        "append", "attach", "branches", "delete", "detach", "diff", "export", "fork", "gc",
        "import", "inspect", "label", "lineage", "list", "log", "new", "pack", "rename", "replay",
        "restore", "resume", "show", "stats", "tree", "verify",
    ];
    let commands: Vec<_> = verbs.iter().map(|verb| format!("forklore {verb}")).collect();
    let commands: Vec<_> = commands.iter().map(String::as_str).collect();
    assert_none(&lines_with(&code, &commands));
}

#[test]
fn the_model_reaches_nowhere() {
    assert_none(&lines_with(&code_of("crates/forklore-core/"), &REACHES_OUT));
}

/// Tests that no file contains a path of the machine on which it was written: the home directory,
/// this checkout, or a neighbour of this checkout.
#[test]
fn no_file_names_a_path_of_this_machine() {
    let mut locations = vec![PathBuf::from(std::env::var_os("HOME").unwrap_or_default())];
    let parent = tree::root().parent().unwrap();
    if is_particular(parent) {
        locations.extend(fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().path()));
    }
    locations.retain(|position| is_particular(position));
    let mut written = files();
    written.retain(|file| !file.path.contains("testdata/"));
    let found = written.iter().filter_map(|file| {
        let location =
            locations.iter().find(|position| names(&file.text, position.to_str().unwrap()))?;
        Some(format!("{}: names {}", file.path, location.display()))
    });
    assert_none(&found.collect::<Vec<_>>());
}

/// Checks whether a text contains a path as a whole, and not only as a part of a longer path.
fn names(text: &str, path: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || "._-".contains(c);
    text.match_indices(path).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + path.len()..]);
        !before.ends_with(goes_on) && !after.starts_with(goes_on)
    })
}

/// Checks whether a path reveals something about the machine on which it exists.
fn is_particular(path: &Path) -> bool {
    let everywhere = EVERYWHERE.iter().any(|location| path == Path::new(location));
    path.is_absolute() && !everywhere && path != std::env::temp_dir()
}

#[test]
fn a_bad_line_is_named() {
    let text = format!("fn a() {{\n    {}\"b\")\n}} // {}\n", LEFT_BEHIND[1], LEFT_BEHIND[3]);
    let found = lines_with(&[File::new("src/a.rs", &text)], &LEFT_BEHIND);
    assert_eq!(
        found,
        [(2, 1), (3, 3)].map(|(line, n)| format!("src/a.rs:{line}: {}", LEFT_BEHIND[n]))
    );
    assert!(has_empty_name("src/utils/a.rs") && has_empty_name("src/misc.rs"));
    assert!(!has_empty_name("src/miscount.rs"));
    assert!(names("cd /ada/a", "/ada") && names("(/ada)", "/ada"));
    assert!(!names("parent/ada", "/ada") && !names("/ada-1", "/ada"));
}
