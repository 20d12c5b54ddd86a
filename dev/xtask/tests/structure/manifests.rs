//! Tests that the manifests of all crates inherit the settings of the workspace.

use toml::{Table, Value};

use crate::assert_none;
use crate::tree::{File, files};

/// The manifest (`Cargo.toml`) of a crate.
pub(crate) struct Manifest {
    /// The path of the manifest, relative to the root of the workspace, with `/` as separator.
    pub(crate) path: String,
    table: Table,
}

impl Manifest {
    fn read(file: &File) -> Self {
        let table = file.text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.path));
        Self { path: file.path.clone(), table }
    }

    pub(crate) fn name(&self) -> &str {
        self.table["package"]["name"].as_str().unwrap()
    }

    /// Returns the names and values of all dependencies of one kind, for example
    /// `dev-dependencies`. Platform-specific dependencies are included.
    pub(crate) fn dependencies(&self, kind: &str) -> Vec<(String, Value)> {
        let platforms = self.table.get("target").and_then(Value::as_table);
        let platforms = platforms.into_iter().flat_map(Table::values).filter_map(Value::as_table);
        let tables = std::iter::once(&self.table).chain(platforms);
        let found = tables.filter_map(|table| table.get(kind)?.as_table()).flatten();
        found.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// Returns the manifests of all crates. The manifest of the workspace is left out, and that of
/// `fuzz`, which is a separate workspace.
pub(crate) fn all() -> Vec<Manifest> {
    let is_crate = |path: &str| path.ends_with("/Cargo.toml") && !path.starts_with("fuzz/");
    let manifests = files().into_iter().filter(|file| is_crate(&file.path));
    manifests.map(|file| Manifest::read(&file)).collect()
}

fn is_inherited(value: Option<&Value>) -> bool {
    value.and_then(|value| value.get("workspace")).and_then(Value::as_bool) == Some(true)
}

/// The manifests of the crates that call SQLite's C API or map a file into memory, and of native
/// modules, for which macros generate the calls. These crates may allow `unsafe` code in the modules
/// that need it. All other crates must forbid it.
const UNSAFE: [&str; 5] = [
    "bindings/python/Cargo.toml",
    "bindings/typescript/Cargo.toml",
    "crates/forklore-sqlite/Cargo.toml",
    "dev/bench/Cargo.toml",
    "dev/faults/Cargo.toml",
];

fn may_be_unsafe(manifest: &Manifest, lints: Option<&Value>) -> bool {
    let lint = lints.and_then(|lints| lints.get("rust")?.get("unsafe_code")?.as_str());
    UNSAFE.contains(&&*manifest.path) && lint == Some("deny")
}

/// Returns one line for each setting that a manifest must inherit from the workspace but does not.
fn own_settings(manifest: &Manifest) -> Vec<String> {
    let package = &manifest.table["package"];
    let mut wrong = Vec::new();
    let mut check = |field: String, inherited: bool| {
        if !inherited {
            wrong.push(format!("{}: {field} is not taken from the workspace", manifest.path));
        }
    };
    for field in ["version", "edition", "rust-version", "license"] {
        check(format!("package.{field}"), is_inherited(package.get(field)));
    }
    let lints = manifest.table.get("lints");
    check("lints".to_owned(), is_inherited(lints) || may_be_unsafe(manifest, lints));
    for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
        for (name, value) in manifest.dependencies(kind) {
            check(format!("{kind}.{name}"), is_inherited(Some(&value)));
        }
    }
    wrong
}

#[test]
fn every_crate_inherits_from_the_workspace() {
    let manifests = all();
    assert!(manifests.iter().any(|manifest| manifest.name() == "xtask"));
    assert_none(&manifests.iter().flat_map(own_settings).collect::<Vec<_>>());
}

#[test]
fn every_crate_says_what_it_is() {
    let silent = all().into_iter().filter(|manifest| {
        let text = manifest.table["package"].get("description").and_then(Value::as_str);
        text.is_none_or(|text| text.trim().is_empty())
    });
    assert_none(&silent.map(|it| format!("{}: no description", it.path)).collect::<Vec<_>>());
}

#[test]
fn an_own_version_is_named() {
    let manifest = Manifest::read(&File::new(
        "a/Cargo.toml",
        "package = { name = 'a', version = '1', edition.workspace = true, \
         rust-version.workspace = true, license.workspace = true }\n\
         lints.workspace = true\n\
         [dependencies]\nb.workspace = true\nc = { version = '2' }\n\
         [target.'cfg(unix)'.dev-dependencies]\nd = '3'\n",
    ));
    let wrong = ["package.version", "dependencies.c", "dev-dependencies.d"]
        .map(|field| format!("a/Cargo.toml: {field} is not taken from the workspace"));
    assert_eq!(own_settings(&manifest), wrong);
}
