//! Makes untrusted text safe to display, paths safe to open, and command arguments safe to type.
//!
//! Text from a session is hostile: the author of a message, a title or a tool's result may want to
//! move the cursor, hide a word or escape from a directory. Use this crate wherever a program
//! passes on what a model, a tool or a file wrote. The crate depends on no other forklore crate.
//!
//! - [`terminal`] escapes text for display: messages, single lines, table cells and JSON.
//! - [`html`] escapes text for a page of HTML.
//! - [`path`] checks that a path stays inside a directory after all symbolic links are resolved.
//! - [`shell`] quotes an argument of a command line that the user may copy and run.
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
//! The crate does not recognize secrets or judge the meaning of text. Only two functions do I/O,
//! because only the file system knows the links: [`path::contained`] resolves paths, and
//! [`path::file_below`] creates directories.

pub mod html;
pub mod path;
pub mod shell;
pub mod terminal;
