//! Sanitizes untrusted text, paths and shell words: the functions on which forklore's security
//! depends.
//!
//! Text from a session is hostile: the author of a message, a title or a tool's result may want to
//! move the cursor, hide a word or escape from a directory. Text for display goes through
//! [`terminal`], paths from outside go through [`path`], and words of a command for the user to
//! type go through [`shell`].
//!
//! The crate does no I/O, except that [`path::contained`] resolves paths and [`path::file_below`]
//! creates directories: only the file system knows the links.

pub mod path;
pub mod shell;
pub mod terminal;
