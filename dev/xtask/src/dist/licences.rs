//! The licences of the crates that are compiled into the program. They demand that their texts go
//! with every copy of it.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use crate::command::{Failure, cargo, output};

/// The beginnings of the names of files with licences, in lower case.
const NAMES: [&str; 6] = ["license", "licence", "copying", "copyright", "notice", "unlicense"];

/// A crate from the registry.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Crate {
    /// The name and the version, as its folder is named.
    folder: String,
    /// Its licences, as its manifest states them.
    licences: String,
}

/// Returns a list of the crates with their licences, and then each text once, with the crates that
/// have it.
pub(super) fn text() -> Result<String, Failure> {
    let mut list = String::from("forklore contains these crates, each under its own licence.\n\n");
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for found in crates()? {
        list.push_str(&format!("{}: {}\n", found.folder, found.licences));
        for text in files(&source(&found.folder)?)? {
            texts.entry(text).or_default().push(found.folder.clone());
        }
    }
    for (text, crates) in texts {
        let rule = "-".repeat(80);
        list.push_str(&format!("\n{rule}\n{}\n\n{text}\n", crates.join(", ")));
    }
    Ok(list)
}

/// Returns what cargo compiles into the program, without the crates of this repository.
fn crates() -> Result<BTreeSet<Crate>, Failure> {
    let tree = output(
        cargo()
            .args(["tree", "--locked", "-p", "forklore-cli", "--edges", "normal,no-proc-macro"])
            .args(["--prefix", "none", "--no-dedupe", "--format", "{p}|{l}"]),
    )?;
    let read = |line: &str| {
        let (package, licences) = line.split_once('|')?;
        // A crate of this repository has its folder behind its version.
        let (name, version) = package.split_once(" v").filter(|(_, rest)| !rest.contains(' '))?;
        Some(Crate { folder: format!("{name}-{version}"), licences: licences.to_owned() })
    };
    Ok(tree.lines().filter_map(read).collect())
}

/// Returns the folder with the source of a crate, which cargo unpacked to compile it.
fn source(folder: &str) -> Result<PathBuf, Failure> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo"))).unwrap_or_default();
    let registries = home.join("registry").join("src");
    let found = fs::read_dir(&registries).map_err(failed(&registries))?.flatten();
    let mut found = found.map(|registry| registry.path().join(folder)).filter(|path| path.is_dir());
    found.next().ok_or_else(|| failed(&registries.join(folder))(ErrorKind::NotFound.into()))
}

/// Returns the texts of the licences in a folder.
fn files(folder: &Path) -> Result<Vec<String>, Failure> {
    let entries = fs::read_dir(folder).map_err(failed(folder))?.flatten();
    let is_licence = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        path.is_file() && NAMES.iter().any(|start| name.starts_with(start))
    };
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).filter(is_licence).collect();
    paths.sort();
    let text = |path: &PathBuf| {
        let bytes = fs::read(path).map_err(failed(path))?;
        Ok(String::from_utf8_lossy(&bytes).replace('\r', "").trim_end().to_owned())
    };
    paths.iter().map(text).collect()
}

fn failed(path: &Path) -> impl Fn(Error) -> Failure {
    move |source| Failure::Folder { path: path.to_path_buf(), source }
}
