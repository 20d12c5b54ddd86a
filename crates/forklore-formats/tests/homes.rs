//! The locations of agents' session files, with different environment variables.

#![allow(clippy::unwrap_used)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use forklore_formats::{AGENT_FORMATS, homes};

/// Returns the locations of the agent's session files if these environment variables are set.
fn folders(dialect: &str, variables: &[(&str, &str)]) -> Vec<PathBuf> {
    let variable = |name: &str| {
        let found = variables.iter().find(|(existing, _)| *existing == name);
        found.map(|(_, value)| OsString::from(value))
    };
    let homes = homes::of(Path::new("/home/me"), &variable);
    homes.into_iter().find(|home| home.dialect == dialect).unwrap().folders
}

#[test]
fn session_folders_lie_below_the_home_folder() {
    assert_eq!(folders("claude", &[]), [Path::new("/home/me/.claude/projects")]);
    assert_eq!(folders("pi", &[]), [Path::new("/home/me/.pi/agent/sessions")]);
}

#[test]
fn variables_move_them() {
    let claude = folders("claude", &[("CLAUDE_CONFIG_DIR", "/srv/claude")]);
    assert_eq!(claude, [Path::new("/srv/claude/projects")]);
    let pi = folders("pi", &[("PI_CODING_AGENT_DIR", "~/pi")]);
    assert_eq!(pi, [Path::new("/home/me/pi/sessions")]);
    let both = [("PI_CODING_AGENT_DIR", "/srv/pi"), ("PI_CODING_AGENT_SESSION_DIR", "/srv/kept")];
    assert_eq!(folders("pi", &both), [Path::new("/srv/kept")]);
}

#[test]
fn empty_variables_name_no_folder() {
    for nowhere in ["", "projects", "./x"] {
        let claude = folders("claude", &[("CLAUDE_CONFIG_DIR", nowhere)]);
        assert_eq!(claude, [Path::new("/home/me/.claude/projects")], "{nowhere:?}");
    }
}

#[test]
fn only_agents_whose_files_can_be_read_are_named() {
    for home in homes::of(Path::new("/home/me"), &|_| None) {
        assert!(AGENT_FORMATS.iter().any(|dialect| dialect.name() == home.dialect), "{home:?}");
        assert!(home.folders.iter().all(|location| location.starts_with("/home/me")), "{home:?}");
    }
}
