//! Tests that every Rust file belongs to a target. A file that no module declares is never
//! compiled, and its tests never run. Also tests that the file of a module has the module's name,
//! and that no file is named `mod.rs`.

use std::collections::{BTreeMap, BTreeSet};

use crate::assert_none;
use crate::tree::{File, sources};

/// Checks whether cargo creates a target for a file at this path.
fn is_target(path: &str) -> bool {
    let parts: Vec<_> = path.split('/').collect();
    match parts.as_slice() {
        [.., "src", "lib.rs" | "main.rs"] => true,
        [.., "src", "bin", _] | [.., "src", "bin", _, "main.rs"] => true,
        [.., "tests" | "benches" | "examples", _] => !parts.contains(&"src"),
        [.., "tests" | "benches" | "examples", _, "main.rs"] => !parts.contains(&"src"),
        [.., "build.rs"] => !parts.contains(&"src"),
        ["fuzz", "fuzz_targets", _] => true,
        _ => false,
    }
}

/// Returns the directory in which the submodules of a file are.
fn folder(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    if is_target(path) {
        folder.to_owned()
    } else {
        format!("{folder}/{}", name.trim_end_matches(".rs"))
    }
}

/// Returns the paths of the files for modules that a file declares with `mod name;`.
fn declared(file: &File) -> Vec<String> {
    let mut path = None;
    let mut modules = Vec::new();
    for line in file.text.lines().map(str::trim) {
        if let Some(named) = line.strip_prefix("#[path = \"") {
            path = named.split('"').next();
        } else if let Some(name) = module(line) {
            let own = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let within = folder(&file.path);
            let plain = || format!("{within}/{name}.rs");
            modules.push(path.take().map_or_else(plain, |path| format!("{own}/{path}")));
        }
    }
    modules
}

/// Returns the name in a line `mod name;`, with any visibility.
fn module(line: &str) -> Option<&str> {
    let (before, name) = line.strip_suffix(';')?.rsplit_once("mod ")?;
    let visibility = before.trim();
    let is_word = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_word && (visibility.is_empty() || visibility.starts_with("pub"))).then_some(name)
}

/// Returns the files that belong to no target.
fn forgotten(files: &[File]) -> Vec<String> {
    let by_path: BTreeMap<_, _> = files.iter().map(|file| (file.path.as_str(), file)).collect();
    let mut open: Vec<_> = by_path.keys().copied().filter(|path| is_target(path)).collect();
    let mut seen = BTreeSet::new();
    while let Some(path) = open.pop() {
        if seen.insert(path) {
            let paths = declared(by_path[path]).into_iter();
            open.extend(
                paths.filter_map(|path| by_path.get_key_value(&*path).map(|(key, _)| *key)),
            );
        }
    }
    let lost = by_path.keys().filter(|path| !seen.contains(**path));
    lost.map(|path| format!("{path}: no `mod` leads to this file")).collect()
}

#[test]
fn no_file_is_forgotten() {
    assert_none(&forgotten(&sources()));
}

#[test]
fn cargo_finds_targets_by_itself() {
    // The manifest of `fuzz` is left out: that crate has no tests. A native module is tested in its
    // language: without an interpreter, a test of Rust cannot be linked with it.
    let elsewhere = ["fuzz/", "bindings/"];
    let manifests = crate::tree::files().into_iter().filter(|file| {
        let has_tests = !elsewhere.iter().any(|folder| file.path.starts_with(folder));
        file.path.ends_with("Cargo.toml") && has_tests
    });
    let off = manifests.flat_map(|file| {
        let lines = file.text.lines().map(str::to_owned).collect::<Vec<_>>();
        lines.into_iter().filter_map(move |line| {
            let switch = ["autotests", "autobins", "autobenches", "autoexamples", "test = false"];
            let hit = switch.iter().find(|word| line.trim().starts_with(**word))?;
            Some(format!("{}: `{hit}` hides tests", file.path))
        })
    });
    assert_none(&off.collect::<Vec<_>>());
}

#[test]
fn a_forgotten_file_is_named() {
    let files = [
        File::new("a/src/lib.rs", "pub mod one;\npub(crate) mod two;"),
        File::new("a/src/one.rs", "mod deep;"),
        File::new("a/src/one/deep.rs", "#[cfg(test)]\n#[path = \"deep_tests.rs\"]\nmod tests;"),
        File::new("a/src/one/deep_tests.rs", ""),
        File::new("a/src/two.rs", "mod tests;"),
        File::new("a/src/two/mod.rs", "mod tests;"),
        File::new("a/src/two/tests/forgotten.rs", ""),
        File::new("a/src/two/tests.rs", "// mod forgotten;"),
        File::new("a/tests/runs.rs", "mod support;"),
        File::new("a/tests/support.rs", ""),
        File::new("a/tests/group/main.rs", "mod case;"),
        File::new("a/tests/group/case.rs", ""),
        File::new("a/tests/group/lost.rs", ""),
    ];
    let lost = ["a/src/two/mod.rs", "a/src/two/tests/forgotten.rs", "a/tests/group/lost.rs"];
    assert_eq!(forgotten(&files), lost.map(|path| format!("{path}: no `mod` leads to this file")));
}
