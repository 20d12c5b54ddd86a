//! The files of the checkout, without build output and downloads.

use std::fs;
use std::path::{Path, PathBuf};

/// A text file of the checkout.
#[derive(Clone)]
pub(crate) struct File {
    /// The path relative to the root of the workspace, with `/` as separator.
    pub(crate) path: String,
    /// The content of the file.
    pub(crate) text: String,
}

impl File {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }
}

/// Returns the root directory of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// Returns all text files of the checkout, sorted by path.
pub(crate) fn files() -> Vec<File> {
    let mut found = Vec::new();
    collect(root(), &mut found);
    found.sort();
    let files = found.into_iter().filter_map(|path| {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
        Some(File { path: name, text: String::from_utf8(fs::read(&path).unwrap()).ok()? })
    });
    files.collect()
}

/// Returns all Rust files of the checkout, sorted by path.
pub(crate) fn sources() -> Vec<File> {
    files().into_iter().filter(File::is_rust).collect()
}

/// Checks whether a directory has what tools write and download.
fn is_output(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    ["target", ".git", "node_modules", "__pycache__", ".mypy_cache"].contains(&&*name)
        || folder == root().join("bindings/typescript/dist")
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_file() {
            found.push(entry.path());
        } else if kind.is_dir() && !is_output(&entry.path()) {
            collect(&entry.path(), found);
        }
    }
}
