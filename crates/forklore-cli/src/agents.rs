//! Finds the agents whose sessions are on this machine, and formats the paths of their sessions for
//! users.

use std::path::{Path, PathBuf};

use etcetera::home_dir;
use forklore::formats::AGENT_FORMATS;
use forklore::formats::homes::{self, AgentHome};
use forklore_sanitize::shell;

/// Returns all agents whose sessions forklore can read, each with the paths where it stores
/// sessions by default.
pub(crate) fn all() -> Vec<AgentHome> {
    let home = home_dir().ok();
    home.map_or_else(Vec::new, |home| homes::of(&home, &|variable| std::env::var_os(variable)))
}

/// Returns the names of the agents whose session files forklore can read.
pub(crate) fn to_import_from() -> impl Iterator<Item = &'static str> {
    AGENT_FORMATS.iter().map(|format| format.name())
}

/// Returns the names of the agents whose session files forklore can write.
pub(crate) fn to_export_to() -> impl Iterator<Item = &'static str> {
    let written = AGENT_FORMATS.iter().filter(|format| format.export().is_some());
    written.map(|format| format.name())
}

/// Returns the agents that have sessions on this machine, each with its existing paths.
pub(crate) fn here() -> Vec<AgentHome> {
    let mut homes = all();
    for agent in &mut homes {
        agent.folders.retain(|location| location.exists());
    }
    homes.retain(|agent| !agent.folders.is_empty());
    homes
}

/// Returns the `forklore import` command for these paths.
pub(crate) fn import_command<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> String {
    let words = paths.into_iter().map(|location| typed(location));
    ["forklore".to_owned(), "import".to_owned()]
        .into_iter()
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Formats a path as a user types it: quoted for a shell, and with `~/` for the home folder.
pub(crate) fn typed(path: &Path) -> String {
    let home = home_dir().ok();
    match home.and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned)) {
        Some(below) => format!("~/{}", shell::quoted(&below.to_string_lossy())),
        None => shell::quoted(&path.to_string_lossy()),
    }
}
