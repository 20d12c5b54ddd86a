//! Makes untrusted text, paths and words safe to display, to open and to type.
//!
//! Text from a session is hostile: the author of a message, a title or a tool's result may want to
//! move the cursor, hide a word or escape from a directory. Use this crate wherever a program
//! passes on what a model, a tool or a file wrote. It depends on no other crate of the workspace.
//!
//! - [`terminal`] escapes text for display: messages, single lines, table cells and JSON.
//! - [`path`] checks that a path stays inside a directory, after all links are resolved.
//! - [`shell`] quotes a word of a command that the user may type.
//!
//! ```
//! use std::path::Path;
//!
//! use forklore_sanitize::path::{PathError, contained};
//! use forklore_sanitize::{shell, terminal};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A title that would clear the screen.
//! assert_eq!(terminal::line("plan A\u{1b}[2J"), r"plan A\u{1b}[2J");
//!
//! // A session's name that would run a second command.
//! assert_eq!(shell::quoted("main; reboot"), "'main; reboot'");
//!
//! let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("notes.txt"), "plan B")?;
//! assert!(contained(folder.path(), Path::new("notes.txt"))?.ends_with("notes.txt"));
//! let outside = contained(folder.path(), Path::new(".."));
//! assert!(matches!(outside, Err(PathError::Outside { .. })));
//! # Ok(())
//! # }
//! ```
//!
//! The crate does not recognize secrets, and it does not judge what a text means. It does no I/O,
//! except that [`path::contained`] resolves paths and [`path::file_below`] creates directories:
//! only the file system knows the links.

pub mod path;
pub mod shell;
pub mod terminal;
