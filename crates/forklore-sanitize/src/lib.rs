//! The functions that forklore's security rests on.
//!
//! Text that comes out of a session is hostile: whoever wrote a message, a title or a tool's
//! result may want to move the cursor, hide a word or leave a folder. What is shown goes through
//! [`terminal`]; a path that came from outside goes through [`path`]; what is shown as a command to
//! type goes through [`shell`].
//!
//! The crate does no input or output, except that [`path::contained`] asks the file system where
//! a path really leads: links are known to nobody else.

pub mod path;
pub mod shell;
pub mod terminal;
