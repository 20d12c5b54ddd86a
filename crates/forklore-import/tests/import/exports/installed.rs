//! A home directory and a workspace, in which an agent would find the sessions that tests export.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use forklore_core::{Selector, SessionId};
use forklore_engine::ExportTo;

use crate::scene::Scene;

/// A home directory and a workspace of their own.
pub(super) struct Installed {
    folder: tempfile::TempDir,
}

impl Installed {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "work – here"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    pub(super) fn home(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("home")
    }

    /// Returns the directory in which the agent works.
    pub(super) fn workspace(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("work – here")
    }

    /// Writes a session, or its part up to a cut, where the agent looks for it, as `forklore
    /// resume-in` does. Returns the path of the session file.
    pub(super) fn write(
        &self,
        scene: &Scene,
        session: &SessionId,
        agent: &str,
        at: Option<Selector>,
    ) -> PathBuf {
        let cwd = Some(self.workspace().to_str().unwrap().to_owned());
        let request = ExportTo { dialect: agent.into(), at, cwd };
        let outgoing = scene.engine.export_to(session, &request).unwrap();
        let root = match outgoing.agent().home() {
            Some(home) => self.home().join(home.folder),
            None => self.workspace(),
        };
        let read = |path: &Path| fs::read_to_string(root.join(path)).ok();
        let placement = outgoing.agent().destination(outgoing.file(), &read).unwrap();
        for (path, text) in &placement.companions {
            fs::write(new_path(&root, path), text).unwrap();
        }
        for (file, path) in outgoing.sidecars().unwrap() {
            let mut out = File::create_new(new_path(&root, &path)).unwrap();
            scene.engine.restore_file(&file, &mut out).unwrap();
        }
        let path = new_path(&root, &placement.path);
        outgoing.write(&mut File::create_new(&path).unwrap()).unwrap();
        path
    }
}

/// Creates the folders above a path. The path must not lead out of `root`.
fn new_path(root: &Path, inside: &Path) -> PathBuf {
    assert!(inside.components().all(|part| matches!(part, std::path::Component::Normal(_))));
    let path = root.join(inside);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    path
}
