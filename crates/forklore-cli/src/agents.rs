//! The agents of this machine: where each keeps its sessions, and how a person names the place.

use std::path::{Path, PathBuf};

use etcetera::home_dir;
use forklore::formats::homes::{self, AgentHome};
use forklore_sanitize::shell;

/// The agents whose sessions can be read, and where each keeps them or would.
pub(crate) fn all() -> Vec<AgentHome> {
    let home = home_dir().ok();
    home.map_or_else(Vec::new, |home| homes::of(&home, &|variable| std::env::var_os(variable)))
}

/// Those that keep sessions here, each with the places that are there.
pub(crate) fn here() -> Vec<AgentHome> {
    let mut homes = all();
    for agent in &mut homes {
        agent.folders.retain(|place| place.exists());
    }
    homes.retain(|agent| !agent.folders.is_empty());
    homes
}

/// The command that imports these places.
pub(crate) fn import_command<'a>(places: impl IntoIterator<Item = &'a PathBuf>) -> String {
    let words = places.into_iter().map(|place| typed(place));
    ["forklore".to_owned(), "import".to_owned()]
        .into_iter()
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}

/// A path as it is typed: below the home folder with `~`.
pub(crate) fn typed(path: &Path) -> String {
    let home = home_dir().ok();
    match home.and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned)) {
        Some(below) => format!("~/{}", shell::quoted(&below.to_string_lossy())),
        None => shell::quoted(&path.to_string_lossy()),
    }
}
