//! Finds the workspaces of files whose agents write only a key of the folder that they worked in. A
//! key is the name of the folder and a part of the hash of its path (docs/semantics.md, Sources and
//! Workspaces).

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use forklore_core::workspace::Workspace;
use forklore_engine::sources::path_text;
use forklore_engine::{Engine, Result};
use forklore_store::port::Filter;

use crate::candidate::Candidate;

/// Number of characters to which a key shortens the name of its folder.
const NAME: usize = 32;

/// Sets the working directory of each file whose path contains only the key of that directory. The
/// directory is the folder with this key among the known folders. The known folders are `current`,
/// the folders that the other files name, the workspaces in the store, the folders above all these,
/// and the folders directly in any of them. If no known folder has this key, the agent worked in an
/// unknown folder. The file's own folder then stands for the unknown one, so that the sessions of
/// different folders do not mix.
pub(crate) fn assign(
    engine: &Engine,
    current: &Workspace,
    candidates: &mut [Candidate],
) -> Result<()> {
    let is_keyed =
        |it: &Candidate| it.cwd.is_none() && it.dialect.workspace_key(&it.path).is_some();
    if !candidates.iter().any(is_keyed) {
        return Ok(());
    }
    let mut folders = KeyedFolders::default();
    folders.add(current.as_str());
    for cwd in candidates.iter().filter_map(|candidate| candidate.cwd.as_deref()) {
        folders.add(cwd);
    }
    for header in engine.store().sessions(&Filter::default(), None, 0)?.sound {
        folders.add(header.workspace.as_str());
    }
    for candidate in candidates.iter_mut().filter(|candidate| is_keyed(candidate)) {
        let path = candidate.path.clone();
        let Some(key) = candidate.dialect.workspace_key(&path) else { continue };
        let folder = folders.find(key).or_else(|| path.parent().map(path_text));
        candidate.document_facts.cwd = folder;
    }
    Ok(())
}

/// The folders that may be the workspace of a file, by key.
#[derive(Default)]
struct KeyedFolders {
    by_key: HashMap<String, Workspace>,
    folders: BTreeSet<String>,
}

impl KeyedFolders {
    /// Adds a folder, and all folders above it.
    fn add(&mut self, folder: &str) {
        for above in Path::new(folder).ancestors() {
            let Some(path) = above.to_str().filter(|path| !path.is_empty()) else { continue };
            if !self.folders.insert(path.to_owned()) {
                return;
            }
            let workspace = Workspace::new(path);
            self.by_key.insert(workspace.key(), workspace);
        }
    }

    /// Returns the path of the folder with this key: a folder that was added, or one directly in
    /// such a folder. A key begins with the name of its folder, which may be shortened and have
    /// characters replaced. If the name is changed in the key, a folder that was not added itself
    /// is found only if it exists on the disk. Returns `None` if no such folder has the key.
    fn find(&self, key: &str) -> Option<String> {
        if let Some(found) = self.by_key.get(key) {
            return Some(found.as_str().to_owned());
        }
        let (name, _) = key.rsplit_once('-')?;
        let is_whole = !name.contains('_') && name.len() < NAME;
        let named = self.folders.iter().map(|folder| Path::new(folder).join(name));
        let listed = self.folders.iter().filter(|_| !is_whole).flat_map(|folder| entries(folder));
        let mut inside = named.chain(listed).filter_map(|path| path.to_str().map(Workspace::new));
        inside.find(|it| it.key() == key).map(|it| it.as_str().to_owned())
    }
}

/// Returns the paths of all that is directly in a folder. A folder that cannot be read has nothing.
fn entries(folder: &str) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| entry.ok().map(|entry| entry.path()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_finds_its_folder_among_these_folders_and_their_neighbours() {
        let mut folders = KeyedFolders::default();
        folders.add("/home/me/work/shop");
        folders.add("/srv/app");
        let find = |path: &str| folders.find(&Workspace::new(path).key());
        for path in ["/home/me/work/shop", "/home/me", "/home/me/work/blog", "/srv/app/sub", "/tmp"]
        {
            assert_eq!(find(path).as_deref(), Some(path));
        }
        assert_eq!(find("/home/you/work/shop"), None);
        assert_eq!(find("/home/me/play/shop"), None);
        assert_eq!(folders.find("shop-0a1b2c3d4e5f"), None);
    }

    #[test]
    fn a_folder_whose_name_a_key_changes_is_found_if_it_exists() {
        let home = tempfile::tempdir().unwrap();
        let mut folders = KeyedFolders::default();
        folders.add(home.path().to_str().unwrap());
        for name in ["my project", "größe", &"long".repeat(10)] {
            let folder = home.path().join(name);
            let key = Workspace::new(folder.to_str().unwrap()).key();
            assert_eq!(folders.find(&key), None);
            std::fs::create_dir(&folder).unwrap();
            assert_eq!(folders.find(&key).as_deref(), folder.to_str());
        }
    }
}
